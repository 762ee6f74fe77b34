#include "iropt/observe/snapshot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "iropt/support/shell.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

constexpr std::string_view kPipelineBegin = kSnapshotMark.substr(1, kSnapshotMark.size() - 2);
constexpr std::string_view kPipelineEnd = "# }";
constexpr std::string_view kComment = "# ";

std::string NamesOf(const std::vector<LocatedName>& names) {
  std::vector<std::string_view> texts;
  for (const LocatedName& name : names) texts.emplace_back(name.name);
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string AsComment(std::string_view text) {
  std::string comment;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    comment += fmt::format("{}{}\n", kComment, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return comment;
}

}  // namespace

std::string CommandLineOf(const PipelineFile& pipeline, const std::string& path) {
  std::string line = "ir-opt";
  const auto add = [&](const std::string& word) { line += ' ' + ShellWord(word); };
  if (pipeline.opt_level) add(fmt::format("-O{}", *pipeline.opt_level));
  for (const LocatedName& plugin : pipeline.plugins) add("-load-pass-plugin=" + plugin.name);
  if (!pipeline.disabled.empty()) add("-disable=" + NamesOf(pipeline.disabled));
  if (!pipeline.required.empty()) add("-require=" + NamesOf(pipeline.required));
  for (const OptionValue::Entry& entry : pipeline.config)
    add(fmt::format("-config={}={}", entry.key, ToString(entry.value)));
  // Without it, a level asks for its default pipeline.
  add("-passes=" + PrintPipeline(pipeline.passes.value_or(Pipeline())));
  add(path);
  return line;
}

std::string SnapshotHeader(std::string_view title, const PipelineFile& pipeline, const std::string& path) {
  std::string header = fmt::format("{}{}: {}\n", kSnapshotBegin, IROPT_VERSION, title);
  header += fmt::format("{}To continue: ir-opt -run-reproducer {}\n", kComment, ShellWord(path));
  header += fmt::format("{}or: {}\n", kComment, CommandLineOf(pipeline, path));
  return header + fmt::format("{}\n", kPipelineBegin) + AsComment(PrintPipelineFile(pipeline)) + '\n';
}

Status WriteSnapshot(std::string_view title, const PipelineFile& pipeline, const std::string& path,
                     FunctionRef<void(OutputStream&)> print) {
  return WriteFileAtomically(path, [&](OutputStream& out) {
    out.Append(SnapshotHeader(title, pipeline, path));
    print(out);
    return out.Flush();
  });
}

std::optional<std::string> PipelineOfSnapshot(std::string_view text) {
  if (!text.starts_with(kSnapshotBegin)) return std::nullopt;
  std::string pipeline;
  bool inside = false;
  while (text.starts_with('#')) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (inside) {
      if (!line.starts_with(kComment)) return std::nullopt;
      pipeline += line.substr(kComment.size());
      pipeline += '\n';
      if (line == kPipelineEnd) return pipeline;
    }
    inside |= line == kPipelineBegin;
  }
  return std::nullopt;
}

}  // namespace iropt
