// The tables of targets. Source: src/target/target_kind.cc and tag.cc of TVM 0.18.
#include <algorithm>

#include "iropt/ir/target.h"

namespace iropt {

namespace {

using enum TargetOptionType;

std::vector<TargetOption> LlvmOptions() {
  return {
      {"cl-opt", Strings},      {"fast-math", Bool},      {"fast-math-arcp", Bool}, {"fast-math-contract", Bool},
      {"fast-math-ninf", Bool}, {"fast-math-nnan", Bool}, {"fast-math-nsz", Bool},  {"fast-math-reassoc", Bool},
      {"jit", String},          {"mabi", String},         {"mattr", Strings},       {"mcpu", String},
      {"mfloat-abi", String},   {"mtriple", String},      {"num-cores", Int},       {"opt-level", Int},
  };
}

std::vector<TargetOption> VulkanOptions() {
  return {
      {"device_name", String},
      {"device_type", String},
      {"driver_name", String},
      {"driver_version", Int},
      {"mattr", Strings},
      {"max_block_size_x", Int},
      {"max_block_size_y", Int},
      {"max_block_size_z", Int},
      {"max_num_threads", Int, "256"},
      {"max_per_stage_descriptor_storage_buffer", Int},
      {"max_push_constants_size", Int},
      {"max_shared_memory_per_block", Int},
      {"max_spirv_version", Int},
      {"max_storage_buffer_range", Int},
      {"max_threads_per_block", Int, "256"},
      {"max_uniform_buffer_range", Int},
      {"supported_subgroup_operations", Int},
      {"supports_16bit_buffer", Bool},
      {"supports_8bit_buffer", Bool},
      {"supports_cooperative_matrix", Bool},
      {"supports_dedicated_allocation", Bool},
      {"supports_float16", Bool},
      {"supports_float32", Bool, "true"},
      {"supports_float64", Bool},
      {"supports_int16", Bool},
      {"supports_int32", Bool, "true"},
      {"supports_int64", Bool},
      {"supports_int8", Bool},
      {"supports_integer_dot_product", Bool},
      {"supports_push_descriptor", Bool},
      {"supports_storage_buffer_storage_class", Bool},
      {"thread_warp_size", Int, "1"},
      {"vulkan_api_version", Int},
  };
}

std::vector<TargetKind> MakeKinds() {
  return {
      {"aocl", "aocl", {"aocl", "hls"}, {}},
      {"aocl_sw_emu", "aocl", {"aocl", "hls"}, {}},
      {"c",
       "cpu",
       {"cpu"},
       {{"constants-byte-alignment", Int}, {"march", String}, {"mcpu", String}, {"workspace-byte-alignment", Int}}},
      {"composite", "cpu", {}, {{"devices", Targets}}},
      {"cuda",
       "cuda",
       {"cuda", "gpu"},
       {{"arch", String, "sm_50"},
        {"l2_cache_size_bytes", Int},
        {"max_num_threads", Int, "1024"},
        {"max_shared_memory_per_block", Int},
        {"max_threads_per_block", Int},
        {"mcpu", String},
        {"registers_per_block", Int},
        {"thread_warp_size", Int, "32"}}},
      {"ext_dev", "ext_dev", {}, {}},
      {"hexagon",
       "hexagon",
       {"hexagon", "cpu"},
       {{"llvm-options", Strings},
        {"mattr", Strings},
        {"mcpu", String},
        {"mtriple", String},
        {"num-cores", Int},
        {"vtcm-capacity", Int}}},
      {"hybrid", "cpu", {}, {}},
      {"llvm", "cpu", {"cpu"}, LlvmOptions()},
      {"metal",
       "metal",
       {"metal", "gpu"},
       {{"max_function_args", Int, "31"},
        {"max_num_threads", Int, "256"},
        {"max_shared_memory_per_block", Int, "32768"},
        {"max_threads_per_block", Int, "256"},
        {"thread_warp_size", Int, "16"}}},
      {"nvptx",
       "cuda",
       {"cuda", "gpu"},
       {{"max_num_threads", Int, "1024"},
        {"mcpu", String, "sm_50"},
        {"mtriple", String, "nvptx64-nvidia-cuda"},
        {"thread_warp_size", Int, "32"}}},
      {"opencl",
       "opencl",
       {"opencl", "gpu"},
       {{"max_function_args", Int, "128"},
        {"max_num_threads", Int, "256"},
        {"max_shared_memory_per_block", Int, "16384"},
        {"max_threads_per_block", Int, "256"},
        {"texture_spatial_limit", Int, "16384"},
        {"thread_warp_size", Int, "1"}}},
      {"rocm",
       "rocm",
       {"rocm", "gpu"},
       {{"mattr", Strings},
        {"max_num_threads", Int, "256"},
        {"max_shared_memory_per_block", Int, "65536"},
        {"max_threads_per_block", Int, "256"},
        {"mcpu", String, "gfx900"},
        {"mtriple", String, "amdgcn-amd-amdhsa-hcc"},
        {"thread_warp_size", Int, "64"}}},
      {"sdaccel", "opencl", {"sdaccel", "hls"}, {}},
      {"stackvm", "cpu", {"cpu"}, {}},
      {"test", "cpu", {}, {}},
      {"vulkan", "vulkan", {"vulkan", "gpu"}, VulkanOptions()},
      {"webgpu", "webgpu", {"webgpu", "gpu"}, {{"max_num_threads", Int, "256"}}},
  };
}

constexpr TargetOption kCommonOptions[] = {{"device", String}, {"from_device", Int},       {"host", Target},
                                           {"keys", Strings},  {"libs", Strings},          {"model", String},
                                           {"tag", String},    {"target_device_type", Int}};

#define IROPT_TARGET_TAG(Name, Text) TargetTag{Name, Text},
#define IROPT_CUDA_TAG(Name, Arch, SharedMemory, Registers, More)                                                      \
  TargetTag{Name, "cuda -keys=cuda,gpu -arch=" Arch " -max_shared_memory_per_block=" SharedMemory                      \
                  " -max_threads_per_block=1024 -thread_warp_size=32 -registers_per_block=" Registers More},

constexpr TargetTag kTags[] = {
#include "target_tags.def"
};

static_assert(std::ranges::is_sorted(kTags, {}, &TargetTag::name), "rows are in the order of the names");

}  // namespace

std::span<const TargetKind> TargetKinds() {
  static const std::vector<TargetKind>& kinds = *new std::vector<TargetKind>(MakeKinds());
  return kinds;
}

std::span<const TargetOption> CommonTargetOptions() { return kCommonOptions; }

std::span<const TargetTag> TargetTags() { return kTags; }

const TargetKind* FindTargetKind(std::string_view name) {
  const std::span<const TargetKind> kinds = TargetKinds();
  const auto at = std::ranges::lower_bound(kinds, name, {}, &TargetKind::name);
  return at != kinds.end() && at->name == name ? &*at : nullptr;
}

}  // namespace iropt
