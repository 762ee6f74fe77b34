#include "driver/pipeline/option_paths.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt {

namespace {

// Calls the action with the row and the option for every option of a known pass. Pipelines nest as deep as their reader
// lets them.
template <class P, class Action>
void ForEachOption(P& pipeline, const PassRegistry& registry, Action&& action) {
  for (auto& item : pipeline) {
    ForEachOption(item.children, registry, action);
    const PassEntry* row = item.kind == PipelineItem::Kind::Pass ? registry.Find(item.name) : nullptr;
    for (auto& option : item.options) {
      if (row != nullptr) action(*row, option);
    }
  }
}

bool IsPath(const PassEntry& row, const OptionValue::Entry& option) {
  const auto is_path = [&](const OptionSpec& spec) { return spec.is_path && spec.name == option.key; };
  return option.value.as_string() != nullptr && std::ranges::any_of(row.options, is_path);
}

// Calls the action for every option that is a string and a path.
template <class P, class Action>
void ForEachPath(P& pipeline, const PassRegistry& registry, Action&& action) {
  ForEachOption(pipeline, registry, [&](const PassEntry& row, auto& option) {
    if (IsPath(row, option)) action(option.value);
  });
}

// Calls the action for every string in the value.
template <class Action>
void ForEachString(const OptionValue& value, Action&& action) {
  if (const std::string* text = value.as_string()) action(*text);
  if (const OptionValue::List* list = value.as_list()) {
    for (const OptionValue& element : *list) ForEachString(element, action);
  }
  for (const OptionValue::Entry& entry : value.entries()) ForEachString(entry.value, action);
}

}  // namespace

void ResolveOptionPaths(Pipeline& pipeline, const PassRegistry& registry, const std::filesystem::path& folder) {
  ForEachPath(pipeline, registry, [&](OptionValue& value) {
    const SourceSpan span = value.span();
    if (!value.as_string()->empty()) value = (folder / *value.as_string()).lexically_normal().string();
    value.set_span(span);
  });
}

std::vector<OptionFile> FilesOfOptions(const Pipeline& pipeline, const PassRegistry& registry) {
  std::vector<OptionFile> files;
  ForEachOption(pipeline, registry, [&](const PassEntry& row, const OptionValue::Entry& option) {
    if (row.plugin.empty() && !IsPath(row, option)) return;
    ForEachString(option.value, [&](const std::string& path) {
      std::error_code error;
      if (!std::filesystem::is_regular_file(path, error)) return;
      files.push_back({fmt::format("option '{}' of pass '{}'", option.key, row.info.name), path});
    });
  });
  return files;
}

bool CheckOptionPaths(const Pipeline& pipeline, const PassRegistry& registry, DiagnosticEngine& diagnostics) {
  bool ok = true;
  ForEachPath(pipeline, registry, [&](const OptionValue& value) {
    const std::string& path = *value.as_string();
    std::error_code error;
    if (path.empty() || std::filesystem::exists(path, error)) return;
    ok = false;
    diagnostics.Error(value.span(), "file", fmt::format("cannot open '{}': no such file or directory", path));
  });
  return ok;
}

}  // namespace iropt
