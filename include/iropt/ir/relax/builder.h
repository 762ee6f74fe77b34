// Building Relax code binding by binding, in A-normal form.
//
// A builder without a TypeInferrer takes only expressions that have types.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/relax/type_inferrer.h"
#include "iropt/ir/var_map.h"
#include "iropt/support/hash.h"

namespace iropt {

// Returns each name once: a hint unchanged the first time, then with the numbers from 1 up. Names made of a hint and a
// number are not stored, so a million of them cost nothing.
class NameTable {
 public:
  // The text is valid until the next call.
  std::string_view Unique(std::string_view hint);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return HashString(text); }
  };
  bool IsTaken(std::string_view name) const;

  // Names that were used unchanged -> the last number that was tried after them.
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> hints_;
  bool has_numbered_hints_ = false;
  std::string buffer_;
};

// Collects bindings into blocks. A dataflow block gets DataflowVars named "lv", "lv1", ... and for its outputs Vars, as
// do other blocks, named "gv", "gv1", ...
//
//   BlockBuilder builder(workspace, &inferrer);
//   builder.BeginDataflowBlock();
//   const Var* sum = builder.Emit(builder.MakeCall(add, {x, y}));
//   const Var* out = builder.EmitOutput(builder.MakeCall(relu, {sum}));
//   const Expr* body = builder.Seq({{builder.EndBlock()}}, out);
//
// Emit, Normalize and MakeCall infer missing types. If that fails, the inferrer has reported why, failed() holds from
// then on, and the type is ObjectType.
class BlockBuilder {
 public:
  explicit BlockBuilder(Workspace& workspace, TypeInferrer* inferrer = nullptr);
  BlockBuilder(const BlockBuilder&) = delete;
  BlockBuilder& operator=(const BlockBuilder&) = delete;

  Workspace& workspace() { return workspace_; }
  TypeInferrer* inferrer() { return inferrer_; }
  bool failed() const { return failed_; }

  // ---- Blocks nest. EndBlock returns the innermost, which may be empty.
  void BeginDataflowBlock() { BeginBlock(true); }
  void BeginBindingBlock() { BeginBlock(false); }
  const BindingBlock* EndBlock();
  // Ends the innermost block and forgets its bindings.
  void DropBlock();
  bool in_block() const { return depth_ > 0; }
  bool current_block_is_dataflow() const;
  // The bindings of the innermost block so far.
  const std::vector<const Binding*>& current_bindings() const { return top().bindings; }

  // ---- Bindings
  // Binds a new variable to the expression, normalized, and returns it.
  const Var* Emit(const Expr* value, std::string_view name_hint = {});
  // Binds a new variable that is visible after the dataflow block to the expression, normalized, and returns it.
  const Var* EmitOutput(const Expr* value, std::string_view name_hint = {});
  const Var* EmitMatchCast(const Expr* value, const Type* type, std::string_view name_hint = {});
  // Adds a binding unchanged. Variable and value must have types, the value must be in A-normal form.
  void EmitNormalized(const Binding* binding);
  // The value that a VarBinding bound the variable to in this builder, or null.
  const Expr* LookupBinding(const Var* var) const;

  // ---- Expressions
  // In A-normal form: nested operands become bindings of the current block, branches and function bodies SeqExprs,
  // nested SeqExprs part of the outer one, and all types are inferred. The same pointer if all this holds already.
  const Expr* Normalize(const Expr* expr);
  // Normalizes an operand to a leaf or a tuple of leaves.
  const Expr* NormalizeArgument(const Expr* arg);
  // Forgets which operands the innermost block has bound: new expressions share nothing with earlier ones.
  void ForgetOperands() { top().normalized.clear(); }
  // A call whose type is inferred; the operands have types.
  const Call* MakeCall(const Expr* op, std::span<const Expr* const> args, const Attr* attrs = nullptr,
                       const TupleType* type_args = nullptr);
  const Call* MakeCall(const Expr* op, std::initializer_list<const Expr*> args, const Attr* attrs = nullptr,
                       const TupleType* type_args = nullptr) {
    return MakeCall(op, std::span<const Expr* const>(args.begin(), args.size()), attrs, type_args);
  }
  // A normalized SeqExpr of blocks of normalized bindings: empty blocks are dropped, neighbours of one kind are joined,
  // SeqExprs that a variable is bound to become part of it. The body is a leaf or a tuple.
  const SeqExpr* Seq(std::span<const BindingBlock* const> blocks, const Expr* body, Span span = {});
  const SeqExpr* Seq(std::initializer_list<const BindingBlock*> blocks, const Expr* body) {
    return Seq(std::span<const BindingBlock* const>(blocks.begin(), blocks.size()), body);
  }

  // A function with this body, whose result type and own type follow from it. The parameters have types.
  const Function* MakeFunction(std::span<const Var* const> params, const Expr* body,
                               const DictAttr* attrs = DictAttr::Empty(), bool is_pure = true);
  const Function* MakeFunction(std::initializer_list<const Var*> params, const Expr* body,
                               const DictAttr* attrs = DictAttr::Empty(), bool is_pure = true) {
    return MakeFunction(std::span<const Var* const>(params.begin(), params.size()), body, attrs, is_pure);
  }

  // A name that this builder has not returned yet: the hint, or the hint and a number. Names are hints for printing, so
  // it need not differ from other variables of the function. The text is valid until the next call.
  std::string_view UniqueName(std::string_view hint) { return names_.Unique(hint); }

 private:
  class Normalizer;
  struct Frame {
    bool is_dataflow = false;
    std::vector<const Binding*> bindings;
    // Operands that were bound in this block, so that an expression with several parents is bound once.
    std::unordered_map<const Expr*, const Expr*> normalized;
  };

  void BeginBlock(bool is_dataflow);
  Frame& top();
  const Frame& top() const;
  const Var* NewVar(bool is_dataflow, std::string_view name_hint, const Type* type);
  const Var* EmitAs(bool is_dataflow, const Expr* value, std::string_view name_hint);
  void Record(const Var* var, const Expr* value);
  // The inferred type of `expr`, which has none yet.
  const Type* InferType(const Expr* expr);

  Workspace& workspace_;
  TypeInferrer* inferrer_;
  bool failed_ = false;
  std::vector<Frame> frames_;  // the first depth_ are open, the others are kept for reuse
  size_t depth_ = 0;
  VarMap<Expr> values_;  // the values of the variables bound here
  NameTable names_;
};

}  // namespace iropt
