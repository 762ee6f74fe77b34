#include "iropt/ir/attr.h"

#include <string>
#include <vector>

#include "catch.h"
#include "iropt/ir/context.h"
#include "iropt/ir/module.h"
#include "iropt/ir/substitute.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {
namespace {

TEST_CASE("equal attributes are the same pointer", "[ir]") {
  CHECK(IntAttr::Get(3) == IntAttr::Get(3));
  CHECK(IntAttr::Get(1) != IntAttr::Bool(true));
  CHECK(StrAttr::Get("a") == StrAttr::Get(std::string("a")));
  const std::vector<const Attr*> items{IntAttr::Get(1), StrAttr::Get("x")};
  CHECK(ListAttr::Get(items) == ListAttr::Get(items));
  CHECK(ListAttr::Get(items)->content_hash == ListAttr::Get(items)->content_hash);
  CHECK(ListAttr::Get(items)->content_hash != ListAttr::Get({})->content_hash);
}

TEST_CASE("a dictionary is sorted and the last entry of a key wins", "[ir]") {
  const auto* dict = DictAttr::Get(
      std::vector<DictAttr::Entry>{{"b", IntAttr::Get(1)}, {"a", IntAttr::Get(2)}, {"b", IntAttr::Get(3)}});
  REQUIRE(dict->size() == 2);
  CHECK(dict->keys[0] == "a");
  CHECK(dict->Find("b") == IntAttr::Get(3));
  CHECK(dict->Find("c") == nullptr);
  CHECK(dict->Without("a")->With("a", IntAttr::Get(2)) == dict);
  CHECK(dict->Without("c") == dict);
  CHECK(dict->Without("a")->Without("b") == DictAttr::Empty());
}

TEST_CASE("a field of an attribute record can be replaced", "[ir]") {
  const std::vector<std::string_view> names{"axis", "keepdims"};
  const std::vector<const Attr*> values{IntAttr::Get(1), IntAttr::Bool(false)};
  const auto* attrs = ObjectAttr::Get("relax.attrs.StatisticalAttrs", names, values);
  const auto* changed = attrs->With(0, NoneAttr::Get());
  CHECK(changed->Find("axis") == NoneAttr::Get());
  CHECK(changed->Find("keepdims") == IntAttr::Bool(false));
  CHECK(changed->With(0, IntAttr::Get(1)) == attrs);
  CHECK(attrs->Find("none") == nullptr);
}

TEST_CASE("index maps are equal whatever their parameters are called", "[ir]") {
  IRContext& context = IRContext::Current();
  const auto make = [&](const char* first, const char* second, bool swap) {
    const std::vector<const tir::Var*> params{context.NewSymVar(first), context.NewSymVar(second)};
    return IndexMapAttr::Get(params, std::vector<const PrimExpr*>{params[swap], params[!swap]});
  };
  const auto* map = make("i", "j", true);
  CHECK(map == make("i", "j", true));
  CHECK(map != make("a", "b", true));
  CHECK(AttrEqual(map, make("a", "b", true)));
  CHECK(map->content_hash == make("a", "b", true)->content_hash);
  CHECK_FALSE(AttrEqual(map, make("i", "j", false)));
  CHECK(make("a", "b", true)->param_names[0] == "a");
  const auto* in_list = ListAttr::Get(std::vector<const Attr*>{map});
  CHECK(AttrEqual(in_list, ListAttr::Get(std::vector<const Attr*>{make("a", "b", true)})));
}

TEST_CASE("attributes that refer to a function are not shared", "[ir]") {
  Workspace workspace;
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const auto* attr = ExprAttr::Get(i);
  CHECK(attr->func_owned());
  CHECK(attr != ExprAttr::Get(i));
  CHECK(AttrEqual(attr, ExprAttr::Get(i)));
  CHECK(DictAttr::Get(std::vector<DictAttr::Entry>{{"a", attr}})->func_owned());
  CHECK_FALSE(ExprAttr::Get(IRContext::Current().Int(1))->func_owned());
}

TEST_CASE("symbolic variables are substituted in types and attributes", "[ir]") {
  IRContext& context = IRContext::Current();
  const tir::Var* n = context.NewSymVar("n");
  const tir::Var* m = context.NewSymVar("m");
  const tir::Add sum(n, m);
  const PrimExpr* dim = context.Intern(&sum);
  const auto* tensor = TensorType::Get(std::vector<const PrimExpr*>{dim, context.Int(4)}, DataType::Float(32));
  const auto* tuple = TupleType::Get(std::vector<const Type*>{tensor, ObjectType::Get()});
  SymVarMap swap;
  swap.Set(n, m);
  swap.Set(m, n);
  const auto* swapped = To<TupleType>(SubstituteSymVars(tuple, swap));
  const auto* first = To<tir::Add>(To<TensorType>(swapped->fields[0])->dims[0]);
  CHECK(first->a == m);
  CHECK(first->b == n);
  CHECK(SubstituteSymVars(swapped, swap) == tuple);
  CHECK(SubstituteSymVars(TypeAttr::Get(tuple), swap) == TypeAttr::Get(swapped));
  SymVarMap other;
  other.Set(context.NewSymVar("k"), context.Int(1));
  CHECK(SubstituteSymVars(tuple, other) == tuple);
}

TEST_CASE("a map of many symbolic variables", "[ir]") {
  IRContext& context = IRContext::Current();
  SymVarMap map;
  std::vector<const tir::Var*> vars;
  for (int i = 0; i < 100; ++i) {
    vars.push_back(context.NewSymVar("v"));
    map.Set(vars.back(), context.Int(i));
  }
  map.Set(vars[50], context.Int(-1));
  CHECK(map.Find(vars[50]) == context.Int(-1));
  CHECK(map.Find(vars[99]) == context.Int(99));
  CHECK(map.Find(context.NewSymVar("w")) == nullptr);
  CHECK(map.size() == 100);
}

TEST_CASE("types with a shape variable live in the arena and compare by structure", "[ir]") {
  Workspace workspace;
  const Var* shape = workspace.NewVar("s", ShapeType::Get(2));
  const auto* a = TensorType::WithShapeVar(workspace.arena(), shape, DataType::Float(32));
  const auto* b = TensorType::WithShapeVar(workspace.arena(), shape, DataType::Float(32));
  CHECK(a != b);
  CHECK(a->ndim == 2);
  CHECK(TypeEqual(a, b));
  const auto* in_tuple = TupleType::Get(workspace.arena(), std::vector<const Type*>{a});
  CHECK(in_tuple->has_shape_var());
  CHECK(in_tuple->id == 0);
  CHECK(TypeEqual(in_tuple, TupleType::Get(workspace.arena(), std::vector<const Type*>{b})));
  CHECK_FALSE(TypeEqual(a, TensorType::WithShapeVar(workspace.arena(), shape, DataType::Float(16))));
  CHECK_FALSE(TypeEqual(a, nullptr));
}

}  // namespace
}  // namespace iropt
