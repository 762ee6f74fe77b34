#include "operator_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/diag/joint_spans.h"
#include "iropt/ir/attr_keys.h"
#include "iropt/ir/location.h"
#include "iropt/support/regular_expression.h"

namespace iropt {

namespace {

// The name in the description of a node, such as Conv "conv1"; empty if it has none.
std::string NameInNode(std::string_view node) {
  const size_t begin = node.find('"');
  const size_t end = node.rfind('"');
  if (begin == std::string_view::npos || end == begin) return {};
  return std::string(node.substr(begin + 1, end - begin - 1));
}

// The parts of a joined name.
std::vector<std::string> PartsOfName(const std::string& name) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = name.find('+'); end != std::string::npos; begin = end + 1, end = name.find('+', begin))
    parts.push_back(name.substr(begin, end - begin));
  parts.push_back(name.substr(begin));
  return parts;
}

}  // namespace

precision::OperatorNamer MakeOperatorNamer(const Module& module, const SourceManager& sources) {
  const bool is_of_model = module.attrs()->Find(attr::kOnnxModel) != nullptr;
  return [is_of_model, &sources](const Var& var, const Call& call) {
    std::vector<std::string> names;
    if (is_of_model && call.span().known()) {
      for (const SourceSpan& part : PartsOf(Location(call))) {
        std::string name = NameInNode(sources.Text(part));
        if (!name.empty()) names.push_back(std::move(name));
      }
    }
    return names.empty() ? std::string(var.name()) : fmt::format("{}", fmt::join(names, "+"));
  };
}

struct KeptOperators::Entry {
  std::string text;
  RegularExpression expression;
  bool matched = false;
};

Result<KeptOperators> KeptOperators::Make(const std::vector<std::string>& texts) {
  KeptOperators kept;
  for (const std::string& text : texts) {
    Result<RegularExpression> expression = RegularExpression::Make(fmt::format("^({})$", text));
    if (!expression.ok())
      return Error{ErrorCode::Usage, fmt::format("flag '-keep-precision': '{}': {}", text, expression.error().message)};
    kept.entries_.push_back(std::make_shared<Entry>(Entry{text, *std::move(expression)}));
  }
  return kept;
}

bool KeptOperators::Contains(const std::string& name) {
  bool found = false;
  const std::vector<std::string> parts = PartsOfName(name);
  for (const std::shared_ptr<Entry>& entry : entries_) {
    const bool is_named = std::ranges::any_of(
        parts, [&](const std::string& part) { return part == entry->text || entry->expression.Matches(part); });
    entry->matched |= is_named;
    found |= is_named;
  }
  return found;
}

std::vector<std::string> KeptOperators::Unmatched() const {
  std::vector<std::string> texts;
  for (const std::shared_ptr<Entry>& entry : entries_) {
    if (!entry->matched) texts.push_back(entry->text);
  }
  return texts;
}

}  // namespace iropt
