// ir-opt eval EXPR: evaluates or simplifies an expression.
#include <fmt/format.h>

#include "ir-opt/modes/mode.h"
#include "iropt/driver/eval_expression.h"
#include "iropt/driver/flag_rows.h"

namespace iropt {

namespace {

constexpr std::string_view kEvalSelectors[] = {"eval"};
constexpr Flag kEvalFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/eval.def"
};

struct EvalLine : ModeLine {
  std::vector<std::string> plugins;
  CompilerOptions compiler;
  EvalRequest request;
  std::optional<std::string> expression;
  std::string form_word = "text";
};

// The expression is the argument, unless the flag has it.
Result<EvalLine> ParseEval(const Arguments& arguments) {
  EvalLine line;
  std::string first;
  FlagParser parser("ir-opt eval", kEvalFlags, arguments, first, &line.files, RulesOf(eval_mode));
  const Flag* flag = kEvalFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "ir-opt/modes/eval.def"
  IROPT_RETURN_IF_ERROR(FinishLine(parser, line));
  if (line.pages.Any()) return line;
  const bool has_input = line.expression ? !first.empty() : !line.files.empty();
  if (has_input) return Error{ErrorCode::Usage, "an input file has no effect with '-eval'"};
  if (!line.expression && first.empty()) return Error{ErrorCode::Usage, "missing EXPR: ir-opt eval EXPR"};
  line.request.text = line.expression.value_or(first);
  line.request.as_json = line.form_word == "json";
  return line;
}

int RunEvalLine(const EvalLine& line) { return EvalExpression(line.compiler, line.plugins, line.request); }

int RunEvalMode(const Mode& mode, const std::vector<std::string>& words) {
  return RunCommandLine(Describe(mode), words, ParseEval, RunEvalLine);
}

}  // namespace

constinit const Mode eval_mode = {.name = "eval",
                                  .title = "ir-opt eval",
                                  .usage = "EXPR",
                                  .summary = "evaluate or simplify an expression",
                                  .examples = R"(  ir-opt eval 'R.add(R.const(1), R.const(2))'
  ir-opt eval 'T.floordiv(x * 8, 4)' -assume='0 <= x < 8'
)",
                                  .selectors = kEvalSelectors,
                                  .flags = [] { return std::span<const Flag>(kEvalFlags); },
                                  .run = RunEvalMode};

}  // namespace iropt
