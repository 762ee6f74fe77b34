#include "iropt/execution/outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/execution/entry.h"
#include "iropt/infer/infer.h"
#include "iropt/runtime/packed_func.h"
#include "iropt/runtime/statistics.h"
#include "iropt/support/lookup.h"
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

std::vector<NamedTensor> FlattenOutputs(const HostValue& value) {
  std::vector<NamedTensor> outputs;
  ForEachNamedTensor(value, {}, [&](const std::string&, const Tensor& tensor) {
    outputs.push_back({fmt::format("out{}", outputs.size()), tensor});
  });
  return outputs;
}

std::vector<NamedTensor> NameOutputs(std::vector<NamedTensor> outputs, const BaseFunc& function) {
  const std::vector<std::string_view> names = StatedNames(function, "outputs");
  LookupSet<std::string_view> taken;
  for (size_t i = 0; names.size() == outputs.size() && i < outputs.size(); ++i) {
    // ONNX may list an output twice.
    if (taken.insert(names[i])) outputs[i].name = names[i];
  }
  return outputs;
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

}  // namespace iropt
