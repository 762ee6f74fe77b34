#include "iropt/observe/report/function_texts.h"

#include <algorithm>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/line_diff.h"

namespace iropt {

namespace {

std::string_view KindOf(const BaseFunc* function) {
  if (Is<Function>(function)) return "relax";
  return Is<PrimFunc>(function) ? "tir" : "extern";
}

// The lines after that of the class, without its indentation.
std::string WithoutClass(std::string_view text) {
  constexpr std::string_view kIndent = "    ";
  std::string out;
  bool inside = false;
  bool has_class = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!inside) {
      has_class |= line.starts_with("class ");
      inside = has_class || line.starts_with("@R.") || line.starts_with("@T.");
      if (!inside || has_class) continue;
    }
    if (has_class && line.starts_with(kIndent)) line.remove_prefix(kIndent.size());
    if (out.empty() && line.empty()) continue;
    out += line;
    out += '\n';
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::vector<LineStep> StepsBetween(std::string_view before, std::string_view after) {
  std::vector<LineStep> steps(1);
  for (const DiffLine& line : DiffLines(before, after)) {
    const bool starts = steps.back().removed != 0 || !steps.back().added.empty();
    if (line.change == LineChange::Kept && starts) steps.emplace_back();
    if (line.change == LineChange::Removed && !steps.back().added.empty()) steps.emplace_back();
    switch (line.change) {
      case LineChange::Kept: ++steps.back().kept; break;
      case LineChange::Removed: ++steps.back().removed; break;
      case LineChange::Added: steps.back().added.emplace_back(line.text); break;
    }
  }
  return steps;
}

}  // namespace

// Null stands for the module without functions.
std::string FunctionTexts::TextOf(const Module& module, const ModuleEntry* entry) const {
  Module one;
  one.set_name(module.name());
  if (entry) {
    one.Set(entry->var, entry->func, entry->storage);
  } else {
    one.set_attrs(module.attrs());
    one.mutable_global_infos() = module.global_infos();
  }
  std::string text = WithoutClass(ModuleToString(one, options_));
  return !entry && text == "pass\n" ? std::string() : text;
}

uint32_t FunctionTexts::NumberOf(std::string_view name, std::string_view kind) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<uint32_t>(functions_.size());
  functions_.push_back({module_, std::string(name), std::string(kind), {}, {}});
  numbers_.emplace(name, number);
  return number;
}

void FunctionTexts::Begin(uint32_t module_index, const Module& module) {
  module_ = module_index;
  numbers_.clear();
  const auto add = [&](std::string_view name, std::string_view kind, std::string text) {
    TextHistory& function = functions_[NumberOf(name, kind)];
    function.first = text;
    function.last = std::move(text);
  };
  add({}, "module", TextOf(module, nullptr));
  for (const ModuleEntry& entry : module.functions()) {
    add(entry.var->name, KindOf(entry.func), TextOf(module, &entry));
  }
}

std::vector<TextChange> FunctionTexts::Update(const Module& module, const ModuleChanges& changes) {
  std::vector<TextChange> out;
  if (changes.attributes) UpdateOne(module, {}, out);
  for (const std::string& name : changes.functions) UpdateOne(module, name, out);
  return out;
}

void FunctionTexts::UpdateOne(const Module& module, std::string_view name, std::vector<TextChange>& out) {
  const ModuleEntry* entry = name.empty() ? nullptr : module.Find(name);
  const bool is_removed = !name.empty() && !entry;
  std::string text = is_removed ? std::string() : TextOf(module, entry);
  const uint32_t number = NumberOf(name, entry ? KindOf(entry->func) : "module");
  std::string& last = functions_[number].last;
  if (text == last) return;
  out.push_back({number, StepsBetween(last, text)});
  last = std::move(text);
}

}  // namespace iropt
