#include "node_labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "iropt/diag/joint_spans.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/visitor.h"

namespace iropt {

namespace {

class BindingReader final : public ExprVisitor {
 public:
  explicit BindingReader(FunctionRef<void(const Var& var, Span span)> read) : read_(read) {}

 protected:
  void VisitBinding(const Binding* binding) override {
    const Span of_value = ValueOf(binding)->span();
    read_(*binding->var, of_value.known() ? of_value : binding->span());
    ExprVisitor::VisitBinding(binding);
  }

 private:
  FunctionRef<void(const Var& var, Span span)> read_;
};

// The variable that a line of code binds: `    lv: R.Tensor(...) = ...`.
std::string_view BoundName(std::string_view line) {
  const size_t begin = line.find_first_not_of(' ');
  const size_t end = line.find_first_of(": =", begin == std::string_view::npos ? line.size() : begin);
  return end == std::string_view::npos ? std::string_view() : line.substr(begin, end - begin);
}

}  // namespace

void NodeLabels::Read(const Function& function) {
  BindingReader([&](const Var& var, Span span) {
    const std::string label = Describe(span);
    const auto [known, is_new] = labels_.try_emplace(std::string(var.name()), label);
    if (!is_new && known != label) known.clear();
  }).VisitExpr(function.body);
}

std::string NodeLabels::Of(std::string_view line) const {
  const std::string* label = labels_.Find(std::string(BoundName(line)));
  return label ? *label : std::string();
}

std::string NodeLabels::Describe(Span span) const {
  std::vector<std::string> nodes;
  for (const SourceSpan part : PartsOf(Location(span))) {
    if (!part.known()) continue;
    // The descriptions of nodes are whole lines; code in functions of a text is indented.
    const SourceLocation location = sources_.Locate(part.begin);
    if (location.byte_in_line != 0) return {};
    const std::string_view line = location.line_text;
    const size_t comment = line.rfind("  # ");
    nodes.push_back(fmt::format("{}{}", line.substr(0, part.end - part.begin),
                                comment == std::string_view::npos ? std::string_view() : line.substr(comment)));
  }
  return fmt::format("{}", fmt::join(nodes, "; "));
}

std::string WithNodes(std::string_view difference, const NodeLabels& before, const NodeLabels& after) {
  std::string text;
  while (!difference.empty()) {
    const size_t end = std::min(difference.find('\n'), difference.size() - 1) + 1;
    std::string_view line = difference.substr(0, end);
    difference.remove_prefix(end);
    // Coloured lines have a code at both ends.
    const size_t code = line.starts_with('\x1b') ? line.find('m') + 1 : 0;
    const bool is_removed = line.substr(code).starts_with('-');
    const std::string label = is_removed || line.substr(code).starts_with('+')
                                  ? (is_removed ? before : after).Of(line.substr(code + 1))
                                  : std::string();
    const size_t tail = label.empty() ? line.size() : std::min(line.find('\x1b', 1), line.find('\n'));
    text += line.substr(0, tail);
    if (!label.empty()) text += fmt::format("  # {}", label);
    if (tail < line.size()) text += line.substr(tail);
  }
  return text;
}

}  // namespace iropt
