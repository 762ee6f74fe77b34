#include "distributed.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "iropt/op/op.h"
#include "type_util.h"

namespace iropt {

using namespace rules;

bool HasDistributedOperand(const Call& call) {
  return std::any_of(call.args.begin(), call.args.end(),
                     [](const Expr* arg) { return arg->type && arg->type->kind == NodeKind::kDTensorType; });
}

namespace {

// For each dimension of the mesh, the axis of the tensor that is split over it; -1 if every device has all of it.
using Placement = std::vector<int>;

// Reads "S[0], R".
Placement ParsePlacement(std::string_view text) {
  Placement placement;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == 'R') placement.push_back(-1);
    if (text[i] != 'S') continue;
    int axis = 0;
    for (i += 2; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      axis = std::min(axis * 10 + (text[i] - '0'), 1 << 20);
    placement.push_back(axis);
  }
  return placement;
}

std::string PlacementToString(const Placement& placement) {
  std::string text;
  for (const int axis : placement)
    text += (text.empty() ? "" : ", ") + (axis < 0 ? std::string("R") : fmt::format("S[{}]", axis));
  return text;
}

const DTensorType* Distributed(const TensorType* tensor, const DeviceMeshAttr* mesh, const Placement& placement) {
  return DTensorType::Get(tensor, mesh, IRContext::Current().InternString(PlacementToString(placement)));
}

// The axis of the result for each axis of each operand; -1 for none.
using AxisFlow = std::vector<std::vector<int>>;

AxisFlow BroadcastFlow(std::span<const DTensorType* const> operands, int out_rank) {
  AxisFlow flow;
  for (size_t i = 0; i < operands.size(); ++i) {
    const List<Dim>& dims = operands[i]->tensor->dims;
    std::vector<int> axes(dims.size());
    std::iota(axes.begin(), axes.end(), out_rank - static_cast<int>(dims.size()));
    // An axis of length 1 is repeated along a longer one, and does not split it.
    for (size_t j = 0; j < operands.size(); ++j) {
      const List<Dim>& other = operands[j]->tensor->dims;
      for (uint32_t d = 1; d <= std::min(dims.size(), other.size()); ++d) {
        if (IsOne(dims[dims.size() - d]) && !IsOne(other[other.size() - d])) axes[dims.size() - d] = -1;
      }
    }
    flow.push_back(std::move(axes));
  }
  return flow;
}

AxisFlow MatmulFlow(std::span<const DTensorType* const> operands) {
  AxisFlow flow;
  const auto rank = [&](size_t i) { return operands[i]->tensor->ndim; };
  const int batch = std::max({rank(0) - 2, rank(1) - 2, 0});
  for (size_t i = 0; i < 2; ++i) {
    const int own_batch = std::max(rank(i) - 2, 0);
    std::vector<int> axes(static_cast<size_t>(rank(i)), -1);
    for (int a = 0; a < own_batch; ++a) {
      if (!IsOne(operands[i]->tensor->dims[a])) axes[static_cast<size_t>(a)] = batch - own_batch + a;
    }
    if (rank(i) > 1) {
      // The row of the left operand, the column of the right one.
      const int column = rank(0) > 1 ? batch + 1 : batch;
      axes[static_cast<size_t>(i == 0 ? rank(0) - 2 : rank(1) - 1)] = i == 0 ? batch : column;
    }
    flow.push_back(std::move(axes));
  }
  return flow;
}

std::vector<int> ReduceFlow(int rank, const std::vector<int>& reduced, bool keepdims) {
  std::vector<int> axes(static_cast<size_t>(rank), -1);
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), i) != reduced.end();
    if (!is_reduced) axes[static_cast<size_t>(i)] = keepdims ? i : next;
    if (!is_reduced) ++next;
  }
  return axes;
}

// An axis is kept if as many elements follow it before and after; the first axis of a group that is split or merged
// corresponds to that of the result.
std::vector<int> ReshapeFlow(std::span<const Dim> before, std::span<const Dim> after) {
  std::vector<int> axes(before.size(), -1);
  size_t i = before.size();
  size_t j = after.size();
  Dim before_product = One();
  Dim after_product = One();
  arith::Analyzer analyzer;
  const auto less = [&](Dim a, Dim b) { return analyzer.CanProve(kDims.Binary(NodeKind::kLT, a, b)); };
  while (true) {
    if (less(before_product, after_product)) {
      if (i == 0) break;
      before_product = kDims.Mul(before_product, before[--i]);
    } else if (less(after_product, before_product)) {
      if (j == 0) break;
      after_product = kDims.Mul(after_product, after[--j]);
    } else {
      if (i < before.size() && j < after.size()) axes[i] = static_cast<int>(j);
      if (i == 0 || j == 0) break;
      before_product = kDims.Mul(before_product, before[--i]);
      after_product = kDims.Mul(after_product, after[--j]);
    }
  }
  return axes;
}

// The flow of an operator by its type rule; nothing if distributed operands are not supported.
std::optional<AxisFlow> FlowOf(const Call& call, TypeRule rule, std::span<const DTensorType* const> operands,
                               const TensorType* result, InferContext& ctx) {
  const TensorType* x = operands[0]->tensor;
  const int rank = x->ndim;
  std::vector<int> identity(static_cast<size_t>(rank));
  std::iota(identity.begin(), identity.end(), 0);
  if (rule == InferUnaryArith || rule == InferUnaryArithFloat || rule == InferUnaryCheck) return AxisFlow{identity};
  if (rule == InferBroadcastArith || rule == InferBroadcastCmp) return BroadcastFlow(operands, result->ndim);
  if (rule == InferMatmul && operands.size() == 2) return MatmulFlow(operands);
  if (rule == InferReshape) return AxisFlow{ReshapeFlow(x->dims, result->dims)};
  std::vector<int> axes;
  if (rule == InferNnSoftmax) {
    axes.push_back(*NormalizeAxis(call, rank, SoftmaxAttrs(call).axis(), ctx));
    return AxisFlow{ReduceFlow(rank, axes, true)};
  }
  if (rule == InferStatistical) {
    const StatisticalAttrs attrs(call);
    const auto given = attrs.axis();
    // Without axes everything is reduced.
    if (!given) axes = identity;
    if (given && !NormalizeAxes(call, rank, given->vector(), ctx, axes)) return std::nullopt;
    return AxisFlow{ReduceFlow(rank, axes, attrs.keepdims())};
  }
  if (rule == InferPermuteDims) {
    axes = identity;
    std::reverse(axes.begin(), axes.end());
    if (const auto given = PermuteDimsAttrs(call).axes()) {
      axes.clear();
      if (!NormalizeAxes(call, rank, given->vector(), ctx, axes)) return std::nullopt;
    }
    std::vector<int> inverse(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) inverse[static_cast<size_t>(axes[i])] = static_cast<int>(i);
    return AxisFlow{inverse};
  }
  ctx.Error(call, "is not supported for distributed tensors");
  return std::nullopt;
}

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
  if (rule == InferCclAllreduce) return Distributed(operands[0]->tensor, mesh, Placement(mesh->shape.size(), -1));
  const Type* plain = rule(*WithPlainOperands(call, ctx.arena()), ctx);
  if (!plain) return nullptr;
  const auto* result = As<TensorType>(plain);
  const bool known = result && result->known && std::all_of(operands.begin(), operands.end(), [](const DTensorType* t) {
                       return t->tensor->known;
                     });
  if (!known) return ctx.Error(call, "needs distributed tensors of known shape");
  const auto flow = FlowOf(call, rule, operands, result, ctx);
  return flow ? Distributed(result, mesh, FlowPlacement(operands, *flow, mesh->shape.size())) : nullptr;
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
  const DeviceMeshAttr* mesh = attrs.device_mesh();
  return Distributed(x->tensor, mesh ? mesh : x->device_mesh, ParsePlacement(attrs.placement()));
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
  const int64_t axis = ScatterCollectiveAttrs(call).axis();
  return Distributed(dtensor->tensor, dtensor->device_mesh, Placement{static_cast<int>(axis)});
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
