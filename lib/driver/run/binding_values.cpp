#include "binding_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "compare_outputs.h"
#include "iropt/execution/outputs.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/attr_keys.h"
#include "iropt/ir/element.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/support/identifier.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

constexpr size_t kMostNotes = 20;

// The tensor, or a copy if its memory may be written again.
Tensor Keep(const Tensor& tensor) {
  if (!tensor->storage()) return tensor;
  const std::shared_ptr<NDArray> copy = NDArray::Make(tensor->dtype(), tensor->shape());
  std::memcpy(copy->mutable_data(), tensor->data(), tensor->num_bytes());
  return copy;
}

// The bindings of a function, and for each one the variables that its value uses.
struct BindingUses : WalkHandler {
  struct Entry {
    const Binding* binding;
    std::vector<const Var*> uses;
  };

  void OnBinding(const Binding& binding) {
    by_var.try_emplace(binding.var, entries.size());
    open.push_back(entries.size());
    entries.push_back({&binding, {}});
  }
  // The definition comes after the value, and those of its nested bindings come before it.
  void OnDefine(const Var* var) {
    if (!open.empty() && entries[open.back()].binding->var == var) open.pop_back();
  }
  void OnUse(const Var* var) {
    if (open.empty()) return;
    std::vector<const Var*>& uses = entries[open.back()].uses;
    if (std::ranges::find(uses, var) == uses.end()) uses.push_back(var);
  }
  const Entry* Find(const Var* var) const {
    const auto* found = by_var.Find(var);
    return found ? &entries[*found] : nullptr;
  }

  std::vector<Entry> entries;
  std::vector<size_t> open;  // whose values are walked over
  LookupMap<const Var*, size_t> by_var;
};

// Returns whether it is one of the names that builders give: "lv", "lv1", "gv", ...
bool IsMadeUp(std::string_view name) {
  const bool is_short = name.starts_with("lv") || name.starts_with("gv");
  return is_short && name.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

std::string DescribeValue(const Binding& binding) {
  if (binding.kind == NodeKind::kMatchCast) return "R.match_cast";
  const Expr* value = ValueOf(&binding);
  switch (value->kind) {
    case NodeKind::kCall: return CalleeName(*To<Call>(value));
    case NodeKind::kTuple: return "a tuple";
    case NodeKind::kTupleGetItem: return fmt::format("item {}", To<TupleGetItem>(value)->index);
    case NodeKind::kIf: return "a conditional";
    case NodeKind::kFunction: return "a local function";
    case NodeKind::kConstant: return "a constant";
    default: return "the value";
  }
}

}  // namespace

// ---- Names

BindingNames::BindingNames(const Module& module, const Function& entry, const ValueNames& own)
    : entry_(entry), own_(own), is_of_model_(module.attrs()->Find(attr::kOnnxModel) != nullptr) {
  for (const ModuleEntry& function : module.functions()) {
    const auto* relax = As<Function>(function.func);
    if (!relax) continue;
    prefixes_[relax] = relax == &entry ? std::string() : fmt::format("{}:", function.var->name);
    AddLocalFunctions(*relax, std::string(function.var->name));
  }
}

void BindingNames::AddLocalFunctions(const Function& function, const std::string& name) {
  struct Handler : WalkHandler {
    explicit Handler(const Function& root) : outer{&root} {}
    void OnBinding(const Binding& binding) {
      if (const auto* local = As<Function>(ValueOf(&binding))) found.emplace_back(local, binding.var);
    }
    bool EnterFunction(const Function& f) { return &f == outer; }
    const Function* outer;
    std::vector<std::pair<const Function*, const Var*>> found;
  };
  Handler handler(function);
  Walk(function, handler);
  for (const auto& [local, var] : handler.found) {
    const std::string local_name = fmt::format("{}.{}", name, var->name());
    prefixes_[local] = local_name + ":";
    WithStack([&, f = local] { AddLocalFunctions(*f, local_name); });
  }
}

BindingNames::Name BindingNames::Next(const Function& function, const Var& var) {
  const auto* prefix = prefixes_.Find(&function);
  std::string text = fmt::format("{}{}", prefix ? *prefix : "", var.name());
  const size_t count = ++counts_[text];
  const std::string suffix = count > 1 ? fmt::format("#{}", count) : std::string();
  text += suffix;
  const auto* own = &function == &entry_ ? own_.Find(std::string(var.name())) : nullptr;
  return {text, own ? *own + suffix : text, own == nullptr && is_of_model_ && IsMadeUp(var.name())};
}

// ---- Recording

void ValueRecorder::OnBinding(const Function& function, const Var& var, const HostValue& value) {
  const BindingNames::Name name = names_.Next(function, var);
  if (!IsWritten(value)) return;
  ForEachNamedTensor(value, name.own_text, [&](const std::string& path, const Tensor& tensor) {
    if (IsElementType(tensor->dtype())) values_.push_back({path, Keep(tensor)});
  });
}

// ---- Comparison

ValueChecker::ValueChecker(BindingNames names, const std::vector<NamedTensor>& expected, const ProgramOptions& options)
    : names_(std::move(names)), options_(options) {
  for (const NamedTensor& named : expected) {
    expected_.try_emplace(named.name, named.tensor);
    // Names of a model that are not identifiers.
    const std::string identifier = IdentifierFor(named.name);
    if (identifier != named.name) by_identifier_.try_emplace(identifier, named.tensor);
  }
}

const Tensor* ValueChecker::Expected(const BindingNames::Name& name, std::string_view path) const {
  const std::string of_variable = fmt::format("{}{}", name.text, path);
  if (const Tensor* tensor = expected_.Find(fmt::format("{}{}", name.own_text, path))) return tensor;
  if (const Tensor* tensor = expected_.Find(of_variable)) return tensor;
  return by_identifier_.Find(of_variable);
}

ValueChecker::State ValueChecker::Compare(const BindingNames::Name& name, const HostValue& value) {
  bool has_tensor = false;
  bool is_compared = false;
  ForEachNamedTensor(value, {}, [&](const std::string& path, const Tensor& tensor) {
    has_tensor = true;
    const Tensor* wanted = name.is_made_up ? nullptr : Expected(name, path);
    if (!wanted || !difference_.message.empty()) return;
    is_compared = true;
    ++num_tensors_;
    num_elements_ += tensor->num_elements();
    const Tensor got = WithDimension(tensor);
    const Tensor want = WithDimension(*wanted);
    const Comparison comparison = CompareTensors(*got, *want, ToleranceFor(*want, RunPrecision(), options_.tolerance));
    if (!comparison.ok())
      difference_.message = fmt::format("{}{}: {}", name.own_text, path, DescribeComparison(comparison, *got, *want));
  });
  num_values_ += has_tensor ? 1 : 0;
  num_compared_ += is_compared ? 1 : 0;
  if (!has_tensor) return State::NoTensor;
  return is_compared ? State::Equal : State::NotInFile;
}

void ValueChecker::OnBinding(const Function& function, const Var& var, const HostValue& value) {
  if (difference_.var) return;
  const BindingNames::Name name = names_.Next(function, var);
  const State state = IsWritten(value) ? Compare(name, value) : State::NoTensor;
  states_[&var] = state;
  if (difference_.message.empty()) return;
  difference_.function = &function;
  difference_.var = &var;
}

void ValueChecker::ReportDifference(CompilerInstance& compiler) const {
  BindingUses bindings;
  Walk(*difference_.function, bindings);
  const auto describe = [&](const Var* var) {
    const auto* state = states_.Find(var);
    if (!bindings.Find(var)) return fmt::format("'{}' (an input)", var->name());
    if (!state || *state == State::NoTensor) return fmt::format("'{}'", var->name());
    return fmt::format("'{}' ({})", var->name(), *state == State::Equal ? "equal" : "not in the file");
  };
  std::vector<const Var*> chain = {difference_.var};
  const BindingUses::Entry* first = bindings.Find(difference_.var);
  DiagnosticBuilder error = compiler.diagnostics().Error(first ? Location(*first->binding) : SourceSpan(),
                                                         "value-mismatch", difference_.message);
  for (size_t i = 0; i < chain.size(); ++i) {
    const BindingUses::Entry* entry = bindings.Find(chain[i]);
    if (!entry) continue;
    if (i == kMostNotes) {
      error.Note(
          fmt::format("further operators are left out: values between the equal ones and '{}' are not in the file",
                      difference_.var->name()));
      break;
    }
    std::vector<std::string> operands;
    for (const Var* use : entry->uses) {
      operands.push_back(describe(use));
      const auto* state = states_.Find(use);
      const bool is_equal = state && *state == State::Equal;
      if (!is_equal && std::ranges::find(chain, use) == chain.end()) chain.push_back(use);
    }
    error.Note(Location(*entry->binding),
               fmt::format("'{}' is {}{}{}", chain[i]->name(), DescribeValue(*entry->binding),
                           operands.empty() ? "" : " of ", fmt::join(operands, ", ")));
  }
}

Status ValueChecker::Report(CompilerInstance& compiler) const {
  if (difference_.var) {
    ReportDifference(compiler);
    return Failure{ErrorCode::SemanticCheck};
  }
  const std::string& file = *options_.check_values;
  if (num_elements_ == 0)
    return TellNotCompared(fmt::format("nothing is compared with {}: it has no values of these bindings", file),
                           options_, compiler);
  compiler.diagnostics().Remark({}, "values-compared",
                                fmt::format("{} of {} bindings are equal to those of {}, which has {} further tensors",
                                            num_compared_, num_values_, file, expected_.size() - num_tensors_));
  return {};
}

}  // namespace iropt
