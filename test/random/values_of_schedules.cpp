// Random schedules must not change what functions compute:
//
//   values_of_schedules [--count=N] [--seed=S] [--loops=interpret|compile] [--wrong] [FILE...]
//
// Functions are random ones of blocks, and those of the files. Each is scheduled by a random sequence of primitives,
// verified, and run before and after on the same inputs. Random functions, and what tir.lower makes of
// them, are interpreted and compared with values that are computed without the library. With --wrong each sequence ends
// with a wrong split, which must be found. Exits with 1 after printing the sequences that failed.
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
#include "iropt/eval/tir/prim_func.h"
#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"
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
  // Primitives reorder sums, which rounds floats in another way, as the project's own passes may do.
  const bool rounds = ModuleToString(before).find("\"float") != std::string::npos;
  const Status status =
      (*check)->RunAfterPass(after, {.name = "the schedule", .assumes_no_overflow = rounds}, PassOutcome::Changed);
  return status.ok() ? std::nullopt : std::optional(Messages(buffer));
}

// The intrinsics that schedules may use.
class Intrinsics : public schedule::IntrinsicTable {
 public:
  explicit Intrinsics(CompilerInstance& compiler) : module_(*compiler.ParseModule(std::string(kText))) {}

  std::optional<schedule::TensorIntrinsic> Find(std::string_view name, TextVersion) override {
    const ModuleEntry* description = module_.Find(fmt::format("{}_desc", name));
    const ModuleEntry* implementation = module_.Find(fmt::format("{}_impl", name));
    if (!description || !implementation) return std::nullopt;
    return schedule::TensorIntrinsic{As<PrimFunc>(description->func), As<PrimFunc>(implementation->func)};
  }

 private:
  static constexpr std::string_view kText = R"(
@I.ir_module
class Module:
    @T.prim_func
    def copy4_desc(A: T.Buffer((4,), "int32", offset_factor=1), C: T.Buffer((4,), "int32", offset_factor=1)):
        with T.block("root"):
            T.reads(A[0:4])
            T.writes(C[0:4])
            for i in range(4):
                with T.block("copy"):
                    v = T.axis.spatial(4, i)
                    C[v] = A[v]

    @T.prim_func
    def copy4_impl(A: T.Buffer((4,), "int32", offset_factor=1), C: T.Buffer((4,), "int32", offset_factor=1)):
        with T.block("root"):
            T.reads(A[0:4])
            T.writes(C[0:4])
            for i in T.vectorized(4):
                C[i] = A[i]

    @T.prim_func
    def dot4_desc(A: T.Buffer((4,), "int32", offset_factor=1), B: T.Buffer((4,), "int32", offset_factor=1),
                  C: T.Buffer((1,), "int32", offset_factor=1)):
        with T.block("root"):
            T.reads(C[0], A[0:4], B[0:4])
            T.writes(C[0])
            for i in range(4):
                with T.block("update"):
                    v = T.axis.reduce(4, i)
                    C[0] = C[0] + A[v] * B[v]

    @T.prim_func
    def dot4_impl(A: T.Buffer((4,), "int32", offset_factor=1), B: T.Buffer((4,), "int32", offset_factor=1),
                  C: T.Buffer((1,), "int32", offset_factor=1)):
        with T.block("root"):
            T.reads(C[0], A[0:4], B[0:4])
            T.writes(C[0])
            C[0] = C[0] + (A[0] * B[0] + A[1] * B[1]) + (A[2] * B[2] + A[3] * B[3])
)";

  Module module_;
};

Scalar ToScalar(int64_t value, DataType dtype) {
  return dtype.is_floating() ? Scalar::Float(static_cast<double>(value), dtype) : Scalar::Int(value, dtype);
}

// The first difference between what the PrimFunc main computes and what is expected; nothing if there is none.
std::optional<std::string> CompareWithExpected(const Module& module, const generate::RandomFunction& function) {
  std::vector<HostValue> inputs;
  for (const generate::RandomTensor& input : function.inputs) {
    const auto array = NDArray::Make(input.dtype, input.shape);
    for (size_t i = 0; i < input.values.size(); ++i)
      StoreScalar(ToScalar(input.values[i], input.dtype),
                  array->mutable_data() + i * static_cast<size_t>(input.dtype.bytes()));
    inputs.emplace_back(Tensor(array));
  }
  const generate::RandomTensor& expected = function.output;
  const TensorSpec output{expected.dtype, expected.shape};
  const auto* func = As<PrimFunc>(module.Find("main")->func);
  const auto results = EvalPrimFunc(*func, inputs, std::span(&output, 1), {}, {.max_work = 50'000'000}, &module);
  // What takes too long is not compared.
  if (!results)
    return results.error().code == ErrorCode::Budget ? std::nullopt : std::optional(results.error().message);
  const std::byte* data = (*results)[0]->data();
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const Scalar got = LoadScalar(expected.dtype, data + i * static_cast<size_t>(expected.dtype.bytes()));
    const Scalar wanted = ToScalar(expected.values[i], expected.dtype);
    const bool is_float = expected.dtype.is_floating();
    if (is_float ? got.real != wanted.real : got.integer != wanted.integer)
      return fmt::format("element {} is {}, not {}", i, is_float ? got.real : static_cast<double>(got.integer),
                         expected.values[i]);
  }
  return std::nullopt;
}

// The module after a pipeline; nothing after an error.
std::optional<Module> RunPasses(CompilerInstance& compiler, const std::string& pipeline, const Module& module) {
  PassContext context = compiler.MakeContext();
  const Result<Pass> pass = compiler.MakePass(pipeline, &context);
  if (!pass.ok()) return std::nullopt;
  Result<PassResult> result = (*pass)(module, context);
  return result.ok() ? std::optional(std::move(result->module)) : std::nullopt;
}

bool HasThreads(const Module& module) { return ModuleToString(module).find("T.thread_binding") != std::string::npos; }

enum class Outcome : uint8_t { kSame, kDifferent, kNotScheduled };

class SequenceTest {
 public:
  SequenceTest(const Options& options, uint64_t seed) : options_(options), seed_(seed), choices_(seed) {}

  Outcome Run(const std::vector<std::string>& recorded) {
    IRContext ir_context;
    const IRContext::Scope scope(ir_context);
    DiagnosticBuffer buffer;
    CompilerInstance compiler({}, buffer);
    const bool is_random = recorded.empty() || !choices_.OneIn(4);
    function_ = is_random ? generate::RandomBlocks(choices_) : generate::RandomFunction{choices_.Pick(recorded)};
    const std::string& text = function_.text;
    const Result<Module> module = compiler.ParseModule(text);
    if (!module.ok()) return Fail("the function is refused:\n" + Messages(buffer), text, {});
    const std::optional<std::string> function = ChooseFunction(*module);
    if (!function) return Outcome::kNotScheduled;
    if (const auto difference = ComparedWithExpected(*module)) return Fail("unscheduled: " + *difference, text, {});
    Intrinsics intrinsics(compiler);
    schedule::Schedule sch(*module, &intrinsics);
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
    std::optional<std::string> difference = ComparedWithExpected(after);
    // Compiled loops have no threads.
    const bool is_compared = function_.inputs.empty() || (options_.loops == LoopMode::Compile && !HasThreads(after));
    if (!difference && (is_compared || options_.wrong))
      difference = Compare(compiler, buffer, *module, after, options_.loops);
    if (difference)
      return options_.wrong
                 ? Outcome::kDifferent
                 : Fail(fmt::format("{}\nculprit: {}", *difference, FindCulprit(*module, steps)), text, trace);
    // Threads of loops that are bound at random cannot always be unified.
    if (options_.wrong || function_.inputs.empty() || HasThreads(after)) return Outcome::kSame;
    const std::optional<Module> lowered = RunPasses(compiler, "tir.lower", after);
    if (!lowered) return Fail(fmt::format("it cannot be lowered: {}", Messages(buffer)), text, trace);
    if (const auto wrong = CompareWithExpected(*lowered, function_))
      return Fail(fmt::format("after tir.lower: {}\n{}", *wrong, ModuleToString(after)), text, trace);
    return Outcome::kSame;
  }

  int num_applied = 0;

 private:
  std::optional<std::string> ComparedWithExpected(const Module& module) const {
    return function_.inputs.empty() ? std::nullopt : CompareWithExpected(module, function_);
  }

  // The first instruction after which the function computes something else.
  std::string FindCulprit(const Module& before, const schedule::Trace& steps) const {
    DiagnosticBuffer messages;
    CompilerInstance reader({}, messages);
    Intrinsics intrinsics(reader);
    schedule::Schedule sch(before, &intrinsics);
    std::string last = ModuleToString(before);
    for (const schedule::Instruction& step : steps.instructions) {
      DiagnosticBuffer buffer;
      CompilerInstance compiler({}, buffer);
      if (!sch.Apply(step).ok()) return "none: the trace cannot be applied again";
      const Module now = sch.Snapshot();
      if (!step.primitive->is_pure &&
          (!VerifyModule(now, {}, compiler.diagnostics()) || ComparedWithExpected(now) ||
           (function_.inputs.empty() && Compare(compiler, buffer, before, now, options_.loops))))
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
  generate::RandomFunction function_;
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
