#include "iropt/ir/ndarray.h"
#include "iropt/ir/tir/expr.h"
#include "pass_tester.h"

namespace iropt {

namespace {

const Call* Exp(PassTester& t, const Expr* x) { return t.CallOp("relax.exp", {x}, x->type); }

const Constant* ScalarConstant(PassTester& t, float value) {
  const auto array = NDArray::Make(DataType::Float(32), {});
  array->MutableAs<float>()[0] = value;
  t.workspace().arena().Retain(array);
  return t.workspace().New<Constant>(array.get(), t.Tensor(std::vector<const PrimExpr*>{}));
}

}  // namespace

TEST_CASE("aliases are removed, and their sources are used", "[canonicalize]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", t.F23());
  const Var* b = t.NewVar("b", t.F23());
  const Var* c = t.NewVar("c", t.F23());
  t.AddMain({x}, {t.Block({t.Bind(a, x), t.Bind(b, a), t.Bind(c, Exp(t, b))})}, c);
  CHECK(t.Run(Canonicalize()));
  CHECK(t.Text() == "c = exp(x); c");
}

TEST_CASE("a canonical function stays the same pointer", "[canonicalize]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewLocal("a", t.F23());
  const Var* b = t.NewVar("b", t.F23());
  t.AddMain({x}, {t.Dataflow({t.Bind(a, Exp(t, x)), t.Bind(b, Exp(t, a))})}, b);
  CHECK_FALSE(t.Run(Canonicalize()));
}

TEST_CASE("an output that renames a DataflowVar gives it its name, also before the renaming", "[canonicalize]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* lv = t.NewLocal("lv", t.F23());
  const Var* gv = t.NewVar("gv", t.F23());
  const Var* gv1 = t.NewVar("gv1", t.F23());
  const Var* gv2 = t.NewVar("gv2", t.F23());
  t.AddMain({x}, {t.Dataflow({t.Bind(lv, Exp(t, x)), t.Bind(gv1, Exp(t, lv)), t.Bind(gv, lv), t.Bind(gv2, lv)})},
            t.MakeTuple({gv, gv1, gv2}));
  CHECK(t.Run(Canonicalize()));
  CHECK(t.Text() == "[gv = exp(x); gv1 = exp(gv); ] (gv, gv1, gv)");
}

TEST_CASE("an output that only its block uses becomes a DataflowVar", "[canonicalize]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", t.F23());
  const Var* b = t.NewVar("b", t.F23());
  const Var* c = t.NewVar("c", t.F23());
  const Var* d = t.NewVar("d", t.F23());
  // a is used in the block only, b in another block, too.
  t.AddMain({x},
            {t.Dataflow({t.Bind(a, Exp(t, x)), t.Bind(b, Exp(t, a))}), t.Block({t.Bind(c, Exp(t, x))}),
             t.Dataflow({t.Bind(d, Exp(t, b))})},
            t.MakeTuple({c, d}));
  CHECK(t.Run(Canonicalize()));
  const auto bindings = t.body()->blocks[0]->bindings;
  CHECK(bindings[0]->var->is_dataflow());
  CHECK_FALSE(bindings[1]->var->is_dataflow());
}

TEST_CASE("a DataflowVar in a tuple does not get out of its block", "[canonicalize]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* lv = t.NewLocal("lv", t.F23());
  const auto* pair = t.MakeTuple({lv, x});
  const Var* both = t.NewVar("both", pair->type);
  const auto first = [&] { return t.workspace().New<TupleGetItem>(both, 0, t.F23()); };
  SECTION("to a dataflow variable of another block") {
    const Var* other = t.NewLocal("other", t.F23());
    const Var* gv = t.NewVar("gv", t.F23());
    const Var* mid = t.NewVar("mid", t.F23());
    t.AddMain({x},
              {t.Dataflow({t.Bind(lv, Exp(t, x)), t.Bind(both, pair)}), t.Block({t.Bind(mid, Exp(t, x))}),
               t.Dataflow({t.Bind(other, first()), t.Bind(gv, Exp(t, other))})},
              t.MakeTuple({gv, mid}));
    CHECK_FALSE(t.Run(Canonicalize()));
  }
  SECTION("to a variable of another block, whose name it gets") {
    const Var* out = t.NewVar("out", t.F23());
    t.AddMain({x}, {t.Dataflow({t.Bind(lv, Exp(t, x)), t.Bind(both, pair)}), t.Block({t.Bind(out, first())})}, out);
    REQUIRE(t.Verify() == Errors{});
    CHECK(t.RunOnce(Canonicalize()));
    CHECK(t.Text() == "[out = exp(x); both = (out, x); ] out");
    CHECK_FALSE(t.body()->blocks[0]->bindings[1]->var->is_dataflow());
    // The projection counted as a use of `both` outside of its block; the next run finds none.
    CHECK(t.Run(Canonicalize()));
    CHECK(t.body()->blocks[0]->bindings[1]->var->is_dataflow());
  }
}

TEST_CASE("uses of constants are constants, but for a variable that took another's place", "[canonicalize]") {
  PassTester t;
  const Type* type = t.Tensor(std::vector<const PrimExpr*>{});
  const Var* c = t.NewVar("c", type);
  const Var* a = t.NewVar("a", type);
  const Binding* bind_c = t.Bind(c, ScalarConstant(t, 1));
  t.AddMain({}, {t.Block({bind_c, t.Bind(a, Exp(t, c))})}, a);
  CHECK(t.Run(Canonicalize()));
  CHECK(t.Text() == "c = Constant; a = exp(Constant); a");
  CHECK(t.body()->blocks[0]->bindings[0] == bind_c);
}

TEST_CASE("changed operands bring changed types", "[canonicalize]") {
  PassTester t;
  const Type* vague = TensorType::Get(2, t.Float32());
  const Var* x = t.NewVar("x", t.F23());
  const Type* fields[] = {vague};
  const Var* one = t.NewVar("one", TupleType::Get(fields));
  const Var* a = t.NewVar("a", vague);
  const Var* b = t.NewVar("b", vague);
  const Expr* first = t.workspace().New<TupleGetItem>(one, 0, vague);
  t.AddMain({x}, {t.Block({t.Bind(one, t.MakeTuple({x})), t.Bind(a, first), t.Bind(b, Exp(t, a))})}, b);
  CHECK(t.Run(Canonicalize()));
  CHECK(t.body()->blocks[0]->bindings[1]->var->type == t.F23());
  CHECK(t.function()->ret_type == t.F23());
  CHECK(To<FuncType>(t.function()->type)->ret == t.F23());
}

TEST_CASE("a name goes with the type that it was declared with", "[canonicalize]") {
  PassTester t;
  const Type* vague = TensorType::Get(2, t.Float32());
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", vague);
  const Var* b = t.NewVar("b", vague);
  t.AddMain({x}, {t.Block({t.Bind(a, x), t.Bind(b, Exp(t, a))})}, b);
  CHECK(t.Run(Canonicalize()));
  CHECK(t.body()->blocks[0]->bindings[0]->var->type == t.F23());
  CHECK(t.function()->ret_type == t.F23());
}

TEST_CASE("an output cast takes the value of a DataflowVar without other uses", "[canonicalize]") {
  PassTester t;
  const tir::Var* n = t.context().NewSymVar("n");
  const Type* vague = TensorType::Get(1, t.Float32());
  const Type* precise = t.Tensor(std::vector<const PrimExpr*>{n});
  const Var* x = t.NewVar("x", vague);
  const Var* lv = t.NewLocal("lv", vague);
  const Var* gv = t.NewVar("gv", precise);
  SECTION("once used") {
    t.AddMain({x}, {t.Dataflow({t.Bind(lv, Exp(t, x)), t.Cast(gv, lv, precise)})}, gv);
    CHECK(t.Run(Canonicalize()));
    CHECK(t.Text() == "[gv = cast exp(x); ] gv");
  }
  SECTION("used elsewhere, too") {
    const Var* other = t.NewVar("other", vague);
    t.AddMain({x}, {t.Dataflow({t.Bind(lv, Exp(t, x)), t.Cast(gv, lv, precise), t.Bind(other, Exp(t, lv))})},
              t.MakeTuple({gv, other}));
    CHECK_FALSE(t.Run(Canonicalize()));
  }
}

TEST_CASE("values of symbolic variables are followed through several casts", "[canonicalize]") {
  PassTester t;
  const tir::Var* n = t.context().NewSymVar("n");
  const tir::Var* m = t.context().NewSymVar("m");
  const tir::Var* k = t.context().NewSymVar("k");
  const auto vector = [&](const PrimExpr* dim) { return t.Tensor(std::vector<const PrimExpr*>{dim}); };
  const Var* x = t.NewVar("x", t.Tensor({4}));
  const Var* y = t.NewVar("y", TensorType::Get(1, t.Float32()));
  const Var* a = t.NewVar("a", vector(n));
  const Var* b = t.NewVar("b", vector(m));
  const Var* c = t.NewVar("c", vector(m));
  const Var* d = t.NewVar("d", vector(k));
  t.AddMain(
      {x, y},
      {t.Block({t.Cast(a, x, vector(n)), t.Cast(b, a, vector(m)), t.Bind(c, Exp(t, b)), t.Cast(d, y, vector(k))})},
      t.MakeTuple({c, d}));
  CHECK(t.Run(Canonicalize()));
  // Nothing is known of k.
  CHECK(t.Text() == "c = exp(x); d = cast y; (c, d)");
  CHECK(t.body()->blocks[0]->bindings[0]->var->type == t.Tensor({4}));
}

TEST_CASE("contradictory casts are an error that names both", "[canonicalize]") {
  PassTester t;
  const tir::Var* n = t.context().NewSymVar("n");
  const Type* type = t.Tensor(std::vector<const PrimExpr*>{n});
  const Var* x = t.NewVar("x", t.Tensor({4}));
  const Var* y = t.NewVar("y", t.Tensor({5}));
  const Var* a = t.NewVar("a", type);
  const Var* b = t.NewVar("b", type);
  t.AddMain({x, y}, {t.Block({t.Cast(a, x, type), t.Cast(b, y, type)})}, x);
  t.RunOnce(Canonicalize());
  CHECK(t.failed);
  CHECK(t.errors ==
        std::vector<std::string>{"MatchCast statements must be consistent: by this one 'n' is 5, by an earlier one 4"});
}

TEST_CASE("a variable that would be itself plus one is kept", "[canonicalize]") {
  PassTester t;
  const tir::Var* n = t.context().NewSymVar("n");
  const PrimExpr* next = t.context().Intern(t.workspace().New<tir::Add>(n, t.Int(1)));
  const Var* x = t.NewVar("x", t.Tensor(std::vector<const PrimExpr*>{n}));
  const Var* z = t.NewVar("z", t.Tensor(std::vector<const PrimExpr*>{next}));
  const Var* a = t.NewVar("a", x->type);
  t.AddMain({x, z}, {t.Block({t.Cast(a, z, x->type)})}, a);
  CHECK_FALSE(t.Run(Canonicalize()));
}

}  // namespace iropt
