#include "iropt/eval/tir/prim_func.h"

#include <cmath>

#include "eval_test_util.h"
#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"

namespace iropt {

namespace {

using tir::Buffer;
using tir::Stmt;

// Makes PrimFuncs.
class Maker {
 public:
  const PrimExpr* Int(int64_t value, DataType dtype = DataType::Int(64)) {
    return workspace.New<tir::IntImm>(dtype, value);
  }
  const PrimExpr* Real(double value) { return workspace.New<tir::FloatImm>(DataType::Float(32), value); }
  const tir::Var* Var(std::string_view name, DataType dtype = DataType::Int(64)) {
    return workspace.NewPrimVar(name, dtype);
  }
  template <class X>
  const PrimExpr* Binary(const PrimExpr* a, const PrimExpr* b) {
    return workspace.New<X>(a, b);
  }
  const PrimExpr* Call(std::string_view op, DataType dtype, std::vector<const PrimExpr*> args) {
    return workspace.New<tir::Call>(dtype, GetOp(op), workspace.Copy(args));
  }

  const Buffer* MakeBuffer(std::string_view name, std::vector<const PrimExpr*> shape,
                           DataType dtype = DataType::Float(32)) {
    const tir::Var* data = workspace.NewPrimVar(name, DataType::Handle(), tir::PointerInfo::Get(dtype, "global"));
    return workspace.New<Buffer>(data, dtype, workspace.NextVarId(), workspace.Copy(shape), List<const PrimExpr*>(),
                                 Int(0), List<int64_t>(), name, 64, 1, tir::BufferType::kDefault);
  }
  const PrimExpr* Load(const Buffer* buffer, std::vector<const PrimExpr*> indices) {
    return workspace.New<tir::BufferLoad>(buffer->dtype, buffer, workspace.Copy(indices));
  }
  const Stmt* Store(const Buffer* buffer, const PrimExpr* value, std::vector<const PrimExpr*> indices) {
    return workspace.New<tir::BufferStore>(buffer, value, workspace.Copy(indices));
  }
  const Stmt* For(const tir::Var* var, const PrimExpr* extent, const Stmt* body) {
    return workspace.New<tir::For>(var, Int(0), extent, tir::ForKind::kSerial, body, nullptr, DictAttr::Empty());
  }
  const Stmt* Seq(std::vector<const Stmt*> statements) {
    return workspace.New<tir::SeqStmt>(workspace.Copy(statements));
  }

  const PrimFunc* Func(std::vector<const Buffer*> buffers, const Stmt* body,
                       std::vector<const tir::Var*> scalars = {}) {
    std::vector<const tir::Var*> params;
    for (const Buffer* buffer : buffers) params.push_back(workspace.NewPrimVar(buffer->name, DataType::Handle()));
    for (const tir::Var* scalar : scalars) {
      params.push_back(scalar);
      buffers.push_back(nullptr);
    }
    const DictAttr* attrs = DictAttr::Empty()->With(attr::kGlobalSymbol, StrAttr::Get("f"));
    return workspace.New<PrimFunc>(workspace.Copy(params), workspace.Copy(buffers), body,
                                   TupleType::Get(std::vector<const Type*>{}), attrs, nullptr);
  }

  Workspace workspace;
};

const DataType kF32 = DataType::Float(32);

std::vector<double> RunFunc(const PrimFunc* func, std::vector<HostValue> inputs, TensorSpec out,
                            std::vector<int64_t> tir_vars = {}) {
  const Result<std::vector<Tensor>> result = EvalPrimFunc(*func, inputs, std::span(&out, 1), tir_vars);
  INFO((result ? "" : result.error().message));
  REQUIRE(result.ok());
  return Elements(*(*result)[0]);
}

std::string ErrorOf(const PrimFunc* func, std::vector<HostValue> inputs, TensorSpec out,
                    const EvalLimits& limits = {}) {
  const Result<std::vector<Tensor>> result = EvalPrimFunc(*func, inputs, std::span(&out, 1), {}, limits);
  REQUIRE_FALSE(result.ok());
  return result.error().message;
}

}  // namespace

TEST_CASE("interpreter: symbolic shapes are taken from the arguments", "[eval]") {
  Maker m;
  const tir::Var* n = m.Var("n");
  const Buffer* a = m.MakeBuffer("A", {n, m.Int(2)});
  const Buffer* b = m.MakeBuffer("B", {m.Binary<tir::Mul>(n, m.Int(2))});
  const tir::Var* i = m.Var("i");
  const tir::Var* j = m.Var("j");
  const PrimExpr* flat = m.Binary<tir::Add>(m.Binary<tir::Mul>(i, m.Int(2)), j);
  const Stmt* body =
      m.For(i, n, m.For(j, m.Int(2), m.Store(b, m.Binary<tir::Add>(m.Load(a, {i, j}), m.Real(1)), {flat})));
  const PrimFunc* func = m.Func({a, b}, body);
  CHECK(RunFunc(func, {F32({3, 2}, Iota(6))}, {kF32, {6}}) == Iota(6, 1));
  CHECK_THAT(ErrorOf(func, {F32({3, 2}, Iota(6))}, {kF32, {5}}),
             Catch::Contains("f: ") && Catch::Contains("6 is expected"));
  CHECK_THAT(ErrorOf(func, {F32({3, 3}, Iota(9))}, {kF32, {9}}), Catch::Contains("2 is expected"));
  CHECK_THAT(ErrorOf(func, {I32({3, 2}, Iota(6))}, {kF32, {6}}), Catch::Contains("float32"));
  CHECK_THAT(ErrorOf(func, {}, {kF32, {6}}), Catch::Contains("2 parameters for 1 arguments"));
}

TEST_CASE("scalars: without memory and a module, nothing is loaded or called", "[eval]") {
  Maker m;
  const auto error = [](const PrimExpr* expr) {
    ScalarEvaluator evaluator;
    int64_t value = 0;
    CHECK_FALSE(evaluator.EvalInt(expr, &value));
    return evaluator.error().message;
  };
  CHECK(error(m.Load(m.MakeBuffer("A", {m.Int(2)}), {m.Int(0)})) == "buffers cannot be read here");
  const PrimExpr* call = m.workspace.New<tir::Call>(DataType::Int(32), GlobalVar::Get("g"), List<const PrimExpr*>());
  CHECK(error(call) == "the function 'g' cannot be called here");
}

TEST_CASE("interpreter: nested allocations are within twice the limit", "[eval]") {
  Maker m;
  const Buffer* b = m.MakeBuffer("B", {m.Int(1)});
  const Stmt* body = m.Store(b, m.Real(1), {m.Int(0)});
  for (const auto* name : {"inner", "middle", "outer"}) {
    const Buffer* own = m.MakeBuffer(name, {m.Int(20)});
    const std::vector<const PrimExpr*> extents = {m.Int(20)};
    body =
        m.workspace.New<tir::Allocate>(own->data, kF32, m.workspace.Copy(extents), m.Int(1), DictAttr::Empty(), body);
  }
  CHECK(ErrorOf(m.Func({b}, body), {}, {kF32, {1}}, {.max_bytes = 100}) ==
        "f: all buffers together are over 2 times the limit of 100 bytes");
}

TEST_CASE("interpreter: blocks initialize reductions, and skip iterations that their predicate excludes", "[eval]") {
  Maker m;
  const Buffer* a = m.MakeBuffer("A", {m.Int(2), m.Int(3)});
  const Buffer* b = m.MakeBuffer("B", {m.Int(2)});
  const tir::Var* i = m.Var("i");
  const tir::Var* k = m.Var("k");
  const tir::Var* vi = m.Var("vi");
  const tir::Var* vk = m.Var("vk");
  const auto axis = [&](const tir::Var* var, int64_t extent, tir::IterVarType type) {
    return static_cast<const tir::IterVar*>(
        m.workspace.New<tir::IterVar>(m.workspace.New<tir::Range>(m.Int(0), m.Int(extent)), var, type));
  };
  const std::vector<const tir::IterVar*> axes = {axis(vi, 2, tir::IterVarType::kDataPar),
                                                 axis(vk, 3, tir::IterVarType::kCommReduce)};
  const Stmt* init = m.Store(b, m.Real(100), {vi});
  const Stmt* update = m.Store(b, m.Binary<tir::Add>(m.Load(b, {vi}), m.Load(a, {vi, vk})), {vi});
  const auto* block = m.workspace.New<tir::Block>(
      m.workspace.Copy(axes), List<const tir::BufferRegion*>(), List<const tir::BufferRegion*>(), "sum",
      List<const Buffer*>(), List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), init, update);
  const std::vector<const PrimExpr*> values = {i, k};
  // The last element of the second row is left out.
  const PrimExpr* predicate = m.Binary<tir::LT>(m.Binary<tir::Add>(i, k), m.Int(3));
  const Stmt* realize = m.workspace.New<tir::BlockRealize>(m.workspace.Copy(values), predicate, block);
  const PrimFunc* func = m.Func({a, b}, m.For(i, m.Int(2), m.For(k, m.Int(3), realize)));
  CHECK(RunFunc(func, {F32({2, 3}, {1, 2, 3, 4, 5, 6})}, {kF32, {2}}) == std::vector<double>{106, 109});
}

TEST_CASE("interpreter: allocations, lets, conditions, loops with conditions", "[eval]") {
  Maker m;
  const Buffer* out = m.MakeBuffer("out", {m.Int(4)}, DataType::Int(32));
  const tir::Var* data =
      m.workspace.NewPrimVar("scratch", DataType::Handle(), tir::PointerInfo::Get(DataType::Int(32), "global"));
  const Buffer* scratch = m.workspace.New<Buffer>(
      data, DataType::Int(32), m.workspace.NextVarId(), m.workspace.Copy(std::vector<const PrimExpr*>{m.Int(1)}),
      List<const PrimExpr*>(), m.Int(0), List<int64_t>(), "scratch", 64, 1, tir::BufferType::kDefault);
  const tir::Var* i = m.Var("i", DataType::Int(32));
  const tir::Var* square = m.Var("square", DataType::Int(32));
  const DataType i32 = DataType::Int(32);
  const PrimExpr* zero = m.Int(0);
  // while scratch[0] < i * i: scratch[0] += 2
  const Stmt* grow =
      m.workspace.New<tir::While>(m.Binary<tir::LT>(m.Load(scratch, {zero}), square),
                                  m.Store(scratch, m.Binary<tir::Add>(m.Load(scratch, {zero}), m.Int(2, i32)), {zero}));
  const Stmt* odd = m.Store(out, m.Load(scratch, {zero}), {i});
  const Stmt* even = m.Store(out, m.Int(-1, i32), {i});
  const PrimExpr* is_odd = m.Binary<tir::EQ>(m.Binary<tir::FloorMod>(i, m.Int(2, i32)), m.Int(1, i32));
  const Stmt* choose = m.workspace.New<tir::IfThenElse>(is_odd, odd, even);
  const Stmt* start = m.Store(scratch, m.Int(0, i32), {zero});
  const Stmt* let = m.workspace.New<tir::LetStmt>(square, m.Binary<tir::Mul>(i, i), m.Seq({start, grow, choose}));
  const Stmt* allocate =
      m.workspace.New<tir::Allocate>(data, i32, m.workspace.Copy(std::vector<const PrimExpr*>{m.Int(1)}),
                                     m.Int(1, DataType::Bool()), DictAttr::Empty(), let);
  const PrimFunc* func = m.Func({out}, m.For(i, m.Int(4, i32), allocate));
  CHECK(RunFunc(func, {}, {i32, {4}}) == std::vector<double>{-1, 2, -1, 10});
}

TEST_CASE("interpreter: scalars and integers as arguments", "[eval]") {
  Maker m;
  const Buffer* out = m.MakeBuffer("out", {m.Int(2)}, DataType::Int(64));
  const tir::Var* n = m.Var("n");
  const tir::Var* k = m.Var("k");
  const Stmt* body = m.Seq({m.Store(out, n, {m.Int(0)}), m.Store(out, m.Binary<tir::FloorDiv>(n, k), {m.Int(1)})});
  const PrimFunc* func = m.Func({out}, body, {n, k});
  CHECK(RunFunc(func, {}, {DataType::Int(64), {2}}, {-7, 2}) == std::vector<double>{-7, -4});
}

TEST_CASE("interpreter: vectors are stored lane by lane", "[eval]") {
  Maker m;
  const Buffer* a = m.MakeBuffer("A", {m.Int(8)});
  const Buffer* b = m.MakeBuffer("B", {m.Int(8)});
  const DataType i64x4 = DataType::Int(64, 4);
  const PrimExpr* evens = m.workspace.New<tir::Ramp>(i64x4, m.Int(0), m.Int(2), m.Int(4));
  const PrimExpr* two = m.workspace.New<tir::Broadcast>(DataType::Float(32, 4), m.Real(2), m.Int(4));
  const PrimExpr* load = m.workspace.New<tir::BufferLoad>(DataType::Float(32, 4), a,
                                                          m.workspace.Copy(std::vector<const PrimExpr*>{evens}));
  const tir::Var* i = m.Var("i");
  const Stmt* fill = m.For(i, m.Int(8), m.Store(b, m.Real(-1), {i}));
  const PrimFunc* func = m.Func({a, b}, m.Seq({fill, m.Store(b, m.Binary<tir::Mul>(load, two), {evens})}));
  CHECK(RunFunc(func, {F32({8}, Iota(8))}, {kF32, {8}}) == std::vector<double>{0, -1, 4, -1, 8, -1, 12, -1});
}

TEST_CASE("interpreter: unwritten elements cannot be read, and results must be complete", "[eval]") {
  Maker m;
  const Buffer* b = m.MakeBuffer("B", {m.Int(2)});
  const tir::Var* i = m.Var("i");
  const TensorSpec out{kF32, {2}};
  CHECK_THAT(ErrorOf(m.Func({b}, m.Store(b, m.Load(b, {m.Int(1)}), {m.Int(0)})), {}, out),
             Catch::Contains("'B' is read before it is initialized"));
  CHECK_THAT(ErrorOf(m.Func({b}, m.Store(b, m.Real(1), {m.Int(0)})), {}, out),
             Catch::Contains("leaves elements of result 0 without a value"));
  // Statements after T.ret do not run.
  const Stmt* ret = m.workspace.New<tir::Evaluate>(m.Call("tir.ret", DataType::Int(32), {m.Int(0, DataType::Int(32))}));
  const Stmt* fill = m.For(i, m.Int(2), m.Store(b, m.Real(3), {i}));
  CHECK(RunFunc(m.Func({b}, m.Seq({fill, ret, m.Store(b, m.Real(4), {m.Int(0)})})), {}, out) ==
        std::vector<double>{3, 3});
}

TEST_CASE("interpreter: vectors in variables, buffers of vectors, parts of vectors", "[eval]") {
  Maker m;
  const DataType f32x4 = DataType::Float(32, 4);
  const Buffer* a = m.MakeBuffer("A", {m.Int(8)});
  const Buffer* b = m.MakeBuffer("B", {m.Int(8)});
  const auto ramp = [&](int64_t base, int64_t stride, int lanes) -> const PrimExpr* {
    return m.workspace.New<tir::Ramp>(DataType::Int(64, lanes), m.Int(base), m.Int(stride), m.Int(lanes));
  };
  const auto load = [&](const PrimExpr* index) -> const PrimExpr* {
    return m.workspace.New<tir::BufferLoad>(DataType::Float(32, index->dtype.lanes), a,
                                            m.workspace.Copy(std::vector<const PrimExpr*>{index}));
  };
  const HostValue x = F32({8}, Iota(8));
  const TensorSpec out{kF32, {8}};
  const tir::Var* v = m.Var("v", f32x4);
  const Stmt* twice = m.Seq({m.Store(b, m.Binary<tir::Add>(v, v), {ramp(0, 1, 4)}), m.Store(b, v, {ramp(7, -1, 4)})});
  const PrimFunc* lets = m.Func({a, b}, m.workspace.New<tir::LetStmt>(v, load(ramp(2, 1, 4)), twice));
  CHECK(RunFunc(lets, {x}, out) == std::vector<double>{4, 6, 8, 10, 5, 4, 3, 2});
  // The upper half before the lower.
  const DataType f32x8 = DataType::Float(32, 8);
  const PrimExpr* all = load(ramp(0, 1, 8));
  const PrimExpr* turned = m.Call("tir.vectorcombine", f32x8,
                                  {m.Call("tir.vectorhigh", f32x4, {all}), m.Call("tir.vectorlow", f32x4, {all})});
  CHECK(RunFunc(m.Func({a, b}, m.Store(b, turned, {ramp(0, 1, 8)})), {x}, out) ==
        std::vector<double>{4, 5, 6, 7, 0, 1, 2, 3});
  const std::vector<const PrimExpr*> vectors{load(ramp(0, 1, 4)), load(ramp(4, 1, 4))};
  std::vector<const PrimExpr*> lanes;
  for (const int lane : {7, 0, 6, 1, 5, 2, 4, 3}) lanes.push_back(m.Int(lane));
  const PrimExpr* shuffled = m.workspace.New<tir::Shuffle>(f32x8, m.workspace.Copy(vectors), m.workspace.Copy(lanes));
  CHECK(RunFunc(m.Func({a, b}, m.Store(b, shuffled, {ramp(0, 1, 8)})), {x}, out) ==
        std::vector<double>{7, 0, 6, 1, 5, 2, 4, 3});
  lanes[0] = m.Int(8);
  const PrimExpr* wrong = m.workspace.New<tir::Shuffle>(f32x8, m.workspace.Copy(vectors), m.workspace.Copy(lanes));
  CHECK_THAT(ErrorOf(m.Func({a, b}, m.Store(b, wrong, {ramp(0, 1, 8)})), {x}, out), Catch::Contains("out of range"));
}

TEST_CASE("interpreter: invalid operations and exceeded limits are errors", "[eval]") {
  Maker m;
  const Buffer* a = m.MakeBuffer("A", {m.Int(2)});
  const Buffer* b = m.MakeBuffer("B", {m.Int(2)});
  const tir::Var* i = m.Var("i");
  const HostValue x = F32({2}, {1, 2});
  const TensorSpec out{kF32, {2}};
  CHECK_THAT(ErrorOf(m.Func({a, b}, m.Store(b, m.Load(a, {m.Int(2)}), {m.Int(0)})), {x}, out),
             Catch::Contains("index 2 is out of range"));
  CHECK_THAT(ErrorOf(m.Func({a, b}, m.Store(b, m.Real(0), {m.Int(-1)})), {x}, out),
             Catch::Contains("index -1 is out of range"));
  CHECK_THAT(ErrorOf(m.Func({a, b}, m.Store(a, m.Real(0), {m.Int(0)})), {x}, out),
             Catch::Contains("must not be written"));
  CHECK_THAT(ErrorOf(m.Func({a, b}, m.Store(b, m.Real(0), {i})), {x}, out), Catch::Contains("'i' has no value"));
  const PrimExpr* quotient = m.Binary<tir::FloorDiv>(m.Int(1), m.Int(0));
  CHECK_THAT(ErrorOf(m.Func({a, b}, m.Store(b, m.Real(0), {quotient})), {x}, out), Catch::Contains("undefined"));
  const Stmt* call = m.workspace.New<tir::Evaluate>(m.Call("tir.call_extern", DataType::Int(32), {m.Int(0)}));
  CHECK_THAT(ErrorOf(m.Func({a, b}, call), {x}, out), Catch::Contains("tir.call_extern"));
  const Stmt* forever = m.workspace.New<tir::While>(m.Int(1, DataType::Bool()), m.Store(b, m.Real(0), {m.Int(0)}));
  CHECK_THAT(ErrorOf(m.Func({a, b}, forever), {x}, out, {.max_work = 1000}), Catch::Contains("more than 1000 steps"));
  const Stmt* assertion =
      m.workspace.New<tir::AssertStmt>(m.Int(0, DataType::Bool()), m.workspace.New<tir::StringImm>("broken"), call);
  CHECK_THAT(ErrorOf(m.Func({a, b}, assertion), {x}, out), Catch::Contains("broken"));
}

TEST_CASE("scalars: arithmetic, intrinsics and casts keep to their dtype", "[eval]") {
  Maker m;
  ScalarEvaluator evaluator;
  const auto value = [&](const PrimExpr* expr) {
    Scalar result;
    INFO(evaluator.error().message);
    REQUIRE(evaluator.Eval(expr, &result));
    return result.ToDouble();
  };
  const DataType i8 = DataType::Int(8);
  CHECK(value(m.Binary<tir::Add>(m.Int(127, i8), m.Int(1, i8))) == -128);
  CHECK(value(m.Binary<tir::Mul>(m.Int(200, DataType::UInt(8)), m.Int(2, DataType::UInt(8)))) == 144);
  CHECK(value(m.Binary<tir::Div>(m.Int(-7), m.Int(2))) == -3);
  CHECK(value(m.Binary<tir::Mod>(m.Int(-7), m.Int(2))) == -1);
  CHECK(value(m.Binary<tir::FloorMod>(m.Int(-7), m.Int(2))) == 1);
  CHECK(value(m.Binary<tir::Add>(m.Real(16777216), m.Real(1))) == 16777216);
  CHECK(value(m.Call("tir.sqrt", kF32, {m.Real(2)})) == static_cast<double>(std::sqrt(2.0F)));
  CHECK(value(m.Call("tir.shift_left", DataType::Int(32),
                     {m.Int(3, DataType::Int(32)), m.Int(30, DataType::Int(32))})) == -1073741824.0);
  CHECK(value(m.Call("tir.clz", DataType::Int(32), {m.Int(1, DataType::Int(32))})) == 31);
  CHECK(value(m.Call("tir.popcount", DataType::Int(8), {m.Int(-1, i8)})) == 8);
  CHECK(value(m.Call("tir.reinterpret", DataType::Int(32), {m.Real(1)})) == 0x3f800000);
  CHECK(value(m.Call("tir.large_uint_imm", DataType::UInt(64), {m.Int(0xffffffff), m.Int(0xffffffff)})) ==
        18446744073709551616.0);
  CHECK(value(m.workspace.New<tir::Cast>(i8, m.Int(300))) == 44);
  CHECK(value(m.workspace.New<tir::Cast>(DataType::Float(16), m.Int(2049))) == 2048);
  // The branch that is not taken is not computed.
  const PrimExpr* broken = m.Binary<tir::FloorDiv>(m.Int(1), m.Int(0));
  const PrimExpr* no = m.Int(0, DataType::Bool());
  CHECK(value(m.workspace.New<tir::Select>(no, broken, m.Int(5))) == 5);
  CHECK(value(m.Call("tir.if_then_else", DataType::Int(64), {no, broken, m.Int(6)})) == 6);
  CHECK(value(m.Binary<tir::And>(no, m.Binary<tir::EQ>(broken, m.Int(0)))) == 0);
  const tir::Var* x = m.Var("x");
  CHECK(value(m.workspace.New<tir::Let>(x, m.Int(4), m.Binary<tir::Mul>(x, x))) == 16);
  Scalar ignored;
  CHECK_FALSE(evaluator.Eval(m.workspace.New<tir::Cast>(i8, m.Real(1e9)), &ignored));
}

TEST_CASE("interpreter: nesting of any depth", "[eval]") {
  Maker m;
  const Buffer* out = m.MakeBuffer("out", {m.Int(1)}, DataType::Int(64));
  const PrimExpr* sum = m.Int(0);
  for (int i = 0; i < 200000; ++i) sum = m.Binary<tir::Add>(sum, m.Int(1));
  const Stmt* body = m.Store(out, sum, {m.Int(0)});
  for (int i = 0; i < 200000; ++i) body = m.workspace.New<tir::IfThenElse>(m.Int(1, DataType::Bool()), body, nullptr);
  CHECK(RunFunc(m.Func({out}, body), {}, {DataType::Int(64), {1}}) == std::vector<double>{200000});
}

TEST_CASE("scalars: products of fixed-point numbers", "[eval]") {
  Maker m;
  const DataType i32 = DataType::Int(32);
  const auto shifted = [&](int64_t x, int64_t y, int64_t q, int64_t s) {
    ScalarEvaluator evaluator;
    Scalar result;
    const bool done = evaluator.Eval(
        m.Call("tir.q_multiply_shift", i32, {m.Int(x, i32), m.Int(y, i32), m.Int(q, i32), m.Int(s, i32)}), &result);
    return done ? result.ToDouble() : NAN;
  };
  // x * y / 2^31 * 2^s, halves rounded up.
  for (const int64_t x : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{5}, int64_t{-5}, int64_t{100003},
                          int64_t{-77777}, int64_t{INT32_MAX}, int64_t{INT32_MIN}}) {
    for (const int64_t y : {int64_t{1} << 30, int64_t{1} << 29, int64_t{1395864371}, int64_t{INT32_MAX}}) {
      for (const int64_t s : {-7, -1, 0}) {
        const long double exact = static_cast<long double>(x) * static_cast<long double>(y) * std::exp2l(s - 31.0L);
        CHECK(shifted(x, y, 31, s) == static_cast<double>(std::floor(exact + 0.5L)));
      }
    }
  }
  CHECK(shifted(3, int64_t{1} << 30, 31, 1) == 3);
  CHECK(shifted(3, int64_t{1} << 30, 31, 4) == 24);
  CHECK(std::isnan(shifted(1, 1, 0, 0)));
  CHECK(std::isnan(shifted(1, 1, 31, -64)));
  const auto per_axis = [&](int64_t x, int64_t left, int64_t right, int64_t is_left) {
    ScalarEvaluator evaluator;
    Scalar result;
    std::vector<const PrimExpr*> args;
    for (const int64_t arg : {x, int64_t{1} << 30, left, right, int64_t{31}, is_left, int64_t{1}})
      args.push_back(m.Int(arg, i32));
    REQUIRE(evaluator.Eval(m.Call("tir.q_multiply_shift_per_axis", i32, args), &result));
    return result.ToDouble();
  };
  CHECK(per_axis(10, 2, 0, 1) == 20);
  CHECK(per_axis(10, 2, 0, 0) == 5);
  CHECK(per_axis(11, 0, 1, 0) == 3);  // 2.75
}

TEST_CASE("scalars: reductions with a combiner", "[eval]") {
  Maker m;
  const DataType i64 = DataType::Int(64);
  const tir::Var* k = m.Var("k");
  // The greatest of (k - 3)^2 for k from 1 to 5, and its first index.
  const tir::Var* vars[] = {m.Var("l0"), m.Var("l1"), m.Var("r0"), m.Var("r1")};
  const auto pick = [&](const PrimExpr* a, const PrimExpr* b) -> const PrimExpr* {
    return m.workspace.New<tir::Select>(m.Binary<tir::GE>(vars[0], vars[2]), a, b);
  };
  const std::vector<const tir::Var*> lhs{vars[0], vars[1]};
  const std::vector<const tir::Var*> rhs{vars[2], vars[3]};
  const std::vector<const PrimExpr*> results{pick(vars[0], vars[2]), pick(vars[1], vars[3])};
  const std::vector<const PrimExpr*> identity{m.Int(INT64_MIN), m.Int(-1)};
  const auto* combiner = m.workspace.New<tir::CommReducer>(m.workspace.Copy(lhs), m.workspace.Copy(rhs),
                                                           m.workspace.Copy(results), m.workspace.Copy(identity));
  const PrimExpr* distance = m.Binary<tir::Sub>(k, m.Int(3));
  const std::vector<const PrimExpr*> source{m.Binary<tir::Mul>(distance, distance), k};
  const std::vector<const tir::IterVar*> axis{
      m.workspace.New<tir::IterVar>(m.workspace.New<tir::Range>(m.Int(1), m.Int(5)), k, tir::IterVarType::kCommReduce)};
  const auto reduce = [&](int32_t index, const PrimExpr* condition) {
    ScalarEvaluator evaluator;
    int64_t value = 0;
    REQUIRE(
        evaluator.EvalInt(m.workspace.New<tir::Reduce>(i64, combiner, m.workspace.Copy(source), List<const PrimExpr*>(),
                                                       m.workspace.Copy(axis), condition, index),
                          &value));
    return value;
  };
  const PrimExpr* yes = m.Int(1, DataType::Bool());
  CHECK(reduce(0, yes) == 4);
  CHECK(reduce(1, yes) == 1);
  CHECK(reduce(1, m.Binary<tir::NE>(k, m.Int(1))) == 5);
  CHECK(reduce(1, m.Int(0, DataType::Bool())) == -1);
}

TEST_CASE("interpreter: buffers of which only bounds have memory, and undefined values", "[eval]") {
  Maker m;
  const Buffer* b = m.MakeBuffer("B", {m.Int(2)});
  const Buffer* part = m.MakeBuffer("P", {m.Int(10), m.Int(10)});
  const TensorSpec out{kF32, {2}};
  const auto run = [&](const Stmt* body) {
    const std::vector<const tir::Range*> bounds{m.workspace.New<tir::Range>(m.Int(4), m.Int(2)),
                                                m.workspace.New<tir::Range>(m.Int(7), m.Int(3))};
    return m.Func(
        {b}, m.workspace.New<tir::BufferRealize>(part, m.workspace.Copy(bounds), m.Int(1, DataType::Bool()), body));
  };
  const auto store = [&](int64_t i, int64_t j) { return m.Store(part, m.Real(3), {m.Int(i), m.Int(j)}); };
  const Stmt* use =
      m.Seq({m.Store(b, m.Load(part, {m.Int(5), m.Int(9)}), {m.Int(0)}), m.Store(b, m.Real(1), {m.Int(1)})});
  CHECK(RunFunc(run(m.Seq({store(4, 7), store(5, 9), use})), {}, out) == std::vector<double>{3, 1});
  CHECK_THAT(ErrorOf(run(store(3, 8)), {}, out), Catch::Contains("index 3 is out of range"));
  CHECK_THAT(ErrorOf(run(store(5, 6)), {}, out), Catch::Contains("index 6 is out of range"));
  CHECK_THAT(ErrorOf(run(store(4, 10)), {}, out), Catch::Contains("index 10 is out of range"));
  // T.undef() removes a value.
  const PrimExpr* undef = m.Call("tir.undef", kF32, {});
  const Stmt* forget = m.Seq({m.Store(b, m.Real(1), {m.Int(0)}), m.Store(b, undef, {m.Int(0)})});
  CHECK_THAT(ErrorOf(m.Func({b}, m.Seq({forget, m.Store(b, m.Load(b, {m.Int(0)}), {m.Int(1)})})), {}, out),
             Catch::Contains("read before it is initialized"));
  CHECK_THAT(ErrorOf(m.Func({b}, m.Store(b, m.Binary<tir::Add>(undef, undef), {m.Int(0)})), {}, out),
             Catch::Contains("T.undef()"));
}

// Calls of the runtime, of code outside of the module, or of units of accelerators.
const std::set<std::string_view> kRefused = {
    "ComposeLayout", "TVMBackendAllocWorkspace", "TVMBackendAnyListMoveFromPackedReturn",
    "TVMBackendAnyListSetPackedArg", "TVMBackendFreeWorkspace", "TileLayout", "anylist_getitem", "anylist_resetitem",
    "anylist_setitem_call_cpacked", "anylist_setitem_call_packed", "assert_message", "buffer_arg", "buffer_offset",
    "call_extern", "call_llvm_intrin", "call_llvm_pure_intrin", "call_pure_extern", "call_spirv_pure_glsl450",
    "cooperative_tensor_fill", "cooperative_tensor_load", "cooperative_tensor_multiply_accumulate",
    "cooperative_tensor_store", "create_barriers", "default_layout", "device_call", "dict_arg", "dma_copy",
    "dma_end_group", "dma_start_group", "dma_wait", "filter", "handle_add_byte_offset", "keyword_arg", "lambda_arg",
    "layout_iter", "list_arg", "lookup_param", "make_filled_simdgroup_matrix", "mma_fill", "mma_fill_legacy",
    "mma_store", "mma_store_legacy", "nd_mem_alloc_with_scope", "none_arg", "preferred_extent", "print_buffer",
    "ptr_byte_offset", "ptx_arrive_barrier", "ptx_arrive_barrier_expect_tx", "ptx_commit_group", "ptx_cp_async",
    "ptx_cp_async_barrier", "ptx_cp_async_bulk", "ptx_init_barrier_thread_count", "ptx_ldg32", "ptx_ldmatrix",
    "ptx_mma", "ptx_mma_sp", "ptx_wait_barrier", "ptx_wait_group", "pure_device_call", "region_arg",
    "s_tir.cp_async_raw", "s_tir.ldg32", "selector", "simdgroup_load", "simdgroup_multiply_accumulate",
    "simdgroup_store", "texture2d_load", "texture2d_store", "thread_return", "tile_call", "timer_end_cuda",
    "timer_finalize_cuda", "timer_init_cuda", "timer_start_cuda", "tvm_bmma_sync", "tvm_call_cpacked",
    "tvm_call_cpacked_lowered", "tvm_call_packed_lowered", "tvm_call_trace_packed", "tvm_call_trace_packed_lowered",
    "tvm_check_return", "tvm_context_id", "tvm_fill_fragment", "tvm_global_barrier_kinit", "tvm_kernel_replace_point",
    "tvm_load_matrix_sync", "tvm_mma_sync", "tvm_stack_alloca", "tvm_static_handle", "tvm_store_matrix_sync",
    "tvm_struct_set", "tvm_thread_context", "tvm_throw_last_error", "tvm_warp_activemask", "tvm_warp_shuffle",
    "tvm_warp_shuffle_down", "tvm_warp_shuffle_up", "tvm_warp_shuffle_xor",
    // The first has a value only within tvm_access_ptr; the second depends on the processor.
    "type_annotation", "vscale"};
// These need special operands and are tested elsewhere, here and with FoldConstant.
const std::set<std::string_view> kTestedElsewhere = {"address_of",
                                                     "assume",
                                                     "attributed_call",
                                                     "atomic_add",
                                                     "break_loop",
                                                     "continue_loop",
                                                     "dp4a",
                                                     "get_active_lane_mask",
                                                     "if_then_else",
                                                     "q_multiply_shift",
                                                     "q_multiply_shift_per_axis",
                                                     "ret",
                                                     "tvm_access_ptr",
                                                     "tvm_call_packed",
                                                     "tvm_stack_make_array",
                                                     "tvm_stack_make_shape",
                                                     "tvm_struct_get",
                                                     "tvm_thread_allreduce",
                                                     "undef",
                                                     "vectorcombine",
                                                     "vectorhigh",
                                                     "vectorlow"};

TEST_CASE("interpreter: every intrinsic is evaluated, or refused by its name", "[eval]") {
  Maker m;
  const Buffer* b = m.MakeBuffer("B", {m.Int(1)});
  size_t intrinsics = 0;
  for (const OpInfo& info : AllOps()) {
    if (!info.intrinsic) continue;
    ++intrinsics;
    const std::string_view name = std::string_view(info.name).substr(4);
    INFO(name);
    const size_t arity = static_cast<size_t>(std::max<int>(info.intrinsic->num_args, 0));
    const auto run = [&](const PrimExpr* arg) {
      const Stmt* call = m.workspace.New<tir::Evaluate>(m.Call(info.name, arg->dtype, std::vector(arity, arg)));
      const PrimFunc* func = m.Func({b}, m.Seq({call, m.Store(b, m.Real(1), {m.Int(0)})}));
      const TensorSpec out{kF32, {1}};
      const Result<std::vector<Tensor>> result = EvalPrimFunc(*func, {}, std::span(&out, 1));
      return result ? std::string() : result.error().message;
    };
    CHECK(IsEvaluated(info) == !kRefused.contains(name));
    if (kRefused.contains(name)) {
      CHECK_THAT(run(m.Int(1)), Catch::Contains("cannot evaluate the intrinsic tir." + std::string(name)));
    } else if (!kTestedElsewhere.contains(name)) {
      CHECK((run(m.Real(1)).empty() || run(m.Int(1)).empty()));
    }
  }
  CHECK(intrinsics > kRefused.size() + kTestedElsewhere.size());
}

}  // namespace iropt
