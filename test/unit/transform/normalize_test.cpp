#include "pass_tester.h"

namespace iropt {

namespace {

// A call without a type, as in code built by hand.
const Call* Untyped(PassTester& t, std::string_view op, std::vector<const Expr*> args) {
  return t.CallOp(op, std::move(args), nullptr);
}

const Function* Untyped(PassTester& t, std::vector<const Var*> params, const Expr* body) {
  return t.workspace().New<Function>(t.workspace().Copy(params), body, nullptr, true, DictAttr::Empty(), nullptr);
}

}  // namespace

TEST_CASE("nested operands are bound in the order of evaluation", "[normalize]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const auto sum = [&] { return Untyped(t, "relax.add", {x, x}); };
  t.Add("main", Untyped(t, {x}, Untyped(t, "relax.multiply", {sum(), Untyped(t, "relax.exp", {sum()})})));
  CHECK(t.RunUnchecked(Normal()));
  CHECK(t.Text() == "gv = add(x, x); gv1 = add(x, x); gv2 = exp(gv1); gv3 = multiply(gv, gv2); gv3");
  CHECK(t.function()->ret_type == t.F23());
}

TEST_CASE("a normal function stays the same pointer", "[normalize]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", t.F23());
  t.AddMain({x}, {t.Block({t.Bind(a, t.CallOp("relax.exp", {x}, t.F23()))})}, a);
  CHECK_FALSE(t.Run(Normal()));
}

TEST_CASE("branches become sequences", "[normalize]") {
  PassTester t;
  const Var* cond = t.NewVar("cond", TensorType::Get(std::vector<const PrimExpr*>{}, DataType::Bool()));
  const Var* x = t.NewVar("x", t.F23());
  const Var* y = t.NewVar("y", nullptr);
  const Expr* branch = t.workspace().New<If>(cond, Untyped(t, "relax.exp", {Untyped(t, "relax.log", {x})}), x, nullptr);
  const Expr* body = t.workspace().New<SeqExpr>(
      t.workspace().Copy(std::vector<const BindingBlock*>{t.Block({t.Bind(y, branch)})}), y, nullptr);
  t.Add("main", Untyped(t, {cond, x}, body));
  CHECK(t.RunUnchecked(Normal()));
  CHECK(t.Text() == "y = if cond {gv = log(x); gv1 = exp(gv); gv1} else {x}; y");
}

TEST_CASE("nested sequences are flattened, empty blocks dropped, neighbours joined", "[normalize]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", t.F23());
  const Var* b = t.NewVar("b", t.F23());
  const Var* c = t.NewVar("c", t.F23());
  const Var* d = t.NewVar("d", t.F23());
  const auto exp = [&](const Expr* e) { return t.CallOp("relax.exp", {e}, t.F23()); };
  const SeqExpr* inner = t.Seq({t.Block({t.Bind(a, exp(x))}), t.Dataflow({t.Bind(b, exp(a))})}, b);
  const SeqExpr* outer = t.Seq({t.Block({t.Bind(c, inner)}), t.Dataflow({}), t.Block({t.Bind(d, exp(c))})}, d);
  t.Add("main", t.MakeFunction({x}, outer));
  CHECK(t.RunUnchecked(Normal()));
  CHECK(t.Text() == "a = exp(x); [b = exp(a); ] c = b; d = exp(c); d");
}

TEST_CASE("a variable without a value is not used", "[normalize]") {
  PassTester t;
  const Type* nothing = t.TupleOf({});
  const Var* x = t.NewVar("x", t.F23());
  const Var* done = t.NewVar("done", nothing);
  const Binding* binding = t.Bind(done, t.CallOf(t.Packed("effect"), {x}, nothing, {nothing}));
  t.Add("main", t.MakeFunction({x}, t.Seq({t.Block({binding})}, done), false));
  CHECK(t.RunUnchecked(Normal()));
  CHECK(t.Text() == "done = effect(x); ()");
}

TEST_CASE("what has no type fails with an error", "[normalize]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* y = t.NewVar("y", t.Tensor({4}));
  t.Add("main", Untyped(t, {x, y}, Untyped(t, "relax.add", {x, y})));
  t.RunOnce(Normal());
  CHECK(t.failed);
  CHECK(t.errors.size() == 1);
}

}  // namespace iropt
