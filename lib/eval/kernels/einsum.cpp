// Sums of products over letters of an equation.
#include "iropt/infer/einsum.h"

#include <algorithm>
#include <map>

#include "iropt/op/ops/linear_algebra.h"
#include "numeric.h"
#include "rearrange.h"

namespace iropt::eval {

namespace {

// Dimensions that '...' stands for have names of their own, counted from the last.
using Label = int;
constexpr Label EllipsisLabel(size_t from_last) { return -1 - static_cast<Label>(from_last); }

// The labels of the dimensions of one tensor.
Result<std::vector<Label>> LabelsOf(const KernelCall& call, const std::string& subscript, size_t rank) {
  const bool has_ellipsis = subscript.find('.') != std::string::npos;
  const size_t letters = subscript.size() - (has_ellipsis ? 1 : 0);
  if (rank < letters || (!has_ellipsis && rank != letters))
    return call.Fail(fmt::format("the subscript '{}' does not fit a tensor of rank {}", subscript, rank));
  std::vector<Label> labels;
  for (const char c : subscript) {
    if (c != '.') {
      labels.push_back(c);
      continue;
    }
    for (size_t i = rank - letters; i-- > 0;) labels.push_back(EllipsisLabel(i));
  }
  return labels;
}

struct EinsumPlan {
  std::vector<Tensor> operands;
  Shape out_shape;
  Shape loops;                 // extents: of the result first, then of the summed axes
  std::vector<Shape> strides;  // of each operand along the loops
};

Result<EinsumPlan> PlanEinsum(KernelCall& call) {
  const auto attrs = call.attrs<EinsumAttrs>();
  EinsumPlan plan;
  IROPT_ASSIGN_OR_RETURN(plan.operands, call.TensorsArg(0));
  const std::optional<EinsumEquation> equation = ParseEinsum(attrs.subscripts());
  if (!equation || plan.operands.empty() || equation->inputs.size() != plan.operands.size())
    return call.Fail("the equation does not fit the operands");
  std::vector<std::vector<Label>> labels;
  std::map<Label, int64_t> extents;
  size_t covered = 0;
  for (size_t i = 0; i < plan.operands.size(); ++i) {
    const std::span<const int64_t> shape = plan.operands[i]->shape();
    if (plan.operands[i]->dtype() != plan.operands[0]->dtype()) return call.Fail("the operands differ in dtype");
    IROPT_ASSIGN_OR_RETURN(std::vector<Label> own, LabelsOf(call, equation->inputs[i], shape.size()));
    for (size_t d = 0; d < own.size(); ++d) {
      int64_t& extent = extents.emplace(own[d], shape[d]).first->second;
      if (extent != shape[d] && extent != 1 && shape[d] != 1)
        return call.Fail(fmt::format("one letter stands for lengths {} and {}", extent, shape[d]));
      if (extent == 1) extent = shape[d];
      if (own[d] < 0) covered = std::max(covered, static_cast<size_t>(-own[d]));
    }
    labels.push_back(std::move(own));
  }
  std::vector<Label> order;
  for (const char c : equation->output) {
    if (c != '.') {
      if (!extents.contains(c)) return call.Fail(fmt::format("the letter '{}' is in no operand", c));
      order.push_back(c);
    }
    for (size_t i = c == '.' ? covered : 0; i-- > 0;) order.push_back(EllipsisLabel(i));
  }
  for (const Label label : order) plan.out_shape.push_back(extents.at(label));
  for (const auto& [label, extent] : extents) {
    if (std::ranges::find(order, label) == order.end()) order.push_back(label);
  }
  for (const Label label : order) plan.loops.push_back(extents.at(label));
  for (size_t i = 0; i < plan.operands.size(); ++i) {
    const Shape own = RowMajorStrides(plan.operands[i]->shape());
    Shape& strides = plan.strides.emplace_back(order.size(), 0);
    for (size_t d = 0; d < own.size(); ++d) {
      const size_t at = static_cast<size_t>(std::ranges::find(order, labels[i][d]) - order.begin());
      // A letter that occurs twice in one subscript selects the diagonal.
      if (plan.operands[i]->shape()[d] != 1) strides[at] += own[d];
    }
  }
  return plan;
}

// Sums up in the order of the letters; products are taken from the first operand to the last.
template <class T>
void RunEinsum(const EinsumPlan& plan, T* out) {
  const size_t kept = plan.out_shape.size();
  const std::span<const int64_t> summed = std::span(plan.loops).subspan(kept);
  const auto offset = [&](size_t operand, const Shape& index, size_t first) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * plan.strides[operand][first + d];
    return at;
  };
  std::vector<const T*> base(plan.operands.size());
  ForEachIndex(plan.out_shape, [&](const Shape& place) {
    for (size_t i = 0; i < base.size(); ++i) base[i] = plan.operands[i]->As<T>().data() + offset(i, place, 0);
    T sum = ElementOf<T>(0);
    ForEachIndex(summed, [&](const Shape& index) {
      T product = base[0][offset(0, index, kept)];
      for (size_t i = 1; i < base.size(); ++i) product = MulElements(product, base[i][offset(i, index, kept)]);
      sum = AddElements(sum, product);
    });
    *out++ = sum;
  });
}

}  // namespace

Result<HostValue> EvalEinsum(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const EinsumPlan plan, PlanEinsum(call));
  const DataType dtype = plan.operands[0]->dtype();
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(dtype, plan.out_shape));
  uint64_t work = plan.operands.size();
  for (const int64_t extent : plan.loops) {
    if (__builtin_mul_overflow(work, static_cast<uint64_t>(extent), &work)) work = UINT64_MAX;
  }
  IROPT_RETURN_IF_ERROR(call.Charge(work));
  const bool supported =
      DispatchNumber(dtype, [&]<class T>(std::type_identity<T>) { RunEinsum(plan, out->MutableAs<T>().data()); });
  if (!supported) return call.UnsupportedDType(dtype);
  return HostValue(Tensor(out));
}

}  // namespace iropt::eval
