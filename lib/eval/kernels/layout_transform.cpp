// Moves the elements of a tensor to the positions that an index map computes from their indices.
#include <cstring>
#include <vector>

#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/infer/map_shape.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/ops/reorder.h"
#include "kernel.h"
#include "loop_nest.h"

namespace iropt::eval {

namespace {

// The shape that the type of the result has.
Result<Shape> ResultShape(const KernelCall& call, const IndexMapAttr& map, std::span<const int64_t> shape) {
  std::vector<const PrimExpr*> dims;
  for (const int64_t size : shape) dims.push_back(IRContext::Current().Int(size));
  const auto extents = MapShape(map, List<const PrimExpr*>(dims.data(), dims.size()));
  if (!extents) return call.Fail("the extents of the indices that the map makes are not known");
  Shape result;
  for (const PrimExpr* extent : *extents) result.push_back(To<tir::IntImm>(extent)->value);
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
  IROPT_ASSIGN_OR_RETURN(const Shape shape, ResultShape(call, *map, x->shape()));
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
      if (index < 0 || index >= shape[d]) return call.Fail("the index map computes an index out of bounds");
      place += index * to[d];
    }
    std::memcpy(out->mutable_data() + place * size, x->data() + i * size, static_cast<size_t>(size));
  }
  return HostValue(Tensor(out));
}

}  // namespace iropt::eval
