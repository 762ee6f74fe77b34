#include "window.h"

#include <algorithm>

namespace iropt::eval {

namespace {

Status CheckRange(const KernelCall& call, std::span<const int64_t> values, int64_t least, std::string_view what) {
  const auto wrong = std::ranges::find_if(values, [&](int64_t v) { return v < least || v >= kMaxWindow; });
  if (wrong == values.end()) return {};
  return call.Fail(fmt::format("{} of {} is out of range", what, *wrong));
}

}  // namespace

Result<SizedWindow> MakeSizedWindow(const KernelCall& call, Shape size, Result<Window> window) {
  if (!window) return call.Fail(window.error().message);
  IROPT_RETURN_IF_ERROR(CheckRange(call, size, 1, "a window"));
  IROPT_RETURN_IF_ERROR(CheckRange(call, window->before, 0, "a padding"));
  IROPT_RETURN_IF_ERROR(CheckRange(call, window->after, 0, "a padding"));
  SizedWindow sized;
  static_cast<Window&>(sized) = *std::move(window);
  sized.size = std::move(size);
  return sized;
}

Result<int64_t> CountWindows(const KernelCall& call, const SizedWindow& window, size_t i, int64_t length,
                             bool round_up) {
  // Tensors have fewer elements than 2^60, so that nothing overflows.
  const int64_t count = *iropt::CountWindows(window, i, window.size[i], length, round_up);
  if (count < 0) {
    const int64_t reach = window.dilation[i] * (window.size[i] - 1) + 1;
    return call.Fail(fmt::format("a window of {} does not fit into {} elements", reach, length));
  }
  return count;
}

}  // namespace iropt::eval
