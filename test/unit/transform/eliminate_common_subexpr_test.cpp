#include "iropt/ir/ndarray.h"
#include "pass_tester.h"

namespace iropt {

namespace {

const Constant* MakeConstant(PassTester& t, std::vector<int32_t> values, size_t padding = 0) {
  values.resize(values.size() + padding, 7);
  const auto array = NDArray::Make(DataType::Int(32), {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), array->MutableAs<int32_t>().begin());
  t.workspace().arena().Retain(array);
  const std::vector<const PrimExpr*> dims{t.Int(static_cast<int64_t>(values.size()))};
  return t.workspace().New<Constant>(array.get(), TensorType::Get(dims, DataType::Int(32)));
}

}  // namespace

TEST_CASE("an equal call becomes a renaming, and its uses the first variable", "[cse]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", t.F23());
  const Var* b = t.NewVar("b", t.F23());
  const Var* c = t.NewVar("c", t.F23());
  const Binding* first = t.Bind(a, t.CallOp("relax.exp", {x}, t.F23()));
  t.AddMain({x},
            {t.Block({first, t.Bind(b, t.CallOp("relax.exp", {x}, t.F23())),
                      t.Bind(c, t.CallOp("relax.add", {b, a}, t.F23()))})},
            c);
  CHECK(t.Run(Cse()));
  CHECK(t.Text() == "a = exp(x); b = a; c = add(a, a); c");
  CHECK(t.body()->blocks[0]->bindings[0] == first);
}

TEST_CASE("nothing repeated, nothing changed", "[cse]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", t.F23());
  const Var* b = t.NewVar("b", t.F23());
  t.AddMain({x},
            {t.Block({t.Bind(a, t.CallOp("relax.exp", {x}, t.F23())), t.Bind(b, t.CallOp("relax.exp", {a}, t.F23()))})},
            b);
  CHECK_FALSE(t.Run(Cse()));
}

TEST_CASE("many repetitions are not a chain after any number of runs", "[cse]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  std::vector<const Binding*> bindings;
  std::vector<const Expr*> vars;
  for (int i = 0; i < 5; ++i) {
    const Var* v = t.NewVar("v" + std::to_string(i), t.F23());
    bindings.push_back(t.Bind(v, t.CallOp("relax.exp", {x}, t.F23())));
    vars.push_back(v);
  }
  t.AddMain({x}, {t.Block(bindings)}, t.MakeTuple(vars));
  CHECK(t.Run(Cse()));
  CHECK(t.Text() == "v0 = exp(x); v1 = v0; v2 = v0; v3 = v0; v4 = v0; (v0, v0, v0, v0, v0)");
}

TEST_CASE("constants are compared by content", "[cse]") {
  PassTester t;
  const Constant* big = MakeConstant(t, {1, 2}, 1000);
  const Constant* same = MakeConstant(t, {1, 2}, 1000);
  std::vector<int32_t> values(1002, 7);
  values[0] = 1;
  values[1] = 2;
  values[500] = 8;  // not among the hashed elements
  const Constant* other = MakeConstant(t, values);
  const Constant* scalar = MakeConstant(t, {3});
  std::vector<const Binding*> bindings;
  std::vector<const Expr*> vars;
  for (const Constant* c : {big, same, other, scalar}) {
    vars.push_back(t.NewVar("c" + std::to_string(vars.size()), c->type));
    bindings.push_back(t.Bind(To<Var>(vars.back()), c));
  }
  t.AddMain({}, {t.Block(bindings)}, t.MakeTuple(vars));
  CHECK(t.Run(Cse()));
  CHECK(t.Text() == "c0 = Constant; c1 = c0; c2 = Constant; c3 = Constant; (c0, c0, c2, c3)");
  CHECK(t.Run(Cse({.call_only = true})) == false);
}

TEST_CASE("whole conditionals and local functions are compared up to names", "[cse]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* cond = t.NewVar("cond", TensorType::Get(std::vector<const PrimExpr*>{}, DataType::Bool()));
  const auto conditional = [&](std::string_view op) {
    const Var* v = t.NewVar("v", t.F23());
    const auto* computed = t.Seq({t.Block({t.Bind(v, t.CallOp(op, {x}, t.F23()))})}, v);
    return t.workspace().New<If>(cond, computed, t.Seq({}, x), t.F23());
  };
  const auto function = [&](const Var* p) { return t.MakeFunction({p}, t.Seq({}, p)); };
  std::vector<const Binding*> bindings;
  std::vector<const Expr*> vars;
  const auto bind = [&](const Expr* value) {
    vars.push_back(t.NewVar("r" + std::to_string(vars.size()), value->type));
    bindings.push_back(t.Bind(To<Var>(vars.back()), value));
  };
  bind(conditional("relax.exp"));
  bind(conditional("relax.exp"));
  bind(conditional("relax.log"));
  bind(function(t.NewVar("p", t.F23())));
  bind(function(t.NewVar("q", t.F23())));
  t.AddMain({x, cond}, {t.Block(bindings)}, t.MakeTuple(vars));
  CHECK(t.Run(Cse()));
  CHECK(t.Text() ==
        "r0 = if cond {v = exp(x); v} else {x}; r1 = r0; r2 = if cond {v = log(x); v} else {x}; "
        "r3 = fn {p}; r4 = r3; (r0, r0, r2, r3, r3)");
}

TEST_CASE("branches see what was before, and nothing of each other", "[cse]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* cond = t.NewVar("cond", TensorType::Get(std::vector<const PrimExpr*>{}, DataType::Bool()));
  const Var* before = t.NewVar("before", t.F23());
  const auto branch = [&] {
    const Var* a = t.NewVar("a", t.F23());
    const Var* b = t.NewVar("b", t.F23());
    return t.Seq(
        {t.Block({t.Bind(a, t.CallOp("relax.exp", {x}, t.F23())), t.Bind(b, t.CallOp("relax.log", {a}, t.F23()))})}, b);
  };
  const Var* r = t.NewVar("r", t.F23());
  const Var* after = t.NewVar("after", t.F23());
  t.AddMain({x, cond},
            {t.Block({t.Bind(before, t.CallOp("relax.exp", {x}, t.F23())),
                      t.Bind(r, t.workspace().New<If>(cond, branch(), branch(), t.F23())),
                      t.Bind(after, t.CallOp("relax.log", {before}, t.F23()))})},
            t.MakeTuple({r, after}));
  CHECK(t.Run(Cse()));
  CHECK(t.Text() ==
        "before = exp(x); r = if cond {a = before; b = log(before); b} else {a = before; b = log(before); b}; "
        "after = log(before); (r, after)");
}

TEST_CASE("a variable that was declared with less replaces none that says more", "[cse]") {
  PassTester t;
  const Type* vague = TensorType::Get(2, t.Float32());
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", vague);
  const Var* b = t.NewVar("b", t.F23());
  const Var* c = t.NewVar("c", vague);
  const auto exp = [&] { return t.CallOp("relax.exp", {x}, t.F23()); };
  SECTION("vague first") {
    t.AddMain({x}, {t.Block({t.Bind(a, exp()), t.Bind(b, exp())})}, t.MakeTuple({a, b}));
    CHECK_FALSE(t.Run(Cse()));
  }
  SECTION("precise first") {
    t.AddMain({x}, {t.Block({t.Bind(b, exp()), t.Bind(c, exp())})}, t.MakeTuple({b, c}));
    CHECK(t.Run(Cse()));
    CHECK(t.Text() == "b = exp(x); c = b; (b, b)");
  }
}

}  // namespace iropt
