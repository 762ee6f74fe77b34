// ir-opt list WHAT: passes, instruments and so on, with those of plugins.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

#include "cli/fit_lines.h"
#include "ir-opt/modes/mode.h"
#include "iropt/driver/catalog.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/flag_rows.h"
#include "iropt/driver/schema.h"
#include "iropt/support/edit_distance.h"

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
  std::string word;  // only entries that hold it; empty: all
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
  bool has_head = true;  // a line above the entries
};

constexpr Catalog kCatalogs[] = {
    {"passes", &ListLine::passes, RenderPasses, RenderPassesJson},
    {"pipelines", &ListLine::pipelines, RenderPipelines, RenderPipelinesJson},
    {"instruments", &ListLine::instruments, RenderInstruments, RenderInstrumentsJson},
    {"configs", &ListLine::configs, RenderConfigs, RenderConfigsJson, false},
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
                 fmt::format("unknown list '{}'{}", line.what, DidYouMeanOr(": expected one of ", line.what, names))};
  }
  if (line.form_word == "markdown" && line.what != "passes")
    return Error{ErrorCode::Usage, fmt::format("the list of {} is not written as markdown", line.what)};
  line.*catalog->form = line.form_word;
  if (line.files.size() > 1) return Error{ErrorCode::Usage, fmt::format("more than one word: '{}'", line.files[1])};
  if (!line.files.empty()) line.word = line.files.front();
  return {};
}

// The value of `-list-passes=WORD`, which is not a format, is a word to look for.
void TakeWord(ListLine& line) {
  for (const Catalog& catalog : kCatalogs) {
    std::string& form = line.*catalog.form;
    const bool has_markdown = catalog.form == &ListLine::passes;
    if (form.empty() || form == "text" || form == "json" || (has_markdown && form == "markdown")) continue;
    line.word = std::exchange(form, "text");
  }
}

Result<ListLine> ParseList(const Arguments& arguments) {
  ListLine line;
  FlagParser parser("ir-opt list", kListFlags, arguments, line.what, &line.files, RulesOf(list_mode));
  const Flag* flag = kListFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "ir-opt/modes/list.def"
  IROPT_RETURN_IF_ERROR(FinishLine(parser, line));
  IROPT_RETURN_IF_ERROR(TakeWhat(line));
  TakeWord(line);
  const bool lists_text = std::ranges::any_of(kCatalogs, [&](const Catalog& row) { return line.*row.form == "text"; });
  if (!line.word.empty() && !lists_text) return Error{ErrorCode::Usage, "a word has no effect on lists in this format"};
  return line;
}

std::string InSmallLetters(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// The entries that hold the word, in any case: a line that is not indented and the indented ones below it.
Result<std::string> OnlyEntriesWith(std::string_view word, std::string_view text, const Catalog& catalog) {
  const std::string wanted = InSmallLetters(word);
  std::string found;
  std::vector<std::string_view> names;
  const size_t head = catalog.has_head ? text.find('\n') + 1 : 0;
  for (size_t begin = head; begin < text.size();) {
    size_t end = text.find('\n', begin);
    while (end != std::string_view::npos && end + 1 < text.size() && text[end + 1] == ' ')
      end = text.find('\n', end + 1);
    end = std::min(end, text.size() - 1) + 1;
    const std::string_view entry = text.substr(begin, end - begin);
    names.push_back(entry.substr(0, entry.find_first_of(" =\n")));
    if (InSmallLetters(entry).find(wanted) != std::string::npos) found += entry;
    begin = end;
  }
  if (!found.empty()) return std::string(text.substr(0, head)) + found;
  return Error{ErrorCode::Usage, fmt::format("none of the {} has '{}' in its name or description{}", catalog.name, word,
                                             DidYouMean(word, names))};
}

// Lists are as wide as they are where programs read them.
std::string FitList(const std::string& text) {
  const std::optional<size_t> width = OutputWidth();
  return width ? FitLines(text, *width) : text;
}

Result<std::string> RenderText(const Catalog& catalog, const PassRegistry& registry, std::string_view word) {
  const std::string text = catalog.text(registry);
  if (word.empty()) return FitList(text);
  IROPT_ASSIGN_OR_RETURN(const std::string found, OnlyEntriesWith(word, text, catalog));
  return FitList(found);
}

Result<std::string> RenderList(const ListLine& line) {
  CompilerInstance compiler;
  IROPT_RETURN_IF_ERROR(compiler.LoadPlugins(line.plugins));
  const PassRegistry& registry = compiler.registry();
  if (line.schema) return RenderSchema(*line.schema, registry);
  if (line.pass) {
    IROPT_ASSIGN_OR_RETURN(const std::string text, DescribePass(*line.pass, registry));
    return FitList(text);
  }
  if (line.passes == "markdown") return RenderPassesMarkdown(registry);
  const auto* catalog = std::ranges::find_if(kCatalogs, [&](const Catalog& row) { return !(line.*row.form).empty(); });
  if (catalog == std::end(kCatalogs)) return Error{ErrorCode::Usage, "missing WHAT: ir-opt list WHAT"};
  return line.*catalog->form == "json" ? catalog->json(registry) : RenderText(*catalog, registry, line.word);
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
                                  .usage = "passes|instruments|... [WORD]",
                                  .summary = "list them, or pipelines, configs, properties, targets",
                                  .examples = R"(  ir-opt list passes
  ir-opt list passes fold                 those with this word
  ir-opt list instruments -format=json
)",
                                  .selectors = kListSelectors,
                                  .flags = [] { return std::span<const Flag>(kListFlags); },
                                  .run = RunListMode};

}  // namespace iropt
