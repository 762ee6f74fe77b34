// Elements of constants, computed as whole tensors.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/element.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/reduction.h"
#include "semantics/proof/polynomial.h"
#include "semantics/proof/term_builder.h"

namespace iropt::proof {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 23;
std::vector<int64_t> StridesOf(const NDArray& array) {
  std::vector<int64_t> strides(array.shape().size());
  int64_t stride = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= array.shape()[i];
  }
  return strides;
}

// The elements at these strides.
std::shared_ptr<const NDArray> Rearranged(const NDArray& array, const std::vector<int64_t>& shape,
                                          const std::vector<int64_t>& strides, int64_t offset) {
  auto result = NDArray::Make(array.dtype(), shape);
  const auto size = static_cast<size_t>(array.dtype().bytes());
  std::vector<int64_t> at(shape.size());
  const std::byte* from = array.data();
  std::byte* to = result->mutable_data();
  for (int64_t i = 0; i < result->num_elements(); ++i) {
    std::memcpy(to, from + static_cast<size_t>(offset) * size, size);
    to += size;
    for (size_t k = shape.size(); k-- > 0;) {
      offset += strides[k];
      if (++at[k] < shape[k]) break;
      offset -= strides[k] * shape[k];
      at[k] = 0;
    }
  }
  return result;
}

// Returns whether errors of the operands add up to those of the result.
bool IsSumOrProduct(OpId op) { return op == op::kAdd || op == op::kSubtract || op == op::kMultiply; }

}  // namespace

bool TermBuilder::IsConstant(const Term* term) const {
  if (term->kind == TermKind::kNumber) return true;
  if (term->kind != TermKind::kRead || term->args[0]->kind != TermKind::kArray || !laws_.AreRing(term->dtype))
    return false;
  // A variable of another extent reads a part of the array, or an element behind its end that no choice takes.
  const auto reads_all = [&](const PrimExpr* index, int64_t size) {
    const IndexSpace::Place* place = indices_.PlaceOf(index);
    return place && arith::IsInt(place->extent, size);
  };
  return indices_.AreInOrder(term->indices) &&
         std::ranges::equal(term->indices, term->args[0]->array->shape(), reads_all);
}

const Term* TermBuilder::OfConstant(const std::shared_ptr<const NDArray>& array, Dims indices) {
  if (const Term* uniform = UniformOf(*array)) return uniform;
  return Keep(
      {.kind = TermKind::kRead, .dtype = array->dtype(), .args = {Array(array)}, .indices = std::move(indices)});
}

const Term* TermBuilder::ReadConstant(const NDArray& array, const Dims& indices) {
  if (!laws_.AreRing(array.dtype()) || indices_.AreInOrder(indices) || array.num_elements() > kMostElements)
    return nullptr;
  const std::vector<int64_t> strides = StridesOf(array);
  std::vector<size_t> axes;
  int64_t offset = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (const int64_t* number = arith::AsInt(indices[i])) {
      if (*number < 0 || *number >= array.shape()[i]) return nullptr;
      offset += *number * strides[i];
      continue;
    }
    const IndexSpace::Place* place = indices_.PlaceOf(indices[i]);
    const int64_t* extent = place ? arith::AsInt(place->extent) : nullptr;
    if (!extent || *extent != array.shape()[i]) return nullptr;
    axes.push_back(i);
  }
  std::ranges::sort(axes, [&](size_t a, size_t b) { return indices_.IsBefore(indices[a], indices[b]); });
  Dims sorted;
  std::vector<int64_t> shape;
  std::vector<int64_t> steps;
  for (const size_t axis : axes) {
    if (!sorted.empty() && sorted.back() == indices[axis]) return nullptr;
    sorted.push_back(indices[axis]);
    shape.push_back(array.shape()[axis]);
    steps.push_back(strides[axis]);
  }
  const std::shared_ptr<const NDArray> result = Rearranged(array, shape, steps, offset);
  if (array.dtype().is_floating())
    near_.SetMagnitudes(store_.Get(result), Rearranged(*near_.MagnitudesOf(array), shape, steps, offset));
  return OfConstant(result, std::move(sorted));
}

const Term* TermBuilder::FoldConstants(OpId op, const Attr* attrs, const std::vector<const Term*>& args,
                                       DataType dtype) {
  if (const Term* folded = Fold(op, attrs, args, dtype)) return folded;
  if (args.size() != OpInfoOf(op).args.size() || !HasKernel(OpInfoOf(op)) || !laws_.AreRing(dtype)) return nullptr;
  Dims vars;
  for (const Term* arg : args) {
    if (!IsConstant(arg)) return nullptr;
    for (const PrimExpr* var : arg->indices) {
      if (std::ranges::find(vars, var) == vars.end()) vars.push_back(var);
    }
  }
  if (vars.empty()) return nullptr;
  std::ranges::sort(vars, [&](const PrimExpr* a, const PrimExpr* b) { return indices_.IsBefore(a, b); });
  int64_t size = 1;
  for (size_t i = 0; i < vars.size(); ++i) {
    if (i > 0 && !indices_.IsBefore(vars[i - 1], vars[i])) return nullptr;
    const int64_t* extent = arith::AsInt(indices_.PlaceOf(vars[i])->extent);
    if (!extent || __builtin_mul_overflow(size, *extent, &size) || size > kMostElements) return nullptr;
  }
  std::vector<HostValue> values;
  std::vector<HostValue> magnitudes;
  for (const Term* arg : args) {
    std::vector<int64_t> shape;
    for (const PrimExpr* var : vars) {
      const bool has_var = std::ranges::find(arg->indices, var) != arg->indices.end();
      shape.push_back(has_var ? *arith::AsInt(indices_.PlaceOf(var)->extent) : 1);
    }
    if (arg->kind == TermKind::kNumber) {
      values.emplace_back(iropt::Tensor(Filled(*arg, shape)));
      magnitudes.emplace_back(near_.MagnitudesOf(*Filled(*arg, shape)));
    } else {
      const NDArray* array = arg->args[0]->array;
      values.emplace_back(
          iropt::Tensor(NDArray::View(array->dtype(), shape, array->data(), array->shared_from_this())));
      const std::shared_ptr<const NDArray> own = near_.MagnitudesOf(*array);
      magnitudes.emplace_back(iropt::Tensor(NDArray::View(own->dtype(), shape, own->data(), own)));
    }
  }
  const Result<HostValue> result = EvalOp(OpInfoOf(op), attrs, values);
  const auto* tensor = result.ok() ? std::get_if<iropt::Tensor>(&result->state) : nullptr;
  if (!tensor || (*tensor)->dtype() != dtype || (*tensor)->num_elements() != size) return nullptr;
  if (dtype.is_floating() && IsSumOrProduct(op)) {
    const OpId of_magnitudes = op == op::kMultiply ? op : op::kAdd;
    const Result<HostValue> errors = EvalOp(OpInfoOf(of_magnitudes), nullptr, magnitudes);
    const auto* found = errors.ok() ? std::get_if<iropt::Tensor>(&errors->state) : nullptr;
    if (found) near_.SetMagnitudes(store_.Get(*tensor), *found);
  }
  return OfConstant(*tensor, std::move(vars));
}

const Term* TermBuilder::SumConstant(const Dims& reduced, const Term* body) {
  const bool is_float = body->dtype == DataType::Float(32) || body->dtype == DataType::Float(64);
  if (!laws_.reals || !is_float || body->kind != TermKind::kRead || !IsConstant(body)) return nullptr;
  Dims kept;
  std::vector<int64_t> shape;
  int64_t count = 1;  // of the elements of a sum
  for (const PrimExpr* extent : reduced) {
    const int64_t* number = arith::AsInt(extent);
    if (!number || *number <= 0 || __builtin_mul_overflow(count, *number, &count)) return nullptr;
  }
  int64_t added = 1;
  for (const PrimExpr* var : body->indices) {
    const IndexSpace::Place& place = *indices_.PlaceOf(var);
    if (place.is_reduction) {
      added *= *arith::AsInt(place.extent);
      continue;
    }
    kept.push_back(var);
    shape.push_back(*arith::AsInt(place.extent));
  }
  // The variables of the reduction are the last ones; a sum over others has the same terms several times.
  const int64_t times = count / added;
  bool is_finite = true;
  const auto sums_of = [&](const NDArray& array) {
    auto sums = NDArray::Make(array.dtype(), shape);
    DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_floating_point_v<T>) {
        const T* from = array.As<T>().data();
        for (T& sum : sums->template MutableAs<T>()) {
          sum = static_cast<T>(static_cast<double>(times) * std::accumulate(from, from + added, 0.0));
          is_finite = is_finite && std::isfinite(sum);
          from += added;
        }
      }
    });
    return sums;
  };
  const NDArray& array = *body->args[0]->array;
  const std::shared_ptr<const NDArray> sums = sums_of(array);
  const std::shared_ptr<const NDArray> magnitudes = sums_of(*near_.MagnitudesOf(array));
  if (!is_finite) return nullptr;
  near_.SetMagnitudes(store_.Get(sums), magnitudes);
  return OfConstant(sums, std::move(kept));
}

const Term* TermBuilder::UpToRounding(const Term* constant) {
  if (!laws_.reals || !constant->dtype.is_floating() || constant->kind != TermKind::kRead) return constant;
  const std::shared_ptr<const NDArray> near = near_.Find(*constant->args[0]->array);
  return Keep({.kind = TermKind::kRead, .dtype = constant->dtype, .args = {Array(near)}, .indices = constant->indices});
}

// A constant that depends on no more than a sum, and is not much longer than those in it.
const Term* TermBuilder::ScaleSum(const Term* term, const Term* constant) {
  if (term->kind != TermKind::kRead || term->args[0]->kind != TermKind::kReduce || term->args[0]->op != op::kSum)
    return nullptr;
  const Term& sum = *term->args[0];
  const auto num_dims = static_cast<size_t>(sum.number);
  const bool is_number = constant->kind == TermKind::kNumber;
  if (!is_number && constant->indices.size() > 1) return nullptr;
  for (const PrimExpr* var : constant->indices) {
    if (std::ranges::find(term->indices, var) == term->indices.end()) return nullptr;
  }
  const Dims dims(sum.indices.begin(), sum.indices.begin() + static_cast<ptrdiff_t>(num_dims));
  const Dims reduced(sum.indices.begin() + static_cast<ptrdiff_t>(num_dims), sum.indices.end());
  // In the body, a variable of a reduction around the sum would be one of its own.
  if (constant->uses_reduction || term->uses_reduction) return nullptr;
  const Term* body = At(sum.args[0], dims, term->indices);
  return Reduce(op::kSum, reduced, Apply(op::kMultiply, nullptr, {constant, body}, term->dtype));
}

}  // namespace iropt::proof
