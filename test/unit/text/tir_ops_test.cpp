// The operators of scripts: Python's arithmetic on numbers, promotion of operands, folding of constants.
#include <string>

#include "catch.h"
#include "iropt/arith/prim_builder.h"
#include "text/script/tir/prim_ops.h"

using namespace iropt;
using namespace iropt::text;

namespace {

struct Operators {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics{&buffer};
  Workspace workspace;
  PrimOps ops{workspace, diagnostics};

  const PrimExpr* Var(DataType dtype) { return workspace.NewPrimVar("x", dtype); }
  const PrimExpr* Int(int64_t value, DataType dtype = DataType::Int(32)) { return ops.Int(value, dtype, Span()); }
  PyValue Numbers(TokenKind op, PyValue a, PyValue b) {
    PyValue out;
    REQUIRE(ops.Binary(op, a, b, Span(), out));
    return out;
  }
  int64_t Integers(TokenKind op, int64_t a, int64_t b) {
    const PyValue out = Numbers(op, PyValue::Int(a, Span()), PyValue::Int(b, Span()));
    REQUIRE(out.is(PyValue::Kind::kInt));
    return out.integer;
  }
};

}  // namespace

TEST_CASE("results have the span of the operation, conversions that of the operand, errors that of the wrong operand") {
  Operators t;
  const Span place{40, 5}, operand{42, 1};
  const PrimExpr* sum = t.ops.Make(NodeKind::kAdd, t.Int(1), t.Int(2), place);
  CHECK(arith::IsInt(sum, 3));
  CHECK(sum->span().begin == place.begin);
  const PrimExpr* x = t.Var(DataType::Int(32));
  const PrimExpr* three = t.ops.Int(3, DataType::Int(8), operand);
  const auto* product = To<tir::Mul>(t.ops.Make(NodeKind::kMul, x, three, place));
  CHECK(product->span().begin == place.begin);
  CHECK(product->b->span().begin == operand.begin);
  const PrimExpr* zero = t.ops.Int(0, DataType::Int(32), operand);
  CHECK(t.ops.Make(NodeKind::kFloorMod, x, zero, place) == nullptr);
  CHECK(t.ops.Make(NodeKind::kAdd, x, t.Var(DataType::Handle()), place) == nullptr);
  REQUIRE(t.buffer.diagnostics().size() == 2);
  CHECK(t.buffer.diagnostics()[0].message == "division by zero");
  CHECK(t.buffer.diagnostics()[0].span.begin == operand.begin);
  CHECK(t.buffer.diagnostics()[1].span.begin == place.begin);
}

TEST_CASE("nodes stay as they stand, and do not convert their operands") {
  Operators t;
  const PrimExpr* sum = t.ops.MakeNode(NodeKind::kAdd, t.Int(1), t.Int(2), Span());
  REQUIRE(sum);
  CHECK(sum->kind == NodeKind::kAdd);
  CHECK(t.ops.MakeNode(NodeKind::kAdd, t.Int(1), t.Int(2, DataType::Int(64)), Span()) == nullptr);
  REQUIRE(t.buffer.diagnostics().size() == 1);
  CHECK(t.buffer.diagnostics()[0].kind == "type-mismatch");
}

TEST_CASE("a number next to an expression takes its type in comparisons") {
  Operators t;
  const PrimExpr* x = t.Var(DataType::Int(8));
  PyValue out;
  REQUIRE(t.ops.Binary(TokenKind::kLess, PyValue(x), PyValue::Int(5, Span()), Span(), out));
  CHECK(out.prim->kind == NodeKind::kLT);
  CHECK(out.prim->dtype == DataType::Bool());
  CHECK(static_cast<const tir::BinaryExpr*>(out.prim)->b->dtype == DataType::Int(8));
  CHECK_FALSE(t.ops.Binary(TokenKind::kLess, PyValue(x), PyValue::Int(500, Span()), Span(), out));
}

TEST_CASE("numbers compute as in Python") {
  Operators t;
  CHECK(t.Integers(TokenKind::kDoubleSlash, 7, -2) == -4);
  CHECK(t.Integers(TokenKind::kPercent, -7, 3) == 2);
  CHECK(t.Integers(TokenKind::kDoubleStar, -2, 5) == -32);
  CHECK(t.Integers(TokenKind::kShiftLeft, 3, 4) == 48);
  CHECK(t.Integers(TokenKind::kShiftRight, -1, 70) == -1);
  CHECK(t.Integers(TokenKind::kPlus, INT32_MAX, 1) == int64_t{1} << 31);
  CHECK(t.Numbers(TokenKind::kSlash, PyValue::Int(1, Span()), PyValue::Int(4, Span())).real == 0.25);
  CHECK(t.Numbers(TokenKind::kLessEqual, PyValue::Int(1, Span()), PyValue::Int(1, Span())).boolean);
}

TEST_CASE("numbers beyond 64 bits and without a result are errors") {
  Operators t;
  PyValue out;
  const auto fails = [&](TokenKind op, int64_t a, int64_t b) {
    return !t.ops.Binary(op, PyValue::Int(a, Span()), PyValue::Int(b, Span()), Span(), out);
  };
  CHECK(fails(TokenKind::kPlus, INT64_MAX, 1));
  CHECK(fails(TokenKind::kStar, INT64_MAX, 2));
  CHECK(fails(TokenKind::kDoubleSlash, INT64_MIN, -1));
  CHECK(fails(TokenKind::kDoubleSlash, 1, 0));
  CHECK(fails(TokenKind::kDoubleStar, 10, 19));
  CHECK(fails(TokenKind::kShiftLeft, 1, 63));
  CHECK(fails(TokenKind::kShiftLeft, 1, -1));
  CHECK(t.buffer.diagnostics().size() == 7);
}
