// Legalization of operators that select boxes: opaque blocks with loops of their own.
#include <vector>

#include "box_code.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/vision.h"
#include "local_number.h"
#include "packed_calls.h"

namespace iropt::legalize {

using te::Tensor;
using te::Value;

const Expr* LegalizeVisionGetValidCounts(LegalizeCall& call) {
  const GetValidCountsAttrs attrs(call.call());
  TeCall te(call, "get_valid_counts");
  const Tensor data = te.Arg(0);
  const Value batch = data.dim(0);
  const Value anchors = data.dim(1);
  const Value elements = data.dim(2);
  const te::Builder::ExternOutput outputs[] = {{"valid_count", {batch}, kInt32},
                                               {"out_tensor", data.shape(), data.dtype()},
                                               {"out_indices", {batch, anchors}, kInt32}};
  const Value threshold = te.Const(attrs.score_threshold(), data.dtype());
  const auto body = [&](tir::StmtBuilder& statements, std::span<const Tensor> out) {
    BoxCode code(te, statements);
    code.For(batch, tir::ForKind::kParallel, [&](Value i) {
      const auto count = [&] { return out[0](i); };
      code.Store(out[0], {i}, te.Int(0, kInt32));
      code.For(anchors, [&](Value j) {
        Value valid = data(i, j, Value(attrs.score_index())) > threshold;
        if (attrs.id_index() >= 0) valid = valid && data(i, j, Value(attrs.id_index())) >= te.Const(0, data.dtype());
        code.If(valid, [&] {
          code.For(elements, [&](Value k) { code.Store(out[1], {i, count(), k}, data(i, j, k)); });
          code.Store(out[2], {i, count()}, te::Cast(kInt32, j));
          code.Store(out[0], {i}, count() + 1);
        });
      });
      code.For(anchors, [&](Value j) {
        code.If(j >= Wide(count()), [&] {
          code.For(elements, [&](Value k) { code.Store(out[1], {i, j, k}, code.Number(-1, data.dtype())); });
          code.Store(out[2], {i, j}, te.Int(-1, kInt32));
        });
      });
    });
  };
  return te.Finish(te.Extern("get_valid_counts", std::span(&data, 1), outputs, body));
}

namespace {

// The loops of non_max_suppression for one image.
class SuppressionCode {
 public:
  struct Tensors {
    Tensor data, sorted, counts, indices;      // operands
    Tensor out_data, out_indices, out_counts;  // results; the last one is empty without indices
  };

  SuppressionCode(const NonMaximumSuppressionAttrs& attrs, BoxCode& code, const Tensors& x)
      : attrs_(attrs), code_(code), te_(code.te()), x_(x) {}

  void Run(Value image) {
    i_ = image;
    const LocalNumber kept(te_, code_.statements(), kInt32);
    code_.Store(kept, x_.counts(i_));
    const Value limited = attrs_.top_k() > 0 ? Wide(kept.value()) > te_.Int(attrs_.top_k()) : !code_.True();
    code_.If(limited, [&] { code_.Store(kept, te_.Int(attrs_.top_k(), kInt32)); });
    CopySorted(kept);
    const LocalNumber valid(te_, code_.statements(), kInt32);
    code_.Store(valid, te_.Int(0, kInt32));
    const LocalNumber best(te_, code_.statements(), kInt32);
    const LocalNumber best_score(te_, code_.statements(), x_.data.dtype());
    const LocalNumber index(te_, code_.statements(), kInt32);
    const LocalNumber element(te_, code_.statements(), x_.data.dtype());
    if (soft()) {
      code_.For(Wide(kept.value()), [&](Value) {
        code_.If(MayKeep(valid), [&] { KeepBest(kept, valid, {best, best_score, index, element}); });
      });
      FinishSoft(valid);
    } else {
      code_.For(Wide(kept.value()), [&](Value j) { KeepNext(j, kept, valid); });
      if (attrs_.return_indices()) FinishHard();
    }
  }

 private:
  struct Scratch {
    const LocalNumber &best, &best_score, &index, &element;
  };

  bool soft() const { return attrs_.soft_nms_sigma() > 0; }
  Value anchors() const { return x_.data.dim(1); }
  Value Number(double value) const { return code_.Number(value, x_.data.dtype()); }
  Value Threshold() const { return Number(soft() ? attrs_.score_threshold() : 0); }
  Value Element(Value j, int64_t k) const { return x_.out_data(i_, j, Value(k)); }
  Value Score(Value j) const { return Element(j, attrs_.score_index()); }
  Value Index(Value j) const { return x_.out_indices(i_, j); }
  Value IsSelected(Value j) const { return Wide(Index(j)) >= te_.Int(0); }

  void Clear(Value j) {
    code_.For(x_.data.dim(2), [&](Value k) { code_.Store(x_.out_data, {i_, j, k}, Number(-1)); });
  }
  void Drop(Value j) { code_.Store(x_.out_indices, {i_, j}, te_.Int(-1, kInt32)); }

  void CopySorted(const LocalNumber& kept) {
    code_.For(anchors(), [&](Value j) {
      const auto copy = [&] {
        const Value from = x_.sorted(i_, j);
        code_.For(x_.data.dim(2), [&](Value k) { code_.Store(x_.out_data, {i_, j, k}, x_.data(i_, from, k)); });
        code_.Store(x_.out_indices, {i_, j}, from);
      };
      code_.If(j < Wide(kept.value()), copy, [&] {
        Clear(j);
        Drop(j);
      });
    });
  }

  Value MayKeep(const LocalNumber& valid) const {
    const Value limited = te_.Const(attrs_.max_output_size() > 0 ? 1 : 0, DataType::Bool());
    return te::Select(limited, Wide(valid.value()) < te_.Int(attrs_.max_output_size()), code_.True());
  }

  Value SameClass(Value a, Value b) const {
    const int64_t id = attrs_.id_index();
    return attrs_.force_suppress() || id < 0 ? code_.True() : Element(a, id) == Element(b, id);
  }

  // Intersection over union.
  Value Overlap(Value a, Value b) const {
    const int64_t first = attrs_.coord_start();
    const auto low = [&](Value j, int64_t k) { return te::Min(Element(j, first + k), Element(j, first + k + 2)); };
    const auto high = [&](Value j, int64_t k) { return te::Max(Element(j, first + k), Element(j, first + k + 2)); };
    const auto common = [&](int64_t k) {
      return te::Max(Number(0), te::Min(high(a, k), high(b, k)) - te::Max(low(a, k), low(b, k)));
    };
    const auto area = [&](Value j) { return (high(j, 0) - low(j, 0)) * (high(j, 1) - low(j, 1)); };
    const Value intersection = common(1) * common(0);
    const Value all = area(a) + area(b) - intersection;
    return te::Select(all <= Number(0), Number(0), te::Div(intersection, all));
  }

  // Keeps a box unless it is suppressed, and suppresses those that it covers.
  void KeepNext(Value j, const LocalNumber& kept, const LocalNumber& valid) {
    const auto keep = [&] {
      code_.Store(valid, valid.value() + 1);
      code_.For(Wide(kept.value()), [&](Value k) {
        code_.If(k > j && Score(k) > Threshold(), [&] {
          code_.If(SameClass(j, k), [&] {
            code_.If(Overlap(j, k) >= te_.Const(attrs_.iou_threshold(), x_.data.dtype()), [&] {
              code_.Store(x_.out_data, {i_, k, Value(attrs_.score_index())}, Number(-1));
              Drop(k);
            });
          });
        });
      });
    };
    code_.If(Score(j) > Threshold() && MayKeep(valid), keep, [&] {
      Clear(j);
      Drop(j);
    });
  }

  // Brings the indices of the input to the front.
  void FinishHard() {
    const LocalNumber next(te_, code_.statements(), kInt32);
    code_.Store(next, te_.Int(0, kInt32));
    code_.For(anchors(), [&](Value j) {
      code_.If(IsSelected(j), [&] {
        code_.Store(x_.out_indices, {i_, next.value()}, x_.indices(i_, Index(j)));
        code_.Store(next, next.value() + 1);
      });
    });
    code_.Store(x_.out_counts, {i_, 0}, next.value());
    code_.For(anchors(), [&](Value j) { code_.If(j >= Wide(next.value()), [&] { Drop(j); }); });
  }

  // Brings the box of the highest score after those that are kept already, and lowers the scores of the others.
  void KeepBest(const LocalNumber& kept, const LocalNumber& valid, const Scratch& s) {
    code_.Store(s.best, te_.Int(-1, kInt32));
    code_.Store(s.best_score, Threshold());
    code_.For(Wide(kept.value()), [&](Value j) {
      code_.If(j >= Wide(valid.value()) && IsSelected(j) && Score(j) > s.best_score.value(), [&] {
        code_.Store(s.best, te::Cast(kInt32, j));
        code_.Store(s.best_score, Score(j));
      });
    });
    code_.If(Wide(s.best.value()) >= te_.Int(0), [&] {
      code_.If(s.best.value() != valid.value(), [&] { Exchange(valid, s); });
      code_.For(Wide(kept.value()), [&](Value j) {
        code_.If(j > Wide(valid.value()) && IsSelected(j) && Score(j) > Threshold(),
                 [&] { code_.If(SameClass(valid.value(), j), [&] { Decay(valid.value(), j); }); });
      });
      code_.Store(valid, valid.value() + 1);
    });
  }

  void Exchange(const LocalNumber& valid, const Scratch& s) {
    code_.Store(s.index, Index(valid.value()));
    code_.Store(x_.out_indices, {i_, valid.value()}, Index(s.best.value()));
    code_.Store(x_.out_indices, {i_, s.best.value()}, s.index.value());
    code_.For(x_.data.dim(2), [&](Value k) {
      code_.Store(s.element, x_.out_data(i_, valid.value(), k));
      code_.Store(x_.out_data, {i_, valid.value(), k}, x_.out_data(i_, s.best.value(), k));
      code_.Store(x_.out_data, {i_, s.best.value(), k}, s.element.value());
    });
  }

  void Decay(Value best, Value j) {
    const Value limit = te_.Const(attrs_.iou_threshold(), x_.data.dtype());
    code_.If(Overlap(best, j) >= limit, [&] { Drop(j); });
    code_.If(Overlap(best, j) < limit, [&] {
      const Value overlap = Overlap(best, j);
      const Value factor = topi::Exp(Number(-0.5 / attrs_.soft_nms_sigma()) * overlap * overlap);
      code_.Store(x_.out_data, {i_, j, Value(attrs_.score_index())}, Score(j) * factor);
      code_.If(Score(j) <= Threshold(), [&] { Drop(j); });
    });
  }

  void FinishSoft(const LocalNumber& valid) {
    if (attrs_.return_indices()) code_.Store(x_.out_counts, {i_, 0}, valid.value());
    code_.For(anchors(), [&](Value j) {
      if (attrs_.return_indices()) {
        code_.If(j < Wide(valid.value()), [&] { code_.Store(x_.out_indices, {i_, j}, x_.indices(i_, Index(j))); });
      }
      code_.If(j >= Wide(valid.value()), [&] {
        Clear(j);
        if (attrs_.return_indices()) Drop(j);
      });
    });
  }

  const NonMaximumSuppressionAttrs& attrs_;
  BoxCode& code_;
  te::Builder& te_;
  const Tensors& x_;
  Value i_;
};

// The boxes with a score of 0 or more first; the rest is -1.
Tensor MoveValidBoxes(te::Builder& te, const Tensor& data, int64_t score_index) {
  const te::Builder::ExternOutput output[] = {{"rearranged", data.shape(), data.dtype()}};
  return te.Extern(
      "rearrange_out", std::span(&data, 1), output, [&](tir::StmtBuilder& statements, std::span<const Tensor> out) {
        BoxCode code(te, statements);
        code.For(data.dim(0), tir::ForKind::kParallel, [&](Value i) {
          const LocalNumber next(te, statements, kInt32);
          code.Store(next, te.Int(0, kInt32));
          code.For(data.dim(1), [&](Value j) {
            code.If(data(i, j, Value(score_index)) >= code.Number(0, data.dtype()), [&] {
              code.For(data.dim(2), [&](Value k) { code.Store(out[0], {i, next.value(), k}, data(i, j, k)); });
              code.Store(next, next.value() + 1);
            });
          });
          code.For(data.dim(1), [&](Value j) {
            code.If(j >= Wide(next.value()), [&] {
              code.For(data.dim(2), [&](Value k) { code.Store(out[0], {i, j, k}, code.Number(-1, data.dtype())); });
            });
          });
        });
      })[0];
}

}  // namespace

const Expr* LegalizeVisionNonMaxSuppression(LegalizeCall& call) {
  const NonMaximumSuppressionAttrs attrs(call.call());
  TeCall te(call, "non_max_suppression");
  const Tensor data = te.Arg(0);
  const Tensor counts = te.Arg(1);
  const Tensor indices = te.Arg(2);
  const Value shape[] = {data.dim(0), data.dim(1)};
  const Tensor scores = te.Compute(
      "score_tensor", shape, [&](te::Values i) { return data(i[0], i[1], Value(attrs.score_index())); },
      te::PythonAxes({"i", "j"}));
  const Tensor keys[] = {scores, counts};
  const Tensor sorted =
      SortedIndices(te, "argsort_nms_cpu", "tvm.contrib.sort.argsort_nms", keys, kInt32, 1, /*ascending=*/false);
  std::vector<te::Builder::ExternOutput> outputs = {{"out_data", data.shape(), data.dtype()},
                                                    {"out_box_indices", {data.dim(0), data.dim(1)}, kInt32}};
  if (attrs.return_indices()) outputs.push_back({"out_valid_box_count", {data.dim(0), 1}, kInt32});
  const Tensor inputs[] = {data, sorted, counts, indices};
  const auto body = [&](tir::StmtBuilder& statements, std::span<const Tensor> out) {
    BoxCode code(te, statements);
    const SuppressionCode::Tensors tensors = {
        data, sorted, counts, indices, out[0], out[1], out.size() > 2 ? out[2] : Tensor()};
    SuppressionCode suppression(attrs, code, tensors);
    code.For(data.dim(0), tir::ForKind::kParallel, [&](Value i) { suppression.Run(i); });
  };
  const std::vector<Tensor> results = te.Extern("non_max_suppression", inputs, outputs, body);
  if (!attrs.return_indices())
    return te.Finish({attrs.invalid_to_bottom() ? MoveValidBoxes(te, results[0], attrs.score_index()) : results[0]});
  return te.Finish(std::span(results).subspan(attrs.soft_nms_sigma() > 0 ? 0 : 1));
}

}  // namespace iropt::legalize
