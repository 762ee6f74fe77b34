// Packed functions that are implemented by kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/sorting.h"

namespace iropt {

namespace {

// Copies a result to an output operand.
Status WriteTo(const PackedCall& call, size_t operand, const HostValue& result) {
  IROPT_ASSIGN_OR_RETURN(const Tensor target, call.TensorArg(operand));
  const NDArray* source = result.tensor();
  if (!target->storage()) return call.Fail(fmt::format("operand {} is read-only", operand));
  if (!source || source->dtype() != target->dtype() || source->num_bytes() != target->num_bytes())
    return call.Fail(fmt::format("the dtype or size of operand {} differs from that of the result", operand));
  std::memcpy(target->storage()->data() + target->storage_offset(), source->data(), source->num_bytes());
  target->storage()->SetWritten(target->storage_offset(), target->num_bytes(), true);
  return {};
}

// Evaluates a unary operator.
template <class Values>
Result<HostValue> Apply(OpId op, const Tensor& tensor, const Values& attrs) {
  const HostValue args[] = {tensor};
  return EvalOp(OpInfoOf(op), MakeOpAttrs(op, attrs), args);
}

// (data, result, axis, ascending)
Result<HostValue> Sort(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor data, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, call.IntArg(2));
  IROPT_ASSIGN_OR_RETURN(const int64_t ascending, call.IntArg(3));
  const SortAttrs::Values attrs{.axis = axis, .descending = ascending == 0};
  IROPT_ASSIGN_OR_RETURN(const HostValue sorted, Apply(op::kSort, data, attrs));
  IROPT_RETURN_IF_ERROR(WriteTo(call, 1, sorted));
  return HostValue();
}

// (data, result, axis, ascending)
Result<HostValue> Argsort(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor data, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor result, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, call.IntArg(2));
  IROPT_ASSIGN_OR_RETURN(const int64_t ascending, call.IntArg(3));
  const ArgsortAttrs::Values attrs{.axis = axis, .descending = ascending == 0, .dtype = result->dtype()};
  IROPT_ASSIGN_OR_RETURN(const HostValue order, Apply(op::kArgsort, data, attrs));
  IROPT_RETURN_IF_ERROR(WriteTo(call, 1, order));
  return HostValue();
}

// (data, numbers of valid elements, result, axis, ascending). The first elements of each row are sorted, as many as are
// valid; the others stay.
Result<HostValue> ArgsortValid(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor given, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor valid, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, call.IntArg(3));
  IROPT_ASSIGN_OR_RETURN(const int64_t ascending, call.IntArg(4));
  const AstypeAttrs::Values wide{.dtype = DataType::Float(64)};
  IROPT_ASSIGN_OR_RETURN(const HostValue converted, Apply(op::kAstype, given, wide));
  const NDArray* const data = converted.tensor();
  const std::span<const int64_t> shape = data->shape();
  const bool fits =
      shape.size() == 2 && axis == 1 && valid->dtype() == DataType::Int(32) && valid->num_elements() == shape[0];
  if (!fits) return call.Fail("expects rows, and the int32 number of valid ones for each");
  const std::shared_ptr<NDArray> order = NDArray::Make(DataType::Int(32), {shape[0], shape[1]});
  for (int64_t row = 0; row < shape[0]; ++row) {
    const double* line = data->As<double>().data() + row * shape[1];
    const auto indices =
        order->MutableAs<int32_t>().subspan(static_cast<size_t>(row * shape[1]), static_cast<size_t>(shape[1]));
    std::iota(indices.begin(), indices.end(), 0);
    const int64_t count = std::clamp<int64_t>(valid->As<int32_t>()[static_cast<size_t>(row)], 0, shape[1]);
    std::stable_sort(indices.begin(), indices.begin() + count,
                     [&](int32_t a, int32_t b) { return ascending != 0 ? line[a] < line[b] : line[a] > line[b]; });
  }
  IROPT_RETURN_IF_ERROR(WriteTo(call, 2, HostValue(Tensor(order))));
  return HostValue();
}

// (data, outputs: values, indices or both, k, axis, which outputs, ascending)
Result<HostValue> TopK(PackedCall& call) {
  const bool both = call.num_args() == 7;
  const size_t rest = both ? 3 : 2;
  IROPT_ASSIGN_OR_RETURN(const Tensor data, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const int64_t k, call.IntArg(rest));
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, call.IntArg(rest + 1));
  IROPT_ASSIGN_OR_RETURN(const std::string_view which, call.StringArg(rest + 2));
  IROPT_ASSIGN_OR_RETURN(const int64_t ascending, call.IntArg(rest + 3));
  IROPT_ASSIGN_OR_RETURN(const Tensor last, call.TensorArg(rest - 1));
  const DataType index_dtype = which == "values" ? DataType::Int(32) : last->dtype();
  const TopKAttrs::Values attrs{
      .k = k, .axis = axis, .ret_type = which, .largest = ascending == 0, .dtype = index_dtype};
  IROPT_ASSIGN_OR_RETURN(const HostValue best, Apply(op::kTopk, data, attrs));
  if (!both) {
    IROPT_RETURN_IF_ERROR(WriteTo(call, 1, best));
    return HostValue();
  }
  if (!best.tuple() || best.tuple()->fields.size() != 2) return call.Fail(fmt::format("unknown result '{}'", which));
  for (const size_t i : {0, 1}) IROPT_RETURN_IF_ERROR(WriteTo(call, 1 + i, best.tuple()->fields[i]));
  return HostValue();
}

// (probabilities, a number for each row). The result is the first class of each row whose cumulative probability
// exceeds the number, else the last class.
Result<HostValue> MultinomialFromUniform(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor probabilities, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor uniform, call.TensorArg(1));
  const std::span<const int64_t> shape = probabilities->shape();
  if (probabilities->dtype() != DataType::Float(32) || uniform->dtype() != DataType::Float(32) || shape.size() != 2 ||
      shape[1] == 0 || uniform->num_elements() != shape[0]) {
    return call.Fail("expects float32 probabilities, and a float32 number for each row");
  }
  const std::shared_ptr<NDArray> chosen = NDArray::Make(DataType::Int(64), {shape[0], 1});
  const auto classes = static_cast<size_t>(shape[1]);
  for (size_t row = 0; row < static_cast<size_t>(shape[0]); ++row) {
    const std::span<const float> line = probabilities->As<float>().subspan(row * classes, classes);
    size_t index = 0;
    for (float sum = line[0]; index + 1 < classes && !(sum > uniform->As<float>()[row]); sum += line[index]) ++index;
    chosen->MutableAs<int64_t>()[row] = static_cast<int64_t>(index);
  }
  return HostValue(Tensor(chosen));
}

PackedRegistry MakeBuiltinPackedFuncs() {
  PackedRegistry registry = MakeRuntimePackedFuncs();
  registry.Set("tvm.contrib.sort.argsort", Argsort);
  registry.Set("tvm.contrib.sort.argsort_nms", ArgsortValid);
  registry.Set("tvm.contrib.sort.sort", Sort);
  registry.Set("tvm.contrib.sort.topk", TopK);
  registry.Set("vm.builtin.multinomial_from_uniform", MultinomialFromUniform);
  for (const OpInfo& op : AllOps()) {
    if (op.packed.empty() || !HasKernel(op)) continue;
    registry.Set(std::string(op.packed), [&op](PackedCall& call) { return EvalOp(op, nullptr, call.args()); });
  }
  return registry;
}

}  // namespace

const PackedRegistry& BuiltinPackedFuncs() {
  static const PackedRegistry registry = MakeBuiltinPackedFuncs();
  return registry;
}

}  // namespace iropt
