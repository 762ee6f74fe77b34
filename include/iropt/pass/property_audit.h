// The check of the properties of PrimFuncs as an instrument.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/property.h"

namespace iropt {

// Follows which properties each PrimFunc has, from the beginning of the context on, and checks after each pass that
// they hold. A function that is not the result of the last pass has none, because another run has begun. Reports a
// located error for each function in which one does not, and fails with the code Rejected. O(nodes * properties) for
// each pass.
class PropertyAudit : public PassInstrument {
 public:
  // `is_set` returns whether a configuration option is true; see EstablishedProperty.
  PropertyAudit(std::function<bool(std::string_view key)> is_set, DiagnosticEngine& diagnostics)
      : PassInstrument("property-audit"), is_set_(std::move(is_set)), diagnostics_(diagnostics) {}

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info,
                          PassOutcome outcome) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // The properties of the function of that name, in the order in which they were established.
  const FunctionProperties& PropertiesOf(std::string_view function) const;

 private:
  void ForgetOthers(const Module& module);
  void Update(std::string_view name, const PassInfo& info);
  bool Check(std::string_view name, const PrimFunc& func, const PassInfo& info);

  std::function<bool(std::string_view key)> is_set_;
  DiagnosticEngine& diagnostics_;
  std::map<std::string, FunctionProperties, std::less<>> properties_;  // by the names of functions
  std::map<std::string, FunctionProperties, std::less<>> missing_;     // that the pass needs to establish others
  Module last_;                                                        // the result of the last pass
};

}  // namespace iropt
