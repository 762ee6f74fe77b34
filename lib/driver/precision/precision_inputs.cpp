#include "precision_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "driver/run/arguments.h"
#include "iropt/driver/run_program.h"
#include "iropt/execution/call_entry.h"

namespace iropt {

namespace {

constexpr size_t kRandomSamples = 2;
// Of symbolic dimensions, the first ones first: of batches and sequences, bands and frames, images and sounds.
constexpr int64_t kRandomSizes[] = {8, 16, 1, 32, 64, 80, 128, 224, 512, 1024, 4096, 16000};

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

using Sizes = std::vector<std::string>;  // "n=8"

// All symbols have one size, or one of them has another one than the others; small ones first.
std::vector<Sizes> SizesToTry(const Entry& entry) {
  std::vector<std::string_view> names;
  for (const tir::Var* var : entry.symbols()) {
    if (std::ranges::find(names, var->name) == names.end()) names.push_back(var->name);
  }
  std::vector<Sizes> all;
  const auto add = [&](int64_t of_others, std::string_view single, int64_t size) {
    Sizes sizes;
    for (const std::string_view name : names)
      sizes.push_back(fmt::format("{}={}", name, name == single ? size : of_others));
    if (std::ranges::find(all, sizes) == all.end()) all.push_back(std::move(sizes));
  };
  for (const int64_t size : std::span(kRandomSizes).first(3)) add(size, "", size);
  for (const int64_t of_others : {int64_t{1}, kRandomSizes[0]}) {
    for (const int64_t size : kRandomSizes) {
      for (const std::string_view name : names) add(of_others, name, size);
    }
    for (const int64_t size : kRandomSizes) add(size, "", size);
  }
  return all;
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
                                            CompilerInstance& compiler, TrialRun runs) {
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
  run.random_inputs = true;
  run.other_sizes = kRandomSizes[0];
  Sizes tried;
  if (!entry.symbols().empty()) {
    constexpr size_t kMostTrials = 64;
    const std::vector<Sizes> all = SizesToTry(entry);
    for (size_t i = 0; i < std::min(all.size(), kMostTrials); ++i) {
      run.sym = all[i];
      IROPT_RETURN_IF_ERROR(read(run));
      const bool fits = runs(inputs.samples.back());
      inputs.samples.clear();
      if (fits && i > 0) tried = run.sym;
      if (fits) break;
      run.sym.clear();
    }
  }
  DiagnosticBuilder warning = compiler.diagnostics().Warning(
      {}, "random-samples",
      fmt::format("runs on {} random inputs, whose ranges and errors may be unlike those of real ones: -inputs=FILES "
                  "gives others",
                  kRandomSamples));
  if (!tried.empty()) warning.Note(fmt::format("the function runs with {}", fmt::join(tried, ", ")));
  for (run.seed = 0; run.seed < kRandomSamples; ++run.seed) IROPT_RETURN_IF_ERROR(read(run));
  return inputs;
}

}  // namespace iropt
