// Execution of functions and expressions.
#include "interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <variant>

#include "iropt/analysis/tir/written_params.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/stack.h"

namespace iropt {

Result<HostValue> InterpretingExecutor::Call(const GlobalVar& /*var*/, const PrimFunc& func,
                                             std::span<const PrimFuncArg> args, const PackedCaller& packed) {
  return CallWatchingRaces(func, args, {.limits = limits_, .module = &module_, .packed = packed}, watch_, race_);
}

namespace eval {

namespace {

// The maximum number of callers in the notes of an error.
constexpr size_t kMostNotes = 8;

Error RunError(std::string message, ErrorCode code = ErrorCode::SemanticCheck) { return {code, std::move(message)}; }

}  // namespace

RelaxInterpreter::RelaxInterpreter(const Module& module, DiagnosticEngine& diagnostics, const RunOptions& options)
    : module_(module),
      diagnostics_(diagnostics),
      options_(options),
      packed_(options.packed ? *options.packed : BuiltinPackedFuncs()),
      own_executor_(options.prim_funcs ? nullptr : std::make_unique<InterpretingExecutor>(module, options.limits)),
      executor_(options.prim_funcs ? *options.prim_funcs : *own_executor_),
      packed_caller_([this](std::string_view name, std::span<const HostValue> args) { return CallPacked(name, args); }),
      random_(options.seed) {}

Failure RelaxInterpreter::Report(const Expr& at, Error error) {
  if (error.reported()) return Failure{error.code};
  DiagnosticBuilder diagnostic = diagnostics_.Error(Location(at), "no-value", std::move(error.message));
  size_t notes = 0;
  for (auto call = calls_.rbegin(); call != calls_.rend() && notes < kMostNotes; ++call, ++notes) {
    if (call->at) diagnostic.Note(Location(*call->at), fmt::format("called from '{}' here", NameOf(*call->caller)));
  }
  return Failure{error.code};
}

// ---- Functions

const FramePlan& RelaxInterpreter::PlanOf(const Function& function) {
  std::unique_ptr<FramePlan>& plan = plans_[&function];
  if (plan) return *plan;
  plan = std::make_unique<FramePlan>(function);
  inference_calls_.merge(FindInferenceCalls(function, options_.mode, options_.constant_params));
  return *plan;
}

std::string_view RelaxInterpreter::NameOf(const Function& function) const {
  const auto& entries = module_.functions();
  const auto entry = std::ranges::find(entries, static_cast<const BaseFunc*>(&function), &ModuleEntry::func);
  return entry == entries.end() ? "a local function" : entry->var->name;
}

Status RelaxInterpreter::Match(Frame& frame, const HostValue& value, const Type* type, std::string_view what,
                               const Expr& at) {
  const auto shape_of = [&](const Expr* expr) -> const ShapeValue* {
    const auto* var = As<Var>(expr);
    return var ? frame.At(var).shape() : nullptr;
  };
  if (ValueMatcher(frame.symbols, ValueMatcher::Unknown::kMatches).Matches(value, type, shape_of)) return {};
  return Report(at, RunError(fmt::format("{}: expected {}, got {}", what, DescribeType(type, frame.symbols),
                                         TypeToString(TypeOfValue(value)))));
}

Status RelaxInterpreter::BindParams(Frame& frame, std::vector<HostValue> args) {
  const Function& function = frame.function;
  if (args.size() != function.params.size()) {
    return RunError(
        fmt::format("'{}' expects {} arguments, got {}", NameOf(function), function.params.size(), args.size()));
  }
  ValueMatcher matcher(frame.symbols, ValueMatcher::Unknown::kMatches);
  // All variables are bound before the checks: a dimension may depend on variables of later parameters.
  for (size_t i = 0; i < args.size(); ++i) matcher.Bind(args[i], function.params[i]->type);
  for (size_t i = 0; i < args.size(); ++i) frame.At(function.params[i]) = std::move(args[i]);
  for (const Var* param : function.params) {
    const std::string what = fmt::format("argument '{}' of '{}'", param->name(), NameOf(function));
    IROPT_RETURN_IF_ERROR(Match(frame, frame.At(param), param->type, what, *param));
  }
  return {};
}

Result<HostValue> RelaxInterpreter::CallFunction(const Function& function, const FunctionValue* callee,
                                                 std::vector<HostValue> args) {
  if (calls_.size() >= options_.max_depth)
    return RunError(fmt::format("calls are nested deeper than {}", options_.max_depth), ErrorCode::Budget);
  const FramePlan& plan = PlanOf(function);
  Frame frame{function, plan, std::vector<HostValue>(plan.num_slots())};
  if (callee) {
    for (const auto& [var, value] : callee->captured) frame.At(var) = value;
    for (const auto& [var, value] : callee->symbols) frame.symbols.Bind(var, value);
    if (callee->self) frame.At(callee->self) = HostValue(std::make_shared<const FunctionValue>(*callee));
  }
  calls_.push_back({site_, running_});
  const Function* caller = std::exchange(running_, &function);
  const auto run = [&]() -> Result<HostValue> {
    IROPT_RETURN_IF_ERROR(BindParams(frame, std::move(args)));
    IROPT_ASSIGN_OR_RETURN(HostValue value, WithStack([&] { return Eval(function.body, frame); }));
    IROPT_RETURN_IF_ERROR(CheckReturned(function, value, frame));
    return value;
  };
  Result<HostValue> result = run();
  calls_.pop_back();
  running_ = caller;
  return result;
}

// ---- Expressions

Result<HostValue> RelaxInterpreter::Eval(const Expr* expr, Frame& frame) {
  switch (expr->kind) {
    case NodeKind::kVar:
    case NodeKind::kDataflowVar: return frame.At(static_cast<const Var*>(expr));
    case NodeKind::kConstant:
    case NodeKind::kStringImm:
    case NodeKind::kDataTypeImm: return *LiteralValue(expr);
    case NodeKind::kTuple: return EvalTuple(*To<Tuple>(expr), frame);
    case NodeKind::kTupleGetItem: return EvalItem(*To<TupleGetItem>(expr), frame);
    case NodeKind::kShapeExpr: return EvalShape(*To<ShapeExpr>(expr), frame);
    case NodeKind::kPrimValue: return EvalPrim(*To<PrimValue>(expr), frame);
    case NodeKind::kCall: return EvalCall(*To<Call>(expr), frame);
    case NodeKind::kIf: return EvalIf(*To<If>(expr), frame);
    case NodeKind::kSeqExpr: return EvalSeq(*To<SeqExpr>(expr), frame);
    case NodeKind::kFunction: return EvalClosure(*To<Function>(expr), nullptr, frame);
    case NodeKind::kGlobalVar: return EvalGlobal(*To<GlobalVar>(expr));
    case NodeKind::kExternFunc: {
      const auto* function = To<ExternFunc>(expr);
      // As in TVM's virtual machine, a name may be that of a function of the module.
      const ModuleEntry* own = packed_.Find(function->global_symbol) ? nullptr : module_.Find(function->global_symbol);
      if (own && !Is<ExternFunc>(own->func)) return EvalGlobal(*own->var);
      return HostValue(HostValue::CalleeRef(new FunctionValue{function, function->global_symbol, {}, {}, nullptr, {}}));
    }
    default: return RunError(fmt::format("{} is not a value", NodeKindName(expr->kind)));
  }
}

// What a binding takes however small its value is, so that loops of small values that never end are stopped.
constexpr uint64_t kWorkOfBinding = 1000;

Result<HostValue> RelaxInterpreter::EvalSeq(const SeqExpr& seq, Frame& frame) {
  uint32_t number = frame.plan.FirstBinding(seq);
  const auto drop_dead = [&] {
    for (const uint32_t slot : frame.plan.DeadAfter(number)) frame.slots[slot] = HostValue();
    ++number;
  };
  for (const BindingBlock* block : seq.blocks) {
    for (const Binding* binding : block->bindings) {
      Result<HostValue> value = EvalBinding(*binding, frame);
      if (!value.ok()) return Report(*ValueOf(binding), value.TakeError());
      if (options_.limits.on_work) (*options_.limits.on_work)();
      if (options_.limits.work) *options_.limits.work += kWorkOfBinding;
      if (options_.observer) options_.observer->OnBinding(frame.function, *binding->var, *value);
      frame.At(binding->var) = *std::move(value);
      drop_dead();
    }
  }
  Result<HostValue> result = WithStack([&] { return Eval(seq.body, frame); });
  if (!result.ok()) return Report(*seq.body, result.TakeError());
  drop_dead();
  return result;
}

Result<HostValue> RelaxInterpreter::EvalBinding(const Binding& binding, Frame& frame) {
  const Expr* expr = ValueOf(&binding);
  if (const auto* function = As<Function>(expr)) return EvalClosure(*function, binding.var, frame);
  IROPT_ASSIGN_OR_RETURN(HostValue value, WithStack([&] { return Eval(expr, frame); }));
  const auto* cast = As<MatchCast>(&binding);
  if (!cast) return value;
  ValueMatcher(frame.symbols, ValueMatcher::Unknown::kMatches).Bind(value, cast->match_type);
  IROPT_RETURN_IF_ERROR(Match(frame, value, cast->match_type, "match_cast", *expr));
  return value;
}

Result<std::vector<HostValue>> RelaxInterpreter::EvalAll(List<const Expr*> exprs, Frame& frame) {
  std::vector<HostValue> values;
  values.reserve(exprs.size());
  for (const Expr* expr : exprs) {
    IROPT_ASSIGN_OR_RETURN(HostValue value, WithStack([&] { return Eval(expr, frame); }));
    values.push_back(std::move(value));
  }
  return values;
}

Result<HostValue> RelaxInterpreter::EvalTuple(const Tuple& tuple, Frame& frame) {
  IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> fields, EvalAll(tuple.fields, frame));
  return HostValue(TupleValue{std::move(fields)});
}

Result<HostValue> RelaxInterpreter::EvalItem(const TupleGetItem& item, Frame& frame) {
  IROPT_ASSIGN_OR_RETURN(const HostValue value, WithStack([&] { return Eval(item.tuple, frame); }));
  const TupleValue* tuple = value.tuple();
  const auto index = static_cast<size_t>(item.index);
  if (!tuple || index >= tuple->fields.size())
    return RunError(fmt::format("{} has no field {}", KindOf(value), item.index));
  return tuple->fields[index];
}

Result<HostValue> RelaxInterpreter::EvalIf(const If& branch, Frame& frame) {
  IROPT_ASSIGN_OR_RETURN(const HostValue condition, WithStack([&] { return Eval(branch.cond, frame); }));
  IROPT_ASSIGN_OR_RETURN(const HostValue holds,
                         packed_.Call("vm.builtin.read_if_cond", std::span(&condition, 1), *this));
  const bool value = holds.scalar()->integer != 0;
  if (options_.observer) options_.observer->OnBranch(branch, value);
  const Expr* taken = value ? branch.true_branch : branch.false_branch;
  return WithStack([&] { return Eval(taken, frame); });
}

Result<HostValue> RelaxInterpreter::EvalShape(const ShapeExpr& shape, Frame& frame) {
  ShapeValue dims;
  dims.reserve(shape.values.size());
  for (const PrimExpr* expr : shape.values) {
    const std::optional<int64_t> dim = frame.symbols.EvalInt(expr);
    if (!dim) return RunError(fmt::format("dimension {} has no value", DimToString(expr)));
    dims.push_back(*dim);
  }
  return HostValue(std::move(dims));
}

Result<HostValue> RelaxInterpreter::EvalPrim(const PrimValue& value, Frame& frame) {
  if (const auto* imm = As<tir::FloatImm>(value.value)) return HostValue(Scalar::Float(imm->value, imm->dtype));
  const std::optional<Scalar> scalar = frame.symbols.Eval(value.value);
  if (!scalar) return RunError(fmt::format("{} has no value", DimToString(value.value)));
  return HostValue(*scalar);
}

Result<HostValue> RelaxInterpreter::EvalClosure(const Function& function, const Var* self, Frame& frame) {
  auto closure = std::make_shared<FunctionValue>();
  closure->function = &function;
  closure->name = self ? self->name() : "a local function";
  for (const Var* var : PlanOf(function).captured()) {
    if (var == self) {
      closure->self = self;
    } else {
      closure->captured.emplace_back(var, frame.At(var));
    }
  }
  closure->symbols = frame.symbols.entries();
  return HostValue(HostValue::CalleeRef(std::move(closure)));
}

Result<HostValue> RelaxInterpreter::EvalGlobal(const GlobalVar& var) {
  const ModuleEntry* entry = module_.Find(&var);
  if (!entry) return RunError(fmt::format("the module has no function '{}'", var.name));
  return HostValue(HostValue::CalleeRef(new FunctionValue{entry->func, var.name, {}, {}, nullptr, {}}));
}

// ---- Calls

Result<HostValue> RelaxInterpreter::EvalCall(const Call& call, Frame& frame) {
  if (const auto* op = As<Op>(call.op)) return CallOperator(call, *op->info, frame);
  IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> args, EvalAll(call.args, frame));
  const Expr* outer = std::exchange(site_, &call);
  const auto run = [&]() -> Result<HostValue> {
    if (const auto* global = As<GlobalVar>(call.op)) {
      const ModuleEntry* entry = module_.Find(global);
      if (!entry) return RunError(fmt::format("the module has no function '{}'", global->name));
      if (const auto* func = As<PrimFunc>(entry->func)) IROPT_RETURN_IF_ERROR(MakeWritable(call, *func, args, frame));
      return CallGlobal(*global, *entry->func, std::move(args));
    }
    IROPT_ASSIGN_OR_RETURN(const HostValue callee, Eval(call.op, frame));
    return Invoke(callee, args);
  };
  Result<HostValue> result = run();
  site_ = outer;
  if (result.ok() && !Is<GlobalVar>(call.op)) IROPT_RETURN_IF_ERROR(CheckResult(call, *result, frame));
  return result;
}

namespace {

void ReplaceTensor(HostValue& value, const NDArray& from, const HostValue& to) {
  if (value.tensor() == &from) {
    value = to;
    return;
  }
  bool holds = false;
  ForEachTensor(value, [&](const Tensor& tensor) { holds |= tensor.get() == &from; });
  if (!holds || !value.tuple()) return;
  TupleValue copy = *value.tuple();
  for (HostValue& field : copy.fields) WithStack([&] { ReplaceTensor(field, from, to); });
  value = HostValue(std::move(copy));
}

}  // namespace

Result<HostValue> RelaxInterpreter::CopyToStorage(const NDArray& tensor, Frame& frame) {
  if (options_.observer) options_.observer->OnOverwrite(tensor);
  const TensorSpec spec{tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()}};
  IROPT_ASSIGN_OR_RETURN(Tensor copy, AllocateTensor(spec, executor_.tracking(), options_.limits));
  if (tensor.num_bytes() != 0) std::memcpy(copy->storage()->data(), tensor.data(), tensor.num_bytes());
  copy->storage()->SetWritten(0, tensor.num_bytes(), true);
  HostValue result(std::move(copy));
  for (HostValue& value : frame.slots) ReplaceTensor(value, tensor, result);
  return result;
}

Status RelaxInterpreter::MakeWritable(const Call& call, const PrimFunc& func, std::vector<HostValue>& args,
                                      Frame& frame) {
  for (size_t i = 0; i < args.size() && i < func.params.size(); ++i) {
    const NDArray* tensor = args[i].tensor();
    if (!tensor || tensor->storage() || !Is<Var>(call.args[i])) continue;
    const auto [written, is_new] = written_params_.try_emplace(&func);
    if (is_new) written = WrittenParams(func);
    if (!written[i]) continue;
    const HostValue old = args[i];  // owns the tensor
    IROPT_ASSIGN_OR_RETURN(args[i], CopyToStorage(*tensor, frame));
  }
  return {};
}

Result<HostValue> RelaxInterpreter::CallGlobal(const GlobalVar& var, const BaseFunc& function,
                                               std::vector<HostValue> args) {
  if (const auto* relax = As<Function>(&function)) return CallFunction(*relax, nullptr, std::move(args));
  if (const auto* external = As<ExternFunc>(&function)) return CallPacked(external->global_symbol, args);
  // In a direct call of a PrimFunc, the outputs are arguments, too.
  std::vector<PrimFuncArg> prim_args;
  for (HostValue& arg : args) prim_args.push_back({std::move(arg), /*writable=*/true});
  const auto& prim_func = *To<PrimFunc>(&function);
  IROPT_ASSIGN_OR_RETURN(const HostValue result, CallPrimFunc(var, prim_func, prim_args));
  return ReturnedValue(prim_func, result);
}

Result<HostValue> RelaxInterpreter::Invoke(const HostValue& callee, std::span<const HostValue> args) {
  const FunctionValue* function = callee.function();
  if (!function) return RunError(fmt::format("expected a function to call, got {}", KindOf(callee)));
  std::vector<HostValue> all(args.begin(), args.end());
  all.insert(all.end(), function->bound.begin(), function->bound.end());
  if (const auto* relax = As<Function>(function->function)) return CallFunction(*relax, function, std::move(all));
  return CallGlobal(*GlobalVar::Get(function->name), *function->function, std::move(all));
}

void RelaxInterpreter::Print(std::string_view line) {
  if (options_.print) options_.print(line);
}

Result<std::shared_ptr<Storage>> RelaxInterpreter::Allocate(uint64_t bytes) {
  if (bytes > options_.limits.max_bytes)
    return RunError(
        fmt::format("an allocation of {} bytes exceeds the limit of {} bytes", bytes, options_.limits.max_bytes),
        ErrorCode::Budget);
  return Storage::Make(bytes, executor_.tracking());
}

Result<HostValue> RelaxInterpreter::Timed(CalleeKind kind, std::string_view callee,
                                          FunctionRef<Result<HostValue>()> f) {
  if (!options_.observer) return f();
  const auto begin = std::chrono::steady_clock::now();
  Result<HostValue> result = f();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  options_.observer->OnCall(kind, callee, spent.count());
  return result;
}

Result<HostValue> RelaxInterpreter::CallPrimFunc(const GlobalVar& var, const PrimFunc& func,
                                                 std::span<const PrimFuncArg> args) {
  return Timed(CalleeKind::kPrimFunc, var.name, [&] { return executor_.Call(var, func, args, packed_caller_); });
}

Result<HostValue> RelaxInterpreter::CallPacked(std::string_view name, std::span<const HostValue> args) {
  return Timed(CalleeKind::kPacked, name, [&] { return packed_.Call(name, args, *this); });
}

// Checks a result against the type of the call. Functions of the module check their results themselves.
Status RelaxInterpreter::CheckResult(const Call& call, const HostValue& value, Frame& frame) {
  // Functions without a result have the type of the empty tuple. What they return is null, whatever the call says.
  const auto* tuple = As<TupleType>(call.type);
  const bool is_null = std::holds_alternative<std::monostate>(value.state);
  if (!call.type || is_null || (tuple && tuple->fields.empty())) return {};
  return Match(frame, value, call.type, fmt::format("the result of {}", CalleeName(call)), call);
}

// Checks what a function returns against its type, where that says more than the type of its body. The verifier warns
// of a body whose values the type excludes, which runs all the same.
Status RelaxInterpreter::CheckReturned(const Function& function, const HostValue& value, Frame& frame) {
  const Type* known = function.body->type;
  if (!function.ret_type || !known || known == function.ret_type) return {};
  const BaseCheck relation = TypeBaseCheck(function.ret_type, known);
  if (relation == BaseCheck::kPass || relation == BaseCheck::kFailL0) return {};
  return Match(frame, value, function.ret_type, "the value to return", *function.body);
}

}  // namespace eval

Result<HostValue> RunFunction(const Module& module, const Function& function, std::vector<HostValue> args,
                              DiagnosticEngine& diagnostics, const RunOptions& options) {
  eval::RelaxInterpreter interpreter(module, diagnostics, options);
  Result<HostValue> result = interpreter.CallFunction(function, nullptr, std::move(args));
  if (!result.ok()) return interpreter.Report(function, result.TakeError());
  if (!IsWritten(*result))
    diagnostics.Warning(Location(function), "undefined-result", "the result has uninitialized elements");
  return result;
}

}  // namespace iropt
