// SimplifyExpr: removes operators that do nothing, and merges those that undo or repeat each other.
//
//   lv = R.add(x, R.const(0.0, "float32"))
//   lv1 = R.permute_dims(lv, axes=[1, 0])          y = x
//   lv2 = R.permute_dims(lv1, axes=[1, 0])  -->
//   y = R.reshape(lv2, R.shape([2, 3]))
//
// The rules are the rows of MakeSimplifyExprRules: the identity in a comment, the pattern, and the replacement. All of
// them are exact, up to the sign of zero, but the sum of stacked tensors and the rules of AddNeighbourRules and
// AddBinomialRules, which round floats at other places. test/transform/simplify_expr runs each on random inputs. An
// operator stays if it is there for the type: if the result has another dtype or, because of broadcasting, another
// shape. Changed functions are cleaned up. O(nodes), and the elements of constants that are all equal.
//
// Source: the idea is that of Relay's pass of this name, TVM's former graph-level IR.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "binomials.h"
#include "clips.h"
#include "columns_of_reshapes.h"
#include "dequantized_order.h"
#include "filled_tensors.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/unary.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/SimplifyExpr.h"
#include "merged_shapes.h"
#include "quantized_moves.h"
#include "split_transposes.h"
#include "taken_places.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// Big arrays in files are not read for this.
constexpr size_t kMostBytesToRead = 4096;

bool AllElementsAre(const NDArray& array, double value) {
  if (array.source() && array.num_bytes() > kMostBytesToRead) return false;
  bool all = false;
  DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
    all = std::ranges::all_of(array.As<T>(), [&](T x) { return static_cast<double>(Element<T>::Load(x)) == value; });
  });
  return all;
}

Pattern Filled(double value) {
  return IsConstant().Where([=](const Expr* e) { return AllElementsAre(*To<Constant>(e)->data, value); });
}

// Returns whether every value of the types has the same dtype and shape.
bool SameType(const Expr* a, const Expr* b) {
  const TensorType* tensor = TensorTypeOf(a);
  return tensor && tensor->has_shape() && !tensor->dtype.is_void() && TypeEqual(a->type, b->type);
}

// Returns whether a conversion keeps every value.
bool IsLossless(DataType from, DataType to) {
  if (from.is_void() || to.is_void()) return false;
  if (from == to || from.is_bool()) return true;
  if (from.is_floating() || to.is_floating()) {
    // float16, float32 and float64 have 11, 24 and 53 digits.
    const auto digits = [](DataType t) { return t.bits == 16 ? 11 : t.bits == 32 ? 24 : 53; };
    const auto is_plain = [](DataType t) { return t == DataType::Float(t.bits) && t.bits >= 16; };
    if (!is_plain(to)) return false;
    if (from.is_floating()) return is_plain(from) && from.bits <= to.bits;
    return from.bits <= digits(to);
  }
  if (from.is_uint() == to.is_uint()) return from.bits <= to.bits;
  return from.is_uint() && from.bits < to.bits;
}

using Replacement = std::function<const Expr*(const Match&, OpBuilder&)>;

// A set of rules with the variables that their patterns share.
class Table {
 public:
  const Pattern x = Wildcard();

  void Row(const char* name, const Pattern& pattern, Replacement replace) {
    rules_.Add({name, pattern, [replace = std::move(replace)](const Match& match, BlockBuilder& builder) {
                  OpBuilder calls(builder);
                  return replace(match, calls);
                }});
  }
  // A row whose replacement is x, if the types are equal.
  void Identity(const char* name, const Pattern& pattern) {
    Row(name, pattern, [x = x, pattern](const Match& match, OpBuilder&) {
      return SameType(match[x], match[pattern]) ? match[x] : nullptr;
    });
  }
  RuleSet Take() { return std::move(rules_); }

 private:
  RuleSet rules_;
};

const Expr* MergePermutes(const Call& outer, const Call& inner, const Expr* x, OpBuilder& calls) {
  const std::vector<int64_t> second = PermutationOf(outer);
  const std::vector<int64_t> first = PermutationOf(inner);
  if (first.empty() || first.size() != second.size()) return nullptr;
  std::vector<int64_t> axes;
  bool is_identity = true;
  for (size_t i = 0; i < second.size(); ++i) {
    axes.push_back(first[static_cast<size_t>(second[i])]);
    is_identity &= axes.back() == static_cast<int64_t>(i);
  }
  return is_identity ? x : op::PermuteDims(calls, x, {.axes = axes});
}

bool IsIdentityPermutation(const Expr* value) {
  const std::vector<int64_t> axes = PermutationOf(*To<Call>(value));
  return !axes.empty() && std::ranges::is_sorted(axes);
}

// The operand of a split all of whose parts the concat puts together again; null if it is something else.
const Expr* SplitTensor(const Call& concat, const Definitions& definitions) {
  const auto* parts = As<Tuple>(DefinitionOf(concat.args[0], definitions));
  const Call* split = nullptr;
  for (uint32_t i = 0; parts && i < parts->fields.size(); ++i) {
    const auto* item = As<TupleGetItem>(DefinitionOf(parts->fields[i], definitions));
    const Call* source = item ? CallOf(DefinitionOf(item->tuple, definitions), op::kSplit) : nullptr;
    if (!source || item->index != static_cast<int>(i) || (split && source != split)) return nullptr;
    split = source;
  }
  const auto* fields = split ? As<TupleType>(split->type) : nullptr;
  const TensorType* x = split ? TensorTypeOf(split->args[0]) : nullptr;
  const std::optional<int64_t> axis = ConcatAttrs(concat).axis();
  if (!fields || fields->fields.size() != parts->fields.size() || !x || x->ndim <= 0 || !axis) return nullptr;
  const auto from_front = [&](int64_t a) { return a < 0 ? a + x->ndim : a; };
  return from_front(*axis) == from_front(SplitAttrs(*split).axis()) ? split->args[0] : nullptr;
}

// The tensors that a concat puts together, each of which an expand_dims gave the axis of the concat; empty if the
// operand is something else.
std::vector<const Expr*> StackedTensors(const Call& concat, int64_t axis, const Definitions& definitions) {
  std::vector<const Expr*> tensors;
  const auto* parts = As<Tuple>(DefinitionOf(concat.args[0], definitions));
  if (!parts || ConcatAttrs(concat).axis() != axis) return {};
  for (const Expr* part : parts->fields) {
    const Call* expand = CallOf(DefinitionOf(part, definitions), op::kExpandDims);
    if (!expand) return {};
    const auto axes = ExpandDimsAttrs(*expand).axis();
    if (axes.size() != 1 || axes[0] != axis) return {};
    if (!tensors.empty() && !SameType(tensors.front(), expand->args[0])) return {};
    tensors.push_back(expand->args[0]);
  }
  return tensors;
}

void AddArithmetic(Table& table) {
  const auto op = [](OpId id, const Pattern& a, const Pattern& b) { return IsCall(GetOp(id), {a, b}); };
  const Pattern& x = table.x;
  table.Identity("x + 0 = x", op(op::kAdd, x, Filled(0)).Commutative());
  table.Identity("x - 0 = x", op(op::kSubtract, x, Filled(0)));
  table.Identity("x * 1 = x", op(op::kMultiply, x, Filled(1)).Commutative());
  table.Identity("x / 1 = x", op(op::kDivide, x, Filled(1)));
  table.Identity("x ** 1 = x", op(op::kPower, x, Filled(1)));
  table.Identity("max(x, x) = x", op(op::kMaximum, x, x));
  table.Identity("min(x, x) = x", op(op::kMinimum, x, x));
  // op(op(x)) = x
  for (const OpId id : {op::kNegative, op::kBitwiseNot, op::kLogicalNot}) {
    table.Identity("inverse of itself", IsCall(GetOp(id), {IsCall(GetOp(id), {x})}));
  }
  const Pattern y = Wildcard();
  const Pattern minus = IsCall(GetOp(op::kNegative), {x}).UsedOnce();
  table.Row("y + -x = y - x", op(op::kAdd, y, minus).Commutative(), [=, x = x](const Match& match, OpBuilder& calls) {
    return calls.Make(op::kSubtract, {match[y], match[x]});
  });
  table.Row("y - -x = y + x", op(op::kSubtract, y, minus), [=, x = x](const Match& match, OpBuilder& calls) {
    return calls.Make(op::kAdd, {match[y], match[x]});
  });
  const Pattern otherwise = Wildcard();
  const Pattern choice = IsCall(GetOp(op::kWhere), {IsCall(GetOp(op::kLogicalNot), {x}), y, otherwise});
  table.Row("where(not x, y, z) = where(x, z, y)", choice, [=, x = x](const Match& match, OpBuilder& calls) {
    return calls.Make(op::kWhere, {match[x], match[otherwise], match[y]});
  });
  // op(op(x)) = op(x)
  for (const OpId id : {op::kNnRelu, op::kAbs, op::kCeil, op::kFloor, op::kRound, op::kSign}) {
    const Pattern once = IsCall(GetOp(id), {x});
    table.Row("idempotent", IsCall(GetOp(id), {once}), [=](const Match& match, OpBuilder&) { return match[once]; });
  }
}

// sum(stack(x, y, ...)) = x + y + ..., where stack is the concat of expand_dims of a new axis. So ONNX's Sum is
// imported.
void AddStacks(Table& table) {
  constexpr std::pair<OpId, OpId> kReductions[] = {
      {op::kSum, op::kAdd}, {op::kMax, op::kMaximum}, {op::kMin, op::kMinimum}};
  for (const auto& [reduction, elementwise] : kReductions) {
    const Pattern concat = IsCall(GetOp(op::kConcat), {Wildcard()}).UsedOnce();
    const Pattern reduce = IsCall(GetOp(reduction), {concat});
    table.Row("reduction of stacked tensors", reduce,
              [=, elementwise = elementwise](const Match& match, OpBuilder& calls) -> const Expr* {
                const StatisticalAttrs attrs(*match.CallAt(reduce));
                const auto axes = attrs.axis();
                if (!axes || axes->size() != 1 || attrs.keepdims()) return nullptr;
                const std::vector<const Expr*> tensors =
                    StackedTensors(*match.CallAt(concat), (*axes)[0], match.definitions());
                if (tensors.empty() || !SameType(tensors.front(), match[reduce])) return nullptr;
                if (TensorTypeOf(tensors.front())->dtype.is_bool()) return nullptr;
                const Expr* result = tensors.front();
                for (const Expr* tensor : std::span(tensors).subspan(1)) {
                  result = calls.Make(elementwise, {result, tensor});
                }
                return result;
              });
  }
}

// Returns whether the dtype has all integers up to one of this size.
bool HasIntegersUpTo(DataType dtype, int64_t size) {
  if (dtype.is_integer()) return dtype.bits > 8 && size <= (int64_t{1} << (std::min<int>(dtype.bits, 62) - 1)) - 1;
  return dtype == DataType::Float(64) || (dtype == DataType::Float(32) && size <= int64_t{1} << 24);
}

// astype(arange(begin, end, step), t) = arange(begin, end, step, dtype=t)
void AddRanges(Table& table) {
  const Pattern limits[] = {Wildcard(), Wildcard(), Wildcard()};
  const Pattern range = IsCall(GetOp(op::kArange), limits).UsedOnce();
  const Pattern cast = IsCall(GetOp(op::kAstype), {range});
  table.Row("cast of a range", cast, [=](const Match& match, OpBuilder& calls) -> const Expr* {
    const TensorType* from = TensorTypeOf(match[range]);
    const TensorType* to = TensorTypeOf(match[cast]);
    if (!from || !to || from->dtype != DataType::Int(64) || to->dtype.is_uint()) return nullptr;
    for (const Pattern& limit : limits) {
      const auto* scalar = As<PrimValue>(match[limit]);
      const int64_t* number = scalar ? arith::AsInt(scalar->value) : nullptr;
      if (!number || *number == INT64_MIN || !HasIntegersUpTo(to->dtype, std::abs(*number))) return nullptr;
    }
    const Expr* args[] = {match[limits[0]], match[limits[1]], match[limits[2]]};
    return calls.Make(op::kArange, args, MakeOpAttrs(op::kArange, InitAttrs::Values{.dtype = to->dtype}));
  });
}

// Comparisons of booleans that were converted, as exporters write masks: x, or not x.
//   not_equal(astype(x, t), 0) = x
//   equal(astype(x, t), 0) = not x
void AddComparedBooleans(Table& table) {
  const Pattern& x = table.x;
  const Pattern cast = IsCall(GetOp(op::kAstype), {x});
  // Of a number that is 0 or 1 with 0 or 1: the operator, the number, and whether the result is x.
  constexpr std::tuple<OpId, int, bool> kComparisons[] = {
      {op::kNotEqual, 0, true}, {op::kNotEqual, 1, false},    {op::kEqual, 1, true}, {op::kEqual, 0, false},
      {op::kGreater, 0, true},  {op::kGreaterEqual, 1, true}, {op::kLess, 1, false}, {op::kLessEqual, 0, false}};
  for (const auto& [id, number, is_same] : kComparisons) {
    const bool has_order = id != op::kNotEqual && id != op::kEqual;
    const Pattern ordered = IsCall(GetOp(id), {cast, Filled(number)});
    const Pattern call = has_order ? ordered : ordered.Commutative();
    table.Row("comparison of a converted boolean", call,
              [=, is_same = is_same](const Match& match, OpBuilder& calls) -> const Expr* {
                const TensorType* flag = TensorTypeOf(match[x]);
                if (!flag || !flag->dtype.is_bool() || !SameType(match[x], match[call])) return nullptr;
                return is_same ? match[x] : calls.Make(op::kLogicalNot, {match[x]});
              });
  }
}

void AddConversions(Table& table) {
  const Pattern& x = table.x;
  const Pattern cast = IsCall(GetOp(op::kAstype), {x});
  // astype(x, its dtype) = x
  table.Row("cast to itself", cast, [=](const Match& match, OpBuilder&) -> const Expr* {
    const TensorType* from = TensorTypeOf(match[x]);
    return from && !from->dtype.is_void() && TypeEqual(from, match[cast]->type) ? match[x] : nullptr;
  });
  // astype(astype(x, wider), t) = astype(x, t)
  const Pattern again = IsCall(GetOp(op::kAstype), {cast});
  table.Row("cast of lossless cast", again, [=](const Match& match, OpBuilder& calls) -> const Expr* {
    const TensorType* from = TensorTypeOf(match[x]);
    const TensorType* via = TensorTypeOf(match[cast]);
    const TensorType* to = TensorTypeOf(match[again]);
    if (!from || !via || !to || !IsLossless(from->dtype, via->dtype)) return nullptr;
    if (from->dtype == to->dtype && TypeEqual(from, to)) return match[x];
    return calls.Make(op::kAstype, {match[x]}, match.CallAt(again)->attrs);
  });
}

void AddShapes(Table& table) {
  const Pattern& x = table.x;
  const Pattern permute = IsCall(GetOp(op::kPermuteDims), {x});
  table.Identity("permute_dims to the same order", permute.Where(&IsIdentityPermutation));
  // permute_dims(permute_dims(x, a), b) = permute_dims(x, a[b])
  const Pattern twice = IsCall(GetOp(op::kPermuteDims), {permute});
  table.Row("permute_dims twice", twice, [=](const Match& match, OpBuilder& calls) {
    return MergePermutes(*match.CallAt(twice), *match.CallAt(permute), match[x], calls);
  });
  const Pattern shape = Wildcard();
  const Pattern reshape = IsCall(GetOp(op::kReshape), {x, Wildcard()});
  // reshape(reshape(x, s), t) = reshape(x, t), unless the shapes contradict each other
  table.Row("reshape twice", IsCall(GetOp(op::kReshape), {reshape, shape}), [=](const Match& match, OpBuilder& calls) {
    return calls.TryMake(op::kReshape, {match[x], match[shape]});
  });
  table.Identity("reshape to the same shape", reshape);
  table.Identity("broadcast_to the same shape", IsCall(GetOp(op::kBroadcastTo), {x, Wildcard()}));
  table.Identity("squeeze of expand_dims",
                 IsCall(GetOp(op::kSqueeze), {IsCall(GetOp(op::kExpandDims), {x})}).Where([](const Expr* e) {
                   return SqueezeAttrs(*To<Call>(e)).axis().has_value();
                 }));
  // concat(split(x)) = x
  const Pattern concat = IsCall(GetOp(op::kConcat), {Wildcard()});
  table.Row("concat of split", concat, [=](const Match& match, OpBuilder&) -> const Expr* {
    const Expr* whole = SplitTensor(*match.CallAt(concat), match.definitions());
    return whole && SameType(whole, match[concat]) ? whole : nullptr;
  });
}

std::shared_ptr<const RuleSet> MakeSimplifyExprRules(bool with_float_products) {
  Table table;
  AddArithmetic(table);
  AddConversions(table);
  AddComparedBooleans(table);
  AddRanges(table);
  AddShapes(table);
  AddStacks(table);
  RuleSet rules = table.Take();
  AddMergedShapeRules(rules);
  AddFilledTensorRules(rules);
  AddClipRules(rules);
  AddNeighbourRules(rules);
  AddBinomialRules(rules, with_float_products);
  AddDequantizedOrderRules(rules);
  AddQuantizedMoveRules(rules);
  AddTermOfReshapeRules(rules);
  AddSplitTransposeRules(rules);
  AddTakenPlaceRules(rules);
  return std::make_shared<const RuleSet>(std::move(rules));
}

// All passes of a process share them: pipelines have the pass several times.
std::shared_ptr<const RuleSet> SimplifyExprRules(bool with_float_products) {
  if (with_float_products) {
    static const std::shared_ptr<const RuleSet> all = MakeSimplifyExprRules(true);
    return all;
  }
  static const std::shared_ptr<const RuleSet> finite = MakeSimplifyExprRules(false);
  return finite;
}

}  // namespace

Pass CreateSimplifyExpr(const PassOptions& options) {
  const bool with_float_products = *pass_options::SimplifyExpr(options).float_products;
  PassInfo info = options.info();
  if (!with_float_products) std::erase(info.changes, PassChange::NonFinite);
  return CreateOrderedRulePass(info, SimplifyExprRules(with_float_products));
}

}  // namespace iropt
