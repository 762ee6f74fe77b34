#include "transform/tir/dtypes/dtype_set.h"

#include <charconv>
#include <string_view>

#include "iropt/ir/attr.h"
#include "iropt/ir/location.h"

namespace iropt {

namespace {

constexpr int kFirstWithFloat8 = 89;

std::string_view StringOf(const DictAttr& config, std::string_view key) {
  const auto* value = As<StrAttr>(config.Find(key));
  return value ? value->value : std::string_view();
}

// Of an architecture such as sm_80 or sm_90a; 0 if it is not known.
int ComputeCapability(std::string_view arch) {
  constexpr std::string_view kPrefix = "sm_";
  int capability = 0;
  if (arch.starts_with(kPrefix)) std::from_chars(arch.data() + kPrefix.size(), arch.data() + arch.size(), capability);
  return capability;
}

}  // namespace

bool NeedsFloat8Legalization(const PrimFunc& func, DiagnosticEngine& diagnostics) {
  const Attr* attr = func.attrs->Find("target");
  const auto* target = As<TargetAttr>(attr);
  const DictAttr* config = target ? target->config : As<DictAttr>(attr);
  if (!config) {
    diagnostics.Error(Location(func), "pass-failed",
                      "the function does not state its target: run tir.BindTarget first");
    return false;
  }
  return StringOf(*config, "kind") != "cuda" || ComputeCapability(StringOf(*config, "arch")) < kFirstWithFloat8;
}

}  // namespace iropt
