#include "exchange/onnx/import/name_dims.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "exchange/onnx/import/op_import.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/concat.h"

namespace iropt::onnx {

namespace {

// The operand's dimension, counted from the last one; null if it is not known.
const PrimExpr* DimFromEnd(const Expr* operand, size_t from_end) {
  const TensorType* type = OpImport::TensorOf(operand);
  if (type == nullptr || !type->known) return nullptr;
  const size_t rank = type->dims.size();
  return from_end < rank ? type->dims[static_cast<uint32_t>(rank - 1 - from_end)] : IRContext::Current().Int(1);
}

// The dimension of two tensors that broadcast, if one of them decides: 1 and n give n, a number that is not 1 stays.
const PrimExpr* BroadcastDim(const Call& call, size_t from_end) {
  const PrimExpr* a = DimFromEnd(call.args[0], from_end);
  const PrimExpr* b = DimFromEnd(call.args[1], from_end);
  const auto is_one = [](const PrimExpr* dim) { return dim != nullptr && arith::IsInt(dim, 1); };
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  if (a != nullptr && Is<tir::IntImm>(a)) return a;
  if (b != nullptr && Is<tir::IntImm>(b)) return b;
  return DeepEqual(a, b) ? a : nullptr;
}

// The dimensions of tensors that are joined along one axis add up there; elsewhere one that is a number decides.
const PrimExpr* ConcatDim(const Call& call, size_t from_end, size_t rank) {
  const auto* parts = As<Tuple>(call.args[0]);
  const std::optional<int64_t> stated = ConcatAttrs(call).axis();
  if (parts == nullptr || parts->fields.empty() || !stated) return nullptr;
  const auto axis = static_cast<size_t>(*stated < 0 ? *stated + static_cast<int64_t>(rank) : *stated);
  const bool is_axis = rank - 1 - from_end == axis;
  const PrimExpr* dim = DimFromEnd(parts->fields[0], from_end);
  const arith::PrimBuilder make;
  for (uint32_t i = 1; i < parts->fields.size(); ++i) {
    const PrimExpr* other = DimFromEnd(parts->fields[i], from_end);
    if (is_axis) {
      dim = dim && other ? make.Add(dim, other) : nullptr;
    } else if (other && Is<tir::IntImm>(other)) {
      dim = other;
    } else if (!dim || (!Is<tir::IntImm>(dim) && !DeepEqual(dim, other))) {
      dim = nullptr;
    }
  }
  return dim;
}

// A dimension that follows from the operands; null if it does not.
const PrimExpr* DimOfResult(const Expr* value, size_t from_end, size_t rank) {
  const auto* call = As<Call>(value);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  if (op == nullptr) return nullptr;
  if (op->id == op::kConcat) return ConcatDim(*call, from_end, rank);
  const bool broadcasts = call->args.size() == 2 && op->info->pattern == OpPattern::kBroadcast;
  return broadcasts ? BroadcastDim(*call, from_end) : nullptr;
}

}  // namespace

const TensorType* NameDims(const Expr* value, std::string_view name) {
  const TensorType* type = OpImport::TensorOf(value);
  if (type == nullptr || type->known || type->ndim <= 0 || type->dtype.is_void()) return nullptr;
  const auto rank = static_cast<size_t>(type->ndim);
  std::vector<const PrimExpr*> dims;
  for (size_t i = 0; i < rank; ++i) {
    const PrimExpr* dim = DimOfResult(value, rank - 1 - i, rank);
    dims.push_back(dim ? dim : IRContext::Current().NewSymVar(fmt::format("{}_dim{}", name, i)));
  }
  return TensorType::Get(dims, type->dtype);
}

}  // namespace iropt::onnx
