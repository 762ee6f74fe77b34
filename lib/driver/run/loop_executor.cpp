#include "loop_executor.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "iropt/analysis/tir/statement_count.h"

namespace iropt {

namespace {

// Interpreting so many statements takes about as long as compiling them.
constexpr uint64_t kFewStatements = uint64_t{1} << 14;

// The sizes and integers that a call gives to the variables of the parameters.
std::vector<KnownSize> SizesOf(const PrimFunc& func, std::span<const PrimFuncArg> args) {
  std::vector<KnownSize> sizes;
  for (uint32_t i = 0; i < std::min<size_t>(args.size(), func.params.size()); ++i) {
    const Scalar* scalar = args[i].value.scalar();
    if (scalar && scalar->dtype.is_integer()) sizes.emplace_back(func.params[i], scalar->integer);
    const NDArray* tensor = args[i].value.tensor();
    const tir::Buffer* buffer = func.param_buffers[i];
    if (!tensor || !buffer) continue;
    for (uint32_t axis = 0; axis < std::min<size_t>(buffer->shape.size(), tensor->shape().size()); ++axis) {
      const auto* size = As<tir::Var>(buffer->shape[axis]);
      if (size) sizes.emplace_back(size, tensor->shape()[axis]);
    }
  }
  return sizes;
}

}  // namespace

Result<std::shared_ptr<codegen::LoopCompiler>> LoopLibrary::Get() {
  if (compiler_) return compiler_;
  if (error_) return *error_;
  Result<std::shared_ptr<codegen::LoopCompiler>> loaded = codegen::LoopCompiler::Load(options_);
  if (!loaded.ok()) {
    error_ = loaded.TakeError();
    return *error_;
  }
  compiler_ = *std::move(loaded);
  return compiler_;
}

Status LoopExecutor::Prepare(const GlobalVar& var) {
  if (!compiling_) {
    IROPT_ASSIGN_OR_RETURN(std::shared_ptr<codegen::LoopCompiler> compiler, library_.Get());
    compiling_ = std::make_unique<CompilingExecutor>(module_, std::move(compiler), limits_);
    compiling_->set_on_compile(on_compile_);
  }
  return compiling_->Prepare(var);
}

Result<HostValue> LoopExecutor::Interpret(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                                          const PackedCaller& packed) {
  uint64_t steps = 0;
  const EvalLimits limits{.max_bytes = limits_.max_bytes,
                          .max_work = limits_.AvailableWork() / kWorkOfStep,
                          .work = &steps,
                          .on_work = limits_.on_work};
  Result<HostValue> result = InterpretingExecutor(module_, limits).Call(var, func, args, packed);
  meter_.AddSteps(steps);
  return result;
}

Result<HostValue> LoopExecutor::Call(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                                     const PackedCaller& packed) {
  if (mode_ == LoopMode::Interpret) return Interpret(var, func, args, packed);
  const std::optional<uint64_t> statements = CountStatements(func, SizesOf(func, args));
  const bool is_affordable = statements.value_or(0) <= limits_.AvailableWork();
  const bool is_optional = mode_ == LoopMode::Auto;
  if (!is_affordable) {
    return Error{ErrorCode::Budget,
                 fmt::format("{}: takes up to {} steps, more than {}", var.name, *statements, limits_.AvailableWork())};
  }
  if (is_optional && (!statements || *statements <= kFewStatements || not_compiled_.contains(&var)))
    return Interpret(var, func, args, packed);
  if (const Status prepared = Prepare(var); !prepared.ok()) {
    if (!is_optional) return Error(prepared.error());
    not_compiled_.insert(&var);
    Result<HostValue> result = Interpret(var, func, args, packed);
    if (result.ok() || result.error().code != ErrorCode::Budget) return result;
    return Error{ErrorCode::Budget,
                 fmt::format("{}; it is interpreted: {}", result.error().message, prepared.error().message)};
  }
  meter_.AddStatements(statements.value_or(0));
  return compiling_->Call(var, func, args, packed);
}

}  // namespace iropt
