#include "written_constants.h"

#include <fmt/format.h>

#include "constants.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/op/ops/vision.h"

namespace iropt::relay {

namespace {

// A number that is read back as it is.
const Expr* NumberOperand(double value, Workspace& workspace) {
  const bool is_narrow = static_cast<double>(static_cast<float>(value)) == value;
  return MakeScalar(DataType::Float(is_narrow ? 32 : 64), value, workspace);
}

std::string_view TruthText(bool value) { return value ? "True" : "False"; }

}  // namespace

std::optional<WrittenCall> WriteCollapseSumTo(const Call& call, Workspace& workspace) {
  const auto* shape = As<ShapeExpr>(call.args[1]);
  if (!shape) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const PrimExpr* value : shape->values) {
    const int64_t* size = arith::AsInt(value);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  const auto count = static_cast<int64_t>(sizes.size());
  const Expr* operand =
      MakeConstant(DataType::Int(64), std::span(&count, 1), std::span<const int64_t>(sizes), workspace);
  return WrittenCall{"collapse_sum_to", {call.args[0], operand}, {}};
}

std::optional<WrittenCall> WriteGetValidCounts(const Call& call, Workspace& workspace) {
  const GetValidCountsAttrs attrs(call);
  return WrittenCall{"vision.get_valid_counts",
                     {call.args[0], NumberOperand(attrs.score_threshold(), workspace)},
                     fmt::format(", id_index={}, score_index={}", attrs.id_index(), attrs.score_index())};
}

std::optional<WrittenCall> WriteNonMaxSuppression(const Call& call, Workspace& workspace) {
  const NonMaximumSuppressionAttrs attrs(call);
  if (attrs.soft_nms_sigma() != 0 || attrs.score_threshold() != 0) return std::nullopt;
  const Expr* size = MakeScalar(DataType::Int(64), attrs.max_output_size(), workspace);
  return WrittenCall{
      "vision.non_max_suppression",
      {call.args[0], call.args[1], call.args[2], size, NumberOperand(attrs.iou_threshold(), workspace)},
      fmt::format(", force_suppress={}, top_k={}, coord_start={}, score_index={}, id_index={}, return_indices={}, "
                  "invalid_to_bottom={}",
                  TruthText(attrs.force_suppress()), attrs.top_k(), attrs.coord_start(), attrs.score_index(),
                  attrs.id_index(), TruthText(attrs.return_indices()), TruthText(attrs.invalid_to_bottom()))};
}

}  // namespace iropt::relay
