// DepthToSpace and SpaceToDepth: images of which blocks of elements become channels, or the reverse.

#include <vector>

#include "exchange/onnx/export/attributes.h"
#include "exchange/onnx/export/dim_values.h"
#include "exchange/onnx/export/fusion_rows.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/reshape.h"

namespace iropt::onnx {

namespace {

using Axes = std::vector<int64_t>;

// A tensor of rank 4 that is split into 6 dimensions, transposed, and joined to rank 4 again.
struct Rearranged {
  const Expr* operand;
  const TensorType* whole;
  const TensorType* split;
  const TensorType* joined;
  Axes axes;
};

const TensorType* TypeOfRank(const Expr* expr, int rank) {
  const auto* type = As<TensorType>(expr->type);
  return type != nullptr && type->known && type->ndim == rank ? type : nullptr;
}

std::optional<Rearranged> RearrangedBy(Matcher& matcher, const Call& root) {
  const Call* transpose = matcher.Inner(root.args[0], op::kPermuteDims);
  const Call* split = transpose ? matcher.Inner(transpose->args[0], op::kReshape) : nullptr;
  const auto axes = split ? PermuteDimsAttrs(*transpose).axes() : std::nullopt;
  if (!axes) return std::nullopt;
  Rearranged result{.operand = split->args[0],
                    .whole = TypeOfRank(split->args[0], 4),
                    .split = TypeOfRank(transpose->args[0], 6),
                    .joined = TypeOfRank(&root, 4),
                    .axes = axes->vector()};
  const bool is_known = result.whole && result.split && result.joined &&
                        result.whole->dims[0] == result.split->dims[0] &&
                        result.whole->dims[0] == result.joined->dims[0];
  return is_known ? std::optional(result) : std::nullopt;
}

// The number that two dimensions of the split tensor are.
std::optional<int64_t> BlockSize(const Rearranged& x, uint32_t first, uint32_t second) {
  const auto* a = As<tir::IntImm>(x.split->dims[first]);
  const auto* b = As<tir::IntImm>(x.split->dims[second]);
  return a != nullptr && b != nullptr && a->value == b->value ? std::optional(a->value) : std::nullopt;
}

bool IsTimes(const PrimExpr* dim, int64_t factor, const PrimExpr* product) {
  return WholeFactor(dim, product) == std::optional(factor);
}

std::optional<FusedNode> MatchDepthToSpace(Matcher& matcher, const Call& root) {
  const auto x = RearrangedBy(matcher, root);
  if (!x) return std::nullopt;
  const bool blocks_first = x->axes == Axes{0, 3, 4, 1, 5, 2};
  if (!blocks_first && (x->axes != Axes{0, 1, 4, 2, 5, 3} || matcher.opset() < 11)) return std::nullopt;
  const auto size = blocks_first ? BlockSize(*x, 1, 2) : BlockSize(*x, 2, 3);
  const PrimExpr* channels = x->split->dims[blocks_first ? 3 : 1];
  const auto& whole = x->whole->dims;
  const auto& joined = x->joined->dims;
  if (!size || channels != joined[1] || whole[2] != x->split->dims[4] || whole[3] != x->split->dims[5] ||
      !IsTimes(whole[2], *size, joined[2]) || !IsTimes(whole[3], *size, joined[3]))
    return std::nullopt;
  FusedNode node{.op = "DepthToSpace", .inputs = {x->operand}, .attributes = {IntAttribute("blocksize", *size)}};
  if (!blocks_first) node.attributes.push_back(TextAttribute("mode", "CRD"));
  return node;
}

std::optional<FusedNode> MatchSpaceToDepth(Matcher& matcher, const Call& root) {
  const auto x = RearrangedBy(matcher, root);
  if (!x || x->axes != Axes{0, 3, 5, 1, 2, 4}) return std::nullopt;
  const auto size = BlockSize(*x, 3, 5);
  const auto& whole = x->whole->dims;
  const auto& joined = x->joined->dims;
  if (!size || whole[1] != x->split->dims[1] || joined[2] != x->split->dims[2] || joined[3] != x->split->dims[4] ||
      !IsTimes(joined[2], *size, whole[2]) || !IsTimes(joined[3], *size, whole[3]))
    return std::nullopt;
  return FusedNode{.op = "SpaceToDepth", .inputs = {x->operand}, .attributes = {IntAttribute("blocksize", *size)}};
}

constexpr FusionRow kBlockFusions[] = {
    {op::kReshape, "DepthToSpace", 1, MatchDepthToSpace},
    {op::kReshape, "SpaceToDepth", 1, MatchSpaceToDepth},
};

}  // namespace

std::span<const FusionRow> BlockFusions() { return kBlockFusions; }

}  // namespace iropt::onnx
