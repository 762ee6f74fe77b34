#include "iropt/driver/build_step.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "dependency_file.h"
#include "driver/output_paths.h"
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

std::filesystem::path FolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

std::string NameOf(const std::string& path) { return std::filesystem::path(path).filename().string(); }

bool IsSameFile(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

class BuildStep {
 public:
  BuildStep(const DriverOptions& options, const BuildStepOptions& build, InputOutput files)
      : options_(options), build_(build), files_(std::move(files)) {
    if (build.cache_dir && !IsStandardStream(files_.input)) cache_.emplace(*build.cache_dir, build.cache_bytes);
    // The names of files beside the output come from its own, as colours in messages do from the terminal.
    identity_ = fmt::format("{}\n{}\n{}", build.identity, NameOf(files_.output), isatty(STDERR_FILENO));
  }

  int Run() {
    if (cache_) {
      if (std::optional<CachedRun> run = cache_->Find(identity_, files_.input)) return Finish(Restore(*run), run->read);
    }
    const FileTime begin = FileTime::clock::now();
    OutputStream err(STDERR_FILENO);
    TextRecorder console(err);
    DriverOptions options = options_;
    if (cache_) options.compiler.console = &console;
    std::vector<std::string> read;
    std::vector<std::string> written;
    {
      const FileLog log;
      const int code = RunDriver(options);
      if (code != 0) return code;
      read = log.read();
      written = log.written();
    }
    // What the run made itself is not an input of it.
    std::erase_if(read, [&](const std::string& path) {
      return std::ranges::any_of(written, [&](const std::string& other) { return IsSameFile(path, other); });
    });
    if (cache_) Keep(read, written, console.text(), begin);
    return Finish({}, read);
  }

 private:
  // The output comes last: it exists only if all else does.
  Status Restore(const CachedRun& run) const {
    std::error_code error;
    if (options_.output.ends_with('/')) std::filesystem::create_directories(options_.output, error);
    for (const CachedRun::File& file : run.files) {
      const std::string path =
          &file == &run.files.back() ? files_.output : (FolderOf(files_.output) / file.name).string();
      IROPT_RETURN_IF_ERROR(WriteFileAtomically(path, [&](OutputStream& out) -> Status {
        out.Append(file.contents);
        return {};
      }));
    }
    OutputStream out(STDERR_FILENO);
    out.Append(run.messages);
    return out.Flush();
  }

  void Keep(const std::vector<std::string>& read, const std::vector<std::string>& written, std::string messages,
            FileTime begin) const {
    CachedRun run{.read = read, .files = {}, .messages = std::move(messages)};
    for (const std::string& path : read) {
      std::error_code error;
      const FileTime changed = std::filesystem::last_write_time(path, error);
      if (error || changed >= begin) return;
    }
    bool has_output = false;
    for (const std::string& path : written) {
      if (!IsSameFile(FolderOf(path), FolderOf(files_.output))) return;
      const bool is_output = IsSameFile(path, files_.output);
      const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(path);
      if (!file.ok()) return;
      run.files.push_back({NameOf(path), std::string((*file)->text())});
      if (has_output) std::swap(run.files.back(), run.files[run.files.size() - 2]);
      has_output |= is_output;
    }
    if (has_output) cache_->Add(identity_, files_.input, run);
  }

  // The exit code, after the dependency file is written.
  int Finish(Status status, const std::vector<std::string>& read) const {
    if (status.ok() && build_.writes_dependencies) {
      const std::string path = build_.dependency_file.value_or(DependencyFileOf(files_.output));
      status = WriteFileAtomically(path, [&](OutputStream& out) -> Status {
        out.Append(RenderDependencies(build_.dependency_target.value_or(files_.output), read));
        return {};
      });
    }
    if (status.ok()) return 0;
    CompilerInstance compiler(options_.compiler);
    return compiler.Report(status.error(), "file");
  }

  const DriverOptions& options_;
  const BuildStepOptions& build_;
  const InputOutput files_;
  std::string identity_;
  std::optional<ResultCache> cache_;  // nothing if the run is not cached
};

// The files of the step, of which there is one.
Result<InputOutput> FilesOf(const DriverOptions& options, const BuildStepOptions& build) {
  const std::string_view flag = build.cache_dir ? "-cache-dir" : "-MD";
  IROPT_ASSIGN_OR_RETURN(std::vector<InputOutput> pairs, PairInputs(options));
  if (pairs.size() != 1)
    return Error{ErrorCode::Usage, fmt::format("flag '{}' needs one input, but is given {}", flag, pairs.size())};
  if (IsStandardStream(pairs.front().output))
    return Error{ErrorCode::Usage, fmt::format("flag '{}' needs an output that is a file", flag)};
  const std::string dependencies = build.dependency_file.value_or(DependencyFileOf(pairs.front().output));
  if (build.writes_dependencies && (dependencies == pairs.front().output || dependencies == pairs.front().input))
    return Error{ErrorCode::Usage, fmt::format("the dependency file '{}' would replace {}", dependencies,
                                               dependencies == pairs.front().input ? "the input" : "the output")};
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
