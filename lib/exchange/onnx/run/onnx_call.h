// A call of `onnx.<Op>` at run time: its operands as the inputs and the attributes of the node that it came from.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/onnx/model.h"
#include "exchange/onnx/node_attributes.h"
#include "iropt/ir/dtype.h"
#include "iropt/runtime/packed_func.h"

namespace iropt::onnx {

// A graph of the node: its function, and the values that are its last arguments.
struct OnnxBody {
  HostValue function;
  std::vector<HostValue> captured;
};

class OnnxCall : public NodeAttributes<OnnxCall> {
 public:
  // Fails if the operands do not have the form that opaque_call.h describes.
  static Result<OnnxCall> Make(const PackedCall& call);

  // The node: inputs are named by their positions, an empty name is a missing one; outputs are named.
  const NodeProto& node() const { return node_; }
  int64_t opset() const { return opset_; }
  PackedContext& context() const { return *context_; }
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return node_.outputs.size(); }

  // Returns whether the input is there.
  bool Has(size_t i) const { return i < node_.inputs.size() && !node_.inputs[i].empty(); }
  // The shape and the dtype of a tensor; no dimensions and the fallback if the input is missing, or not a tensor.
  std::span<const int64_t> Shape(size_t i) const;
  DataType Dtype(size_t i, DataType fallback = DataType::Void()) const;
  // The tensor; an error if the input is missing or something else.
  Result<Tensor> TensorIn(size_t i) const;
  const HostValue& Input(size_t i) const { return inputs_[i]; }
  // The elements of an input as numbers; an error if it is missing.
  Result<std::vector<double>> NumbersIn(size_t i) const;
  // The one number of an input; `fallback` if it is missing.
  double NumberIn(size_t i, double fallback) const;
  // The same for an integer, which may have more digits than a number of floating point.
  int64_t IntIn(size_t i, int64_t fallback) const;
  // The elements of an input of integers; an error if it is missing or of another kind.
  Result<std::vector<int64_t>> IntsIn(size_t i) const;

  std::vector<double> Floats(std::string_view name) const;
  std::vector<std::string_view> Strings(std::string_view name) const;
  // Null if the node has no such graph.
  const OnnxBody* Body(std::string_view name) const;
  bool has_bodies() const { return !bodies_.empty(); }

  Error Fail(std::string_view message) const;
  // Fails if no tensor can have the shape, or the run has no memory for its elements as numbers of 64 bits.
  Status CheckShape(std::span<const int64_t> shape) const;

 private:
  const NDArray* Find(size_t i) const { return i < inputs_.size() ? inputs_[i].tensor() : nullptr; }
  Status ReadAttributes(std::span<const HostValue> args);
  Status ReadValue(std::string_view name, const HostValue& value);

  std::string name_;  // of the packed function
  NodeProto node_;
  int64_t opset_ = 0;
  std::vector<HostValue> inputs_;
  std::deque<std::string> texts_;
  std::vector<std::pair<std::string_view, OnnxBody>> bodies_;
  PackedContext* context_ = nullptr;
};

}  // namespace iropt::onnx
