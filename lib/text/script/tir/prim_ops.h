// Python's operators on numbers and scalar expressions, with their meaning in TVM's scripts: operations on numbers
// follow Python; if an operand is an expression, arith::PrimBuilder makes the result, and errors are located in the
// text.
#pragma once

#include <optional>
#include <string>

#include "iropt/arith/prim_builder.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/infer/py_value.h"
#include "iropt/ir/module.h"
#include "iropt/text/script/lexer.h"

namespace iropt::text {

class PrimOps {
 public:
  // Integers without a type have `int_bits` bits, or 64 if they need more.
  PrimOps(Workspace& workspace, DiagnosticEngine& diagnostics, int int_bits = 32)
      : ws_(workspace), diag_(diagnostics), int_bits_(int_bits) {}

  // a `op` b for the operators + - * / // % ** << >> & | ^ and the comparisons. False after an error. The operands are
  // numbers and scalar expressions; the caller has converted everything else.
  bool Binary(TokenKind op, const PyValue& a, const PyValue& b, Span span, PyValue& out);
  // `a and b`, `a or b`.
  bool Logic(NodeKind kind, const PyValue& a, const PyValue& b, Span span, PyValue& out);
  // -a, +a, ~a, and `not a`.
  bool Unary(TokenKind op, const PyValue& a, Span span, PyValue& out);
  bool Not(const PyValue& a, Span span, PyValue& out);

  // The folding form of an operation, as made by the operators and functions such as T.min and T.floordiv. Null after
  // an error.
  const PrimExpr* Make(NodeKind kind, const PrimExpr* a, const PrimExpr* b, Span span);
  // The node without folding, as made by T.Add(a, b).
  const PrimExpr* MakeNode(NodeKind kind, const PrimExpr* a, const PrimExpr* b, Span span);
  // T.shift_left, T.bitwise_and and so on: folded if both are constants.
  const PrimExpr* MakeBitwise(arith::BitOp op, const PrimExpr* a, const PrimExpr* b, Span span);
  // A conversion, folded for constants and vectors of one value.
  const PrimExpr* MakeCast(DataType dtype, const PrimExpr* value, Span span);
  // Brings two operands to one dtype by TVM's rules. False after an error.
  bool MatchDtypes(const PrimExpr*& a, const PrimExpr*& b, Span span);
  const PrimExpr* MakeBroadcast(const PrimExpr* value, const PrimExpr* lanes, Span span);
  const PrimExpr* MakeRamp(const PrimExpr* base, const PrimExpr* stride, const PrimExpr* lanes, Span span);

  // Numbers as expressions: integers are int32 (int64 if needed), floats float32, truth values bool.
  const PrimExpr* ToPrim(const PyValue& number);
  const PrimExpr* Int(int64_t value, DataType dtype, Span span) { return At(span).Int(value, dtype); }
  const PrimExpr* Float(double value, DataType dtype, Span span) { return At(span).Float(value, dtype); }

 private:
  bool Numbers(TokenKind op, const PyValue& a, const PyValue& b, Span span, PyValue& out);
  bool Integers(TokenKind op, int64_t a, int64_t b, Span span, PyValue& out);
  bool Compare(NodeKind kind, PyValue a, PyValue b, Span span, PyValue& out);
  bool LiteralFits(const PyValue& number, const PrimExpr* value, const PrimExpr* other);
  const PrimExpr* Adapt(const PyValue& number, DataType other);
  arith::PrimBuilder At(Span span) const { return arith::PrimBuilder(ws_).At(span); }
  // Reports the error if there is one: at the operand in error, else at `span`.
  bool Accept(const std::optional<arith::OperandError>& error, Span span);
  bool Error(Span span, std::string message);

  Workspace& ws_;
  DiagnosticEngine& diag_;
  const int int_bits_;
};

}  // namespace iropt::text
