// Promotion of dtypes, and folding of constants.
#include "iropt/arith/const_fold.h"

#include <string>

#include "catch.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/module.h"

namespace iropt::arith {
namespace {

DataType Type(const char* spelling) { return *DataType::Parse(spelling); }

std::string Common(DataType a, DataType b) {
  const auto common = PromoteDTypes(a, b);
  return common ? common->ToString() : "-";
}

// Row and column are the operands, "-" is a mismatch; as BinaryOpMatchTypes of TVM 0.18.
constexpr size_t kTypes = 14;
constexpr const char* kCommon[kTypes][kTypes + 1] = {
    {"bool", "bool", "int8", "int32", "int64", "uint8", "uint32", "uint64", "float16", "float32", "float64", "bfloat16",
     "e4m3_float8", "e5m2_float8", "-"},
    {"int8", "int8", "int8", "int32", "int64", "uint8", "uint32", "uint64", "float16", "float32", "float64", "bfloat16",
     "e4m3_float8", "e5m2_float8", "-"},
    {"int32", "int32", "int32", "int32", "int64", "int32", "uint32", "uint64", "float16", "float32", "float64",
     "bfloat16", "e4m3_float8", "e5m2_float8", "-"},
    {"int64", "int64", "int64", "int64", "int64", "int64", "int64", "uint64", "float16", "float32", "float64",
     "bfloat16", "e4m3_float8", "e5m2_float8", "-"},
    {"uint8", "uint8", "uint8", "int32", "int64", "uint8", "uint32", "uint64", "float16", "float32", "float64",
     "bfloat16", "e4m3_float8", "e5m2_float8", "-"},
    {"uint32", "uint32", "uint32", "uint32", "int64", "uint32", "uint32", "uint64", "float16", "float32", "float64",
     "bfloat16", "e4m3_float8", "e5m2_float8", "-"},
    {"uint64", "uint64", "uint64", "uint64", "uint64", "uint64", "uint64", "uint64", "float16", "float32", "float64",
     "bfloat16", "e4m3_float8", "e5m2_float8", "-"},
    {"float16", "float16", "float16", "float16", "float16", "float16", "float16", "float16", "float16", "float32",
     "float64", "float16", "float16", "float16", "-"},
    {"float32", "float32", "float32", "float32", "float32", "float32", "float32", "float32", "float32", "float32",
     "float64", "float32", "float32", "float32", "-"},
    {"float64", "float64", "float64", "float64", "float64", "float64", "float64", "float64", "float64", "float64",
     "float64", "float64", "float64", "float64", "-"},
    {"bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "float16",
     "float32", "float64", "bfloat16", "bfloat16", "bfloat16", "-"},
    {"e4m3_float8", "e4m3_float8", "e4m3_float8", "e4m3_float8", "e4m3_float8", "e4m3_float8", "e4m3_float8",
     "e4m3_float8", "float16", "float32", "float64", "bfloat16", "e4m3_float8", "-", "-"},
    {"e5m2_float8", "e5m2_float8", "e5m2_float8", "e5m2_float8", "e5m2_float8", "e5m2_float8", "e5m2_float8",
     "e5m2_float8", "float16", "float32", "float64", "bfloat16", "-", "e5m2_float8", "-"},
    {"handle", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "handle"},
};

// Folds in the arithmetic of TIR code.
struct Loops {
  Workspace workspace;
  PrimBuilder make{workspace};

  const PrimExpr* Int(int64_t value, DataType dtype = DataType::Int(32)) { return make.Int(value, dtype); }
  const PrimExpr* Float(double value, DataType dtype = DataType::Float(32)) { return make.Float(value, dtype); }
  const PrimExpr* Var(DataType dtype = DataType::Int(32)) { return workspace.NewPrimVar("x", dtype); }
  int64_t Fold(NodeKind kind, int64_t a, int64_t b, DataType dtype = DataType::Int(32)) {
    const PrimExpr* e = make.Binary(kind, Int(a, dtype), Int(b, dtype));
    REQUIRE(AsInt(e));
    return *AsInt(e);
  }
  double FoldFloat(NodeKind kind, double a, double b, DataType dtype = DataType::Float(32)) {
    const auto* e = As<tir::FloatImm>(make.Binary(kind, Float(a, dtype), Float(b, dtype)));
    REQUIRE(e);
    CHECK(e->dtype == dtype);
    return e->value;
  }
};

std::string MessageOf(const std::optional<OperandError>& error) { return error ? error->message : "none"; }

}  // namespace

TEST_CASE("two dtypes are promoted as in TVM, for all pairs of kinds") {
  for (const auto& row : kCommon) {
    for (size_t i = 0; i < kTypes; ++i) {
      const DataType a = Type(row[0]);
      const DataType b = Type(kCommon[i][0]);
      INFO(row[0] << " and " << kCommon[i][0]);
      CHECK(Common(a, b) == row[i + 1]);
      CHECK(Common(a, b) == Common(b, a));
    }
  }
}

TEST_CASE("a scalar takes the lanes of a vector; vectors need the same lanes") {
  for (const auto& row : kCommon) {
    for (size_t i = 0; i < kTypes; ++i) {
      const DataType a = Type(row[0]);
      const DataType b = Type(kCommon[i][0]);
      for (const int lanes : {4, -4}) {
        INFO(row[0] << " and " << kCommon[i][0] << " with " << lanes << " lanes");
        const std::string element = row[i + 1];
        const std::string expected = element == "-" ? "-" : Type(row[i + 1]).with_lanes(lanes).ToString();
        CHECK(Common(a.with_lanes(lanes), b) == expected);
        CHECK(Common(a, b.with_lanes(lanes)) == expected);
        CHECK(Common(a.with_lanes(lanes), b.with_lanes(lanes)) == expected);
        CHECK(Common(a.with_lanes(lanes), b.with_lanes(8)) == "-");
        CHECK(Common(a.with_lanes(4), b.with_lanes(-4)) == "-");
      }
    }
  }
}

TEST_CASE("integers wrap around to the width of their dtype") {
  CHECK(WrapInteger(128, DataType::Int(8)) == -128);
  CHECK(WrapInteger(-129, DataType::Int(8)) == 127);
  CHECK(WrapInteger(-1, DataType::UInt(8)) == 255);
  CHECK(WrapInteger(2, DataType::Bool()) == 0);
  CHECK(WrapInteger(INT64_MIN, DataType::Int(64)) == INT64_MIN);
  CHECK((FitsIn(0, DataType::Int(1)) && FitsIn(1, DataType::Int(1)) && !FitsIn(-1, DataType::Int(1))));
  for (const int bits : {8, 16, 32, 63}) {
    const int64_t half = int64_t{1} << (bits - 1);
    CHECK(FitsIn(half - 1, DataType::Int(bits)));
    CHECK(FitsIn(-half, DataType::Int(bits)));
    CHECK_FALSE(FitsIn(half, DataType::Int(bits)));
    CHECK(FitsIn(half, DataType::UInt(bits)));
    CHECK_FALSE(FitsIn(-1, DataType::UInt(bits)));
  }
  CHECK_FALSE(FitsIn(-1, DataType::UInt(64)));
}

TEST_CASE("constants of TIR code fold modulo the width of their dtype") {
  Loops t;
  CHECK(t.Fold(NodeKind::kAdd, INT32_MAX, 1) == INT32_MIN);
  CHECK(t.Fold(NodeKind::kMul, 1 << 20, 1 << 12) == 0);
  CHECK(t.Fold(NodeKind::kAdd, INT64_MAX, 1, DataType::Int(64)) == INT64_MIN);
  CHECK(t.Fold(NodeKind::kSub, 0, 1, DataType::UInt(8)) == 255);
  CHECK(t.Fold(NodeKind::kDiv, INT64_MIN, -1, DataType::Int(64)) == INT64_MIN);
  CHECK(t.Fold(NodeKind::kFloorDiv, INT32_MIN, -1) == INT32_MIN);
  CHECK(t.Fold(NodeKind::kFloorMod, INT64_MIN, -1, DataType::Int(64)) == 0);
  CHECK(t.Fold(NodeKind::kFloorDiv, -7, 2) == -4);
  CHECK(t.Fold(NodeKind::kMod, -7, 2) == -1);
  CHECK(t.Fold(NodeKind::kLT, -7, 2) == 1);
}

TEST_CASE("dimensions are mathematical integers: results that do not fit stay expressions") {
  IRContext context;
  const IRContext::Scope scope(context);
  const PrimBuilder make;
  CHECK(make.Add(make.Int(INT64_MAX), make.Int(1))->kind == NodeKind::kAdd);
  CHECK(IsInt(make.Add(make.Int(INT64_MAX - 1), make.Int(1)), INT64_MAX));
  Loops t;
  CHECK(t.make.Exact().Add(t.Int(INT32_MAX), t.Int(1))->kind == NodeKind::kAdd);
  CHECK(t.make.Exact().Cast(DataType::Int(8), t.Int(300))->kind == NodeKind::kCast);
}

TEST_CASE("remainders fold only for index dtypes") {
  Loops t;
  const DataType int8 = DataType::Int(8);
  CHECK(t.make.FloorMod(t.Int(7, int8), t.Int(2, int8))->kind == NodeKind::kFloorMod);
  CHECK(IsInt(t.make.FloorDiv(t.Int(7, int8), t.Int(2, int8)), 3));
}

TEST_CASE("floats fold in their precision") {
  Loops t;
  CHECK(t.FoldFloat(NodeKind::kAdd, 16777216, 1) == 16777216);
  CHECK(t.FoldFloat(NodeKind::kAdd, 16777216, 1, DataType::Float(64)) == 16777217);
  CHECK(t.make.Mul(t.Float(3e38), t.Float(10))->kind == NodeKind::kMul);
  CHECK(t.FoldFloat(NodeKind::kMax, 1, 2, DataType::Float(16)) == 2);
  const DataType half = DataType::Float(16);
  CHECK(t.make.Add(t.Float(1, half), t.Float(2, half))->kind == NodeKind::kAdd);
  CHECK(t.make.TruncDiv(t.Float(1), t.Float(0))->kind == NodeKind::kDiv);
  CHECK(IsInt(t.make.Binary(NodeKind::kLT, t.Float(1), t.Float(2)), 1));
}

TEST_CASE("comparisons of floats fold") {
  Loops loops;
  const auto holds = [&](NodeKind kind, double a, double b) {
    const int64_t* value = AsInt(loops.make.Binary(kind, loops.Float(a), loops.Float(b)));
    REQUIRE(value);
    return *value != 0;
  };
  for (const double other : {1.0, 2.0, 3.0}) {
    INFO("2 and " << other);
    CHECK(holds(NodeKind::kEQ, 2, other) == (other == 2));
    CHECK(holds(NodeKind::kNE, 2, other) == (other != 2));
    CHECK(holds(NodeKind::kLT, 2, other) == (2 < other));
    CHECK(holds(NodeKind::kLE, 2, other) == (2 <= other));
    CHECK(holds(NodeKind::kGT, 2, other) == (2 > other));
    CHECK(holds(NodeKind::kGE, 2, other) == (2 >= other));
  }
}

TEST_CASE("neutral operands are dropped") {
  Loops t;
  const PrimExpr* x = t.Var();
  const PrimExpr* zero = t.Int(0);
  const PrimExpr* one = t.Int(1);
  CHECK(t.make.Add(x, zero) == x);
  CHECK(t.make.Add(zero, x) == x);
  CHECK(t.make.Sub(x, zero) == x);
  CHECK(t.make.Sub(zero, x)->kind == NodeKind::kSub);
  CHECK(t.make.Mul(one, x) == x);
  CHECK(t.make.Mul(x, zero) == zero);
  CHECK(t.make.FloorDiv(x, one) == x);
  CHECK(t.make.FloorDiv(zero, x) == zero);
  CHECK(IsInt(t.make.FloorMod(x, one), 0));
  CHECK(t.make.FloorDiv(x, zero)->kind == NodeKind::kFloorDiv);
  CHECK(t.make.Min(x, x) == x);
  CHECK(t.make.Binary(NodeKind::kAnd, t.make.Bool(true), t.Var(DataType::Bool()))->kind == NodeKind::kPrimVar);
}

TEST_CASE("no operand is dropped that changes the result") {
  Loops t;
  const PrimExpr* x = t.Var();
  const PrimExpr* y = t.Var();
  CHECK(t.make.Add(x, t.Int(1))->kind == NodeKind::kAdd);
  CHECK(t.make.Sub(x, t.Int(1))->kind == NodeKind::kSub);
  CHECK(t.make.Mul(x, t.Int(2))->kind == NodeKind::kMul);
  CHECK(t.make.Mul(t.Int(2), x)->kind == NodeKind::kMul);
  CHECK(t.make.FloorDiv(t.Int(1), x)->kind == NodeKind::kFloorDiv);
  CHECK(t.make.FloorDiv(t.Int(0), t.Int(0))->kind == NodeKind::kFloorDiv);
  CHECK(t.make.FloorMod(t.Int(0), t.Int(0))->kind == NodeKind::kFloorMod);
  CHECK(t.make.FloorMod(t.Int(1), x)->kind == NodeKind::kFloorMod);
  CHECK(t.make.FloorMod(x, t.Int(2))->kind == NodeKind::kFloorMod);
  CHECK(IsInt(t.make.FloorMod(t.Int(0), x), 0));
  CHECK(t.make.Min(x, y)->kind == NodeKind::kMin);
  CHECK(t.make.Max(x, y)->kind == NodeKind::kMax);
  CHECK(t.make.Max(x, x) == x);
  const PrimExpr* f = t.Var(DataType::Float(32));
  CHECK(t.make.Add(f, t.Float(0)) == f);
  CHECK(t.make.Mul(f, t.Float(1)) == f);
  CHECK(t.make.Add(f, t.Float(1))->kind == NodeKind::kAdd);
  CHECK(t.make.Mul(f, t.Float(0.5))->kind == NodeKind::kMul);
}

TEST_CASE("a constant operand decides a conjunction or a disjunction, or is dropped") {
  Loops t;
  const PrimExpr* p = t.Var(DataType::Bool());
  const PrimExpr* yes = t.make.Bool(true);
  const PrimExpr* no = t.make.Bool(false);
  for (const bool swaps : {false, true}) {
    const auto fold = [&](NodeKind kind, const PrimExpr* constant) {
      return swaps ? t.make.Binary(kind, p, constant) : t.make.Binary(kind, constant, p);
    };
    CHECK(fold(NodeKind::kAnd, yes) == p);
    CHECK(IsInt(fold(NodeKind::kAnd, no), 0));
    CHECK(IsInt(fold(NodeKind::kOr, yes), 1));
    CHECK(fold(NodeKind::kOr, no) == p);
  }
  CHECK(t.make.Binary(NodeKind::kAnd, p, p)->kind == NodeKind::kAnd);
}

TEST_CASE("folds of 64 bits wrap around or fail") {
  constexpr int64_t kLeast = INT64_MIN;
  CHECK(FoldIntegersWrapping(NodeKind::kAdd, INT64_MAX, 2) == kLeast + 1);
  CHECK(FoldIntegersWrapping(NodeKind::kSub, kLeast, 1) == INT64_MAX);
  CHECK(FoldIntegersWrapping(NodeKind::kMul, INT64_MAX, 2) == -2);
  for (const NodeKind kind : {NodeKind::kDiv, NodeKind::kFloorDiv}) {
    CHECK(FoldIntegersWrapping(kind, kLeast, -1) == kLeast);
    CHECK(FoldIntegersWrapping(kind, 7, -1) == -7);
    CHECK(FoldIntegersWrapping(kind, 7, 0) == std::nullopt);
    CHECK(FoldIntegers(kind, kLeast, -1) == std::nullopt);
    CHECK(FoldIntegers(kind, kLeast, 1) == kLeast);
    CHECK(FoldIntegers(kind, 7, -1) == -7);
  }
  for (const NodeKind kind : {NodeKind::kMod, NodeKind::kFloorMod}) {
    CHECK(FoldIntegersWrapping(kind, kLeast, -1) == 0);
    CHECK(FoldIntegersWrapping(kind, 7, 4) == 3);
    CHECK(FoldIntegersWrapping(kind, 7, 0) == std::nullopt);
  }
  CHECK(FoldIntegersWrapping(NodeKind::kFloorDiv, -7, 2) == -4);
  CHECK(FoldIntegersWrapping(NodeKind::kFloorMod, -7, 2) == 1);
  CHECK(FoldIntegersWrapping(NodeKind::kMin, 3, -2) == -2);
  CHECK(FoldIntegersWrapping(NodeKind::kMax, 3, -2) == 3);
}

TEST_CASE("floats are truncated to integers where they fit") {
  Loops t;
  CHECK(IsInt(t.make.Cast(DataType::Int(8), t.Float(300)), 44));
  CHECK(t.make.Exact().Cast(DataType::Int(8), t.Float(300))->kind == NodeKind::kCast);
  CHECK(IsInt(t.make.Exact().Cast(DataType::Int(8), t.Float(-128.5)), -128));
  CHECK(t.make.Cast(DataType::Int(64), t.Float(0x1p62))->kind == NodeKind::kCast);
  CHECK(IsInt(t.make.Cast(DataType::Int(64), t.Float(-0x1p61)), -(int64_t{1} << 61)));
  CHECK(t.make.Cast(DataType::Int(64), t.Float(1e30))->kind == NodeKind::kCast);
}

TEST_CASE("operands of different dtypes are converted, and broadcast to lanes") {
  Loops t;
  const PrimExpr* sum = t.make.Add(t.Var(DataType::Int(8)), t.Var(DataType::UInt(32)));
  CHECK(sum->dtype == DataType::UInt(32));
  CHECK(To<tir::Add>(sum)->a->kind == NodeKind::kCast);
  const PrimExpr* vector = t.make.Mul(t.Var(), t.Var(DataType::Float(32, 4)));
  CHECK(vector->dtype == DataType::Float(32, 4));
  const auto* spread = As<tir::Broadcast>(To<tir::Mul>(vector)->a);
  REQUIRE(spread);
  CHECK(spread->value->kind == NodeKind::kCast);
  CHECK(IsInt(spread->lanes, 4));
  const PrimExpr* scalable = t.make.Add(t.Int(1), t.Var(DataType::Int(32, -4)));
  CHECK(To<tir::Broadcast>(To<tir::Add>(scalable)->a)->lanes->kind == NodeKind::kMul);
}

TEST_CASE("conversions of constants and vectors fold") {
  Loops t;
  CHECK(IsInt(t.make.Cast(DataType::Int(8), t.Int(-3)), -3));
  CHECK(t.make.Cast(DataType::Int(8), t.Int(300))->kind == NodeKind::kCast);
  CHECK(As<tir::FloatImm>(t.make.Cast(DataType::Float(16), t.Int(3)))->value == 3);
  CHECK(IsInt(t.make.Cast(DataType::Int(32), t.Float(-2.5)), -2));
  const PrimExpr* ramp = t.make.Ramp(t.Var(), t.Int(1), t.Int(4));
  CHECK(t.make.Cast(DataType::Int(64, 4), ramp)->kind == NodeKind::kRamp);
  // An index is assumed not to overflow, but this ramp wraps around.
  const PrimExpr* wraps = t.make.Ramp(t.Var(DataType::UInt(64)), t.make.Const(5, DataType::UInt(64)), t.Int(4));
  CHECK(t.make.Cast(DataType::Int(32, 4), wraps)->kind == NodeKind::kCast);
  CHECK(t.make.Cast(DataType::UInt(32, 4), wraps)->kind == NodeKind::kRamp);
  CHECK(t.make.Cast(DataType::Float(32, 4), ramp)->kind == NodeKind::kCast);
  CHECK(t.make.Cast(DataType::Float(32, 4), t.make.Broadcast(t.Var(), t.Int(4)))->kind == NodeKind::kBroadcast);
}

TEST_CASE("operations on bits fold for index dtypes") {
  Loops t;
  CHECK(IsInt(t.make.Bitwise(BitOp::kShiftLeft, t.Int(3), t.Int(4)), 48));
  CHECK(IsInt(t.make.Bitwise(BitOp::kShiftLeft, t.Int(1), t.Int(31)), INT32_MIN));
  CHECK(IsInt(t.make.Bitwise(BitOp::kShiftRight, t.Int(-8), t.Int(1)), -4));
  CHECK(IsInt(t.make.Bitwise(BitOp::kAnd, t.Int(12), t.Int(10)), 8));
  CHECK(IsInt(t.make.Bitwise(BitOp::kOr, t.Int(12), t.Int(10)), 14));
  CHECK(IsInt(t.make.Bitwise(BitOp::kXor, t.Int(12), t.Int(10)), 6));
  const PrimExpr* x = t.Var();
  CHECK(t.make.Bitwise(BitOp::kShiftRight, x, t.Int(0)) == x);
  const DataType int8 = DataType::Int(8);
  CHECK(t.make.Bitwise(BitOp::kAnd, t.Int(1, int8), t.Int(1, int8))->kind == NodeKind::kPrimCall);
}

TEST_CASE("operands that do not match are reported") {
  Loops t;
  const PrimExpr* x = t.Var();
  const PrimExpr* f = t.Var(DataType::Float(32));
  const PrimExpr* zero = t.Int(0);
  CHECK(MessageOf(CheckBinary(NodeKind::kAdd, x, f)) == "none");
  CHECK(MessageOf(CheckBinary(NodeKind::kAdd, x, t.Var(DataType::Handle()))) ==
        "mismatched operand types 'int32' and 'handle'");
  CHECK(MessageOf(CheckBinary(NodeKind::kAdd, t.Var(DataType::Int(8, 4)), t.Var(DataType::Int(8, 2)))) ==
        "mismatched operand types 'int8x4' and 'int8x2'");
  CHECK(MessageOf(CheckBinary(NodeKind::kFloorDiv, x, f)) == "'//' and '%' apply to integers, found 'float32'");
  const auto division = CheckBinary(NodeKind::kFloorMod, x, zero);
  CHECK(MessageOf(division) == "division by zero");
  CHECK(division->operand == zero);
  CHECK(MessageOf(CheckBinary(NodeKind::kAdd, t.Int(-1), t.Var(DataType::UInt(32)))) == "none");
  CHECK(MessageOf(CheckCast(DataType::Int(8), t.Int(300))) == "300 does not fit in 'int8'");
  CHECK(MessageOf(CheckCast(DataType::Int(8), t.Var(DataType::Int(8, 4)))) == "'int8x4' can't be converted to 'int8'");
  CHECK(MessageOf(CheckCast(DataType::Int(8), t.Var(DataType::Handle()))) == "a handle can't be converted to 'int8'");
  CHECK(MessageOf(CheckBroadcast(x, f)) == "a vector needs a scalar value and a constant number of lanes");
  CHECK(MessageOf(CheckRamp(x, x, t.Int(1))) ==
        "a ramp needs a scalar base and stride, and a constant number of lanes");
  CHECK(MessageOf(CheckBitwise(BitOp::kAnd, x, f)) == "bits and shifts need integers, found 'int32' and 'float32'");
  CHECK(MessageOf(CheckBitwise(BitOp::kShiftLeft, x, t.Int(32))) == "a shift of 'int32' by 32");
}

}  // namespace iropt::arith
