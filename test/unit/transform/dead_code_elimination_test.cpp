#include "pass_tester.h"

namespace iropt {

TEST_CASE("dead bindings are removed, chains of them in one run", "[dce]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", t.F23());
  const Var* b = t.NewVar("b", t.F23());
  const Var* c = t.NewVar("c", t.F23());
  const Binding* used = t.Bind(c, t.CallOp("relax.exp", {x}, t.F23()));
  t.AddMain(
      {x},
      {t.Block({t.Bind(a, t.CallOp("relax.exp", {x}, t.F23())), t.Bind(b, t.CallOp("relax.exp", {a}, t.F23())), used})},
      c);
  CHECK(t.Run(Dce()));
  CHECK(t.Text() == "c = exp(x); c");
  CHECK(t.body()->blocks[0]->bindings[0] == used);
}

TEST_CASE("a function without dead bindings stays the same pointer", "[dce]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", t.F23());
  t.AddMain({x}, {t.Block({t.Bind(a, t.CallOp("relax.exp", {x}, t.F23()))})}, a);
  CHECK_FALSE(t.Run(Dce()));
}

TEST_CASE("values that only a dead local function uses are dead", "[dce]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* captured = t.NewVar("captured", t.F23());
  const Var* p = t.NewVar("p", t.F23());
  const Var* inner = t.NewVar("inner", t.F23());
  const auto* body = t.Seq({t.Block({t.Bind(inner, t.CallOp("relax.add", {p, captured}, t.F23()))})}, inner);
  const Function* f = t.MakeFunction({p}, body);
  const Var* closure = t.NewVar("closure", f->type);
  t.AddMain({x}, {t.Block({t.Bind(captured, t.CallOp("relax.exp", {x}, t.F23())), t.Bind(closure, f)})}, x);
  CHECK(t.Run(Dce()));
  CHECK(t.Text() == "x");
}

TEST_CASE("a local function that only calls itself is dead", "[dce]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* p = t.NewVar("p", t.F23());
  const Var* again = t.NewVar("again", t.F23());
  const Var* self = t.NewVar("self", FuncType::Get(std::vector<const Type*>{t.F23()}, t.F23()));
  const auto* body = t.Seq({t.Block({t.Bind(again, t.CallOf(self, {p}, t.F23()))})}, again);
  t.AddMain({x}, {t.Block({t.Bind(self, t.MakeFunction({p}, body))})}, x);
  CHECK(t.Run(Dce()));
  CHECK(t.Text() == "x");
}

TEST_CASE("impure calls stay, also in unused conditionals", "[dce]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* cond = t.NewVar("cond", TensorType::Get(std::vector<const PrimExpr*>{}, DataType::Bool()));
  const auto branch = [&](bool impure) {
    const Var* v = t.NewVar("v", t.F23());
    const Var* dead = t.NewVar("dead", t.F23());
    const Call* pure = t.CallOp("relax.exp", {x}, t.F23());
    const Call* packed = t.CallOf(t.Packed("effect"), {x}, t.F23(), {t.F23()});
    return t.Seq({t.Block({t.Bind(dead, pure), t.Bind(v, impure ? packed : pure)})}, v);
  };
  const Var* kept = t.NewVar("kept", t.F23());
  const Var* gone = t.NewVar("gone", t.F23());
  const Expr* impure_if = t.workspace().New<If>(cond, branch(false), branch(true), t.F23());
  const Expr* pure_if = t.workspace().New<If>(cond, branch(false), branch(false), t.F23());
  t.AddMain({x, cond}, {t.Block({t.Bind(kept, impure_if), t.Bind(gone, pure_if)})}, x, false);
  CHECK(t.Run(Dce()));
  CHECK(t.Text() == "kept = if cond {v = exp(x); v} else {v = effect(x); v}; x");
}

TEST_CASE("empty blocks are removed, and their neighbours are joined", "[dce]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const Var* a = t.NewVar("a", t.F23());
  const Var* dead = t.NewLocal("dead", t.F23());
  const Var* b = t.NewVar("b", t.F23());
  t.AddMain({x},
            {t.Block({t.Bind(a, t.CallOp("relax.exp", {x}, t.F23()))}),
             t.Dataflow({t.Bind(dead, t.CallOp("relax.exp", {a}, t.F23()))}),
             t.Block({t.Bind(b, t.CallOp("relax.exp", {a}, t.F23()))})},
            b);
  CHECK(t.Run(Dce()));
  CHECK(t.body()->blocks.size() == 1);
  CHECK(t.Text() == "a = exp(x); b = exp(a); b");
}

TEST_CASE("a shape that only a type refers to is used", "[dce]") {
  PassTester t;
  const Var* s = t.NewVar("s", t.Shape({t.Int(2), t.Int(3)}));
  const Var* x = t.NewVar("x", TensorType::Get(2, t.Float32()));
  const Var* shape = t.NewVar("shape", s->type);
  const Type* cast_type = TensorType::WithShapeVar(t.workspace().arena(), shape, t.Float32());
  const Var* y = t.NewVar("y", cast_type);
  t.AddMain({s, x}, {t.Block({t.Bind(shape, s), t.Cast(y, x, cast_type)})}, x);
  CHECK_FALSE(t.Run(Dce()));
}

namespace {

Result<Module> RunOnModule(PassTester& t, std::vector<std::string> entries,
                           std::vector<std::string>* errors = nullptr) {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  AnalysisManager analyses;
  Result<Module> result = DeadCodeElimination(t.module(), entries, 2, engine, analyses);
  for (const Diagnostic& d : buffer.diagnostics()) {
    if (errors) errors->push_back(d.message);
  }
  return result;
}

// A function that returns its parameter, or the result of another function for it.
void AddFunction(PassTester& t, std::string_view name, bool visible, std::string_view callee = {}) {
  const Var* x = t.NewVar("x", t.F23());
  const DictAttr* attrs = DictAttr::Empty();
  if (visible) attrs = attrs->With(attr::kGlobalSymbol, StrAttr::Get(name));
  if (callee.empty()) return t.Add(name, t.MakeFunction({x}, t.Seq({}, x), true, attrs));
  const Var* y = t.NewVar("y", t.F23());
  const auto* call = t.CallOf(GlobalVar::Get(callee), {x}, t.F23());
  t.Add(name, t.MakeFunction({x}, t.Seq({t.Block({t.Bind(y, call)})}, y), true, attrs));
}

std::vector<std::string> Names(const Module& module) {
  std::vector<std::string> names;
  for (const ModuleEntry& entry : module.functions()) names.emplace_back(entry.var->name);
  return names;
}

}  // namespace

TEST_CASE("functions that nothing can reach go", "[dce]") {
  PassTester t;
  AddFunction(t, "leaf", false);
  AddFunction(t, "middle", false, "leaf");
  AddFunction(t, "circle", false, "circle");
  AddFunction(t, "entry", true, "middle");
  AddFunction(t, "listed", false);
  const Result<Module> result = RunOnModule(t, {"listed"});
  REQUIRE(result.ok());
  CHECK(Names(*result) == std::vector<std::string>{"leaf", "middle", "entry", "listed"});
}

TEST_CASE("no function is removed from a module that lacks one", "[dce]") {
  PassTester t;
  AddFunction(t, "unused", false);
  AddFunction(t, "entry", true, "elsewhere");
  const Result<Module> result = RunOnModule(t, {});
  REQUIRE(result.ok());
  CHECK(Names(*result) == std::vector<std::string>{"unused", "entry"});
}

TEST_CASE("entry functions must exist", "[dce]") {
  PassTester t;
  AddFunction(t, "entry", true);
  std::vector<std::string> errors;
  const Result<Module> result = RunOnModule(t, {"entri"}, &errors);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::PassFailed);
  CHECK(errors == std::vector<std::string>{"the module has no entry function 'entri'; did you mean 'entry'?"});
}

}  // namespace iropt
