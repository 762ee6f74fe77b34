// Execution of PrimFuncs with an account of their work, interpreted or compiled.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/eval/tir/loop_facts.h"
#include "iropt/execution/compiled_loops.h"
#include "iropt/execution/options.h"
#include "iropt/execution/run_meter.h"
#include "iropt/support/lookup.h"

namespace iropt {

// The loop compiler, a shared object that is loaded when it is needed for the first time.
class LoopLibrary {
 public:
  explicit LoopLibrary(codegen::LoopCompilerOptions options = {}) : options_(std::move(options)) {}

  // Fails if it cannot be loaded, each time with the same error.
  Result<std::shared_ptr<codegen::LoopCompiler>> Get();

 private:
  codegen::LoopCompilerOptions options_;
  std::shared_ptr<codegen::LoopCompiler> compiler_ = nullptr;
  std::optional<Error> error_ = {};
};

// Runs PrimFuncs as the mode says. With LoopMode::Auto, a PrimFunc is compiled if a call executes many statements, a
// bound for their number is known, and the host can run the code; others are interpreted.
class LoopExecutor : public PrimFuncExecutor {
 public:
  // All must outlive it. `limits` has the work of `meter`.
  LoopExecutor(const Module& module, LoopMode mode, LoopLibrary& library, const EvalLimits& limits, RunMeter& meter)
      : module_(module), mode_(mode), library_(library), limits_(limits), meter_(meter) {}

  // As for CompilingExecutor; for LoopMode::Compile.
  void Expect(std::vector<const GlobalVar*> prim_funcs) { expected_ = std::move(prim_funcs); }
  void set_on_compile(CompileCallback on_compile) { on_compile_ = std::move(on_compile); }
  // Looks for what runs of PrimFuncs show; `facts` must outlive the executor. Compiled PrimFuncs are interpreted in
  // part, too, to find races. Their memory has these bytes at first, so that an initialization that is missing shows.
  void Watch(LoopFacts& facts, std::byte fresh) {
    facts_ = &facts;
    fresh_ = fresh;
  }
  Storage::Tracking tracking() const override {
    return mode_ == LoopMode::Compile && !fresh_ ? Storage::Tracking::kOff : Storage::Tracking::kOn;
  }
  Result<HostValue> Call(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                         const PackedCaller& packed) override;
  double compile_seconds() const override { return compiling_ ? compiling_->compile_seconds() : 0; }
  const ObservedRace& race() const override { return race_; }

 private:
  Result<HostValue> Interpret(const PrimFunc& func, std::span<const PrimFuncArg> args, const PackedCaller& packed);
  // Fails if the function cannot be compiled.
  Status Prepare(const GlobalVar& var);
  // The least precise floats that a PrimFunc computes decide how precise its results are. O(1) but for the first call.
  void AddPrecision(const PrimFunc& func);
  // Adds the facts of a PrimFunc that is about to be run as machine code.
  void FindFacts(const PrimFunc& func, std::span<const PrimFuncArg> args, const PackedCaller& packed);

  const Module& module_;
  LoopMode mode_;
  LoopLibrary& library_;
  EvalLimits limits_;
  RunMeter& meter_;
  std::vector<const GlobalVar*> expected_ = {};
  CompileCallback on_compile_ = nullptr;
  std::unique_ptr<CompilingExecutor> compiling_ = nullptr;  // null before it is needed
  LookupSet<const GlobalVar*> not_compiled_ = {};           // which cannot be
  LoopFacts* facts_ = nullptr;                              // null: they are not looked for
  ObservedRace race_ = {};                                  // without `facts_`
  std::optional<std::byte> fresh_ = {};
  LookupSet<const PrimFunc*> sampled_ = {};
  LookupMap<const PrimFunc*, DataType> least_precise_ = {};
};

}  // namespace iropt
