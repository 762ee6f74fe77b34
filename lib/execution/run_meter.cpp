#include "iropt/execution/run_meter.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace iropt {

namespace {

int64_t NumElements(const HostValue& value) {
  int64_t elements = 1;
  ForEachTensor(value, [&](const Tensor& tensor) { elements = std::max(elements, tensor->num_elements()); });
  return elements;
}

}  // namespace

void RunMeter::OnBinding(const Function& function, const Var& var, const HostValue& value) {
  if (std::exchange(has_drawn_, false)) draws_.push_back({&function, &var});
  Add(value);
  ForEachTensor(value, [&](const Tensor& tensor) {
    if (tensor->dtype().is_floating()) AddFloats(tensor->dtype());
  });
}

void RunMeter::OnOverwrite(const NDArray& tensor) {
  // It may be a view.
  const auto holds = [&](const HostValue& input) {
    const NDArray* whole = input.tensor();
    const std::less_equal<const void*> precedes;
    const auto* begin = whole ? static_cast<const std::byte*>(whole->data()) : nullptr;
    return begin && precedes(begin, tensor.data()) && !precedes(begin + whole->num_bytes(), tensor.data());
  };
  const auto found = std::ranges::find_if(inputs_, holds);
  if (found != inputs_.end() && !overwritten_input_) overwritten_input_ = found - inputs_.begin();
}

void RunMeter::AddSteps(uint64_t steps) {
  work_ += steps * kWorkOfStep;
  counted_ += steps * (kWorkOfStep - 1);
}

void RunMeter::Add(const HostValue& value) {
  precision_.accumulation += static_cast<double>(work_ - counted_) / static_cast<double>(NumElements(value));
  counted_ = work_;
}

}  // namespace iropt
