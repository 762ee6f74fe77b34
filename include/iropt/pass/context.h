// The settings under which passes run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/attr.h"
#include "iropt/pass/analysis.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/module_printer.h"
#include "iropt/pass/option_value.h"
#include "iropt/pass/pass_info.h"
#include "iropt/pass/printed_analysis.h"
#include "iropt/pass/text_reader.h"

namespace iropt {

class PassRegistry;

// The key of a configuration option or of a field of one, with values of type T: bool, int64_t, std::string, or
// OptionValue for any. Those of configs.def are generated (scripts/tables), and so are structs of its
// records.
template <class T>
struct ConfigKey {
  std::string_view name;
};

// The options that every registry has.
namespace config::testing {
// NOLINTBEGIN(readability-identifier-naming): named as their keys
inline constexpr ConfigKey<bool> verify_analyses{"testing.verify_analyses"};
inline constexpr ConfigKey<bool> immutable_module{"testing.immutable_module"};
// NOLINTEND(readability-identifier-naming)
}  // namespace config::testing

inline constexpr int kDefaultOptLevel = 2;

class PassContext {
 public:
  PassContext();
  PassContext(const PassContext&);
  PassContext(PassContext&&) noexcept;
  PassContext& operator=(const PassContext&);
  PassContext& operator=(PassContext&&) noexcept;
  ~PassContext();

  int opt_level = kDefaultOptLevel;
  std::vector<std::string> required_pass;  // run whatever their level is, and no instrument may veto them
  std::vector<std::string> disabled_pass;  // never run by a Sequential, even if required
  InstrumentList instruments;
  DiagnosticEngine* diagnostics = nullptr;   // without one, diagnostics of passes become part of the error of the run
  const PassRegistry* registry = nullptr;    // for required passes; null stands for PassRegistry::Global()
  ModulePrinter printer;                     // used by the pass PrintIR
  TextPrinter text_printer;                  // used by the pass PrintAnalyses
  std::shared_ptr<const TextReader> reader;  // for options in TVMScript
  int threads = 1;
  const TargetAttr* target = nullptr;  // that the module is compiled for; null if it is not said

  // The context of the innermost With scope of this thread, else the thread's default context. The threads that run a
  // function pass have the context of the thread that started it.
  static PassContext& Current();

  // Returns whether a Sequential runs the pass: disabled takes precedence over required, required over the level.
  bool PassEnabled(const PassInfo& info) const { return PassEnabled(info, opt_level); }
  // Returns whether a Sequential runs the pass at this level instead of the context's.
  bool PassEnabled(const PassInfo& info, int level) const;
  bool IsDisabled(std::string_view pass) const;
  bool IsRequired(std::string_view pass) const;

  // Sets a registered configuration option, or a field of one that is a record, as in "my.UnrollLoop.max_step"; the
  // fields of a record that are left out get their defaults, setting a single one keeps the others. Reports an unknown
  // key, with the nearest one, and a value of the wrong type. `key_span` is the location of the key.
  bool SetConfig(std::string_view key, OptionValue value, DiagnosticEngine& reports, SourceSpan key_span = {});
  // The value of a registered option or field, or its default. An unregistered key, or another type, is a bug.
  const OptionValue& Config(std::string_view key) const;
  const OptionValue& Config(ConfigKey<OptionValue> key) const { return Config(key.name); }
  bool Config(ConfigKey<bool> key) const;
  int64_t Config(ConfigKey<int64_t> key) const;
  const std::string& Config(ConfigKey<std::string> key) const;
  // A field of a record that Config returned, by its name in the record. Config searches for the option first, which
  // takes longer.
  static bool ConfigField(const OptionValue& record, ConfigKey<bool> field);
  static int64_t ConfigField(const OptionValue& record, ConfigKey<int64_t> field);
  static const std::string& ConfigField(const OptionValue& record, ConfigKey<std::string> field);
  // The options that were set, by key.
  const std::map<std::string, OptionValue, std::less<>>& config() const { return config_; }

  // Results of analyses of functions. Copies of a context share them.
  AnalysisManager& analyses() const { return *analyses_; }

  const PassRegistry& Registry() const;

  // Calls EnterPassContext of all instruments in order. If one fails, the context loses all its instruments, and those
  // that had entered exit, in order, too; the failure is that of the first one.
  Status InstrumentEnterPassContext();
  // Calls ExitPassContext in order. If one fails, those after it are not called, and the context loses its instruments.
  Status InstrumentExitPassContext();
  // Lets the current instruments exit and the new ones enter, each as above. If an exit fails, none enters.
  Status OverrideInstruments(InstrumentList replacement);

 private:
  // Returns whether one of the names, in any version of TVM, is that of the pass.
  bool Names(const std::vector<std::string>& names, std::string_view pass) const;

  std::map<std::string, OptionValue, std::less<>> config_;
  std::shared_ptr<AnalysisManager> analyses_ = std::make_shared<AnalysisManager>();
};

template <class T>
class With;

// Makes a context current for the life of the scope. If an instrument fails to enter, the scope is not entered:
// status() has the error, and Current() stays unchanged. Exit() leaves early and returns whether the instruments exited
// without an error.
template <>
class [[nodiscard]] With<PassContext> {
 public:
  explicit With(PassContext& context);
  With(const With&) = delete;
  With& operator=(const With&) = delete;
  ~With();

  const Status& status() const { return status_; }
  Status Exit();

 private:
  PassContext* context_;
  PassContext* outer_ = nullptr;
  bool active_ = false;
  Status status_;
};

namespace pass_detail {

// Like Current(), but null if no scope is open. For threads that inherit the context of another.
PassContext* ExchangeCurrentContext(PassContext* context);

}  // namespace pass_detail

}  // namespace iropt
