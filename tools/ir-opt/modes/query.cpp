// ir-opt query PATTERN FILE...: finds expressions.
#include "iropt/driver/query.h"

#include "ir-opt/modes/mode.h"
#include "iropt/driver/flag_rows.h"

namespace iropt {

namespace {

constexpr std::string_view kQuerySelectors[] = {"query"};
constexpr Flag kQueryFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/query.def"
};

struct QueryLine : QueryOptions, ModeLine {
  std::optional<std::string> pattern;
  std::string form_word = "text";
};

// The pattern is the first argument, unless the flag has it.
Result<QueryLine> ParseQuery(const Arguments& arguments) {
  QueryLine line;
  line.compiler.threads = 0;
  std::string first;
  FlagParser parser("ir-opt query", kQueryFlags, arguments, first, &line.files, RulesOf(query_mode));
  const Flag* flag = kQueryFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "ir-opt/modes/query.def"
  IROPT_RETURN_IF_ERROR(FinishLine(parser, line));
  if (line.pattern) {
    if (!first.empty()) line.files.insert(line.files.begin(), first);
  } else if (first.empty() && !line.pages.Any()) {
    return Error{ErrorCode::Usage, "missing PATTERN: ir-opt query PATTERN [FILE...]"};
  }
  line.query = line.pattern.value_or(first);
  line.inputs = line.files;
  if (line.inputs.empty()) line.inputs = {"-"};
  if (line.form_word == "json") line.form = ShownForm::Json;
  return line;
}

int RunQueryLine(const QueryLine& line) { return RunQuery(line); }

int RunQueryMode(const Mode& mode, const std::vector<std::string>& words) {
  return RunCommandLine(Describe(mode), words, ParseQuery, RunQueryLine);
}

}  // namespace

constinit const Mode query_mode = {.name = "query",
                                   .title = "ir-opt query",
                                   .usage = "PATTERN [FILE...]",
                                   .summary = "find expressions in modules",
                                   .examples = R"(  ir-opt query 'relu(conv2d(_, _))' *.ir
)",
                                   .selectors = kQuerySelectors,
                                   .flags = [] { return std::span<const Flag>(kQueryFlags); },
                                   .run = RunQueryMode};

}  // namespace iropt
