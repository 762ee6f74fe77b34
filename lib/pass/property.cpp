#include "iropt/pass/property.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "iropt/ir/location.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass_info.h"
#include "iropt/pass/registry.h"

namespace iropt {

SourceSpan Counterexample::LocationIn(const PrimFunc& func) const {
  const SourceSpan span = Location(*node);
  return span.known() ? span : Location(func);
}

std::string Describe(const EstablishedProperty& established, std::string_view name) {
  std::string text(name);
  if (!established.config.empty()) text += fmt::format(" with {}", established.config);
  if (established.given != nullptr) text += fmt::format(" given {}", established.given->name);
  return text;
}

std::optional<Counterexample> FindCounterexample(const PrimFunc& func, const FunctionProperties& properties) {
  FunctionProperties applying;
  std::ranges::copy_if(properties, std::back_inserter(applying),
                       [&](const FunctionProperty* property) { return property->applies(func); });
  std::optional<Counterexample> found;
  if (applying.empty()) return found;
  const auto contradicts = [&](const Node* node) {
    for (size_t i = 0; i < applying.size() && !found; ++i) {
      if (applying[i]->is_broken_by(*node)) found = Counterexample{applying[i], node};
    }
    return found.has_value();
  };
  const bool only_statements = std::ranges::all_of(applying, [](const FunctionProperty* property) {
    return property->nodes == FunctionProperty::Nodes::kStatements;
  });
  if (only_statements) {
    tir::FindStmt(func.body, contradicts);
  } else {
    tir::PostOrderVisit(func.body, [&](const Node* node) { contradicts(node); });
  }
  return found;
}

namespace {

std::vector<std::string_view> PassesThatEstablish(const FunctionProperty& property, const PassRegistry& registry) {
  std::vector<std::string_view> names;
  for (const auto& [name, row] : registry.passes()) {
    const auto& established = row.info.established_properties;
    if (std::ranges::find(established, &property, &EstablishedProperty::property) != established.end())
      names.push_back(name);
  }
  return names;
}

}  // namespace

bool CheckRequiredProperties(const PassInfo& info, const PrimFunc& func, const PassContext& context,
                             DiagnosticEngine& diagnostics) {
  if (info.required_properties.empty()) return true;
  const std::optional<Counterexample> found = FindCounterexample(func, info.required_properties);
  if (!found) return true;
  std::string message = fmt::format("pass '{}' requires the property '{}': {}", info.name, found->property->name,
                                    found->property->summary);
  const std::vector<std::string_view> establishing = PassesThatEstablish(*found->property, context.Registry());
  if (!establishing.empty()) message += fmt::format("; run {} first", fmt::join(establishing, " or "));
  diagnostics.Error(found->LocationIn(func), "missing-property", std::move(message));
  return false;
}

}  // namespace iropt
