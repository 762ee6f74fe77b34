// Every rule of the Relax verifier, broken once. The lit tests check the messages.
#include "../catch.h"
#include "graph_maker.h"
#include "iropt/ir/tir/expr.h"

using namespace iropt;

TEST_CASE("a function in normal form is well-formed", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2, 3});
  const Var* x = m.NewVar("x", t);
  const Var* lv = m.NewLocal("lv", t);
  const Var* gv = m.NewVar("gv", t);
  m.AddMain({x},
            {m.Dataflow({m.Bind(lv, m.CallOp("relax.add", {x, x}, t)), m.Bind(gv, m.CallOp("relax.exp", {lv}, t))})},
            gv);
  CHECK(m.Verify() == Errors{});
  CHECK(m.Verify({.check_types = false}) == Errors{});
}

TEST_CASE("variables are defined before they are used", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* a = m.NewVar("a", t);
  const Var* b = m.NewVar("b", t);
  m.AddMain({x}, {m.Block({m.Bind(a, m.CallOp("relax.add", {x, b}, t)), m.Bind(b, m.CallOp("relax.exp", {a}, t))})}, b);
  CHECK(m.Verify() == Errors{"undefined-variable: variable 'b' is used before its definition"});
}

TEST_CASE("variables are defined once", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* a = m.NewVar("a", t);
  SECTION("by bindings") { m.AddMain({x}, {m.Block({m.Bind(a, x), m.Bind(a, x)})}, a); }
  SECTION("by parameters") { m.AddMain({x, x}, {m.Block({m.Bind(a, x)})}, a); }
  SECTION("by a parameter and a binding") { m.AddMain({x}, {m.Block({m.Bind(x, x)})}, x); }
  const Errors errors = m.Verify();
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].starts_with("redefined-variable: variable '"));
}

TEST_CASE("dataflow variables stay in their block", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* lv = m.NewLocal("lv", t);
  std::string expected = "dataflow variable 'lv' is used outside of its dataflow block";
  SECTION("as the result") { m.AddMain({x}, {m.Dataflow({m.Bind(lv, x)})}, lv); }
  SECTION("in a later block") {
    const Var* gv = m.NewVar("gv", t);
    m.AddMain({x}, {m.Dataflow({m.Bind(lv, x)}), m.Dataflow({m.Bind(gv, lv)})}, gv);
  }
  SECTION("defined outside") {
    m.AddMain({x}, {m.Block({m.Bind(lv, x)})}, x);
    expected = "dataflow variable 'lv' is defined outside of a dataflow block";
  }
  SECTION("as a parameter") {
    m.AddMain({lv}, {}, m.MakeTuple({}));
    expected = "parameter 'lv' is a dataflow variable";
  }
  CHECK(m.Verify() == Errors{"misplaced-dataflow-variable: " + expected});
}

TEST_CASE("the outputs of a dataflow block are visible after it", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* gv = m.NewVar("gv", t);
  const Var* y = m.NewVar("y", t);
  m.AddMain({x}, {m.Dataflow({m.Bind(gv, x)}), m.Block({m.Bind(y, gv)})}, y);
  CHECK(m.Verify() == Errors{});
}

TEST_CASE("bindings of a branch are visible only in the branch", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* c = m.NewVar("c", TensorType::Get(0, DataType::Bool()));
  const Var* a = m.NewVar("a", t);
  const Var* b = m.NewVar("b", t);
  const Var* r = m.NewVar("r", t);
  const auto make = [&](const Expr* result) {
    const auto* branch =
        m.workspace().New<If>(c, m.Seq({m.Block({m.Bind(a, x)})}, a), m.Seq({m.Block({m.Bind(b, x)})}, b), t);
    m.AddMain({x, c}, {m.Block({m.Bind(r, branch)})}, result);
  };
  SECTION("good") {
    make(r);
    CHECK(m.Verify() == Errors{});
  }
  SECTION("bad") {
    make(a);
    CHECK(m.Verify() == Errors{"undefined-variable: variable 'a' is used outside of its scope"});
  }
}

TEST_CASE("branches are sequences, outside of dataflow blocks", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* c = m.NewVar("c", TensorType::Get(0, DataType::Bool()));
  const Var* r = m.NewVar("r", t);
  SECTION("not a sequence") {
    const auto* branch = m.workspace().New<If>(c, x, m.Seq({}, x), t);
    m.AddMain({x, c}, {m.Block({m.Bind(r, branch)})}, r);
    CHECK(m.Verify() == Errors{"not-in-normal-form: a branch of a conditional is not a sequence of bindings"});
  }
  SECTION("in a dataflow block") {
    const auto* branch = m.workspace().New<If>(c, m.Seq({}, x), m.Seq({}, x), t);
    m.AddMain({x, c}, {m.Dataflow({m.Bind(r, branch)})}, r);
    CHECK(m.Verify() == Errors{"if-in-dataflow: a conditional is not allowed in a dataflow block"});
  }
}

TEST_CASE("operands are leaves", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* a = m.NewVar("a", t);
  const Expr* nested = m.CallOp("relax.exp", {x}, t);
  std::string what;
  SECTION("of calls") {
    m.AddMain({x}, {m.Block({m.Bind(a, m.CallOp("relax.add", {nested, x}, t))})}, a);
    what = "argument";
  }
  SECTION("of tuples") {
    const Expr* tuple = m.MakeTuple({nested, x});
    m.AddMain({x}, {m.Block({m.Bind(m.NewVar("b", tuple->type), tuple)})}, x);
    what = "field of a tuple";
  }
  SECTION("of results") {
    m.AddMain({x}, {}, nested);
    what = "result";
  }
  SECTION("of projections") {
    const Expr* tuple = m.CallOf(m.Packed("f"), {x}, m.TupleOf({t}), {m.TupleOf({t})});
    const auto* item = m.workspace().New<TupleGetItem>(tuple, 0, t);
    m.AddMain({x}, {m.Block({m.Bind(a, item)})}, a, false);
    what = "tuple that is projected";
  }
  CHECK(m.Verify() ==
        Errors{"not-in-normal-form: the " + what + " is a call, which must be bound to a variable first"});
}

TEST_CASE("a body must be a sequence, and a sequence must be a body", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  SECTION("body") {
    m.Add("main", m.MakeFunction({x}, x));
    CHECK(m.Verify() == Errors{"not-in-normal-form: the body of a function is not a sequence of bindings"});
  }
  SECTION("value") {
    const Var* a = m.NewVar("a", t);
    m.AddMain({x}, {m.Block({m.Bind(a, m.Seq({}, x))})}, a);
    CHECK(m.Verify() ==
          Errors{"misplaced-sequence: a sequence of bindings is only allowed as the body of a function or branch"});
  }
}

TEST_CASE("symbolic variables are defined by parameters and casts", "[analysis]") {
  GraphMaker m;
  const tir::Var* n = m.context().NewSymVar("n");
  const tir::Var* k = m.context().NewSymVar("k");
  const Type* tn = m.Tensor(std::vector<const PrimExpr*>{n});
  const Type* tk = m.Tensor(std::vector<const PrimExpr*>{k});
  const Var* x = m.NewVar("x", tn);
  SECTION("by a parameter") {
    const Var* s = m.NewVar("s", m.Shape({n}));
    m.AddMain({x}, {m.Block({m.Bind(s, m.MakeShape({n}))})}, s);
    CHECK(m.Verify() == Errors{});
  }
  SECTION("by a later parameter") {
    const PrimExpr* sum = m.context().Intern(m.workspace().New<tir::Add>(k, m.Int(1)));
    const Var* y = m.NewVar("y", m.Tensor(std::vector<const PrimExpr*>{sum}));
    const Var* z = m.NewVar("z", tk);
    m.AddMain({y, z}, {}, y);
    CHECK(m.Verify() == Errors{});
  }
  SECTION("not by an expression") {
    const PrimExpr* sum = m.context().Intern(m.workspace().New<tir::Add>(k, m.Int(1)));
    const Var* y = m.NewVar("y", m.Tensor(std::vector<const PrimExpr*>{sum}));
    m.AddMain({y}, {}, m.MakeTuple({}));
    CHECK(m.Verify() == Errors{"undefined-symbolic-variable: symbolic variable 'k' is not defined by a parameter or an "
                               "earlier match_cast"});
  }
  SECTION("by a cast") {
    const Var* y = m.NewVar("y", tk);
    m.AddMain({x}, {m.Block({m.Cast(y, x, tk)})}, m.MakeTuple({}));
    CHECK(m.Verify() == Errors{});
  }
  SECTION("not after the branch of the cast") {
    const Var* c = m.NewVar("c", TensorType::Get(0, DataType::Bool()));
    const Var* y = m.NewVar("y", tk);
    const Var* r = m.NewVar("r", m.TupleOf({}));
    const Expr* unit = m.MakeTuple({});
    const auto* branch =
        m.workspace().New<If>(c, m.Seq({m.Block({m.Cast(y, x, tk)})}, unit), m.Seq({}, unit), m.TupleOf({}));
    const Var* s = m.NewVar("s", ShapeType::Get(1));
    m.AddMain({x, c},
              {m.Block({m.Bind(r, branch),
                        m.Bind(s, m.workspace().New<ShapeExpr>(m.workspace().Copy(std::vector<const PrimExpr*>{k}),
                                                               ShapeType::Get(1)))})},
              unit);
    CHECK(m.Verify() == Errors{"undefined-symbolic-variable: symbolic variable 'k' is not defined by a parameter or an "
                               "earlier match_cast"});
  }
  SECTION("by nothing, in a type argument, even where types are not checked") {
    const Var* y = m.NewVar("y", TensorType::Get(1, GraphMaker::Float32()));
    m.AddMain({x}, {m.Block({m.Bind(y, m.CallOf(m.Packed("f"), {x}, y->type, {tk}))})}, y, false);
    CHECK(m.Verify({.check_types = false}) == Errors{"undefined-symbolic-variable: symbolic variable 'k' is not "
                                                     "defined by a parameter or an earlier match_cast"});
  }
}

TEST_CASE("nested functions see variables around them, but no symbolic ones", "[analysis]") {
  GraphMaker m;
  const tir::Var* n = m.context().NewSymVar("n");
  const Type* tn = m.Tensor(std::vector<const PrimExpr*>{n});
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", tn);
  const Var* z = m.NewVar("z", t);
  const Var* p = m.NewVar("p", t);
  const auto with_inner = [&](const Function* inner) {
    const Var* f = m.NewVar("f", inner->type);
    m.AddMain({x, z}, {m.Block({m.Bind(f, inner)})}, z);
  };
  SECTION("variable") {
    with_inner(m.MakeFunction({p}, m.Seq({}, z)));
    CHECK(m.Verify() == Errors{});
  }
  SECTION("symbolic variable") {
    const Var* s = m.NewVar("s", ShapeType::Get(1));
    const Expr* shape =
        m.workspace().New<ShapeExpr>(m.workspace().Copy(std::vector<const PrimExpr*>{n}), ShapeType::Get(1));
    with_inner(m.MakeFunction({p}, m.Seq({m.Block({m.Bind(s, shape)})}, p)));
    CHECK(m.Verify() == Errors{"undefined-symbolic-variable: symbolic variable 'n' is not defined by a parameter or an "
                               "earlier match_cast"});
  }
  SECTION("what they bind is gone afterwards") {
    const Function* inner = m.MakeFunction({p}, m.Seq({}, p));
    const Var* f = m.NewVar("f", inner->type);
    m.AddMain({x, z}, {m.Block({m.Bind(f, inner)})}, p);
    CHECK(m.Verify() == Errors{"undefined-variable: variable 'p' is used outside of its scope"});
  }
}

TEST_CASE("a local function may call itself", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* p = m.NewVar("p", t);
  const Var* r = m.NewVar("r", t);
  const Type* type = FuncType::Get(std::vector<const Type*>{t}, t);
  const Var* f = m.NewVar("f", type);
  const Function* inner = m.MakeFunction({p}, m.Seq({m.Block({m.Bind(r, m.CallOf(f, {p}, t))})}, r));
  m.AddMain({x}, {m.Block({m.Bind(f, inner)})}, x);
  CHECK(m.Verify() == Errors{});
}

TEST_CASE("effects stay out of dataflow blocks and pure functions", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  const Var* y = m.NewVar("y", t);
  const Expr* call = m.CallOf(m.Packed("f"), {x}, t, {t});
  const DictAttr* forced = DictAttr::Empty()->With(attr::kForcePure, IntAttr::Bool(true));
  SECTION("pure function") {
    m.AddMain({x}, {m.Block({m.Bind(y, call)})}, y);
    CHECK(m.Verify() == Errors{"impure-call: 'f' has side effects, which are not allowed in a pure function"});
    CHECK(m.Verify({.check_types = false}) == Errors{});
  }
  SECTION("impure function") {
    m.AddMain({x}, {m.Block({m.Bind(y, call)})}, y, false);
    CHECK(m.Verify() == Errors{});
  }
  SECTION("forced") {
    m.AddMain({x}, {m.Block({m.Bind(y, call)})}, y, true, forced);
    CHECK(m.Verify() == Errors{});
  }
  SECTION("forced, in a dataflow block") {
    m.AddMain({x}, {m.Dataflow({m.Bind(y, call)})}, y, true, forced);
    CHECK(m.Verify() == Errors{"impure-call: 'f' has side effects, which are not allowed in a dataflow block"});
  }
  SECTION("forced and impure") {
    m.AddMain({x}, {m.Block({m.Bind(y, call)})}, y, false, forced);
    CHECK(m.Verify() == Errors{"force-pure: an impure function has the attribute 'relax.force_pure'"});
  }
  SECTION("the body of a nested function is its own") {
    const Function* inner = m.MakeFunction({}, m.Seq({m.Block({m.Bind(y, call)})}, y), false);
    m.AddMain({x}, {m.Block({m.Bind(m.NewVar("f", inner->type), inner)})}, x);
    CHECK(m.Verify() == Errors{});
  }
}

TEST_CASE("names of functions", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  SECTION("global symbol") {
    m.AddMain({x}, {}, x, true, DictAttr::Empty()->With(attr::kGlobalSymbol, StrAttr::Get("other")));
    CHECK(m.Verify() == Errors{"global-symbol: function 'main' has the global symbol 'other'"});
  }
  SECTION("unknown function") {
    const Var* y = m.NewVar("y", t);
    m.AddMain({x}, {m.Block({m.Bind(y, m.CallOf(GlobalVar::Get("absent"), {x}, t))})}, y);
    CHECK(m.Verify() == Errors{"unknown-function: the module has no function 'absent'"});
  }
}

TEST_CASE("types exist and do not contradict the inferred ones", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Type* other = m.Tensor({3});
  const Var* x = m.NewVar("x", t);
  SECTION("missing in a call") {
    const Var* y = m.NewVar("y", t);
    m.AddMain({x}, {m.Block({m.Bind(y, m.CallOp("relax.exp", {x}, nullptr))})}, y);
    CHECK(m.Verify() == Errors{"missing-type: the expression has no type"});
    CHECK(m.Verify({.check_types = false}) == Errors{});
  }
  SECTION("contradictory in a call") {
    const Var* y = m.NewVar("y", other);
    m.AddMain({x}, {m.Block({m.Bind(y, m.CallOp("relax.exp", {x}, other))})}, y);
    CHECK(
        m.Verify() ==
        Errors{
            R"(contradictory-type: the result of 'R.exp' has type R.Tensor((2,), dtype="float32"), not R.Tensor((3,), dtype="float32"))"});
  }
  SECTION("less precise in a call") {
    const Type* loose = TensorType::Get(1, GraphMaker::Float32());
    const Var* y = m.NewVar("y", loose);
    m.AddMain({x}, {m.Block({m.Bind(y, m.CallOp("relax.exp", {x}, loose))})}, y);
    CHECK(m.Verify() == Errors{});
  }
  SECTION("binding") {
    const Var* y = m.NewVar("y", other);
    m.AddMain({x}, {m.Block({m.Bind(y, x)})}, y);
    CHECK(
        m.Verify() ==
        Errors{
            R"(binding-type: a value of type R.Tensor((2,), dtype="float32") cannot be bound to variable 'y' of type R.Tensor((3,), dtype="float32"))"});
  }
  SECTION("projection") {
    const Var* p = m.NewVar("p", m.TupleOf({t, t}));
    const Var* y = m.NewVar("y", other);
    m.AddMain({p}, {m.Block({m.Bind(y, m.workspace().New<TupleGetItem>(p, 1, other))})}, y);
    CHECK(
        m.Verify() ==
        Errors{
            R"(contradictory-type: field 1 of the tuple has type R.Tensor((2,), dtype="float32"), not R.Tensor((3,), dtype="float32"))"});
  }
  SECTION("index of a projection") {
    const Var* p = m.NewVar("p", m.TupleOf({t, t}));
    const Var* y = m.NewVar("y", t);
    m.AddMain({p}, {m.Block({m.Bind(y, m.workspace().New<TupleGetItem>(p, 2, t))})}, y);
    CHECK(m.Verify() == Errors{"tuple-index: index 2 of a tuple of 2 fields"});
  }
}

TEST_CASE("dimensions are integers", "[analysis]") {
  GraphMaker m;
  const auto* half = m.context().Intern(m.workspace().New<tir::FloatImm>(GraphMaker::Float32(), 0.5));
  const Var* s = m.NewVar("s", ShapeType::Get(1));
  const Expr* shape =
      m.workspace().New<ShapeExpr>(m.workspace().Copy(std::vector<const PrimExpr*>{half}), ShapeType::Get(1));
  m.AddMain({}, {m.Block({m.Bind(s, shape)})}, s);
  CHECK(m.Verify() == Errors{"shape-dtype: a dimension has the type float32, which is not a signed integer"});
}

TEST_CASE("variables of one function have numbers of their own", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  const Var* x = m.NewVar("x", t);
  SECTION("same number") {
    const Var* y = m.workspace().New<Var>("y", x->id, t);
    m.AddMain({x, y}, {}, x);
    CHECK(m.Verify() == Errors{"variable-id: variables 'y' and 'x' have the same number"});
  }
  SECTION("no number of this function") {
    const Var* y = m.workspace().New<Var>("y", 77, t);
    m.AddMain({x, y}, {}, x);
    CHECK(m.Verify() == Errors{"variable-id: variable 'y' belongs to another function"});
  }
}

TEST_CASE("a call has the attributes of its operator", "[analysis]") {
  GraphMaker m;
  const Var* x = m.NewVar("x", m.Tensor({2}));
  const Var* y = m.NewVar("y", x->type);
  SECTION("none where some are expected") {
    m.AddMain({x}, {m.Block({m.Bind(y, m.CallOp("relax.nn.softmax", {x}, x->type))})}, y);
    CHECK(m.Verify() == Errors{"wrong-attributes: a call of R.nn.softmax has no attributes where it needs the "
                               "attributes relax.attrs.SoftmaxAttrs"});
  }
  SECTION("none where none are expected") {
    m.AddMain({x}, {m.Block({m.Bind(y, m.CallOp("relax.exp", {x}, x->type))})}, y);
    CHECK(m.Verify() == Errors{});
  }
}

TEST_CASE("functions share neither parameters nor symbolic variables", "[analysis]") {
  GraphMaker m;
  SECTION("symbolic variable") {
    const tir::Var* n = m.context().NewSymVar("n");
    const Type* tn = m.Tensor(std::vector<const PrimExpr*>{n});
    for (std::string_view name : {"a", "b", "c"}) {
      const Var* x = m.NewVar("x", tn);
      m.Add(name, m.MakeFunction({x}, m.Seq({}, x)));
    }
    CHECK(m.Verify() == Errors{"shared-symbolic-variable: functions 'a' and 'b' share the symbolic variable 'n'"});
  }
  SECTION("parameter") {
    const Var* x = m.NewVar("x", m.Tensor({2}));
    const Function* f = m.MakeFunction({x}, m.Seq({}, x));
    m.Add("a", f);
    m.module().Set(GlobalVar::Get("b"), f, m.module().functions()[0].storage);
    CHECK(m.Verify() == Errors{"shared-parameter: functions 'a' and 'b' share a parameter"});
  }
}

TEST_CASE("diagnostics do not depend on the number of threads", "[analysis]") {
  GraphMaker m;
  const Type* t = m.Tensor({2});
  for (int i = 0; i < 100; ++i) {
    const Var* x = m.NewVar("x", t);
    const Var* y = m.NewVar("y", t);
    const bool bad = i % 9 == 4;
    m.Add("f" + std::to_string(i), m.MakeFunction({x}, m.Seq({m.Block({m.Bind(y, x)})}, bad ? m.NewVar("z", t) : y)));
  }
  const Errors one = m.Verify({.threads = 1});
  CHECK(one.size() == 11);
  CHECK(m.Verify({.threads = 4}) == one);
}
