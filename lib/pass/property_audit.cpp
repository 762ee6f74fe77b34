#include "iropt/pass/property_audit.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/pass/pass_info.h"

namespace iropt {

Status PropertyAudit::EnterPassContext() {
  properties_.clear();
  missing_.clear();
  last_ = {};
  return {};
}

// A context may see several modules and runs, which share names of functions.
void PropertyAudit::ForgetOthers(const Module& module) {
  std::erase_if(properties_, [&](const auto& item) {
    const ModuleEntry* now = module.Find(item.first);
    const ModuleEntry* then = last_.Find(item.first);
    return now == nullptr || then == nullptr || now->func != then->func;
  });
}

Status PropertyAudit::RunBeforePass(const Module& module, const PassInfo& info) {
  if (info.is_composite()) return {};
  ForgetOthers(module);
  missing_.clear();
  for (const EstablishedProperty& established : info.established_properties) {
    if (established.given == nullptr) continue;
    for (const ModuleEntry& entry : module.functions()) {
      const auto* func = As<PrimFunc>(entry.func);
      if (func != nullptr && FindCounterexample(*func, {established.given})) {
        missing_[std::string(entry.var->name)].push_back(established.given);
      }
    }
  }
  return {};
}

// Functions that the pass skips keep what they have.
Status PropertyAudit::RunAfterFunction(const GlobalVar& name, const BaseFunc&, const PassInfo& info,
                                       PassOutcome outcome) {
  if (info.kind == PassKind::PrimFunc && outcome != PassOutcome::Failed) Update(name.name, info);
  return {};
}

Status PropertyAudit::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  if (info.is_composite() || outcome == PassOutcome::Failed) return {};
  last_ = module;
  bool ok = true;
  for (const ModuleEntry& entry : module.functions()) {
    const auto* func = As<PrimFunc>(entry.func);
    if (func == nullptr) continue;
    if (info.kind == PassKind::Module) Update(entry.var->name, info);
    ok &= Check(entry.var->name, *func, info);
  }
  std::erase_if(properties_, [&](const auto& item) { return module.Find(item.first) == nullptr; });
  if (ok) return {};
  return Failure{ErrorCode::Rejected};
}

const FunctionProperties& PropertyAudit::PropertiesOf(std::string_view function) const {
  static const FunctionProperties none;
  const auto at = properties_.find(function);
  return at == properties_.end() ? none : at->second;
}

void PropertyAudit::Update(std::string_view name, const PassInfo& info) {
  if (info.broken_properties.empty() && info.established_properties.empty()) return;
  FunctionProperties& held = properties_[std::string(name)];
  std::erase_if(held, [&](const FunctionProperty* property) {
    return std::ranges::find(info.broken_properties, property) != info.broken_properties.end();
  });
  const auto missing = missing_.find(name);
  for (const EstablishedProperty& established : info.established_properties) {
    if (!established.config.empty() && !is_set_(established.config)) continue;
    if (missing != missing_.end() && std::ranges::find(missing->second, established.given) != missing->second.end()) {
      continue;
    }
    if (std::ranges::find(held, established.property) == held.end()) held.push_back(established.property);
  }
}

bool PropertyAudit::Check(std::string_view name, const PrimFunc& func, const PassInfo& info) {
  const std::optional<Counterexample> found = FindCounterexample(func, PropertiesOf(name));
  if (!found) return true;
  const auto& own = info.established_properties;
  const bool is_own = std::ranges::find(own, found->property, &EstablishedProperty::property) != own.end();
  diagnostics_.Error(
      found->LocationIn(func), "broken-property",
      fmt::format("pass '{}' {} the property '{}' of function '{}': {}", info.name,
                  is_own ? "does not establish" : "breaks", found->property->name, name, found->property->summary));
  return false;
}

}  // namespace iropt
