#include "iropt/ir/structural.h"

#include <bit>
#include <functional>
#include <vector>

#include "catch.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/ndarray.h"
#include "testing.h"

namespace iropt {
namespace {

using namespace testing;

bool BothEqual(const Node* a, const Node* b) {
  const bool equal = StructuralEqual(a, b);
  CHECK(StructuralEqual(b, a) == equal);
  CHECK(FirstDifference(a, b).has_value() == !equal);
  CHECK((StructuralHash(a) == StructuralHash(b)) == equal);
  return equal;
}

TEST_CASE("all NaNs are one value", "[ir]") {
  Workspace workspace;
  const auto real = [&](uint64_t bits) {
    return workspace.New<tir::FloatImm>(DataType::Float(64), std::bit_cast<double>(bits));
  };
  const uint64_t infinity = 0x7FF0000000000000;
  CHECK(BothEqual(real(infinity | 1), real(infinity | 1ULL << 51)));
  CHECK(BothEqual(real(infinity | 1), real(infinity | 1ULL << 63 | 1)));
  CHECK_FALSE(BothEqual(real(infinity | 1), real(infinity)));
  CHECK_FALSE(BothEqual(real(0), real(1ULL << 63)));
}

TEST_CASE("names of variables do not count", "[ir]") {
  Workspace workspace;
  CHECK(BothEqual(NewChain(workspace, 3, kAdd, "x"), NewChain(workspace, 3, kAdd, "y")));
  CHECK_FALSE(BothEqual(NewChain(workspace, 3), NewChain(workspace, 4)));
  CHECK_FALSE(BothEqual(NewChain(workspace, 3), NewChain(workspace, 3, kNeg)));
  CHECK_FALSE(BothEqual(NewChain(workspace, 3), NewChain(workspace, 3, kAdd, "x", ObjectType::Get())));
  CHECK(StructuralHash(NewChain(workspace, 3)) != StructuralHash(NewChain(workspace, 4)));
}

// def f(a, b): return op(a or b, a or b)
const Function* TwoParams(Workspace& workspace, int first, int second, const Type* a_type, const Type* b_type) {
  const std::vector<const Var*> params{workspace.NewVar("a", a_type), workspace.NewVar("b", b_type)};
  return NewFunction(
      workspace, params,
      NewCall(workspace, kAdd, {params[static_cast<size_t>(first)], params[static_cast<size_t>(second)]}, a_type));
}

TEST_CASE("uses must refer to matching definitions", "[ir]") {
  Workspace workspace;
  const Type* type = ObjectType::Get();
  CHECK(BothEqual(TwoParams(workspace, 0, 1, type, type), TwoParams(workspace, 0, 1, type, type)));
  CHECK_FALSE(BothEqual(TwoParams(workspace, 0, 1, type, type), TwoParams(workspace, 1, 0, type, type)));
  CHECK_FALSE(BothEqual(TwoParams(workspace, 0, 0, type, type), TwoParams(workspace, 0, 1, type, type)));
}

TEST_CASE("symbolic variables of parameters match by first occurrence", "[ir]") {
  Workspace workspace;
  IRContext& context = IRContext::Current();
  const auto fresh = [&](bool same) {
    const PrimExpr* n = context.NewSymVar("n");
    const PrimExpr* m = same ? n : context.NewSymVar("m");
    return TwoParams(workspace, 0, 1, Tensor({n}), Tensor({m}));
  };
  CHECK(BothEqual(fresh(true), fresh(true)));
  CHECK(BothEqual(fresh(false), fresh(false)));
  CHECK_FALSE(BothEqual(fresh(true), fresh(false)));
}

TEST_CASE("shared nodes that are skipped do not hide a difference", "[ir]") {
  Workspace workspace;
  IRContext& context = IRContext::Current();
  const PrimExpr* n = context.NewSymVar("n");
  const PrimExpr* m = context.NewSymVar("m");
  const Var* shared = workspace.NewVar("a", Tensor({n}));
  const auto make = [&](const PrimExpr* dim) {
    const Var* other = workspace.NewVar("b", Tensor({dim}));
    return NewFunction(workspace, {shared, other}, NewCall(workspace, kAdd, {shared, other}, shared->type));
  };
  CHECK_FALSE(BothEqual(make(n), make(m)));
  CHECK(BothEqual(make(n), make(n)));
}

TEST_CASE("a match_cast defines symbolic variables", "[ir]") {
  Workspace workspace;
  IRContext& context = IRContext::Current();
  const auto make = [&](bool same) {
    const PrimExpr* n = context.NewSymVar("n");
    const PrimExpr* m = same ? n : context.NewSymVar("m");
    const Var* x = workspace.NewVar("x", ObjectType::Get());
    const Type* type = Tensor({n, m});
    const Var* y = workspace.NewVar("y", type);
    const std::vector<const Binding*> bindings{workspace.New<MatchCast>(y, x, type)};
    const std::vector<const BindingBlock*> blocks{workspace.New<BindingBlock>(workspace.Copy(bindings))};
    return NewFunction(workspace, {x}, workspace.New<SeqExpr>(workspace.Copy(blocks), y, ObjectType::Get()));
  };
  CHECK(BothEqual(make(true), make(true)));
  CHECK(BothEqual(make(false), make(false)));
  CHECK_FALSE(BothEqual(make(true), make(false)));
}

TEST_CASE("free variables are equal to themselves unless they may be mapped", "[ir]") {
  Workspace workspace;
  const Var* x = workspace.NewVar("x", ObjectType::Get());
  const Var* y = workspace.NewVar("y", ObjectType::Get());
  const auto call = [&](const Var* a, const Var* b) { return NewCall(workspace, kAdd, {a, b}, ObjectType::Get()); };
  CHECK(BothEqual(call(x, y), call(x, y)));
  CHECK_FALSE(BothEqual(call(x, y), call(y, x)));
  const StructuralOptions map{.map_free_vars = true};
  CHECK(StructuralEqual(call(x, y), call(y, x), map));
  CHECK(StructuralHash(call(x, y), map) == StructuralHash(call(y, x), map));
  CHECK_FALSE(StructuralEqual(call(x, x), call(x, y), map));
  CHECK_FALSE(StructuralEqual(call(x, y), call(x, x), map));
}

TEST_CASE("nested functions and shadowing", "[ir]") {
  Workspace workspace;
  // Both functions bind the parameter of the inner function, once as the outer variable itself.
  const auto make = [&](bool use_outer) {
    const Var* outer = workspace.NewVar("x", ObjectType::Get());
    const Var* inner = workspace.NewVar("x", ObjectType::Get());
    const Function* nested = NewFunction(workspace, {inner}, use_outer ? outer : inner);
    const Var* f = workspace.NewVar("f", nested->type);
    const std::vector<const Binding*> bindings{workspace.New<VarBinding>(f, nested)};
    const std::vector<const BindingBlock*> blocks{workspace.New<BindingBlock>(workspace.Copy(bindings))};
    return NewFunction(workspace, {outer}, workspace.New<SeqExpr>(workspace.Copy(blocks), f, f->type));
  };
  CHECK(BothEqual(make(true), make(true)));
  CHECK_FALSE(BothEqual(make(true), make(false)));
}

TEST_CASE("kinds of variables and blocks count", "[ir]") {
  Workspace workspace;
  const auto make = [&](bool dataflow) {
    FirstArgInferrer inferrer;
    BlockBuilder builder(workspace, &inferrer);
    const Var* x = workspace.NewVar("x", ObjectType::Get());
    dataflow ? builder.BeginDataflowBlock() : builder.BeginBindingBlock();
    const Var* out = dataflow ? builder.EmitOutput(x) : builder.Emit(x);
    return NewFunction(workspace, {x}, builder.Seq({builder.EndBlock()}, out));
  };
  CHECK(BothEqual(make(true), make(true)));
  CHECK_FALSE(BothEqual(make(true), make(false)));
}

TEST_CASE("constants compare by their data", "[ir]") {
  Workspace workspace;
  const auto make = [&](float value) {
    auto array = NDArray::Make(DataType::Float(32), {1});
    array->MutableAs<float>()[0] = value;
    workspace.arena().Retain(array);
    return workspace.New<Constant>(array.get(), Tensor({Int(1)}));
  };
  CHECK(BothEqual(make(1), make(1)));
  CHECK_FALSE(BothEqual(make(1), make(2)));
}

TEST_CASE("attributes compare by value, whatever index maps call their parameters", "[ir]") {
  Workspace workspace;
  IRContext& context = IRContext::Current();
  const Var* x = workspace.NewVar("x", ObjectType::Get());
  const auto call = [&](const Attr* attr) { return NewCall(workspace, kAdd, {x}, ObjectType::Get(), attr); };
  const auto map = [&](const char* name, const PrimExpr* result = nullptr) {
    const tir::Var* param = context.NewSymVar(name);
    return IndexMapAttr::Get(std::vector{param}, std::vector<const PrimExpr*>{result ? result : param});
  };
  CHECK(BothEqual(call(map("i")), call(map("j"))));
  CHECK_FALSE(BothEqual(call(map("i")), call(map("i", context.Int(0)))));
  CHECK_FALSE(BothEqual(call(IntAttr::Get(1)), call(IntAttr::Get(2))));
  CHECK_FALSE(BothEqual(call(IntAttr::Get(1)), call(nullptr)));
}

TEST_CASE("PrimFuncs compare up to names", "[ir]") {
  Workspace workspace;
  CHECK(BothEqual(NewLoop(workspace, 8, "i"), NewLoop(workspace, 8, "j")));
  CHECK_FALSE(BothEqual(NewLoop(workspace, 8), NewLoop(workspace, 9)));
  CHECK_FALSE(BothEqual(NewLoop(workspace, 8, "i", 0.0), NewLoop(workspace, 8, "i", -0.0)));
}

TEST_CASE("one variable for two loops is as good as two", "[ir]") {
  Workspace workspace;
  const DataType int32 = DataType::Int(32);
  const auto loop = [&](const tir::Var* var) {
    return workspace.New<tir::For>(var, IRContext::Current().Int(0, int32), IRContext::Current().Int(4, int32),
                                   tir::ForKind::kSerial, workspace.New<tir::Evaluate>(var), nullptr,
                                   DictAttr::Empty());
  };
  const auto seq = [&](const tir::Var* first, const tir::Var* second) {
    return workspace.New<tir::SeqStmt>(workspace.Copy(std::vector<const tir::Stmt*>{loop(first), loop(second)}));
  };
  const tir::Var* i = workspace.NewPrimVar("i", int32);
  const tir::Var* j = workspace.NewPrimVar("j", int32);
  CHECK(BothEqual(seq(i, i), seq(i, j)));
}

TEST_CASE("two buffers with the same fields over one memory are as good as one", "[ir]") {
  Workspace workspace;
  const DataType float32 = DataType::Float(32);
  const auto* info = tir::PointerInfo::Get(float32, "global");
  const auto buffer = [&](const tir::Var* data, int64_t size) {
    return workspace.New<tir::Buffer>(data, float32, workspace.NextVarId(),
                                      workspace.Copy(std::vector<const PrimExpr*>{Int(size)}), List<const PrimExpr*>(),
                                      Int(0), List<int64_t>(), "A", 64, 1, tir::BufferType::kDefault);
  };
  const auto store = [&](const tir::Buffer* to) {
    const PrimExpr* value = workspace.New<tir::FloatImm>(float32, 1.0);
    return workspace.New<tir::BufferStore>(to, value, workspace.Copy(std::vector<const PrimExpr*>{Int(0)}));
  };
  // with T.allocate([8], "float32", "global") as data: first[0] = 1; second[0] = 1; first[0] = 1
  const auto stores = [&](auto&& second_of) -> const tir::Stmt* {
    const tir::Var* data = workspace.NewPrimVar("data", DataType::Handle(), info);
    const tir::Buffer* first = buffer(data, 8);
    const std::vector<const tir::Stmt*> seq = {store(first), store(second_of(first, data)), store(first)};
    return workspace.New<tir::Allocate>(data, float32, workspace.Copy(std::vector<const PrimExpr*>{Int(8)}), Int(1),
                                        DictAttr::Empty(), workspace.New<tir::SeqStmt>(workspace.Copy(seq)));
  };
  const tir::Stmt* one = stores([](const tir::Buffer* first, const tir::Var*) { return first; });
  const tir::Stmt* two = stores([&](const tir::Buffer*, const tir::Var* data) { return buffer(data, 8); });
  const tir::Stmt* longer = stores([&](const tir::Buffer*, const tir::Var* data) { return buffer(data, 9); });
  const tir::Var* other_data = workspace.NewPrimVar("other", DataType::Handle(), info);
  const tir::Stmt* other = stores([&](const tir::Buffer*, const tir::Var*) { return buffer(other_data, 8); });
  CHECK(BothEqual(one, two));
  CHECK_FALSE(BothEqual(one, longer));
  CHECK_FALSE(BothEqual(one, other));
  CHECK_FALSE(BothEqual(two, other));
}

TEST_CASE("the first difference is described with its place", "[ir]") {
  Workspace workspace;
  CHECK(FirstDifference(NewChain(workspace, 3), NewChain(workspace, 3, kNeg)) ==
        "body.blocks[0].bindings[0].value.op.name: \"test.add\", \"test.neg\"");
  CHECK(FirstDifference(NewChain(workspace, 1), NewChain(workspace, 2)) == "body.blocks[0].bindings: 2 items, 3 items");
  CHECK(FirstDifference(NewLoop(workspace, 8), NewLoop(workspace, 9)) == "param_buffers[0].shape[0].value: 8, 9");
  CHECK(FirstDifference(TwoParams(workspace, 0, 1, ObjectType::Get(), ObjectType::Get()),
                        TwoParams(workspace, 0, 0, ObjectType::Get(), ObjectType::Get())) ==
        "body.args[1]: variable b, variable a");
}

TEST_CASE("expressions with shared nodes compare in linear time", "[ir]") {
  Workspace workspace;
  const auto make = [&] {
    const PrimExpr* expr = workspace.NewPrimVar("x", DataType::Int(64));
    for (int i = 0; i < 200; ++i) expr = workspace.New<tir::Add>(expr, expr);
    return expr;
  };
  const StructuralOptions map{.map_free_vars = true};
  CHECK(StructuralEqual(make(), make(), map));
  CHECK(StructuralHash(make(), map) == StructuralHash(make(), map));
}

Module MakeModule(const std::vector<std::pair<const char*, int>>& functions) {
  Module module;
  for (const auto& [name, length] : functions) {
    Workspace workspace;
    const Function* func = NewChain(workspace, length);
    module.Set(GlobalVar::Get(name), func, workspace.Finish());
  }
  return module;
}

TEST_CASE("modules compare functions by name", "[ir]") {
  const Module module = MakeModule({{"f", 1}, {"g", 2}});
  CHECK(StructuralEqual(module, MakeModule({{"g", 2}, {"f", 1}})));
  CHECK(StructuralHash(module) == StructuralHash(MakeModule({{"g", 2}, {"f", 1}})));
  CHECK_FALSE(StructuralEqual(module, MakeModule({{"f", 2}, {"g", 1}})));
  CHECK(StructuralHash(module) != StructuralHash(MakeModule({{"f", 2}, {"g", 1}})));
  CHECK(FirstDifference(module, MakeModule({{"f", 1}})) == "functions.g: only in the first module");
  CHECK(FirstDifference(module, MakeModule({{"f", 1}, {"e", 3}, {"g", 2}})) ==
        "functions.e: only in the second module");
  CHECK(FirstDifference(module, MakeModule({{"f", 1}, {"g", 3}})) ==
        "functions.g.body.blocks[0].bindings: 3 items, 4 items");
  Module other = module;
  other.set_attrs(DictAttr::Empty()->With("a", IntAttr::Get(1)));
  CHECK_FALSE(StructuralEqual(module, other));
  other = module;
  other.mutable_global_infos()["vdevice"] = {VDeviceAttr::Get(nullptr, 0, "global")};
  CHECK(FirstDifference(module, other) == "global_infos: not the same");
}

TEST_CASE("a module builder has every function once", "[ir]") {
  ModuleBuilder builder(MakeModule({{"f", 1}}));
  const auto add = [&](int length, const char* hint) {
    Workspace workspace;
    const Function* func = NewChain(workspace, length, kAdd, "y");
    return builder.AddFunction(func, workspace.Finish(), hint);
  };
  CHECK(add(1, "same")->name == "f");
  CHECK(add(2, "f")->name == "f1");
  CHECK(add(2, "other")->name == "f1");
  CHECK(add(3, "a.b")->name == "a_b");
  Workspace workspace;
  const Function* func = NewChain(workspace, 7);
  builder.UpdateFunction(GlobalVar::Get("f"), func, workspace.Finish());
  CHECK(add(7, "g")->name == "f");
  CHECK(add(1, "g")->name == "g");
  CHECK(builder.Finish().size() == 4);
}

TEST_CASE("constants compare as the caller says", "[ir]") {
  Workspace workspace;
  const auto data = NDArray::Make(DataType::Float(32), {2});
  const auto tuple = [&](const Type* type) {
    const Expr* constant = workspace.New<Constant>(data.get(), type);
    return workspace.New<Tuple>(workspace.Copy(std::vector<const Expr*>{constant}), nullptr);
  };
  const Tuple* a = tuple(Tensor({Int(2)}));
  const Tuple* b = tuple(ObjectType::Get());
  CHECK(StructuralEqual(a, b));
  const auto same_types = [](const Constant& x, const Constant& y) { return TypeEqual(x.type, y.type); };
  CHECK_FALSE(StructuralEqual(a, b, {.same_constants = same_types}));
  CHECK(StructuralEqual(a, tuple(Tensor({Int(2)})), {.same_constants = same_types}));
}

TEST_CASE("scalar expressions compare with variables by identity", "[ir]") {
  Workspace workspace;
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const tir::Var* j = workspace.NewPrimVar("i", DataType::Int(32));
  const auto add = [&](const PrimExpr* a, const PrimExpr* b) { return workspace.New<tir::Add>(a, b); };
  const auto number = [&](int64_t value) { return workspace.New<tir::IntImm>(DataType::Int(32), value); };
  CHECK(DeepEqual(add(i, number(1)), add(i, number(1))));
  CHECK_FALSE(DeepEqual(add(i, number(1)), add(i, number(2))));
  CHECK_FALSE(DeepEqual(add(i, number(1)), add(j, number(1))));
  CHECK_FALSE(DeepEqual(add(i, j), workspace.New<tir::Sub>(i, j)));
  CHECK_FALSE(DeepEqual(number(1), workspace.New<tir::IntImm>(DataType::Int(64), 1)));
  const auto real = [&](double value) { return workspace.New<tir::FloatImm>(DataType::Float(32), value); };
  CHECK(DeepEqual(real(0.0), real(-0.0)));

  CHECK(DeepEqual(nullptr, static_cast<const PrimExpr*>(nullptr)));
  CHECK_FALSE(DeepEqual(i, static_cast<const PrimExpr*>(nullptr)));
  CHECK_FALSE(DeepEqual(static_cast<const PrimExpr*>(nullptr), i));

  // A binder is equal only to itself.
  const auto let = [&] { return workspace.New<tir::Let>(i, number(1), add(i, i)); };
  const PrimExpr* once = let();
  CHECK(DeepEqual(once, once));
  CHECK_FALSE(DeepEqual(let(), let()));
  CHECK(StructuralEqual(let(), let()));

  // Buffers, too, though StructuralEqual takes two views of the same memory for the same buffer.
  const tir::Buffer* a = NewLoop(workspace, 8)->param_buffers[0];
  const tir::Buffer* b = workspace.New<tir::Buffer>(*a);
  const auto load = [&](const tir::Buffer* buffer) {
    return workspace.New<tir::BufferLoad>(buffer->dtype, buffer, workspace.Copy(std::vector<const PrimExpr*>{i}));
  };
  CHECK(DeepEqual(load(a), load(a)));
  CHECK_FALSE(DeepEqual(load(a), load(b)));

  const std::vector<const PrimExpr*> list = {i, number(1)};
  CHECK(DeepEqual(list, std::vector<const PrimExpr*>{i, number(1)}));
  CHECK_FALSE(DeepEqual(list, std::vector<const PrimExpr*>{i}));
  CHECK_FALSE(DeepEqual(list, std::vector<const PrimExpr*>{i, nullptr}));
}

}  // namespace
}  // namespace iropt
