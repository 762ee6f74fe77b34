// The structures of TVM's runtime, as T.tvm_struct_get and T.tvm_struct_set name their fields.
#pragma once

#include <cstdint>

namespace iropt {

// The fields by number (TVMStructFieldKind): those of a DLTensor, of a TVMValue, and others.
enum class StructField : int64_t {
  kArrAddr = 0,
  kArrData = 1,
  kArrShape = 2,
  kArrStrides = 3,
  kArrNDim = 4,
  kArrTypeCode = 5,
  kArrTypeBits = 6,
  kArrTypeLanes = 7,
  kArrByteOffset = 8,
  kArrDeviceId = 9,
  kArrDeviceType = 10,
  kValueContent = 12,
  // Of a value of the FFI of TVM 0.22 and newer.
  kFfiTypeIndex = 13,
  kFfiZeroPadding = 14,
  kFfiUnionValue = 15,
  kInt64Element = 17,  // of an array of 64-bit integers
};

// The device that a CPU is, for DLPack.
inline constexpr int64_t kCpuDevice = 1;

}  // namespace iropt
