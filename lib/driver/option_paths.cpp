#include "option_paths.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt {

namespace {

// Calls the action for every option that is a string and a path. Pipelines nest as deep as their reader lets them.
template <class P, class Action>
void ForEachPath(P& pipeline, const PassRegistry& registry, Action&& action) {
  for (auto& item : pipeline) {
    ForEachPath(item.children, registry, action);
    const PassEntry* row = item.kind == PipelineItem::Kind::Pass ? registry.Find(item.name) : nullptr;
    for (auto& option : item.options) {
      const auto is_path = [&](const OptionSpec& spec) { return spec.is_path && spec.name == option.key; };
      if (row != nullptr && option.value.as_string() != nullptr && std::ranges::any_of(row->options, is_path)) {
        action(option.value);
      }
    }
  }
}

}  // namespace

void ResolveOptionPaths(Pipeline& pipeline, const PassRegistry& registry, const std::filesystem::path& folder) {
  ForEachPath(pipeline, registry, [&](OptionValue& value) {
    const SourceSpan span = value.span();
    if (!value.as_string()->empty()) value = (folder / *value.as_string()).lexically_normal().string();
    value.set_span(span);
  });
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
