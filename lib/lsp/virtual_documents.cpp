#include "virtual_documents.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/generated_checks.h"
#include "iropt/driver/run_program.h"
#include "iropt/driver/split_input.h"
#include "iropt/lsp/script_analysis.h"
#include "iropt/support/file.h"
#include "iropt/support/line_diff.h"

namespace iropt::lsp {

namespace {

// By kind.
constexpr View kViews[] = {
    {"after", "ir", "tvmscript"}, {"diff", "diff", "diff"}, {"run", "txt", "plaintext"}, {"module", "ir", "tvmscript"}};

// Of symbolic variables of a function that is run.
constexpr int64_t kSize = 4;

std::string Encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        std::string_view("-_.~/").find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string Decode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const bool is_code =
        text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3;
    decoded += is_code ? static_cast<char>(value) : text[i];
    if (is_code) i += 2;
  }
  return decoded;
}

// Keeps the module after every pass that is not made of others.
class StepCollector : public PassInstrument {
 public:
  struct Step {
    std::string name;
    bool changed;
    Module module;
  };

  StepCollector() : PassInstrument("steps") {}

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override {
    if (!info.is_composite()) steps.push_back({info.name, outcome == PassOutcome::Changed, module});
    return {};
  }

  std::vector<Step> steps;
};

// The work of a child process. Its standard streams go to a file in memory, which becomes the text if the work fails.
class ChildWork {
 public:
  ChildWork(std::string path, std::string source) : path_(std::move(path)), source_(std::move(source)) {
    console_ = memfd_create("console", 0);
    dup2(console_, STDOUT_FILENO);
    dup2(console_, STDERR_FILENO);
    compiler_ = std::make_unique<CompilerInstance>(CompilerOptions{.threads = 1});
  }

  // The module of the source, and then after each pass.
  Status RunPasses(const std::string& pipeline) {
    IROPT_ASSIGN_OR_RETURN(first_, compiler_->ParseModule(source_, path_));
    last_ = first_;
    if (pipeline.empty()) return {};
    PassContext context = compiler_->MakeContext(kDefaultOptLevel);
    context.instruments.push_back(collector_);
    const With<PassContext> scope(context);
    if (!scope.status().ok()) return Error{scope.status().error().code, scope.status().error().message};
    IROPT_ASSIGN_OR_RETURN(const Pass pass, compiler_->MakePass(pipeline, &context));
    IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(first_, context));
    last_ = result.module;
    return {};
  }

  Status RunFunction(const std::string& function) {
    const int input = memfd_create("input", 0);
    if (write(input, source_.data(), source_.size()) < 0) return Error{ErrorCode::Internal, "cannot write to memory"};
    ProgramOptions options;
    options.driver.input = fmt::format("/proc/self/fd/{}", input);
    input_path_ = options.driver.input;
    options.entry = function;
    options.random_inputs = true;
    options.other_sizes = kSize;
    options.print = true;
    options.time = true;
    RunProgram(options);
    return {};
  }

  Status ReadModule() {
    IROPT_ASSIGN_OR_RETURN(first_, compiler_->ReadModule(path_));
    return {};
  }

  // Of step 0, the module itself; of one beyond the last, the result.
  std::string TextOf(size_t step) const {
    const auto& steps = collector_->steps;
    return compiler_->PrintToString(step == 0 ? first_ : step <= steps.size() ? steps[step - 1].module : last_);
  }
  size_t num_steps() const { return collector_->steps.size(); }
  const std::vector<StepCollector::Step>& steps() const { return collector_->steps; }

  std::string Console() const {
    const off_t size = lseek(console_, 0, SEEK_END);
    std::string text(static_cast<size_t>(std::max<off_t>(size, 0)), '\0');
    if (pread(console_, text.data(), text.size(), 0) < 0) return {};
    // Messages name the file that the user has.
    for (size_t at = 0; !input_path_.empty() && (at = text.find(input_path_, at)) != std::string::npos;)
      text.replace(at, input_path_.size(), path_);
    return text;
  }
  // Reports what failed, if anything, on the console.
  bool Succeeded(const Status& status) { return compiler_->Finish(status) == 0; }

 private:
  std::string path_;
  std::string source_;
  std::string input_path_ = {};  // of the source in memory, if it is read from there
  int console_;
  std::unique_ptr<CompilerInstance> compiler_;
  std::shared_ptr<StepCollector> collector_ = std::make_shared<StepCollector>();
  Module first_;
  Module last_;
};

size_t NumberOf(const VirtualUri& uri, const std::string& name, size_t fallback) {
  const std::string text = uri.Parameter(name);
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() ? number : fallback;
}

std::string DiffOf(const std::string& before, const std::string& after) {
  const std::string diff = UnifiedDiff(before, after);
  return diff.empty() ? "# no difference\n" : diff;
}

std::string ContentOf(const VirtualUri& uri, const std::string& path, const std::string& source) {
  ChildWork work(path, source);
  if (uri.kind == ViewKind::kModule) return work.Succeeded(work.ReadModule()) ? work.TextOf(0) : work.Console();
  if (uri.kind == ViewKind::kRun) {
    static_cast<void>(work.Succeeded(work.RunFunction(uri.Parameter("function"))));
    return work.Console();
  }
  if (!work.Succeeded(work.RunPasses(uri.Parameter("passes")))) return work.Console();
  const size_t result = work.num_steps() + 1;
  if (uri.kind == ViewKind::kAfter) return work.TextOf(NumberOf(uri, "step", result));
  return DiffOf(work.TextOf(NumberOf(uri, "from", 0)), work.TextOf(NumberOf(uri, "to", result)));
}

}  // namespace

const View& ViewOf(ViewKind kind) { return kViews[static_cast<size_t>(kind)]; }

std::optional<VirtualUri> VirtualUri::Parse(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  while (uri.starts_with('/')) uri.remove_prefix(1);
  const size_t question = uri.find('?');
  const std::string_view path = uri.substr(0, question);
  const size_t slash = path.find('/');
  const View* view = std::ranges::find(kViews, path.substr(0, slash), &View::name);
  if (view == std::end(kViews)) return std::nullopt;
  VirtualUri parsed{static_cast<ViewKind>(view - kViews), {}};
  if (slash != std::string_view::npos) parsed.title = Decode(path.substr(slash + 1));
  // Some clients encode the '=' between a name and its value, too.
  std::string query = question == std::string_view::npos ? std::string() : std::string(uri.substr(question + 1));
  if (query.find('=') == std::string::npos) query = Decode(query);
  for (std::string_view rest = query; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const size_t equals = item.find('=');
    if (equals != std::string_view::npos)
      parsed.parameters[std::string(item.substr(0, equals))] = Decode(item.substr(equals + 1));
  }
  return parsed;
}

std::string VirtualUri::ToString() const {
  std::string uri = fmt::format("{}/{}/{}", kScheme, ViewOf(kind).name, Encode(title));
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    uri += fmt::format("{}{}={}", separator, name, Encode(value));
    separator = '&';
  }
  return uri;
}

std::string VirtualUri::Parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string() : found->second;
}

std::string PathOf(std::string_view uri) {
  constexpr std::string_view kFile = "file://";
  return uri.starts_with(kFile) ? Decode(uri.substr(kFile.size())) : std::string();
}

// One of the modules of a text, from 0.
static Result<std::string> PartOf(const std::string& text, size_t part) {
  const std::vector<InputPart> parts = SplitInput(text, ModulePart::kMarker);
  if (part < parts.size()) return std::string(parts[part].text);
  return Error{ErrorCode::Usage, fmt::format("no module {}: the text has {}", part, parts.size())};
}

std::string UriOf(std::string_view path) { return "file://" + Encode(path); }

namespace {

// Returns whether they are nested at most so deep.
bool AddSources(const VirtualUri& uri, int levels, std::vector<std::string>& sources) {
  if (levels == 0) return false;
  for (const std::string_view name : {"source", "left", "right"}) {
    const std::string source = uri.Parameter(std::string(name));
    if (source.empty()) continue;
    const std::optional<VirtualUri> made = VirtualUri::Parse(source);
    if (!made) {
      sources.push_back(source);
    } else if (!AddSources(*made, levels - 1, sources)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> SourcesOf(const VirtualUri& uri) {
  constexpr int kMostLevels = 8;
  std::vector<std::string> sources;
  if (!AddSources(uri, kMostLevels, sources)) return std::nullopt;
  return sources;
}

// One side of a difference: another virtual document, or the module in a file.
static Result<std::string> SideOf(const std::string& text, const OpenTexts& texts) {
  if (const std::optional<VirtualUri> uri = VirtualUri::Parse(text)) return MakeContent(*uri, texts);
  return MakeContent({texts(text) ? ViewKind::kAfter : ViewKind::kModule, "", {{"source", text}}}, texts);
}

Result<std::string> MakeContent(const VirtualUri& uri, const OpenTexts& texts) {
  if (uri.kind == ViewKind::kDiff && !uri.Parameter("left").empty()) {
    IROPT_ASSIGN_OR_RETURN(const std::string left, SideOf(uri.Parameter("left"), texts));
    IROPT_ASSIGN_OR_RETURN(const std::string right, SideOf(uri.Parameter("right"), texts));
    return DiffOf(left, right);
  }
  const std::string path = PathOf(uri.Parameter("source"));
  std::string text;
  if (const std::optional<std::string> source = texts(uri.Parameter("source"))) {
    text = *source;
  } else if (uri.kind != ViewKind::kModule) {
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> file, ReadFile(path));
    text = file->text();
  }
  if (!uri.Parameter("part").empty()) {
    IROPT_ASSIGN_OR_RETURN(text, PartOf(text, NumberOf(uri, "part", 0)));
  }
  return ContentOf(uri, path.empty() ? "module.ir" : path, text);
}

Result<std::string> RenewedChecks(const std::string& source_uri, const std::string& source,
                                  const std::vector<std::string_view>& modules, const std::string& pipeline) {
  std::string output;
  for (const std::string_view module : modules) {
    ChildWork work(PathOf(source_uri), std::string(module));
    if (!work.Succeeded(work.RunPasses(pipeline))) return Error{ErrorCode::PassFailed, work.Console()};
    output += work.TextOf(work.num_steps() + 1);
  }
  return RenewChecks(source, output, "CHECK");
}

Result<Json> ListSteps(const std::string& source_uri, const std::string& source, const std::string& pipeline,
                       std::optional<size_t> part) {
  std::string module = source;
  if (part) {
    IROPT_ASSIGN_OR_RETURN(module, PartOf(source, *part));
  }
  ChildWork work(PathOf(source_uri), module);
  const bool succeeded = work.Succeeded(work.RunPasses(pipeline));
  Json steps = Json::array();
  for (size_t i = 0; i < work.steps().size(); ++i) {
    const StepCollector::Step& step = work.steps()[i];
    VirtualUri uri{ViewKind::kAfter,
                   fmt::format("{}-{}.ir", i + 1, step.name),
                   {{"source", source_uri}, {"passes", pipeline}, {"step", fmt::format("{}", i + 1)}}};
    if (part) uri.parameters["part"] = fmt::format("{}", *part);
    steps.push_back({{"name", step.name}, {"changed", step.changed}, {"uri", uri.ToString()}});
  }
  return succeeded ? Json{{"steps", steps}} : Json{{"steps", steps}, {"error", work.Console()}};
}

}  // namespace iropt::lsp
