// Use counts, free variables and purity.
#include "../catch.h"
#include "graph_maker.h"
#include "iropt/analysis/relax/free_vars.h"
#include "iropt/analysis/relax/purity.h"
#include "iropt/analysis/relax/use_count.h"
#include "iropt/infer/call_binding.h"
#include "iropt/ir/tir/expr.h"

using namespace iropt;

TEST_CASE("use counts by variable number", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* y = m.NewVar("y", t);
  const Var* z = m.NewVar("z", t);
  const Var* p = m.NewVar("p", t);
  const Function* inner = m.MakeFunction({p}, m.Seq({}, x));
  const Var* f = m.NewVar("f", inner->type);
  m.AddMain({x}, {m.Block({m.Bind(y, m.CallOp("relax.add", {x, x}, t)), m.Bind(z, y), m.Bind(f, inner)})}, y);
  const ModuleEntry& main = m.module().functions()[0];
  const std::vector<uint32_t> counts = UseCounts(*To<Function>(main.func), *main.storage);
  CHECK(counts[x->id] == 3);
  CHECK(counts[y->id] == 2);
  CHECK(counts[z->id] == 0);
  CHECK(counts[p->id] == 0);
  CHECK(counts[f->id] == 0);
}

TEST_CASE("a shape variable in a type is a use", "[analysis]") {
  GraphMaker m;
  const Var* s = m.NewVar("s", ShapeType::Get(2));
  const Type* shaped = TensorType::WithShapeVar(m.workspace().arena(), s, GraphMaker::Float32());
  const Var* x = m.NewVar("x", shaped);
  m.AddMain({s, x}, {}, m.MakeTuple({}));
  const ModuleEntry& main = m.module().functions()[0];
  CHECK(UseCounts(*To<Function>(main.func), *main.storage)[s->id] == 1);
  CHECK(FreeVars(main.func).empty());
}

TEST_CASE("free variables in the order of their first use", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* a = m.NewVar("a", t);
  const Var* b = m.NewVar("b", t);
  const Var* c = m.NewVar("c", t);
  const Function* f = m.MakeFunction({a}, m.Seq({m.Block({m.Bind(b, m.CallOp("relax.add", {c, a}, t))})}, b));
  CHECK(FreeVars(f) == std::vector<const Var*>{c});
  CHECK(FreeVars(f->body) == std::vector<const Var*>{c, a});
}

TEST_CASE("functions of the module that are referred to", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const auto* f = GlobalVar::Get("f");
  const auto* g = GlobalVar::Get("g");
  const Expr* e = m.MakeFunction(
      {x}, m.Seq({m.Block({m.Bind(m.NewVar("y", t), m.CallOf(g, {x}, t)), m.Bind(m.NewVar("z", t), m.CallOf(f, {x}, t)),
                           m.Bind(m.NewVar("w", t), m.CallOf(g, {x}, t))})},
                 x));
  CHECK(UsedGlobals(e) == std::vector<const GlobalVar*>{g, f});
}

TEST_CASE("symbolic variables that occur, are free, are defined", "[analysis]") {
  GraphMaker m;
  const tir::Var* n = m.context().NewSymVar("n");
  const tir::Var* k = m.context().NewSymVar("k");
  const PrimExpr* sum = m.context().Intern(m.workspace().New<tir::Add>(k, n));
  const Type* type = m.Tensor(std::vector<const PrimExpr*>{sum, n});
  CHECK(SymVarsOf(sum) == std::vector<const tir::Var*>{k, n});
  CHECK(SymVarsOf(type) == std::vector<const tir::Var*>{k, n});
  CHECK(DefinedSymVars(type) == std::vector<const tir::Var*>{n});
  const Var* x = m.NewVar("x", type);
  CHECK(FreeSymVars(m.MakeFunction({x}, m.Seq({}, m.MakeTuple({})))) == std::vector<const tir::Var*>{k});
  CHECK(FreeSymVars(m.MakeShape({n, k})) == std::vector<const tir::Var*>{n, k});
}

TEST_CASE("symbolic variables that parameters and match_casts define", "[analysis]") {
  GraphMaker m;
  const tir::Var* n = m.context().NewSymVar("n");
  const tir::Var* k = m.context().NewSymVar("k");
  const PrimExpr* sum = m.context().Intern(m.workspace().New<tir::Add>(k, n));
  const Var* x = m.NewVar("x", m.Tensor(std::vector<const PrimExpr*>{n, sum}));
  const Type* cast_type = m.Tensor(std::vector<const PrimExpr*>{n, k});
  const auto* cast = m.workspace().New<MatchCast>(m.NewVar("y", cast_type), x, cast_type);
  const Function* f = m.MakeFunction({x}, m.Seq({m.Block({cast})}, x));
  CHECK(BoundSymVars(f) == std::vector<const tir::Var*>{n, k});
  CHECK(BoundSymVars(m.MakeShape({n, k})).empty());
}

TEST_CASE("a call binds the symbolic variables of the callee", "[analysis]") {
  GraphMaker m;
  const tir::Var* n = m.context().NewSymVar("n");
  const tir::Var* k = m.context().NewSymVar("k");
  const PrimExpr* sum = m.context().Intern(m.workspace().New<tir::Add>(k, n));
  const std::vector<const Type*> params = {m.Tensor(std::vector<const PrimExpr*>{sum, n}),
                                           m.TupleOf({m.Shape({k}), m.Shape({n})})};
  const SymVarMap values =
      BindSymVars(params, std::vector<const Type*>{m.Tensor({7, 4}), m.TupleOf({m.Shape({m.Int(3)}), m.Shape({n})})});
  CHECK(values.size() == 2);
  CHECK(values.Find(n) == m.Int(4));  // the first of two
  CHECK(values.Find(k) == m.Int(3));
  CHECK(BindSymVars(params, std::vector<const Type*>{TensorType::Get(2, DataType::Float(32)), ObjectType::Get()})
            .empty());
}

TEST_CASE("impure calls outside of nested functions", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Expr* impure = m.CallOf(m.Packed("f"), {x}, t, {t});
  const Expr* pure = m.CallOp("relax.exp", {x}, t);
  CHECK_FALSE(IsPure(impure, nullptr));
  CHECK(IsPure(pure, nullptr));
  const Function* inner = m.MakeFunction({x}, m.Seq({m.Block({m.Bind(m.NewVar("y", t), impure)})}, x), false);
  CHECK(IsPure(inner, nullptr));
  CHECK(FindImpureCall(inner->body, nullptr) == impure);
  CHECK_FALSE(ContainsImpureCall(inner->body, nullptr, To<Call>(impure)->op));
}
