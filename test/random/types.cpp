#include "types.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt::generate {

std::string Dim::Text() const {
  if (is_static()) return std::to_string(offset);
  std::string text = scale == 1 ? var : fmt::format("{} * {}", var, scale);
  return offset == 0 ? text : fmt::format("{} + {}", text, offset);
}

std::optional<Dim> Sum(const Dim& a, const Dim& b) {
  if (!a.is_static() && !b.is_static() && a.var != b.var) return std::nullopt;
  return Dim{a.is_static() ? b.var : a.var, a.scale + b.scale, a.offset + b.offset};
}

std::optional<Dim> Product(const Dim& a, const Dim& b) {
  if (!a.is_static() && !b.is_static()) return std::nullopt;
  if (!a.is_static()) return Product(b, a);
  return Dim{b.var, a.offset * b.scale, a.offset * b.offset};
}

std::string Join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += text.empty() ? item : ", " + item;
  return text;
}

std::string DimsText(const Dims& dims) {
  std::vector<std::string> texts;
  for (const Dim& dim : dims) texts.push_back(dim.Text());
  return Join(texts);
}

std::string ShapeText(const Dims& dims) { return fmt::format("R.shape([{}])", DimsText(dims)); }

std::optional<Dims> BroadcastShapes(const Dims& a, const Dims& b) {
  if (a.size() < b.size()) return BroadcastShapes(b, a);
  Dims result = a;
  const size_t skipped = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    Dim& dim = result[skipped + i];
    if (dim.is(1)) {
      dim = b[i];
    } else if (!b[i].is(1) && b[i] != dim) {
      return std::nullopt;
    }
  }
  return result;
}

std::string TypeText(const Type& type, Place place) {
  std::vector<std::string> parts;
  if (type.is_tuple()) {
    for (const Type& field : type.fields) parts.push_back(TypeText(field, place));
    return fmt::format("R.Tuple({})", Join(parts));
  }
  for (const Dim& dim : type.dims) {
    parts.push_back(dim.is_static() || place == Place::kBody ? dim.Text() : fmt::format("\"{}\"", dim.Text()));
  }
  return fmt::format("R.Tensor(({}{}), dtype=\"{}\")", Join(parts), parts.size() == 1 ? "," : "", type.dtype);
}

}  // namespace iropt::generate
