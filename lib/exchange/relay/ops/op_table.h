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

#include "call_arguments.h"
#include "exchange/relay/graph.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/py_value.h"
#include "iropt/ir/relax/builder.h"
#include "operand_maker.h"

namespace iropt::relay {

class OpCall;

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

// A call of an operator that is being built.
class OpCall : public CallArguments, public OperandMaker {
 public:
  // The spans are those of the call and of the name of the operator in it.
  OpCall(const OperatorCall& call, SourceSpan span, SourceSpan name_span, std::span<const Expr* const> args,
         BlockBuilder& builder, const Module& module, DiagnosticEngine& diagnostics);

  // Builds the expression that the operator becomes; null after errors, such as a wrong number of arguments, an
  // attribute that the operator does not have, or one that is missing.
  const Expr* Build();

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
  // start, start + step, ... up to stop, for scalars that are computed: the number of elements is a new symbolic
  // variable.
  const Expr* ComputedArange(const Expr* start, const Expr* stop, const Expr* step);
  const Expr* Cast(const Expr* value, DataType dtype);  // the same expression if it has the dtype

  BlockBuilder& builder() { return builder_; }
  const Module& module() const { return module_; }

 private:
  SourceSpan span_;
  BlockBuilder& builder_;
  const Module& module_;
};

}  // namespace iropt::relay
