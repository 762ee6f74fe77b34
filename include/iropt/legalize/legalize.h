// Legalization: the calls of operators that stand for the call of a graph-level operator, mostly one call of a PrimFunc
// that is made of tensor expressions (te.h).
//
//   const Expr* LegalizeSoftmax(LegalizeCall& call) {
//     TeCall te(call, "softmax");
//     return te.Finish({topi::Softmax(te.Arg(0), SoftmaxAttrs(call.call()).axis())});
//   }
//
// lib/legalize/legalizations.def is the table of the operators' functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/legalize/te.h"

namespace iropt {

// A call of an operator that is legalized in a function of a module.
class LegalizeCall {
 public:
  // `builder` collects the bindings before the call. The operands have types, and the shapes of operands and result
  // are known unless the operator needs none.
  // `hint_of` gives the name of a variable without what a printer added to make it unique.
  LegalizeCall(const Call& call, BlockBuilder& builder, ModuleBuilder& module, DiagnosticEngine* diagnostics,
               FunctionRef<std::string_view(const Var&)> hint_of)
      : call_(call), builder_(builder), module_(module), diagnostics_(diagnostics), hint_of_(hint_of) {}

  // Another call that is legalized in its place.
  LegalizeCall Of(const Call& call) const { return {call, builder_, module_, diagnostics_, hint_of_}; }

  const Call& call() const { return call_; }
  const Expr* arg(size_t i) const { return call_.args[static_cast<uint32_t>(i)]; }
  size_t num_args() const { return call_.args.size(); }
  // The type of an operand that is a tensor.
  const TensorType* TensorArg(size_t i) const { return To<TensorType>(arg(i)->type); }
  // The result of an operator that returns one tensor.
  const TensorType* result() const { return To<TensorType>(call_.type); }
  BlockBuilder& builder() { return builder_; }
  ModuleBuilder& module() { return module_; }
  // The version of TVM whose behaviour is followed.
  TextVersion version() const { return module_.module().version(); }
  // A batch_norm that is that of inference.
  bool is_inference() const { return is_inference_; }
  void set_inference(bool is_inference) { is_inference_ = is_inference; }
  // A result whose size depends on the data may have fewer rows than its type says: nothing in the module needs them.
  bool may_trim() const { return may_trim_; }
  void set_may_trim(bool may_trim) { may_trim_ = may_trim; }
  std::string_view HintOf(const Var& var) const { return hint_of_(var); }

  // The fields of an operand that is a tuple: those of the tuple that it is bound to, or its projections, which are
  // emitted.
  std::vector<const Expr*> TupleFields(size_t i);
  // The dimensions of an operand that is a shape; empty pointer if it is not known as an expression.
  const ShapeExpr* ShapeArg(size_t i);
  // The constant that an operand is or is bound to; empty pointer if there is none.
  const Constant* ConstantArg(size_t i) const;
  const Expr* PackedFunc(std::string_view name);
  // The call of a destination-passing packed function.
  const Expr* CallDpsPacked(std::string_view name, const std::vector<const Expr*>& args, const TensorType* out);

  // The call stays as it is, for the reason.
  const Expr* Unchanged(std::string reason);
  const std::string& reason() const { return reason_; }
  // Reports that the call cannot be legalized, and returns null.
  const Expr* Error(std::string message);

 private:
  // Returns the value that an operand is bound to if it is a variable; null if that is not known.
  const Expr* BoundArg(size_t i) const;

  const Call& call_;
  BlockBuilder& builder_;
  ModuleBuilder& module_;
  DiagnosticEngine* diagnostics_;
  FunctionRef<std::string_view(const Var&)> hint_of_;
  std::string reason_;
  bool is_inference_ = false;
  bool may_trim_ = false;
};

// A PrimFunc under construction that replaces the call, made as BlockBuilder.call_te does in TVM: its parameters are
// the tensors that were asked for, in that order, its results, and the symbolic variables that no shape defines.
class TeCall : public te::Builder {
 public:
  // `name` is a hint for the name of the function.
  TeCall(LegalizeCall& call, std::string_view name) : te::Builder(call.version()), call_(call), name_(name) {}

  te::Tensor Arg(size_t i, Placement placement = Placement::kWhole) { return Input(call_.arg(i), placement); }
  te::Tensor Input(const Expr* tensor, Placement placement = Placement::kWhole,
                   const std::vector<int64_t>& axis_separators = {});
  std::vector<te::Tensor> Inputs(std::span<const Expr* const> tensors);
  // A tensor, a R.Prim value, or with `fold_constants` the value of a constant of rank 0.
  te::Operand Operand(const Expr* operand, bool fold_constants = false);
  // A dimension of the caller, or another scalar expression over its symbolic variables.
  te::Value Prim(const PrimExpr* value);
  te::Shape Dims(std::span<const PrimExpr* const> dims);
  using te::Builder::Input;

  // Adds the function to the module, unless it has an equal one, and returns the call of it.
  const Expr* Finish(std::span<const te::Tensor> outputs);
  const Expr* Finish(std::initializer_list<te::Tensor> outputs) {
    return Finish(std::span<const te::Tensor>(outputs.begin(), outputs.size()));
  }
  void SetAttr(std::string_view key, const Attr* value) { attrs_.emplace_back(key, value); }

 private:
  const tir::Var* OwnVar(const tir::Var* var);
  // A dimension of the function as one of the caller.
  const PrimExpr* InCaller(const PrimExpr* dim);
  std::vector<const tir::Var*> UnboundVars(std::span<const te::Tensor> outputs) const;

  LegalizeCall& call_;
  std::string name_;
  std::vector<const Expr*> args_;                                      // of the call
  std::vector<te::Tensor> tensors_;                                    // that are inputs
  std::vector<const PrimExpr*> scalars_;                               // that occur in the function
  std::vector<std::pair<const tir::Var*, const tir::Var*>> own_vars_;  // of the caller and of the function
  std::vector<DictAttr::Entry> attrs_;
};

// Returns the expression that replaces the call, the call itself if it cannot be legalized, or null after an error was
// reported.
using LegalizeFn = const Expr* (*)(LegalizeCall& call);

struct Legalization {
  LegalizeFn legalize = nullptr;  // null if there is none
  std::string_view reason;        // why there is none
  bool needs_shapes = true;       // the shapes of operands and result must be known
  bool counts_rows = false;       // IROPT_LEGALIZE_COUNTED
};
// That of the table, or of the plugin that added the operator. O(1).
Legalization LegalizationOf(const OpInfo& op);

// The value of a constant of rank 0 and of a dtype of numbers that scalar expressions can hold; null for others.
const PrimExpr* AsScalarConstant(const Expr* expr, const arith::PrimBuilder& make);

}  // namespace iropt
