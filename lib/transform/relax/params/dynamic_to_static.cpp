// DynamicToStatic: replaces dynamic operators by static ones if the shapes are constant.
//
//   s = R.shape_of(x)                                      s = R.shape([2, 3])
//   y = R.reshape(z, s)                                    y = R.reshape(z, R.shape([2, 3]))
//   v = R.dynamic_strided_slice(y, c0, c1, c2)     -->     v = R.strided_slice(y, [0, 1], [0, 0], [2, 2], [1, 1])
//   w = R.match_cast(v, R.Tensor((n, m)))                  w = R.match_cast(v, R.Tensor((2, 2)))
//   u = R.zeros(R.shape([n, 8]), "float32")                u = R.zeros(R.shape([2, 8]), "float32")
//
//   - A shape operand is written as a literal if its type has the dimensions.
//   - shape_of of a tensor of known shape is that shape.
//   - tensor_to_shape of a constant, or of the result of shape_to_tensor, is the shape.
//   - dynamic_strided_slice by constants is strided_slice, unless a stride is 0 or the number of elements might be
//     negative by the type rule of strided_slice: for that a dimension of unknown length is sliced from its beginning.
//   - A symbolic variable whose value a match_cast states has this value from there on.
//
// The types of dependent expressions are inferred again, and the rules are applied until nothing changes: usually two
// rounds, and one more for each step of a chain in which one match_cast enables the rewrite of an operator before the
// next. The rules need constant operands, so FoldConstant should run before. O(nodes) for each round.
//
// Source: the name is that of a pass of TVM's Relay.
#include <algorithm>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/shape.h"
#include "iropt/op/ops/slice.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "symbolic_values.h"

namespace iropt {

namespace {

// The elements of a constant of rank 1 and dtype int64; null for other expressions.
const NDArray* IntVector(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  const bool fits = constant && constant->data->dtype() == DataType::Int(64) && constant->data->shape().size() == 1;
  return fits ? constant->data : nullptr;
}

class StaticRewriter : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const Expr* made = nullptr;
    if (IsOp(call->op, op::kShapeOf)) {
      made = KnownShape(call->args[0]->type);
    } else if (IsOp(call->op, op::kTensorToShape)) {
      made = ShapeOfElements(call->args[0]);
    } else if (IsOp(call->op, op::kDynamicStridedSlice)) {
      made = StridedSlice(*call);
    } else if (const auto* op = As<Op>(call->op)) {
      made = WithKnownShapes(*call, *op->info);
    }
    return made ? made : call;
  }

  // If the shape of a tensor is a variable whose dimensions are known by now, the type gets these.
  const Type* VisitType(const Type* type) override {
    if (!type->has_shape_var()) return type;
    const auto shape_of = [this](const Expr* var) {
      const Expr* now = VisitExpr(var);
      const auto* shape = As<ShapeType>(now->type);
      return shape && shape->known ? NewShape(shape->values) : now;
    };
    const Type* known = EraseToWellDefined(
        type, [](const tir::Var* var) { return var; }, shape_of, workspace().arena());
    return TypeEqual(known, type) ? type : known;
  }

 private:
  const Expr* NewShape(std::span<const PrimExpr* const> values) {
    const List<const PrimExpr*> copy = workspace().Copy(values);
    return workspace().New<ShapeExpr>(copy, ShapeType::Get(copy));
  }

  const Expr* KnownShape(const Type* type) {
    const auto* tensor = As<TensorType>(type);
    return tensor && tensor->known ? NewShape(tensor->dims) : nullptr;
  }

  const Expr* ShapeOfElements(const Expr* tensor) {
    if (const NDArray* elements = IntVector(tensor)) {
      std::vector<const PrimExpr*> values;
      for (const int64_t value : elements->As<int64_t>()) {
        if (value < 0) return nullptr;
        values.push_back(IRContext::Current().Int(value));
      }
      return NewShape(values);
    }
    const auto* var = As<Var>(tensor);
    const auto* made = var ? As<Call>(builder().LookupBinding(var)) : nullptr;
    if (!made || !IsOp(made->op, op::kShapeToTensor)) return nullptr;
    // A shape variable may not be visible if the tensor has left the dataflow block.
    return Is<DataflowVar>(var) || !Is<DataflowVar>(made->args[0]) ? made->args[0] : nullptr;
  }

  const Expr* WithKnownShapes(const Call& call, const OpInfo& info) {
    std::vector<const Expr*> args(call.args.begin(), call.args.end());
    bool changed = false;
    for (size_t i = 0; i < std::min(args.size(), info.args.size()); ++i) {
      const auto* shape = As<ShapeType>(args[i]->type);
      if (info.args[i].kind != ArgKind::kShape || !Is<Var>(args[i]) || !shape || !shape->known) continue;
      args[i] = NewShape(shape->values);
      changed = true;
    }
    return changed ? Rebuild(call, call.op, workspace().Copy(args)) : nullptr;
  }

  const Expr* StridedSlice(const Call& call) {
    const auto* x = As<TensorType>(call.args[0]->type);
    const NDArray* bounds[3] = {IntVector(call.args[1]), IntVector(call.args[2]), IntVector(call.args[3])};
    if (!x || !x->known || std::ranges::find(bounds, nullptr) != std::end(bounds)) return nullptr;
    const auto fits = [&](const NDArray* bound) { return bound->num_elements() == x->ndim; };
    if (!std::ranges::all_of(bounds, fits)) return nullptr;
    // A stride of 0 fails at run time.
    if (std::ranges::find(bounds[2]->As<int64_t>(), 0) != bounds[2]->As<int64_t>().end()) return nullptr;
    std::vector<const PrimExpr*> axes;
    for (int64_t i = 0; i < x->ndim; ++i) axes.push_back(IRContext::Current().Int(i));
    std::vector<const Expr*> args = {call.args[0], NewTuple(axes)};
    for (const NDArray* bound : bounds) {
      std::vector<const PrimExpr*> values;
      for (const int64_t value : bound->As<int64_t>()) values.push_back(IRContext::Current().Int(value));
      args.push_back(NewTuple(values));
    }
    return Rebuild(call, GetOp(op::kStridedSlice), workspace().Copy(args),
                   MakeOpAttrs(op::kStridedSlice, StridedSliceAttrs::Values{}), call.type_args, call.type);
  }

  const Expr* NewTuple(std::span<const PrimExpr* const> values) {
    std::vector<const Expr*> fields;
    for (const PrimExpr* value : values) fields.push_back(workspace().New<PrimValue>(value, PrimType::Get(value)));
    return workspace().New<Tuple>(workspace().Copy(fields), nullptr);
  }
};

Result<const Function*> DynamicToStatic(const Function* function, const Module& module, Workspace& workspace,
                                        DiagnosticEngine& diagnostics) {
  for (;;) {
    IROPT_ASSIGN_OR_RETURN(function, SubstituteSymbolicValues(function, &module, workspace, diagnostics));
    OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
    StaticRewriter rewriter(workspace, &inferrer);
    const auto* rewritten = To<Function>(rewriter.VisitExpr(function));
    if (rewriter.failed()) return Failure{ErrorCode::PassFailed};
    if (rewritten == function) return function;
    function = rewritten;
  }
}

}  // namespace

Pass CreateDynamicToStatic(const PassOptions& options) {
  return CreateFunctionPass(options.info(), [](const Function* function, FunctionPassContext& context) {
    return DynamicToStatic(function, context.module(), context.workspace(), context.diagnostics());
  });
}

}  // namespace iropt
