#include "outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/infer/infer.h"
#include "iropt/runtime/packed_func.h"
#include "iropt/runtime/statistics.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// The maximum number of elements of a tensor that is printed completely.
constexpr int64_t kFewElements = 16;

constexpr int64_t kOneElement[] = {1};

}  // namespace

void ForEachNamedTensor(const HostValue& value, const std::string& name,
                        FunctionRef<void(const std::string& name, const Tensor& tensor)> f) {
  if (const auto* tensor = std::get_if<Tensor>(&value.state)) return f(name, *tensor);
  if (const ShapeValue* shape = value.shape()) {
    const std::shared_ptr<NDArray> dims = NDArray::Make(DataType::Int(64), {std::ssize(*shape)});
    std::ranges::copy(*shape, dims->MutableAs<int64_t>().begin());
    return f(name, dims);
  }
  if (const Scalar* scalar = value.scalar()) return f(name, MakeScalarTensor(*scalar));
  const TupleValue* tuple = value.tuple();
  for (size_t i = 0; tuple && i < tuple->fields.size(); ++i)
    WithStack([&] { ForEachNamedTensor(tuple->fields[i], fmt::format("{}.{}", name, i), f); });
}

Tensor WithDimension(const Tensor& tensor) {
  return tensor->shape().empty() ? NDArray::View(tensor->dtype(), kOneElement, tensor->data(), tensor) : tensor;
}

Tolerance ToleranceFor(const NDArray& expected, DataType dtype, const ProgramOptions& options) {
  Tolerance tolerance = Tolerance::For(expected, dtype);
  tolerance.relative = options.relative_tolerance.value_or(tolerance.relative);
  tolerance.absolute = options.absolute_tolerance.value_or(tolerance.absolute);
  return tolerance;
}

Status TellNothingCompared(std::string message, const ProgramOptions& options, CompilerInstance& compiler) {
  if (options.require_comparison) {
    compiler.diagnostics().Error({}, "not-compared", std::move(message));
  } else {
    compiler.diagnostics().Warning({}, "not-compared", std::move(message));
  }
  const bool fails = options.require_comparison || compiler.options().warnings_as_errors;
  return fails ? Failure{ErrorCode::SemanticCheck} : Status();
}

std::vector<NamedTensor> FlattenOutputs(const HostValue& value) {
  std::vector<NamedTensor> outputs;
  ForEachNamedTensor(value, {}, [&](const std::string&, const Tensor& tensor) {
    outputs.push_back({fmt::format("out{}", outputs.size()), tensor});
  });
  return outputs;
}

std::vector<NamedTensor> ForFile(const std::vector<NamedTensor>& outputs) {
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& output : outputs) tensors.push_back({output.name, WithDimension(output.tensor)});
  return tensors;
}

std::string RenderOutputs(const std::vector<NamedTensor>& outputs) {
  std::string text;
  for (const auto& [name, tensor] : outputs) {
    const std::string type = TypeToString(TypeOfTensor(*tensor));
    text += fmt::format("{}: {}  {}\n", name, type, DescribeStatistics(StatisticsOf(*tensor)));
    if (tensor->num_elements() <= kFewElements) text += fmt::format("  {}\n", RenderValue(tensor));
  }
  return text;
}

Status CheckOutputs(const std::vector<NamedTensor>& outputs, const ProgramOptions& options, std::string_view hint,
                    CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<NamedTensor> expected, ReadTensors(*options.check));
  bool ok = true;
  const auto report = [&](std::string message) {
    ok = false;
    return compiler.diagnostics().Error({}, "output-mismatch", std::move(message));
  };
  if (outputs.size() != expected.size())
    report(fmt::format("the function has {} outputs, but {} are expected by {}", outputs.size(), expected.size(),
                       *options.check));
  for (const NamedTensor& output : outputs) {
    const bool is_single = expected.size() == 1 && expected[0].name.empty();
    const auto wanted = is_single ? expected.begin() : std::ranges::find(expected, output.name, &NamedTensor::name);
    if (wanted == expected.end()) {
      report(fmt::format("{}: {} has no such tensor", output.name, *options.check));
      continue;
    }
    // The file may have tensors of rank 0 or of shape (1,).
    const Tensor got = WithDimension(output.tensor);
    const Tensor want = WithDimension(wanted->tensor);
    const Tolerance tolerance = ToleranceFor(*want, output.tensor->dtype(), options);
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
    if (comparison.same_type && !hint.empty()) error.Note(std::string(hint));
  }
  IROPT_RETURN_IF_ERROR(compiler.err().Flush());
  if (!ok) return Failure{ErrorCode::SemanticCheck};
  const bool compares_elements =
      std::ranges::any_of(outputs, [](const NamedTensor& output) { return output.tensor->num_elements() != 0; });
  if (compares_elements) return {};
  return TellNothingCompared(fmt::format("nothing is compared with {}: the results have no elements", *options.check),
                             options, compiler);
}

}  // namespace iropt
