#include "printer_core.h"

#include <fmt/format.h>

#include <cmath>

namespace iropt::text {

void PrintImports(PrefixUse use, PrintContext& context) {
  const std::pair<bool, std::string_view> lines[] = {{use.ir, "# from tvm.script import ir as I"},
                                                     {use.tir, "# from tvm.script import tir as T"},
                                                     {use.relax, "# from tvm.script import relax as R"}};
  for (const auto& [used, line] : lines) {
    if (!used) continue;
    context.out.Append(line);
    context.NewLine();
  }
  context.NewLine();
}

}  // namespace iropt::text
