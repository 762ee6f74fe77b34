#include "iropt/infer/map_shape.h"

#include <algorithm>

#include "infer/type_util.h"
#include "iropt/arith/analyzer.h"

namespace iropt {

using namespace rules;

namespace {

// Extents of sums of scaled quotients and remainders of the parameters of a map.
class MappedShape {
 public:
  MappedShape(const IndexMapAttr& map, List<Dim> dims) : map_(map), dims_(dims) {
    for (uint32_t i = 0; i < map.params.size(); ++i) {
      const tir::Var* param = map.params[i];
      bounds_.Bind(param, kDims.Int(0, param->dtype), kDims.Cast(param->dtype, dims[i]));
    }
  }

  // Null if it is not known.
  Dim Extent(const PrimExpr* index) {
    if (const Dim extent = SumExtent(index)) return arith::Simplify(extent);
    const arith::IntBound bound = bounds_.Bound(bounds_.Simplify(index));
    return bound.min >= 0 && bound.max < arith::IntBound::kPosInf ? kDims.Int(bound.max + 1) : nullptr;
  }

 private:
  // The terms of a sum do not overlap, so that the extent is that of the biggest.
  Dim SumExtent(const PrimExpr* e) {
    const auto* sum = As<tir::Add>(e);
    if (!sum) return TermExtent(e);
    const Dim a = SumExtent(sum->a);
    const Dim b = SumExtent(sum->b);
    if (!a || !b) return nullptr;
    if (ScaleOf(a) != ScaleOf(b) && !(arith::AsInt(a) && arith::AsInt(b))) return ScaleOf(a) > ScaleOf(b) ? a : b;
    return kDims.Max(a, b);
  }
  static int64_t ScaleOf(Dim extent) {
    const auto* product = As<tir::Mul>(extent);
    const int64_t* scale = product ? arith::AsInt(product->b) : nullptr;
    return scale ? *scale : 1;
  }
  Dim TermExtent(const PrimExpr* e) {
    const auto it = std::find(map_.params.begin(), map_.params.end(), e);
    if (it != map_.params.end()) return dims_[static_cast<size_t>(it - map_.params.begin())];
    if (arith::IsInt(e, 0)) return One();
    const auto* binary = As<tir::BinaryExpr>(e);
    const int64_t* c = binary ? arith::AsInt(binary->b) : nullptr;
    if (!c || *c <= 0) return nullptr;
    const Dim inner = TermExtent(binary->a);
    if (!inner) return nullptr;
    switch (e->kind) {
      case NodeKind::kMul: return kDims.Mul(inner, kDims.Int(*c));
      case NodeKind::kFloorDiv: return Padded(inner, *c);
      case NodeKind::kFloorMod: return kDims.Int(*c);
      default: return nullptr;
    }
  }

  // The number of groups of c, the last of which is padded; -(n % -c) is the padding to a multiple of c.
  static Dim Padded(Dim n, int64_t c) {
    const Dim missing = kDims.FloorMod(n, kDims.Int(-c));
    return kDims.FloorDiv(kDims.Sub(n, missing), kDims.Int(c));
  }

  const IndexMapAttr& map_;
  List<Dim> dims_;
  arith::Analyzer bounds_;
};

}  // namespace

std::optional<std::vector<const PrimExpr*>> MapShape(const IndexMapAttr& map, List<const PrimExpr*> dims) {
  MappedShape shape(map, dims);
  std::vector<const PrimExpr*> extents;
  for (const PrimExpr* index : map.results) {
    extents.push_back(shape.Extent(index));
    if (!extents.back()) return std::nullopt;
  }
  return extents;
}

}  // namespace iropt
