// Execution of PrimFuncs as machine code.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/codegen/loop_compiler.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/eval/tir/loop_facts.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Gets the name of a PrimFunc that is called for the first time, and how many PrimFuncs were compiled for this call, in
// how many seconds.
using CompileCallback = std::function<void(std::string_view name, size_t compiled, double seconds)>;

// The PrimFuncs that a function refers to, itself or through other Relax functions, each once; of a PrimFunc, itself.
std::vector<const GlobalVar*> CalledPrimFuncs(const Module& module, const GlobalVar& entry);

// The facts that an interpretation of some iterations of each loop shows, on copies of what the function changes. Next
// to compiled code, which does not tell. O(bytes of the copies).
LoopFacts SampleFacts(const PrimFunc& func, std::span<const PrimFuncArg> args, PrimFuncOptions options);

// Compiles PrimFuncs at their first call, and together with the first one those that are expected to follow, on several
// threads.
class CompilingExecutor : public PrimFuncExecutor {
 public:
  // The module must outlive it.
  CompilingExecutor(const Module& module, std::shared_ptr<codegen::LoopCompiler> compiler, EvalLimits limits)
      : module_(module), compiler_(std::move(compiler)), limits_(limits) {}

  // The PrimFuncs of the module that a run may call. One that cannot be compiled is an error only when it is called.
  void Expect(std::vector<const GlobalVar*> prim_funcs) { expected_ = std::move(prim_funcs); }
  // Tells the time that compiling functions took, or reading their code from a cache.
  void set_on_compile(CompileCallback on_compile) { on_compile_ = std::move(on_compile); }

  // Sets the bytes of memory without values when a function is called, and of the memory that it allocates. Nothing:
  // they stay undefined.
  void set_fresh(std::optional<std::byte> fresh) { fresh_ = fresh; }

  // Sets whether the first call of a kernel is interpreted in part, too, to find a race. It is by default.
  void set_looks_for_races(bool looks) { looks_for_races_ = looks; }
  const ObservedRace& race() const override { return race_; }

  // Compiled code does not track initialized bytes.
  Storage::Tracking tracking() const override { return Storage::Tracking::kOff; }
  // Calls the compiled function. Memory that it may write to counts as initialized afterwards.
  Result<HostValue> Call(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                         const PackedCaller& packed) override;
  // Compiles the function, if it was not done before. Fails if that is not possible.
  Status Prepare(const GlobalVar& var);
  double compile_seconds() const override { return compile_seconds_; }

 private:
  const Module& module_;
  std::shared_ptr<codegen::LoopCompiler> compiler_;
  EvalLimits limits_;
  CompileCallback on_compile_;  // may be empty
  std::optional<std::byte> fresh_ = {};
  double compile_seconds_ = 0;
  bool looks_for_races_ = true;
  LookupSet<const GlobalVar*> called_ = {};
  ObservedRace race_ = {};
  std::vector<const GlobalVar*> expected_;  // not compiled yet
  LookupMap<const GlobalVar*, Result<codegen::CompiledFunctionRef>> functions_;
};

}  // namespace iropt
