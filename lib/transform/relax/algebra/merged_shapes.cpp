#include "merged_shapes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/nn.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/reshape.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

using Axes = std::vector<int64_t>;

// ---- Slices

// What a slice takes of one axis.
struct Range {
  const Expr* begin;
  const Expr* end;
  const Expr* stride;  // null: 1
};
using Ranges = std::map<int64_t, Range>;

const int64_t* IntegerOf(const Expr* operand) {
  const auto* scalar = As<PrimValue>(operand);
  return scalar ? arith::AsInt(scalar->value) : nullptr;
}

// The ranges of a slice by axes; nothing if some of them are not listed.
std::optional<Ranges> RangesOf(const Call& slice, const Definitions& definitions) {
  const TensorType* x = TensorTypeOf(slice.args[0]);
  const Tuple* lists[4] = {};
  for (uint32_t i = 0; i < 4 && i + 1 < slice.args.size(); ++i) {
    lists[i] = As<Tuple>(DefinitionOf(slice.args[i + 1], definitions));
    if (lists[i] == nullptr || lists[i]->fields.size() != lists[0]->fields.size()) return std::nullopt;
  }
  if (x == nullptr || x->ndim < 0) return std::nullopt;
  Ranges ranges;
  for (uint32_t i = 0; i < lists[0]->fields.size(); ++i) {
    const int64_t* axis = IntegerOf(lists[0]->fields[i]);
    if (axis == nullptr) return std::nullopt;
    const Range range{lists[1]->fields[i], lists[2]->fields[i], lists[3] ? lists[3]->fields[i] : nullptr};
    if (!ranges.emplace(*axis < 0 ? *axis + x->ndim : *axis, range).second) return std::nullopt;
  }
  return ranges;
}

// A range of steps of one element, from and to places that count from the front.
struct Interval {
  int64_t begin;
  int64_t end;
};

std::optional<Interval> IntervalOf(const Range& range, const PrimExpr* dim) {
  const int64_t* begin = IntegerOf(range.begin);
  const int64_t* end = IntegerOf(range.end);
  const int64_t* stride = range.stride ? IntegerOf(range.stride) : nullptr;
  const bool is_single = range.stride == nullptr || (stride != nullptr && *stride == 1);
  if (begin == nullptr || end == nullptr || !is_single) return std::nullopt;
  const int64_t* size = dim ? arith::AsInt(dim) : nullptr;
  if (size == nullptr) {
    constexpr int64_t kMost = int64_t{1} << 40;  // sums of two are far from the limit
    if (*begin < 0 || *end < 0 || *begin > kMost || *end > kMost) return std::nullopt;
    return Interval{*begin, *end};
  }
  const auto clamp = [&](int64_t at) { return std::clamp(at < 0 ? at + *size : at, int64_t{0}, *size); };
  return Interval{clamp(*begin), clamp(*end)};
}

class SliceMaker {
 public:
  explicit SliceMaker(BlockBuilder& builder) : builder_(builder), calls_(builder) {}

  const Expr* Number(int64_t number) {
    const PrimExpr* value = IRContext::Current().Int(number);
    return builder_.workspace().New<PrimValue>(value, PrimType::Get(value));
  }

  const Expr* Make(const Expr* x, const Ranges& ranges, bool assume_inbound) {
    std::vector<const Expr*> lists[4];
    for (const auto& [axis, range] : ranges) {
      lists[0].push_back(Number(axis));
      lists[1].push_back(range.begin);
      lists[2].push_back(range.end);
      lists[3].push_back(range.stride ? range.stride : Number(1));
    }
    const Expr* fields[4];
    for (size_t i = 0; i < 4; ++i) fields[i] = calls_.MakeTuple(lists[i]);
    const StridedSliceAttrs::Values attrs{.assume_inbound = assume_inbound};
    return op::StridedSlice(calls_, x, fields[0], fields[1], fields[2], fields[3], attrs);
  }

 private:
  BlockBuilder& builder_;
  OpBuilder calls_;
};

const PrimExpr* DimAt(const TensorType* type, int64_t axis) {
  return type->known ? type->dims[static_cast<uint32_t>(axis)] : nullptr;
}

// slice(slice(x)): the ranges of both, where no axis has two of them, or both are of single steps.
std::optional<Ranges> Merged(const TensorType* x, const TensorType* middle, Ranges inner, const Ranges& outer,
                             SliceMaker& make) {
  for (const auto& [axis, range] : outer) {
    const auto [old, is_new] = inner.emplace(axis, range);
    if (is_new) continue;
    const auto first = IntervalOf(old->second, DimAt(x, axis));
    const auto second = IntervalOf(range, DimAt(middle, axis));
    if (!first || !second) return std::nullopt;
    old->second.begin = make.Number(first->begin + second->begin);
    old->second.end = make.Number(std::min(first->end, first->begin + second->end));
  }
  return inner;
}

// slice(concat(parts)), where the range along the axis of the concat is within one part.
const Expr* SliceOfPart(const Call& slice, const Call& concat, const Definitions& definitions, BlockBuilder& builder) {
  const auto* parts = As<Tuple>(DefinitionOf(concat.args[0], definitions));
  const TensorType* whole = TensorTypeOf(slice.args[0]);
  const auto ranges = RangesOf(slice, definitions);
  if (parts == nullptr || whole == nullptr || whole->ndim < 1 || !ranges) return nullptr;
  const auto given = ConcatAttrs(concat).axis();
  if (!given) return nullptr;
  const int64_t axis = *given < 0 ? *given + whole->ndim : *given;
  const auto found = ranges->find(axis);
  const auto interval = found == ranges->end() ? std::nullopt : IntervalOf(found->second, DimAt(whole, axis));
  if (!interval || interval->begin >= interval->end) return nullptr;
  int64_t start = 0;
  for (const Expr* part : parts->fields) {
    const TensorType* type = TensorTypeOf(part);
    const PrimExpr* dim = type && type->known ? DimAt(type, axis) : nullptr;
    const int64_t* size = dim ? arith::AsInt(dim) : nullptr;
    if (size == nullptr) return nullptr;
    const int64_t end = start + *size;
    if (interval->begin < end) {
      if (interval->end > end) return nullptr;
      SliceMaker make(builder);
      Ranges rest = *ranges;
      rest[axis] = {make.Number(interval->begin - start), make.Number(interval->end - start), nullptr};
      if (interval->begin == start && interval->end == end) rest.erase(axis);
      return rest.empty() ? part : make.Make(part, rest, StridedSliceAttrs(slice).assume_inbound());
    }
    start = end;
  }
  return nullptr;
}

void AddSlices(RuleSet& rules) {
  const Pattern x = Wildcard();
  const auto slice_of = [](const Pattern& data) { return IsCall(GetOp(op::kStridedSlice), {data}).AnyMoreArgs(); };
  const Pattern inner = slice_of(x).UsedOnce();
  const Pattern outer = slice_of(inner);
  rules.Add({"slice of a slice", outer, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Call& first = *match.CallAt(inner);
               const Call& second = *match.CallAt(outer);
               const bool inbound = StridedSliceAttrs(first).assume_inbound();
               const auto old = RangesOf(first, match.definitions());
               const auto added = RangesOf(second, match.definitions());
               if (!old || !added || StridedSliceAttrs(second).assume_inbound() != inbound) return nullptr;
               SliceMaker make(builder);
               const auto ranges = Merged(TensorTypeOf(match[x]), TensorTypeOf(&first), *old, *added, make);
               const Expr* merged = ranges ? make.Make(match[x], *ranges, inbound) : nullptr;
               return merged && TypeEqual(merged->type, second.type) ? merged : nullptr;
             }});
  const Pattern concat = IsCall(GetOp(op::kConcat), {Wildcard()});
  const Pattern part = slice_of(concat);
  rules.Add({"slice of one part", part, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Call& slice = *match.CallAt(part);
               const Expr* own = SliceOfPart(slice, *match.CallAt(concat), match.definitions(), builder);
               return own && TypeEqual(own->type, slice.type) ? own : nullptr;
             }});
}

// ---- Concatenations and padding

// The longest concatenation that becomes a part of another one: a chain of n takes O(n), not O(n * n).
constexpr size_t kMostJoinedParts = 64;

// concat((a, concat((b, c)))) = concat((a, b, c)), without parts that have no elements
const Expr* JoinedConcat(const Call& outer, const Definitions& definitions, BlockBuilder& builder) {
  const auto* parts = As<Tuple>(DefinitionOf(outer.args[0], definitions));
  const auto axis = ConcatAttrs(outer).axis();
  const TensorType* type = As<TensorType>(outer.type);
  if (parts == nullptr || !axis || type == nullptr || type->ndim < 1) return nullptr;
  const auto from_front = [&](int64_t a) { return a < 0 ? a + type->ndim : a; };
  std::vector<const Expr*> joined;
  bool is_other = false;
  for (const Expr* part : parts->fields) {
    const TensorType* part_type = TensorTypeOf(part);
    const int64_t* length = part_type && part_type->known
                                ? arith::AsInt(part_type->dims[static_cast<uint32_t>(from_front(*axis))])
                                : nullptr;
    if (length && *length == 0) {
      is_other = true;
      continue;
    }
    const auto* var = As<Var>(ResolveAlias(part, definitions));
    const Call* inner = CallOf(DefinitionOf(part, definitions), op::kConcat);
    const auto* fields = inner ? As<Tuple>(DefinitionOf(inner->args[0], definitions)) : nullptr;
    const auto own_axis = inner ? ConcatAttrs(*inner).axis() : std::nullopt;
    const bool joins = fields != nullptr && fields->fields.size() <= kMostJoinedParts && own_axis &&
                       from_front(*own_axis) == from_front(*axis) && var != nullptr && definitions.IsUsedOnce(var);
    if (joins) {
      joined.insert(joined.end(), fields->fields.begin(), fields->fields.end());
      is_other = true;
    } else {
      joined.push_back(part);
    }
  }
  if (!is_other || joined.empty()) return nullptr;
  if (joined.size() == 1) return joined.front();
  OpBuilder calls(builder);
  return op::Concat(calls, calls.MakeTuple(joined), {.axis = *axis});
}

void AddJoins(RuleSet& rules) {
  const Pattern concat = IsCall(GetOp(op::kConcat), {Wildcard()});
  rules.Add({"concat of a concat", concat, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Expr* joined = JoinedConcat(*match.CallAt(concat), match.definitions(), builder);
               return joined && TypeEqual(joined->type, match[concat]->type) ? joined : nullptr;
             }});
  const Pattern x = Wildcard();
  const Pattern value = IsConstant();
  const Pattern inner = IsCall(GetOp(op::kNnPad), {x, value}).UsedOnce();
  const Pattern again = IsConstant();
  const Pattern outer = IsCall(GetOp(op::kNnPad), {inner, again});
  rules.Add({"pad of a pad", outer, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const PadAttrs first(*match.CallAt(inner)), second(*match.CallAt(outer));
               const auto widths = first.pad_width(), added = second.pad_width();
               const bool is_constant = first.pad_mode() == "constant" && second.pad_mode() == "constant";
               if (!is_constant || widths.size() != added.size() ||
                   *To<Constant>(match[value])->data != *To<Constant>(match[again])->data)
                 return nullptr;
               Axes sums(widths.begin(), widths.end());
               for (size_t i = 0; i < sums.size(); ++i) {
                 // What a negative width removes, the other pad does not put back.
                 if (sums[i] < 0 || added[i] < 0 || __builtin_add_overflow(sums[i], added[i], &sums[i])) return nullptr;
               }
               const Expr* joined =
                   op::NnPad(OpBuilder(builder), match[x], match[value], {.pad_width = sums, .pad_mode = "constant"});
               return TypeEqual(joined->type, match[outer]->type) ? joined : nullptr;
             }});
}

// ---- Axes of length 1

// A reduction that keeps its axes instead of one that does not, or the other way round.
void AddKeptAxes(RuleSet& rules) {
  for (const OpId reduction : {op::kSum, op::kMean, op::kMax, op::kMin}) {
    const Pattern x = Wildcard();
    const Pattern reduce = IsCall(GetOp(reduction), {x}).UsedOnce();
    for (const OpId shape : {op::kSqueeze, op::kExpandDims, op::kReshape}) {
      const Pattern reshaped = IsCall(GetOp(shape), {reduce}).AnyMoreArgs();
      rules.Add({"axes of a reduction", reshaped, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                   const StatisticalAttrs attrs(*match.CallAt(reduce));
                   StatisticalAttrs::Values other{.keepdims = !attrs.keepdims()};
                   const auto axes = attrs.axis();
                   if (axes) other.axis = Axes(axes->begin(), axes->end());
                   const TensorType* type = TensorTypeOf(match[reshaped]);
                   const Expr* kept = OpBuilder(builder).Make(reduction, {match[x]}, MakeOpAttrs(reduction, other));
                   return type && type->known && TypeEqual(kept->type, type) ? kept : nullptr;
                 }});
    }
  }
}

// Places among those that are not in a sorted list.
Axes Places(const Axes& places, const Axes& taken) {
  Axes result;
  for (int64_t place : places) {
    for (const int64_t other : taken) place += other <= place ? 1 : 0;
    result.push_back(place);
  }
  return result;
}

Axes Sorted(Axes axes, int rank) {
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::ranges::sort(axes);
  return axes;
}

void AddAxesTwice(RuleSet& rules) {
  const Pattern x = Wildcard();
  const Pattern squeeze = IsCall(GetOp(op::kSqueeze), {x}).UsedOnce();
  const Pattern squeezed = IsCall(GetOp(op::kSqueeze), {squeeze});
  rules.Add({"squeeze of a squeeze", squeezed, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const auto first = SqueezeAttrs(*match.CallAt(squeeze)).axis();
               const auto second = SqueezeAttrs(*match.CallAt(squeezed)).axis();
               const TensorType* type = TensorTypeOf(match[x]);
               if (!first || !second || type == nullptr || type->ndim < 0) return nullptr;
               Axes axes = Sorted({first->begin(), first->end()}, type->ndim);
               const int rest = type->ndim - static_cast<int>(axes.size());
               const Axes more = Places(Sorted({second->begin(), second->end()}, rest), axes);
               axes.insert(axes.end(), more.begin(), more.end());
               return op::Squeeze(OpBuilder(builder), match[x], {.axis = Sorted(axes, type->ndim)});
             }});
  const Pattern expand = IsCall(GetOp(op::kExpandDims), {x}).UsedOnce();
  const Pattern expanded = IsCall(GetOp(op::kExpandDims), {expand});
  rules.Add({"expand_dims of expand_dims", expanded, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const auto first = ExpandDimsAttrs(*match.CallAt(expand)).axis();
               const auto second = ExpandDimsAttrs(*match.CallAt(expanded)).axis();
               const TensorType* middle = TensorTypeOf(match[expand]);
               const TensorType* type = TensorTypeOf(match[expanded]);
               if (middle == nullptr || type == nullptr || middle->ndim < 0 || type->ndim < 0) return nullptr;
               Axes axes = Sorted({second.begin(), second.end()}, type->ndim);
               const Axes more = Places(Sorted({first.begin(), first.end()}, middle->ndim), axes);
               axes.insert(axes.end(), more.begin(), more.end());
               return op::ExpandDims(OpBuilder(builder), match[x], {.axis = Sorted(axes, type->ndim)});
             }});
}

// Returns whether at most one dimension is not a number: formats can state a shape like that without computing it.
bool HasOneUnknownDim(const TensorType* type) {
  const auto is_unknown = [](const PrimExpr* dim) { return arith::AsInt(dim) == nullptr; };
  return type && type->known && std::ranges::count_if(type->dims, is_unknown) <= 1;
}

// A reshape with an operator next to it that only adds or removes axes.
void AddAxesOfReshapes(RuleSet& rules) {
  const std::pair<OpId, OpId> pairs[] = {{op::kReshape, op::kSqueeze},
                                         {op::kReshape, op::kExpandDims},
                                         {op::kSqueeze, op::kReshape},
                                         {op::kExpandDims, op::kReshape}};
  for (const auto& [first, second] : pairs) {
    const Pattern x = Wildcard();
    const Pattern inner = IsCall(GetOp(first), {x}).AnyMoreArgs().UsedOnce();
    const Pattern outer = IsCall(GetOp(second), {inner}).AnyMoreArgs();
    rules.Add({"axes of a reshape", outer, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 const TensorType* type = TensorTypeOf(match[outer]);
                 if (!HasOneUnknownDim(type)) return nullptr;
                 OpBuilder calls(builder);
                 const Expr* merged = calls.TryMake(op::kReshape, {match[x], calls.MakeShape(type->dims)});
                 return merged && TypeEqual(merged->type, type) ? merged : nullptr;
               }});
  }
}

}  // namespace

void AddMergedShapeRules(RuleSet& rules) {
  AddAxesOfReshapes(rules);
  AddSlices(rules);
  AddJoins(rules);
  AddKeptAxes(rules);
  AddAxesTwice(rules);
}

}  // namespace iropt
