// What the operators of scripts make of their operands: Python's arithmetic on numbers, one type for both operands,
// constants that fold.
#include <string>

#include "catch.h"
#include "iropt/arith/prim_builder.h"
#include "text/prim_ops.h"

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
  // The value of a folded integer operation.
  int64_t Fold(NodeKind kind, int64_t a, int64_t b, DataType dtype = DataType::Int(32)) {
    const PrimExpr* e = ops.Make(kind, Int(a, dtype), Int(b, dtype), Span());
    REQUIRE(e);
    REQUIRE(arith::AsInt(e));
    CHECK(e->dtype == dtype);
    return *arith::AsInt(e);
  }
  Value Numbers(TokenKind op, Value a, Value b) {
    Value out;
    REQUIRE(ops.Binary(op, a, b, Span(), out));
    return out;
  }
  int64_t Integers(TokenKind op, int64_t a, int64_t b) {
    const Value out = Numbers(op, Value::Int(a, Span()), Value::Int(b, Span()));
    REQUIRE(out.is(Value::Kind::kInt));
    return out.integer;
  }
  // The type that two variables of these types are brought to, "error" where there is none.
  std::string Common(DataType x, DataType y) {
    const PrimExpr* a = Var(x);
    const PrimExpr* b = Var(y);
    if (!ops.MatchDtypes(a, b, Span())) return "error";
    CHECK(a->dtype == b->dtype);
    return a->dtype.ToString();
  }
};

}  // namespace

TEST_CASE("integer constants fold as their type computes") {
  Operators t;
  CHECK(t.Fold(NodeKind::kAdd, 2, 3) == 5);
  CHECK(t.Fold(NodeKind::kSub, 2, 3) == -1);
  CHECK(t.Fold(NodeKind::kMul, -4, 3) == -12);
  CHECK(t.Fold(NodeKind::kFloorDiv, -7, 2) == -4);
  CHECK(t.Fold(NodeKind::kFloorMod, -7, 2) == 1);
  CHECK(t.Fold(NodeKind::kDiv, -7, 2) == -3);
  CHECK(t.Fold(NodeKind::kMod, -7, 2) == -1);
  CHECK(t.Fold(NodeKind::kMin, 4, -4) == -4);
  CHECK(t.Fold(NodeKind::kMax, 4, -4) == 4);
}

TEST_CASE("integer constants wrap around beyond the limits of their type") {
  Operators t;
  CHECK(t.Fold(NodeKind::kAdd, INT32_MAX, 1) == INT32_MIN);
  CHECK(t.Fold(NodeKind::kSub, INT32_MIN, 1) == INT32_MAX);
  CHECK(t.Fold(NodeKind::kMul, 1 << 20, 1 << 12) == 0);
  CHECK(t.Fold(NodeKind::kFloorDiv, INT32_MIN, -1) == INT32_MIN);
  CHECK(t.Fold(NodeKind::kAdd, INT64_MAX, 1, DataType::Int(64)) == INT64_MIN);
  CHECK(t.Fold(NodeKind::kFloorDiv, INT64_MIN, -1, DataType::Int(64)) == INT64_MIN);
  CHECK(t.Fold(NodeKind::kAdd, 127, 1, DataType::Int(8)) == -128);
  CHECK(t.Fold(NodeKind::kSub, 0, 1, DataType::UInt(8)) == 255);
}

TEST_CASE("what adds nothing is dropped, and a division by zero is an error") {
  Operators t;
  const PrimExpr* x = t.Var(DataType::Int(32));
  CHECK(t.ops.Make(NodeKind::kAdd, x, t.Int(0), Span()) == x);
  CHECK(t.ops.Make(NodeKind::kMul, t.Int(1), x, Span()) == x);
  CHECK(t.ops.Make(NodeKind::kFloorDiv, x, t.Int(1), Span()) == x);
  CHECK(arith::IsInt(t.ops.Make(NodeKind::kMul, x, t.Int(0), Span()), 0));
  CHECK(t.ops.Make(NodeKind::kAdd, x, x, Span())->kind == NodeKind::kAdd);
  CHECK(t.ops.Make(NodeKind::kFloorMod, x, t.Int(0), Span()) == nullptr);
  REQUIRE(t.buffer.diagnostics().size() == 1);
  CHECK(t.buffer.diagnostics()[0].message == "division by zero");
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

TEST_CASE("operands of different types are brought to one") {
  Operators t;
  const DataType i8 = DataType::Int(8), i32 = DataType::Int(32), i64 = DataType::Int(64), u8 = DataType::UInt(8),
                 u32 = DataType::UInt(32);
  const DataType f16 = DataType::Float(16), f32 = DataType::Float(32), bf16 = DataType::BFloat(16);
  CHECK(t.Common(i32, i32) == "int32");
  CHECK(t.Common(i32, i64) == "int64");
  CHECK(t.Common(i8, u32) == "uint32");
  CHECK(t.Common(i8, u8) == "uint8");
  CHECK(t.Common(i64, f16) == "float16");
  CHECK(t.Common(f16, f32) == "float32");
  CHECK(t.Common(bf16, f16) == "float16");
  CHECK(t.Common(bf16, i32) == "bfloat16");
  CHECK(t.Common(DataType::Bool(), i32) == "int32");
  CHECK(t.Common(i32, f32.with_lanes(4)) == "float32x4");
  CHECK(t.Common(i32.with_lanes(4), f32.with_lanes(8)) == "error");
  CHECK(t.Common(DataType::Handle(), i32) == "error");
}

TEST_CASE("a number beside an expression takes its type in comparisons") {
  Operators t;
  const PrimExpr* x = t.Var(DataType::Int(8));
  Value out;
  REQUIRE(t.ops.Binary(TokenKind::kLess, Value(x), Value::Int(5, Span()), Span(), out));
  CHECK(out.prim->kind == NodeKind::kLT);
  CHECK(out.prim->dtype == DataType::Bool());
  CHECK(static_cast<const tir::BinaryExpr*>(out.prim)->b->dtype == DataType::Int(8));
  CHECK_FALSE(t.ops.Binary(TokenKind::kLess, Value(x), Value::Int(500, Span()), Span(), out));
}

TEST_CASE("numbers compute as in Python") {
  Operators t;
  CHECK(t.Integers(TokenKind::kDoubleSlash, 7, -2) == -4);
  CHECK(t.Integers(TokenKind::kPercent, -7, 3) == 2);
  CHECK(t.Integers(TokenKind::kDoubleStar, -2, 5) == -32);
  CHECK(t.Integers(TokenKind::kShiftLeft, 3, 4) == 48);
  CHECK(t.Integers(TokenKind::kShiftRight, -1, 70) == -1);
  CHECK(t.Integers(TokenKind::kPlus, INT32_MAX, 1) == int64_t{1} << 31);
  CHECK(t.Numbers(TokenKind::kSlash, Value::Int(1, Span()), Value::Int(4, Span())).real == 0.25);
  CHECK(t.Numbers(TokenKind::kLessEqual, Value::Int(1, Span()), Value::Int(1, Span())).boolean);
}

TEST_CASE("numbers beyond 64 bits and without a result are errors") {
  Operators t;
  Value out;
  const auto fails = [&](TokenKind op, int64_t a, int64_t b) {
    return !t.ops.Binary(op, Value::Int(a, Span()), Value::Int(b, Span()), Span(), out);
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
