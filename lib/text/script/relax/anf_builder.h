// Bindings of a Relax function while it is read, in A-normal form as TVM's block builder makes it: operands of calls,
// tuples and projections are leaves; nested expressions are bound to a new variable first. A tuple of leaves counts as
// a leaf.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"

namespace iropt::text {

class AnfBuilder {
 public:
  // A sequence of binding blocks that is being read: a function body or a branch.
  struct Sequence {
    std::vector<const BindingBlock*> blocks;
    std::vector<const Binding*> bindings;  // of the current block
    std::vector<Var*> dataflow_vars;       // bound in the current dataflow block, in order
    bool in_dataflow = false;
    bool output_seen = false;
    bool is_branch = false;
    const Expr* result = nullptr;  // of `return`
  };

  AnfBuilder(Workspace& workspace, const Module* module, DiagnosticEngine& diagnostics)
      : ws_(workspace), module_(module), diag_(diagnostics) {}

  // The sequence that bindings go to, and the one before it.
  Sequence* sequence() { return sequence_; }
  Sequence* Enter(Sequence* sequence) { return std::exchange(sequence_, sequence); }

  // The expression with every operand a leaf; the operands that are not are bound in the current block. Null after an
  // error.
  const Expr* Flatten(const Expr* expr);
  // The expression as an operand: a leaf, or a tuple of leaves.
  const Expr* FlattenOperand(const Expr* expr);
  // Infers the type of an expression that has none. Null after an error.
  const Expr* Typed(const Expr* expr);
  const Expr* FlattenTyped(const Expr* expr) {
    expr = expr ? Flatten(expr) : nullptr;
    return expr ? Typed(expr) : nullptr;
  }

  // A new variable of the current block.
  Var* NewVar(std::string_view name, const Type* type, Span span);
  void Emit(const Binding* binding) { sequence_->bindings.push_back(binding); }
  // Binds the value to a variable.
  void Bind(const Var* var, const Expr* value, Span span);
  // Binds the value to a new variable without a name in the text.
  const Var* EmitTemporary(const Expr* value);
  // The expression for a use of a variable without a value: the empty tuple, as in TVM's block builder.
  const Tuple* Nothing(const Type* type, Span span);
  void EndBlock();
  // A variable of this name that is local to a dataflow block before the current one; null if there is none.
  const Var* FindLocal(std::string_view name) const;

 private:
  Workspace& ws_;
  const Module* module_;
  DiagnosticEngine& diag_;
  Sequence* sequence_ = nullptr;
};

}  // namespace iropt::text
