// FoldBatchnormToConv2D: folds batch normalization into the weights of the convolution before it.
//
//   c = R.nn.conv2d(x, w)                                             c = R.nn.conv2d(x, w * scale)
//   bn = R.nn.batch_norm(c, gamma, beta, mean, var, axis=1)    -->    y = R.add(c, shift)
//   y = bn[0]
//
// The weights and the statistics must be constants, so that FoldConstant computes the products, and the result of the
// convolution must have no other use. The axis must be that of the channels. Changed functions are cleaned up.
// O(nodes).
//
// Source: TVM's pass of this name.
#include <memory>
#include <optional>
#include <string_view>

#include "decompose.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/reshape.h"
#include "iropt/infer/ops/roots.h"
#include "iropt/ir/context.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// Scale and shift in the shapes of the weight and of the result.
struct FoldedNorm {
  const Expr* scale = nullptr;
  const Expr* shift = nullptr;
};

// In the operators that TVM's pass makes of the usual layouts; nothing for others.
std::optional<FoldedNorm> FoldAsTvm(const Call& norm, std::string_view kernel_layout, int64_t axis, OpBuilder calls,
                                    Workspace& workspace) {
  const BatchNormAttrs attrs(norm);
  const TensorType* gamma = TensorTypeOf(norm.args[1]);
  const bool is_usual = kernel_layout == "OIHW" || kernel_layout == "IOHW";
  if (!is_usual || axis != 1 || !attrs.scale() || !attrs.center() || !gamma || !gamma->known ||
      gamma->dtype != DataType::Float(32))
    return std::nullopt;
  const Expr* epsilon = MakeLiteral(HostValue(Scalar::Float(attrs.epsilon(), gamma->dtype)), workspace);
  const Expr* scale = op::Divide(calls, norm.args[1], op::Sqrt(calls, op::Add(calls, norm.args[4], epsilon)));
  const PrimExpr* one = IRContext::Current().Int(1);
  const PrimExpr* channels = gamma->dims[0];
  const PrimExpr* first[] = {channels, one, one, one};
  const PrimExpr* second[] = {one, channels, one, one};
  const Expr* shift = op::Subtract(calls, norm.args[2], op::Multiply(calls, norm.args[3], scale));
  const auto in_shape = [&](const Expr* vector, std::span<const PrimExpr* const> dims) {
    return op::Reshape(calls, vector, calls.MakeShape(dims));
  };
  return FoldedNorm{in_shape(scale, kernel_layout == "OIHW" ? first : second), in_shape(shift, second)};
}

const Expr* Fold(const Call& conv, const Call& norm, BlockBuilder& builder) {
  OpBuilder calls(builder);
  const ConvAttrs attrs(conv);
  const std::string_view out_layout = attrs.out_layout().empty() ? attrs.data_layout() : attrs.out_layout();
  const TensorType* weight = TensorTypeOf(conv.args[1]);
  const TensorType* data = TensorTypeOf(&conv);
  if (!weight || !data || weight->ndim != 4 || data->ndim != 4 || weight->dtype != data->dtype) return nullptr;
  const int64_t axis = BatchNormAttrs(norm).axis();
  if (out_layout.size() != 4 || attrs.kernel_layout().size() != 4) return nullptr;
  if (out_layout[static_cast<size_t>(axis < 0 ? axis + 4 : axis)] != 'C') return nullptr;
  std::optional<FoldedNorm> folded = FoldAsTvm(norm, attrs.kernel_layout(), axis, calls, builder.workspace());
  if (!folded) {
    const std::optional<ScaleAndShift> affine = ScaleAndShiftOf(norm, calls);
    if (!affine) return nullptr;
    const auto channel = static_cast<int64_t>(attrs.kernel_layout().find('O'));
    folded = {ExpandToRank(affine->scale, 4, channel, calls), ExpandToRank(affine->shift, 4, axis, calls)};
  }
  const Expr* scaled = op::Multiply(calls, conv.args[1], folded->scale);
  const Expr* result = calls.Make(op::kNnConv2d, {conv.args[0], scaled}, conv.attrs);
  return op::Add(calls, result, folded->shift);
}

RuleSet MakeFoldBatchnormToConv2dRules() {
  const Pattern conv = IsCall(GetOp(op::kNnConv2d), {Wildcard(), IsConstant()}).UsedOnce();
  const Pattern norm = IsCall(GetOp(op::kNnBatchNorm), {conv, IsConstant(), IsConstant(), IsConstant(), IsConstant()});
  RuleSet rules;
  rules.Add({"batch-norm-of-conv2d", IsTupleGetItem(norm, 0), [=](const Match& match, BlockBuilder& builder) {
               return Fold(*match.CallAt(conv), *match.CallAt(norm), builder);
             }});
  // The moving statistics are returned as they are, so that nothing else needs the normalization.
  for (const int item : {1, 2}) {
    rules.Add({"moving-statistics", IsTupleGetItem(norm, item), [=](const Match& match, BlockBuilder&) {
                 return match.CallAt(norm)->args[static_cast<size_t>(item) + 2];
               }});
  }
  return rules;
}

}  // namespace

Pass CreateFoldBatchnormToConv2D(const PassOptions& options) {
  return CreateRulePass(options.info(), std::make_shared<const RuleSet>(MakeFoldBatchnormToConv2dRules()));
}

}  // namespace iropt
