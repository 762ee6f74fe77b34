// Legalization of layout_transform.
//
// Of the index map, each result must be a parameter, or its quotient or remainder by a constant: then the map has an
// inverse, and padding is where a quotient is the last one and the remainder is too great.
#include <optional>
#include <vector>

#include "iropt/ir/tir/substitute.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/reorder.h"

namespace iropt::legalize {

namespace {

using te::Tensor;
using te::Value;

// A result of an index map: its part of a parameter.
struct Part {
  enum class Kind : uint8_t { kWhole, kQuotient, kRemainder } kind = Kind::kWhole;
  size_t param = 0;
  int64_t divisor = 1;
};

std::optional<size_t> ParamOf(const IndexMapAttr& map, const PrimExpr* expr) {
  for (uint32_t i = 0; i < map.params.size(); ++i) {
    if (map.params[i] == expr) return i;
  }
  return std::nullopt;
}

std::optional<Part> PartOf(const IndexMapAttr& map, const PrimExpr* result) {
  if (const auto param = ParamOf(map, result)) return Part{Part::Kind::kWhole, *param, 1};
  if (result->kind != NodeKind::kFloorDiv && result->kind != NodeKind::kFloorMod) return std::nullopt;
  const auto* binary = static_cast<const tir::BinaryExpr*>(result);
  const auto param = ParamOf(map, binary->a);
  const int64_t* divisor = arith::AsInt(binary->b);
  if (!param || !divisor || *divisor <= 0) return std::nullopt;
  const bool is_quotient = result->kind == NodeKind::kFloorDiv;
  return Part{is_quotient ? Part::Kind::kQuotient : Part::Kind::kRemainder, *param, *divisor};
}

// The parts of all parameters: each is whole, or has a quotient and a remainder by the same number.
class Layout {
 public:
  static std::optional<Layout> Of(const IndexMapAttr& map) {
    Layout layout;
    layout.places_.resize(map.params.size());
    for (uint32_t i = 0; i < map.results.size(); ++i) {
      const std::optional<Part> part = PartOf(map, map.results[i]);
      if (!part) return std::nullopt;
      Places& places = layout.places_[part->param];
      std::optional<size_t>& place = part->kind == Part::Kind::kWhole      ? places.whole
                                     : part->kind == Part::Kind::kQuotient ? places.quotient
                                                                           : places.remainder;
      if (place || (places.divisor != 1 && places.divisor != part->divisor)) return std::nullopt;
      place = i;
      places.divisor = part->divisor;
    }
    for (const Places& places : layout.places_) {
      if (places.whole.has_value() == places.quotient.has_value()) return std::nullopt;
      if (places.quotient.has_value() != places.remainder.has_value()) return std::nullopt;
    }
    return layout;
  }

  // The position in the tensor of a position in the result.
  std::vector<Value> Inverse(te::Values i) const {
    std::vector<Value> own;
    for (const Places& places : places_)
      own.push_back(places.whole ? i[*places.whole] : i[*places.quotient] * places.divisor + i[*places.remainder]);
    return own;
  }
  // Returns the condition that a position in the result is padding; nothing if the result has none.
  std::optional<Value> Padding(const Tensor& x, te::Values i) const {
    std::optional<Value> padding;
    for (size_t k = 0; k < places_.size(); ++k) {
      const Places& places = places_[k];
      const Value rest = x.te().Simplify(te::FloorMod(x.dim(k), places.divisor));
      if (places.whole || rest.Is(0)) continue;
      const Value last = x.te().Simplify(te::FloorDiv(x.dim(k), places.divisor));
      const Value remainder = i[*places.remainder];
      const Value beyond =
          i[*places.quotient] == last && (rest.Is(places.divisor - 1) ? remainder == rest : rest <= remainder);
      const Value own = rest.AsInt() ? beyond
                                     : te::FloorMod(x.dim(k), Value(-places.divisor)) < 0 &&
                                           i[*places.quotient] == last && rest <= remainder;
      padding = padding ? *padding || own : own;
    }
    return padding;
  }

 private:
  struct Places {
    std::optional<size_t> whole = {}, quotient = {}, remainder = {};
    int64_t divisor = 1;
  };
  std::vector<Places> places_;
};

}  // namespace

const Expr* LegalizeLayoutTransform(LegalizeCall& call) {
  const LayoutTransformAttrs attrs(call.call());
  const std::optional<Layout> layout = Layout::Of(*attrs.index_map());
  if (!layout) return call.Unchanged("its index map is not made of parameters, quotients and remainders");
  const std::vector<int64_t> separators = attrs.axis_separators().vector();

  const Expr* operand = call.arg(0);
  const auto has_padding = [&] {
    TeCall probe(call, "");
    const Tensor x = probe.Input(operand);
    const std::vector<Value> zeros(static_cast<size_t>(call.result()->ndim), probe.Int(0));
    return layout->Padding(x, zeros).has_value();
  }();
  std::string name = "te_layout_transform";
  if (has_padding) name += "_with_pad";
  if (!separators.empty()) name += "_axis_separator";
  TeCall te(call, name);
  const Tensor x = te.Input(operand, te::Builder::Placement::kWhole, attrs.input_axis_separators().vector());
  const te::Shape shape = te.Dims(call.result()->dims.span());
  if (has_padding) {
    te::StageOptions options;
    options.rest = "axis";
    options.axis_separators = separators;
    const PrimExpr* number = attrs.pad_value();
    const Value pad = number ? te::Cast(x.dtype(), te.Prim(number)) : te.Const(0, x.dtype());
    const auto value = [&](te::Values i) {
      return te::IfThenElse(*layout->Padding(x, i), pad, x(te::Values(layout->Inverse(i))));
    };
    return te.Finish({te.Compute(name, shape, value, options)});
  }
  te::StageOptions options = te::PythonAxes({"self"});
  options.axis_separators = separators;
  const auto position = [&](te::Values i) {
    std::vector<Value> result;
    for (const PrimExpr* index : attrs.index_map()->results) {
      const auto own = [&](const tir::Var* var) -> const PrimExpr* {
        return te.NodeOf(i[*ParamOf(*attrs.index_map(), var)]);
      };
      result.emplace_back(tir::Substitute(index, own, te.workspace()), te);
    }
    return result;
  };
  return te.Finish({te.Scatter(
      name, x.shape(), shape, [&](te::Values i) { return x(i); }, position, options)});
}

}  // namespace iropt::legalize
