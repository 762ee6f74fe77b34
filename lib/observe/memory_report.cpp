#include "iropt/observe/memory_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "module_size.h"
#include "process_memory.h"

namespace iropt {

MemoryReport::Row MemoryReport::Measure(std::string_view name, const Module& module) {
  return {.name = std::string(name),
          .is_input = false,
          .arena_bytes = ArenaBytes(module),
          .nodes = CountNodes(module),
          .peak_rss_bytes = PeakResidentBytes()};
}

void MemoryReport::BeforePasses(std::string_view subject, const Module& module) {
  rows_.push_back(Measure(subject, module));
  rows_.back().is_input = true;
}

Status MemoryReport::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome) {
  if (!info.is_composite()) rows_.push_back(Measure(info.name, module));
  return {};
}

std::string MemoryReport::Text(const RunEnd& /*end*/) {
  if (form_ == ShownForm::Json) {
    using Json = nlohmann::ordered_json;
    Json rows = Json::array();
    for (const Row& row : rows_) {
      rows.push_back({{row.is_input ? "input" : "pass", row.name},
                      {"arena_bytes", row.arena_bytes},
                      {"nodes", row.nodes},
                      {"peak_rss_bytes", row.peak_rss_bytes}});
    }
    return Json{{"track-memory", std::move(rows)}}.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  }
  constexpr double kKibi = 1024;
  std::string text = fmt::format("{:>12}{:>12}{:>12}  after\n", "arena KiB", "nodes", "peak MiB");
  for (const Row& row : rows_) {
    text += fmt::format("{:>12.1f}{:>12}{:>12.1f}  {}{}\n", static_cast<double>(row.arena_bytes) / kKibi, row.nodes,
                        static_cast<double>(row.peak_rss_bytes) / (kKibi * kKibi), row.is_input ? "reading " : "",
                        row.name);
  }
  return text;
}

}  // namespace iropt
