#include "distributed.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/infer/sharding.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/distributed.h"
#include "shared_type_rules.h"
#include "type_util.h"

namespace iropt {

using namespace rules;

bool HasDistributedOperand(const Call& call) {
  return std::any_of(call.args.begin(), call.args.end(),
                     [](const Expr* arg) { return arg->type && arg->type->kind == NodeKind::kDTensorType; });
}

namespace {

Placement FlowPlacement(std::span<const DTensorType* const> operands, const AxisFlow& flow, size_t mesh_rank) {
  Placement out(mesh_rank, -1);
  for (size_t i = 0; i < operands.size() && i < flow.size(); ++i) {
    const Placement in = ParsePlacement(operands[i]->placement);
    for (size_t m = 0; m < mesh_rank && m < in.size(); ++m) {
      if (in[m] < 0 || static_cast<size_t>(in[m]) >= flow[i].size()) continue;
      const int axis = flow[i][static_cast<size_t>(in[m])];
      const bool taken = std::find(out.begin(), out.end(), axis) != out.end();
      if (out[m] < 0 && axis >= 0 && !taken) out[m] = axis;
    }
  }
  return out;
}

// The call with plain tensors in place of the distributed ones, for the ordinary rule.
const Call* WithPlainOperands(const Call& call, Arena& arena) {
  std::vector<const Expr*> args;
  for (const Expr* arg : call.args) {
    const auto* type = As<DTensorType>(arg->type);
    if (type) {
      Var* plain = arena.New<Var>("operand", 0, type->tensor);
      plain->set_span(arg->span());
      arg = plain;
    }
    args.push_back(arg);
  }
  Call* plain = arena.New<Call>(call.op, List<const Expr*>(arena.Copy(args)), call.attrs, call.type_args, nullptr);
  plain->set_span(call.span());
  return plain;
}

bool GivesItsTypes(TypeRule rule) {
  return rule == InferCallTir || rule == InferDistCallTirLocalView || rule == InferCallDpsPacked;
}

}  // namespace

const Type* InferDistributed(const Call& call, InferContext& ctx) {
  const TypeRule rule = TypeRuleOf(*static_cast<const Op*>(call.op)->info);
  std::vector<const DTensorType*> operands;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Type* type = call.args[i]->type;
    if (const auto* dtensor = As<DTensorType>(type)) {
      operands.push_back(dtensor);
      if (dtensor->device_mesh == operands[0]->device_mesh) continue;
      return ctx.Error(call, i, fmt::format("{} is on another device mesh than the others", OperandName(call, i)));
    }
    if (As<TensorType>(type))
      return ctx.Error(call, i, fmt::format("{} must be distributed as the others", OperandName(call, i)));
  }
  if (GivesItsTypes(rule)) return rule(call, ctx);
  if (rule == InferDistAnnotateSharding || rule == InferBuiltinStopLiftParams) return operands[0];
  if (rule == InferDistRedistribute || rule == InferDistRedistributeReplicaToShard) return rule(call, ctx);
  const DeviceMeshAttr* mesh = operands[0]->device_mesh;
  if (rule == InferCclAllreduce) return MakeDTensor(operands[0]->tensor, mesh, Placement(mesh->shape.size(), -1));
  const Type* plain = rule(*WithPlainOperands(call, ctx.arena()), ctx);
  if (!plain) return nullptr;
  const auto* result = As<TensorType>(plain);
  const bool known = result && result->known && std::all_of(operands.begin(), operands.end(), [](const DTensorType* t) {
                       return t->tensor->known;
                     });
  if (!known) return ctx.Error(call, "needs distributed tensors of known shape");
  std::vector<const TensorType*> tensors;
  for (const DTensorType* operand : operands) tensors.push_back(operand->tensor);
  const auto flow = AxisFlowOf(call, tensors, result, ctx);
  return flow ? MakeDTensor(result, mesh, FlowPlacement(operands, *flow, mesh->shape.size())) : nullptr;
}

// ---- Operators of distribution

IROPT_TYPE_RULE(InferDistAnnotateSharding, "that of the operand") {
  return CheckArity(call, 1, 1, ctx) ? call.args[0]->type : nullptr;
}

IROPT_TYPE_RULE(InferDistRedistribute, "that of the operand, with `device_mesh` and `placement`") {
  if (!CheckArity(call, 1, 1, ctx)) return nullptr;
  const auto* x = As<DTensorType>(call.args[0]->type);
  if (!x)
    return ctx.Error(call, 0,
                     fmt::format("{} must be a distributed tensor, but is of type {}", OperandName(call, 0),
                                 TypeToString(call.args[0]->type)));
  const DistributionAttrs attrs(call);
  const DeviceMeshAttr* mesh = attrs.device_mesh() ? attrs.device_mesh() : x->device_mesh;
  const std::string problem = PlacementProblem(attrs.placement(), *x->tensor, *mesh);
  if (!problem.empty()) return ctx.Error(call, fmt::format("placement '{}' {}", attrs.placement(), problem));
  return MakeDTensor(x->tensor, mesh, ParsePlacement(attrs.placement()));
}

namespace {

// The shape with `axis` divided among the workers; null after an error.
const TensorType* DivideAxis(const Call& call, const TensorType* x, InferContext& ctx) {
  const ScatterCollectiveAttrs attrs(call);
  const List<Dim>* dims = ShapeValues(x);
  if (!dims) {
    ctx.Error(call, 0, fmt::format("{} must have a known shape", OperandName(call, 0)));
    return nullptr;
  }
  const auto axis = NormalizeAxis(call, x->ndim, attrs.axis(), ctx);
  if (!axis) return nullptr;
  const int64_t workers = attrs.num_workers();
  const Dim length = (*dims)[*axis];
  if (workers <= 0 || arith::ProveNotEqual(kDims.FloorMod(length, kDims.Int(workers)), kDims.Int(0))) {
    ctx.Error(call, 0,
              fmt::format("{} has length {} on axis {}, which {} workers do not divide", OperandName(call, 0),
                          DimToString(length), *axis, workers));
    return nullptr;
  }
  DimList out(*dims);
  out[static_cast<size_t>(*axis)] = arith::Simplify(kDims.TruncDiv(length, kDims.Int(workers)));
  return TensorType::Get(out, x->dtype, x->vdevice);
}

}  // namespace

IROPT_TYPE_RULE(InferDistRedistributeReplicaToShard,
                "the length of `axis` divided by `num_workers`; of a distributed tensor the placement alone changes") {
  if (!CheckArity(call, 1, 1, ctx)) return nullptr;
  const auto* dtensor = As<DTensorType>(call.args[0]->type);
  if (!dtensor) {
    const TensorType* x = TensorArg(call, 0, ctx);
    return x ? DivideAxis(call, x, ctx) : nullptr;
  }
  // Only the placement changes; the length must still be divisible.
  if (!DivideAxis(call, dtensor->tensor, ctx)) return nullptr;
  if (dtensor->device_mesh->shape.size() != 1 || ParsePlacement(dtensor->placement) != Placement{-1}) {
    return ctx.Error(call, 0, fmt::format("{} must be replicated on a mesh of one dimension", OperandName(call, 0)));
  }
  const auto axis = NormalizeAxis(call, dtensor->tensor->ndim, ScatterCollectiveAttrs(call).axis(), ctx);
  return axis ? MakeDTensor(dtensor->tensor, dtensor->device_mesh, Placement{static_cast<int>(*axis)}) : nullptr;
}

// ---- Collective communication

IROPT_TYPE_RULE(InferCclAllreduce, "that of the operand") { return UnaryArg(call, ctx); }

IROPT_TYPE_RULE(InferCclBroadcastFromWorker0, "that of the operand") { return UnaryArg(call, ctx); }

IROPT_TYPE_RULE(InferCclAllgather, "the first length times `num_workers`") {
  const TensorType* x = UnaryArg(call, ctx);
  const List<Dim>* dims = x ? ShapeValues(x) : nullptr;
  if (!dims) return x;
  if (dims->empty()) return ctx.Error(call, 0, fmt::format("{} must not be a scalar", OperandName(call, 0)));
  DimList out(*dims);
  out[0] = kDims.Mul(out[0], kDims.Int(AllGatherAttrs(call).num_workers()));
  return TensorType::Get(out, x->dtype, x->vdevice);
}

IROPT_TYPE_RULE(InferCclScatterFromWorker0, "the length of `axis` divided by `num_workers`") {
  const TensorType* x = UnaryArg(call, ctx);
  return x ? DivideAxis(call, x, ctx) : nullptr;
}

}  // namespace iropt
