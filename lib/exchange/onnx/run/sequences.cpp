// Sequences of tensors, which are tuples at run time.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"

namespace iropt::onnx {

namespace {

Result<std::vector<HostValue>> SequenceIn(const OnnxCall& call, size_t input) {
  const TupleValue* tuple = input < call.num_inputs() ? call.Input(input).tuple() : nullptr;
  if (tuple == nullptr) return call.Fail(fmt::format("input {} is not a sequence", input));
  return tuple->fields;
}

// The position that an input says, from 0 up and less than `count`; `fallback` if it is left out.
Result<size_t> PositionIn(const OnnxCall& call, size_t input, size_t length, size_t count, size_t fallback) {
  if (!call.Has(input)) return fallback;
  const int64_t given = call.IntIn(input, 0);
  const int64_t position = given < 0 ? given + static_cast<int64_t>(length) : given;
  if (position < 0 || position >= static_cast<int64_t>(count))
    return call.Fail(fmt::format("position {} is out of range for a sequence of {} tensors", given, length));
  return static_cast<size_t>(position);
}

Result<HostValue> RunSequenceConstruct(OnnxCall& call) {
  TupleValue sequence;
  for (size_t i = 0; i < call.num_inputs(); ++i) sequence.fields.push_back(call.Input(i));
  return HostValue(std::move(sequence));
}

Result<HostValue> RunSequenceEmpty(OnnxCall& /*call*/) { return HostValue(TupleValue()); }

Result<HostValue> RunSequenceInsert(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> items, SequenceIn(call, 0));
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorIn(1));
  IROPT_ASSIGN_OR_RETURN(const size_t at, PositionIn(call, 2, items.size(), items.size() + 1, items.size()));
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), HostValue(tensor));
  return HostValue(TupleValue{std::move(items)});
}

Result<HostValue> RunSequenceErase(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> items, SequenceIn(call, 0));
  if (items.empty()) return call.Fail("the sequence is empty");
  IROPT_ASSIGN_OR_RETURN(const size_t at, PositionIn(call, 1, items.size(), items.size(), items.size() - 1));
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  return HostValue(TupleValue{std::move(items)});
}

Result<HostValue> RunSequenceAt(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<HostValue> items, SequenceIn(call, 0));
  IROPT_ASSIGN_OR_RETURN(const size_t at, PositionIn(call, 1, items.size(), items.size(), items.size()));
  if (at >= items.size()) return call.Fail("there is no position");
  return items[at];
}

Result<HostValue> RunSequenceLength(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<HostValue> items, SequenceIn(call, 0));
  const auto length = static_cast<int64_t>(items.size());
  return HostValue(FromInts({}, std::span(&length, 1)));
}

// The bytes of one part along an axis: those after it for one index of the axes before it.
size_t BytesOf(const NDArray& array, size_t axis) {
  return static_cast<size_t>(Product(array.shape().subspan(axis)) * array.dtype().bytes());
}

const char* BytesIn(const NDArray& array) { return reinterpret_cast<const char*>(array.data()); }

// The lengths of the parts of a dimension. Nullopt after an error.
Result<std::vector<int64_t>> PartLengths(const OnnxCall& call, int64_t length) {
  std::vector<int64_t> lengths;
  IROPT_RETURN_IF_ERROR(call.CheckShape(std::span(&length, 1)));
  if (!call.Has(1)) {
    lengths.assign(static_cast<size_t>(length), 1);
    return lengths;
  }
  IROPT_ASSIGN_OR_RETURN(lengths, call.IntsIn(1));
  if (std::ranges::any_of(lengths, [](int64_t part) { return part < 0; })) return call.Fail("a length is negative");
  if (call.Shape(1).empty()) {
    const int64_t part = lengths.front();
    if (part == 0) return call.Fail("the parts have no elements");
    lengths.clear();
    for (int64_t first = 0; first < length; first += part) lengths.push_back(std::min(part, length - first));
  }
  if (std::accumulate(lengths.begin(), lengths.end(), int64_t{0}) != length)
    return call.Fail("the parts do not fit the tensor");
  return lengths;
}

Result<HostValue> RunSplitToSequence(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorIn(0));
  const auto rank = static_cast<int64_t>(x->shape().size());
  const int64_t given = call.Int("axis");
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return call.Fail("the axis is out of range");
  const auto at = static_cast<size_t>(axis);
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, PartLengths(call, x->shape()[at]));
  const bool drops_axis = !call.Has(1) && call.Int("keepdims", 1) == 0;
  const size_t row_bytes = BytesOf(*x, at);
  const size_t item_bytes = BytesOf(*x, at + 1);
  const auto rows = static_cast<size_t>(Product(x->shape().first(at)));
  TupleValue sequence;
  size_t first = 0;
  for (const int64_t length : lengths) {
    std::vector<int64_t> shape(x->shape().begin(), x->shape().end());
    shape[at] = length;
    if (drops_axis) shape.erase(shape.begin() + axis);
    auto part = NDArray::Make(x->dtype(), shape);
    const size_t bytes = static_cast<size_t>(length) * item_bytes;
    for (size_t row = 0; row < rows; ++row)
      std::copy_n(BytesIn(*x) + row * row_bytes + first, bytes,
                  reinterpret_cast<char*>(part->mutable_data()) + row * bytes);
    first += bytes;
    sequence.fields.emplace_back(Tensor(std::move(part)));
  }
  return HostValue(std::move(sequence));
}

// Along an axis, or along a new one.
Result<HostValue> RunConcatFromSequence(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<HostValue> items, SequenceIn(call, 0));
  std::vector<const NDArray*> parts;
  for (const HostValue& item : items) parts.push_back(item.tensor());
  if (parts.empty() || std::ranges::find(parts, nullptr) != parts.end()) return call.Fail("there are no tensors");
  const NDArray& model = *parts.front();
  const bool is_new = call.Int("new_axis") != 0;
  const auto rank = static_cast<int64_t>(model.shape().size()) + (is_new ? 1 : 0);
  const int64_t given = call.Int("axis");
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return call.Fail("the axis is out of range");
  const auto at = static_cast<size_t>(axis);
  std::vector<int64_t> shape(model.shape().begin(), model.shape().end());
  if (is_new) shape.insert(shape.begin() + axis, 0);
  shape[at] = 0;
  for (const NDArray* part : parts) {
    std::vector<int64_t> own(part->shape().begin(), part->shape().end());
    if (is_new && own.size() + 1 == shape.size()) own.insert(own.begin() + axis, 1);
    if (part->dtype() != model.dtype() || own.size() != shape.size())
      return call.Fail("the tensors do not fit each other");
    const int64_t length = std::exchange(own[at], shape[at]);
    if (own != shape) return call.Fail("the tensors do not fit each other");
    shape[at] += length;
  }
  IROPT_RETURN_IF_ERROR(call.CheckShape(shape));
  auto whole = NDArray::Make(model.dtype(), shape);
  auto* to = reinterpret_cast<char*>(whole->mutable_data());
  for (size_t row = 0; row < static_cast<size_t>(Product(std::span(shape).first(at))); ++row) {
    for (const NDArray* part : parts) {
      const size_t bytes = BytesOf(*part, at);
      to = std::copy_n(BytesIn(*part) + row * bytes, bytes, to);
    }
  }
  return HostValue(Tensor(std::move(whole)));
}

constexpr KernelRow kSequenceKernels[] = {
    {"ConcatFromSequence", "", RunConcatFromSequence}, {"SequenceAt", "", RunSequenceAt},
    {"SequenceConstruct", "", RunSequenceConstruct},   {"SequenceEmpty", "", RunSequenceEmpty},
    {"SequenceErase", "", RunSequenceErase},           {"SequenceInsert", "", RunSequenceInsert},
    {"SequenceLength", "", RunSequenceLength},         {"SplitToSequence", "0", RunSplitToSequence},
};

}  // namespace

std::span<const KernelRow> SequenceKernels() { return kSequenceKernels; }

}  // namespace iropt::onnx
