// Facts about tir.device_call and tir.pure_device_call by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "iropt/ir/node.h"
#include "iropt/op/intrinsics.h"

namespace iropt {

// The dtype of a call that is written without one.
enum class DeviceResult : uint8_t { kFixed, kOperand, kBitsOfOperand0 };

struct DeviceCallInfo {
  std::string_view name;
  int8_t least = 0;
  int8_t most = -1;  // -1: any number
  CallEffect effect = CallEffect::kOpaque;
  DeviceResult result = DeviceResult::kFixed;
  uint8_t operand = 0;  // for kOperand
  DataType dtype;       // for kFixed
};

// Null if no device has such an instruction. O(log rows).
const DeviceCallInfo* FindDeviceCall(std::string_view name);
std::span<const DeviceCallInfo> DeviceCalls();
// The intrinsic of TVM 0.24 and older that such a call of the newest version is, as T.ptx.cp("async", "commit_group",
// "") is T.ptx_commit_group(); kTirDeviceCall for others.
OpId CopyGroupOf(const tir::Call* call);
// The dtype of a call with these operands if the text states none; nothing if the operand that decides is missing.
std::optional<DataType> ResultDtypeOf(const DeviceCallInfo& info, std::span<const PrimExpr* const> args);

}  // namespace iropt
