#include "transform/tir/dtypes/dtype_set.h"

#include <charconv>
#include <string_view>

#include "transform/tir/util/target.h"

namespace iropt {

namespace {

constexpr int kFirstWithBFloat16 = 80;
constexpr int kFirstWithFloat8 = 89;

// Of an architecture such as sm_80 or sm_90a; 0 if it is not known.
int ComputeCapability(std::string_view arch) {
  constexpr std::string_view kPrefix = "sm_";
  int capability = 0;
  if (arch.starts_with(kPrefix)) std::from_chars(arch.data() + kPrefix.size(), arch.data() + arch.size(), capability);
  return capability;
}

bool ComputesNatively(const DictAttr& target, int first_capability) {
  return TargetString(target, "kind") == "cuda" && ComputeCapability(TargetString(target, "arch")) >= first_capability;
}

}  // namespace

bool NeedsFloat8Legalization(const PrimFunc& func, TextVersion version, DiagnosticEngine& diagnostics) {
  const bool needs_target = version < TextVersion::kV0_24;
  const DictAttr* target = needs_target ? RequireTarget(func, diagnostics) : TargetOf(func);
  return target ? !ComputesNatively(*target, kFirstWithFloat8) : !needs_target;
}

bool NeedsBFloat16Legalization(const PrimFunc& func, TextVersion version) {
  const DictAttr* target = version >= TextVersion::kV0_20 ? TargetOf(func) : nullptr;
  return !target || !ComputesNatively(*target, kFirstWithBFloat16);
}

}  // namespace iropt
