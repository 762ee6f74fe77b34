#include "layout_printer.h"

#include "iropt/ir/attr.h"
#include "iropt/op/op_id.h"
#include "text/script/func_attrs.h"

namespace iropt::text {
namespace {

// Whether buffers of the function have a layout unless they say otherwise: not in the text of older versions.
bool HasLayouts(const PrimFunc& func, TextVersion version) {
  if (version < TextVersion::kV0_25) return false;
  const auto* s_tir = As<IntAttr>(func.attrs->Find(kSTirAttr));
  return s_tir && s_tir->value == 0;
}

bool IsDefaultLayout(const tir::Buffer& buffer) { return CallOf(buffer.layout, OpId::kTirDefaultLayout) != nullptr; }

// Memory of Trainium has no layout by default.
bool HasLayoutByDefault(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version) {
  const std::string_view scope = buffer.scope();
  return HasLayouts(func, version) && scope != "trn.sbuf" && scope != "trn.psum";
}

bool PrintsLayout(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version) {
  // TVM also states that a buffer on Trainium has none.
  if (!buffer.layout) return HasLayouts(func, version);
  return !IsDefaultLayout(buffer) || !HasLayoutByDefault(func, buffer, version);
}

}  // namespace

bool StatesLayout(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version) {
  return PrintsLayout(func, buffer, version) || !buffer.allocated_addr.empty();
}

void PrintLayoutArguments(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version, PrimPrinter& prim,
                          OutputStream& out) {
  if (PrintsLayout(func, buffer, version)) {
    out.Append(", layout=");
    if (!buffer.layout) {
      out.Append("None");
    } else if (IsDefaultLayout(buffer)) {
      out.Append("\"default\"");
    } else {
      prim.Print(buffer.layout);
    }
  }
  if (buffer.allocated_addr.empty()) return;
  out.Append(", allocated_addr=");
  const bool list = buffer.allocated_addr.size() > 1;
  if (list) out.Append('[');
  prim.PrintItems(buffer.allocated_addr);
  if (list) out.Append(']');
}

}  // namespace iropt::text
