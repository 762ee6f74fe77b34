#include "iropt/infer/slice.h"

#include <algorithm>
#include <optional>

#include "infer/type_util.h"

namespace iropt {

using namespace rules;

SliceRange RangeOfSlice(int64_t begin, int64_t end, int64_t stride, int64_t extent) {
  const int64_t lowest = stride < 0 ? -1 : 0;
  const int64_t highest = stride < 0 ? extent - 1 : extent;
  begin = std::clamp(begin < 0 ? begin + extent : begin, lowest, highest);
  end = std::clamp(end < 0 ? end + extent : end, lowest, highest);
  const int64_t distance = stride < 0 ? begin - end : end - begin;
  if (distance <= 0) return {begin, 0};
  // The magnitude as an unsigned number, because the least integer has no positive counterpart.
  const uint64_t magnitude = stride < 0 ? ~static_cast<uint64_t>(stride) + 1 : static_cast<uint64_t>(stride);
  return {begin, static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / magnitude) + 1};
}

namespace {

// No dimension is as large, so that a constant index of this magnitude is clamped, and arithmetic does not overflow.
constexpr int64_t kBeyondAll = int64_t{1} << 60;

bool IsNegative(Dim index) {
  const int64_t* value = arith::AsInt(index);
  return value != nullptr && *value < 0;
}

Dim LessThanZero(Dim index) { return kDims.Binary(NodeKind::kLT, index, kDims.Int(0)); }

// One axis with a stride whose sign decides what indices are clamped to.
class SymbolicSlice {
 public:
  SymbolicSlice(Dim stride, Dim extent)
      : stride_(stride),
        extent_(extent),
        lowest_(IfThenElse(LessThanZero(stride), kDims.Int(-1), kDims.Int(0))),
        highest_(IfThenElse(LessThanZero(stride), kDims.Sub(extent, One()), extent)) {}

  // Counted from the front; a constant beyond all dimensions is clamped.
  Dim FromFront(Dim index) const {
    const int64_t* value = arith::AsInt(index);
    if (value && *value >= kBeyondAll) return highest_;
    if (value && *value <= -kBeyondAll) return lowest_;
    return IfThenElse(LessThanZero(index), kDims.Add(index, extent_), index);
  }
  Dim Clamp(Dim index) const { return kDims.Min(kDims.Max(index, lowest_), highest_); }

  // The number of steps between indices that need not be in order.
  Dim Steps(Dim begin, Dim end) const {
    const Dim minus_stride = kDims.Sub(kDims.Int(0), stride_);
    return IfThenElse(LessThanZero(stride_), kDims.CeilDiv(kDims.Sub(begin, end), minus_stride),
                      kDims.CeilDiv(kDims.Sub(end, begin), stride_));
  }

  // Returns whether the distance from `begin` to `end`, in the direction of the stride, is not negative.
  bool RunsForward(Dim begin, Dim end, arith::Analyzer& analyzer) const {
    const int64_t* stride = arith::AsInt(stride_);
    return stride && analyzer.CanProveGreaterEqual(*stride < 0 ? kDims.Sub(begin, end) : kDims.Sub(end, begin), 0);
  }

  // Where a slice that is not empty begins: one end of the axis cannot be passed then.
  Dim First(Dim begin) const {
    const int64_t* stride = arith::AsInt(stride_);
    arith::Analyzer analyzer;
    const arith::Analyzer::Constraint not_empty(analyzer, kDims.Binary(NodeKind::kGE, extent_, One()));
    if (!stride) return analyzer.Simplify(Clamp(begin));
    return analyzer.Simplify(*stride < 0 ? kDims.Min(begin, highest_) : kDims.Max(begin, lowest_));
  }

 private:
  Dim stride_;
  Dim extent_;
  Dim lowest_;
  Dim highest_;
};

Dim InboundLength(Dim begin, Dim end, const SymbolicSlice& slice, Dim extent) {
  arith::Analyzer analyzer;
  const auto within = [&](Dim at) {
    return kDims.Binary(NodeKind::kAnd, kDims.Binary(NodeKind::kLE, kDims.Int(0), at),
                        kDims.Binary(NodeKind::kLE, at, extent));
  };
  const Dim inbound = kDims.Binary(NodeKind::kAnd, within(begin), within(end));
  std::optional<arith::Analyzer::Constraint> constraint;
  if (!arith::AsInt(inbound)) constraint.emplace(analyzer, inbound);
  const Dim length = analyzer.Simplify(slice.Steps(begin, end));
  return IsNegative(length) ? kDims.Int(0) : length;
}

Dim ClampedLength(Dim begin, Dim end, const SymbolicSlice& slice) {
  arith::Analyzer analyzer;
  // Clamping keeps the order of indices.
  if (slice.RunsForward(end, begin, analyzer)) return kDims.Int(0);
  const Dim length = analyzer.Simplify(slice.Steps(slice.Clamp(begin), slice.Clamp(end)));
  if (slice.RunsForward(begin, end, analyzer) || analyzer.CanProveGreaterEqual(length, 0)) return length;
  return analyzer.Simplify(kDims.Max(length, kDims.Int(0)));
}

}  // namespace

SymbolicSliceRange RangeOfSlice(Dim begin, Dim end, Dim stride, Dim extent, bool assume_inbound) {
  const int64_t* first = arith::AsInt(begin);
  const int64_t* last = arith::AsInt(end);
  const int64_t* step = arith::AsInt(stride);
  const int64_t* size = arith::AsInt(extent);
  if (first && last && step && size) {
    const SliceRange range = RangeOfSlice(*first, *last, *step, *size);
    return {kDims.Int(range.first), kDims.Int(range.length)};
  }
  const SymbolicSlice slice(stride, extent);
  if (assume_inbound) {
    const Dim from = IsNegative(begin) ? slice.FromFront(begin) : begin;
    const Dim to = IsNegative(end) ? slice.FromFront(end) : end;
    return {from, InboundLength(from, to, slice, extent)};
  }
  const Dim from = slice.FromFront(begin);
  return {slice.First(from), ClampedLength(from, slice.FromFront(end), slice)};
}

}  // namespace iropt
