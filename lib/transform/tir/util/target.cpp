#include "transform/tir/util/target.h"

#include "iropt/ir/location.h"

namespace iropt {

const DictAttr* RequireTarget(const PrimFunc& func, DiagnosticEngine& diagnostics) {
  const DictAttr* target = TargetOf(func);
  if (!target)
    diagnostics.Error(Location(func), "pass-failed",
                      "the function does not state its target: run tir.BindTarget first");
  return target;
}

std::string_view TargetString(const DictAttr& target, std::string_view key) {
  const auto* value = As<StrAttr>(target.Find(key));
  return value ? value->value : std::string_view();
}

}  // namespace iropt
