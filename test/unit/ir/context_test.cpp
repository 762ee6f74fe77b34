#include "iropt/ir/context.h"

#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "iropt/ir/module.h"
#include "iropt/support/parallel.h"

namespace iropt {
namespace {

const PrimExpr* Int(int64_t value) { return IRContext::Current().Int(value); }

const PrimExpr* AddOf(const PrimExpr* a, const PrimExpr* b) {
  const tir::Add add(a, b);
  return IRContext::Current().Intern(&add);
}

TEST_CASE("equal types are the same pointer", "[ir]") {
  const std::vector<const PrimExpr*> dims{Int(2), Int(100000)};
  CHECK(TensorType::Get(dims, DataType::Float(32)) == TensorType::Get(dims, DataType::Float(32)));
  CHECK(TensorType::Get(dims, DataType::Float(32)) != TensorType::Get(dims, DataType::Float(16)));
  CHECK(TensorType::Get(2, DataType::Float(32)) != TensorType::Get(dims, DataType::Float(32)));
  // A scalar's shape is known and empty, which is not the same as unknown.
  CHECK(TensorType::Get(std::span<const PrimExpr* const>(), DataType::Float(32)) !=
        TensorType::Get(0, DataType::Float(32)));
  const std::vector<const Type*> fields{TensorType::Get(dims, DataType::Float(32)), ObjectType::Get()};
  CHECK(TupleType::Get(fields) == TupleType::Get(fields));
  CHECK(FuncType::Get(fields, ObjectType::Get()) != FuncType::Get(fields, ObjectType::Get(), false));
  CHECK(PrimType::Get(DataType::Int(64)) != PrimType::Get(Int(3)));
}

TEST_CASE("types have dense ids and know whether they are symbolic", "[ir]") {
  IRContext context;
  const IRContext::Scope scope(context);
  const PrimExpr* n = context.NewSymVar("n");
  const auto* plain = TensorType::Get(std::vector{Int(3)}, DataType::Float(32));
  const auto* symbolic = TensorType::Get(std::vector{AddOf(n, Int(1))}, DataType::Float(32));
  const auto* tuple = TupleType::Get(std::vector<const Type*>{plain, symbolic});
  CHECK(plain->id == 1);
  CHECK(symbolic->id == 2);
  CHECK(tuple->id == 3);
  CHECK_FALSE(plain->has_sym_var());
  CHECK(symbolic->has_sym_var());
  CHECK(tuple->has_sym_var());
}

TEST_CASE("expressions in shapes are canonical", "[ir]") {
  IRContext& context = IRContext::Current();
  const PrimExpr* n = context.NewSymVar("n");
  const PrimExpr* m = context.NewSymVar("n");
  CHECK(n != m);
  CHECK(AddOf(n, Int(1)) == AddOf(n, Int(1)));
  CHECK(AddOf(n, Int(1)) != AddOf(m, Int(1)));
  CHECK(AddOf(n, Int(1))->has_sym_var());
  CHECK(context.Intern(AddOf(n, m)) == AddOf(n, m));
  // Built from nodes that are not canonical.
  const tir::IntImm one(DataType::Int(64), 1);
  const tir::Add inner(n, &one);
  const tir::Mul outer(&inner, &inner);
  const auto* product = To<tir::Mul>(context.Intern(&outer));
  CHECK(product->a == AddOf(n, Int(1)));
  CHECK(product->a == product->b);
}

TEST_CASE("integers of any size and dtype are canonical", "[ir]") {
  IRContext& context = IRContext::Current();
  for (const int64_t value :
       {int64_t{0}, int64_t{-128}, int64_t{-129}, int64_t{1023}, int64_t{1024}, INT64_MIN, INT64_MAX}) {
    CHECK(context.Int(value)->value == value);
    CHECK(context.Int(value) == context.Int(value));
    CHECK(context.Int(value, DataType::Int(32)) != context.Int(value));
    const tir::IntImm copy(DataType::Int(64), value);
    CHECK(context.Intern(&copy) == context.Int(value));
  }
  CHECK(context.Int(1, DataType::Bool())->dtype.is_bool());
}

TEST_CASE("floating point values are told apart by their bits", "[ir]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(FloatAttr::Get(0.0) != FloatAttr::Get(-0.0));
  CHECK(FloatAttr::Get(nan) == FloatAttr::Get(nan));
  CHECK(std::signbit(FloatAttr::Get(-0.0)->value));
  const tir::FloatImm minus(DataType::Float(32), -0.0);
  const tir::FloatImm plus(DataType::Float(32), 0.0);
  CHECK(IRContext::Current().Intern(&minus) != IRContext::Current().Intern(&plus));
}

TEST_CASE("an expression with shared nodes is interned in linear time", "[ir]") {
  Arena arena;
  const PrimExpr* expr = IRContext::Current().NewSymVar("n");
  const PrimExpr* leaf = expr;
  for (int i = 0; i < 100; ++i) expr = arena.New<tir::Add>(expr, expr);
  REQUIRE(IRContext::CanIntern(expr));
  const PrimExpr* interned = IRContext::Current().Intern(expr);
  for (int i = 0; i < 100; ++i) interned = To<tir::Add>(interned)->a;
  CHECK(interned == leaf);
}

TEST_CASE("an expression of any depth is interned", "[ir]") {
  Arena arena;
  const PrimExpr* expr = IRContext::Current().NewSymVar("n");
  for (int i = 0; i < 100000; ++i) expr = arena.New<tir::Add>(expr, Int(1));
  REQUIRE(IRContext::CanIntern(expr));
  CHECK(IRContext::Current().Intern(expr) == IRContext::Current().Intern(expr));
}

TEST_CASE("nodes that a function owns cannot be interned", "[ir]") {
  Workspace workspace;
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const PrimExpr* sum = workspace.New<tir::Add>(i, IRContext::Current().Int(1, DataType::Int(32)));
  CHECK_FALSE(IRContext::CanIntern(i));
  CHECK_FALSE(IRContext::CanIntern(sum));
}

TEST_CASE("names of functions are interned and can be looked up", "[ir]") {
  IRContext context;
  const IRContext::Scope scope(context);
  CHECK(context.FindGlobalVar("main") == nullptr);
  const GlobalVar* main = GlobalVar::Get("main");
  CHECK(GlobalVar::Get(std::string("main")) == main);
  CHECK(context.FindGlobalVar("main") == main);
  CHECK(main->id == 0);
  CHECK(GlobalVar::Get("other")->id == 1);
}

TEST_CASE("pointer types are interned", "[ir]") {
  CHECK(tir::PointerInfo::Get(DataType::Float(32), "global") == tir::PointerInfo::Get(DataType::Float(32), "global"));
  CHECK(tir::PointerInfo::Get(DataType::Float(32), "global") != tir::PointerInfo::Get(DataType::Float(32)));
}

TEST_CASE("contexts are apart and scopes nest", "[ir]") {
  IRContext& outer = IRContext::Current();
  const Type* in_outer = ShapeType::Get(3);
  {
    IRContext inner;
    const IRContext::Scope scope(inner);
    CHECK(&IRContext::Current() == &inner);
    CHECK(ShapeType::Get(3) != in_outer);
  }
  CHECK(&IRContext::Current() == &outer);
  CHECK(ShapeType::Get(3) == in_outer);
}

TEST_CASE("workers of a parallel loop use the context of its caller", "[ir]") {
  IRContext context;
  const IRContext::Scope scope(context);
  std::vector<const Type*> types(64);
  ParallelFor(types.size(), 4, [&](size_t i) { types[i] = ShapeType::Get(static_cast<int>(i % 8)); });
  for (size_t i = 0; i < types.size(); ++i) CHECK(types[i] == ShapeType::Get(static_cast<int>(i % 8)));
}

TEST_CASE("many threads intern the same things", "[ir]") {
  IRContext context;
  constexpr int kThreads = 8;
  constexpr int kTypes = 3000;
  std::vector<std::vector<const Type*>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&context, &mine = seen[static_cast<size_t>(t)]] {
      const IRContext::Scope scope(context);
      for (int i = 0; i < kTypes; ++i) {
        const std::vector<const PrimExpr*> dims{context.Int(i), context.Int(i + 5000)};
        mine.push_back(TensorType::Get(dims, DataType::Float(32)));
        GlobalVar::Get(std::string("f").append(std::to_string(i)));
        DictAttr::Get(std::vector<DictAttr::Entry>{{std::string("key").append(std::to_string(i)), IntAttr::Get(i)}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : seen) CHECK(mine == seen[0]);
  const IRContext::Scope scope(context);
  CHECK(ObjectType::Get()->id == kTypes + 1);
}

}  // namespace
}  // namespace iropt
