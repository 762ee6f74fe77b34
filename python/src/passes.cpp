#include "passes.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/script_reader.h"
#include "errors.h"
#include "iropt/driver/catalog.h"
#include "iropt/ir/target.h"
#include "iropt/observe/report/report_page.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/load_plugin.h"
#include "iropt/pass/python_plugin.h"
#include "iropt/pass/target_value.h"
#include "iropt/pass/timing.h"
#include "iropt/text/script/printer.h"
#include "iropt/transform/passes.h"
#include "module.h"
#include "pass_handle.h"
#include "ir-opt/run_command.h"
#include "signals.h"
#include "values.h"

namespace iropt::python {

namespace {

// The texts of options and pipelines, which are few.
SourceManager& OptionSources() {
  static auto* sources = new SourceManager;
  return *sources;
}

PassRegistry& Registry() {
  static PassRegistry& registry = [&]() -> PassRegistry& {
    PassRegistry& all = PassRegistry::Global();
    all.set_reader(std::make_shared<ScriptReader>(OptionSources()));
    return all;
  }();
  return registry;
}

// ---- Instruments

// Hooks of an object of Python; those that it does not have do nothing.
class PythonInstrument : public PassInstrument {
 public:
  PythonInstrument(std::string name, py::object object) : PassInstrument(std::move(name)), object_(std::move(object)) {}

  const py::object& object() const { return *object_; }

  Status EnterPassContext() override { return Call("enter_pass_ctx"); }
  Status ExitPassContext() override { return Call("exit_pass_ctx"); }
  bool ShouldRun(const Module& module, const PassInfo& info) override {
    const py::gil_scoped_acquire lock;
    const py::object hook = Find("should_run");
    if (hook.is_none()) return true;
    return py::bool_(CallWithModule(module, [&](const py::object& argument) { return hook(argument, info); }));
  }
  Status RunBeforePass(const Module& module, const PassInfo& info) override {
    return CallOnPass("run_before_pass", module, info);
  }
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override {
    // As in the reference documents, there is no call for a pass that failed.
    if (outcome == PassOutcome::Failed) return {};
    return CallOnPass("run_after_pass", module, info);
  }

 private:
  py::object Find(const char* hook) const { return py::getattr(*object_, hook, py::none()); }
  Status Call(const char* name) {
    const py::gil_scoped_acquire lock;
    if (const py::object hook = Find(name); !hook.is_none()) hook();
    return {};
  }
  Status CallOnPass(const char* name, const Module& module, const PassInfo& info) {
    const py::gil_scoped_acquire lock;
    const py::object hook = Find(name);
    if (!hook.is_none()) CallWithModule(module, [&](const py::object& argument) { return hook(argument, info); });
    return {};
  }

  Callback object_;
};

// Lets Ctrl-C end a run: between passes and between functions.
class SignalCheck : public PassInstrument {
 public:
  SignalCheck() : PassInstrument("signals") {}

  Status RunBeforePass(const Module& /*module*/, const PassInfo& /*info*/) override {
    return signals_.Check(), Status();
  }
  Status RunBeforeFunction(const GlobalVar& /*name*/, const BaseFunc& /*function*/, const PassInfo& /*info*/) override {
    return signals_.Check(), Status();
  }

 private:
  Signals signals_;
};

// The record of the runs of passes, as the page that ir-opt writes.
class Report : public RunRecorder {
 public:
  Report() : RunRecorder(std::make_unique<FunctionTexts>(PrintOptions{.hash_constants = true})) {}

  std::string Html() const {
    std::string page;
    {
      OutputStream out(&page);
      AppendReportPage(*this, {}, out);
    }
    return page;
  }
};

// ---- Contexts

// A context with the scopes that are open, which may be nested.
class PyContext {
 public:
  PyContext() : context_(std::make_shared<PassContext>()) {
    context_->registry = &Registry();
    context_->reader = Registry().shared_reader();
  }

  PassContext& context() { return *context_; }
  void Enter() {
    const Log log(OptionSources());
    auto scope = std::make_unique<With<PassContext>>(*context_);
    if (!scope->status().ok()) log.Throw(scope->status().error());
    scopes_.push_back(std::move(scope));
  }
  void Exit() {
    if (scopes_.empty()) return;
    const Log log(OptionSources());
    const std::unique_ptr<With<PassContext>> scope = std::move(scopes_.back());
    scopes_.pop_back();
    log.Check(scope->Exit());
  }
  void SetConfig(const std::string& key, const py::object& value) {
    Log log(OptionSources());
    context_->SetConfig(key, ToOption(value), log.engine());
    log.CheckErrors();
  }
  // Hooks of objects of Python, or instruments of the library.
  void SetInstruments(const py::list& instruments) { context_->instruments = given_ = ToList(instruments); }
  void Override(const py::list& instruments) {
    given_ = ToList(instruments);
    const Log log(OptionSources());
    log.Check(context_->OverrideInstruments(given_));
  }
  static InstrumentList ToList(const py::list& instruments) {
    InstrumentList list;
    for (py::handle instrument : instruments) list.push_back(instrument.cast<std::shared_ptr<PassInstrument>>());
    return list;
  }
  // Returns whether the context has the instruments that it was given: one that fails to enter or to exit removes all.
  bool has_given_instruments() const {
    return !given_.empty() && std::ranges::find(context_->instruments, given_[0]) != context_->instruments.end();
  }

 private:
  std::shared_ptr<PassContext> context_;
  InstrumentList given_;
  std::vector<std::unique_ptr<With<PassContext>>> scopes_;
};

// Sets what a run needs for its duration, in the context that is current.
class RunSettings {
 public:
  RunSettings(PassContext& context, Log& log, const TargetAttr* target)
      : context_(context), diagnostics_(context.diagnostics), target_(context.target) {
    context.diagnostics = &log.engine();
    if (target != nullptr) context.target = target;
    if (context.registry == nullptr) context.registry = &Registry();
    if (context.reader == nullptr) context.reader = Registry().shared_reader();
    if (!context.printer) context.printer = &PrintToStderr;
    if (!context.text_printer) context.text_printer = &WriteToStderr;
    // A run inside of another one has its check.
    if (diagnostics_ == nullptr) {
      check_ = std::make_shared<SignalCheck>();
      context.instruments.push_back(check_);
    }
  }
  RunSettings(const RunSettings&) = delete;
  RunSettings& operator=(const RunSettings&) = delete;
  ~RunSettings() {
    context_.diagnostics = diagnostics_;
    context_.target = target_;
    if (check_ != nullptr) std::erase(context_.instruments, check_);
  }

 private:
  static Status PrintToStderr(const Module& module, const std::string& heading) {
    return WriteToStderr("# " + heading + "\n" + ModuleToString(module));
  }
  static Status WriteToStderr(std::string_view text) {
    const py::gil_scoped_acquire lock;
    py::module_::import("sys").attr("stderr").attr("write")(text);
    return {};
  }

  PassContext& context_;
  DiagnosticEngine* diagnostics_;
  const TargetAttr* target_;
  std::shared_ptr<PassInstrument> check_;
};

const TargetAttr* FindTarget(const py::object& target, Log& log) {
  if (target.is_none()) return nullptr;
  const TargetAttr* found = ReadTarget(ToOption(target), log.engine());
  log.CheckErrors();
  return found;
}

// The passes that do not consist of others.
size_t CountPasses(const Pass& pass) {
  if (!pass.info().is_composite()) return 1;
  size_t count = 0;
  for (const Pass& child : pass.children()) count += CountPasses(child);
  return count;
}

PyModule RunPass(PassHandle& handle, const PyModule& module, const py::object& target) {
  Build build;
  Log log(build.session().sources());
  const Pass pass = handle.Get(log);
  const RunSettings settings(PassContext::Current(), log, FindTarget(target, log));
  std::optional<Result<PassResult>> result;
  {
    Module input = module.module();
    const py::gil_scoped_release unlocked;
    result = pass(std::move(input));
  }
  return PyModule(log.Check(*std::move(result)).module, module.session());
}

// ---- Making passes

std::shared_ptr<PassHandle> NamedPass(const std::string& name, const py::dict& options) {
  const Build build;
  const OptionValue values = ToOption(options);
  const PassEntry* entry = Registry().Find(name);
  const auto make = [name, values](Log& log) {
    Result<Pass> pass = Registry().Create(name, *values.as_dict(), log.engine());
    log.CheckErrors();
    return log.Check(std::move(pass));
  };
  auto handle = std::make_shared<PassHandle>(entry == nullptr ? PassInfo{.name = name} : entry->info, make);
  Log log(OptionSources());
  handle->Get(log);
  return handle;
}

std::shared_ptr<PassHandle> PipelinePass(const std::string& text) {
  const Build build;
  const auto make = [text](Log& log) {
    const auto owner = std::make_shared<const FileBuffer>(text);
    const uint32_t base = log.Check(OptionSources().AddBuffer("passes", owner->text(), owner));
    const std::optional<Pipeline> parsed = ParsePipeline(text, base, log.engine());
    log.CheckErrors();
    Result<Pass> pass = BuildPipeline(*parsed, Registry(), log.engine(), &PassContext::Current());
    log.CheckErrors();
    return log.Check(std::move(pass));
  };
  auto handle = std::make_shared<PassHandle>(SequentialInfo(text), make);
  Log log(OptionSources());
  handle->Get(log);
  return handle;
}

PassKind KindOf(const std::string& kind) {
  if (kind == "module") return PassKind::Module;
  if (kind == "function") return PassKind::Function;
  if (kind == "prim_func") return PassKind::PrimFunc;
  if (kind == "dataflow_block") return PassKind::DataflowBlock;
  throw py::value_error("unknown kind of pass '" + kind + "': expected module, function, prim_func or dataflow_block");
}

PassInfo InfoOf(std::string name, int opt_level, std::vector<std::string> required, bool traceable) {
  return {.name = std::move(name), .opt_level = opt_level, .required = std::move(required), .traceable = traceable};
}

std::shared_ptr<PassHandle> SequentialPass(std::vector<std::shared_ptr<PassHandle>> passes, std::string name,
                                           std::optional<int> opt_level, std::vector<std::string> required) {
  PassInfo info = SequentialInfo(std::move(name), opt_level.value_or(kNoOptLevel));
  info.required = std::move(required);
  const auto make = [passes = std::move(passes), info](Log& log) {
    std::vector<Pass> made;
    for (const auto& pass : passes) made.push_back(pass->Get(log));
    return Sequential(std::move(made), info);
  };
  return std::make_shared<PassHandle>(info, make);
}

// ---- Passes of Python by name

// A function that makes a pass of Python from its options, which are those of the row.
struct NamedFactory {
  NamedFactory(std::vector<OptionSpec> specs, py::object function)
      : options(std::move(specs)), make(std::move(function)) {}
  std::vector<OptionSpec> options;
  Callback make;
};

std::map<std::string, std::unique_ptr<NamedFactory>, std::less<>>& Factories() {
  static auto* factories = new std::map<std::string, std::unique_ptr<NamedFactory>, std::less<>>;
  return *factories;
}

Pass MakeRegistered(const PassOptions& options) {
  const py::gil_scoped_acquire lock;
  const NamedFactory& factory = *Factories().at(options.info().name);
  py::dict values;
  for (const OptionSpec& option : factory.options) values[py::str(option.name)] = FromOption(options.Json(option.name));
  const py::object handle = (*factory.make)(**values);
  Log log(OptionSources());
  return handle.cast<PassHandle&>().Get(log);
}

OptionSpec OptionOf(const py::dict& row) {
  OptionSpec option{.name = row["name"].cast<std::string>(),
                    .type = OptionType::Json,
                    .default_value = ToOption(row["default"]),
                    .summary = row["summary"].cast<std::string>()};
  const OptionValue& value = option.default_value;
  if (value.as_bool() != nullptr) option.type = OptionType::Bool;
  if (value.as_int() != nullptr) option.type = OptionType::Int;
  if (value.as_double() != nullptr) option.type = OptionType::Float;
  if (value.as_string() != nullptr) option.type = OptionType::String;
  return option;
}

// The registry that a plugin adds to; by default that of the package.
PassRegistry* loading_registry = nullptr;

// Adds a pass to the registry, so that pipelines name it.
void RegisterPass(const PassInfo& info, const std::string& kind, const std::string& summary, const py::list& options,
                  py::object factory) {
  PassEntry entry{.info = info, .summary = summary, .create = &MakeRegistered};
  entry.info.kind = KindOf(kind);
  entry.info.is_serial = true;
  for (py::handle option : options) entry.options.push_back(OptionOf(option.cast<py::dict>()));
  auto named = std::make_unique<NamedFactory>(entry.options, std::move(factory));
  const Log log(OptionSources());
  log.Check((loading_registry != nullptr ? *loading_registry : Registry()).Add(std::move(entry)));
  Factories()[info.name] = std::move(named);
}

// Lets the package read a plugin for any registry.
Status LoadPythonPlugin(const std::string& path, PassRegistry& registry) {
  const py::gil_scoped_acquire lock;
  PassRegistry* outer = std::exchange(loading_registry, &registry);
  try {
    py::module_::import("iropt._plugins").attr("read")(path);
  } catch (...) {
    loading_registry = outer;
    throw;
  }
  loading_registry = outer;
  return {};
}

// ---- Tables

py::list OptionTable(std::span<const OptionSpec> options) {
  py::list table;
  for (const OptionSpec& option : options) {
    py::dict row;
    row["name"] = option.name;
    row["type"] = OptionTypeName(option.type);
    row["default"] = FromOption(option.default_value);
    row["summary"] = option.summary;
    row["choices"] = option.choices;
    row["fields"] = OptionTable(option.fields);
    table.append(row);
  }
  return table;
}

py::list PassTable() {
  py::list table;
  for (const auto& [name, entry] : Registry().passes()) {
    py::dict row;
    row["name"] = name;
    row["kind"] = PassKindName(entry.info.kind);
    row["opt_level"] = entry.info.opt_level;
    row["required"] = entry.info.required;
    row["other_names"] = Registry().OtherNames(name);
    row["summary"] = entry.summary;
    row["options"] = OptionTable(entry.options);
    table.append(row);
  }
  return table;
}

py::list ConfigTable() {
  std::vector<OptionSpec> specs;
  for (const auto& [key, spec] : Registry().configs()) specs.push_back(spec);
  return OptionTable(specs);
}

py::list InstrumentTable() {
  py::list table;
  for (const CatalogEntry& entry : Instruments(Registry())) table.append(py::make_tuple(entry.name, entry.summary));
  return table;
}

void AddInstruments(py::module_& m) {
  py::class_<PassInstrument, std::shared_ptr<PassInstrument>>(m, "PassInstrument")
      .def_property_readonly("name", &PassInstrument::name);
  py::class_<PythonInstrument, PassInstrument, std::shared_ptr<PythonInstrument>>(m, "PythonInstrument")
      .def(py::init<std::string, py::object>())
      .def_property_readonly("object", &PythonInstrument::object);
  py::class_<PassTimingInstrument, PassInstrument, std::shared_ptr<PassTimingInstrument>>(m, "TimingInstrument")
      .def(py::init())
      .def("render", &PassTimingInstrument::Render);
  py::class_<Report, PassInstrument, std::shared_ptr<Report>>(m, "Report").def(py::init()).def("html", &Report::Html);
  m.def("make_instrument", [](const std::string& name, const py::dict& options) {
    Log log(OptionSources());
    Result<std::shared_ptr<PassInstrument>> made =
        Registry().CreateInstrument(name, *ToOption(options).as_dict(), log.engine());
    log.CheckErrors();
    return log.Check(std::move(made));
  });
}

void AddContexts(py::module_& m) {
  py::class_<PyContext>(m, "Context")
      .def(py::init())
      .def("enter", &PyContext::Enter)
      .def("exit", &PyContext::Exit)
      .def("set_config", &PyContext::SetConfig)
      .def("config",
           [](PyContext& self) {
             py::dict config;
             for (const auto& [key, value] : self.context().config()) config[py::str(key)] = FromOption(value);
             return config;
           })
      .def("set_instruments", &PyContext::SetInstruments)
      .def("override_instruments", &PyContext::Override)
      .def("has_given_instruments", &PyContext::has_given_instruments)
      .def("enabled", [](PyContext& self, const PassInfo& info) { return self.context().PassEnabled(info); })
      .def_property(
          "opt_level", [](PyContext& self) { return self.context().opt_level; },
          [](PyContext& self, int level) { self.context().opt_level = level; })
      .def_property(
          "required_pass", [](PyContext& self) { return self.context().required_pass; },
          [](PyContext& self, std::vector<std::string> names) { self.context().required_pass = std::move(names); })
      .def_property(
          "disabled_pass", [](PyContext& self) { return self.context().disabled_pass; },
          [](PyContext& self, std::vector<std::string> names) { self.context().disabled_pass = std::move(names); })
      .def_property(
          "threads", [](PyContext& self) { return self.context().threads; },
          [](PyContext& self, int threads) { self.context().threads = threads; });
}

}  // namespace

void AddPasses(py::module_& m) {
  SetPythonPluginLoader(&LoadPythonPlugin);
  py::class_<PassInfo>(m, "PassInfo", "The description of a pass.")
      .def(py::init(&InfoOf), py::arg("name"), py::arg("opt_level") = 0,
           py::arg("required") = std::vector<std::string>(), py::arg("traceable") = false)
      .def_readonly("name", &PassInfo::name)
      .def_readonly("opt_level", &PassInfo::opt_level)
      .def_readonly("required", &PassInfo::required)
      .def_readonly("traceable", &PassInfo::traceable)
      .def_property_readonly("kind", [](const PassInfo& info) { return PassKindName(info.kind); })
      .def_property_readonly("is_composite", &PassInfo::is_composite)
      .def("__repr__", [](const PassInfo& info) {
        return "PassInfo(name=" + info.name + ", opt_level=" + std::to_string(info.opt_level) + ")";
      });
  py::class_<PassHandle, std::shared_ptr<PassHandle>>(m, "Pass")
      .def_property_readonly("info", &PassHandle::info)
      .def("num_passes", [](PassHandle& self) {
        const Build build;
        Log log(OptionSources());
        return CountPasses(self.Get(log));
      });
  AddInstruments(m);
  AddContexts(m);
  m.def("make_target", [](const py::object& target, const py::object& host) {
    Build build;
    Log log(OptionSources());
    const TargetAttr* made = FindTarget(target, log);
    if (!host.is_none()) {
      const DictAttr* config = made->config->With("host", FindTarget(host, log));
      made = TargetAttr::Get(config);
    }
    return build.Made(made);
  });
  m.def("run_pass", &RunPass);
  m.def("named_pass", &NamedPass);
  m.def("pipeline_pass", &PipelinePass);
  m.def("sequential_pass", &SequentialPass);
  m.def("python_pass", [](const std::string& kind, py::object function, std::string name, int opt_level,
                          std::vector<std::string> required, bool traceable) {
    return MakePythonPass(KindOf(kind), std::move(function),
                          InfoOf(std::move(name), opt_level, std::move(required), traceable));
  });
  m.def("register_pass", &RegisterPass);
  m.def("pass_table", &PassTable);
  m.def("config_table", &ConfigTable);
  m.def("instrument_table", &InstrumentTable);
  m.def("run_ir_opt", [](const std::vector<std::string>& arguments) {
    // The passes of Python take modules of the session.
    const Build build;
    const py::gil_scoped_release unlocked;
    return RunIrOpt(arguments);
  });
  m.def("load_plugin", [](const std::string& path) {
    const Log log(OptionSources());
    log.Check(LoadPassPlugin(path, Registry()));
  });
}

}  // namespace iropt::python
