#include "window.h"

#include <algorithm>

namespace iropt::eval {

namespace {

constexpr int64_t kLimit = int64_t{1} << 31;

// Numbers of a window in [least, kLimit).
Status CheckRange(const KernelCall& call, std::span<const int64_t> values, int64_t least, std::string_view what) {
  const auto wrong = std::ranges::find_if(values, [&](int64_t v) { return v < least || v >= kLimit; });
  if (wrong == values.end()) return {};
  return call.Fail(fmt::format("{} of {} is out of range", what, *wrong));
}

}  // namespace

Result<Window> ReadWindow(const KernelCall& call, Shape size) {
  Window window;
  const size_t rank = size.size();
  window.size = std::move(size);
  IROPT_ASSIGN_OR_RETURN(window.strides, call.IntsAttr("strides"));
  IROPT_ASSIGN_OR_RETURN(window.dilation, call.IntsAttr("dilation"));
  IROPT_ASSIGN_OR_RETURN(Shape padding, call.IntsAttr("padding"));
  if (padding.size() == 1) padding.resize(rank, padding[0]);
  if (padding.size() == rank) {
    const Shape once = padding;
    padding.insert(padding.end(), once.begin(), once.end());
  }
  if (window.strides.size() != rank || window.dilation.size() != rank || padding.size() != 2 * rank)
    return call.Fail("strides, dilation and padding do not fit the number of spatial axes");
  IROPT_RETURN_IF_ERROR(CheckRange(call, window.size, 1, "a window"));
  IROPT_RETURN_IF_ERROR(CheckRange(call, window.strides, 1, "a stride"));
  IROPT_RETURN_IF_ERROR(CheckRange(call, window.dilation, 1, "a dilation"));
  IROPT_RETURN_IF_ERROR(CheckRange(call, padding, 0, "a padding"));
  window.before.assign(padding.begin(), padding.begin() + static_cast<int64_t>(rank));
  window.after.assign(padding.begin() + static_cast<int64_t>(rank), padding.end());
  return window;
}

Result<int64_t> CountWindows(const KernelCall& call, const Window& window, size_t i, int64_t length, bool round_up) {
  // All terms are below 2^62 in magnitude, as tensors have fewer elements than 2^60.
  const int64_t reach = window.dilation[i] * (window.size[i] - 1) + 1;
  const int64_t room = length + window.before[i] + window.after[i] - reach + (round_up ? window.strides[i] - 1 : 0);
  const int64_t count = FloorDiv(room, window.strides[i]) + 1;
  if (count < 0) return call.Fail(fmt::format("a window of {} does not fit into {} elements", reach, length));
  return count;
}

std::string_view ImageAxes(size_t rank) {
  static constexpr std::string_view kAxes[] = {"NCW", "NCHW", "NCDHW"};
  return kAxes[rank - 1];
}
std::string_view KernelAxes(size_t rank) {
  static constexpr std::string_view kAxes[] = {"OIW", "OIHW", "OIDHW"};
  return kAxes[rank - 1];
}
std::string_view TransposedKernelAxes(size_t rank) {
  static constexpr std::string_view kAxes[] = {"IOW", "IOHW", "IODHW"};
  return kAxes[rank - 1];
}

}  // namespace iropt::eval
