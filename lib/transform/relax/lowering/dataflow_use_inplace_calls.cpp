// DataflowUseInplaceCalls: computes element-wise operators in the memory of an operand that is not needed afterwards.
//
//   z = R.exp(x)          z = R.exp(x)
//   a = R.add(z, y)  -->  a = R.call_tir_inplace(cls.add_inplace, (z, y), inplace_indices=[0], out_sinfo=R.Tensor(...))
//                         def add_inplace(A, B): for ...: A[...] = A[...] + B[...]
//
// In dataflow blocks, for R.add, R.subtract, R.multiply, R.divide, R.nn.silu and R.nn.relu. The operand has the dtype
// and provably the shape of the result, and neither it nor an alias of it is used later; of several such operands it is
// the last one. Parameters, values from before the block and outputs of the block are never overwritten.
//
// Unlike TVM 0.18, this pass does not overwrite constants, results of functions, which may be constants, and tensors
// that are needed as the field of a tuple or under the name of a reshape, which may be a view. O(nodes), plus
// the proofs that shapes are equal and the simplification of the new PrimFuncs.
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "inplace_operands.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/legalize/legalize.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "relax_functions.h"
#include "transform/relax/util/name_hints.h"

namespace iropt {

namespace {

bool IsSupported(const Call& call) {
  const auto* op = As<Op>(call.op);
  return op && IsOneOf(*op, op::kAdd, op::kSubtract, op::kMultiply, op::kDivide, op::kNnSilu, op::kNnRelu);
}

bool HasKnownOperands(const Call& call) {
  return std::ranges::all_of(call.args, [](const Expr* arg) {
    const auto* tensor = As<TensorType>(arg->type);
    return tensor ? tensor->known : Is<PrimType>(arg->type);
  });
}

// A copy of the function that writes what was parameter `output` to parameter `into`.
const PrimFunc* WriteInto(const PrimFunc& func, uint32_t into, uint32_t output, Workspace& workspace) {
  Cloner cloner(workspace, {.copy_free_vars = true});
  const tir::Buffer* from = func.param_buffers[output];
  const tir::Buffer* to = cloner.Clone(func.param_buffers[into]);
  cloner.Map(from, to);
  cloner.Map(from->data, static_cast<const PrimExpr*>(to->data));
  std::vector<const tir::Var*> params(func.params.begin(), func.params.end());
  std::vector<const tir::Buffer*> buffers(func.param_buffers.begin(), func.param_buffers.end());
  params.erase(params.begin() + output);
  buffers.erase(buffers.begin() + output);
  PrimFunc changed = func;
  changed.params = workspace.Copy(params);
  changed.param_buffers = workspace.Copy(buffers);
  auto* copy = workspace.New<PrimFunc>(*cloner.Clone(&changed));
  copy->type = PrimFuncType(copy);
  return copy;
}

struct MadeFunctions {
  std::set<const GlobalVar*> legalized = {};  // what the others are made of, called by nobody; the order has no effect
  std::set<const GlobalVar*> inplace = {};
};

class InplaceRewriter : public ExprMutator {
 public:
  InplaceRewriter(Workspace& workspace, TypeInferrer& inferrer, ModuleBuilder& module, MadeFunctions& made,
                  DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), module_(module), made_(made), diagnostics_(diagnostics) {}

 protected:
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    if (!block->is_dataflow()) return ExprMutator::VisitBlock(block);
    InplaceOperands outer = std::exchange(operands_, FindInplaceOperands(*block, module_.module(), IsSupported));
    const BindingBlock* result = ExprMutator::VisitBlock(block);
    operands_ = std::move(outer);
    return result;
  }

  void VisitVarBinding(const VarBinding* binding) override {
    const auto* found = operands_.Find(binding->var);
    if (!found) return ExprMutator::VisitVarBinding(binding);
    ReEmitBinding(binding, builder().Normalize(ComputeInplace(*To<Call>(VisitExpr(binding->value)), *found)));
  }

  void VisitMatchCast(const MatchCast* binding) override {
    const auto* found = operands_.Find(binding->var);
    if (!found) return ExprMutator::VisitMatchCast(binding);
    const Expr* value = builder().Normalize(ComputeInplace(*To<Call>(VisitExpr(binding->value)), *found));
    ReEmitMatchCast(binding, value, binding->match_type);
  }

  const Var* VisitVarDef(const Var* var) override {
    hints_.Add(*var);
    return ExprMutator::VisitVarDef(var);
  }

 private:
  // The call that replaces `call`, or the same call if it has no function of its own.
  const Expr* ComputeInplace(const Call& call, uint32_t operand) {
    if (!HasKnownOperands(call)) return &call;
    const auto hint_of = [this](const Var& var) { return hints_.Of(var); };
    LegalizeCall context(call, builder(), module_, &diagnostics_, hint_of);
    const auto* legalized = As<Call>(LegalizationOf(*To<Op>(call.op)->info).legalize(context));
    if (!legalized || !IsOp(legalized->op, op::kCallTir)) return &call;
    const auto* callee = To<GlobalVar>(legalized->args[0]);
    made_.legalized.insert(callee);
    const auto index = IndexOf(*legalized, call.args[operand], operand);
    if (!index) return &call;
    const auto& func = *To<PrimFunc>(module_.module().Find(callee)->func);
    const uint32_t output = To<Tuple>(legalized->args[1])->fields.size();
    Workspace copy(module_.module());
    const PrimFunc* inplace = WriteInto(func, *index, output, copy);
    std::vector<const Expr*> args(legalized->args.begin(), legalized->args.end());
    const GlobalVar* name = module_.AddFunction(inplace, copy.Finish(), fmt::format("{}_inplace", callee->name));
    made_.inplace.insert(name);
    args[0] = name;
    const int64_t indices[] = {*index};
    const Attr* attrs = MakeOpAttrs(op::kCallTirInplace, InplaceAttrs::Values{.inplace_indices = indices});
    return NewLike<Call>(workspace(), call, GetOp(op::kCallTirInplace), workspace().Copy(args), attrs,
                         legalized->type_args, nullptr);
  }

  // The parameter of the PrimFunc that is operand `i` of the operator. Scalar operands may be part of the function.
  static std::optional<uint32_t> IndexOf(const Call& legalized, const Expr* operand, uint32_t i) {
    const List<const Expr*> fields = To<Tuple>(legalized.args[1])->fields;
    if (i < fields.size() && fields[i] == operand) return i;
    const auto found = std::ranges::find(fields, operand);
    if (found == fields.end()) return std::nullopt;
    return static_cast<uint32_t>(found - fields.begin());
  }

  ModuleBuilder& module_;
  MadeFunctions& made_;
  DiagnosticEngine& diagnostics_;
  InplaceOperands operands_;  // of the current block
  NameHints hints_;
};

}  // namespace

Pass CreateDataflowUseInplaceCalls(const PassOptions& options) {
  return CreateModulePass(options.info(), [](const Module& module, ModulePassContext& context) -> Result<Module> {
    ModuleBuilder builder(module);
    MadeFunctions made;
    const auto rewrite = [&](const ModuleEntry& entry, Workspace& workspace,
                             OpTypeInferrer& inferrer) -> const Function* {
      InplaceRewriter rewriter(workspace, inferrer, builder, made, context.diagnostics);
      const auto* function = To<Function>(rewriter.VisitExpr(entry.func));
      return rewriter.failed() ? nullptr : function;
    };
    IROPT_ASSIGN_OR_RETURN(const bool changed, UpdateRelaxFunctions(builder, context.diagnostics, rewrite));
    if (!changed) return module;
    Module result = builder.Finish();
    std::vector<bool> keep;
    for (const ModuleEntry& entry : result.functions())
      keep.push_back(!made.legalized.contains(entry.var) || made.inplace.contains(entry.var) || module.Find(entry.var));
    result.Filter(keep);
    return result;
  });
}

}  // namespace iropt
