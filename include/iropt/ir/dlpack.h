// Numbers that DLPack and TVM give to kinds of scalars and of devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "iropt/ir/attr.h"
#include "iropt/ir/dtype.h"

namespace iropt {

// DLPack's number, or TVM's own if DLPack has none.
int64_t DLPackCode(TypeCode code);

// The number of the kind of device that a target, such as {"kind": "cuda"}, generates code for. Nothing if TVM does not
// have this kind.
std::optional<int64_t> DLPackDeviceType(const DictAttr& target);
// "cpu" for 1; "unknown" if TVM has no name for it.
std::string_view DLPackDeviceName(int64_t device_type);

}  // namespace iropt
