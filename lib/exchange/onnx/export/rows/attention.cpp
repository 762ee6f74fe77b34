// Attention: one node from operator set 23 on, before that the products and the softmax that it is made of.

#include "iropt/op/ops/attention.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "exchange/onnx/export/fusion_rows.h"
#include "exchange/onnx/export/op_rows.h"
#include "iropt/op/ops/axes.h"

namespace iropt::onnx {

namespace {

constexpr int kFirstAttention = 23;
constexpr size_t kSteps = 1;  // axes of the operands
constexpr size_t kHeads = 2;
constexpr size_t kElements = 3;

const TensorType* KnownTypeOf(const Expr* operand) {
  const auto* type = As<TensorType>(operand->type);
  return type != nullptr && type->known && type->ndim == 4 ? type : nullptr;
}

// Which keys a query sees by their positions.
struct KeyRule {
  enum class Kind : uint8_t { All, Causal, Computed };
  Kind kind = Kind::All;
  bool ends_with_last = false;  // the last query sees the last key, not the first query the first key only
  int64_t window = 0;
};

std::optional<KeyRule> KeyRuleOf(const Call& attention) {
  const AttentionAttrs attrs(attention);
  const std::string_view mask = attrs.causal_mask().value_or("");
  const int64_t window = attrs.window_size().value_or(0);
  if (mask.empty()) return window == 0 ? std::optional<KeyRule>(KeyRule()) : std::nullopt;
  const bool at_end = mask == "BottomRight";
  if (!at_end && mask != "TopLeft") return std::nullopt;
  const TensorType* query = KnownTypeOf(attention.args[0]);
  const TensorType* key = KnownTypeOf(attention.args[1]);
  const bool is_square = query != nullptr && key != nullptr && query->dims[kSteps] == key->dims[kSteps];
  const bool is_plain = window == 0 && (!at_end || is_square);
  return KeyRule{.kind = is_plain ? KeyRule::Kind::Causal : KeyRule::Kind::Computed,
                 .ends_with_last = at_end && !is_square,
                 .window = window};
}

bool SwapsStepsAndHeads(const Call& permute) {
  const auto axes = PermuteDimsAttrs(permute).axes();
  return axes && axes->vector() == std::vector<int64_t>{0, 2, 1, 3};
}

std::vector<AttributeProto> AttributesOf(const Call& attention, const KeyRule& rule) {
  std::vector<AttributeProto> attributes;
  if (rule.kind == KeyRule::Kind::Causal) attributes.push_back(IntAttribute("is_causal", 1));
  if (const auto scale = AttentionAttrs(attention).scale()) attributes.push_back(FloatAttribute("scale", *scale));
  return attributes;
}

// ---- The parts

// An operand with the heads before the steps.
std::string_view HeadsFirst(OpExport& op, size_t i) {
  const auto* permute = As<Call>(op.Resolved(i));
  const auto* callee = permute ? As<Op>(permute->op) : nullptr;
  if (callee != nullptr && callee->id == op::kPermuteDims && SwapsStepsAndHeads(*permute))
    return op.exporter().NameOf(permute->args[0]);
  return op.Transpose(op.In(i), {0, 2, 1, 3});
}

// bool[queries, keys] for few of them.
std::string_view KnownMask(OpExport& op, const KeyRule& rule, int64_t queries, int64_t keys) {
  auto array = NDArray::Make(DataType::Bool(), {queries, keys});
  auto seen = array->MutableAs<bool>().begin();
  const int64_t offset = rule.ends_with_last ? std::abs(keys - queries) : 0;
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < keys; ++j) *seen++ = j <= i + offset && (rule.window == 0 || j > i - rule.window);
  }
  return op.exporter().context().Initializer(std::shared_ptr<const NDArray>(std::move(array)), "");
}

// bool[queries, keys]
std::string_view SeenKeys(OpExport& op, const KeyRule& rule) {
  DimValues& dims = op.exporter().dims();
  const PrimExpr* queries = op.TypeOf(0)->dims[kSteps];
  const PrimExpr* keys = op.TypeOf(1)->dims[kSteps];
  const auto* known_queries = As<tir::IntImm>(queries);
  const auto* known_keys = As<tir::IntImm>(keys);
  constexpr int64_t kMostKnown = 64;
  if (known_queries != nullptr && known_keys != nullptr && known_queries->value <= kMostKnown &&
      known_keys->value <= kMostKnown)
    return KnownMask(op, rule, known_queries->value, known_keys->value);
  const auto positions = [&](const PrimExpr* count) {
    return op.Add("Range", {op.exporter().IntScalar(0), dims.DimScalar(count), op.exporter().IntScalar(1)});
  };
  const std::string_view key = positions(keys);
  const std::string_view query = op.Unsqueeze(positions(queries), {1});
  std::string_view last = query;
  if (rule.ends_with_last) {
    const std::string_view offset = op.Add("Abs", {op.Add("Sub", {dims.DimScalar(keys), dims.DimScalar(queries)})});
    last = op.Add("Add", {query, offset});
  }
  const std::string_view seen = op.Add("Not", {op.Add("Greater", {key, last})});
  if (rule.window == 0) return seen;
  const std::string_view before = op.Add("Sub", {query, op.exporter().IntScalar(rule.window)});
  return op.Add("And", {seen, op.Add("Greater", {key, before})});
}

// Keys or values once for each head of the queries. Empty if the numbers of heads are not known.
std::string_view HeadsOfQueries(OpExport& op, size_t i) {
  const PrimExpr* heads = op.TypeOf(0)->dims[kHeads];
  if (op.TypeOf(i)->dims[kHeads] == heads) return HeadsFirst(op, i);
  const auto* all = As<tir::IntImm>(heads);
  const auto* own = As<tir::IntImm>(op.TypeOf(i)->dims[kHeads]);
  if (all == nullptr || own == nullptr || own->value == 0) return {};
  const auto* elements = As<tir::IntImm>(op.TypeOf(i)->dims[kElements]);
  const std::string_view repeated =
      op.Add("Expand", {op.Unsqueeze(op.In(i), {3}), op.Ints({1, 1, 1, all->value / own->value, 1})});
  return op.Transpose(op.Reshape(repeated, {0, 0, all->value, elements ? elements->value : -1}), {0, 2, 1, 3});
}

std::string_view Scaled(OpExport& op, std::string_view scores) {
  const DataType dtype = op.Dtype(0);
  if (const auto scale = op.Attrs<AttentionAttrs>().scale()) return op.Add("Mul", {scores, op.Scalar(*scale, dtype)});
  const PrimExpr* size = op.TypeOf(0)->dims[kElements];
  if (const auto* number = As<tir::IntImm>(size))
    return op.Add("Div", {scores, op.Scalar(std::sqrt(static_cast<double>(number->value)), dtype)});
  const std::string_view length = op.Cast(op.exporter().dims().DimScalar(size), DataType::Int(64), dtype);
  return op.Add("Div", {scores, op.Add("Sqrt", {length})});
}

std::string_view Masked(OpExport& op, std::string_view seen, std::string_view scores) {
  return op.Add("Where", {seen, scores, op.Scalar(-std::numeric_limits<double>::infinity(), op.Dtype(0))});
}

// ---- Rows

// `seen` has the keys that queries see, if the rule does not say that; `bias` is added to the scores.
Names ExportParts(OpExport& op, const KeyRule& rule, std::string_view seen, std::string_view bias) {
  const bool has_mask = rule.kind != KeyRule::Kind::All;
  if (has_mask && op.version() < 11) return op.Needs(11);
  const std::string_view keys = HeadsOfQueries(op, 1);
  const std::string_view values = HeadsOfQueries(op, 2);
  if (keys.empty() || values.empty()) return op.Lacks("its numbers of heads are not known");
  const std::string_view transposed = op.Transpose(keys, {0, 1, 3, 2});
  std::string_view scores = Scaled(op, op.Add("MatMul", {HeadsFirst(op, 0), transposed}));
  if (!bias.empty()) scores = op.Add("Add", {scores, bias});
  if (has_mask && seen.empty()) seen = SeenKeys(op, rule);
  if (!seen.empty()) scores = Masked(op, seen, scores);
  const std::string_view weights = op.Add("Softmax", {scores}, {IntAttribute("axis", 3)});
  return {op.Transpose(op.Add("MatMul", {weights, values}), {0, 2, 1, 3})};
}

Names ExportAttention(OpExport& op) {
  const auto rule = KeyRuleOf(op.call());
  if (!rule) return op.Lacks("ONNX has no such mask");
  if (!KnownTypeOf(op.Arg(0)) || !KnownTypeOf(op.Arg(1)) || !KnownTypeOf(op.Arg(2)))
    return op.Lacks("the shapes of its operands are not known");
  if (op.version() < kFirstAttention)
    return ExportParts(op, *rule, "", op.num_args() > 3 ? op.In(3) : std::string_view());
  Names inputs{HeadsFirst(op, 0), HeadsFirst(op, 1), HeadsFirst(op, 2)};
  if (op.num_args() > 3) inputs.push_back(op.In(3));
  if (rule->kind == KeyRule::Kind::Computed) {
    const std::string_view seen = SeenKeys(op, *rule);
    if (inputs.size() > 3)
      inputs[3] = Masked(op, seen, inputs[3]);
    else
      inputs.push_back(seen);
  }
  return {op.Transpose(op.Add("Attention", std::move(inputs), AttributesOf(op.call(), *rule)), {0, 2, 1, 3})};
}

// The number of sequences that begin at each position or before it: 0 before the first one.
std::string_view SequencesOf(OpExport& op, size_t operand, size_t starts) {
  const std::string_view length = op.exporter().dims().DimScalar(op.TypeOf(operand)->dims[kSteps]);
  const std::string_view positions = op.Add("Range", {op.exporter().IntScalar(0), length, op.exporter().IntScalar(1)});
  const std::string_view begins = op.Cast(op.In(starts), op.Dtype(starts), DataType::Int(64));
  const std::string_view is_before = op.Add("Less", {op.Unsqueeze(positions, {1}), begins});
  const std::string_view counted = op.Cast(op.Add("Not", {is_before}), DataType::Bool(), DataType::Int(64));
  return op.Reduce("ReduceSum", counted, {1}, false);
}

// Sequences one after the other: queries see the keys of their own one. What is outside of all of them is 0.
Names ExportAttentionVarLen(OpExport& op) {
  constexpr size_t kQueryStarts = 3, kKeyStarts = 4;
  auto rule = KeyRuleOf(op.call());
  const TensorType* starts = op.TypeOf(kQueryStarts);
  if (!rule) return op.Lacks("ONNX has no such mask");
  if (!KnownTypeOf(op.Arg(0)) || !KnownTypeOf(op.Arg(1)) || !KnownTypeOf(op.Arg(2)) || !starts || !starts->known)
    return op.Lacks("the shapes of its operands are not known");
  const bool is_self = op.Resolved(kQueryStarts) == op.Resolved(kKeyStarts);
  if (rule->kind != KeyRule::Kind::All && !is_self) return op.Lacks("ONNX has no mask of sequences of several lengths");
  // Each sequence has as many queries as keys, which begin at the same position.
  rule->ends_with_last = false;
  const std::string_view of_queries = SequencesOf(op, 0, kQueryStarts);
  const std::string_view of_keys = is_self ? of_queries : SequencesOf(op, 1, kKeyStarts);
  std::string_view seen = op.Add("Equal", {op.Unsqueeze(of_queries, {1}), of_keys});
  if (rule->kind != KeyRule::Kind::All) {
    rule->kind = KeyRule::Kind::Computed;
    seen = op.Add("And", {seen, SeenKeys(op, *rule)});
  }
  const Names results = ExportParts(op, {}, seen, "");
  if (results.empty()) return {};
  const std::string_view last = op.exporter().dims().DimScalar(starts->dims[0]);
  const std::string_view zero = op.exporter().IntScalar(0);
  const std::string_view is_inside =
      op.Add("And", {op.Add("Greater", {of_queries, zero}), op.Add("Less", {of_queries, last})});
  return {op.Add("Where", {op.Unsqueeze(is_inside, {1, 2}), results[0], op.Scalar(0, op.Dtype(0))})};
}

constexpr ExportRow kAttentionExports[] = {
    {op::kNnAttention, "", 7, ExportAttention},               // Attention; before 23 a composition
    {op::kNnAttentionBias, "", 7, ExportAttention},           // Attention; before 23 a composition
    {op::kNnAttentionVarLen, "", 11, ExportAttentionVarLen},  // a composition
};

// ---- With the transpositions around it

template <OpId kAttention>
std::optional<FusedNode> MatchAttention(Matcher& matcher, const Call& root) {
  const Call* attention = SwapsStepsAndHeads(root) ? matcher.Inner(root.args[0], kAttention) : nullptr;
  const auto rule = attention ? KeyRuleOf(*attention) : std::nullopt;
  if (!rule || rule->kind == KeyRule::Kind::Computed) return std::nullopt;
  FusedNode node{.op = "Attention", .inputs = {}, .attributes = AttributesOf(*attention, *rule)};
  for (uint32_t i = 0; i < 3; ++i) {
    const Call* operand = matcher.Inner(attention->args[i], op::kPermuteDims);
    if (operand == nullptr || !SwapsStepsAndHeads(*operand) || !KnownTypeOf(attention->args[i])) return std::nullopt;
    node.inputs.emplace_back(operand->args[0]);
  }
  if (attention->args.size() > 3) node.inputs.emplace_back(attention->args[3]);
  return node;
}

constexpr FusionRow kAttentionFusions[] = {
    {op::kPermuteDims, "Attention", kFirstAttention, MatchAttention<op::kNnAttention>},
    {op::kPermuteDims, "Attention", kFirstAttention, MatchAttention<op::kNnAttentionBias>},
};

}  // namespace

std::span<const ExportRow> AttentionExports() { return kAttentionExports; }
std::span<const FusionRow> AttentionFusions() { return kAttentionFusions; }

}  // namespace iropt::onnx
