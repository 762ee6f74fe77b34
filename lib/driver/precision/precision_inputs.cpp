#include "precision_inputs.h"

#include <fmt/format.h>
#include <glob.h>

#include <filesystem>

#include "driver/run/arguments.h"
#include "iropt/driver/run_program.h"
#include "iropt/execution/call_entry.h"

namespace iropt {

namespace {

constexpr size_t kRandomSamples = 2;
constexpr int64_t kRandomSize = 8;  // of symbolic dimensions

// The files that a pattern stands for, in the order of their names; the text itself if there is none.
std::vector<std::string> ExpandPattern(const std::string& pattern) {
  std::error_code error;
  if (pattern.find_first_of("*?[") == std::string::npos || std::filesystem::exists(pattern, error)) return {pattern};
  glob_t found = {};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (files.empty()) files.push_back(pattern);
  return files;
}

}  // namespace

std::vector<std::string> ExpandPatterns(const std::vector<std::string>& patterns) {
  std::vector<std::string> files;
  for (const std::string& pattern : patterns) {
    const std::vector<std::string> found = ExpandPattern(pattern);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Result<PrecisionInputs> ReadPrecisionInputs(const Entry& entry, const PrecisionOptions& options,
                                            CompilerInstance& compiler) {
  PrecisionInputs inputs;
  const auto read = [&](const ProgramOptions& run) -> Status {
    ArgumentReader reader(entry, run, compiler);
    IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> values,
                           reader.Read({.max_bytes = PhysicalMemory()}, Storage::Tracking::kOff));
    inputs.samples.push_back(entry.MakeArguments(std::move(values)));
    return {};
  };
  ProgramOptions run;
  for (const std::string& file : ExpandPatterns(options.inputs)) {
    run.inputs = {file};
    IROPT_RETURN_IF_ERROR(read(run));
  }
  if (!inputs.samples.empty()) return inputs;
  inputs.is_random = true;
  compiler.diagnostics().Warning(
      {}, "random-samples",
      fmt::format("runs on {} random inputs, whose ranges and errors may be unlike those of real ones: -inputs=FILES "
                  "gives others",
                  kRandomSamples));
  run.random_inputs = true;
  run.other_sizes = kRandomSize;
  for (run.seed = 0; run.seed < kRandomSamples; ++run.seed) IROPT_RETURN_IF_ERROR(read(run));
  return inputs;
}

}  // namespace iropt
