// ir-opt list WHAT: passes, instruments and so on, with those of plugins.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "ir-opt/modes/mode.h"
#include "iropt/driver/catalog.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/flag_rows.h"
#include "iropt/driver/schema.h"

namespace iropt {

namespace {

constexpr Flag kListFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/list.def"
};
constexpr std::string_view kListSelectors[] = {
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) Name,
#define IROPT_MODE_SELECTORS
#include "ir-opt/modes/list.def"
#undef IROPT_MODE_SELECTORS
};

struct ListLine : ModeLine {
  std::vector<std::string> plugins;
  CompilerOptions compiler;
  std::string what;  // is listed
  std::string form_word = "text";
  std::optional<std::string> pass;
  std::optional<std::string> schema;
  // The format in which it is listed; empty: it is not.
  std::string passes;
  std::string pipelines;
  std::string instruments;
  std::string configs;
  std::string properties;
  std::string targets;
};

struct Catalog {
  std::string_view name;
  std::string ListLine::*form;
  std::string (*text)(const PassRegistry& registry);
  std::string (*json)(const PassRegistry& registry);
};

constexpr Catalog kCatalogs[] = {
    {"passes", &ListLine::passes, RenderPasses, RenderPassesJson},
    {"pipelines", &ListLine::pipelines, RenderPipelines, RenderPipelinesJson},
    {"instruments", &ListLine::instruments, RenderInstruments, RenderInstrumentsJson},
    {"configs", &ListLine::configs, RenderConfigs, RenderConfigsJson},
    {"properties", &ListLine::properties, RenderProperties, RenderPropertiesJson},
    {"targets", &ListLine::targets, [](const PassRegistry&) { return RenderTargets(); },
     [](const PassRegistry&) { return RenderTargetsJson(); }},
};

// `ir-opt list passes -format=json` is `ir-opt -list-passes=json`.
Status TakeWhat(ListLine& line) {
  if (line.what.empty()) return {};
  const auto* catalog = std::ranges::find(kCatalogs, line.what, &Catalog::name);
  if (catalog == std::end(kCatalogs)) {
    std::vector<std::string_view> names;
    for (const Catalog& row : kCatalogs) names.push_back(row.name);
    return Error{ErrorCode::Usage,
                 fmt::format("unknown list '{}': expected one of {}", line.what, fmt::join(names, ", "))};
  }
  if (line.form_word == "markdown" && line.what != "passes")
    return Error{ErrorCode::Usage, fmt::format("the list of {} is not written as markdown", line.what)};
  line.*catalog->form = line.form_word;
  return {};
}

Result<ListLine> ParseList(const Arguments& arguments) {
  ListLine line;
  FlagParser parser("ir-opt list", kListFlags, arguments, line.what, nullptr, RulesOf(list_mode));
  const Flag* flag = kListFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "ir-opt/modes/list.def"
  IROPT_RETURN_IF_ERROR(FinishLine(parser, line));
  IROPT_RETURN_IF_ERROR(TakeWhat(line));
  return line;
}

Result<std::string> RenderList(const ListLine& line) {
  CompilerInstance compiler;
  IROPT_RETURN_IF_ERROR(compiler.LoadPlugins(line.plugins));
  const PassRegistry& registry = compiler.registry();
  if (line.schema) return RenderSchema(*line.schema, registry);
  if (line.pass) return DescribePass(*line.pass, registry);
  if (line.passes == "markdown") return RenderPassesMarkdown(registry);
  const auto* catalog = std::ranges::find_if(kCatalogs, [&](const Catalog& row) { return !(line.*row.form).empty(); });
  if (catalog == std::end(kCatalogs)) return Error{ErrorCode::Usage, "missing WHAT: ir-opt list WHAT"};
  return line.*catalog->form == "json" ? catalog->json(registry) : catalog->text(registry);
}

int RunListLine(const ListLine& line) {
  const Result<std::string> text = RenderList(line);
  return text.ok() ? PrintToStdout("ir-opt", *text) : ReportToolError("ir-opt", text.error());
}

int RunListMode(const Mode& mode, const std::vector<std::string>& words) {
  return RunCommandLine(Describe(mode), words, ParseList, RunListLine);
}

}  // namespace

constinit const Mode list_mode = {.name = "list",
                                  .title = "ir-opt list",
                                  .usage = "passes|instruments|...",
                                  .summary = "list them, or pipelines, configs, properties, targets",
                                  .examples = R"(  ir-opt list passes
  ir-opt list instruments -format=json
)",
                                  .selectors = kListSelectors,
                                  .flags = [] { return std::span<const Flag>(kListFlags); },
                                  .run = RunListMode};

}  // namespace iropt
