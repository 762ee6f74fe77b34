// Direct calls and other references to functions of a module.
#include "iropt/analysis/relax/references.h"

#include "../catch.h"
#include "graph_maker.h"
#include "iropt/analysis/relax/call_graph.h"

using namespace iropt;

namespace {

// main calls f, and passes g on; h calls itself.
void AddFunctions(GraphMaker& m) {
  const Type* t = m.Tensor({2});
  const auto global = [](std::string_view name) { return GlobalVar::Get(name); };
  for (const char* name : {"f", "g"}) {
    const Var* p = m.NewVar("p", t);
    m.Add(name, m.MakeFunction({p}, m.Seq({}, p)));
  }
  const Var* q = m.NewVar("q", t);
  const Var* again = m.NewVar("again", t);
  m.Add("h", m.MakeFunction({q}, m.Seq({m.Block({m.Bind(again, m.CallOf(global("h"), {q}, t))})}, again)));
  const Var* x = m.NewVar("x", t);
  const Var* y = m.NewVar("y", t);
  const Var* z = m.NewVar("z", ObjectType::Get());
  m.AddMain({x}, {m.Block({m.Bind(y, m.CallOf(global("f"), {x}, t)), m.Bind(z, global("g"))})}, y, true,
            DictAttr::Empty()->With(attr::kGlobalSymbol, StrAttr::Get("main")));
}

}  // namespace

TEST_CASE("functions with only direct calls", "[analysis]") {
  GraphMaker m;
  AddFunctions(m);
  const auto any = [](size_t, const Call&) { return true; };
  const auto none = [](size_t, const Call&) { return false; };
  // f, g, h, main
  CHECK(FunctionsWithOnlyDirectCalls(m.module(), ComputeCalledFunctions, any) ==
        std::vector<bool>{true, false, true, false});
  CHECK(FunctionsWithOnlyDirectCalls(m.module(), ComputeCalledFunctions, none) ==
        std::vector<bool>{false, false, false, false});
}

TEST_CASE("the first reference to a function", "[analysis]") {
  GraphMaker m;
  AddFunctions(m);
  const auto& main = *To<Function>(m.module().Find("main")->func);
  const auto reference_to = [&](size_t wanted) {
    return FindReference(main, m.module(), [wanted](size_t index) { return index == wanted; });
  };
  REQUIRE(reference_to(0));
  CHECK(reference_to(0)->callee == GlobalVar::Get("f"));
  CHECK(Is<Call>(reference_to(0)->place));
  // The name of a function has no location.
  REQUIRE(reference_to(1));
  CHECK(Is<Var>(reference_to(1)->place));
  CHECK_FALSE(reference_to(2));
}

TEST_CASE("a call graph uses the given source of called functions", "[analysis]") {
  GraphMaker m;
  AddFunctions(m);
  int asked = 0;
  const CallGraph graph = MakeCallGraph(m.module(), [&](const ModuleEntry& entry) {
    ++asked;
    return ComputeCalledFunctions(entry);
  });
  CHECK(asked == 4);
  CHECK(graph.post_order == MakeCallGraph(m.module()).post_order);
  CHECK(graph.post_order.back() == 3);
  CHECK(graph.recursive == std::vector<bool>{false, false, true, false});
}
