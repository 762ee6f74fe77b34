// Legalization of the non-maximum suppression of every class: sorted scores, a search for those above the threshold,
// the selection of boxes for each class of each image, and their collection.
#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "box_code.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/vision.h"
#include "local_number.h"
#include "packed_calls.h"

namespace iropt::legalize {

namespace {

using te::Tensor;
using te::Value;
using ExternOutput = te::Builder::ExternOutput;
using Placement = te::Builder::Placement;

constexpr auto kParallelLoop = tir::ForKind::kParallel;

// The only element of a threshold.
Value OnlyElement(const Tensor& x) {
  const std::vector<Value> zeros(x.ndim(), Value(0));
  return x(te::Values(zeros));
}

// The number of scores above the threshold in each row, which are sorted in descending order.
Tensor CountAbove(te::Builder& te, const Tensor& sorted, const Tensor& threshold) {
  const Tensor inputs[] = {sorted, threshold};
  const ExternOutput outputs[] = {{"searchsorted", {sorted.dim(0)}, kInt32, 8}};
  const auto body = [&](tir::StmtBuilder& statements, std::span<const Tensor> out) {
    BoxCode code(te, statements);
    code.For(sorted.dim(0), kParallelLoop, [&](Value row) {
      const LocalNumber low(te, statements, kInt32);
      const LocalNumber high(te, statements, kInt32);
      code.Store(low, te.Int(0, kInt32));
      code.Store(high, {te.make().Keep(tir::Cast(kInt32, te.NodeOf(sorted.dim(1)))), te});
      {
        const tir::Frame loop = statements.While(te.NodeOf(low.value() < high.value()));
        const auto middle = [&] { return te::Bitwise(arith::BitOp::kShiftRight, high.value() + low.value(), 1); };
        const Value at = te::Bitwise(arith::BitOp::kShiftRight, Wide(high.value() + low.value()), te.Int(1));
        code.If(
            sorted(row, at) > OnlyElement(threshold), [&] { code.Store(low, middle() + 1); },
            [&] { code.Store(high, middle()); });
      }
      code.Store(out[0], {row}, low.value());
    });
  };
  return te.Extern("searchsorted", inputs, outputs, body)[0];
}

// The loops that select boxes, a row of the scores at a time.
class ClassSelection {
 public:
  struct Tensors {
    Tensor boxes, sorted, order, counts, overlap, threshold;  // operands; suppressed scores are overwritten
    Tensor selected, scores, num_selected;                    // results; `scores` may be empty
  };

  ClassSelection(BoxCode& code, const Tensors& x, int64_t limit) : code_(code), te_(code.te()), x_(x), limit_(limit) {}

  void Run() {
    code_.For(x_.sorted.dim(0), [&](Value row) {
      row_ = row;
      const Value any = OnlyElement(x_.overlap) > te_.Int(0, kInt32) && Wide(Count()) > te_.Int(0);
      code_.If(
          any, [&] { SelectInRow(); }, [&] { code_.Store(x_.num_selected, {row_}, te_.Int(0, kInt32)); });
    });
  }

 private:
  Value Count() const { return x_.counts(row_); }
  Value Score(Value i) const { return x_.sorted(row_, i); }
  Value Number(double value) const { return te_.Const(value, x_.boxes.dtype()); }

  void SelectInRow() {
    const LocalNumber kept(te_, code_.statements(), kInt32);
    code_.Store(kept, te_.Int(0, kInt32));
    code_.For(Wide(Count()), [&](Value i) {
      const Value valid = Score(i) > te_.Const(-1, x_.sorted.dtype()) && Wide(kept.value()) < te_.Int(limit_);
      code_.If(valid, [&] { code_.If(Score(i) > OnlyElement(x_.threshold), [&] { Select(i, kept); }); });
    });
    code_.Store(x_.num_selected, {row_}, kept.value());
  }

  // Selects a box, and suppresses those that it covers.
  void Select(Value i, const LocalNumber& kept) {
    code_.If(code_.True(), [&] {
      code_.Store(x_.selected, {row_, kept.value()}, x_.order(row_, i));
      if (x_.scores) code_.Store(x_.scores, {row_, kept.value()}, te::Cast(x_.scores.dtype(), Score(i)));
    });
    code_.Store(kept, kept.value() + 1);
    code_.For(te_.Simplify(Wide(Count()) - (i + 1)), kParallelLoop, [&](Value offset) {
      const Value k = i + 1 + offset;
      code_.If(k < Wide(Count()) && Score(k) > te_.Const(0, x_.sorted.dtype()), [&] {
        code_.If(Overlap(i, k) >= OnlyElement(x_.overlap), [&] {
          code_.Store(x_.sorted, {row_, k}, te_.Const(-1, x_.sorted.dtype()));
        });
      });
    });
  }

  // A coordinate of the box that has a place in the order of the row.
  Value Coordinate(Value i, int64_t k) const {
    const Value classes = te::FloorDiv(x_.sorted.dim(0), x_.boxes.dim(0));
    const Value first = te::FloorDiv(row_, classes) * x_.boxes.dim(1) * 4;
    Value position = first + Wide(x_.order(row_, i)) * 4;
    if (k > 0) position = position + k;
    return x_.boxes(te::Values(AtPosition(x_.boxes, position)));
  }
  Value Low(Value i, int64_t axis) const { return te::Min(Coordinate(i, axis), Coordinate(i, axis + 2)); }
  Value High(Value i, int64_t axis) const { return te::Max(Coordinate(i, axis), Coordinate(i, axis + 2)); }

  // Intersection over union.
  Value Overlap(Value a, Value b) const {
    const auto common = [&](int64_t axis) {
      return te::Max(Number(0), te::Min(High(a, axis), High(b, axis)) - te::Max(Low(a, axis), Low(b, axis)));
    };
    const auto area = [&](Value i) { return (High(i, 0) - Low(i, 0)) * (High(i, 1) - Low(i, 1)); };
    const Value intersection = common(1) * common(0);
    const Value all = area(a) + area(b) - intersection;
    return te::Select(all <= Number(0), Number(0), te::Div(intersection, all));
  }

  BoxCode& code_;
  te::Builder& te_;
  const Tensors& x_;
  int64_t limit_;
  Value row_;
};

// The sums of the numbers before each in its row; a vector is one row.
Tensor SumsBefore(te::Builder& te, const Tensor& numbers) {
  const ExternOutput outputs[] = {{"out_buf", numbers.shape(), kInt64}};
  const Value rows = numbers.ndim() > 1 ? numbers.dim(0) : te.Int(1);
  const Value length = numbers.dim(numbers.ndim() - 1);
  const auto body = [&](tir::StmtBuilder& statements, std::span<const Tensor> out) {
    BoxCode code(te, statements);
    const auto at = [](const Tensor& x, Value position) { return x(te::Values(AtPosition(x, position))); };
    code.For(rows, kParallelLoop, [&](Value row) {
      const auto sum = [&] {
        code.Store(out[0], AtPosition(out[0], row * length), te.Int(0));
        code.For(length - 1, [&](Value i) {
          const Value k = i + 1;
          const Value last = row * length + (k - 1);
          code.Store(out[0], AtPosition(out[0], row * length + k), at(out[0], last) + Wide(at(numbers, last)));
        });
      };
      // Dimensions that are known are not 0.
      if (length.AsInt()) return sum();
      code.If(length > te.Int(0), sum);
    });
  };
  return te.Extern("cumsum_generic", std::span(&numbers, 1), outputs, body)[0];
}

struct Selection {
  Tensor indices, scores, counts;  // by class of an image
  Value classes;
};

// The rows (image, class, box) of all classes, one class after another, in a tensor with `rows_of_class` for each.
Tensor CollectRows(te::Builder& te, const Selection& x, int64_t limit, Value rows_of_class) {
  const Tensor offsets = SumsBefore(te, x.counts);
  const Value all = x.counts.dim(0);
  const Tensor inputs[] = {x.indices, x.counts, offsets};
  const ExternOutput outputs[] = {{"collect_indices", {all * rows_of_class, 3}, kInt64, 0, Placement::kAnywhere}};
  const auto body = [&](tir::StmtBuilder& statements, std::span<const Tensor> out) {
    BoxCode code(te, statements);
    const size_t depth = statements.depth();
    const PrimExpr* node = te.make().Int(0, kInt32);
    statements.Open<tir::AttrStmt>(Span(), node, attr::kPragmaScope, te.workspace().New<tir::StringImm>("seq"),
                                   nullptr);
    code.For(all * rows_of_class, [&](Value i) {
      code.For(3, [&](Value j) { code.Store(out[0], {i, j}, te.Int(0)); });
    });
    code.For(all, kParallelLoop, [&](Value row) {
      code.For(te::Min(Wide(x.counts(row)), te.Int(limit)), [&](Value j) {
        const auto store = [&](int64_t column, Value value) {
          code.Store(out[0], {offsets(row) + j, Value(column)}, value);
        };
        store(0, te::FloorDiv(row, x.classes));
        store(1, te::FloorMod(row, x.classes));
        store(2, Wide(x.indices(row, j)));
      });
    });
    statements.CloseTo(depth);
  };
  return te.Extern("collect_indices", inputs, outputs, body)[0];
}

// The number of rows that count.
Tensor TotalRows(te::Builder& te, const Selection& x, int64_t limit) {
  const Value all = x.counts.dim(0);
  const Tensor clamped = te.Compute(
      "clamped_num", te::Values(&all, 1), [&](te::Values i) { return te::Min(x.counts(i), te.Int(limit, kInt32)); },
      te::PythonAxes({"i"}));
  const Value one = te.Int(1);
  return topi::Reshape(topi::Sum(topi::Cast(clamped, kInt64), std::vector<int64_t>{0}), te::Values(&one, 1));
}

// The pairs (class, box) and the scores of each image, and their number.
std::vector<Tensor> CollectByImage(te::Builder& te, const Selection& x, Value images) {
  const Value shape[] = {images, x.classes};
  const Tensor counts = topi::Reshape(x.counts, shape);
  const Tensor offsets = SumsBefore(te, counts);
  const Tensor totals = topi::Sum(topi::Cast(counts, kInt64), std::vector<int64_t>{1});
  const Value boxes = x.indices.dim(1);
  const Tensor inputs[] = {x.indices, x.scores, counts, offsets, totals};
  const ExternOutput outputs[] = {
      {"collect_indices_and_scores", {images, x.classes * boxes, 2}, kInt64, 0, Placement::kAnywhere},
      {"collect_indices_and_scores", {images, x.classes * boxes}, DataType::Float(32), 0, Placement::kAnywhere}};
  const auto body = [&](tir::StmtBuilder& statements, std::span<const Tensor> out) {
    BoxCode code(te, statements);
    code.For(images * x.classes, kParallelLoop, [&](Value row) {
      const Value image = te::FloorDiv(row, x.classes);
      const Value kind = te::FloorMod(row, x.classes);
      const auto store = [&](Value at, Value first, Value second, Value score) {
        code.Store(out[0], {image, at, 0}, first);
        code.Store(out[0], {image, at, 1}, second);
        code.Store(out[1], {image, at}, score);
      };
      code.For(boxes, [&](Value j) {
        code.If(
            j < Wide(counts(image, kind)),
            [&] { store(offsets(image, kind) + j, kind, Wide(x.indices(row, j)), x.scores(row, j)); },
            [&] {
              const Value unused = totals(image) + kind * boxes - offsets(image, kind) + j - Wide(counts(image, kind));
              store(unused, te.Int(0), te.Int(0), te.Const(0, DataType::Float(32)));
            });
      });
    });
  };
  std::vector<Tensor> results = te.Extern("collect_indices_and_scores", inputs, outputs, body);
  results.push_back(totals);
  return results;
}

// A vector of two integers.
const Expr* PairOf(TeCall& te, std::string_view name, FunctionRef<Value(Value)> element) {
  const Value two = te.Int(2);
  return te.Finish({te.Compute(
      name, te::Values(&two, 1), [&](te::Values i) { return element(i[0]); }, te::PythonAxes({"i"}))});
}

// The first rows of the indices, as many as are counted, by operators that are legalized in turn.
const Expr* TrimRows(LegalizeCall& call, const Expr* indices, const Expr* count) {
  BlockBuilder& builder = call.builder();
  TeCall begin_te(call, "build_begin");
  const Expr* begin = builder.Emit(PairOf(begin_te, "begin", [&](Value) { return begin_te.Int(0); }));
  TeCall end_te(call, "build_end");
  const Tensor rows = end_te.Input(count);
  const Expr* end = builder.Emit(
      PairOf(end_te, "end", [&](Value i) { return te::IfThenElse(i == 0, rows(Value(0)), end_te.Int(3)); }));
  TeCall strides_te(call, "build_strides");
  const Expr* strides = builder.Emit(PairOf(strides_te, "strides", [&](Value) { return strides_te.Int(1); }));
  const Expr* slice =
      builder.Normalize(builder.MakeCall(GetOp(op::kDynamicStridedSlice), {indices, begin, end, strides}));
  LegalizeCall trimmed = call.Of(*To<Call>(slice));
  return builder.Emit(LegalizationOf(OpInfoOf(op::kDynamicStridedSlice)).legalize(trimmed));
}

// The greatest number of boxes of a class, which is a constant of one element. TVM does not look at what a name is
// bound to, and selects all boxes then.
std::optional<int64_t> LimitOf(const LegalizeCall& call, const Tensor& scores) {
  const Constant* limit = call.ConstantArg(2);
  if (!limit || limit->data->num_elements() != 1 || !limit->data->dtype().is_integer()) return std::nullopt;
  const int64_t most = scores.dim(2).AsInt().value_or(std::numeric_limits<int32_t>::max());
  std::optional<int64_t> value;
  DispatchElement(limit->data->dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto given = Element<T>::Load(limit->data->As<T>()[0]);
    if (given <= 0) {
      value = 0;
    } else {
      value = static_cast<int64_t>(std::min(static_cast<uint64_t>(given), static_cast<uint64_t>(most)));
    }
  });
  return value;
}

// Why the call has no loops; empty if it has.
std::string_view MissOf(const LegalizeCall& call, const Tensor& boxes, const Tensor& scores) {
  if (!boxes.dtype().is_floating() || !scores.dtype().is_floating()) return "boxes and scores must be floats";
  if (scores.dim(0).Is(0) || scores.dim(1).Is(0)) return "there are no images or no classes";
  for (size_t i = 3; i < 5; ++i) {
    const List<const PrimExpr*>& dims = call.TensorArg(i)->dims;
    if (!std::ranges::all_of(dims.span(),
                             [](const PrimExpr* dim) { return arith::AsInt(dim) && *arith::AsInt(dim) == 1; }))
      return "a threshold is not a single number";
  }
  return {};
}

}  // namespace

const Expr* LegalizeVisionAllClassNonMaxSuppression(LegalizeCall& call) {
  const bool onnx = AllClassNonMaximumSuppressionAttrs(call.call()).output_format() == "onnx";
  TeCall te(call, "all_class_non_max_suppression");
  const Tensor boxes = te.Arg(0, Placement::kAnywhere);
  const Tensor all_scores = te.Arg(1);
  const Tensor overlap = te.Arg(3);
  const Tensor threshold = te.Arg(4, Placement::kAnywhere);
  if (const std::string_view miss = MissOf(call, boxes, all_scores); !miss.empty())
    return call.Unchanged(std::string(miss));
  const std::optional<int64_t> limit = LimitOf(call, all_scores);
  if (!limit) return call.Unchanged("the greatest number of boxes of a class is not known");

  const Value classes = all_scores.dim(1);
  const Value shape[] = {all_scores.dim(0) * classes, all_scores.dim(2)};
  const Tensor scores = topi::Reshape(all_scores, shape);
  const Tensor order = SortedIndices(te, "argsort_cpu", "tvm.contrib.sort.argsort", std::span(&scores, 1), kInt32, 1,
                                     /*ascending=*/false);
  const Tensor sorted = topi::Gather(scores, 1, order);
  const Tensor counts = CountAbove(te, sorted, threshold);
  std::vector<ExternOutput> outputs = {{"all_class_nms0", {shape[0], shape[1]}, kInt32, 8}};
  if (!onnx) outputs.push_back({"all_class_nms", {shape[0], shape[1]}, DataType::Float(32)});
  outputs.push_back({"all_class_nms1", {shape[0]}, kInt32, 8});
  const Tensor inputs[] = {boxes, sorted, order, counts, threshold};
  const auto body = [&](tir::StmtBuilder& statements, std::span<const Tensor> out) {
    BoxCode code(te, statements);
    const ClassSelection::Tensors tensors = {
        boxes, sorted, order, counts, overlap, threshold, out[0], onnx ? Tensor() : out[1], out.back()};
    ClassSelection(code, tensors, *limit).Run();
  };
  const std::vector<Tensor> selected = te.Extern("all_class_nms", inputs, outputs, body);
  const Selection selection = {selected[0], onnx ? Tensor() : selected[1], selected.back(), classes};
  if (!onnx) return te.Finish(CollectByImage(te, selection, all_scores.dim(0)));

  BlockBuilder& builder = call.builder();
  const Value boxes_of_class = all_scores.dim(2);
  const Value rows_of_class = call.may_trim() && boxes_of_class.AsInt() ? Value(*limit) : boxes_of_class;
  const Tensor rows = CollectRows(te, selection, *limit, rows_of_class);
  const Expr* both = builder.Emit(te.Finish({rows, TotalRows(te, selection, *limit)}));
  const auto item = [&](int32_t i) {
    const Type* type = To<TupleType>(both->type)->fields[static_cast<uint32_t>(i)];
    return builder.Emit(builder.workspace().New<TupleGetItem>(both, i, type));
  };
  const Expr* indices = item(0);
  const Expr* count = item(1);
  const Expr* const fields[] = {call.may_trim() ? TrimRows(call, indices, count) : indices, count};
  return builder.workspace().New<Tuple>(builder.workspace().Copy(std::vector(std::begin(fields), std::end(fields))),
                                        nullptr);
}

}  // namespace iropt::legalize
