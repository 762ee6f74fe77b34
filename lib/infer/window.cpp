#include "iropt/infer/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt {

namespace {

Error Fail(std::string message) { return {ErrorCode::SemanticCheck, std::move(message)}; }

Status CheckPositive(const std::vector<int64_t>& values, std::string_view what) {
  const auto wrong = std::ranges::find_if(values, [](int64_t value) { return value <= 0; });
  if (wrong == values.end()) return {};
  return Fail(fmt::format("has {0} {1}; a {0} must be positive", what, *wrong));
}

Status CheckRange(const std::vector<int64_t>& values) {
  const auto wrong = std::ranges::find_if(values, [](int64_t v) { return v <= -kMaxWindow || v >= kMaxWindow; });
  if (wrong == values.end()) return {};
  return Fail(fmt::format("has a stride, dilation or padding of {}, which is out of range", *wrong));
}

}  // namespace

Result<Window> ReadWindow(size_t rank, const IntList& strides, const IntList& dilation, const IntList& padding) {
  Window window{.strides = strides.vector(), .dilation = dilation.vector(), .before = {}, .after = {}};
  std::vector<int64_t> sides = padding.vector();
  if (sides.size() == 1) sides.resize(rank, sides[0]);
  if (sides.size() == rank) {
    const std::vector<int64_t> once = sides;
    sides.insert(sides.end(), once.begin(), once.end());
  }
  if (window.strides.size() != rank || window.dilation.size() != rank || sides.size() != 2 * rank) {
    return Fail(fmt::format("needs {0} strides, {0} dilations and {1} paddings, but has {2}, {3} and {4}", rank,
                            2 * rank, window.strides.size(), window.dilation.size(), sides.size()));
  }
  IROPT_RETURN_IF_ERROR(CheckPositive(window.strides, "stride"));
  IROPT_RETURN_IF_ERROR(CheckPositive(window.dilation, "dilation"));
  for (const std::vector<int64_t>* list : {&window.strides, &window.dilation, &sides})
    IROPT_RETURN_IF_ERROR(CheckRange(*list));
  window.before.assign(sides.begin(), sides.begin() + static_cast<ptrdiff_t>(rank));
  window.after.assign(sides.begin() + static_cast<ptrdiff_t>(rank), sides.end());
  return window;
}

std::optional<int64_t> CountWindows(const Window& window, size_t i, int64_t size, int64_t length, bool round_up) {
  // (length + padding - dilation * (size - 1) - 1 [+ stride - 1]) // stride + 1
  const int64_t stride = window.strides[i];
  int64_t reach = 0;
  int64_t room = 0;
  if (__builtin_mul_overflow(window.dilation[i], size - 1, &reach)) return std::nullopt;
  if (__builtin_add_overflow(length, window.before[i] + window.after[i] - 1 + (round_up ? stride - 1 : 0), &room) ||
      __builtin_sub_overflow(room, reach, &room))
    return std::nullopt;
  const int64_t quotient = room / stride - (room % stride < 0 ? 1 : 0);
  // The start of the last window is at most `room`.
  const bool in_padding = round_up && quotient * stride >= length + window.before[i];
  return quotient + (in_padding ? 0 : 1);
}

bool MayStartInPadding(const Window& window, size_t i, int64_t size) {
  // The last window starts at length + before + after - 1 + stride - 1 - reach at most.
  int64_t reach = 0;
  if (__builtin_mul_overflow(window.dilation[i], size - 1, &reach)) return false;
  return window.after[i] + window.strides[i] - 1 > reach;
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

}  // namespace iropt
