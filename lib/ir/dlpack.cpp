#include "iropt/ir/dlpack.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "iropt/support/check.h"

namespace iropt {

int64_t DLPackCode(TypeCode code) {
  switch (code) {
    case TypeCode::kInt: return 0;
    case TypeCode::kUInt: return 1;
    case TypeCode::kFloat: return 2;
    case TypeCode::kHandle: return 3;
    case TypeCode::kBFloat: return 4;
    // TVM's own numbers beyond DLPack's.
    case TypeCode::kFloat8E4M3: return 6;
    case TypeCode::kFloat8E5M2: return 7;
    case TypeCode::kFloat4E2M1: return 8;
    // DLPack's numbers of later formats, which TVM 0.21 uses.
    case TypeCode::kFloat8E3M4: return 7;
    case TypeCode::kFloat8E4M3Ieee: return 8;
    case TypeCode::kFloat8E4M3B11Fnuz: return 9;
    case TypeCode::kFloat8E4M3Fnuz: return 11;
    case TypeCode::kFloat8E5M2Fnuz: return 13;
    case TypeCode::kFloat8E8M0: return 14;
    case TypeCode::kFloat6E2M3: return 15;
    case TypeCode::kFloat6E3M2: return 16;
  }
  IROPT_UNREACHABLE("all codes are listed above");
}

std::optional<int64_t> DLPackDeviceType(const DictAttr& target) {
  struct Row {
    std::string_view kind;
    int64_t device_type;
  };
  static constexpr Row kRows[] = {
      {"llvm", 1},     {"c", 1},       {"stackvm", 1},  {"hybrid", 1},  {"composite", 1},    {"test", 1},  {"mrvl", 1},
      {"cuda", 2},     {"nvptx", 2},   {"opencl", 4},   {"sdaccel", 4}, {"vulkan", 7},       {"metal", 8}, {"rocm", 10},
      {"ext_dev", 12}, {"webgpu", 15}, {"hexagon", 16}, {"aocl", 32},   {"aocl_sw_emu", 32},
  };
  if (const auto* number = As<IntAttr>(target.Find("target_device_type"))) return number->value;
  const auto* kind = As<StrAttr>(target.Find("kind"));
  const auto* row = std::ranges::find(kRows, kind ? kind->value : std::string_view(), &Row::kind);
  return row == std::end(kRows) ? std::nullopt : std::optional(row->device_type);
}

std::string_view DLPackDeviceName(int64_t device_type) {
  static constexpr std::pair<int64_t, std::string_view> kNames[] = {
      {1, "cpu"},           {2, "cuda"},    {3, "cuda_host"}, {4, "opencl"},     {7, "vulkan"},
      {8, "metal"},         {9, "vpi"},     {10, "rocm"},     {11, "rocm_host"}, {12, "ext_dev"},
      {13, "cuda_managed"}, {14, "oneapi"}, {15, "webgpu"},   {16, "hexagon"},   {18, "trn"},
  };
  const auto* row = std::ranges::find(kNames, device_type, &std::pair<int64_t, std::string_view>::first);
  return row == std::end(kNames) ? std::string_view("unknown") : row->second;
}

}  // namespace iropt
