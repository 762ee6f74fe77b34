// One call while it is exported: what the functions of the operator table (op_rows.h) work with.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/onnx/export/attributes.h"
#include "exchange/onnx/export/function_exporter.h"
#include "exchange/onnx/tensors.h"

namespace iropt::onnx {

// The function of an operator adds nodes and gives the names of the results: one, or one for each field of a tuple.
// Without a result (`return {}`), ONNX has nothing for the operator in this form; `return op.Lacks("...")` says why.
//
//   Names ExportSoftmax(OpExport& op) {
//     return {op.Add("Softmax", {op.In(0)}, {IntAttribute("axis", op.Attrs<SoftmaxAttrs>().axis())})};
//   }
class OpExport {
 public:
  // `call` is null for shapes outside of calls.
  OpExport(FunctionExporter& exporter, const Call* call) : exporter_(exporter), call_(call) {}

  const Call& call() const { return *call_; }
  FunctionExporter& exporter() { return exporter_; }
  // Of the operator set that is written.
  int64_t version() const { return exporter_.context().opset(); }
  std::string OpName() const;
  // The operator of the row of the table; empty outside of it.
  std::string_view onnx_op() const { return onnx_op_; }
  const std::string& reason() const { return reason_; }
  // The call gives a shape: operators that use it take it from the definitions.
  bool has_no_value() const { return has_no_value_; }
  bool is_opaque() const { return is_opaque_; }

  // The names of the results, by the table. None if ONNX has no counterpart, or after an error.
  Names Run();

  // ---- Operands
  size_t num_args() const { return call_->args.size(); }
  const Expr* Arg(size_t i) const { return call_->args[static_cast<uint32_t>(i)]; }
  // The value that the variables stand for.
  const Expr* Resolved(size_t i) const { return exporter_.definitions().Resolve(Arg(i)); }
  std::string_view In(size_t i) { return exporter_.NameOf(Arg(i)); }
  // The fields of a tuple.
  Names TupleIn(size_t i);
  static const TensorType* TensorOf(const Expr* expr) { return As<TensorType>(expr->type); }
  const TensorType* TypeOf(size_t i) const { return TensorOf(Arg(i)); }
  const TensorType* ResultType() const { return As<TensorType>(call_->type); }
  int Rank(size_t i) const { return TypeOf(i) ? TypeOf(i)->ndim : kUnknownDim; }
  DataType Dtype(size_t i) const { return TypeOf(i) ? TypeOf(i)->dtype : DataType::Void(); }
  // The number that a PrimValue is.
  std::optional<int64_t> IntArg(size_t i) const;
  std::optional<double> FloatArg(size_t i) const;
  const PrimExpr* PrimArg(size_t i) const;
  // A tensor int64[rank] for an operand that is a shape.
  std::string_view ShapeOperand(const Expr* shape);
  template <class A>
  A Attrs() const {
    return A(*call_);
  }

  // ---- Building
  std::string_view Add(std::string_view op, Names inputs, std::vector<AttributeProto> attributes = {}) {
    return exporter_.Add(op, std::move(inputs), std::move(attributes));
  }
  std::string_view Ints(std::span<const int64_t> values) { return exporter_.IntTensor(values); }
  std::string_view Ints(std::initializer_list<int64_t> values) {
    return exporter_.IntTensor(std::span(values.begin(), values.size()));
  }
  std::string_view Scalar(double value, DataType dtype);
  std::string_view Cast(std::string_view x, DataType from, DataType to);
  std::string_view Transpose(std::string_view x, std::vector<int64_t> axes);
  // With the axes as an attribute or, from the versions that have it so on, as an input.
  std::string_view Squeeze(std::string_view x, std::vector<int64_t> axes);
  std::string_view Unsqueeze(std::string_view x, std::vector<int64_t> axes);
  std::string_view Reduce(std::string_view op, std::string_view x, std::vector<int64_t> axes, bool keepdims);
  std::string_view Reshape(std::string_view x, std::vector<int64_t> dims) { return Add("Reshape", {x, Ints(dims)}); }
  // The tensor in another layout. Empty, with the reason, if layouts are not permutations of one another.
  std::string_view ToLayout(std::string_view x, std::string_view from, std::string_view to);

  // ---- Failure
  Names Lacks(std::string reason) {
    reason_ = std::move(reason);
    return {};
  }
  // For results that are not there because of their version.
  Names Needs(int64_t version);
  Names NoValue() {
    has_no_value_ = true;
    return {};
  }

 private:
  Names RunOpaque();

  FunctionExporter& exporter_;
  const Call* call_;
  std::string_view onnx_op_;
  std::string reason_;
  bool has_no_value_ = false;
  bool is_opaque_ = false;
};

// Integers of up to 16 bits, each of which is a float.
inline bool IsSmallInteger(DataType dtype) { return dtype.is_integer() && dtype.bits <= 16; }
// The dimensions of a tensor, if all are known numbers.
std::optional<std::vector<int64_t>> StaticDimsOf(const TensorType* type);
// The permutation that takes the axes of a layout into the order of another; nullopt if no permutation does.
std::optional<std::vector<int64_t>> LayoutAxes(std::string_view from, std::string_view to);

// Adds the node that a call of `onnx.<Op>` came from.
Names ExportOpaqueCall(OpExport& op, std::string_view name);

}  // namespace iropt::onnx
