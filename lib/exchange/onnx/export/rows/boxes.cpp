// The suppression of boxes in images.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "exchange/onnx/export/op_rows.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/op/ops/vision.h"

namespace iropt::onnx {

namespace {

// R.vision.non_max_suppression has rows of boxes with their scores, and suppresses boxes of an image in the order of
// the scores. ONNX has boxes and scores by class.
class BoxSuppression {
 public:
  BoxSuppression(OpExport& op, const NonMaximumSuppressionAttrs& attrs, const TensorType& type)
      : op_(op), attrs_(attrs), dtype_(type.dtype), anchors_(type.dims[1]) {}

  Names Export() {
    Sort();
    const std::string_view kept = Kept(Selected());
    // Of equal numbers, the first ones come first.
    const Names front =
        op_.exporter().AddNode("TopK", {op_.Cast(kept, kLong, kFloat), count_}, {IntAttribute("axis", 1)}, 2);
    const std::string_view is_kept = op_.Cast(front[0], kFloat, DataType::Bool());
    if (!attrs_.return_indices()) return {Rows(kept, is_kept, front[1])};
    const std::string_view given = Elements(Elements(op_.In(2), order_), front[1]);
    const std::string_view number = op_.Reduce("ReduceSum", kept, {1}, true);
    const DataType dtype = op_.Dtype(2);
    const std::string_view chosen = op_.Add("Where", {is_kept, given, op_.Scalar(-1, dtype)});
    return {op_.Cast(Padded(chosen, 2, dtype), dtype, kInt), op_.Cast(number, kLong, kInt)};
  }

 private:
  static constexpr DataType kLong = DataType::Int(64);
  static constexpr DataType kInt = DataType::Int(32);
  static constexpr DataType kFloat = DataType::Float(32);

  std::string_view Element(std::string_view rows, int64_t i) {
    const std::string_view x = op_.Add("Gather", {rows, op_.exporter().IntScalar(i)}, {IntAttribute("axis", 2)});
    return op_.Cast(x, dtype_, kFloat);
  }
  std::string_view Elements(std::string_view x, std::string_view places) {
    return op_.Add("GatherElements", {x, places}, {IntAttribute("axis", 1)});
  }
  std::string_view RowsAt(std::string_view rows, std::string_view places) {
    return op_.Add("GatherND", {rows, op_.Unsqueeze(places, {2})}, {IntAttribute("batch_dims", 1)});
  }
  std::string_view First(std::string_view x, int64_t axis) {
    return op_.Add("Slice", {x, op_.Ints({0}), op_.Ints({attrs_.top_k()}), op_.Ints({axis})});
  }

  // The valid boxes by descending score, and at most top_k. Boxes that are not valid get the score 0, with which none
  // is selected.
  void Sort() {
    FunctionExporter& exporter = op_.exporter();
    const int64_t* size = arith::AsInt(anchors_);
    if (size != nullptr) {
      std::vector<int64_t> numbers(static_cast<size_t>(*size));
      std::iota(numbers.begin(), numbers.end(), 0);
      positions_ = op_.Ints(numbers);
    } else {
      positions_ =
          op_.Add("Range", {exporter.IntScalar(0), exporter.dims().DimScalar(anchors_), exporter.IntScalar(1)});
    }
    const std::string_view number = op_.Unsqueeze(op_.Cast(op_.In(1), op_.Dtype(1), kLong), {1});
    const std::string_view is_valid = op_.Add("Less", {positions_, number});
    const std::string_view valid =
        op_.Add("Where", {is_valid, Element(op_.In(0), attrs_.score_index()), op_.Scalar(0, kFloat)});
    count_ = exporter.dims().ScalarTensor(anchors_);
    const Names sorted = exporter.AddNode("TopK", {valid, count_}, {IntAttribute("axis", 1)}, 2);
    scores_ = sorted[0], order_ = sorted[1];
    is_cut_ = attrs_.top_k() > 0 && (size == nullptr || attrs_.top_k() < *size);
    if (is_cut_) {
      scores_ = First(scores_, 1), order_ = First(order_, 1), positions_ = First(positions_, 0);
      count_ = size != nullptr ? op_.Ints({attrs_.top_k()}) : op_.Add("Shape", {positions_});
    }
    rows_ = RowsAt(op_.In(0), order_);
  }

  bool has_classes() const { return attrs_.id_index() >= 0 && !attrs_.force_suppress(); }
  bool has_most() const { return attrs_.max_output_size() > 0; }

  // The scores, (images, classes, boxes): 0 for boxes of other classes. The classes are those that occur in any image:
  // memory grows with their number, which is small for detectors.
  // NaN is not in order with other numbers, nor equal to itself.
  std::string_view ScoresByClass() {
    const std::string_view scores = op_.Unsqueeze(scores_, {1});
    if (!has_classes()) return scores;
    const std::string_view classes = Element(rows_, attrs_.id_index());
    has_nan_class_ = op_.Add("IsNaN", {classes});
    const std::string_view occurring =
        op_.Add("Unique", {op_.Add("Where", {has_nan_class_, op_.Scalar(0, kFloat), classes})});
    const std::string_view is_same = op_.Add("Equal", {op_.Unsqueeze(classes, {1}), op_.Unsqueeze(occurring, {1})});
    return op_.Add("Where", {is_same, scores, op_.Scalar(0, kFloat)});
  }

  // (image, class, box) of each selected box. ONNX suppresses boxes that overlap by more than the threshold, Relax also
  // those that overlap by as much.
  std::string_view Selected() {
    const int64_t begin = attrs_.coord_start();
    const std::string_view corners = op_.Add("Slice", {rows_, op_.Ints({begin}), op_.Ints({begin + 4}), op_.Ints({2})});
    const auto threshold = static_cast<float>(attrs_.iou_threshold());
    const float overlap = std::nextafter(std::min(threshold, std::nextafter(1.0F, 2.0F)), 0.0F);
    const std::string_view most = has_most() ? op_.Ints({attrs_.max_output_size()}) : count_;
    return op_.Add("NonMaxSuppression", {op_.Cast(corners, dtype_, kFloat), ScoresByClass(), most,
                                         op_.Reshape(op_.Scalar(static_cast<double>(overlap), kFloat), {1}),
                                         op_.Reshape(op_.Scalar(0, kFloat), {1})});
  }

  // 1 for the boxes without a class, which no box suppresses, 0 for others.
  std::string_view AlwaysKept() {
    if (!has_classes()) return op_.Add("Sub", {order_, order_});
    const std::string_view is_kept =
        op_.Add("And", {has_nan_class_, op_.Add("Greater", {scores_, op_.Scalar(0, kFloat)})});
    return op_.Cast(is_kept, DataType::Bool(), kLong);
  }

  // 1 for the boxes that are kept, 0 for others, in the order of their scores.
  std::string_view Kept(std::string_view selected) {
    const std::string_view places = op_.Add("Gather", {selected, op_.Ints({0, 2})}, {IntAttribute("axis", 1)});
    const std::string_view number = op_.Add("Slice", {op_.Add("Shape", {selected}), op_.Ints({0}), op_.Ints({1})});
    const std::string_view ones = op_.Add("Expand", {op_.Ints({1}), number});
    const std::string_view kept = op_.Add("ScatterND", {AlwaysKept(), places, ones});
    if (!has_most() || !has_classes()) return kept;
    const std::string_view place = op_.Add("CumSum", {kept, op_.exporter().IntScalar(1)});
    const std::string_view is_over = op_.Add("Greater", {place, op_.exporter().IntScalar(attrs_.max_output_size())});
    return op_.Add("Where", {is_over, op_.exporter().IntScalar(0), kept});
  }

  // The boxes, and rows of -1: where suppressed ones were, or after all others.
  std::string_view Rows(std::string_view kept, std::string_view is_kept, std::string_view front) {
    const bool moves = attrs_.invalid_to_bottom();
    const std::string_view rows = moves ? RowsAt(rows_, front) : rows_;
    const std::string_view is_row = moves ? is_kept : op_.Cast(kept, kLong, DataType::Bool());
    return Padded(op_.Add("Where", {op_.Unsqueeze(is_row, {2}), rows, op_.Scalar(-1, dtype_)}), 3, dtype_);
  }

  // With as many boxes as there were.
  std::string_view Padded(std::string_view x, size_t rank, DataType dtype) {
    if (!is_cut_) return x;
    const std::string_view missing = op_.Add("Sub", {op_.exporter().dims().ScalarTensor(anchors_), count_});
    const std::vector<int64_t> before(rank + 1, 0), after(rank - 2, 0);
    Names parts = {op_.Ints(before), missing};
    if (!after.empty()) parts.push_back(op_.Ints(after));
    const std::string_view pads = op_.Add("Concat", parts, {IntAttribute("axis", 0)});
    return op_.Add("Pad", {x, pads, op_.Scalar(-1, dtype)});
  }

  OpExport& op_;
  const NonMaximumSuppressionAttrs& attrs_;
  DataType dtype_;
  const PrimExpr* anchors_;
  bool is_cut_ = false;
  std::string_view count_;      // int64[1], of the boxes that are left
  std::string_view positions_;  // int64[boxes], from 0 up
  std::string_view scores_, order_, rows_;
  std::string_view has_nan_class_;  // bool[images, boxes], of those whose class is NaN
};

Names ExportNonMaxSuppression(OpExport& op) {
  const auto attrs = op.Attrs<NonMaximumSuppressionAttrs>();
  const TensorType* type = op.TypeOf(0);
  if (attrs.soft_nms_sigma() > 0) return op.Lacks("ONNX has no scores that decay");
  if (type == nullptr || !type->known || type->ndim != 3) return op.Lacks("the shape of its boxes is not known");
  if (!(static_cast<float>(attrs.iou_threshold()) > 0))
    return op.Lacks("ONNX does not suppress boxes that do not overlap");
  return BoxSuppression(op, attrs, *type).Export();
}

// NonMaxSuppression of what TopK and GatherND sort, ScatterND
constexpr ExportRow kBoxExports[] = {{op::kVisionNonMaxSuppression, "", 13, ExportNonMaxSuppression}};

}  // namespace

std::span<const ExportRow> BoxExports() { return kBoxExports; }

}  // namespace iropt::onnx
