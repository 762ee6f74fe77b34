#include "compare_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/execution/outputs.h"
#include "iropt/runtime/packed_func.h"
#include "iropt/runtime/statistics.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// Returns the kind of the first part of a value that is not a tensor, a shape or a number; empty if all are.
std::string FindOther(const HostValue& value) {
  if (const TupleValue* tuple = value.tuple()) {
    for (const HostValue& field : tuple->fields) {
      std::string other = WithStack([&] { return FindOther(field); });
      if (!other.empty()) return other;
    }
    return {};
  }
  const bool is_output = value.tensor() || value.shape() || value.scalar();
  return is_output ? std::string() : std::string(KindOf(value));
}

}  // namespace

Status TellNotCompared(std::string message, const ProgramOptions& options, CompilerInstance& compiler) {
  if (options.require_comparison) {
    compiler.diagnostics().Error({}, "not-compared", std::move(message));
  } else {
    compiler.diagnostics().Warning({}, "not-compared", std::move(message));
  }
  const bool fails = options.require_comparison || compiler.options().warnings_as_errors;
  return fails ? Failure{ErrorCode::SemanticCheck} : Status();
}

Status CompareOutputs(const HostValue& value, const std::vector<NamedTensor>& outputs,
                      const std::vector<NamedTensor>& expected, const std::string& source,
                      const RunPrecision& precision, const std::string& hint, const ProgramOptions& options,
                      CompilerInstance& compiler) {
  bool ok = true;
  const auto report = [&](std::string message) {
    ok = false;
    return compiler.diagnostics().Error({}, "output-mismatch", std::move(message));
  };
  if (outputs.size() != expected.size())
    report(
        fmt::format("the function has {} outputs, but {} are expected by {}", outputs.size(), expected.size(), source));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedTensor& output = outputs[i];
    const bool is_single = expected.size() == 1 && expected[0].name.empty();
    auto wanted = is_single ? expected.begin() : std::ranges::find(expected, output.name, &NamedTensor::name);
    if (wanted == expected.end()) wanted = std::ranges::find(expected, fmt::format("out{}", i), &NamedTensor::name);
    if (wanted == expected.end()) {
      report(fmt::format("{}: {} has no such tensor", output.name, source));
      continue;
    }
    // The file may have tensors of rank 0 or of shape (1,).
    const Tensor got = WithDimension(output.tensor);
    const Tensor want = WithDimension(wanted->tensor);
    const Tolerance tolerance = ToleranceFor(*want, precision, options.tolerance);
    const Comparison comparison = CompareTensors(*got, *want, tolerance);
    const std::string text = fmt::format("{}: {}", output.name, DescribeComparison(comparison, *got, *want));
    const std::string allowed =
        fmt::format("{:.3g} absolute and {:.3g} relative", tolerance.absolute, tolerance.relative);
    if (comparison.ok()) {
      compiler.err().Append(fmt::format("{} (tolerance: {})\n", text, allowed));
      continue;
    }
    DiagnosticBuilder error = report(text);
    if (comparison.same_type) error.Note(fmt::format("the tolerance is {}; -atol and -rtol set it", allowed));
    if (comparison.same_type && !hint.empty()) error.Note(hint);
  }
  IROPT_RETURN_IF_ERROR(compiler.err().Flush());
  if (!ok) return Failure{ErrorCode::SemanticCheck};
  const std::string other = FindOther(value);
  if (!other.empty())
    return TellNotCompared(fmt::format("a part of the result is not compared: it is {}", other), options, compiler);
  const bool compares_elements =
      std::ranges::any_of(outputs, [](const NamedTensor& output) { return output.tensor->num_elements() != 0; });
  if (compares_elements) return {};
  return TellNotCompared(fmt::format("nothing is compared with {}: the results have no elements", source), options,
                         compiler);
}

}  // namespace iropt
