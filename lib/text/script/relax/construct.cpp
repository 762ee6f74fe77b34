#include "construct.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "iropt/ir/narrow_element.h"
#include "iropt/op/op.h"
#include "text/script/narrow_literals.h"

namespace iropt::text {
namespace {

using Kind = PyValue::Kind;

// Nested lists as a shape and the values in them, in order; false if the lists are ragged. Iterates level by level,
// because the nesting in the text is unbounded.
bool FlattenLists(const PyValue& value, std::vector<int64_t>& shape, std::vector<const PyValue*>& leaves) {
  const auto is_list = [](const PyValue* v) { return v->is_list(); };
  leaves = {&value};
  while (!leaves.empty() && is_list(leaves[0])) {
    const size_t length = leaves[0]->items().size();
    std::vector<const PyValue*> next;
    for (const PyValue* list : leaves) {
      if (!is_list(list) || list->items().size() != length) return false;
      for (const PyValue& item : list->items()) next.push_back(&item);
    }
    shape.push_back(static_cast<int64_t>(length));
    leaves = std::move(next);
  }
  return std::none_of(leaves.begin(), leaves.end(), is_list);
}

// Stores a literal as element `index`; false if the element type can't hold it.
template <class From>
bool StoreElement(NDArray& array, size_t index, From value) {
  if (!IsElementType(array.dtype()))
    return StoreLiteral(static_cast<double>(value), array.dtype(), array.mutable_data()[index]);
  bool ok = false;
  DispatchElement(array.dtype(), [&](auto type) {
    using To = typename decltype(type)::type;
    To& element = array.MutableAs<To>()[index];
    ok = ConvertElement(value, &element);
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) ok = ok && static_cast<From>(element) == value;
  });
  return ok;
}

// R.cuda(1) is R.device(2, 1); the numbers are DLPack's.
struct DeviceName {
  std::string_view name;
  int64_t type;
};
constexpr DeviceName kDevices[] = {{"cpu", 1},      {"cuda", 2},     {"gpu", 2},    {"opencl", 4},
                                   {"vulkan", 7},   {"metal", 8},    {"vpi", 9},    {"rocm", 10},
                                   {"ext_dev", 12}, {"hexagon", 16}, {"webgpu", 15}};

std::shared_ptr<NDArray> ConstArray(RelaxExprParser& p, const PyValue& value, DataType dtype) {
  std::vector<int64_t> shape;
  std::vector<const PyValue*> leaves;
  if (!FlattenLists(value, shape, leaves)) {
    p.Error(value.span, "bad-constant", "the lists of a constant must have equal lengths");
    return nullptr;
  }
  if (!IsStoredType(dtype)) {
    p.Error(value.span, "bad-constant", fmt::format("there are no constants of type {}", dtype.ToString()));
    return nullptr;
  }
  std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const PyValue& leaf = *leaves[i];
    const auto special = leaf.kind == Kind::kString ? SpecialFloat(leaf.string()) : std::nullopt;
    bool ok = true;
    if (leaf.beyond_int64 && dtype != DataType::UInt(64)) {
      ok = false;
    } else if (leaf.kind == Kind::kInt) {
      ok = StoreElement(*array, i, leaf.integer);
    } else if (leaf.kind == Kind::kBool) {
      ok = StoreElement(*array, i, static_cast<int64_t>(leaf.boolean));
    } else if (leaf.kind == Kind::kFloat) {
      ok = StoreElement(*array, i, leaf.real);
    } else if (special) {
      ok = StoreElement(*array, i, *special);
    } else {
      ok = false;
    }
    if (!ok) {
      p.Error(leaf.span, "bad-constant", fmt::format("this is not a value of type {}", dtype.ToString()));
      return nullptr;
    }
  }
  return array;
}

// R.const(value, dtype): a scalar or nested lists of them. Without a dtype: int32, float32, bool as in TVM.
bool ParseConst(RelaxExprParser& p, uint32_t begin, PyValue& out) {
  PyArgs given;
  p.set_any_integer(true);
  const bool parsed = p.ParseArguments(given, begin);
  p.set_any_integer(false);
  if (!parsed) return false;
  const Span span = given.span;
  PyValues& args = given.positional;
  for (const PyKeyword& k : given.keywords) {
    if (k.name != "dtype" && k.name != "value")
      return p.Error(k.span, "unknown-argument", fmt::format("R.const has no argument '{}'", k.name));
    args.push_back(k.value);
  }
  if (args.empty() || args.size() > 2)
    return p.Error(span, "missing-argument", "R.const takes a value and a data type");
  DataType dtype;
  if (args.size() == 2 && args[1].kind != Kind::kNone) {
    const auto named = args[1].kind == Kind::kString ? DataType::Parse(args[1].string()) : std::nullopt;
    if (!named || named->is_void() || named->is_handle())
      return p.Error(args[1].span, "unknown-dtype", "this is not a data type of constants");
    dtype = *named;
  } else {
    std::vector<int64_t> shape;
    std::vector<const PyValue*> leaves;
    static_cast<void>(FlattenLists(args[0], shape, leaves));  // ragged lists are reported below
    const bool real =
        std::any_of(leaves.begin(), leaves.end(), [](const PyValue* v) { return v->kind == Kind::kFloat; });
    const bool boolean = !leaves.empty() && leaves[0]->kind == Kind::kBool;
    dtype = real || leaves.empty() ? DataType::Float(32) : boolean ? DataType::Bool() : DataType::Int(32);
  }
  const std::shared_ptr<NDArray> array = ConstArray(p, args[0], dtype);
  if (!array) return false;
  p.ws_.arena().Retain(array);
  std::vector<const PrimExpr*> dims;
  for (const int64_t d : array->shape()) dims.push_back(IRContext::Current().Int(d));
  auto* constant = p.ws_.New<Constant>(array.get(), TensorType::Get(dims, dtype));
  constant->set_span(span);
  out = PyValue(constant);
  return true;
}

// R.dist.const(1, R.DTensor(...))
bool MakeDistConst(RelaxExprParser& p, std::span<const PyValue> args, Span span, PyValue& out) {
  const auto* type = args.size() > 1 && args[1].kind == Kind::kType ? As<DTensorType>(args[1].type) : nullptr;
  if (!type) return p.Error(span, "missing-argument", "R.dist.const takes a value and an R.DTensor type");
  const std::shared_ptr<NDArray> array = ConstArray(p, args[0], type->tensor->dtype);
  if (!array) return false;
  p.ws_.arena().Retain(array);
  auto* constant = p.ws_.New<Constant>(array.get(), type);
  constant->set_span(span);
  out = PyValue(constant);
  return true;
}

bool MakeLeaf(RelaxExprParser& p, std::string_view name, std::span<const PyValue> args, Span span, PyValue& out) {
  const PyValue& arg = args[0];
  Expr* expr = nullptr;
  if (name == "shape") {
    if (!arg.is_list()) return p.Error(arg.span, "bad-shape", "R.shape takes a list of dimensions");
    std::vector<const PrimExpr*> dims;
    for (const PyValue& v : arg.items()) {
      dims.push_back(p.ToDim(v));
      if (!dims.back()) return false;
    }
    expr = p.ws_.New<ShapeExpr>(p.ws_.Copy(dims), ShapeType::Get(dims));
  } else if (name == "prim_value") {
    const Expr* made = ToRelaxExpr(arg, p.ws_);
    if (!made || !Is<PrimValue>(made))
      return p.Error(arg.span, "bad-expression", "R.prim_value takes a number or a scalar expression");
    expr = p.ws_.New<PrimValue>(*To<PrimValue>(made));
  } else if (name == "str" || name == "ExternFunc") {
    if (arg.kind != Kind::kString) return p.Error(arg.span, "bad-expression", fmt::format("R.{} takes a string", name));
    const std::string_view text = p.ws_.arena().CopyString(arg.string());
    if (name == "str") {
      expr = p.ws_.New<StringImm>(text, ObjectType::Get());
    } else {
      expr = p.ws_.New<ExternFunc>(text, DictAttr::Empty(), nullptr);
      p.anf().Typed(expr);
    }
  } else if (name == "dtype") {
    const auto dtype = arg.kind == Kind::kString ? DataType::Parse(arg.string()) : std::nullopt;
    if (!dtype) return p.Error(arg.span, "unknown-dtype", "R.dtype takes the name of a data type");
    expr = p.ws_.New<DataTypeImm>(*dtype, ObjectType::Get());
  } else {
    return MakeDistConst(p, args, span, out);
  }
  expr->set_span(span);
  out = PyValue(expr);
  return true;
}

bool MakeDevice(RelaxExprParser& p, const PyArgs& args, PyValue& out) {
  static constexpr std::string_view kNames[] = {"dev_type", "dev_id"};
  static constexpr std::string_view kNewerNames[] = {"device_type", "index"};
  const bool newer = std::ranges::any_of(args.keywords, [](const PyKeyword& keyword) {
    return std::ranges::find(kNewerNames, keyword.name) != std::end(kNewerNames);
  });
  const PyValue* v[2] = {};
  bool ok = args.positional.size() <= 2;
  if (ok && !p.Bind(args, "R.device", newer ? kNewerNames : kNames, 0, v)) return false;
  const Attr* values[2];
  for (size_t i = 0; i < 2; ++i) {
    ok = ok && (!v[i] || v[i]->is(Kind::kInt));
    if (!ok) return p.Error(args.span, "bad-expression", "R.device takes dev_type and dev_id, two integers");
    values[i] = IntAttr::Get(v[i] ? v[i]->integer : i == 0 ? 1 : 0, DataType::Int(32));
  }
  out = PyValue(ObjectAttr::Get("relax.device", kNames, values), args.span);
  return true;
}

// R.linear(data, weight, bias): the product with the transposed weight, plus the bias; not an operator of its own.
bool MakeLinear(RelaxExprParser& p, const PyArgs& args, uint32_t begin, PyValue& out) {
  const PyValue* v[4];
  if (args.positional.size() > 4)
    return p.Error(args.positional[4].span, "too-many-arguments", "R.linear takes at most 4 positional arguments");
  if (!p.Bind(args, "R.linear", {"data", "weight", "bias", "out_dtype"}, 0, v)) return false;
  if (!v[0] || !v[1])
    return p.Error(args.span, "missing-argument", "missing arguments 'data' and 'weight' in call to R.linear");
  const auto call = [&](std::string_view op, std::span<const PyValue> operands, std::span<const PyKeyword> attrs,
                        PyValue& result) {
    return p.MakeOpCall(*FindGraphOpByScript(op), operands, attrs, begin, result);
  };
  PyValue operands[] = {*v[0], {}};
  const PyKeyword out_dtype{.name = "out_dtype", .span = {}, .value = v[3] ? *v[3] : PyValue()};
  if (!call("permute_dims", {v[1], 1}, {}, operands[1]) || !call("matmul", operands, {&out_dtype, 1}, out))
    return false;
  if (!v[2] || v[2]->is(Kind::kNone)) return true;
  operands[0] = out;
  operands[1] = *v[2];
  return call("add", operands, {}, out);
}

// R.nn.relu6(x) is R.clip(x, 0, 6).
bool MakeRelu6(RelaxExprParser& p, const PyArgs& args, uint32_t begin, PyValue& out) {
  const PyValue* v[1];
  if (!p.Bind(args, "R.nn.relu6", {"data"}, 1, v)) return false;
  const PyValue operands[] = {*v[0], PyValue::Int(0, args.span), PyValue::Int(6, args.span)};
  return p.MakeOpCall(*FindGraphOpByScript("clip"), operands, {}, begin, out);
}

// R.emit_with_ty("relax.builtin.alloc_tensor", (operands...), (types...)): a call as it is. It is R.emit_with_sinfo up
// to TVM 0.25, whose types are sinfo_args.
bool MakeTypedCall(RelaxExprParser& p, std::string_view name, PyArgs& args, PyValue& out) {
  const std::string_view types_name = name == "emit_with_sinfo" ? "sinfo_args" : "ty_args";
  for (PyKeyword& k : args.keywords) {
    if (k.name == RelaxExprParser::Keyword("ty_args")) k.name = types_name;
  }
  const PyValue* v[3];
  if (!p.Bind(args, fmt::format("R.{}", name), {"op", "args", types_name}, 2, v)) return false;
  const OpInfo* op = v[0]->is(Kind::kString) ? FindOp(v[0]->string()) : nullptr;
  if (!op || op->intrinsic)
    return p.Error(v[0]->span, "bad-expression", "expected the name of an operator, such as \"relax.add\"");
  if (!v[1]->is_list()) return p.Error(v[1]->span, "bad-expression", "expected the operands in a list");
  std::vector<const Expr*> operands;
  for (const PyValue& item : v[1]->items()) {
    operands.push_back(p.ToExpr(item));
    if (!operands.back()) return false;
  }
  const TupleType* types = v[2] ? TypeArguments(p, *v[2]) : nullptr;
  if (v[2] && !types) return false;
  auto* call = p.ws_.New<iropt::Call>(op->op, p.ws_.Copy(operands), nullptr, types, nullptr);
  call->set_span(args.span);
  out = PyValue(call);
  return true;
}

// R.call_packed("name", operands..., attributes..., sinfo_args=(...))
bool ParseCallPacked(RelaxExprParser& p, uint32_t begin, PyValue& out) {
  PyArgs given;
  if (!p.ParseArguments(given, begin)) return false;
  const PyValues& args = given.positional;
  const Span span = given.span;
  if (args.empty() || (!args[0].is(Kind::kString) && !args[0].is(Kind::kExpr)))
    return p.Error(span, "missing-argument", "R.call_packed takes the name of a packed function first");
  const TupleType* type_args = nullptr;
  std::string_view key = "DictAttrs";
  std::vector<std::string_view> names;
  std::vector<const Attr*> values;
  for (const PyKeyword& k : given.keywords) {
    if (k.name == "sinfo_args") {
      if (!(type_args = TypeArguments(p, k.value))) return false;
    } else if (k.name == "attrs_type_key" && k.value.kind == Kind::kString) {
      key = k.value.string();
    } else {
      const Attr* attr = ToLiteralAttr(k.value);
      if (!attr) return p.Error(k.value.span, "bad-expression", "this is not an attribute value");
      names.push_back(k.name);
      values.push_back(attr);
    }
  }
  std::vector<const Expr*> operands;
  for (size_t i = 1; i < args.size(); ++i) {
    operands.push_back(p.ToExpr(args[i]));
    if (!operands.back()) return false;
  }
  const Expr* callee = args[0].kind == Kind::kExpr ? args[0].expr : nullptr;
  if (!callee) {
    auto* func = p.ws_.New<ExternFunc>(p.ws_.arena().CopyString(args[0].string()), DictAttr::Empty(), nullptr);
    func->set_span(args[0].span);
    callee = p.anf().Typed(func);
  }
  const Attr* attrs = names.empty() ? nullptr : ObjectAttr::Get(key, names, values);
  auto* call = p.ws_.New<iropt::Call>(callee, p.ws_.Copy(operands), attrs, type_args, nullptr);
  call->set_span(span);
  out = PyValue(call);
  return true;
}

}  // namespace

const TupleType* TypeArguments(RelaxExprParser& p, const PyValue& value) {
  std::vector<const Type*> types;
  if (value.kind == Kind::kType) {
    types.push_back(value.type);
  } else if (value.is_list()) {
    for (const PyValue& v : value.items()) {
      if (v.kind != Kind::kType) return p.Error(v.span, "bad-expression", "expected a type");
      types.push_back(v.type);
    }
  } else {
    return p.Error(value.span, "bad-expression", "expected a type or a tuple of types");
  }
  return p.types().MakeTupleType(types);
}

bool ParseConstructor(RelaxExprParser& p, std::string_view name, uint32_t begin, PyValue& out, bool& known) {
  known = true;
  if (name == "const") return ParseConst(p, begin, out);
  if (name == "call_packed") return ParseCallPacked(p, begin, out);
  if (name == "ShapeExpr") name = "shape";
  static constexpr std::string_view kNames[] = {
      "shape",      "prim_value", "str",          "dtype",          "tuple",
      "ExternFunc", "device",     "match_cast",   "dist.const",     "TupleGetItem",
      "linear",     "nn.relu6",   "emit_with_ty", "emit_with_type", "emit_with_sinfo"};
  const auto* device = std::ranges::find(kDevices, name, &DeviceName::name);
  if (std::ranges::find(kNames, name) == std::end(kNames) && device == std::end(kDevices)) {
    known = false;
    return false;
  }
  PyArgs all;
  if (!p.ParseArguments(all, begin)) return false;
  PyValues& args = all.positional;
  const Span span = all.span;
  if (device != std::end(kDevices)) args.insert(args.begin(), PyValue::Int(device->type, span));
  if (name == "device" || device != std::end(kDevices)) return MakeDevice(p, all, out);
  if (name == "linear") return MakeLinear(p, all, begin, out);
  if (name == "nn.relu6") return MakeRelu6(p, all, begin, out);
  if (name.starts_with("emit_with_")) return MakeTypedCall(p, name, all, out);
  for (const PyKeyword& k : all.keywords) args.push_back(k.value);
  if (name == "tuple") {
    out = p.ListOf(Kind::kTuple, args, span);
    return true;
  }
  if (name == "match_cast")
    return p.Error(span, "bad-expression", "R.match_cast is only allowed as the value of a binding");
  if (name == "TupleGetItem") {
    if (args.size() != 2) return p.Error(span, "missing-argument", "R.TupleGetItem takes a tuple and an index");
    out = args[0];
    return p.MakeProjection(args[1], span, out);
  }
  if (args.empty()) return p.Error(span, "missing-argument", fmt::format("R.{} needs an argument", name));
  return MakeLeaf(p, name, args, span, out);
}

}  // namespace iropt::text
