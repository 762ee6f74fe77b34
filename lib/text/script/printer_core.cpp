#include "printer_core.h"

#include <fmt/format.h>

#include <cmath>

#include "iropt/diag/location_comment.h"
#include "iropt/ir/location.h"

namespace iropt::text {

void PrintContext::PrintPlace() {
  if (const std::string comment = LocationComment(Location(line_place), *options.locations); !comment.empty()) {
    out.Append("  ");
    out.Append(comment);
  }
  line_place = {};
}

void PrintImports(PrefixUse use, PrintContext& context) {
  const bool tirx = context.Since(TextVersion::kV0_24);
  const std::pair<bool, std::string_view> lines[] = {
      {use.type_vars && !context.pep695, "# from typing import TypeVar"},
      {use.ir, "# from tvm.script import ir as I"},
      {use.tir, tirx ? "# from tvm.script import tirx as T" : "# from tvm.script import tir as T"},
      {use.tir && context.Since(TextVersion::kV0_25), "# from tvm.tirx.layout import Axis"},
      {use.relax, "# from tvm.script import relax as R"}};
  for (const auto& [used, line] : lines) {
    if (!used) continue;
    context.out.Append(line);
    context.NewLine();
  }
  context.NewLine();
}

}  // namespace iropt::text
