#include <fmt/format.h>

#include <deque>
#include <string>
#include <vector>

#include "catch.h"
#include "iropt/infer/py_value.h"
#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"

namespace iropt {
namespace {

using Kind = PyValue::Kind;

// ---- Literals

PyValue None() { return {}; }
PyValue Of(bool v) {
  PyValue value;
  value.kind = Kind::kBool;
  value.boolean = v;
  return value;
}
PyValue Of(int v) {
  PyValue value;
  value.kind = Kind::kInt;
  value.integer = v;
  return value;
}
PyValue Of(double v) {
  PyValue value;
  value.kind = Kind::kFloat;
  value.real = v;
  return value;
}
PyValue Of(const char* v) {
  PyValue value;
  value.kind = Kind::kString;
  value.text = {v, static_cast<uint32_t>(std::char_traits<char>::length(v))};
  return value;
}
PyValue Of(const Expr* v) {
  PyValue value;
  value.kind = Kind::kExpr;
  value.expr = v;
  return value;
}
PyValue Of(const PrimExpr* v) {
  PyValue value;
  value.kind = Kind::kPrim;
  value.prim = v;
  return value;
}
PyValue Of(const Type* v) {
  PyValue value;
  value.kind = Kind::kType;
  value.type = v;
  return value;
}
PyValue Of(const Attr* v) {
  PyValue value;
  value.kind = Kind::kAttr;
  value.attr = v;
  return value;
}

// ---- Nodes as text, as the printer writes them

std::string Text(const PrimExpr* e) {
  if (const auto* imm = As<tir::IntImm>(e)) {
    return imm->dtype == DataType::Int(64) ? std::to_string(imm->value)
                                           : fmt::format("{}({})", imm->dtype.ToString(), imm->value);
  }
  if (const auto* imm = As<tir::FloatImm>(e)) return fmt::format("{}({})", imm->dtype.ToString(), imm->value);
  if (const auto* var = As<tir::Var>(e)) return std::string(var->name);
  return "?";
}

template <class List, class F>
std::string Join(const List& list, F f) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + f(item);
  return text;
}

std::string Text(const Attr* a) {
  if (Is<NoneAttr>(a)) return "None";
  if (const auto* i = As<IntAttr>(a)) {
    if (i->dtype.is_bool()) return i->value ? "True" : "False";
    return i->dtype == DataType::Int(64) ? std::to_string(i->value)
                                         : fmt::format("{}:{}", i->value, i->dtype.ToString());
  }
  if (const auto* f = As<FloatAttr>(a)) {
    return f->dtype == DataType::Float(64) ? fmt::format("{}", f->value)
                                           : fmt::format("{}({})", f->dtype.ToString(), f->value);
  }
  if (const auto* s = As<StrAttr>(a)) return fmt::format("\"{}\"", s->value);
  if (const auto* t = As<DTypeAttr>(a)) return t->value.ToString();
  if (const auto* e = As<ExprAttr>(a)) return fmt::format("prim({})", Text(e->value));
  if (const auto* l = As<ListAttr>(a))
    return fmt::format("[{}]", Join(l->values, [](const Attr* v) { return Text(v); }));
  return std::string(NodeKindName(a->kind));
}

std::string Text(const Expr* e) {
  if (const auto* v = As<Var>(e)) return std::string(v->name());
  if (const auto* g = As<GlobalVar>(e)) return fmt::format("cls.{}", g->name);
  if (const auto* p = As<PrimValue>(e)) return fmt::format("prim({})", Text(p->value));
  if (const auto* s = As<StringImm>(e)) return fmt::format("str({})", s->value);
  if (const auto* d = As<DataTypeImm>(e)) return fmt::format("dtype({})", d->value.ToString());
  if (const auto* f = As<ExternFunc>(e)) return fmt::format("extern({})", f->global_symbol);
  if (const auto* t = As<Tuple>(e)) return fmt::format("({})", Join(t->fields, [](const Expr* f) { return Text(f); }));
  if (const auto* s = As<ShapeExpr>(e))
    return fmt::format("shape({})", Join(s->values, [](const PrimExpr* d) { return Text(d); }));
  if (const auto* c = As<Constant>(e)) return fmt::format("const({})", c->data->dtype().ToString());
  return std::string(NodeKindName(e->kind));
}

std::string Text(const Call* call) {
  std::string text =
      fmt::format("{}({}", To<Op>(call->op)->name.substr(6), Join(call->args, [](const Expr* a) { return Text(a); }));
  if (const auto* attrs = As<ObjectAttr>(call->attrs)) {
    for (size_t i = 0; i < attrs->names.size(); ++i)
      text += fmt::format("; {}={}", attrs->names[i], Text(attrs->values[i]));
  }
  return text + ")";
}

// ---- Calls

struct NamedValue {
  std::string_view name;
  PyValue value;
};

class Script {
 public:
  // A variable of a tensor type.
  PyValue Tensor(std::string_view name, DataType dtype = DataType::Float(32)) {
    return Of(static_cast<const Expr*>(workspace.NewVar(name, TensorType::Get(2, dtype))));
  }
  PyValue List(std::vector<PyValue> items, Kind kind = Kind::kList) {
    PyValue value;
    value.kind = kind;
    const auto& kept = lists_.emplace_back(std::move(items));
    value.list = {kept.data(), static_cast<uint32_t>(kept.size())};
    return value;
  }
  PyValue TupleOf(std::vector<PyValue> items) { return List(std::move(items), Kind::kTuple); }

  const Call* Build(std::string_view op, std::vector<PyValue> positional, std::vector<NamedValue> named = {}) {
    std::vector<PyKeyword> keywords;
    for (const NamedValue& n : named) keywords.push_back({n.name, Span::Of(7, 8), n.value});
    DiagnosticEngine engine(&errors_);
    const OpInfo* info = FindGraphOpByScript(op);
    REQUIRE(info != nullptr);
    const Call* call = BuildOpCall(*info, positional, keywords, Span::Of(1, 2), workspace, engine, &module);
    CHECK((call == nullptr) == engine.has_errors());
    return call;
  }
  std::string Print(std::string_view op, std::vector<PyValue> positional, std::vector<NamedValue> named = {}) {
    const Call* call = Build(op, std::move(positional), std::move(named));
    return call ? Text(call) : Message();
  }
  // kind: message of the last error
  std::string Message() const {
    const Diagnostic& last = errors_.diagnostics().back();
    return fmt::format("{}: {}", last.kind, last.message);
  }
  const Diagnostic& last_error() const { return errors_.diagnostics().back(); }

  Workspace workspace;
  Module module;

 private:
  std::deque<std::vector<PyValue>> lists_;
  DiagnosticBuffer errors_;
};

TEST_CASE("operands by position and by name") {
  Script s;
  const PyValue x = s.Tensor("x");
  const PyValue y = s.Tensor("y");
  CHECK(s.Print("add", {x, y}) == "add(x, y)");
  CHECK(s.Print("add", {x}, {{"x2", y}}) == "add(x, y)");
  CHECK(s.Print("add", {}, {{"x2", y}, {"x1", x}}) == "add(x, y)");
  CHECK(s.Print("nn.relu", {}, {{"data", x}}) == "nn.relu(x)");
  CHECK(s.Print("shape_of", {}, {{"expr", x}}) == "shape_of(x)");
  CHECK(s.Print("null_value", {}) == "null_value()");
}

TEST_CASE("wrong arguments are located errors") {
  Script s;
  const PyValue x = s.Tensor("x");
  CHECK(s.Print("add", {x}) == "missing-argument: missing argument 'x2' in call to R.add");
  CHECK(s.last_error().span == SourceSpan{1, 2});
  PyValue third = Of(1);
  third.span = Span::Of(5, 6);
  CHECK(s.Print("add", {x, x, third}) == "too-many-arguments: R.add takes at most 2 positional arguments");
  CHECK(s.last_error().span == SourceSpan{5, 6});
  CHECK(s.Print("add", {x, x}, {{"x2", x}}) == "repeated-argument: argument 'x2' of R.add is given twice");
  CHECK(s.Print("nn.conv2d", {x, x}, {{"stride", Of(1)}}) ==
        "unknown-argument: R.nn.conv2d has no argument 'stride'; did you mean 'strides'?");
  CHECK(s.last_error().span == SourceSpan{7, 8});
  REQUIRE(s.last_error().fix_its.size() == 1);
  CHECK(s.last_error().fix_its[0].replacement == "strides");
  CHECK(s.Print("add", {x, x}, {{"nonsense", Of(1)}}) == "unknown-argument: R.add has no argument 'nonsense'");
}

TEST_CASE("wrong literals name the expected kind") {
  Script s;
  const PyValue x = s.Tensor("x");
  CHECK(s.Print("add", {x, Of("y")}) == "bad-argument: argument 'x2' of R.add must be a tensor, not a string");
  CHECK(s.Print("add", {x, None()}) == "bad-argument: argument 'x2' of R.add must be a tensor, not None");
  CHECK(s.Print("reshape", {x, Of(3)}) ==
        "bad-argument: argument 'shape' of R.reshape must be a shape, not an integer");
  CHECK(s.Print("reshape", {x, s.List({Of(1.5)})}) ==
        "bad-argument: argument 'shape' of R.reshape must be a shape, not a list");
  CHECK(s.Print("concat", {Of(1)}) == "bad-argument: argument 'tensors' of R.concat must be a tuple, not an integer");
  CHECK(s.Print("astype", {x, Of("flot32")}) ==
        "unknown-dtype: unknown data type \"flot32\"; did you mean \"float32\"?");
  CHECK(s.Print("astype", {x, Of(1)}) ==
        "bad-argument: argument 'dtype' of R.astype must be the name of a data type, not an integer");
  CHECK(s.Print("nn.softmax", {x, Of(0.5)}) ==
        "bad-argument: argument 'axis' of R.nn.softmax must be an integer, not a number");
  CHECK(s.Print("sum", {x, Of("a")}) ==
        "bad-argument: argument 'axis' of R.sum must be a list of integers or None, not \"a\"");
  CHECK(s.Print("sum", {x, Of(1), Of(7)}) ==
        "bad-argument: argument 'keepdims' of R.sum must be True or False, not an integer");
  CHECK(s.Print("nn.conv2d", {x, x, s.List({Of(1), Of(2), Of(3)})}) ==
        "bad-argument: argument 'strides' of R.nn.conv2d must be 1 or 2 integers, not a list");
  CHECK(s.Print("nn.conv2d", {x, x}, {{"padding", s.List({Of(1), Of(2), Of(3)})}}) ==
        "bad-argument: argument 'padding' of R.nn.conv2d must be 1, 2 or 4 integers, not a list");
  CHECK(s.Print("call_tir", {Of("f"), Of(1)}, {{"out_sinfo", Of(ObjectType::Get())}}) ==
        "bad-argument: argument 'args' of R.call_tir must be a tuple, not an integer");
  CHECK(s.Print("call_tir", {x, x}, {{"out_sinfo", Of(1)}}) ==
        "bad-argument: argument 'out_sinfo' of R.call_tir must be a type or a list of types, not an integer");
}

TEST_CASE("short forms of convolution and pooling") {
  Script s;
  const PyValue x = s.Tensor("x");
  const PyValue w = s.Tensor("w");
  CHECK(s.Print("nn.conv2d", {x, w}) ==
        "nn.conv2d(x, w; strides=[1, 1]; padding=[0, 0, 0, 0]; dilation=[1, 1]; groups=1; data_layout=\"NCHW\"; "
        "kernel_layout=\"OIHW\"; out_layout=\"NCHW\"; out_dtype=void)");
  CHECK(s.Print("nn.conv2d", {x, w},
                {{"strides", Of(2)},
                 {"padding", s.TupleOf({Of(1), Of(2)})},
                 {"data_layout", Of("NHWC")},
                 {"out_dtype", Of("float16")}}) ==
        "nn.conv2d(x, w; strides=[2, 2]; padding=[1, 2, 1, 2]; dilation=[1, 1]; groups=1; data_layout=\"NHWC\"; "
        "kernel_layout=\"OIHW\"; out_layout=\"NHWC\"; out_dtype=float16)");
  CHECK(s.Print("nn.conv1d", {x, w}, {{"padding", s.List({Of(1)})}, {"out_layout", Of("NWC")}}) ==
        "nn.conv1d(x, w; strides=[1]; padding=[1, 1]; dilation=[1]; groups=1; data_layout=\"NCW\"; "
        "kernel_layout=\"OIW\"; "
        "out_layout=\"NWC\"; out_dtype=void)");
  // The record and the script function list the fields in different orders.
  CHECK(s.Print("nn.max_pool2d", {x, s.List({Of(3), Of(2)}), Of(2), Of(1), Of(1), Of(true)}) ==
        "nn.max_pool2d(x; pool_size=[3, 2]; strides=[2, 2]; dilation=[1, 1]; padding=[1, 1, 1, 1]; ceil_mode=True; "
        "count_include_pad=False; layout=\"NCHW\"; out_layout=\"NCHW\")");
  CHECK(s.Print("nn.adaptive_avg_pool2d", {x}) ==
        "nn.adaptive_avg_pool2d(x; output_size=None; layout=\"NCHW\"; out_layout=\"NCHW\")");
  CHECK(s.Print("nn.adaptive_avg_pool2d", {x, Of(7)}) ==
        "nn.adaptive_avg_pool2d(x; output_size=[7, 7]; layout=\"NCHW\"; out_layout=\"NCHW\")");
}

TEST_CASE("axes, shapes and scalars") {
  Script s;
  const PyValue x = s.Tensor("x");
  const PrimExpr* n = IRContext::Current().NewSymVar("n");
  CHECK(s.Print("sum", {x, Of(1)}) == "sum(x; axis=[1]; keepdims=False)");
  CHECK(s.Print("sum", {x}, {{"axis", None()}, {"keepdims", Of(1)}}) == "sum(x; axis=None; keepdims=True)");
  CHECK(s.Print("expand_dims", {x, Of(0)}) == "expand_dims(x; axis=[0])");
  CHECK(s.Print("permute_dims", {x, s.List({Of(1), Of(0)})}) == "permute_dims(x; axes=[1, 0])");
  CHECK(s.Print("permute_dims", {x}) == "permute_dims(x; axes=None)");
  CHECK(s.Print("reshape", {x, s.TupleOf({Of(2), Of(n)})}) == "reshape(x, shape(2, n))");
  CHECK(s.Print("clip", {x, Of(0), Of(6.0)}) == "clip(x, prim(0), prim(float64(6)))");
  CHECK(s.Print("split", {x, Of(2)}) == "split(x; indices_or_sections=2; axis=0)");
  CHECK(s.Print("split", {x, s.TupleOf({Of(2), Of(4)}), Of(1)}) == "split(x; indices_or_sections=[2, 4]; axis=1)");
  CHECK(s.Print("concat", {s.List({x, x}), Of(1)}) == "concat((x, x); axis=1)");
  CHECK(s.Print("tile", {x, Of(2)}) == "tile(x; repeats=[2])");
  CHECK(s.Print("take", {x, x}, {{"axis", Of(0)}}) == R"(take(x, x; axis=0; mode="fast"))");
  CHECK(s.Print("cumsum", {x}, {{"exclusive", None()}}) == "cumsum(x; axis=None; dtype=void; exclusive=False)");
  CHECK(s.Print("strided_slice", {x},
                {{"axes", s.List({Of(0)})}, {"begin", s.List({Of(0)})}, {"end", s.List({Of(n)})}}) ==
        "strided_slice(x, (prim(0)), (prim(0)), (prim(n)); assume_inbound=False)");
  CHECK(s.Print("image.resize2d", {x, Of(8)}, {{"roi", Of(0.5)}})
            .starts_with("image.resize2d(x, shape(8, 8); roi=[float32(0.5), float32(0.5), float32(0.5), float32(0.5)]; "
                         "layout=\"NCHW\""));
  CHECK(
      s.Print("image.resize2d", {x, s.List({Of(8)})}).starts_with("image.resize2d(x, shape(8, 8); roi=[float32(0), "));
  CHECK(s.Print("unique", {x}) == "unique(x, prim(1), prim(0), prim(0), prim(0))");
  CHECK(s.Print("unique", {x}, {{"axis", Of(1)}}) == "unique(x, prim(1), prim(0), prim(0), prim(0), prim(1))");
}

TEST_CASE("element types and constants") {
  Script s;
  const PyValue x = s.Tensor("x");
  CHECK(s.Print("astype", {x, Of("float16")}) == "astype(x; dtype=float16)");
  CHECK(s.Print("matmul", {x, x}) == "matmul(x, x; out_dtype=void)");
  CHECK(s.Print("zeros", {s.TupleOf({Of(2), Of(3)}), Of("float32")}) == "zeros(shape(2, 3); dtype=float32)");
  CHECK(s.Print("argsort", {x}) == "argsort(x; axis=-1; descending=False; dtype=int32)");
  CHECK(s.Print("quantize", {x, x, x, Of(0)}) == "quantize(x, x, x; out_dtype=int8; axis=0)");
  CHECK(s.Print("nn.pad", {x, s.List({Of(0), Of(1)})}) ==
        "nn.pad(x, const(int32); pad_width=[0, 1]; pad_mode=\"constant\")");
  CHECK(s.Print("nn.pad", {x, s.List({Of(0), Of(1)}), Of(1.5)}).starts_with("nn.pad(x, const(float32);"));
}

TEST_CASE("arange takes its missing bound and type from the others") {
  Script s;
  CHECK(s.Print("arange", {Of(5)}) == "arange(prim(0), prim(5), prim(1); dtype=int64)");
  CHECK(s.Print("arange", {Of(1), Of(5), Of(0.5)}) == "arange(prim(1), prim(5), prim(float32(0.5)); dtype=float32)");
  CHECK(s.Print("arange", {Of(1), Of(5)}, {{"dtype", Of("int32")}}) ==
        "arange(prim(1), prim(5), prim(1); dtype=int32)");
  const Expr* scalar = s.workspace.NewVar("k", PrimType::Get(DataType::Int(64)));
  CHECK(s.Print("arange", {Of(scalar)}) == "arange(prim(0), k, prim(1); dtype=int64)");
}

TEST_CASE("the padding of layout_transform takes the type of the tensor") {
  Script s;
  const tir::Var* param = IRContext::Current().NewSymVar("i");
  const PrimExpr* result = param;
  const PyValue map = Of(static_cast<const Attr*>(IndexMapAttr::Get(std::span(&param, 1), std::span(&result, 1))));
  const auto pad = [&](DataType dtype, PyValue value) {
    const Call* call = s.Build("layout_transform", {s.Tensor("x", dtype), map, value});
    REQUIRE(call != nullptr);
    return Text(To<ObjectAttr>(call->attrs)->Find("pad_value"));
  };
  CHECK(pad(DataType::Int(8), Of(3)) == "prim(int8(3))");
  CHECK(pad(DataType::Float(16), Of(3)) == "prim(float16(3))");
  CHECK(pad(DataType::Float(32), None()) == "None");
  CHECK(s.Print("layout_transform", {s.Tensor("x"), Of(1)}) ==
        "bad-argument: argument 'index_map' of R.layout_transform must be an index map, not an integer");
  const Call* call = s.Build("layout_transform", {s.Tensor("x"), map});
  CHECK(Text(To<ObjectAttr>(call->attrs)->Find("axis_separators")) == "[]");
}

TEST_CASE("calls of PrimFuncs") {
  Script s;
  const PyValue x = s.Tensor("x");
  const PyValue f = Of(static_cast<const Expr*>(GlobalVar::Get("f")));
  const Type* tensor = TensorType::Get(2, DataType::Float(32));
  const PyValue type = Of(tensor);

  const Call* call = s.Build("call_tir", {f, s.TupleOf({x, x})}, {{"out_sinfo", type}});
  CHECK(Text(call) == "call_tir(cls.f, (x, x))");
  CHECK(call->type_args == TupleType::Get(std::array{tensor}));
  CHECK(call->args[1]->type == TupleType::Get(std::array{tensor, tensor}));

  call = s.Build("call_tir", {f, x}, {{"out_sinfo", s.List({type, type})}, {"tir_vars", s.List({Of(3)})}});
  CHECK(Text(call) == "call_tir(cls.f, (x), shape(3))");
  const Type* both = TupleType::Get(std::array{tensor, tensor});
  CHECK(call->type_args == TupleType::Get(std::array{both}));

  // A single variable of a tuple type is the tuple of operands.
  const Expr* tuple = s.workspace.NewVar("t", both);
  CHECK(s.Print("call_tir", {f, Of(tuple), type}) == "call_tir(cls.f, t)");
  CHECK(s.Print("call_tir_inplace", {f, x}, {{"out_sinfo", type}, {"inplace_indices", Of(0)}}) ==
        "call_tir_inplace(cls.f, (x); inplace_indices=[0])");
  CHECK(s.Print("call_tir_with_grad", {f, x}, {{"out_sinfo", type}, {"te_grad_name", Of("g")}}) ==
        "call_tir_with_grad(cls.f, (x); te_grad_name=\"g\"; te_grad_kwargs=DictAttr)");
  CHECK(s.Print("call_dps_packed", {Of("pack"), s.TupleOf({x}), type}) == "call_dps_packed(extern(pack), (x))");
  CHECK(s.Print("dist.call_tir", {f, x}, {{"out_sinfo", type}}) == "call_tir(cls.f, (x))");
  CHECK(s.Print("call_tir", {f, x}) == "missing-argument: missing argument 'out_sinfo' in call to R.call_tir");
}

TEST_CASE("calls of packed functions and closures") {
  Script s;
  const PyValue x = s.Tensor("x");
  const Type* object = ObjectType::Get();
  const Call* call =
      s.Build("call_pure_packed", {Of("f"), x, Of("text"), Of(1)}, {{"sinfo_args", s.TupleOf({Of(object)})}});
  CHECK(Text(call) == "call_pure_packed(extern(f), x, str(text), prim(1))");
  CHECK(call->type_args == TupleType::Get(std::array{object}));
  call = s.Build("call_inplace_packed", {Of("f"), x},
                 {{"inplace_indices", s.List({Of(0), Of(-1)})}, {"sinfo_args", Of(object)}});
  CHECK(Text(call) == "call_inplace_packed(extern(f), x; inplace_indices=[0, -1])");
  CHECK(call->type_args == TupleType::Get(std::array{object}));
  call = s.Build("call_builtin_with_ctx", {Of("f"), s.TupleOf({x})});
  CHECK(call->type_args == nullptr);
  CHECK(s.Print("make_closure", {x, s.TupleOf({})}) == "make_closure(x, ())");
  CHECK(s.Print("call_pure_packed", {Of("f")}) ==
        "missing-argument: missing argument 'sinfo_args' in call to R.call_pure_packed");
  CHECK(s.Print("call_pure_packed", {Of(1)}, {{"sinfo_args", Of(object)}}) ==
        "bad-argument: argument 'func' of R.call_pure_packed must be a function, not an integer");
}

TEST_CASE("formats stand before the values that they format") {
  Script s;
  const PyValue x = s.Tensor("x");
  CHECK(s.Print("print", {}) == "print(str())");
  CHECK(s.Print("print", {x, x}, {{"format", Of("{} {}")}}) == "print(str({} {}), x, x)");
  CHECK(s.Print("assert_op", {x, x, x}, {{"format", Of("no")}}) == "assert_op(x, str(no), x, x)");
  CHECK(s.Print("assert_op", {x, s.List({x, x})}) == "assert_op(x, str(), x, x)");
  CHECK(s.Print("assert_op", {Of(true)}, {{"format_args", s.List({x})}}) == "assert_op(prim(1), str(), x)");
  CHECK(s.Print("assert_op", {x, x}, {{"format_args", x}}) ==
        "repeated-argument: argument 'format_args' of R.assert_op is given twice");
}

TEST_CASE("storage, views and devices") {
  Script s;
  const PyValue x = s.Tensor("x");
  CHECK(s.Print("builtin.alloc_tensor", {s.List({Of(2)}), Of("float32"), Of(0)}) ==
        "builtin.alloc_tensor(shape(2), dtype(float32), prim(0), str(global))");
  CHECK(s.Print("vm.alloc_storage", {s.List({Of(8)}), Of(0), Of("uint8")}) ==
        "vm.alloc_storage(shape(8), prim(0), dtype(uint8), str(global))");
  CHECK(s.Print("memory.view", {x}) == "memory.view(x, (), (), ())");
  CHECK(s.Print("memory.view", {x, s.TupleOf({}), Of("int8"), s.TupleOf({})}) == "memory.view(x, (), dtype(int8), ())");
  CHECK(s.Print("memory.view", {x, s.List({})}) == "memory.view(x, shape(), (), ())");

  const std::array<std::string_view, 2> names{"dev_type", "dev_id"};
  const std::array<const Attr*, 2> fields{IntAttr::Get(2, DataType::Int(32)), IntAttr::Get(1, DataType::Int(32))};
  const PyValue device = Of(static_cast<const Attr*>(ObjectAttr::Get("relax.device", names, fields)));
  CHECK(s.Print("hint_on_device", {x, device}) == R"(hint_on_device(x; dev_type=2; dev_id=1; memory_scope="global"))");
  CHECK(s.Print("hint_on_device", {x, Of(1)}) == "bad-argument: R.hint_on_device needs a device, not an integer");
}

TEST_CASE("devices and meshes of the module by name") {
  Script s;
  const PyValue x = s.Tensor("x");
  const auto target = [](std::string_view kind) {
    const DictAttr::Entry entry{"kind", StrAttr::Get(kind)};
    return DictAttr::Get(std::span(&entry, 1));
  };
  const Attr* cpu = VDeviceAttr::Get(target("llvm"), 0, "global");
  const Attr* gpu0 = VDeviceAttr::Get(target("cuda"), 0, "global");
  const Attr* gpu1 = VDeviceAttr::Get(target("cuda"), 1, "global");
  s.module.mutable_global_infos()["vdevice"] = {gpu0, cpu, gpu1};
  const std::array<int64_t, 1> two{2};
  const std::array<int64_t, 2> ids{0, 2};
  const Attr* mesh = DeviceMeshAttr::Get(two, ids, true);
  s.module.mutable_global_infos()["mesh"] = {mesh};
  const auto device = [&](const char* name) -> const Attr* {
    const Call* call = s.Build("to_vdevice", {x, Of(name)});
    return call ? To<ObjectAttr>(call->attrs)->Find("dst_vdevice") : nullptr;
  };
  CHECK(device("cuda:1") == gpu1);
  CHECK(device("cuda") == gpu0);
  CHECK(device("llvm:0") == cpu);
  CHECK(device("vdevice:2") == gpu1);
  CHECK(device("cuda:2") == nullptr);
  CHECK(s.Message() ==
        "bad-argument: argument 'dst_vdevice' of R.to_vdevice must be a device of the module, such as \"cuda:0\", not "
        "\"cuda:2\"");
  CHECK(device("cuda:x") == nullptr);
  CHECK(device("metal") == nullptr);

  const Call* call = s.Build("dist.redistribute", {x, Of("mesh[0]"), Of("S[0]")});
  REQUIRE(call != nullptr);
  CHECK(To<ObjectAttr>(call->attrs)->Find("device_mesh") == mesh);
  CHECK(s.Build("dist.redistribute", {x, Of("mesh[1]"), Of("S[0]")}) == nullptr);
  CHECK(s.Build("dist.redistribute", {x, Of("mesh"), Of("S[0]")}) == nullptr);
}

TEST_CASE("a bias makes attention another operator") {
  Script s;
  const PyValue q = s.Tensor("q");
  const PyValue b = s.Tensor("b");
  CHECK(s.Print("nn.attention", {q, q, q}) == "nn.attention(q, q, q; scale=None; causal_mask=None; window_size=None)");
  CHECK(s.Print("nn.attention", {q, q, q, b}, {{"scale", Of(0.5)}}) ==
        "nn.attention_bias(q, q, q, b; scale=float32(0.5); causal_mask=None; window_size=None)");
  // Given in the order of the script function, held in the order of the operator; the keys default to the queries.
  const PyValue m = s.Tensor("m");
  CHECK(s.Print("nn.attention_var_len", {q, q, q, b, m}).starts_with("nn.attention_var_len(q, q, q, b, b, m, m;"));
  CHECK(s.Print("nn.nll_loss", {q, q}) == "nn.nll_loss(q, q; reduction=\"mean\"; ignore_index=-100)");
  CHECK(s.Print("nn.nll_loss", {q, q, b}) == "nn.nll_loss(q, q, b; reduction=\"mean\"; ignore_index=-100)");
}

TEST_CASE("literals as expressions and attributes") {
  Script s;
  CHECK(Text(ToRelaxExpr(s.TupleOf({Of(1), Of("a"), s.List({Of(2.0)})}), s.workspace)) ==
        "(prim(1), str(a), (prim(float64(2))))");
  CHECK(ToRelaxExpr(None(), s.workspace) == nullptr);
  CHECK(ToRelaxExpr(s.List({None()}), s.workspace) == nullptr);
  CHECK(Text(ToLiteralAttr(s.List({Of(1), Of(0.5), Of("a"), Of(true), None()}))) == "[1, 0.5, \"a\", True, None]");
  CHECK(ToLiteralAttr(s.Tensor("x")) == nullptr);
}

}  // namespace
}  // namespace iropt
