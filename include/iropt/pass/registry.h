// The passes and configuration options that can be asked for by name.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/pass/options.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_info.h"

namespace iropt {

using PassFactory = Pass (*)(const PassOptions& options);

// A row of passes.def.
struct PassRow {
  PassInfo info;
  std::vector<OptionSpec> options;
  std::string summary;
  PassFactory create;
};

class PassRegistry {
 public:
  PassRegistry();

  // The registry of the program. Fill it before threads use it.
  static PassRegistry& Global();

  // Refuses a name that is taken, and a row that closes a circle of requirements.
  Status Add(PassRow row);
  Status AddConfig(OptionSpec spec);

  // In the order of their names.
  const std::map<std::string, PassRow, std::less<>>& passes() const { return passes_; }
  const std::map<std::string, OptionSpec, std::less<>>& configs() const { return configs_; }
  const PassRow* Find(std::string_view name) const;
  const OptionSpec* FindConfig(std::string_view key) const;

  // A pass by name. Reports an unknown name, unknown options and values of a wrong type. `name_span` is where it was
  // named.
  Result<Pass> Create(std::string_view name, Value::Dict options, DiagnosticEngine& diagnostics,
                      SourceSpan name_span = {}) const;
  // All passes that must run before the named one, in that order, each once. Fails where one is not registered.
  Result<std::vector<const PassRow*>> RequiredBy(const PassInfo& info) const;

  // The passes of `default<O0>` to `default<O4>`, in order; each level runs those that it enables.
  std::span<const std::string> default_pipeline() const { return default_pipeline_; }
  void set_default_pipeline(std::vector<std::string> names) { default_pipeline_ = std::move(names); }

 private:
  std::map<std::string, PassRow, std::less<>> passes_;
  std::map<std::string, OptionSpec, std::less<>> configs_;
  std::vector<std::string> default_pipeline_;
};

// Reports that there is no `name`, which is what `message` says, and which of the names that there are is near.
void ReportUnknownName(std::string message, std::string_view name, std::span<const std::string_view> known,
                       std::string_view kind, SourceSpan span, DiagnosticEngine& diagnostics);

}  // namespace iropt
