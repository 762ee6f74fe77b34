// Execution of PrimFuncs as machine code.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "iropt/codegen/loop_compiler.h"
#include "iropt/eval/relax/interpreter.h"

namespace iropt {

// Gets the name of a PrimFunc and the seconds that compiling it took.
using CompileCallback = std::function<void(std::string_view name, double seconds)>;

// Compiles PrimFuncs lazily, at their first call.
class CompilingExecutor : public PrimFuncExecutor {
 public:
  // The module must outlive it.
  CompilingExecutor(const Module& module, std::shared_ptr<codegen::LoopCompiler> compiler, EvalLimits limits)
      : module_(module), compiler_(std::move(compiler)), limits_(limits) {}

  // Tells the time that compiling a function took, or reading its code from a cache, when it is called first.
  void set_on_compile(CompileCallback on_compile) { on_compile_ = std::move(on_compile); }

  // What the bytes of memory without values are when a function is called, of that which it allocates, too. Nothing:
  // what they happen to be.
  void set_fresh(std::optional<std::byte> fresh) { fresh_ = fresh; }

  // Compiled code does not track initialized bytes.
  Storage::Tracking tracking() const override { return Storage::Tracking::kOff; }
  // What a function may write to counts as initialized afterwards.
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
  std::unordered_map<const GlobalVar*, codegen::CompiledFunctionRef> functions_;  // never iterated
};

}  // namespace iropt
