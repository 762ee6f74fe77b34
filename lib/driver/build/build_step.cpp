#include "iropt/driver/build_step.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "dependency_file.h"
#include "driver/session/output_paths.h"
#include "driver/session/wants_colour.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver.h"
#include "iropt/support/file.h"
#include "iropt/support/file_log.h"
#include "result_cache.h"

namespace iropt {

namespace {

using FileTime = std::filesystem::file_time_type;

// Passes text on, and keeps it.
class TextRecorder : public OutputSink {
 public:
  explicit TextRecorder(OutputStream& out) : out_(out) {}

  void Write(std::string_view text) override {
    out_.Append(text);
    text_ += text;
  }
  Status Flush() override { return out_.Flush(); }
  const std::string& text() const { return text_; }

 private:
  OutputStream& out_;
  std::string text_;
};

std::filesystem::path FolderPathOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

std::string FileNameOf(const std::string& path) { return std::filesystem::path(path).filename().string(); }

bool IsSameFile(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

bool IsRegularFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// Returns whether the paths name the same file, which need not exist.
bool NamesSameFile(const std::string& a, const std::string& b) {
  const auto resolve = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  return resolve(a) == resolve(b);
}

class BuildStep {
 public:
  BuildStep(const DriverOptions& options, const BuildStepOptions& build, InputOutput files)
      : options_(options), build_(build), files_(std::move(files)) {
    if (!build.cache_dir || !IsRegularFile(files_.input)) return;
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::absolute(FolderPathOf(files_.output), error).lexically_normal();
    cache_.emplace(*build.cache_dir, build.cache_bytes,
                   fmt::format("{}\n{}", folder.string(), std::filesystem::current_path(error).string()));
    // The names of files next to the output come from its own.
    identity_ = fmt::format("{}\n{}\n{}", build.identity, FileNameOf(files_.output),
                            WantsColour(options.compiler.colour, STDERR_FILENO));
    step_ = ResultCache::StepOf(identity_, files_.input);
  }

  int Run() {
    if (!CheckCache()) return ExitCode(ErrorCode::Usage);
    std::optional<CachedRun> found = cache_ && step_ ? cache_->Find(*step_) : std::nullopt;
    if (found && CanRestore(*found)) return Finish(Restore(*found), found->read);
    const FileTime begin = FileTime::clock::now();
    OutputStream err(STDERR_FILENO);
    TextRecorder console(err);
    DriverOptions options = options_;
    if (cache_) options.compiler.console = &console;
    CachedRun run;
    std::vector<std::string> written;
    bool is_complete = false;
    {
      const FileLog log;
      const int code = RunDriver(options);
      if (code != 0) return code;
      run.read = log.read();
      written = log.written();
      is_complete = log.is_complete();
    }
    // Files that the run wrote itself are not its inputs.
    std::erase_if(run.read, [&](const std::string& path) {
      return std::ranges::any_of(written, [&](const std::string& other) { return IsSameFile(path, other); });
    });
    run.messages = console.text();
    if (cache_ && is_complete) Keep(run, written, begin);
    return Finish({}, run.read);
  }

 private:
  // Warns of a cache that keeps nothing. Returns whether the run goes on, as it does unless warnings are errors.
  bool CheckCache() const {
    const std::string problem = cache_ && step_ ? cache_->Problem(*step_) : std::string();
    if (problem.empty()) return true;
    CompilerInstance compiler(options_.compiler);
    compiler.diagnostics().Warning({}, "unusable-cache",
                                   fmt::format("nothing is kept in the cache '{}': {}", *build_.cache_dir, problem));
    return !compiler.diagnostics().has_errors();
  }

  std::string PathOf(const CachedRun& run, const CachedRun::File& file) const {
    return &file == &run.files.back() ? files_.output : (FolderPathOf(files_.output) / file.name).string();
  }

  // Other files next to the output than those that the run would write are not replaced: it would refuse that.
  bool CanRestore(const CachedRun& run) const {
    return std::ranges::all_of(run.files, [&](const CachedRun::File& file) {
      const std::string path = PathOf(run, file);
      std::error_code error;
      if (&file == &run.files.back() || !std::filesystem::exists(path, error)) return true;
      const Result<std::shared_ptr<const FileBuffer>> there = ReadFile(path);
      return there.ok() && (*there)->text() == file.contents;
    });
  }

  // The output comes last: it exists only if all else does.
  Status Restore(const CachedRun& run) const {
    std::error_code error;
    if (options_.output.path.ends_with('/')) std::filesystem::create_directories(options_.output.path, error);
    for (const CachedRun::File& file : run.files) {
      IROPT_RETURN_IF_ERROR(WriteFileAtomically(PathOf(run, file), [&](OutputStream& out) -> Status {
        out.Append(file.contents);
        return {};
      }));
    }
    OutputStream out(STDERR_FILENO);
    out.Append(run.messages);
    return out.Flush();
  }

  // Nothing is kept if a file changed during the run, or if the run wrote to other folders.
  void Keep(CachedRun& run, const std::vector<std::string>& written, FileTime begin) const {
    if (!step_ || ResultCache::StepOf(identity_, files_.input) != step_) return;
    for (const std::string& path : run.read) {
      std::error_code error;
      const FileTime changed = std::filesystem::last_write_time(path, error);
      if (error || changed >= begin) return;
    }
    bool has_output = false;
    for (const std::string& path : written) {
      if (!IsSameFile(FolderPathOf(path), FolderPathOf(files_.output))) return;
      const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(path);
      if (!file.ok()) return;
      run.files.push_back({FileNameOf(path), std::string((*file)->text())});
      if (has_output) std::swap(run.files.back(), run.files[run.files.size() - 2]);
      has_output |= IsSameFile(path, files_.output);
    }
    if (has_output) cache_->Add(*step_, run);
  }

  // The exit code, after the dependency file is written.
  int Finish(Status status, const std::vector<std::string>& read) const {
    if (status.ok() && build_.writes_dependencies) status = WriteDependencies(read);
    if (status.ok()) return 0;
    CompilerInstance compiler(options_.compiler);
    return compiler.Report(status.error(), "file");
  }

  Status WriteDependencies(const std::vector<std::string>& read) const {
    const std::string path = build_.dependency_file.value_or(DependencyFileOf(files_.output));
    for (const std::string& other : read) {
      if (NamesSameFile(path, other))
        return Error{ErrorCode::Usage,
                     fmt::format("the dependency file '{}' would replace a file that was read", path)};
    }
    return WriteFileAtomically(path, [&](OutputStream& out) -> Status {
      out.Append(RenderDependencies(build_.dependency_target.value_or(files_.output), read));
      return {};
    });
  }

  const DriverOptions& options_;
  const BuildStepOptions& build_;
  const InputOutput files_;
  std::string identity_;
  std::optional<ResultCache> cache_;  // nothing if the run is not cached
  std::optional<std::string> step_;
};

Status CheckDependencyFile(const InputOutput& files, const BuildStepOptions& build) {
  const std::string path = build.dependency_file.value_or(DependencyFileOf(files.output));
  if (path.empty()) return Error{ErrorCode::Usage, "flag '-MF' needs the name of a file"};
  for (const auto& [other, what] : {std::pair(files.input, "input"), std::pair(files.output, "output")}) {
    if (NamesSameFile(path, other))
      return Error{ErrorCode::Usage, fmt::format("the dependency file '{}' would replace the {}", path, what)};
  }
  return {};
}

// The files of the step, of which there is one.
Result<InputOutput> FilesOf(const DriverOptions& options, const BuildStepOptions& build) {
  const std::string_view flag = build.cache_dir ? "-cache-dir" : "-MD";
  if (build.cache_dir && build.cache_dir->empty())
    return Error{ErrorCode::Usage, "flag '-cache-dir' needs the name of a folder"};
  IROPT_ASSIGN_OR_RETURN(std::vector<InputOutput> pairs, PairInputs(options));
  if (pairs.size() != 1)
    return Error{ErrorCode::Usage, fmt::format("flag '{}' needs one input, but is given {}", flag, pairs.size())};
  const std::string& output = pairs.front().output;
  std::error_code error;
  if (IsStandardStream(output) || (std::filesystem::exists(output, error) && !IsRegularFile(output)))
    return Error{ErrorCode::Usage, fmt::format("flag '{}' needs an output that is a file", flag)};
  if (build.writes_dependencies) IROPT_RETURN_IF_ERROR(CheckDependencyFile(pairs.front(), build));
  return pairs.front();
}

}  // namespace

int RunBuildStep(const DriverOptions& options, const BuildStepOptions& build) {
  Result<InputOutput> files = FilesOf(options, build);
  if (files.ok()) return BuildStep(options, build, *std::move(files)).Run();
  CompilerInstance compiler(options.compiler);
  return compiler.Report(files.error(), "usage");
}

}  // namespace iropt
