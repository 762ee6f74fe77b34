#include "iropt/ir/tir/target_of.h"

#include "iropt/ir/attr_keys.h"

namespace iropt {

const DictAttr* TargetConfig(const Attr* attr) {
  const auto* target = As<TargetAttr>(attr);
  return target ? target->config : As<DictAttr>(attr);
}

const DictAttr* TargetOf(const PrimFunc& func) { return TargetConfig(func.attrs->Find(attr::kTarget)); }

}  // namespace iropt
