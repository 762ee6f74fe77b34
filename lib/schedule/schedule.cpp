#include "iropt/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "index_map_tools.h"
#include "iropt/ir/clone.h"
#include "iropt/support/check.h"
#include "iropt/support/lookup.h"
#include "primitive_call.h"
#include "stmt_tools.h"

namespace iropt::schedule {

namespace {

// Names of primitives in newer versions of TVM.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOtherNames = {
    {{"GetSBlock", "GetBlock"}, {"get_sblock", "get_block"}}};

std::vector<Primitive> MakePrimitives() {
#define IROPT_PARAM(name, kind, role, default_value)                                                                   \
  Param { #name, ParamKind::k##kind, ParamRole::k##role, default_value }
#define IROPT_PRIMITIVE(Name, Python, Results, Effect, Summary, ...)                                                   \
  {#Name, Python, ResultKind::k##Results, std::string_view(#Effect) == "Pure", Summary, {__VA_ARGS__}, Apply##Name},
  return {
#include "iropt/schedule/primitives.def"
  };
#undef IROPT_PARAM
}

void Rename(Value& value, const LookupMap<std::string, std::string>& names) {
  if (auto* name = std::get_if<Value::Name>(&value.data)) {
    if (const auto* found = names.Find(name->text)) name->text = *found;
  } else if (auto* list = std::get_if<Value::List>(&value.data)) {
    for (Value& item : *list) Rename(item, names);
  } else if (auto* dict = std::get_if<Value::Dict>(&value.data)) {
    for (Value::Entry& entry : *dict) Rename(entry.value, names);
  }
}

}  // namespace

std::span<const Primitive> Primitives() {
  static const std::vector<Primitive> primitives = MakePrimitives();
  return primitives;
}

const Primitive* FindPrimitive(std::string_view name) {
  for (const auto& [other, known] : kOtherNames) {
    if (name == other) name = known;
  }
  for (const Primitive& primitive : Primitives()) {
    if (primitive.name == name || primitive.python == name) return &primitive;
  }
  return nullptr;
}

std::optional<int64_t> Value::AsInt() const {
  if (const auto* integer = As<int64_t>()) return *integer;
  if (const auto* boolean = As<bool>()) return *boolean;
  return std::nullopt;
}

Schedule::Schedule(Module module, IntrinsicTable* intrinsics, std::string func_name)
    : module_(std::move(module)), intrinsics_(intrinsics), func_name_(std::move(func_name)) {}

Schedule::~Schedule() = default;

State* Schedule::StateOf(std::string_view function) {
  const PrimFunc* func = OriginalOf(function);
  if (!func || !State::CanSchedule(*func)) return nullptr;
  const ModuleEntry* entry = module_.Find(function);
  const auto index = static_cast<size_t>(module_.IndexOf(entry->var));
  for (const Function& known : functions_) {
    if (known.index == index) return known.state.get();
  }
  functions_.push_back({index, std::make_unique<State>(module_, func, entry->storage)});
  return functions_.back().state.get();
}

std::optional<TensorIntrinsic> Schedule::FindIntrinsic(std::string_view name) const {
  if (!intrinsics_) return std::nullopt;
  return intrinsics_->Find(name, module_.text_version().value_or(TextVersion::kV0_18));
}

const Variable* Schedule::Find(std::string_view name) const { return variables_.Find(std::string(name)); }

size_t Schedule::NextRandom(size_t count) {
  // The generator of TVM's schedules.
  constexpr uint64_t kMultiplier = 48271;
  constexpr uint64_t kModulus = 2147483647;
  random_ = random_ * kMultiplier % kModulus;
  return static_cast<size_t>(random_ % count);
}

Status Schedule::Apply(const Instruction& instruction) {
  IROPT_ASSIGN_OR_RETURN(const Outcome outcome, RunCall(instruction));
  const size_t count = outcome.results.size();
  const auto refuse = [&](std::string message) {
    refusal_ = {std::move(message), {}};
    return Failure{ErrorCode::PassFailed};
  };
  Instruction named = instruction;
  named.picked = std::nullopt;
  if (instruction.results.empty() || instruction.picked) named.results = NewNames(outcome.results);
  if (instruction.picked) {
    const int64_t index = *instruction.picked + (*instruction.picked < 0 ? static_cast<int64_t>(count) : 0);
    if (index < 0 || index >= static_cast<int64_t>(count))
      return refuse(fmt::format("{} gives {} results, none with the index {}", instruction.primitive->python, count,
                                *instruction.picked));
    named.results[static_cast<size_t>(index)] = instruction.results[0];
  } else if (count != named.results.size()) {
    return refuse(
        fmt::format("{} gives {} results, not {}", instruction.primitive->python, count, named.results.size()));
  }
  Note(std::move(named), outcome);
  return {};
}

std::vector<std::string> Schedule::NewNames(const std::vector<Variable>& results) {
  std::vector<std::string> names;
  for (const Variable& result : results) {
    const char prefix = !result.ref ? 'v' : result.ref->is_block() ? 'b' : 'l';
    std::string name;
    do {
      name = fmt::format("{}{}", prefix, num_names_++);
    } while (Find(name));  // traces have names of their own
    names.push_back(std::move(name));
  }
  return names;
}

Result<std::vector<std::string>> Schedule::Apply(const Primitive& primitive, std::vector<Value> args,
                                                 std::optional<Value> decision) {
  Instruction instruction{&primitive, std::move(args), {}, std::move(decision)};
  IROPT_ASSIGN_OR_RETURN(const Outcome outcome, RunCall(instruction));
  instruction.results = NewNames(outcome.results);
  Note(instruction, outcome);
  return std::move(instruction.results);
}

void Schedule::Note(Instruction instruction, const Outcome& outcome) {
  for (size_t i = 0; i < outcome.results.size(); ++i)
    variables_.insert_or_assign(instruction.results[i], outcome.results[i]);
  if (outcome.decision) instruction.decision = outcome.decision;
  trace_.instructions.push_back(std::move(instruction));
}

Status Schedule::Replay(const Trace& trace) {
  LookupMap<std::string, std::string> names;
  for (const Instruction& instruction : trace.instructions) {
    std::vector<Value> args = instruction.args;
    for (Value& arg : args) Rename(arg, names);
    IROPT_ASSIGN_OR_RETURN(const std::vector<std::string> results,
                           Apply(*instruction.primitive, std::move(args), instruction.decision));
    for (size_t i = 0; i < std::min(results.size(), instruction.results.size()); ++i)
      names.insert_or_assign(instruction.results[i], results[i]);
  }
  return {};
}

Result<Schedule::Outcome> Schedule::RunCall(const Instruction& instruction) {
  refusal_ = {};
  PrimitiveCall call(*this, instruction);
  IROPT_RETURN_IF_ERROR(call.Check());
  const Status status = instruction.primitive->apply(call);
  if (status.ok()) return Outcome{call.results(), call.decided()};
  for (const Function& function : functions_) {
    if (refusal_.message.empty()) refusal_ = function.state->TakeRefusal();
  }
  return Failure{ErrorCode::PassFailed};
}

const ModuleEntry& Schedule::EntryOf(const State& state) const {
  const auto found =
      std::ranges::find_if(functions_, [&](const Function& function) { return function.state.get() == &state; });
  IROPT_CHECK(found != functions_.end(), "a state of another schedule");
  return module_.functions()[found->index];
}

const PrimFunc* Schedule::OriginalOf(std::string_view function) const {
  const ModuleEntry* entry = module_.Find(function);
  return entry ? As<PrimFunc>(entry->func) : nullptr;
}

void Schedule::Restart() {
  functions_.clear();
  variables_.clear();
  trace_ = {};
  num_names_ = 0;
  refusal_ = {};
}

Module Schedule::Snapshot() const {
  Module module = module_;
  for (const Function& function : functions_) {
    const PrimFunc* func = function.state->func();
    if (func == module_.functions()[function.index].func) continue;
    Workspace workspace(module);
    const BaseFunc* copy = CloneFunction(func, workspace);
    module.SetAt(function.index, copy, workspace.Finish());
  }
  return module;
}

Module Schedule::Finish() {
  for (Function& function : functions_) {
    const PrimFunc* func = function.state->func();
    if (func == module_.functions()[function.index].func) continue;
    module_.SetAt(function.index, func, function.state->workspace().Finish());
  }
  return std::move(module_);
}

// ---- Arguments

Failure PrimitiveCall::Refuse(std::string message, std::vector<const Node*> parts) {
  schedule_.refusal_ = {std::move(message), std::move(parts)};
  return Failure{ErrorCode::PassFailed};
}

const Value& PrimitiveCall::Get(std::string_view name) const {
  const std::vector<Param>& params = instruction_.primitive->params;
  const auto param = std::ranges::find(params, name, &Param::name);
  IROPT_CHECK(param != params.end(), "primitive '{}' has no parameter '{}'", instruction_.primitive->name, name);
  return instruction_.args[static_cast<size_t>(param - params.begin())];
}

std::optional<int64_t> PrimitiveCall::GetMark(std::string_view param) const {
  const Variable* variable = schedule_.Find(Get(param).As<Value::Name>()->text);
  return variable->ref ? std::nullopt : std::optional(variable->value);
}

Ref* PrimitiveCall::GetRef(std::string_view param) const {
  return schedule_.Find(Get(param).As<Value::Name>()->text)->ref;
}

std::vector<Ref*> PrimitiveCall::GetRefs(std::string_view param) const {
  const Value& value = Get(param);
  if (const auto* name = value.As<Value::Name>()) return {schedule_.Find(name->text)->ref};
  std::vector<Ref*> refs;
  for (const Value& item : *value.As<Value::List>()) refs.push_back(schedule_.Find(item.As<Value::Name>()->text)->ref);
  return refs;
}

int64_t PrimitiveCall::GetInt(std::string_view param) const { return *NumberOf(Get(param)); }

const std::string& PrimitiveCall::GetString(std::string_view param) const { return *Get(param).As<std::string>(); }

std::vector<int64_t> PrimitiveCall::GetInts(std::string_view param) const {
  std::vector<int64_t> numbers;
  for (const Value& item : *Get(param).As<Value::List>()) numbers.push_back(*NumberOf(item));
  return numbers;
}

const IndexMapAttr* PrimitiveCall::GetIndexMap(std::string_view param) const {
  const auto* map = Get(param).As<const IndexMapAttr*>();
  if (!map) return nullptr;
  LookupMap<const tir::Var*, const PrimExpr*> values;
  for (const tir::Var* var : FreeVarsOf(**map)) values[var] = ValueOf(*var);
  return values.empty() ? *map : WithFreeVars(**map, values, state_->workspace());
}

const PrimExpr* PrimitiveCall::ValueOf(const tir::Var& var) const {
  const Variable* variable = schedule_.Find(var.name);
  if (variable) return variable->ref ? nullptr : state_->make().Const(variable->value, var.dtype);
  const tir::Var* found = nullptr;
  const auto consider = [&](const tir::Var* candidate) {
    if (candidate->name != var.name || candidate == found || candidate->dtype.is_handle()) return true;
    const bool is_only = !found;
    found = candidate;
    return is_only;
  };
  const PrimFunc& func = *state_->func();
  for (const tir::Var* param : func.params) {
    if (!consider(param)) return nullptr;
  }
  for (const tir::Buffer* buffer : func.param_buffers) {
    if (!buffer) continue;
    for (const PrimExpr* dim : buffer->shape) {
      if (!std::ranges::all_of(VarsOf(dim), consider)) return nullptr;
    }
  }
  return found;
}

std::optional<int64_t> PrimitiveCall::NumberOf(const Value& value) const {
  if (const auto* name = value.As<Value::Name>()) {
    const Variable* variable = schedule_.Find(name->text);
    if (!variable || variable->state) return std::nullopt;
    return variable->value;
  }
  return value.AsInt();
}

Status PrimitiveCall::Check() {
  const std::vector<Param>& params = instruction_.primitive->params;
  IROPT_CHECK(params.size() == instruction_.args.size(), "an instruction with a wrong number of arguments");
  for (size_t i = 0; i < params.size(); ++i) IROPT_RETURN_IF_ERROR(CheckArg(params[i], instruction_.args[i]));
  return {};
}

Status PrimitiveCall::CheckRef(const Param& param, const Value& value, Wanted wanted) {
  const auto* name = value.As<Value::Name>();
  const Variable* variable = name ? schedule_.Find(name->text) : nullptr;
  const bool is_mark =
      variable && !variable->ref && (variable->value == kComputeAtRoot || variable->value == kComputeInline);
  if (is_mark && wanted == Wanted::kLoopOrMark) return {};
  const auto is_of_another_kind = [&] {
    return Refuse(fmt::format("the argument '{}' of {} must be {}", param.name, instruction_.primitive->python,
                              wanted == Wanted::kBlock         ? "a block"
                              : wanted == Wanted::kBlockOrLoop ? "a block or loop"
                                                               : "a loop"));
  };
  if (name && !variable) return Refuse(fmt::format("the random variable '{}' is not defined", name->text));
  if (!variable || !variable->ref) return is_of_another_kind();
  if (!variable->ref->stmt)
    return Refuse(fmt::format("'{}' no longer exists: an earlier primitive has removed it", name->text));
  if (wanted != Wanted::kBlockOrLoop && variable->ref->is_block() != (wanted == Wanted::kBlock))
    return is_of_another_kind();
  if (state_ && state_ != variable->state)
    return Refuse(fmt::format("the blocks and loops of {} are of different functions", instruction_.primitive->python));
  state_ = variable->state;
  return {};
}

Status PrimitiveCall::CheckIndexMap(const Param& param, const Value& value) {
  const auto* map = value.As<const IndexMapAttr*>();
  if (value.is_none() && param.kind == ParamKind::kOptionalIndexMap) return {};
  if (!map || !state_)
    return Refuse(
        fmt::format("the argument '{}' of {} must be an index map", param.name, instruction_.primitive->python));
  for (const tir::Var* var : FreeVarsOf(**map)) {
    if (ValueOf(*var)) continue;
    return Refuse(
        fmt::format("the index map {} uses '{}', which is neither a number of the trace nor one variable of "
                    "the function",
                    ToPython(**map), var->name));
  }
  return {};
}

Status PrimitiveCall::CheckArg(const Param& param, const Value& value) {
  const auto fail = [&](std::string_view wanted) -> Status {
    return Refuse(
        fmt::format("the argument '{}' of {} must be {}", param.name, instruction_.primitive->python, wanted));
  };
  const auto each = [&](std::string_view wanted, auto&& check) -> Status {
    const auto* list = value.As<Value::List>();
    if (!list) return fail(wanted);
    for (const Value& item : *list) IROPT_RETURN_IF_ERROR(check(item));
    return {};
  };
  const auto number = [&](const Value& item) { return NumberOf(item) ? Status{} : fail("a list of integers"); };
  switch (param.kind) {
    case ParamKind::kBlock: return CheckRef(param, value, Wanted::kBlock);
    case ParamKind::kLoop: return CheckRef(param, value, Wanted::kLoop);
    case ParamKind::kLoopOrMark: return CheckRef(param, value, Wanted::kLoopOrMark);
    case ParamKind::kBlockOrLoop: return CheckRef(param, value, Wanted::kBlockOrLoop);
    case ParamKind::kLoops: return each("loops", [&](const Value& v) { return CheckRef(param, v, Wanted::kLoop); });
    case ParamKind::kBlocks:
      return each("a list of blocks", [&](const Value& v) { return CheckRef(param, v, Wanted::kBlock); });
    case ParamKind::kBlocksOrLoop:
      if (value.As<Value::Name>()) return CheckRef(param, value, Wanted::kBlockOrLoop);
      return each("a loop or a list of blocks", [&](const Value& v) { return CheckRef(param, v, Wanted::kBlock); });
    case ParamKind::kFactors:
      return each("a list of integers", [&](const Value& v) { return v.is_none() ? Status{} : number(v); });
    case ParamKind::kIntList: return each("a list of integers", number);
    case ParamKind::kFloatList: return each("a list of numbers", [](const Value&) { return Status{}; });
    case ParamKind::kInt:
    case ParamKind::kBool: return NumberOf(value) ? Status{} : fail("an integer");
    case ParamKind::kSide: {
      const auto side = NumberOf(value);
      return side && (*side == 0 || *side == 1) ? Status{}
                                                : fail("0 for a buffer that is read, or 1 for one that is written");
    }
    case ParamKind::kString: return value.As<std::string>() ? Status{} : fail("a string");
    case ParamKind::kIndexMap:
    case ParamKind::kOptionalIndexMap: return CheckIndexMap(param, value);
    case ParamKind::kAnnotation: return {};
  }
  return {};
}

}  // namespace iropt::schedule
