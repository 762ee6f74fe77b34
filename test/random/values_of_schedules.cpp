// Random schedules must not change what functions compute:
//
//   values_of_schedules [--count=N] [--seed=S] [--loops=interpret|compile] [--wrong] [FILE...]
//
// Functions are random ones of blocks, and those of the files. Each is scheduled by a random sequence of primitives,
// verified, and run before and after on the same inputs. With --wrong each sequence ends with a wrong split, which must
// be found. Exits with 1 after printing the sequences that failed.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/analysis/well_formed.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/schedule/schedule.h"
#include "iropt/semantics/semantic_check.h"
#include "iropt/support/file.h"
#include "iropt/text/script/printer.h"
#include "random_schedule.h"

namespace {

using namespace iropt;

struct Options {
  int count = 100;
  uint64_t seed = 1;
  LoopMode loops = LoopMode::Interpret;
  bool wrong = false;
  std::vector<std::string> files;
};

std::string Messages(const DiagnosticBuffer& buffer) {
  std::string text;
  for (const Diagnostic& diagnostic : buffer.diagnostics()) {
    text += diagnostic.message + "\n";
    for (const auto& note : diagnostic.notes) text += fmt::format("  {}\n", note.message);
  }
  return text;
}

// A module of its own for each PrimFunc that can be scheduled, as text.
std::vector<std::string> FunctionsOf(const std::string& path) {
  std::vector<std::string> texts;
  DiagnosticBuffer buffer;
  CompilerInstance compiler({}, buffer);
  const auto file = ReadFile(path);
  if (!file) return texts;
  const Result<Module> module = compiler.ParseModule(std::string((*file)->text()));
  if (!module.ok()) return texts;
  for (const ModuleEntry& entry : module->functions()) {
    const auto* func = As<PrimFunc>(entry.func);
    if (func && schedule::State::CanSchedule(*func)) texts.push_back(ModuleToString(*module));
  }
  return texts;
}

// What the two modules compute on the same inputs; the first difference, or nothing.
std::optional<std::string> Compare(CompilerInstance& compiler, const DiagnosticBuffer& buffer, const Module& before,
                                   const Module& after, LoopMode loops) {
  constexpr int64_t kBudget = 10'000'000;
  // The order of a reduction decides which of several special values it gives.
  const Result<InputKinds> inputs = InputKinds::Of({"ordinary"});
  const SemanticCheckOptions options{.each = true, .budget = kBudget, .loops = loops, .inputs = *inputs};
  Result<std::shared_ptr<SemanticCheck>> check =
      SemanticCheck::Make(compiler.diagnostics(), compiler.err(), options, NetworkMode::Auto);
  if (!check.ok()) return "the values cannot be compared: " + Messages(buffer);
  (*check)->Begin(before);
  const Status status = (*check)->RunAfterPass(after, {.name = "the schedule"}, PassOutcome::Changed);
  return status.ok() ? std::nullopt : std::optional(Messages(buffer));
}

enum class Outcome : uint8_t { kSame, kDifferent, kNotScheduled };

class SequenceTest {
 public:
  SequenceTest(const Options& options, uint64_t seed) : options_(options), seed_(seed), choices_(seed) {}

  Outcome Run(const std::vector<std::string>& recorded) {
    IRContext ir_context;
    const IRContext::Scope scope(ir_context);
    DiagnosticBuffer buffer;
    CompilerInstance compiler({}, buffer);
    const bool is_random = recorded.empty() || choices_.OneIn(2);
    const std::string text = is_random ? generate::RandomBlocks(choices_) : choices_.Pick(recorded);
    const Result<Module> module = compiler.ParseModule(text);
    if (!module.ok()) return Fail("the function is refused:\n" + Messages(buffer), text, {});
    const std::optional<std::string> function = ChooseFunction(*module);
    if (!function) return Outcome::kNotScheduled;
    schedule::Schedule sch(*module);
    sch.SetSeed(seed_ + 1);
    try {
      num_applied += generate::ApplyRandomPrimitives(sch, *function, 4 + choices_.Below(20), choices_);
      if (options_.wrong && !generate::ApplyWrongSplit(sch, *function, choices_)) return Outcome::kNotScheduled;
    } catch (const std::exception& failure) {
      return Fail(fmt::format("a primitive after these: {}", failure.what()), text, schedule::ToPython(sch.trace()));
    }
    const schedule::Trace steps = sch.trace();
    const std::string trace = schedule::ToPython(steps);
    const Module after = sch.Finish();
    if (!options_.wrong && !VerifyModule(after, {}, compiler.diagnostics()))
      return Fail(
          fmt::format("the result is not well-formed:\n{}culprit: {}", Messages(buffer), FindCulprit(*module, steps)),
          text, trace);
    if (const auto difference = Compare(compiler, buffer, *module, after, options_.loops))
      return options_.wrong ? Outcome::kDifferent
                            : Fail(fmt::format("{}culprit: {}", *difference, FindCulprit(*module, steps)), text, trace);
    return Outcome::kSame;
  }

  int num_applied = 0;

 private:
  // The first instruction after which the function computes something else.
  std::string FindCulprit(const Module& before, const schedule::Trace& steps) const {
    schedule::Schedule sch(before);
    std::string last = ModuleToString(before);
    for (const schedule::Instruction& step : steps.instructions) {
      DiagnosticBuffer buffer;
      CompilerInstance compiler({}, buffer);
      if (!sch.Apply(step).ok()) return "none: the trace cannot be applied again";
      const Module now = sch.Snapshot();
      if (!step.primitive->is_pure &&
          (!VerifyModule(now, {}, compiler.diagnostics()) || Compare(compiler, buffer, before, now, options_.loops)))
        return fmt::format("{}\nbefore it:\n{}", schedule::ToPython(step), last);
      last = ModuleToString(now);
    }
    return "none";
  }

  std::optional<std::string> ChooseFunction(const Module& module) {
    std::vector<std::string> names;
    for (const ModuleEntry& entry : module.functions()) {
      const auto* func = As<PrimFunc>(entry.func);
      if (func && schedule::State::CanSchedule(*func)) names.emplace_back(entry.var->name);
    }
    return names.empty() ? std::nullopt : std::optional(choices_.Pick(names));
  }

  Outcome Fail(const std::string& what, const std::string& text, const std::string& trace) const {
    fmt::print("seed {}: {}\n{}\n{}\n", seed_, what, text, trace);
    return Outcome::kDifferent;
  }

  const Options& options_;
  const uint64_t seed_;
  generate::Choices choices_;
};

bool ReadOptions(std::span<char*> args, Options& options) {
  const auto number = [](std::string_view text, auto& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  };
  for (const std::string_view arg : args) {
    if (arg.starts_with("--count=")) {
      if (!number(arg.substr(8), options.count)) return false;
    } else if (arg.starts_with("--seed=")) {
      if (!number(arg.substr(7), options.seed)) return false;
    } else if (arg.starts_with("--loops=")) {
      options.loops = LoopModeOf(arg.substr(8));
    } else if (arg == "--wrong") {
      options.wrong = true;
    } else if (arg.starts_with("--")) {
      return false;
    } else {
      options.files.emplace_back(arg);
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ReadOptions(std::span(argv + 1, static_cast<size_t>(argc - 1)), options)) {
    fmt::print(stderr, "usage: values_of_schedules [--count=N] [--seed=S] [--loops=MODE] [--wrong] [FILE...]\n");
    return 2;
  }
  std::vector<std::string> recorded;
  for (const std::string& file : options.files) {
    const IRContext ir_context;
    const std::vector<std::string> texts = FunctionsOf(file);
    recorded.insert(recorded.end(), texts.begin(), texts.end());
  }
  int different = 0, same = 0, applied = 0;
  for (int i = 0; i < options.count; ++i) {
    SequenceTest test(options, options.seed + static_cast<uint64_t>(i));
    const Outcome outcome = test.Run(recorded);
    different += outcome == Outcome::kDifferent ? 1 : 0;
    same += outcome == Outcome::kSame ? 1 : 0;
    applied += test.num_applied;
  }
  fmt::print("{} sequences: {} the same, {} different, {} primitives applied\n", options.count, same, different,
             applied);
  // A block may compute the same in iterations that it should not run.
  if (options.wrong) return different < 10 * same || different == 0 ? 1 : 0;
  return different > 0 ? 1 : 0;
}
