#include "scheduled_loops.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/pass/pipeline.h"

namespace iropt {

namespace {

// The lowest level whose pipeline schedules loops.
constexpr int kSchedulingLevel = 3;

bool IsScheduled(const ModuleEntry& entry) {
  const auto* func = As<PrimFunc>(entry.func);
  const auto* mark = func ? As<IntAttr>(func->attrs->Find(attr::kIsScheduled)) : nullptr;
  return mark && mark->value == 1;
}

#if defined(__x86_64__)
// Not all C compilers have a name for AVX-VNNI, the products of bytes of processors without AVX-512.
bool HasAvxVnni() {
  constexpr unsigned kFeatures = 7, kMoreFeatures = 1, kAvxVnni = 1U << 4;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(kFeatures, kMoreFeatures, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAvxVnni) != 0;
}
#endif

}  // namespace

std::string HostTarget() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni")) return "llvm -mattr=+avx512f,+avx512bw,+avx512vnni";
  if (__builtin_cpu_supports("avx512bw")) return "llvm -mattr=+avx512f,+avx512bw";
  if (__builtin_cpu_supports("avx512f")) return "llvm -mattr=+avx512f";
  if (__builtin_cpu_supports("avx2")) return HasAvxVnni() ? "llvm -mattr=+avx2,+avxvnni" : "llvm -mattr=+avx2";
#elif defined(__aarch64__)
  return "llvm -mtriple=aarch64-linux-gnu";
#endif
  return "llvm";
}

bool SchedulesLoops(const ProgramOptions& options) {
  const DriverOptions& driver = options.driver;
  const bool has_own_passes = !driver.pipeline.passes.empty() || driver.pipeline.file || driver.pipeline.is_in_input;
  const bool is_for_cpu = !driver.pipeline.target || driver.pipeline.target->starts_with("llvm");
  return options.loops == LoopMode::Compile && !has_own_passes && is_for_cpu &&
         driver.pipeline.opt_level.value_or(0) >= kSchedulingLevel;
}

DriverOptions OptionsForLoops(const ProgramOptions& options) {
  DriverOptions driver = options.driver;
  if (SchedulesLoops(options) && !driver.pipeline.target) driver.pipeline.target = HostTarget();
  return driver;
}

Result<Module> RunPasses(std::string_view passes, Module module, PassContext& context, CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler.AddText("-loops", std::string(passes)));
  const std::optional<Pipeline> pipeline = ParsePipeline(passes, base, compiler.diagnostics());
  if (!pipeline) return Failure{ErrorCode::Internal};
  IROPT_ASSIGN_OR_RETURN(const Pass pass,
                         BuildPipeline(*pipeline, compiler.registry(), compiler.diagnostics(), &context));
  IROPT_ASSIGN_OR_RETURN(PassResult result, pass(std::move(module), context));
  return std::move(result.module);
}

Result<Module> LowerScheduledLoops(Module module, PassContext context, CompilerInstance& compiler) {
  std::vector<bool> scheduled;
  for (const ModuleEntry& entry : module.functions()) scheduled.push_back(IsScheduled(entry));
  if (std::ranges::none_of(scheduled, std::identity())) return module;
  Module part = module;
  part.Filter(scheduled);
  // The last tiles, which are smaller, run apart in modules of all versions, and functions that the loop compiler has
  // for vectors are vectors.
  for (const std::string_view key : {"tir.LoopPartition.partition_const_loop", "tir.vectorize_all_functions"}) {
    if (!context.SetConfig(key, true, compiler.diagnostics())) return Failure{ErrorCode::Internal};
  }
  IROPT_ASSIGN_OR_RETURN(const Module lowered, RunPasses("tir.lower", std::move(part), context, compiler));
  for (const ModuleEntry& entry : lowered.functions()) module.Set(entry.var, entry.func, entry.storage);
  return module;
}

}  // namespace iropt
