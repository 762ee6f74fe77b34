// Texts of which the reader looks at blocks of characters: what it looks for is found wherever it stands in a block.
#include <fmt/format.h>

#include <string>

#include "catch.h"
#include "iropt/text/script/parser.h"

namespace iropt {
namespace {

constexpr std::string_view kHeader =
    "from tvm.script import ir as I\nfrom tvm.script import relax as R\n\n@I.ir_module\nclass Module:\n";

struct Read {
  std::optional<Module> module;
  std::vector<Diagnostic> diagnostics;
};

Read ReadText(std::string_view text) {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  std::optional<Module> module = ParseModule(text, 1, {}, engine);
  return {std::move(module), buffer.diagnostics()};
}

std::string FunctionNamed(std::string_view name, std::string_view value, size_t comment) {
  return fmt::format(
      "    @R.function\n    def {}(x: R.Tensor((2,), \"float32\")):\n        # {}\n\n        y = {}\n        return "
      "y\n",
      name, std::string(comment, '.'), value);
}

TEST_CASE("functions end at any place of a block") {
  for (size_t size = 0; size < 80; ++size) {
    const std::string text = std::string(kHeader) + FunctionNamed("f", "R.abs(x)", size) + "# comment\n" +
                             FunctionNamed("g", "R.exp(x)", 3) + "    pass\n" + FunctionNamed("h", "R.exp(x)", size);
    const Read read = ReadText(text);
    REQUIRE(read.module);
    CHECK(read.module->size() == 3);
  }
}

TEST_CASE("arguments of newer versions are found at any place of a block") {
  for (size_t size = 0; size < 80; ++size) {
    for (const std::string_view argument : {"out_ty", "out_sinfo"}) {
      const auto value = fmt::format("R.call_dps_packed(\"p\", (x,), {}=R.Tensor((2,), dtype=\"float32\"))", argument);
      const Read read = ReadText(std::string(kHeader) + FunctionNamed("f", value, size));
      REQUIRE(read.module);
      CHECK((read.module->text_version() >= TextVersion::kV0_26) == (argument == "out_ty"));
    }
  }
}

TEST_CASE("bytes that are not UTF-8 are found at any place of a block") {
  const std::string text = std::string(kHeader) + FunctionNamed("f", "R.abs(x)", 600);
  REQUIRE(ReadText(text).module);
  for (size_t at = kHeader.size() + 100; at < kHeader.size() + 700; ++at) {
    for (const char c : {'\0', '\x80', '\xff'}) {
      std::string wrong = text;
      wrong[at] = c;
      const Read read = ReadText(wrong);
      CHECK(!read.module);
      REQUIRE(read.diagnostics.size() == 1);
      CHECK(read.diagnostics[0].span.begin == at + 1);
    }
  }
}

}  // namespace
}  // namespace iropt
