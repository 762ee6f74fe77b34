#include "iropt/op/device_calls.h"

#include <algorithm>
#include <array>

#include "iropt/ir/tir/expr.h"
#include "iropt/op/intrinsic_ids.h"

namespace iropt {
namespace {

constexpr int8_t Variadic = -1;  // NOLINT: a word of the table

struct DeviceResultWord {
  DeviceResult rule = DeviceResult::kFixed;
  uint8_t operand = 0;
  DataType dtype;
  constexpr DeviceResultWord(DataType d) : dtype(d) {}  // NOLINT: rows leave it out
  constexpr DeviceResultWord(DeviceResult r, uint8_t i) : rule(r), operand(i) {}
};
constexpr DeviceResultWord OfOperand(uint8_t i) { return {DeviceResult::kOperand, i}; }
constexpr DeviceResultWord BitsOfOperand0{DeviceResult::kBitsOfOperand0, 0};  // NOLINT: a word of the table

constexpr DeviceCallInfo DeviceRow(std::string_view name, int8_t least, int8_t most, CallEffect effect,
                                   DeviceResultWord result) {
  return {name, least, most, effect, result.rule, result.operand, result.dtype};
}

constexpr std::array kDeviceCalls = {
#define IROPT_DEVICE_CALL(name, least, most, effect, result) DeviceRow(name, least, most, CallEffect::effect, result),
#include "iropt/op/device_calls.def"
};
static_assert(std::ranges::is_sorted(kDeviceCalls, {}, &DeviceCallInfo::name));

constexpr DeviceCallInfo kPtx = DeviceRow("ptx", 0, Variadic, CallEffect::kOpaque, DataType::Void());
// The address of an operand of an instruction: a base and an offset in bytes.
constexpr DeviceCallInfo kPtxAddress = DeviceRow("ptx.addr", 2, 2, CallEffect::kPure, DataType::Handle());

}  // namespace

const DeviceCallInfo* FindDeviceCall(std::string_view name) {
  if (name.starts_with("ptx.")) return name == kPtxAddress.name ? &kPtxAddress : &kPtx;
  const auto* it = std::ranges::lower_bound(kDeviceCalls, name, {}, &DeviceCallInfo::name);
  return it != kDeviceCalls.end() && it->name == name ? it : nullptr;
}

std::span<const DeviceCallInfo> DeviceCalls() { return kDeviceCalls; }

OpId CopyGroupOf(const tir::Call* call) {
  const auto is = [&](uint32_t i, std::string_view text) {
    const auto* operand = i < call->args.size() ? As<tir::StringImm>(call->args[i]) : nullptr;
    return operand && operand->value == text;
  };
  if (IsOp(call->op, op::kTirDeviceCall) && is(0, "ptx.cp")) {
    if (call->args.size() == 4 && is(1, "async") && is(2, "commit_group") && is(3, "")) return op::kTirPtxCommitGroup;
    if (call->args.size() == 5 && is(2, "async") && is(3, "wait_group") && is(4, "")) return op::kTirPtxWaitGroup;
  }
  return op::kTirDeviceCall;
}

std::optional<DataType> ResultDtypeOf(const DeviceCallInfo& info, std::span<const PrimExpr* const> args) {
  switch (info.result) {
    case DeviceResult::kFixed: return info.dtype;
    case DeviceResult::kOperand:
      return info.operand < args.size() ? std::optional(args[info.operand]->dtype) : std::nullopt;
    case DeviceResult::kBitsOfOperand0: {
      const auto* bits = args.empty() ? nullptr : As<tir::IntImm>(args[0]);
      const bool known = bits && (bits->value == 8 || bits->value == 16 || bits->value == 32 || bits->value == 64);
      return known ? std::optional(DataType::Int(static_cast<int>(bits->value))) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace iropt
