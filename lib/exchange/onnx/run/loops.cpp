// Loop and Scan, which call the functions of their bodies.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

namespace {

// Calls a body with the values of an iteration; gives all its results.
Result<std::vector<HostValue>> CallBody(const OnnxCall& call, const OnnxBody& body, std::vector<HostValue> args) {
  args.insert(args.end(), body.captured.begin(), body.captured.end());
  IROPT_ASSIGN_OR_RETURN(HostValue result, call.context().Invoke(body.function, args));
  if (const TupleValue* tuple = result.tuple()) return tuple->fields;
  return std::vector<HostValue>{std::move(result)};
}

// The type of a result of a body; null if nothing is known of it.
const TensorType* ResultTypeOf(const OnnxBody& body, size_t i) {
  const FunctionValue* value = body.function.function();
  const auto* function = value ? As<Function>(value->function) : nullptr;
  if (function == nullptr) return nullptr;
  const auto* tuple = As<TupleType>(function->ret_type);
  if (tuple == nullptr) return i == 0 ? As<TensorType>(function->ret_type) : nullptr;
  return i < tuple->fields.size() ? As<TensorType>(tuple->fields[static_cast<uint32_t>(i)]) : nullptr;
}

// The results of no iteration. Dimensions that the type does not have are 0.
HostValue NoResults(const TensorType* type, int64_t axis) {
  std::vector<int64_t> shape(type != nullptr && type->ndim > 0 ? static_cast<size_t>(type->ndim) : 0);
  for (size_t i = 0; type != nullptr && type->known && i < shape.size(); ++i) {
    const auto* number = As<tir::IntImm>(type->dims[static_cast<uint32_t>(i)]);
    shape[i] = number ? number->value : 0;
  }
  const auto rank = static_cast<int64_t>(shape.size()) + 1;
  const int64_t at = std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank - 1);
  shape.insert(shape.begin() + at, 0);
  const DataType dtype = type == nullptr || type->dtype.is_void() ? DataType::Float(32) : type->dtype;
  return HostValue(Tensor(NDArray::Make(dtype, shape)));
}

// The results of all iterations along a new dimension.
Result<HostValue> StackResults(const OnnxCall& call, const std::vector<HostValue>& parts, int64_t axis, bool reverse,
                               const TensorType* type) {
  const NDArray* first = parts.empty() ? nullptr : parts.front().tensor();
  if (first == nullptr) {
    if (!parts.empty()) return call.Fail("the body gives a value to be stacked that is not a tensor");
    return NoResults(type, axis);
  }
  const auto rank = static_cast<int64_t>(first->shape().size()) + 1;
  if (axis < -rank || axis >= rank) return call.Fail(fmt::format("axis {} is out of range", axis));
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  std::vector<int64_t> shape(first->shape().begin(), first->shape().end());
  const auto outer = static_cast<size_t>(Product(std::span(shape).first(at)));
  const size_t inner = outer == 0 ? 0 : first->num_bytes() / outer;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), static_cast<int64_t>(parts.size()));
  auto stacked = NDArray::Make(first->dtype(), shape);
  for (size_t i = 0; i < parts.size(); ++i) {
    const NDArray* part = parts[reverse ? parts.size() - 1 - i : i].tensor();
    if (part == nullptr || part->dtype() != first->dtype() || !std::ranges::equal(part->shape(), first->shape()))
      return call.Fail("the body gives values of several shapes to be stacked");
    for (size_t o = 0; inner != 0 && o < outer; ++o)
      std::memcpy(stacked->mutable_data() + (o * parts.size() + i) * inner, part->data() + o * inner, inner);
  }
  return HostValue(Tensor(std::move(stacked)));
}

// The part of a tensor at an index of an axis, without this dimension.
Tensor SliceAt(const NDArray& array, size_t axis, int64_t index) {
  std::vector<int64_t> shape(array.shape().begin(), array.shape().end());
  const auto length = static_cast<size_t>(shape[axis]);
  const auto outer = static_cast<size_t>(Product(std::span(shape).first(axis)));
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  auto slice = NDArray::Make(array.dtype(), shape);
  const size_t inner = outer == 0 ? 0 : slice->num_bytes() / outer;
  for (size_t o = 0; inner != 0 && o < outer; ++o)
    std::memcpy(slice->mutable_data() + o * inner, array.data() + (o * length + static_cast<size_t>(index)) * inner,
                inner);
  return slice;
}

HostValue BoolTensor(bool value) { return MakeScalarTensor(Scalar::Int(value ? 1 : 0, DataType::Bool())); }

bool IsTrue(const HostValue& value) {
  const NDArray* array = value.tensor();
  const std::optional<Scalar> scalar = array ? ScalarOf(*array) : std::nullopt;
  return scalar && scalar->ToDouble() != 0;
}

// Adds the results of an iteration after the first `carried` ones to the lists.
void Collect(std::vector<HostValue>& results, size_t carried, std::vector<std::vector<HostValue>>& lists) {
  for (size_t i = carried; i < results.size() && i - carried < lists.size(); ++i)
    lists[i - carried].push_back(std::move(results[i]));
}

Result<HostValue> RunLoop(OnnxCall& call) {
  const OnnxBody* body = call.Body("body");
  if (body == nullptr) return call.Fail("there is no body");
  const double trips = call.NumberIn(0, std::numeric_limits<double>::infinity());
  bool condition = true;
  if (call.Has(1)) {
    IROPT_ASSIGN_OR_RETURN(const Tensor given, call.TensorIn(1));
    condition = IsTrue(HostValue(given));
  }
  std::vector<HostValue> carried;
  for (size_t i = 2; i < call.num_inputs(); ++i) carried.push_back(call.Input(i));
  if (call.num_outputs() < carried.size()) return call.Fail("has fewer outputs than values that are carried on");
  std::vector<std::vector<HostValue>> lists(call.num_outputs() - carried.size());
  for (int64_t i = 0; condition && static_cast<double>(i) < trips; ++i) {
    std::vector<HostValue> args = {MakeScalarTensor(Scalar::Int(i)), BoolTensor(condition)};
    args.insert(args.end(), carried.begin(), carried.end());
    IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> results, CallBody(call, *body, std::move(args)));
    if (results.size() < carried.size() + 1) return call.Fail("the body has too few results");
    condition = IsTrue(results[0]);
    for (size_t k = 0; k < carried.size(); ++k) carried[k] = std::move(results[k + 1]);
    Collect(results, carried.size() + 1, lists);
  }
  for (const std::vector<HostValue>& list : lists) {
    const TensorType* type = ResultTypeOf(*body, carried.size() + 1);
    IROPT_ASSIGN_OR_RETURN(HostValue stacked, StackResults(call, list, 0, false, type));
    carried.push_back(std::move(stacked));
  }
  return ResultOf(call, std::move(carried));
}

// Inputs and outputs of a scan, and the axes that it runs along.
struct ScanPlan {
  size_t num_states = 0;
  size_t num_scanned = 0;
  size_t num_stacked = 0;
  std::vector<size_t> input_axes;
  std::vector<int64_t> output_axes;
  std::vector<int64_t> input_directions;
  std::vector<int64_t> output_directions;
  int64_t length = 0;
};

Result<ScanPlan> PlanScan(const OnnxCall& call, std::span<const HostValue> inputs) {
  ScanPlan plan;
  plan.num_scanned =
      static_cast<size_t>(std::clamp<int64_t>(call.Int("num_scan_inputs"), 0, static_cast<int64_t>(inputs.size())));
  plan.num_states = inputs.size() - plan.num_scanned;
  if (plan.num_scanned == 0 || call.num_outputs() < plan.num_states) return call.Fail("has too few inputs or outputs");
  plan.num_stacked = call.num_outputs() - plan.num_states;
  plan.input_directions = call.Ints(call.opset() < 9 ? "directions" : "scan_input_directions");
  plan.output_directions = call.Ints("scan_output_directions");
  plan.output_axes = call.Ints("scan_output_axes");
  std::vector<int64_t> axes = call.Ints("scan_input_axes");
  axes.resize(plan.num_scanned);
  plan.input_directions.resize(plan.num_scanned);
  plan.output_directions.resize(plan.num_stacked);
  plan.output_axes.resize(plan.num_stacked);
  for (size_t i = 0; i < plan.num_scanned; ++i) {
    const NDArray* array = inputs[plan.num_states + i].tensor();
    const auto rank = array ? static_cast<int64_t>(array->shape().size()) : 0;
    if (axes[i] < -rank || axes[i] >= rank) return call.Fail(fmt::format("scan axis {} is out of range", axes[i]));
    plan.input_axes.push_back(static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]));
    const int64_t length = array->shape()[plan.input_axes[i]];
    if (i > 0 && length != plan.length) return call.Fail("the inputs to be scanned have several lengths");
    plan.length = length;
  }
  return plan;
}

// The final states and the stacked results.
Result<std::vector<HostValue>> ScanOnce(const OnnxCall& call, const OnnxBody& body, std::span<const HostValue> inputs) {
  IROPT_ASSIGN_OR_RETURN(const ScanPlan plan, PlanScan(call, inputs));
  std::vector<HostValue> states(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(plan.num_states));
  std::vector<std::vector<HostValue>> lists(plan.num_stacked);
  for (int64_t step = 0; step < plan.length; ++step) {
    std::vector<HostValue> args = states;
    for (size_t i = 0; i < plan.num_scanned; ++i) {
      const int64_t at = plan.input_directions[i] == 0 ? step : plan.length - 1 - step;
      args.emplace_back(SliceAt(*inputs[plan.num_states + i].tensor(), plan.input_axes[i], at));
    }
    IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> results, CallBody(call, body, std::move(args)));
    if (results.size() < states.size()) return call.Fail("the body has too few results");
    for (size_t k = 0; k < states.size(); ++k) states[k] = std::move(results[k]);
    Collect(results, states.size(), lists);
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    const TensorType* type = ResultTypeOf(body, states.size());
    IROPT_ASSIGN_OR_RETURN(HostValue stacked,
                           StackResults(call, lists[i], plan.output_axes[i], plan.output_directions[i] != 0, type));
    states.push_back(std::move(stacked));
  }
  return states;
}

Result<HostValue> RunScan(OnnxCall& call) {
  const OnnxBody* body = call.Body("body");
  if (body == nullptr) return call.Fail("there is no body");
  std::vector<HostValue> inputs;
  for (size_t i = call.opset() < 9 ? 1 : 0; i < call.num_inputs(); ++i) inputs.push_back(call.Input(i));
  if (call.opset() >= 9) {
    IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> results, ScanOnce(call, *body, inputs));
    return ResultOf(call, std::move(results));
  }
  // Version 8 scans each sequence of a batch.
  if (call.Has(0)) return call.Fail("sequences of several lengths cannot be run");
  const NDArray* first = inputs.empty() ? nullptr : inputs[0].tensor();
  if (first == nullptr || first->shape().empty()) return call.Fail("there is no batch");
  std::vector<std::vector<HostValue>> lists(call.num_outputs());
  for (int64_t batch = 0; batch < first->shape()[0]; ++batch) {
    std::vector<HostValue> parts;
    for (const HostValue& input : inputs) {
      if (input.tensor() == nullptr || input.tensor()->shape().empty() || input.tensor()->shape()[0] <= batch)
        return call.Fail("the inputs have several batch sizes");
      parts.emplace_back(SliceAt(*input.tensor(), 0, batch));
    }
    IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> results, ScanOnce(call, *body, parts));
    Collect(results, 0, lists);
  }
  std::vector<HostValue> stacked;
  for (const std::vector<HostValue>& list : lists) {
    IROPT_ASSIGN_OR_RETURN(HostValue value, StackResults(call, list, 0, false, nullptr));
    stacked.push_back(std::move(value));
  }
  return ResultOf(call, std::move(stacked));
}

constexpr KernelRow kLoopKernels[] = {
    {"Loop", "", RunLoop},
    {"Scan", "", RunScan},
};

}  // namespace

std::span<const KernelRow> LoopKernels() { return kLoopKernels; }

}  // namespace iropt::onnx
