#include "iropt/driver/diff_modules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "align_names.h"
#include "driver/session/wants_colour.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/structural.h"
#include "iropt/observe/ir_printer.h"
#include "iropt/observe/output_files.h"
#include "iropt/observe/report/report_json.h"
#include "iropt/observe/report/report_page.h"
#include "iropt/observe/report/text_report.h"
#include "iropt/support/line_diff.h"
#include "node_labels.h"

namespace iropt {

namespace {

std::string DisplayName(const std::string& path) { return path == "-" ? "<stdin>" : path; }

class ModuleDiff {
 public:
  ModuleDiff(CompilerInstance& compiler, const DiffOptions& options) : compiler_(compiler), options_(options) {}

  Status Read() {
    IROPT_RETURN_IF_ERROR(CheckFiles());
    IROPT_ASSIGN_OR_RETURN(before_, ReadOne(options_.before));
    IROPT_ASSIGN_OR_RETURN(const Module after, ReadOne(options_.after));
    compiler_.set_input({}, {});
    compiler_.weights().WarnOfUnused();
    changes_ = FindChanges(before_, after);
    after_ = AlignNames(before_, after);
    return compiler_.weights().Check();
  }

  bool equal() const { return changes_.empty(); }

  Status Write() {
    if (!options_.page.empty()) return WritePage();
    IROPT_RETURN_IF_ERROR(compiler_.weights().CheckOutputPath(options_.output));
    return WriteFileAtomically(options_.output, [&](OutputStream& out) {
      out.Append(options_.form == ShownForm::Json ? RenderJson() : RenderText(WantsColour()));
      return out.Flush();
    });
  }

 private:
  Status CheckFiles() const {
    if (options_.before == "-" && options_.after == "-")
      return Error{ErrorCode::Usage, "-diff compares two files: only one of them can be the standard input"};
    OutputFiles files;
    files.AddRead("the first input", options_.before);
    files.AddRead("the second input", options_.after);
    for (const std::string& path : compiler_.options().response_files) files.AddRead("the response file", path);
    if (!options_.page.empty()) return files.ClaimOfKind("-diff", options_.page, kReportPage);
    return options_.output == "-" ? Status() : files.Claim("-output", options_.output);
  }

  Result<Module> ReadOne(const std::string& path) {
    compiler_.set_input(DisplayName(path), {});
    IROPT_ASSIGN_OR_RETURN(Module module, compiler_.ReadModule(path));
    if (!CheckTextSize(module, compiler_.diagnostics())) return Failure{ErrorCode::Budget};
    return module;
  }

  bool WantsColour() const {
    const Colour colour = compiler_.options().colour;
    return options_.output == "-" ? iropt::WantsColour(colour, STDOUT_FILENO) : colour == Colour::Always;
  }

  // The step from the first module to the second one, as a run of one pass would be recorded.
  std::unique_ptr<RunRecorder> Record(const Module& before, const Module& after) const {
    auto recorder = std::make_unique<RunRecorder>(std::make_unique<FunctionTexts>(
        PrintOptions{.inline_constants = compiler_.options().inline_constants, .hash_constants = true}));
    const PassInfo step{.name = DisplayName(options_.after)};
    recorder->OnRead(DisplayName(options_.before), before);
    static_cast<void>(recorder->RunBeforePass(before, step));
    static_cast<void>(recorder->RunAfterPass(after, step, equal() ? PassOutcome::Unchanged : PassOutcome::Changed));
    return recorder;
  }

  Status WritePage() {
    IROPT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(options_.page));
    const RunSummary summary{.pipeline = fmt::format("-diff {} {}", options_.before, options_.after),
                             .exit_code = equal() ? 0 : kModulesDiffer};
    return WriteReportPage(*Record(before_, after_), summary, file);
  }

  // The attributes of the module first, then the functions in the order of the first module.
  std::vector<ChangedFunction> DescribeChanges(const RunRecorder& record, bool colour) const {
    std::vector<ChangedFunction> changed;
    for (const TextHistory& function : record.texts()->functions()) {
      const bool is_module = function.name.empty();
      const ModuleEntry* old_entry = before_.Find(function.name);
      const ModuleEntry* new_entry = after_.Find(function.name);
      if (is_module ? !changes_.attributes : !old_entry || !new_entry) continue;
      ChangedFunction& change =
          changed.emplace_back(ChangedFunction{.name = function.name, .effect = {}, .difference = {}});
      if (!is_module) change.effect = EffectOf(before_, after_, {.functions = {function.name}});
      change.difference = WithNodes(UnifiedDiff(function.first, function.last, {.colour = colour}), LabelsOf(old_entry),
                                    LabelsOf(new_entry));
      if (!change.difference.empty()) continue;
      const std::optional<std::string> path =
          is_module ? std::nullopt : FirstDifference(old_entry->func, new_entry->func);
      change.difference = fmt::format("# the texts are equal, the difference is at {}\n",
                                      path.value_or("the attributes of the module"));
    }
    return changed;
  }

  NodeLabels LabelsOf(const ModuleEntry* entry) const {
    NodeLabels labels(compiler_.sources());
    const auto* function = entry ? As<Function>(entry->func) : nullptr;
    if (function != nullptr) labels.Read(*function);
    return labels;
  }

  Module Select(const Module& module) const { return SelectFunctions(module, changes_.functions); }

  std::string RenderText(bool colour) const {
    if (equal()) return {};
    const std::unique_ptr<RunRecorder> record = Record(Select(before_), Select(after_));
    const PassEffect effect = EffectOf(before_, after_, changes_);
    std::string text = fmt::format("{}\n", DescribeEffect(effect));
    if (!effect.removed.empty()) text += fmt::format("removed: {}\n", fmt::join(effect.removed, ", "));
    if (!effect.added.empty()) text += fmt::format("added: {}\n", fmt::join(effect.added, ", "));
    for (const ChangedFunction& change : DescribeChanges(*record, colour)) {
      const std::string name = change.name.empty() ? "module" : change.name;
      const bool has_numbers = !change.effect.bindings.empty() || !change.effect.operators.empty();
      PassEffect own = change.effect;
      own.changed.clear();
      text += fmt::format("\n{}{}\n--- {}: {}\n+++ {}: {}\n{}", name,
                          has_numbers ? fmt::format(": {}", DescribeEffect(own)) : "", DisplayName(options_.before),
                          name, DisplayName(options_.after), name, change.difference);
    }
    return text;
  }

  std::string RenderJson() const {
    const std::unique_ptr<RunRecorder> record = Record(Select(before_), Select(after_));
    return RenderDiffJson(DisplayName(options_.before), DisplayName(options_.after), equal(),
                          EffectOf(before_, after_, changes_), DescribeChanges(*record, /*colour=*/false));
  }

  CompilerInstance& compiler_;
  const DiffOptions& options_;
  Module before_;
  Module after_;  // with the names of before_
  ModuleChanges changes_;
};

}  // namespace

int DiffModules(const DiffOptions& options) {
  CompilerInstance compiler(options.compiler);
  ModuleDiff diff(compiler, options);
  const auto report = [&](const Error& error) {
    const int code = compiler.Report(error, "file");
    return code == kModulesDiffer ? ExitCode(ErrorCode::Parse) : code;
  };
  if (const Status loaded = compiler.LoadPlugins(options.plugins); !loaded.ok()) return report(loaded.error());
  if (const Status read = diff.Read(); !read.ok()) return report(read.error());
  if (const Status written = diff.Write(); !written.ok()) return report(written.error());
  return diff.equal() ? 0 : kModulesDiffer;
}

}  // namespace iropt
