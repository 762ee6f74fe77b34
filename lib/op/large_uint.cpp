#include "iropt/op/large_uint.h"

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {

const tir::Call* MakeLargeUInt(uint64_t value, Arena& arena) {
  const auto half = [&](uint64_t bits) {
    return arena.New<tir::IntImm>(DataType::UInt(32), static_cast<int64_t>(bits & UINT32_MAX));
  };
  const PrimExpr* halves[] = {half(value), half(value >> 32)};
  return arena.New<tir::Call>(DataType::UInt(64), GetOp(op::kTirLargeUintImm),
                              arena.Copy(std::span<const PrimExpr* const>(halves)));
}

std::optional<uint64_t> AsLargeUInt(const PrimExpr* e) {
  const tir::Call* call = e->dtype == DataType::UInt(64) ? CallOf(e, op::kTirLargeUintImm) : nullptr;
  if (!call || call->args.size() != 2) return std::nullopt;
  const auto* low = As<tir::IntImm>(call->args[0]);
  const auto* high = As<tir::IntImm>(call->args[1]);
  // As MakeLargeUInt makes them: others print as the calls that they are.
  const auto is_half = [](const tir::IntImm* half) {
    return half && half->dtype == DataType::UInt(32) && half->value >= 0 && half->value <= UINT32_MAX;
  };
  if (!is_half(low) || !is_half(high) || high->value >> 31 == 0) return std::nullopt;
  return static_cast<uint64_t>(high->value) << 32 | static_cast<uint64_t>(low->value);
}

std::optional<uint64_t> AsUInt64(const PrimExpr* e) {
  const auto* imm = e->dtype == DataType::UInt(64) ? As<tir::IntImm>(e) : nullptr;
  return imm ? std::optional(static_cast<uint64_t>(imm->value)) : AsLargeUInt(e);
}

}  // namespace iropt
