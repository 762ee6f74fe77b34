#include "iropt/ir/module.h"

#include <string>

#include "catch.h"
#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"

namespace iropt {
namespace {

const Function* MakeFunction(Workspace& workspace, const char* param_name) {
  const Var* param = workspace.NewVar(param_name, ObjectType::Get());
  const auto* body = workspace.New<SeqExpr>(List<const BindingBlock*>(), param, ObjectType::Get());
  return workspace.New<Function>(workspace.Copy(std::vector<const Var*>{param}), body, ObjectType::Get(), true,
                                 DictAttr::Empty(),
                                 FuncType::Get(std::vector<const Type*>{ObjectType::Get()}, ObjectType::Get()));
}

void Add(Module& module, std::string_view name) {
  Workspace workspace;
  const Function* function = MakeFunction(workspace, "x");
  module.Set(GlobalVar::Get(name), function, workspace.Finish());
}

TEST_CASE("functions keep the order in which they were added", "[ir]") {
  Module module;
  for (const char* name : {"c", "a", "b"}) Add(module, name);
  Add(module, "a");
  REQUIRE(module.size() == 3);
  CHECK(module.functions()[1].var->name == "a");
  CHECK(module.IndexOf(GlobalVar::Get("b")) == 2);
  CHECK(module.Find("nobody_has_this_name") == nullptr);
  module.Remove(GlobalVar::Get("c"));
  CHECK(module.IndexOf(GlobalVar::Get("c")) == -1);
  CHECK(module.IndexOf(GlobalVar::Get("a")) == 0);
  Add(module, "c");
  module.Filter({false, true, true});
  CHECK(module.Find("a") == nullptr);
  CHECK(module.Find("b") == &module.functions()[0]);
  CHECK(module.Find("c") == &module.functions()[1]);
}

TEST_CASE("a copy of a module shares functions until one is replaced", "[ir]") {
  Module module;
  Add(module, "f");
  Add(module, "g");
  Module copy = module;
  Add(copy, "f");
  CHECK(copy.functions()[0].func != module.functions()[0].func);
  CHECK(copy.functions()[1].func == module.functions()[1].func);
  CHECK(module.TypeOf(GlobalVar::Get("f")) == copy.TypeOf(GlobalVar::Get("f")));
  CHECK(module.TypeOf(GlobalVar::Get("h")) == nullptr);
}

TEST_CASE("a function outlives the module that made it", "[ir]") {
  Module copy;
  {
    Module module;
    Add(module, "f");
    copy = module;
  }
  CHECK(To<Function>(copy.functions()[0].func)->params[0]->name() == "x");
}

TEST_CASE("a rewritten function keeps the nodes that it still uses", "[ir]") {
  Module module;
  Add(module, "f");
  const auto* old = To<Function>(module.functions()[0].func);
  Workspace workspace(module, module.functions()[0].storage);
  const Var* var = workspace.NewVar("y", ObjectType::Get());
  CHECK(var->id == 1);
  const auto* impure = workspace.New<Function>(old->params, old->body, old->ret_type, false, old->attrs, old->type);
  module.SetAt(0, impure, workspace.Finish());
  CHECK(module.functions()[0].storage->num_vars == 2);
  CHECK(module.functions()[0].storage->arenas.size() == 2);
  CHECK(To<Function>(module.functions()[0].func)->params[0]->name() == "x");
}

TEST_CASE("unique names count up, also past many", "[ir]") {
  Module module;
  CHECK(module.UniqueName("u") == "u");
  Add(module, "u");
  CHECK(module.UniqueName("u") == "u1");
  for (int i = 1; i < 50; ++i) Add(module, std::string("u").append(std::to_string(i)));
  CHECK(module.UniqueName("u") == "u50");
}

TEST_CASE("arrays compare by content", "[ir]") {
  const auto make = [](float last) {
    auto array = NDArray::Make(DataType::Float(32), {2, 2});
    array->MutableAs<float>()[3] = last;
    return array;
  };
  CHECK(*make(1) == *make(1));
  CHECK(make(1)->Hash() == make(1)->Hash());
  CHECK_FALSE(*make(1) == *make(2));
  CHECK(make(1)->Hash() != make(2)->Hash());
  CHECK(make(0)->num_bytes() == 16);
  CHECK(NDArray::Make(DataType::Float(32), {0, 5})->data() != nullptr);
  const auto owner = make(7);
  const auto view = NDArray::View(DataType::Float(32), owner->shape(), owner->data(), owner);
  CHECK(view->As<float>()[3] == 7);
}

}  // namespace
}  // namespace iropt
