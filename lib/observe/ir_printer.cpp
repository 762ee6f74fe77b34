#include "iropt/observe/ir_printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace iropt {

Result<FunctionFilter> FunctionFilter::Make(const std::string& pattern) {
  FunctionFilter filter;
  Result<RegularExpression> made = RegularExpression::Make(pattern);
  if (!made) {
    return Error{ErrorCode::Usage,
                 fmt::format("-filter-functions: invalid regular expression: {}", made.error().message)};
  }
  filter.pattern_ = *std::move(made);
  return filter;
}

bool FunctionFilter::Matches(std::string_view name) const { return !pattern_ || pattern_->Matches(std::string(name)); }

void FunctionFilter::Observe(const Module& module) {
  if (!pattern_ || module.size() == 0) return;
  observed_ = true;
  matched_ |= std::ranges::any_of(module.functions(), [&](const ModuleEntry& e) { return Matches(e.var->name); });
}

Module FunctionFilter::Select(const Module& module) const {
  if (!pattern_) return module;
  std::vector<bool> keep;
  for (const ModuleEntry& entry : module.functions()) keep.push_back(Matches(entry.var->name));
  Module selected = module;
  selected.Filter(keep);
  return selected;
}

Module SelectFunctions(const Module& module, std::span<const std::string> names) {
  std::vector<bool> keep(module.size());
  for (const std::string& name : names) {
    if (const ModuleEntry* entry = module.Find(name)) keep[static_cast<size_t>(module.IndexOf(entry->var))] = true;
  }
  Module selected = module;
  selected.Filter(keep);
  return selected;
}

// "pass 3, functions main, f, chunk 1, from line 1".
std::string IrPrinter::Details(std::span<const std::string> names) const {
  constexpr size_t kMostNames = 3;
  std::vector<std::string> details;
  if (counter_->current() != 0) details.push_back(fmt::format("pass {}", counter_->current()));
  if (!names.empty()) {
    const std::span<const std::string> first = names.first(std::min(names.size(), kMostNames));
    const std::string more = names.size() > kMostNames ? fmt::format(" and {} more", names.size() - kMostNames) : "";
    details.push_back(fmt::format("function{} {}{}", names.size() == 1 ? "" : "s", fmt::join(first, ", "), more));
  }
  return fmt::format("{}", fmt::join(details, ", "));
}

Status IrPrinter::Print(const Module& module, const std::string& heading) const {
  const Module selected = filter_.Select(module);
  if (selected.size() == 0 && module.size() != 0) return {};
  return console_.PrintUnderHeading(selected, heading, Details({}));
}

Status IrPrinter::PrintFunctions(const Module& module, const std::string& heading,
                                 std::span<const std::string> names) const {
  return console_.PrintUnderHeading(SelectFunctions(module, names), heading, Details(names));
}

Status IrPrinter::PrintHeading(const std::string& heading, std::string_view result) const {
  console_.err().Append(console_.Heading(heading, Details({}), result));
  return console_.err().Flush();
}

Status IrPrinter::PrintText(const std::string& heading, std::span<const std::string> names,
                            std::string_view text) const {
  console_.err().Append(console_.Heading(heading, Details(names)));
  console_.err().Append(text);
  return console_.err().Flush();
}

}  // namespace iropt
