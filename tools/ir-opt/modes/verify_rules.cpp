// ir-opt verify-rules FILE...: proves rules, or refutes them.
#include "iropt/driver/verify_rules.h"

#include "ir-opt/modes/mode.h"
#include "iropt/driver/flag_rows.h"

namespace iropt {

namespace {

constexpr std::string_view kVerifyRulesSelectors[] = {"verify-rules"};
constexpr Flag kVerifyRulesFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/verify_rules.def"
};

struct VerifyRulesLine : VerifyRulesOptions, ModeLine {
  bool is_on = false;
  std::string form_word = "text";
  std::string floats_word = "real";
};

Result<VerifyRulesLine> ParseVerifyRules(const Arguments& arguments) {
  VerifyRulesLine line;
  std::string first;
  FlagParser parser("ir-opt verify-rules", kVerifyRulesFlags, arguments, first, &line.files,
                    RulesOf(verify_rules_mode));
  const Flag* flag = kVerifyRulesFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "ir-opt/modes/verify_rules.def"
  IROPT_RETURN_IF_ERROR(FinishLine(parser, line));
  if (line.pages.Any()) return line;
  if (first.empty()) return Error{ErrorCode::Usage, "missing FILE: ir-opt verify-rules FILE..."};
  line.inputs = line.files;
  line.inputs.insert(line.inputs.begin(), first);
  line.proofs.reals = line.floats_word == "real";
  if (line.form_word == "json") line.form = ShownForm::Json;
  return line;
}

int RunVerifyRulesLine(const VerifyRulesLine& line) { return VerifyRules(line); }

int RunVerifyRulesMode(const Mode& mode, const std::vector<std::string>& words) {
  return RunCommandLine(Describe(mode), words, ParseVerifyRules, RunVerifyRulesLine);
}

}  // namespace

constinit const Mode verify_rules_mode = {.name = "verify-rules",
                                          .title = "ir-opt verify-rules",
                                          .usage = "FILE...",
                                          .summary = "prove rewriting rules, or refute them",
                                          .examples = R"(  ir-opt verify-rules rules.json
)",
                                          .selectors = kVerifyRulesSelectors,
                                          .flags = [] { return std::span<const Flag>(kVerifyRulesFlags); },
                                          .run = RunVerifyRulesMode};

}  // namespace iropt
