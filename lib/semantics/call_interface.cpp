#include "call_interface.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/tir/expr.h"

namespace iropt {

namespace {

// The end of the names of transform functions.
constexpr std::string_view kTransformSuffix = "transform_params";

bool Declares(const PassInfo& pass, PassChange change) {
  return std::ranges::find(pass.changes, change) != pass.changes.end();
}

std::string_view SymbolOf(const ModuleEntry& entry) { return entry.func->StringAttr(attr::kGlobalSymbol); }

// The function after a pass: that of the same symbol, which passes may give another name, or else of the same name.
const ModuleEntry* FindAfter(const ModuleEntry& old, const PassInfo& pass, const Module& before, const Module& after) {
  const std::string_view symbol = SymbolOf(old);
  const ModuleEntry* same_name = after.Find(old.var);
  if (same_name && SymbolOf(*same_name) == symbol) return same_name;
  for (const ModuleEntry& entry : after.functions()) {
    if (!symbol.empty() && SymbolOf(entry) == symbol) return &entry;
  }
  if (!Declares(pass, PassChange::Symbols)) return nullptr;
  if (same_name) return same_name;
  const auto renamed = std::ranges::find_if(after.functions(), [&](const ModuleEntry& entry) {
    return entry.var->name.ends_with(old.var->name) && !before.Find(entry.var);
  });
  return renamed == after.functions().end() ? nullptr : &*renamed;
}

std::vector<std::string_view> ParamNames(const Entry& entry) {
  std::vector<std::string_view> names;
  if (!entry.relax()) return names;
  for (const Var* param : entry.relax()->params) names.push_back(param->name());
  return names;
}

size_t NumParams(const Entry& entry) {
  return entry.relax() ? entry.relax()->params.size() : entry.prim()->params.size();
}

// The sources of the inputs that are parts of the parameter.
std::vector<InputSource> SourcesOf(const Entry& entry, const std::vector<InputSource>& sources, size_t param) {
  std::vector<InputSource> found;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (entry.inputs()[i].param == param) found.push_back(sources[i]);
  }
  return found;
}

// The number of parameters before the weights. Without the attribute, callbacks treat all as weights or as inputs.
size_t NumInputs(const Entry& entry, size_t otherwise) {
  const auto* number = entry.relax() ? As<IntAttr>(entry.function().attrs->Find(attr::kNumInput)) : nullptr;
  return number && number->value >= 0 ? static_cast<size_t>(number->value) : otherwise;
}

bool SameDim(const PrimExpr* a, const PrimExpr* b) {
  const auto* x = As<tir::IntImm>(a);
  const auto* y = As<tir::IntImm>(b);
  return x && y ? x->value == y->value : !x && !y;
}

// Dimensions that are expressions are not compared: passes may rename variables.
bool SameDims(const EntryInput& a, const EntryInput& b) {
  return a.ndim == b.ndim && a.has_dims == b.has_dims && std::ranges::equal(a.dims, b.dims, SameDim);
}

}  // namespace

// One pass.
struct CallInterface::Step {
  const PassInfo& pass;
  const Module& module_before;
  const Module& module_after;
  Entry before;
  Entry after;
};

CallInterface::CallInterface(const Entry& entry) : var_(&entry.var()) {
  for (size_t i = 0; i < entry.inputs().size(); ++i) {
    sources_.push_back({InputSource::Kind::kInput, i});
    written_.push_back(entry.inputs()[i].is_written);
  }
}

// A pass may remove all stores to a buffer whose values do not change.
Entry CallInterface::EntryIn(const Module& module) const {
  Entry entry = Entry::Of(*module.Find(var_));
  if (!entry.prim()) return entry;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].kind == InputSource::Kind::kInput && written_[sources_[i].index]) entry.AddOutput(i);
  }
  return entry;
}

InterfaceChange CallInterface::Follow(const PassInfo& pass, const Module& before, const Module& after) {
  const ModuleEntry& old = *before.Find(var_);
  const ModuleEntry* found = FindAfter(old, pass, before, after);
  if (!found || Is<ExternFunc>(found->func)) return InterfaceChange::Wrong("the function was removed from the module");
  if (found->func->kind != old.func->kind) return InterfaceChange::Wrong("the function is now of another kind");
  var_ = found->var;
  const Step step{pass, before, after, Entry::Of(old), Entry::Of(*found)};
  InterfaceChange change = FollowTransform(step);
  if (change.kind != InterfaceChange::Kind::kKnown || found->func == old.func) return change;
  return FollowInputs(step);
}

InterfaceChange CallInterface::FollowTransform(const Step& step) {
  if (!transform_) return {};
  auto transform = std::make_shared<Transform>(*transform_);
  const ModuleEntry* extended = step.module_after.Find(&transform->interface.var());
  if (Declares(step.pass, PassChange::LiftedWeights) && extended && Is<Function>(extended->func)) {
    // It still takes the weights that the function had at first.
    transform->interface = CallInterface(Entry::Of(*extended));
    transform_ = std::move(transform);
    return {};
  }
  InterfaceChange change = transform->interface.Follow(step.pass, step.module_before, step.module_after);
  transform_ = std::move(transform);
  return change;
}

InterfaceChange CallInterface::FollowInputs(const Step& step) {
  if (Declares(step.pass, PassChange::CallingConv)) {
    return InterfaceChange::NotComparable("the calling convention is another one");
  }
  InterfaceChange same = FollowSameInputs(step);
  if (same.kind == InterfaceChange::Kind::kKnown && !Declares(step.pass, PassChange::LiftedWeights)) return same;
  if (Declares(step.pass, PassChange::BoundParams)) return FollowBoundParams(step);
  if (Declares(step.pass, PassChange::LiftedWeights)) return FollowLiftedWeights(step);
  if (Declares(step.pass, PassChange::InputCallback)) return FollowInputCallback(step), InterfaceChange();
  if (Declares(step.pass, PassChange::OutputCallback)) return FollowOutputCallback(step), InterfaceChange();
  return same;
}

// Requires that the function takes the same inputs in the same order.
InterfaceChange CallInterface::FollowSameInputs(const Step& step) const {
  const std::vector<EntryInput>& before = step.before.inputs();
  const std::vector<EntryInput>& after = step.after.inputs();
  const bool may_bundle = Declares(step.pass, PassChange::BundledParams);
  const bool may_retype = Declares(step.pass, PassChange::ParamTypes);
  if (before.size() != after.size() || (!may_bundle && NumParams(step.before) != NumParams(step.after))) {
    return InterfaceChange::Wrong(
        fmt::format("the function has {} parameters, and had {}", NumParams(step.after), NumParams(step.before)));
  }
  for (size_t i = 0; i < before.size(); ++i) {
    const EntryInput& a = before[i];
    const EntryInput& b = after[i];
    const auto differs = [&](InterfaceChange::Kind kind) {
      return InterfaceChange{
          kind, fmt::format("parameter '{}' was {}, and is {}", a.name, DescribeInput(a), DescribeInput(b))};
    };
    if (a.kind != b.kind || (!may_bundle && a.param != b.param)) return differs(InterfaceChange::Kind::kWrong);
    const bool is_narrower = a.dtype.is_floating() && b.dtype.is_floating() && b.dtype.bits < a.dtype.bits;
    const bool fits = a.dtype == b.dtype || (may_retype && (a.dtype.is_void() || b.dtype.is_void())) ||
                      (is_narrower && Declares(step.pass, PassChange::Precision));
    if (!fits) return differs(may_retype ? InterfaceChange::Kind::kNotComparable : InterfaceChange::Kind::kWrong);
    if (!may_retype && !SameDims(a, b)) return differs(InterfaceChange::Kind::kWrong);
  }
  return {};
}

// The parameters that are left keep their names and their order.
InterfaceChange CallInterface::FollowBoundParams(const Step& step) {
  const std::vector<BoundTensor> tensors =
      step.pass.bound_tensors ? step.pass.bound_tensors() : std::vector<BoundTensor>();
  const std::vector<std::string_view> before = ParamNames(step.before);
  const std::vector<std::string_view> after = ParamNames(step.after);
  std::vector<InputSource> left;
  size_t next = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const std::vector<InputSource> sources = SourcesOf(step.before, sources_, i);
    if (next < after.size() && before[i] == after[next]) {
      left.insert(left.end(), sources.begin(), sources.end());
      ++next;
      continue;
    }
    const auto tensor = std::ranges::find(tensors, before[i], &BoundTensor::param);
    if (tensor == tensors.end()) return InterfaceChange::Wrong(fmt::format("parameter '{}' is gone", before[i]));
    if (sources.size() != 1 || sources[0].kind != InputSource::Kind::kInput)
      return InterfaceChange::NotComparable(fmt::format("the value of parameter '{}' is computed", before[i]));
    bound_.emplace_back(sources[0].index, tensor->tensor);
  }
  if (next != after.size() || left.size() != step.after.inputs().size())
    return InterfaceChange::Wrong("the parameters that are left are not those of before");
  sources_ = std::move(left);
  return {};
}

// The function takes the results of the transform function instead of the weights.
InterfaceChange CallInterface::FollowLiftedWeights(const Step& step) {
  if (step.before.name().ends_with(kTransformSuffix))
    return InterfaceChange::NotComparable("it computes the weights that others now take");
  const size_t num_inputs = NumInputs(step.before, NumParams(step.before));
  const std::string own_name = fmt::format("{}_{}", step.before.name(), kTransformSuffix);
  const ModuleEntry* transform = step.module_after.Find(own_name);
  if (!transform) transform = step.module_after.Find(kTransformSuffix);
  if (!transform || !Is<Function>(transform->func)) return FollowSameInputs(step);
  const Entry entry = Entry::Of(*transform);
  std::vector<InputSource> weights;
  std::vector<InputSource> sources;
  for (size_t i = 0; i < sources_.size(); ++i)
    (step.before.inputs()[i].param < num_inputs ? sources : weights).push_back(sources_[i]);
  if (weights.empty()) return FollowSameInputs(step);
  const bool follows_own = transform_ && &transform_->interface.var() == transform->var;
  const bool is_new = !step.module_before.Find(transform->var);
  const auto takes_input = [](const InputSource& source) { return source.kind == InputSource::Kind::kInput; };
  if (!follows_own &&
      (!is_new || entry.inputs().size() != weights.size() || !std::ranges::all_of(weights, takes_input)))
    return InterfaceChange::NotComparable(
        fmt::format("'{}' computes its weights from others than those that it had", transform->var->name));
  if (!follows_own) transform_ = std::make_shared<Transform>(Transform{CallInterface(entry), std::move(weights)});
  for (size_t i = 0; sources.size() < step.after.inputs().size(); ++i)
    sources.push_back({InputSource::Kind::kTransformed, i});
  sources_ = std::move(sources);
  return {};
}

// The weights are gone, and a callback comes after the other parameters.
void CallInterface::FollowInputCallback(const Step& step) {
  const size_t num_inputs = NumInputs(step.before, 0);
  const ModuleEntry& old = *step.module_before.Find(&step.before.var());
  std::vector<InputSource> left;
  for (size_t i = 0; i < NumParams(step.before); ++i) {
    std::vector<InputSource> sources = SourcesOf(step.before, sources_, i);
    if (i < num_inputs) {
      left.insert(left.end(), sources.begin(), sources.end());
    } else {
      fetched_.push_back({step.before.relax()->params[i]->type, old.storage, std::move(sources)});
    }
  }
  left.push_back({InputSource::Kind::kGetInput, 0});
  sources_ = std::move(left);
}

// A callback comes between the inputs and the weights.
void CallInterface::FollowOutputCallback(const Step& step) {
  const size_t num_inputs = NumInputs(step.before, NumParams(step.before));
  const auto at =
      std::ranges::find_if(step.before.inputs(), [&](const EntryInput& input) { return input.param >= num_inputs; });
  sources_.insert(sources_.begin() + (at - step.before.inputs().begin()), {InputSource::Kind::kSetOutput, 0});
  sets_outputs_ = true;
}

}  // namespace iropt
