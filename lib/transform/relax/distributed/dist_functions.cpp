#include "dist_functions.h"

#include <fmt/format.h>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/sharding.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/distributed.h"

namespace iropt {

std::span<const Expr* const> DistOperands(const Call& call) {
  const bool calls_prim_func = IsOp(call.op, op::kCallTir) || IsOp(call.op, op::kDistCallTirLocalView);
  if (!calls_prim_func) return call.args.span();
  const auto* args = As<Tuple>(call.args[1]);
  return args ? args->fields.span() : std::span<const Expr* const>();
}

std::optional<bool> IsDistributed(const Function& function, std::string_view name, DiagnosticEngine& diagnostics) {
  bool has_plain = false;
  bool has_distributed = false;
  for (const Var* param : function.params) {
    ForEachLeaf(param->type, [&](const Type* leaf) {
      has_plain |= Is<TensorType>(leaf);
      has_distributed |= Is<DTensorType>(leaf);
    });
  }
  if (!has_plain || !has_distributed) return has_distributed;
  diagnostics.Error(
      Location(function), "pass-failed",
      fmt::format("some of the parameters of function '{}' are distributed tensors, others are not", name));
  return std::nullopt;
}

const PrimFunc* PrimFuncOf(const Call& call, const Module& module) {
  const auto* name = IsOp(call.op, op::kCallTir) ? As<GlobalVar>(call.args[0]) : nullptr;
  const ModuleEntry* entry = name ? module.Find(name) : nullptr;
  return entry ? As<PrimFunc>(entry->func) : nullptr;
}

std::vector<const PrimExpr*> ShardDims(std::span<const PrimExpr* const> dims, const DTensorType& type) {
  std::vector<const PrimExpr*> sharded(dims.begin(), dims.end());
  const Placement placement = PlacementOf(type);
  const arith::PrimBuilder make;
  for (uint32_t i = 0; i < placement.size() && i < type.device_mesh->shape.size(); ++i) {
    if (placement[i] < 0 || static_cast<size_t>(placement[i]) >= sharded.size()) continue;
    const PrimExpr*& dim = sharded[static_cast<size_t>(placement[i])];
    dim = make.FloorDiv(dim, make.Const(type.device_mesh->shape[i], dim->dtype));
  }
  return sharded;
}

const Type* PlainType(const Type* type, bool sharded, Arena& arena) {
  if (const auto* dtensor = As<DTensorType>(type)) {
    const TensorType* tensor = dtensor->tensor;
    if (!sharded || !tensor->known) return tensor;
    return TensorType::Get(ShardDims(tensor->dims.span(), *dtensor), tensor->dtype, tensor->vdevice);
  }
  const auto* tuple = As<TupleType>(type);
  if (!tuple) return type;
  return WithStack([&]() -> const Type* {
    std::vector<const Type*> fields;
    for (const Type* field : tuple->fields) fields.push_back(PlainType(field, sharded, arena));
    return TupleType::Get(arena, fields);
  });
}

}  // namespace iropt
