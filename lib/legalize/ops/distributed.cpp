// Legalization of collective communication and of distribution.
#include "iropt/op/ops/distributed.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "iropt/ir/context.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/slice.h"

namespace iropt::legalize {

namespace {

constexpr arith::PrimBuilder kDims;

const Expr* Flag(LegalizeCall& call, bool value) {
  const PrimExpr* number = kDims.Int(value);
  return call.builder().workspace().New<PrimValue>(number, PrimType::Get(number));
}

const Expr* ShapeOf(LegalizeCall& call, std::vector<const PrimExpr*> values) {
  Workspace& workspace = call.builder().workspace();
  return workspace.New<ShapeExpr>(workspace.Copy(values), ShapeType::Get(values));
}

}  // namespace

const Expr* LegalizeCclAllreduce(LegalizeCall& call) {
  static constexpr std::array<std::string_view, 5> kReductions = {"sum", "prod", "min", "max", "avg"};
  const AllReduceAttrs attrs(call.call());
  const auto it = std::find(kReductions.begin(), kReductions.end(), attrs.op_type());
  if (it == kReductions.end()) return call.Error("invalid op_type: expected sum, prod, min, max or avg");
  const Expr* kind = ShapeOf(call, {kDims.Int(it - kReductions.begin())});
  return call.CallDpsPacked("runtime.disco.allreduce", {call.arg(0), kind, Flag(call, attrs.in_group())},
                            call.TensorArg(0));
}

const Expr* LegalizeCclAllgather(LegalizeCall& call) {
  const AllGatherAttrs attrs(call.call());
  const TensorType* type = call.TensorArg(0);
  std::vector<const PrimExpr*> dims(type->dims.begin(), type->dims.end());
  if (dims.empty()) return call.Error("its operand must have an axis");
  dims[0] = kDims.Mul(dims[0], kDims.Int(attrs.num_workers()));
  return call.CallDpsPacked("runtime.disco.allgather", {call.arg(0), Flag(call, attrs.in_group())},
                            TensorType::Get(dims, type->dtype, type->vdevice));
}

const Expr* LegalizeCclBroadcastFromWorker0(LegalizeCall& call) {
  return call.CallDpsPacked("runtime.disco.broadcast_from_worker0", {call.arg(0), Flag(call, false)},
                            call.TensorArg(0));
}

// The scattered axis becomes the outermost one, because collective operations work on contiguous memory.
const Expr* LegalizeCclScatterFromWorker0(LegalizeCall& call) {
  const ScatterCollectiveAttrs attrs(call.call());
  const TensorType* type = call.TensorArg(0);
  const auto axis = static_cast<uint32_t>(attrs.axis());
  const PrimExpr* workers = kDims.Int(attrs.num_workers());
  if (axis >= type->dims.size() || !arith::IsInt(arith::Simplify(kDims.FloorMod(type->dims[axis], workers)), 0))
    return call.Error("the scattered axis must be divisible by the number of workers");
  std::vector<const PrimExpr*> dims(type->dims.begin(), type->dims.end());
  dims[axis] = kDims.TruncDiv(dims[axis], workers);
  dims.insert(dims.begin() + axis, workers);

  TeCall reshape(call, "reshape");
  const te::Tensor x = reshape.Arg(0);
  const Expr* parts = call.builder().Emit(reshape.Finish({topi::Reshape(x, reshape.Dims(dims))}));
  if (axis != 0) {
    std::vector<int64_t> order = {attrs.axis()};
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
      if (i != attrs.axis()) order.push_back(i);
    }
    TeCall transpose(call, "transpose");
    parts = call.builder().Emit(transpose.Finish({topi::Transpose(transpose.Input(parts), order)}));
    dims.erase(dims.begin() + axis);
  } else {
    dims.erase(dims.begin());
  }
  return call.CallDpsPacked("runtime.disco.scatter_from_worker0", {parts, Flag(call, false)},
                            TensorType::Get(dims, type->dtype, type->vdevice));
}

const Expr* LegalizeDistRedistributeReplicaToShard(LegalizeCall& call) {
  const ScatterCollectiveAttrs attrs(call.call());
  const TensorType* type = call.TensorArg(0);
  BlockBuilder& builder = call.builder();
  Workspace& workspace = builder.workspace();
  const Expr* symbol = call.PackedFunc("runtime.disco.worker_id");
  const Type* const types[] = {ShapeType::Get()};
  const Expr* id = builder.Emit(builder.MakeCall(GetOp(op::kCallPurePacked), {symbol}, nullptr, TupleType::Get(types)));
  const PrimExpr* worker = IRContext::Current().NewSymVar("worker_id");
  builder.EmitMatchCast(id, ShapeType::Get(std::vector<const PrimExpr*>{worker}));
  const PrimExpr* size = type->dims[static_cast<uint32_t>(attrs.axis())];
  const PrimExpr* workers = kDims.Int(attrs.num_workers());
  const auto bound = [&](const PrimExpr* index) { return kDims.FloorDiv(kDims.Mul(index, size), workers); };
  const auto tuple = [&](const PrimExpr* value) -> const Expr* {
    const Expr* field = workspace.New<PrimValue>(value, PrimType::Get(value));
    const Type* const field_types[] = {field->type};
    return workspace.New<Tuple>(workspace.arena().Copy<const Expr*>({field}), TupleType::Get(field_types));
  };
  const Expr* begin = tuple(bound(worker));
  const Expr* end = tuple(bound(kDims.Add(worker, kDims.Int(1))));
  return builder.MakeCall(GetOp(op::kStridedSlice), {call.arg(0), tuple(kDims.Int(attrs.axis())), begin, end},
                          MakeOpAttrs(op::kStridedSlice, StridedSliceAttrs::Values{.assume_inbound = true}));
}

}  // namespace iropt::legalize
