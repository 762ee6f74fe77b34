// The operators of Relay and what they are in Relax.
//
// To add an operator, write a function that builds its Relax expression and a row with it in the table of its family,
// ops/<family>.cpp:
//
//   const Expr* BuildStack(OpCall& call) { return op::Stack(call, call.arg(0), {.axis = call.Int("axis")}); }
//
//   constexpr OperatorRow kManipulate[] = {
//       {"stack", "data", "axis=0", BuildStack},
//   };
//
// A row has the names of the arguments, then the attributes in the order of Relay's record with their defaults, in the
// syntax of the text. "axis" without a value must be given. A new family is a table of its own, listed in op_table.cpp.
//
// Builders compose expressions of operators (iropt/infer/op_builder.h): op::Add(call, op::Multiply(call, a, b), c).
// Operands get variables of their own, one for each expression, and every expression has a type as soon as it is made,
// so that a builder can decide by types. Null stands for an expression with a reported error; a call with a null
// operand is null.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exchange/relay/graph.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/py_value.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/op/op_attrs.h"

namespace iropt::relay {

class OpCall;

// The dtypes that expansions name.
inline constexpr DataType kInt32 = DataType::Int(32);
inline constexpr DataType kInt64 = DataType::Int(64);
inline constexpr DataType kFloat32 = DataType::Float(32);

struct OperatorRow {
  std::string_view name;        // in the text
  std::string_view arguments;   // "data, weight"; the last one may be missing if it ends with '?', or repeat with "..."
  std::string_view attributes;  // "strides=[1, 1], padding=[0, 0], units=None"
  const Expr* (*build)(OpCall& call);
};

// The families, each a table of a file.
std::span<const OperatorRow> ApproximateOperators();
std::span<const OperatorRow> BinaryOperators();
std::span<const OperatorRow> ContribOperators();
std::span<const OperatorRow> ConvolutionOperators();
std::span<const OperatorRow> CreateOperators();
std::span<const OperatorRow> DeformableOperators();
std::span<const OperatorRow> DynOperators();
std::span<const OperatorRow> ElementwiseOperators();
std::span<const OperatorRow> ImageOperators();
std::span<const OperatorRow> IndexOperators();
std::span<const OperatorRow> ManipulateOperators();
std::span<const OperatorRow> NnOperators();
std::span<const OperatorRow> NormOperators();
std::span<const OperatorRow> PoolOperators();
std::span<const OperatorRow> QnnOperators();
std::span<const OperatorRow> QnnProductOperators();
std::span<const OperatorRow> ReduceOperators();
std::span<const OperatorRow> ScatterOperators();
std::span<const OperatorRow> SequenceOperators();
std::span<const OperatorRow> SpatialOperators();
std::span<const OperatorRow> VisionOperators();

// All families.
std::span<const std::span<const OperatorRow>> OperatorFamilies();

// The least and the greatest number of arguments; no greatest if the last one repeats.
struct ArgumentCount {
  size_t least = 0;
  std::optional<size_t> most;
};

// An operator with what its row says.
struct Operator {
  const OperatorRow* row = nullptr;
  // The attributes with their defaults. A value of kind kAttr without an attribute marks one that must be given.
  std::vector<PyKeyword> attributes;
  ArgumentCount count;
};

// The operator of a name in the text, or null.
const Operator* FindOperator(std::string_view name);
// The name that is nearest to one that no operator has: a misspelled one, or one with another prefix, such as 'relu'.
// Empty if none is near.
std::string_view NearestOperator(std::string_view name);

// The place of the operator's name in a call, or of the whole call if it is written with a sign.
inline SourceSpan NameSpan(const GraphNode& node, const OperatorCall& call) {
  if (node.kind == GraphKind::kSign) return node.span;
  return {node.span.begin, node.span.begin + static_cast<uint32_t>(call.op->row->name.size())};
}

// An attribute of another operator of Relay, such as {"axis", 1}.
struct Keyword {
  std::string_view name;
  PyValue value;

  Keyword(std::string_view n, const PyValue& v) : name(n), value(v) {}
  Keyword(std::string_view n, int v) : name(n), value(PyValue::Int(v, {})) {}
  Keyword(std::string_view n, int64_t v) : name(n), value(PyValue::Int(v, {})) {}
  Keyword(std::string_view n, bool v) : name(n), value(PyValue::Bool(v, {})) {}
  Keyword(std::string_view n, double v) : name(n), value(PyValue::Float(v, {})) {}
  Keyword(std::string_view n, std::string_view v) : name(n), value(PyValue::String(v, {})) {}
  Keyword(std::string_view n, const char* v) : name(n), value(PyValue::String(v, {})) {}
};

using Ints = std::vector<int64_t>;
using DimList = std::vector<const PrimExpr*>;
// A list of integers that an attribute may lack.
using OptInts = op_attrs::Value<AttrKind::kOptIntList>;

// Numbers or scalar expressions: the dimensions of a shape, the bounds of slices.
class Scalars {
 public:
  Scalars(std::initializer_list<int64_t> values) : Scalars(std::span(values.begin(), values.size())) {}  // NOLINT
  Scalars(const Ints& values) : Scalars(std::span(values)) {}                                            // NOLINT
  Scalars(std::span<const int64_t> values);                                                              // NOLINT
  Scalars(DimList values) : values_(std::move(values)) {}                                                // NOLINT
  Scalars(const PrimExpr* value) : values_{value} {}                                                     // NOLINT

  const DimList& values() const { return values_; }

 private:
  DimList values_;
};

// A call of an operator that is being built.
class OpCall {
 public:
  // The spans are those of the call and of the name of the operator in it.
  OpCall(const OperatorCall& call, SourceSpan span, SourceSpan name_span, std::span<const Expr* const> args,
         BlockBuilder& builder, const Module& module, DiagnosticEngine& diagnostics);

  // Builds the expression that the operator becomes; null after errors, such as a wrong number of arguments, an
  // attribute that the operator does not have, or one that is missing.
  const Expr* Build();

  // ---- The call of the text
  const OperatorRow& row() const { return *op_.row; }
  size_t num_args() const { return args_.size(); }
  const Expr* arg(size_t i) const { return args_[i]; }
  const Type* type(size_t i) const { return TypeOf(args_[i]); }
  // The value in the text, or the default. Those with a type report values of other kinds, and give 0 or nothing.
  const PyValue& attr(std::string_view name) const;
  bool has(std::string_view name) const { return !attr(name).is(PyValue::Kind::kNone); }  // not None
  int64_t Int(std::string_view name) const;
  double Float(std::string_view name) const;
  bool Bool(std::string_view name) const;
  std::string_view String(std::string_view name) const;
  relay::Ints Ints(std::string_view name) const;        // also of a single number; None gives none
  relay::Ints NestedInts(std::string_view name) const;  // those of all lists in a list, as in [[0, 0], [1, 1]]
  // As many as there are: one stands for copies of it, and half of them, for a list of both ends, for them twice.
  relay::Ints IntsOf(std::string_view name, size_t count, bool both_ends = false) const;
  DataType Dtype(std::string_view name) const;              // void for the empty string
  std::vector<double> Floats(std::string_view name) const;  // also of a single number; None gives none
  op_attrs::Value<AttrKind::kOptInt> OptInt(std::string_view name) const;

  // ---- Facts about expressions
  static const Type* TypeOf(const Expr* expr) { return expr->type; }
  // Null if the expression is not a tensor.
  static const TensorType* TensorOf(const Expr* expr) { return As<TensorType>(expr->type); }
  DataType DType(const Expr* expr) const;  // void if unknown
  int Rank(const Expr* expr) const;        // kUnknownDim if unknown
  // The dimensions, or nothing if the shape is unknown.
  std::optional<std::vector<const PrimExpr*>> Dims(const Expr* expr) const;
  // The dimensions if all of them are constants.
  std::optional<std::vector<int64_t>> StaticDims(const Expr* expr) const;
  // The fields of a tuple: of a literal, or projections.
  std::vector<const Expr*> Fields(const Expr* tuple);
  // The elements of a constant of integers; nothing if the expression is not one.
  static std::optional<std::vector<int64_t>> ConstantInts(const Expr* expr);
  // The first element of a constant of integers.
  static std::optional<int64_t> ConstantInt(const Expr* expr);
  // The first element of a constant of floats.
  static std::optional<double> ConstantFloat(const Expr* expr);
  // The axis, counted from the end if it is negative; nothing after an error.
  std::optional<int64_t> Axis(int64_t axis, int rank);

  // ---- Construction
  // The first argument of the functions of operators.
  operator OpBuilder();  // NOLINT: a call is built where it is
  // Builds another operator of Relay, as if the text had a call of it; attributes that are left out have their
  // defaults.
  const Expr* Relay(std::string_view name, std::initializer_list<const Expr*> args,
                    std::initializer_list<Keyword> attributes = {}) {
    return Relay(name, std::span(args.begin(), args.size()), attributes);
  }
  const Expr* Relay(std::string_view name, std::span<const Expr* const> args,
                    std::initializer_list<Keyword> attributes = {});
  const Expr* Reshape(const Expr* x, const Scalars& shape);
  // With all elements along one axis.
  const Expr* Flat(const Expr* x);
  const Expr* Permute(const Expr* x, const relay::Ints& axes);
  const Expr* ExpandDims(const Expr* x, const relay::Ints& axes);
  const Expr* Concat(std::span<const Expr* const> parts, int64_t axis);
  // The elements from `begin` up to `end` of each of the axes.
  const Expr* Slice(const Expr* x, const Scalars& axes, const Scalars& begin, const Scalars& end);
  const Expr* Slice(const Expr* x, const Scalars& axes, const Scalars& begin, const Scalars& end,
                    const Scalars& strides);
  // 0, 1, ... up to a number.
  const Expr* Iota(const PrimExpr* count, DataType dtype);
  // ---- Operands that are not tensors
  const Expr* MakeTuple(std::span<const Expr* const> fields);
  const Expr* Shape(const Scalars& dims);
  const Expr* Prims(const Scalars& values);  // a tuple
  const Expr* Prim(const PrimExpr* value);
  const Expr* Prim(int64_t value);
  const Expr* PrimFloat(double value);
  const Expr* Item(const Expr* tuple, int index);
  // A constant of rank 0.
  const Expr* Scalar(double value, DataType dtype);
  const Expr* Scalar(int64_t value, DataType dtype);
  const Expr* IntTensor(std::span<const int64_t> values, DataType dtype);
  PyValue ListOf(std::span<const int64_t> values);
  PyValue ListOf(std::initializer_list<int64_t> values) { return ListOf(std::span(values.begin(), values.size())); }
  PyValue ListOf(std::span<const PyValue> values);
  PyValue DTypeValue(DataType dtype);  // "float32"
  // start, start + step, ... up to stop, for scalars that are computed: the number of elements is a new symbolic
  // variable.
  const Expr* ComputedArange(const Expr* start, const Expr* stop, const Expr* step);
  const Expr* Cast(const Expr* value, DataType dtype);  // the same expression if it has the dtype

  // ---- Limits, as a text may name any number. The error says that the expansion is too large.
  // Returns whether an expansion may have that many operators: the product of the counts.
  bool MayRepeat(std::initializer_list<int64_t> counts) { return IsWithin(counts, 1 << 14); }
  // Returns whether a constant of an expansion may have that many elements.
  bool MayTabulate(std::initializer_list<int64_t> counts) { return IsWithin(counts, 1 << 26); }

  // ---- Errors. All return null.
  const Expr* Error(DiagId kind, std::string message);
  // Relax has nothing that does the same.
  const Expr* NoCounterpart(std::string_view what);

  BlockBuilder& builder() { return builder_; }
  Workspace& workspace() { return builder_.workspace(); }
  const Module& module() const { return module_; }

 private:
  bool IsWithin(std::initializer_list<int64_t> counts, int64_t limit);
  bool CheckArguments();
  bool CheckName(const Attribute& attribute) const;
  // Reports that the attribute is not what the operator takes, once for a call.
  void WrongKind(std::string_view name, std::string_view expected) const;

  const Operator& op_;
  const OperatorCall& call_;
  SourceSpan span_;
  const SourceSpan name_span_;
  std::span<const Expr* const> args_;
  BlockBuilder& builder_;
  const Module& module_;
  DiagnosticEngine& diagnostics_;
  mutable bool has_wrong_kind_ = false;
};

}  // namespace iropt::relay
