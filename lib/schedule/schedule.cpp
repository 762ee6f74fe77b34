#include "iropt/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/clone.h"
#include "iropt/support/check.h"
#include "iropt/support/lookup.h"

namespace iropt::schedule {

namespace {

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

Result<Names> Schedule::Apply(const Primitive& primitive, std::vector<Value> args, std::optional<Value> decision) {
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

}  // namespace iropt::schedule
