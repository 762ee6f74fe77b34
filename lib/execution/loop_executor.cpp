#include "iropt/execution/loop_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/statement_count.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/runtime/compare.h"

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

// Finds the least precise floats that a PrimFunc computes. Constants are exact.
class LeastPreciseFloat : public tir::StmtExprVisitor {
 public:
  DataType dtype() const { return dtype_; }

 protected:
  void VisitExpr(const PrimExpr* expr) override {
    if (expr->dtype.is_floating() && !Is<tir::FloatImm>(expr)) dtype_ = LessPrecise(dtype_, expr->dtype);
    StmtExprVisitor::VisitExpr(expr);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    if (store->buffer->dtype.is_floating()) dtype_ = LessPrecise(dtype_, store->buffer->dtype);
    StmtExprVisitor::VisitBufferStore(store);
  }

 private:
  DataType dtype_ = DataType::Float(64);
};

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
    compiling_->Expect(std::move(expected_));
    compiling_->set_on_compile(on_compile_);
    compiling_->set_fresh(fresh_);
    compiling_->set_looks_for_races(!facts_);
  }
  return compiling_->Prepare(var);
}

Result<HostValue> LoopExecutor::Interpret(const PrimFunc& func, std::span<const PrimFuncArg> args,
                                          const PackedCaller& packed) {
  uint64_t steps = 0;
  const EvalLimits limits{.max_bytes = limits_.max_bytes,
                          .max_work = limits_.AvailableWork() / kWorkOfStep,
                          .work = &steps,
                          .on_work = limits_.on_work};
  const PrimFuncOptions options{.limits = limits, .module = &module_, .packed = packed, .facts = facts_};
  Result<HostValue> result =
      facts_ ? CallPrimFunc(func, args, options) : CallWatchingRaces(func, args, options, RaceWatch::kUsual, race_);
  meter_.AddSteps(steps);
  return result;
}

void LoopExecutor::FindFacts(const PrimFunc& func, std::span<const PrimFuncArg> args, const PackedCaller& packed) {
  if (facts_->branches) facts_->branches->AddCompiled(&func);
  facts_->may_overflow |= std::ranges::any_of(args, [](const PrimFuncArg& arg) {
    const NDArray* tensor = arg.value.tensor();
    return tensor && tensor->dtype().is_int() && tensor->dtype().bits >= 32;
  });
  if (!HasConcurrentLoops(func) || !sampled_.insert(&func)) return;
  const LoopFacts sampled = SampleFacts(func, args, {.limits = limits_, .module = &module_, .packed = packed});
  if (facts_->race.empty()) facts_->race = sampled.race;
  if (facts_->unsynchronized.empty()) facts_->unsynchronized = sampled.unsynchronized;
  facts_->has_barriers |= sampled.has_barriers;
}

void LoopExecutor::AddPrecision(const PrimFunc& func) {
  auto [known, is_new] = least_precise_.try_emplace(&func, DataType::Float(64));
  if (is_new) {
    LeastPreciseFloat finder;
    finder.VisitStmt(func.body);
    known = finder.dtype();
  }
  meter_.AddFloats(known);
}

Result<HostValue> LoopExecutor::Call(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                                     const PackedCaller& packed) {
  AddPrecision(func);
  if (mode_ == LoopMode::Interpret) return Interpret(func, args, packed);
  const std::optional<uint64_t> statements = CountStatements(func, SizesOf(func, args));
  const bool is_affordable = statements.value_or(0) <= limits_.AvailableWork();
  const bool is_optional = mode_ == LoopMode::Auto;
  if (!is_affordable) {
    return Error{ErrorCode::Budget,
                 fmt::format("{}: takes up to {} steps, more than {}", var.name, *statements, limits_.AvailableWork())};
  }
  if (is_optional && (!statements || *statements <= kFewStatements || not_compiled_.contains(&var)))
    return Interpret(func, args, packed);
  if (const Status prepared = Prepare(var); !prepared.ok()) {
    if (!is_optional) return Error(prepared.error());
    not_compiled_.insert(&var);
    Result<HostValue> result = Interpret(func, args, packed);
    if (result.ok() || result.error().code != ErrorCode::Budget) return result;
    return Error{ErrorCode::Budget,
                 fmt::format("{}; it is interpreted: {}", result.error().message, prepared.error().message)};
  }
  meter_.AddStatements(statements.value_or(0));
  if (facts_) FindFacts(func, args, packed);
  Result<HostValue> result = compiling_->Call(var, func, args, packed);
  if (race_.empty()) race_ = compiling_->race();
  return result;
}

}  // namespace iropt
