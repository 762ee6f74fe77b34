// One node while it is imported: what the functions of the operator table (op_table.h) work with.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/onnx/import/operand_maker.h"
#include "exchange/onnx/import/value.h"
#include "exchange/onnx/model.h"
#include "exchange/onnx/node_attributes.h"
#include "exchange/onnx/tensors.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/op/op_attrs.h"

namespace iropt::onnx {

class FunctionImporter;

// The function of an operator gives its value: an expression, which may be a tree of calls, for an operator with
// several outputs a Tuple or an expression of a tuple type; or elements. Without a value (`return {}`), the operator in
// this form has no counterpart and stays a call of `onnx.<Op>`, unless an error was reported (`return op.Error(...)`).
//
//   Value ImportSoftmax(OpImport& op) {
//     return op.Call(op::kNnSoftmax, {op.In(0)}, op.Attrs<SoftmaxAttrs>(op::kNnSoftmax, {.axis = op.Int("axis",
//     -1)}));
//   }
class OpImport : public NodeAttributes<OpImport>, public OperandMaker {
 public:
  OpImport(FunctionImporter& importer, const NodeProto& node, int64_t version, Scope& scope);

  const NodeProto& node() const { return node_; }
  // That of the operator set.
  int64_t version() const { return version_; }
  Scope& scope() { return scope_; }
  FunctionImporter& importer() { return importer_; }

  // ---- Inputs
  size_t num_inputs() const { return node_.inputs.size(); }
  size_t num_outputs() const { return node_.outputs.size(); }
  // Returns whether the node has an output that is not left out.
  bool HasOutput(size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }
  // Returns whether the optional input is there.
  bool Has(size_t i) const { return i < node_.inputs.size() && !node_.inputs[i].empty(); }
  // The operand. Reports an error if it is missing, and then gives an empty tuple. The importer has checked those that
  // the row says.
  const Expr* In(size_t i);
  // All inputs.
  std::vector<const Expr*> AllIn();
  // The tensor type of an expression; null if it is of another type.
  static const TensorType* TensorOf(const Expr* expr) { return As<TensorType>(expr->type); }
  // That of an input; null if it is missing, too.
  const TensorType* TypeOf(size_t i) { return Has(i) ? TensorOf(In(i)) : nullptr; }
  // The rank, or -1.
  int Rank(size_t i) { return TypeOf(i) ? TypeOf(i)->ndim : kUnknownDim; }
  DataType Dtype(size_t i) { return TypeOf(i) ? TypeOf(i)->dtype : DataType::Void(); }
  // The dimensions if all are known numbers.
  std::optional<std::vector<int64_t>> Dims(size_t i);
  // The elements of an input: of a constant of integers, or of what is computed from shapes. Null if they are unknown.
  const Elements* ElementsOf(size_t i);
  // Those of a tensor in an attribute.
  std::optional<Elements> ElementsIn(const TensorProto& tensor);
  // The elements of an input as numbers; nullopt if they are unknown or the input is missing.
  std::optional<std::vector<int64_t>> Numbers(size_t i);
  // The array of an input that is a constant; null otherwise.
  const NDArray* ConstantOf(size_t i);
  // The one number of a constant.
  std::optional<double> NumberOf(size_t i);

  // ---- Attributes
  // Integers that are an attribute up to some version, and an input from then on. Nullopt if the input is there, but
  // not known.
  std::optional<std::vector<int64_t>> AttrOrInput(std::string_view name, size_t input);

  // ---- Building
  const Expr* Call(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs = nullptr);
  const Expr* Call(OpId op, std::span<const Expr* const> args, const Attr* attrs = nullptr);
  // The record of an operator; the fields that are not given have their defaults.
  template <class A>
  static const Attr* Attrs(OpId op, const typename A::Values& values) {
    return MakeOpAttrs(op, values);
  }
  const Expr* Cast(const Expr* x, DataType dtype);
  const Expr* Reshape(const Expr* x, std::span<const int64_t> dims);
  const Expr* Reshape(const Expr* x, std::span<const PrimExpr* const> dims);
  const Expr* Transpose(const Expr* x, std::span<const int64_t> axes);

  // ---- Failure
  // Reports an error, which names the node, and gives no value.
  Value Error(std::string message);
  // Gives no value after an error that was reported by others.
  Value Failed() {
    failed_ = true;
    return {};
  }
  bool failed() const { return failed_; }
  // The axis, from 0 up. Reports an error if it is out of range, and then gives 0.
  int64_t Axis(int64_t axis, int64_t rank);
  // The product of lengths and factors. Reports an error if it does not fit into 64 bits, and then gives 0.
  int64_t Product(std::initializer_list<int64_t> factors);

 private:
  FunctionImporter& importer_;
  const NodeProto& node_;
  int64_t version_;
  Scope& scope_;
  bool failed_ = false;
};

// "node 'conv1' (Conv)".
std::string Describe(const NodeProto& node);

}  // namespace iropt::onnx
