#include "iropt/ir/node.h"

#include <array>

#include "iropt/ir/attr.h"
#include "iropt/ir/relax/expr.h"

namespace iropt {

namespace {

constexpr std::array<std::string_view, kNumNodeKinds> kNames = {
#define IROPT_NODE(Kind, Class, Group) #Class,
#include "iropt/ir/node_kinds.def"
};

}  // namespace

std::string_view NodeKindName(NodeKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::string_view BaseFunc::StringAttr(std::string_view key) const {
  const auto* value = As<StrAttr>(attrs->Find(key));
  return value ? value->value : std::string_view();
}

}  // namespace iropt
