// ir-opt diff A B: compares two modules by structure.
#include <fmt/format.h>

#include "ir-opt/modes/mode.h"
#include "iropt/driver/diff_modules.h"
#include "iropt/driver/flag_rows.h"

namespace iropt {

namespace {

constexpr std::string_view kDiffSelectors[] = {"diff"};
constexpr Flag kDiffFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/diff.def"
};

struct DiffCommand : DiffOptions, ModeLine {
  std::string form = "text";
};

Result<DiffCommand> ParseDiff(const Arguments& arguments) {
  DiffCommand line;
  line.compiler.threads = 0;
  FlagParser parser("ir-opt diff", kDiffFlags, arguments, line.before, &line.files, RulesOf(diff_mode));
  const Flag* flag = kDiffFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "ir-opt/modes/diff.def"
  IROPT_RETURN_IF_ERROR(FinishLine(parser, line));
  if (line.pages.Any()) return line;
  if (line.files.size() != 1) {
    const size_t given = line.before.empty() ? 0 : 1 + line.files.size();
    return Error{ErrorCode::Usage, fmt::format("flag '-diff' compares two files, but is given {}", given)};
  }
  line.after = line.files.front();
  if (line.form == "json") line.DiffOptions::form = ShownForm::Json;
  if (line.form == "json" || line.form == "text") return line;
  if (!line.form.ends_with(".html")) {
    return Error{ErrorCode::Usage,
                 fmt::format("flag '-diff' takes text, json or the name of an .html file, not '{}'", line.form)};
  }
  line.page = line.form;
  return line;
}

int RunDiffCommand(const DiffCommand& line) { return DiffModules(line); }

int RunDiffMode(const Mode& mode, const std::vector<std::string>& words) {
  return RunCommandLine(Describe(mode), words, ParseDiff, RunDiffCommand);
}

}  // namespace

constinit const Mode diff_mode = {.name = "diff",
                                  .title = "ir-opt diff",
                                  .usage = "A B",
                                  .summary = "compare two modules by structure",
                                  .examples = R"(  ir-opt diff a.ir b.ir                   print the difference
  ir-opt diff -format=d.html a.ir b.ir    make a page of it
)",
                                  .selectors = kDiffSelectors,
                                  .flags = [] { return std::span<const Flag>(kDiffFlags); },
                                  .run = RunDiffMode};

}  // namespace iropt
