// -list-passes=markdown: a document that describes all passes.
#include <fmt/format.h>

#include <string>

#include "iropt/driver/catalog.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

constexpr std::string_view kHead = R"(# Passes

The passes of ir-opt {}, as `ir-opt -list-passes=markdown` prints them. *Level* is the lowest `-O` at which a pipeline runs
the pass. `ir-opt -help-pass=NAME` prints the description of one pass; the module after each example is the result of
running it.

| pass | unit | level | summary |
| --- | --- | --- | --- |
)";

// The anchor of a heading that is the name, as Markdown is rendered.
std::string Anchor(std::string_view name) {
  std::string anchor;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      anchor += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-') {
      anchor += c;
    }
  }
  return anchor;
}

}  // namespace

Result<std::string> RenderPassesMarkdown(const PassRegistry& registry) {
  std::string out = fmt::format(kHead, IROPT_VERSION);
  for (const auto& [name, row] : registry.passes()) {
    out += fmt::format("| [{}](#{}) | {} | {} | {} |\n", name, Anchor(name), PassKindName(row.info.kind),
                       row.info.opt_level, row.summary);
  }
  for (const auto& [name, row] : registry.passes()) {
    IROPT_ASSIGN_OR_RETURN(const std::string description, DescribePass(name, registry));
    out += fmt::format("\n## {}\n\n```text\n{}```\n", name, description);
  }
  return out;
}

}  // namespace iropt
