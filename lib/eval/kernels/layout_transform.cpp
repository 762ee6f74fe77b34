// Moves the elements of a tensor to the positions that an index map computes from their indices.
#include <algorithm>
#include <cstring>

#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/support/check.h"
#include "iropt/support/stack.h"
#include "kernel.h"
#include "loop_nest.h"

namespace iropt::eval {

namespace {

// The least and the greatest value of an expression, both included.
struct Interval {
  int64_t low = 0;
  int64_t high = 0;
};

Interval Hull(std::initializer_list<int64_t> values) { return {std::min(values), std::max(values)}; }

// Interval arithmetic over an index map's expressions. False for expressions that index maps do not use, and for
// numbers that might overflow.
class IntervalEvaluator {
 public:
  IntervalEvaluator(List<const tir::Var*> params, std::span<const int64_t> shape) : params_(params), shape_(shape) {}

  bool Eval(const PrimExpr* expr, Interval* result) {
    return WithStack([&] { return EvalNode(expr, result); }) &&
           std::max(std::abs(result->low), std::abs(result->high)) < kBound;
  }

 private:
  static constexpr int64_t kBound = int64_t{1} << 40;

  bool EvalNode(const PrimExpr* expr, Interval* result) {
    if (const auto* imm = As<tir::IntImm>(expr)) {
      *result = {imm->value, imm->value};
      return imm->value > -kBound && imm->value < kBound;
    }
    if (const auto* cast = As<tir::Cast>(expr)) return cast->dtype.is_int() && Eval(cast->value, result);
    if (const auto* binary = As<tir::BinaryExpr>(expr)) return EvalBinary(*binary, result);
    for (size_t i = 0; i < params_.size(); ++i) {
      if (params_[i] == expr) return *result = {0, shape_[i] - 1}, true;
    }
    return false;
  }

  bool EvalBinary(const tir::BinaryExpr& expr, Interval* result) {
    Interval a;
    Interval b;
    if (!Eval(expr.a, &a) || !Eval(expr.b, &b)) return false;
    switch (expr.kind) {
      case NodeKind::kAdd: return *result = {a.low + b.low, a.high + b.high}, true;
      case NodeKind::kSub: return *result = {a.low - b.high, a.high - b.low}, true;
      case NodeKind::kMin: return *result = {std::min(a.low, b.low), std::min(a.high, b.high)}, true;
      case NodeKind::kMax: return *result = {std::max(a.low, b.low), std::max(a.high, b.high)}, true;
      case NodeKind::kMul: return EvalProduct(a, b, result);
      default: return b.low == b.high && b.low > 0 && EvalDivision(expr.kind, a, b.low, result);
    }
  }

  static bool EvalProduct(Interval a, Interval b, Interval* result) {
    int64_t corners[4];
    if (__builtin_mul_overflow(a.low, b.low, &corners[0]) || __builtin_mul_overflow(a.low, b.high, &corners[1]) ||
        __builtin_mul_overflow(a.high, b.low, &corners[2]) || __builtin_mul_overflow(a.high, b.high, &corners[3])) {
      return false;
    }
    *result = Hull({corners[0], corners[1], corners[2], corners[3]});
    return true;
  }

  // By a positive constant.
  static bool EvalDivision(NodeKind kind, Interval a, int64_t divisor, Interval* result) {
    switch (kind) {
      case NodeKind::kFloorDiv: return *result = {FloorDiv(a.low, divisor), FloorDiv(a.high, divisor)}, true;
      case NodeKind::kDiv: return *result = {a.low / divisor, a.high / divisor}, true;
      case NodeKind::kMod:
        if (a.low < 0) return false;
        [[fallthrough]];
      case NodeKind::kFloorMod:
        // Within one period the remainder grows with the operand.
        *result = FloorDiv(a.low, divisor) == FloorDiv(a.high, divisor)
                      ? Interval{FloorMod(a.low, divisor), FloorMod(a.high, divisor)}
                      : Interval{0, divisor - 1};
        return true;
      default: return false;
    }
  }

  List<const tir::Var*> params_;
  std::span<const int64_t> shape_;
};

// The shape that holds all indices which the map computes.
Result<Shape> MapShape(const KernelCall& call, const IndexMapAttr& map, std::span<const int64_t> shape) {
  IntervalEvaluator evaluator(map.params, shape);
  Shape result;
  for (const PrimExpr* expr : map.results) {
    Interval interval;
    if (!evaluator.Eval(expr, &interval)) return call.Fail("the index map is not supported");
    if (interval.low < 0) return call.Fail("the index map computes negative indices");
    result.push_back(interval.high + 1);
  }
  return result;
}

// Positions that receive no element have the pad value, or zero.
Status FillPadding(KernelCall& call, NDArray& out) {
  Scalar fill = Scalar::Int(0);
  if (const PrimExpr* value = call.attrs<LayoutTransformAttrs>().pad_value()) {
    const auto* integer = As<tir::IntImm>(value);
    const auto* real = As<tir::FloatImm>(value);
    if (!integer && !real) return call.Fail("the pad value is not a number");
    fill = Scalar::Float(integer ? static_cast<double>(integer->value) : real->value);
  }
  Scalar converted;
  if (!CastScalar(fill, out.dtype(), &converted)) return call.Fail("the pad value is out of range");
  const Shape zeros(out.shape().size(), 0);
  const Tensor source = MakeScalarTensor(converted);
  StridedCopy(out.mutable_data(), RowMajorStrides(out.shape()), source->data(), zeros, out.shape(),
              static_cast<size_t>(out.dtype().bytes()));
  return {};
}

}  // namespace

Result<HostValue> EvalLayoutTransform(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const IndexMapAttr* map = call.attrs<LayoutTransformAttrs>().index_map();
  if (!map || map->params.size() != x->shape().size()) return call.Fail("the index map does not fit the tensor");
  if (x->num_elements() == 0) return call.Fail("there are no elements to move");
  IROPT_ASSIGN_OR_RETURN(const Shape shape, MapShape(call, *map, x->shape()));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), shape));
  const uint64_t steps =
      static_cast<uint64_t>(x->num_elements()) * (map->results.size() + 1) + static_cast<uint64_t>(out->num_elements());
  IROPT_RETURN_IF_ERROR(call.Charge(steps));
  IROPT_RETURN_IF_ERROR(FillPadding(call, *out));

  const Shape from = RowMajorStrides(x->shape());
  const Shape to = RowMajorStrides(shape);
  const int64_t size = x->dtype().bytes();
  ScalarEvaluator evaluator;
  for (int64_t i = 0; i < x->num_elements(); ++i) {
    for (size_t d = 0; d < from.size(); ++d) {
      evaluator.env().Bind(map->params[d], Scalar::Int(i / from[d] % x->shape()[d], map->params[d]->dtype));
    }
    int64_t place = 0;
    for (size_t d = 0; d < to.size(); ++d) {
      int64_t index = 0;
      if (!evaluator.EvalInt(map->results[d], &index)) return call.Fail(evaluator.error().message);
      IROPT_CHECK(index >= 0 && index < shape[d], "an index outside of the interval of its map");
      place += index * to[d];
    }
    std::memcpy(out->mutable_data() + place * size, x->data() + i * size, static_cast<size_t>(size));
  }
  return HostValue(Tensor(out));
}

}  // namespace iropt::eval
