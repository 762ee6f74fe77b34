#include "iropt/infer/layout.h"

#include <algorithm>

#include "iropt/arith/analyzer.h"
#include "iropt/support/characters.h"

namespace iropt {

namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

std::optional<Layout> Layout::Parse(std::string_view text) {
  Layout layout;
  constexpr int64_t kMaxLength = 1 << 24;
  int64_t length = 0;
  for (const char c : text) {
    if (IsDigit(c)) {
      length = length * 10 + (c - '0');
      if (length > kMaxLength) return std::nullopt;
      continue;
    }
    if (IsUpper(c) ? length != 0 || layout.IndexOf(c) >= 0 : !IsLower(c) || length == 0) return std::nullopt;
    layout.axes_.push_back({c, length});
    length = 0;
  }
  if (length != 0 || layout.axes_.empty()) return std::nullopt;
  for (const Axis& axis : layout.axes_) {
    if (layout.IndexOf(axis.primal()) < 0) return std::nullopt;
  }
  return layout;
}

int Layout::IndexOf(char name) const {
  const auto it = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == name; });
  return it == axes_.end() ? -1 : static_cast<int>(it - axes_.begin());
}

int64_t Layout::SplitOf(char primal) const {
  int64_t product = 1;
  for (const Axis& axis : axes_) {
    if (axis.is_part() && axis.primal() == primal) product *= axis.length;
  }
  return product;
}

bool Layout::ConvertibleTo(const Layout& other) const {
  const auto covers = [](const Layout& a, const Layout& b) {
    return std::all_of(b.axes_.begin(), b.axes_.end(), [&](const Axis& axis) { return a.IndexOf(axis.primal()) >= 0; });
  };
  return covers(*this, other) && covers(other, *this);
}

std::string Layout::ToString() const {
  std::string text;
  for (const Axis& axis : axes_) {
    if (axis.is_part()) text += std::to_string(axis.length);
    text += axis.name;
  }
  return text;
}

std::vector<const PrimExpr*> ConvertShape(std::span<const PrimExpr* const> shape, const Layout& from,
                                          const Layout& to) {
  IROPT_CHECK(from.ConvertibleTo(to) && shape.size() == from.axes().size());
  if (from == to) return {shape.begin(), shape.end()};
  const arith::PrimBuilder make;
  std::vector<const PrimExpr*> result;
  for (const Layout::Axis& axis : to.axes()) {
    if (axis.is_part()) {
      result.push_back(make.Int(axis.length));
      continue;
    }
    const PrimExpr* whole =
        make.Mul(shape[static_cast<size_t>(from.IndexOf(axis.name))], make.Int(from.SplitOf(axis.name)));
    const int64_t split = to.SplitOf(axis.name);
    result.push_back(arith::Simplify(split == 1 ? whole : make.CeilDiv(whole, make.Int(split))));
  }
  return result;
}

}  // namespace iropt
