// The registry of passes, instruments, pipelines and configuration options by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/op/op.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_info.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/printed_analysis.h"
#include "iropt/pass/text_reader.h"
#include "iropt/support/function_ref.h"

namespace iropt {

using PassFactory = Pass (*)(const PassOptions& options);

// A row of passes.def.
struct PassEntry {
  PassInfo info;
  std::vector<OptionSpec> options = {};
  std::string summary = {};
  PassFactory create = nullptr;
  std::string plugin = {};   // the plugin that the pass comes from; set by the registry
  std::string example = {};  // text of a module that shows the pass, for -help-pass; see docs/passes
};

// A named instrument. The options are those of a pass with the name of the instrument.
using InstrumentFactory = std::shared_ptr<PassInstrument> (*)(const PassOptions& options);

struct InstrumentEntry {
  std::string name;
  std::vector<OptionSpec> options = {};
  std::string summary = {};
  InstrumentFactory create = nullptr;
  std::string plugin = {};  // as in PassEntry
};

// Rule by which a configuration option changes the passes of a named pipeline when the pipeline is built. An option
// counts as set if its value is true.
struct PipelineRule {
  enum class Kind : uint8_t {
    RunIf,   // the pass runs only if the option is set
    SkipIf,  // the pass does not run if the option is set
    SetIf,   // the pass gets `option` if the option is set
    Phase,   // the passes that the option, of the type Phases, lists for `phase` run before `pass`
  };

  Kind kind = Kind::RunIf;
  std::string config = {};        // the key of the configuration option
  std::string pass = {};          // each with this name; of a Phase, the first of them, or empty: at the beginning
  OptionValue::Dict option = {};  // of SetIf: the one option and its value
  int phase = 0;                  // the last phase of a pipeline also gets the passes of greater ones
};

// A row of pipelines.def: a named pipeline. A pipeline runs them as NAME<O2>, at that level.
struct PipelineEntry {
  std::string name;
  int lowest_level = 0;  // the lowest and the highest of its levels
  int highest_level = 0;
  std::string passes = {};  // in the syntax of pipelines
  std::string summary = {};
  std::string plugin = {};  // as in PassEntry
  std::string target = {};  // of passes added to a pipeline: the kind of target that they are for; empty: any
  std::vector<PipelineRule> rules = {};
  bool comes_first = false;  // added passes run before those of the pipeline
};

// A hint of names.def: a name that other compilers have for what a pass does. Messages suggest the pass; a
// pipeline does not take the name.
struct PassAlias {
  std::string_view alias;
  std::string_view pass;
};

// A row of names.def: a name that another version of TVM has for a pass or a configuration option. That of a pass
// may set a boolean option, for what the pass does in that version only.
struct OtherName {
  std::string_view name;
  std::string_view known_as;
  std::string_view option = {};
};

// The pipeline that a level runs by default.
inline constexpr std::string_view kDefaultPipeline = "default";

// A plugin whose passes are in a registry, see plugin.h.
struct PluginRecord {
  std::string name;
  std::string version;
  std::string path;
};

// A copy of a registry that is complete takes O(1): it shares the rows until it adds to them. Other copies have rows of
// their own.
class PassRegistry {
 public:
  PassRegistry();

  // The registry of the program, which has all passes that are linked into it from the first call on. Add others before
  // threads use it.
  static PassRegistry& Global();

  // Refuses a name that is taken or that a pipeline cannot spell as one word, a row without a factory, and one that
  // makes the requirements cyclic.
  Status Add(PassEntry row);
  Status AddConfig(OptionSpec spec);
  // The texts must outlive the registry. Refuses the name of a pass, and a pass that is not registered.
  Status AddAlias(PassAlias alias);
  // Lets the registry find a pass, or a configuration option, by another name. Refuses names that are taken, and what
  // is not registered.
  Status AddPassName(OtherName other);
  Status AddConfigName(OtherName other);
  // Refuses a name that is taken. The built-in instruments of ir-opt are separate and take precedence.
  Status AddInstrument(InstrumentEntry row);
  // Adds an analysis that PrintAnalyses, which the registry must have, takes as an option. Refuses a name that is
  // taken.
  Status AddAnalysis(PrintedAnalysis analysis);
  // Refuses levels that the name has already, passes that do not parse, named pipelines among them that are not
  // registered yet, and rules for configuration options that are not registered or for passes that it does not have. A
  // pass that does not exist is an error when the pipeline is built.
  Status AddPipeline(PipelineEntry entry);
  // Adds passes to a named pipeline, which then runs them after its own at the levels of `addition`. Refuses levels
  // that the pipeline does not have, kinds of target that do not exist, and passes that do not parse.
  Status ExtendPipeline(PipelineEntry addition);
  // Adds a kind of diagnostics, see AddDiagnosticKind, and an operator, see AddOp: both are global to the process.
  // Refused if the name is taken.
  Status AddDiagnosticKind(const DiagnosticKind& kind);
  Status AddOperator(const OpSpec& spec);
  // Calls `add`, which may add anything, for a plugin. Where it fails or throws, the registry stays what it was, and no
  // kind or operator is added.
  Status AddPlugin(PluginRecord plugin, FunctionRef<Status(PassRegistry&)> add);

  // Has copies share the rows from now on; nothing may be added to this one afterwards.
  void Complete() { rows_.Complete(); }

  // In the order of their names.
  const std::map<std::string, PassEntry, std::less<>>& passes() const { return rows_->passes; }
  const std::map<std::string, OptionSpec, std::less<>>& configs() const { return rows_->configs; }
  const std::map<std::string, InstrumentEntry, std::less<>>& instruments() const { return rows_->instruments; }
  const std::map<std::string, PrintedAnalysis, std::less<>>& analyses() const { return rows_->analyses; }
  std::span<const PipelineEntry> pipelines() const { return rows_->pipelines; }
  std::span<const PluginRecord> plugins() const { return rows_->plugins; }
  // By its name or another one.
  const PassEntry* Find(std::string_view name) const;
  // The name of the pass that has `name` in some version of TVM; `name` itself if there is none.
  std::string_view PassName(std::string_view name) const;
  // Adds to the options of a pass of this name those that the name sets, unless they are there.
  void AddOptionsOf(std::string_view name, OptionValue::Dict& options) const;
  // The other names of a pass, in their order.
  std::vector<std::string_view> OtherNames(std::string_view pass) const;
  // Suggests what the unknown name of a pass may have meant: a pass, one of `others`, or for the name of a level the
  // default pipeline of it.
  std::optional<std::string> Suggest(std::string_view name, std::span<const std::string_view> others = {}) const;
  // By its key or another name.
  const OptionSpec* FindConfig(std::string_view key) const;
  const PipelineEntry* FindPipeline(std::string_view name, int level) const;
  // The parts of the named pipeline at the level: its own passes, then those that were added for any target or for the
  // given kind. Empty if it does not exist.
  std::vector<const PipelineEntry*> FindPipelineParts(std::string_view name, int level,
                                                      std::string_view target = {}) const;
  std::span<const PipelineEntry> pipeline_additions() const { return rows_->additions; }

  // Reads options in TVMScript when a pass is created; null if there is none.
  const TextReader* reader() const { return reader_.get(); }
  const std::shared_ptr<const TextReader>& shared_reader() const { return reader_; }
  void set_reader(std::shared_ptr<const TextReader> reader) { reader_ = std::move(reader); }

  // A pass by name. Reports an unknown name, unknown options, values of a wrong type and those that its factory
  // refuses. `name_span` is the location of the name.
  Result<Pass> Create(std::string_view name, OptionValue::Dict options, DiagnosticEngine& diagnostics,
                      SourceSpan name_span = {}) const;
  // An instrument by name, which the registry must have. Reports unknown options and values of a wrong type.
  Result<std::shared_ptr<PassInstrument>> CreateInstrument(std::string_view name, OptionValue::Dict options,
                                                           DiagnosticEngine& diagnostics) const;
  // All passes that must run before the named one, in that order, each once. Fails if one is not registered.
  Result<std::vector<const PassEntry*>> RequiredBy(const PassInfo& info) const;

 private:
  struct Rows {
    std::map<std::string, PassEntry, std::less<>> passes = {};
    std::vector<PassAlias> aliases = {};
    std::map<std::string, OtherName, std::less<>> other_pass_names = {};  // to names of `passes`
    std::map<std::string, OptionSpec, std::less<>> configs = {};
    std::map<std::string, std::string, std::less<>> other_config_names = {};  // to keys of `configs`
    std::map<std::string, InstrumentEntry, std::less<>> instruments = {};
    std::map<std::string, PrintedAnalysis, std::less<>> analyses = {};
    std::vector<PipelineEntry> pipelines = {};
    std::vector<PipelineEntry> additions = {};  // in the order in which they were added
    std::vector<PluginRecord> plugins = {};
  };
  // Those of this registry, or of the complete one that it is a copy of.
  class SharedRows {
   public:
    SharedRows() : rows_(std::make_shared<Rows>()) {}
    SharedRows(const SharedRows& other)
        : rows_(other.is_complete_ ? other.rows_ : std::make_shared<Rows>(*other.rows_)),
          is_complete_(other.is_complete_) {}
    SharedRows(SharedRows&&) noexcept = default;
    SharedRows& operator=(SharedRows other) noexcept {
      std::swap(rows_, other.rows_);
      is_complete_ = other.is_complete_;
      return *this;
    }
    ~SharedRows() = default;

    const Rows* operator->() const { return rows_.get(); }
    // The rows, which no other registry has from then on.
    Rows& Own() {
      if (is_complete_) rows_ = std::make_shared<Rows>(*rows_);
      is_complete_ = false;
      return *rows_;
    }
    void Complete() { is_complete_ = true; }

   private:
    std::shared_ptr<Rows> rows_;
    bool is_complete_ = false;
  };

  SharedRows rows_;
  std::shared_ptr<const TextReader> reader_;
  std::string adding_plugin_;                      // whose rows are being added
  std::vector<std::function<void()>> when_added_;  // called once all of them are added
};

// Reports an unknown name with `message`, and suggests the nearest of the known names.
void ReportUnknownName(std::string message, std::string_view name, std::span<const std::string_view> known, DiagId kind,
                       SourceSpan span, DiagnosticEngine& diagnostics);
// Reports an unknown pass, with the suggestion of the registry.
void ReportUnknownPass(std::string_view name, const PassRegistry& registry, SourceSpan span,
                       DiagnosticEngine& diagnostics, std::span<const std::string_view> others = {});

}  // namespace iropt
