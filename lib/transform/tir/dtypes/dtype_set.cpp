#include "transform/tir/dtypes/dtype_set.h"

#include <charconv>
#include <string_view>

#include "transform/tir/util/target.h"

namespace iropt {

namespace {

constexpr int kFirstWithFloat8 = 89;

// Of an architecture such as sm_80 or sm_90a; 0 if it is not known.
int ComputeCapability(std::string_view arch) {
  constexpr std::string_view kPrefix = "sm_";
  int capability = 0;
  if (arch.starts_with(kPrefix)) std::from_chars(arch.data() + kPrefix.size(), arch.data() + arch.size(), capability);
  return capability;
}

}  // namespace

bool NeedsFloat8Legalization(const PrimFunc& func, DiagnosticEngine& diagnostics) {
  const DictAttr* target = RequireTarget(func, diagnostics);
  return target && (TargetString(*target, "kind") != "cuda" ||
                    ComputeCapability(TargetString(*target, "arch")) < kFirstWithFloat8);
}

}  // namespace iropt
