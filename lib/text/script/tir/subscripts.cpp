#include "subscripts.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/prim_builder.h"

namespace iropt::text {

using Kind = PyValue::Kind;

bool BufferElements::AccessOf(const tir::Buffer* buffer, std::span<const Subscript> indices, Span span, PyValue& out) {
  const bool slices = std::any_of(indices.begin(), indices.end(), [](const Subscript& i) { return i.slice; });
  const bool steps =
      std::any_of(indices.begin(), indices.end(), [](const Subscript& i) { return !i.step.is(Kind::kNone); });
  if (slices && !steps) {
    out.kind = Kind::kRegion;
    out.region = RegionOf(buffer, indices, span);
    out.span = span;
    return out.region != nullptr;
  }
  Prims exprs;
  if (!VectorIndices(buffer, indices, exprs)) return false;
  const PrimExpr* load = MakeLoad(buffer, exprs, nullptr, span);
  if (load) out = PyValue(load);
  return load != nullptr;
}

bool BufferElements::VectorIndices(const tir::Buffer* buffer, std::span<const Subscript> indices, Prims& out) {
  for (size_t i = 0; i < indices.size(); ++i) {
    const PrimExpr* e = indices[i].slice ? SlicedIndex(buffer, i, indices[i]) : ToPrim(indices[i].start);
    if (!e) return false;
    out.push_back(e);
  }
  return true;
}

// start:stop:step as a vector of indices; one index if the slice has one element.
const PrimExpr* BufferElements::SlicedIndex(const tir::Buffer* buffer, size_t i, const Subscript& index) {
  const PyValue start = index.start.is(Kind::kNone) ? PyValue::Int(0, index.start.span) : index.start;
  const PyValue stop = index.stop.is(Kind::kNone) && i < buffer->shape.size() ? PyValue(buffer->shape[i]) : index.stop;
  const PyValue step = index.step.is(Kind::kNone) ? PyValue::Int(1, start.span) : index.step;
  const PrimExpr* base = ToPrim(start);
  const PrimExpr* end = base ? ToPrim(stop) : nullptr;
  const PrimExpr* length = end ? ExtentOf(base, end, start.span) : nullptr;
  if (!length) return nullptr;
  PyValue count(length);
  if (!(step.is(Kind::kInt) && step.integer == 1)) {
    // Rounded up, also if the slice goes back.
    const PrimExpr* by = ToPrim(step);
    const int64_t* known = by ? arith::AsInt(by) : nullptr;
    const int64_t one = known && *known < 0 ? -1 : 1;
    if (!ops_.Binary(TokenKind::kPlus, PyValue(count), step, start.span, count) ||
        !ops_.Binary(TokenKind::kMinus, PyValue(count), PyValue::Int(one, start.span), start.span, count) ||
        !ops_.Binary(TokenKind::kDoubleSlash, PyValue(count), step, start.span, count)) {
      return nullptr;
    }
  }
  const PrimExpr* stride = step.is(Kind::kInt) ? ops_.Int(step.integer, base->dtype, step.span) : ToPrim(step);
  const PrimExpr* lanes = ToPrim(count);
  if (!lanes) return nullptr;
  lanes = Simplify(lanes);
  return arith::IsInt(lanes, 1) ? base : ops_.MakeRamp(base, stride, lanes, start.span);
}

const tir::BufferRegion* BufferElements::RegionOf(const tir::Buffer* buffer, std::span<const Subscript> indices,
                                                  Span span) {
  Ranges ranges;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Subscript& index = indices[i];
    const PyValue start = index.slice && index.start.is(Kind::kNone) ? PyValue::Int(0, span) : index.start;
    const PrimExpr* min = ToPrim(start);
    if (!min) return nullptr;
    const PrimExpr* extent = nullptr;
    if (index.slice) {
      if (index.stop.is(Kind::kNone) && i >= buffer->shape.size())
        return WrongIndexCount(buffer, indices.size(), span), nullptr;
      const PyValue stop = index.stop.is(Kind::kNone) ? PyValue(buffer->shape[i]) : index.stop;
      const PrimExpr* end = ToPrim(stop);
      extent = end ? ExtentOf(min, end, span) : nullptr;
      if (!extent) return nullptr;
    } else {
      extent = ops_.Int(1, min->dtype, min->span());
    }
    if (!extent->dtype.is_integer()) {
      return Report(span, "bad-index", fmt::format("an index is an integer, found '{}'", extent->dtype.ToString()));
    }
    auto* range = workspace_.New<tir::Range>(min, extent);
    range->set_span(min->span());
    ranges.push_back(range);
  }
  if (ranges.size() != buffer->shape.size()) return WrongIndexCount(buffer, ranges.size(), span), nullptr;
  auto* region = workspace_.New<tir::BufferRegion>(buffer, workspace_.Copy<const tir::Range*>(ranges));
  region->set_span(span);
  return region;
}

}  // namespace iropt::text
