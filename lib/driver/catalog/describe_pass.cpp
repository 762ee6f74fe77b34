// -help-pass: the description of one pass, with an example that is actually run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "driver/catalog/describe_pipeline.h"
#include "driver/pass_examples.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/driver/catalog.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/text/script/printer.h"

namespace iropt {

namespace {

constexpr std::string_view kPassesKey = "passes: ";
constexpr std::string_view kNoVerify = "-no-verify";
constexpr std::string_view kConfig = "-config=";
constexpr std::string_view kTrue = "=true";

// An example file: comments and a module. The comments up to an empty one describe the pass; the others are about the
// example. One comment may name the pipeline to run instead of the pass alone, one may be the flag for a module that is
// not well-formed, and one the flag that sets a configuration option to true.
struct Example {
  std::string description;
  std::vector<std::string> caption;
  std::string pipeline;
  bool verify = true;
  std::string_view config = {};  // the option; empty: none
  std::string_view module;
};

Example SplitExample(std::string_view text, std::string_view pass) {
  Example example{.description = {}, .caption = {}, .pipeline = std::string(pass), .module = {}};
  while (text.starts_with('#')) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(1, end - 1);
    if (line.starts_with(' ')) line.remove_prefix(1);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.empty()) {
      example.description = fmt::format("{}", fmt::join(std::exchange(example.caption, {}), " "));
    } else if (line.starts_with(kPassesKey)) {
      example.pipeline = line.substr(kPassesKey.size());
    } else if (line == kNoVerify) {
      example.verify = false;
    } else if (line.starts_with(kConfig) && line.ends_with(kTrue)) {
      example.config = line.substr(kConfig.size(), line.size() - kConfig.size() - kTrue.size());
    } else {
      example.caption.emplace_back(line);
    }
  }
  example.module = text;
  return example;
}

// In single quotes, for a shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// The lines from the first one of code on, indented.
std::string Indented(std::string_view text) {
  std::string shown;
  bool begun = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begun |= !line.empty() && !line.starts_with('#');
    if (begun) shown += line.empty() ? "\n" : fmt::format("    {}\n", line);
    begin = end + 1;
  }
  return shown;
}

// Runs examples; diagnostics become the error.
class ExampleRun {
 public:
  explicit ExampleRun(const PassRegistry& registry) : compiler_({}, reports_) { compiler_.registry() = registry; }

  Result<Module> Read(const Example& example) {
    const auto owner = std::make_shared<const FileBuffer>(std::string(example.module));
    Result<Module> module = compiler_.Parse({.name = "example", .owner = owner, .text = owner->text()});
    if (!module.ok()) return Problem(module.error());
    if (!example.verify) return module;
    if (const Status verified = compiler_.Verify(*module); !verified.ok()) return Problem(verified.error());
    return module;
  }

  Result<Module> Run(const Example& example, Module module) {
    PassContext context = compiler_.MakeContext(kMaxOptLevel);
    if (!example.config.empty() && !context.SetConfig(example.config, true, compiler_.diagnostics()))
      return Problem(Error{ErrorCode::Usage, "invalid configuration"});
    const Result<Pass> pass = compiler_.MakePass(example.pipeline, &context);
    if (!pass.ok()) return Problem(pass.error());
    context.printer = [](const Module&, const std::string&) -> Status { return {}; };
    context.text_printer = [](std::string_view) -> Status { return {}; };
    Result<PassResult> result = (*pass)(std::move(module), context);
    if (!result.ok()) return Problem(result.error());
    if (const Status verified = compiler_.Verify(result->module); !verified.ok()) return Problem(verified.error());
    return std::move(result->module);
  }

 private:
  Error Problem(const Error& error) const {
    std::string message = "the example cannot be run";
    if (!error.reported()) message += ": " + error.message;
    for (const Diagnostic& report : reports_.diagnostics()) message += ": " + report.message;
    return {ErrorCode::PassFailed, std::move(message)};
  }

  DiagnosticBuffer reports_;
  CompilerInstance compiler_;
};

Result<std::string> RenderExample(const PassEntry& row, std::string_view text, const PassRegistry& registry) {
  const Example example = SplitExample(text, row.info.name);
  ExampleRun run(registry);
  IROPT_ASSIGN_OR_RETURN(Module before, run.Read(example));
  std::string out = "\nExample:\n";
  for (const std::string& line : example.caption) out += fmt::format("  {}\n", line);
  std::string flags;
  if (!example.verify) flags += fmt::format("{} ", kNoVerify);
  if (!example.config.empty()) flags += fmt::format("{}{}{} ", kConfig, example.config, kTrue);
  out += fmt::format("\n{}\n  after {}-passes={}:\n\n", Indented(example.module), flags, Quoted(example.pipeline));
  IROPT_ASSIGN_OR_RETURN(const Module after, run.Run(example, std::move(before)));
  return out + Indented(ModuleToString(after, {.inline_constants = 16}));
}

std::string_view ExampleOf(const PassEntry& row) {
  if (!row.example.empty()) return row.example;
  const auto example = std::ranges::find(PassExamples(), row.info.name, &PassExample::pass);
  return example == PassExamples().end() ? std::string_view() : example->text;
}

std::string RenderOptions(const PassEntry& row) {
  if (row.options.empty()) return "";
  std::string out = "\nOptions:\n";
  for (const OptionSpec& option : row.options) {
    out += fmt::format("  {}={}  {}\n      {}\n", option.name, ToString(option.default_value), DescribeValues(option),
                       option.summary);
  }
  return out;
}

// Lists the properties of PrimFuncs that the pass requires, establishes and may break, a line for each of the three.
std::string PropertyLines(const PassInfo& info) {
  std::string out;
  const auto add = [&](std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty()) out += fmt::format("  {} {}\n", what, fmt::join(names, ", "));
  };
  std::vector<std::string> names;
  for (const FunctionProperty* property : info.required_properties) names.emplace_back(property->name);
  add("requires the properties", std::exchange(names, {}));
  for (const EstablishedProperty& established : info.established_properties) {
    names.push_back(Describe(established, established.property->name));
  }
  add("establishes the properties", std::exchange(names, {}));
  for (const FunctionProperty* property : info.broken_properties) names.emplace_back(property->name);
  add("may break the properties", names);
  return out;
}

// What names the pass: pipelines, and configuration options that have its name in theirs.
std::string UseLines(const PassInfo& info, const PassRegistry& registry) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  const auto names_it = [&](std::string_view text) {
    for (size_t at = text.find(info.name); at != std::string_view::npos; at = text.find(info.name, at + 1)) {
      const size_t end = at + info.name.size();
      if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
    }
    return false;
  };
  std::vector<PipelineEntry> entries;  // those of levels that follow each other are one
  for (const PipelineEntry& entry : registry.pipelines()) {
    if (!names_it(entry.passes)) continue;
    if (!entries.empty() && entries.back().name == entry.name &&
        entries.back().highest_level + 1 == entry.lowest_level) {
      entries.back().highest_level = entry.highest_level;
    } else {
      entries.push_back(entry);
    }
  }
  std::vector<std::string> pipelines;
  pipelines.reserve(entries.size());
  for (const PipelineEntry& entry : entries) pipelines.push_back(fmt::format("{} at {}", entry.name, LevelsOf(entry)));
  std::vector<std::string> configs;
  for (const std::string& path : ConfigPaths(registry)) {
    if (path.find(fmt::format(".{}.", info.name)) != std::string::npos) configs.push_back(path);
  }
  std::string out;
  if (!pipelines.empty()) out += fmt::format("  in the pipelines {}\n", fmt::join(pipelines, ", "));
  if (!configs.empty()) out += fmt::format("  configured by -config={}\n", fmt::join(configs, ", "));
  return out;
}

Error UnknownPass(std::string_view name, const PassRegistry& registry) {
  std::string message = fmt::format("unknown pass '{}'", name);
  if (const auto meant = registry.Suggest(name)) message += fmt::format("; did you mean '{}'?", *meant);
  return {ErrorCode::Usage, std::move(message)};
}

}  // namespace

Result<std::string> DescribePass(std::string_view name, const PassRegistry& registry) {
  const PassEntry* row = registry.Find(name);
  if (row == nullptr) {
    std::string pipeline = DescribePipeline(name, registry);
    if (pipeline.empty()) return UnknownPass(name, registry);
    return pipeline;
  }
  const PassInfo& info = row->info;
  std::string out = fmt::format("{}: {}\n\n", info.name, row->summary);
  const std::string_view example = ExampleOf(*row);
  const std::string description = SplitExample(example, info.name).description;
  if (!description.empty()) out += description + "\n\n";
  out += fmt::format("  a {} pass, which runs at -O{} and above\n", PassKindName(info.kind), info.opt_level);
  if (const std::vector<std::string_view> others = registry.OtherNames(info.name); !others.empty()) {
    out += fmt::format("  in other versions of TVM {}\n", fmt::join(others, ", "));
  }
  if (!row->plugin.empty()) out += fmt::format("  of the plugin {}\n", row->plugin);
  if (!info.required.empty())
    out += fmt::format("  runs after {}, which it requires\n", fmt::join(info.required, ", "));
  out += PropertyLines(info);
  out += UseLines(info, registry);
  if (info.is_serial) out += "  serial: rewrites one function after the other\n";
  if (info.is_mandatory) out += "  mandatory: a bisection does not skip it\n";
  if (info.counts_rewrites) out += fmt::format("  -rewrite-limit={}:N stops it after N rewrites\n", info.name);
  out += RenderOptions(*row);
  if (example.empty()) return out;
  IROPT_ASSIGN_OR_RETURN(const std::string shown, RenderExample(*row, example, registry));
  return out + shown;
}

}  // namespace iropt
