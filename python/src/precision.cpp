#include "precision.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/precision/operator_names.h"
#include "errors.h"
#include "host_values.h"
#include "iropt/execution/call_entry.h"
#include "iropt/execution/entry.h"
#include "iropt/precision/choice.h"
#include "iropt/precision/emulation.h"
#include "iropt/precision/numeric_lint.h"
#include "iropt/transform/relax/precision/lower_operators.h"
#include "module.h"
#include "signals.h"

namespace iropt::python {

namespace {

using precision::Choice;
using precision::Operator;

const NumberFormat& FormatOf(const std::string& name) {
  const NumberFormat* format = FormatNamed(name);
  if (format == nullptr || !format->dtype.is_floating() || format->dtype.bits != 16)
    throw py::value_error(fmt::format("invalid format '{}': expected fp16 or bf16", name));
  return *format;
}

// A function of a module with the inputs of its runs.
class PyPrecision {
 public:
  PyPrecision(const PyModule& module, const std::string& function, const py::list& samples, const std::string& format,
              const std::vector<std::string>& keep)
      : session_(module.session()),
        module_(module.module()),
        format_(FormatOf(format)),
        entry_(FindEntry(function)),
        log_(session_->sources()) {
    for (const py::handle sample : samples) AddSample(sample);
    KeptOperators kept = log_.Check(KeptOperators::Make(keep));
    operators_ = precision::FindOperators(module_, *entry_.relax(), format_,
                                          MakeOperatorNamer(module_, session_->sources()),
                                          [&](const std::string& name) { return kept.Contains(name); });
    if (const std::vector<std::string> unknown = kept.Unmatched(); !unknown.empty())
      throw py::value_error(fmt::format("no operator on float32 is called '{}'", unknown.front()));
    options_.limits.max_bytes = PhysicalMemory();
    options_.limits.on_work = &on_work_;
    inputs_.emplace(precision::ModelInputs{.module = module_,
                                           .function = *entry_.relax(),
                                           .samples = samples_,
                                           .diagnostics = log_.engine(),
                                           .run = options_});
  }

  // By operator: name, operator, and why it cannot be lowered.
  std::vector<std::tuple<std::string, std::string, std::string>> Operators() const {
    std::vector<std::tuple<std::string, std::string, std::string>> rows;
    for (const Operator& op : operators_)
      rows.emplace_back(op.name, std::string(precision::ScriptOf(*op.call)), op.reason);
    return rows;
  }

  // The error of the outputs if these operators compute in the format.
  double Error(const std::vector<size_t>& lowered) {
    const Build build;
    const LookupSet<const Call*> calls = CallsOf(lowered);
    precision::Emulator emulator(format_, calls);
    std::optional<Result<double>> error;
    {
      const py::gil_scoped_release unlocked;
      Status recorded;
      if (!runs_) {
        runs_.emplace(*inputs_);
        recorded = runs_->Record(recording_);
      }
      error = recorded.ok() ? runs_->ErrorWith(emulator) : Result<double>(recorded.error());
    }
    return log_.Check(*std::move(error));
  }

  py::dict Choose(double tolerance, const std::string& objective, bool shares) {
    const Build build;
    precision::ChoiceOptions options{.format = &format_, .tolerance = tolerance, .wants_shares = shares};
    if (objective == "size") options.objective = precision::Objective::kSize;
    if (objective == "speed") options.objective = precision::Objective::kSpeed;
    precision::Recording recording;
    std::optional<Result<Choice>> chosen;
    {
      const py::gil_scoped_release unlocked;
      chosen = precision::ChooseOperators(*inputs_, operators_, options, recording);
    }
    const Choice choice = log_.Check(*std::move(chosen));
    py::dict result;
    result["format"] = std::string(format_.name);
    result["tolerance"] = tolerance;
    result["predicted_error"] = choice.has_shares ? py::object(py::float_(choice.predicted)) : py::none();
    result["error"] = choice.measured;
    result["runs"] = choice.num_runs;
    result["measures_outputs"] = choice.measures_outputs;
    py::list rows;
    for (const precision::ChosenOperator& row : choice.operators) rows.append(RowOf(row, choice.has_shares));
    result["rows"] = rows;
    return result;
  }

  PyModule Lower(const std::vector<size_t>& lowered) {
    const Build build;
    return {log_.Check(LowerOperators(module_, entry_.var(), CallsOf(lowered), format_.dtype, log_.engine())), session_};
  }

  std::vector<std::pair<std::string, std::string>> Lint() {
    const Build build;
    std::optional<Result<std::vector<precision::NumericFinding>>> found;
    {
      const py::gil_scoped_release unlocked;
      found = precision::LintNumbers(*inputs_, format_);
    }
    const precision::OperatorNamer namer = MakeOperatorNamer(module_, session_->sources());
    std::vector<std::pair<std::string, std::string>> findings;
    for (precision::NumericFinding& finding : log_.Check(*std::move(found)))
      findings.emplace_back(namer(*finding.var, *finding.call), std::move(finding.message));
    return findings;
  }

 private:
  Entry FindEntry(const std::string& name) const {
    const ModuleEntry* found = module_.Find(std::string_view(name));
    if (found == nullptr || !Is<Function>(found->func))
      throw py::key_error(fmt::format("the module has no Relax function '{}'", name));
    return Entry::Of(*found);
  }

  // Arrays by the name of the input, or in their order.
  void AddSample(py::handle sample) {
    std::vector<HostValue> values;
    const bool by_name = py::isinstance<py::dict>(sample);
    const auto sequence = by_name ? py::sequence() : py::reinterpret_borrow<py::sequence>(sample);
    for (const EntryInput& input : entry_.inputs()) {
      py::object value;
      if (by_name) {
        const auto dict = py::reinterpret_borrow<py::dict>(sample);
        const auto* param = As<Var>(input.at);
        const std::string own(param != nullptr ? param->name() : "");
        if (dict.contains(input.name.c_str())) value = dict[input.name.c_str()];
        if (!value && dict.contains(own.c_str())) value = dict[own.c_str()];
      } else if (values.size() < sequence.size()) {
        value = sequence[values.size()];
      }
      if (!value) throw py::type_error(fmt::format("the input '{}' is missing", input.name));
      values.push_back(ToHost(value));
    }
    samples_.push_back(entry_.MakeArguments(std::move(values)));
  }

  LookupSet<const Call*> CallsOf(const std::vector<size_t>& lowered) const {
    LookupSet<const Call*> calls;
    for (const size_t i : lowered) {
      if (i >= operators_.size() || !operators_[i].is_candidate())
        throw py::value_error(fmt::format("operator {} cannot be lowered", i));
      calls.insert(operators_[i].call);
    }
    return calls;
  }

  py::dict RowOf(const precision::ChosenOperator& chosen, bool has_shares) const {
    py::dict row;
    row["name"] = chosen.op.name;
    row["operator"] = std::string(precision::ScriptOf(*chosen.op.call));
    row["lowered"] = chosen.lowered;
    row["error_alone"] = has_shares ? py::object(py::float_(chosen.error)) : py::none();
    row["reason"] = chosen.lowered ? std::string() : chosen.op.reason;
    row["constant_bytes"] = chosen.op.constant_bytes;
    const bool has_range = chosen.record != nullptr && chosen.record->num_finite() != 0;
    row["range"] = has_range ? py::object(py::make_tuple(chosen.record->least, chosen.record->greatest)) : py::none();
    return row;
  }

  std::shared_ptr<Session> session_;
  Module module_;
  const NumberFormat& format_;
  Entry entry_;
  std::vector<std::vector<HostValue>> samples_;
  std::vector<Operator> operators_;
  Log log_;
  Signals signals_;
  const std::function<void()> on_work_ = [this] { signals_.Check(); };
  RunOptions options_;
  std::optional<precision::ModelInputs> inputs_;
  std::optional<precision::ModelRuns> runs_;
  precision::Recording recording_;
};

}  // namespace

void AddPrecision(py::module_& m) {
  py::class_<PyPrecision>(m, "Precision")
      .def(py::init([](const PyModule& module, const std::string& function, const py::list& samples,
                       const std::string& format, const std::vector<std::string>& keep) {
             const Build build;
             return std::make_unique<PyPrecision>(module, function, samples, format, keep);
           }),
           py::arg("module"), py::arg("function"), py::arg("samples"), py::arg("format"), py::arg("keep"))
      .def_property_readonly("operators", &PyPrecision::Operators)
      .def("error", &PyPrecision::Error, py::arg("lowered"))
      .def("choose", &PyPrecision::Choose, py::arg("rtol"), py::arg("objective"), py::arg("shares"))
      .def("lower", &PyPrecision::Lower, py::arg("lowered"))
      .def("lint", &PyPrecision::Lint);
}

}  // namespace iropt::python
