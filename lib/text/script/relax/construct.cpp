// R.const, R.shape, R.prim_value and the other script functions that are no operators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "iropt/ir/element.h"
#include "iropt/op/op.h"
#include "parser.h"

namespace iropt::text {
namespace {

using Kind = ScriptValue::Kind;

// Nested lists as a shape and the values in them, in order; false where the lists are ragged. Goes through the lists
// level by level, because the text decides how deep they are.
bool FlattenLists(const ScriptValue& value, std::vector<int64_t>& shape, std::vector<const ScriptValue*>& leaves) {
  const auto is_list = [](const ScriptValue* v) { return v->kind == Kind::kList || v->kind == Kind::kTuple; };
  leaves = {&value};
  while (!leaves.empty() && is_list(leaves[0])) {
    const size_t length = leaves[0]->items().size();
    std::vector<const ScriptValue*> next;
    for (const ScriptValue* list : leaves) {
      if (!is_list(list) || list->items().size() != length) return false;
      for (const ScriptValue& item : list->items()) next.push_back(&item);
    }
    shape.push_back(static_cast<int64_t>(length));
    leaves = std::move(next);
  }
  return std::none_of(leaves.begin(), leaves.end(), is_list);
}

// Stores a literal as element `index`; false where the element type can't hold it.
template <class From>
bool StoreElement(NDArray& array, size_t index, From value) {
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

}  // namespace

bool RelaxParser::ParseConstructor(std::string_view name, uint32_t begin, ScriptValue& out, bool& known) {
  known = true;
  if (name == "const") return ParseConst(begin, out);
  if (name == "call_packed") return ParseCallPacked(begin, out);
  if (name == "ShapeExpr") name = "shape";
  static constexpr std::string_view kNames[] = {"shape",      "prim_value",   "str",    "dtype",
                                                "tuple",      "ExternFunc",   "device", "match_cast",
                                                "dist.const", "TupleGetItem", "linear"};
  const auto* device = std::ranges::find(kDevices, name, &DeviceName::name);
  if (std::ranges::find(kNames, name) == std::end(kNames) && device == std::end(kDevices)) {
    known = false;
    return false;
  }
  std::vector<ScriptValue> args;
  std::vector<ScriptKeyword> keywords;
  if (!Expect(TokenKind::kLParen, "a call") || !ParseArguments(args, keywords)) return false;
  const Span span = lex_.SpanFrom(begin);
  out.span = span;
  if (device != std::end(kDevices)) {
    args.emplace(args.begin());
    args[0].kind = Kind::kInt;
    args[0].integer = device->type;
  }
  if (name == "device" || device != std::end(kDevices)) return MakeDevice(args, keywords, out);
  if (name == "linear") return MakeLinear(args, keywords, begin, out);
  for (const ScriptKeyword& k : keywords) args.push_back(k.value);
  if (name == "tuple") {
    out.kind = Kind::kTuple;
    out.list = {scratch_.Copy(std::span<const ScriptValue>(args)).data(), static_cast<uint32_t>(args.size())};
    return true;
  }
  if (name == "match_cast") return Error(span, "bad-expression", "R.match_cast stands only on the right of a binding");
  if (name == "TupleGetItem") {
    if (args.size() != 2) return Error(span, "missing-argument", "R.TupleGetItem takes a tuple and an index");
    out = args[0];
    return MakeProjection(args[1], span, out);
  }
  if (args.empty()) return Error(span, "missing-argument", fmt::format("R.{} needs an argument", name));
  return MakeLeaf(name, args, span, out);
}

bool RelaxParser::MakeLeaf(std::string_view name, std::span<const ScriptValue> args, Span span, ScriptValue& out) {
  const ScriptValue& arg = args[0];
  Expr* expr = nullptr;
  if (name == "shape") {
    if (arg.kind != Kind::kList && arg.kind != Kind::kTuple)
      return Error(arg.span, "bad-shape", "R.shape takes a list of dimensions");
    std::vector<const PrimExpr*> dims;
    for (const ScriptValue& v : arg.items()) {
      dims.push_back(ToDim(v));
      if (!dims.back()) return false;
    }
    expr = ws_.New<ShapeExpr>(ws_.Copy(dims), ShapeType::Get(dims));
  } else if (name == "prim_value") {
    const Expr* made = ScriptValueToExpr(arg, ws_);
    if (!made || !Is<PrimValue>(made))
      return Error(arg.span, "bad-expression", "R.prim_value takes a number or a scalar expression");
    expr = ws_.New<PrimValue>(*To<PrimValue>(made));
  } else if (name == "str" || name == "ExternFunc") {
    if (arg.kind != Kind::kString) return Error(arg.span, "bad-expression", fmt::format("R.{} takes a string", name));
    const std::string_view text = ws_.arena().CopyString(arg.string());
    if (name == "str") {
      expr = ws_.New<StringImm>(text, ObjectType::Get());
    } else {
      expr = ws_.New<ExternFunc>(text, DictAttr::Empty(), nullptr);
      Typed(expr);
    }
  } else if (name == "dtype") {
    const auto dtype = arg.kind == Kind::kString ? DataType::Parse(arg.string()) : std::nullopt;
    if (!dtype) return Error(arg.span, "unknown-dtype", "R.dtype takes the name of a data type");
    expr = ws_.New<DataTypeImm>(*dtype, ObjectType::Get());
  } else {
    return MakeDistConst(args, span, out);
  }
  expr->set_span(span);
  out.kind = Kind::kExpr;
  out.expr = expr;
  return true;
}

// R.dist.const(1, R.DTensor(...))
bool RelaxParser::MakeDistConst(std::span<const ScriptValue> args, Span span, ScriptValue& out) {
  const auto* type = args.size() > 1 && args[1].kind == Kind::kType ? As<DTensorType>(args[1].type) : nullptr;
  if (!type) return Error(span, "missing-argument", "R.dist.const takes a value and an R.DTensor type");
  const std::shared_ptr<NDArray> array = ConstArray(args[0], type->tensor->dtype);
  if (!array) return false;
  ws_.arena().Retain(array);
  auto* constant = ws_.New<Constant>(array.get(), type);
  constant->set_span(span);
  out.kind = Kind::kExpr;
  out.expr = constant;
  return true;
}

bool RelaxParser::MakeDevice(std::span<const ScriptValue> args, std::span<const ScriptKeyword> keywords,
                             ScriptValue& out) {
  static constexpr std::string_view kNames[] = {"dev_type", "dev_id"};
  const Attr* values[] = {IntAttr::Get(1, DataType::Int(32)), IntAttr::Get(0, DataType::Int(32))};
  const auto set = [&](size_t i, const ScriptValue& v) {
    if (i >= 2 || v.kind != Kind::kInt) return false;
    values[i] = IntAttr::Get(v.integer, DataType::Int(32));
    return true;
  };
  bool ok = true;
  for (size_t i = 0; i < args.size(); ++i) ok = ok && set(i, args[i]);
  for (const ScriptKeyword& k : keywords) {
    ok = ok && set(static_cast<size_t>(std::find(std::begin(kNames), std::end(kNames), k.name) - std::begin(kNames)),
                   k.value);
  }
  if (!ok) return Error(out.span, "bad-expression", "R.device takes dev_type and dev_id, two integers");
  out.kind = Kind::kAttr;
  out.attr = ObjectAttr::Get("relax.device", kNames, values);
  return true;
}

// R.linear(data, weight, bias): the product with the transposed weight, plus the bias; no operator of its own.
bool RelaxParser::MakeLinear(std::span<const ScriptValue> args, std::span<const ScriptKeyword> keywords, uint32_t begin,
                             ScriptValue& out) {
  static constexpr std::string_view kNames[] = {"data", "weight", "bias", "out_dtype"};
  ScriptValue values[4];
  if (args.size() > 4)
    return Error(args[4].span, "too-many-arguments", "R.linear takes at most 4 positional arguments");
  std::ranges::copy(args, values);
  for (const ScriptKeyword& k : keywords) {
    const auto i = static_cast<size_t>(std::ranges::find(kNames, k.name) - kNames);
    if (i == 4) return Error(k.name_span, "unknown-argument", fmt::format("R.linear has no argument '{}'", k.name));
    values[i] = k.value;
  }
  if (values[1].kind == Kind::kNone)
    return Error(lex_.SpanFrom(begin), "missing-argument", "R.linear needs the arguments 'data' and 'weight'");
  const auto call = [&](std::string_view op, std::span<const ScriptValue> operands,
                        std::span<const ScriptKeyword> attrs, ScriptValue& result) {
    return MakeOpCall(*FindGraphOpByScript(op), operands, attrs, begin, result);
  };
  ScriptValue operands[] = {values[0], {}};
  const ScriptKeyword out_dtype{.name = "out_dtype", .name_span = {}, .value = values[3]};
  return call("permute_dims", {&values[1], 1}, {}, operands[1]) && call("matmul", operands, {&out_dtype, 1}, out) &&
         (values[2].kind == Kind::kNone ||
          (operands[0] = out, operands[1] = values[2], call("add", operands, {}, out)));
}

std::shared_ptr<NDArray> RelaxParser::ConstArray(const ScriptValue& value, DataType dtype) {
  std::vector<int64_t> shape;
  std::vector<const ScriptValue*> leaves;
  if (!FlattenLists(value, shape, leaves)) {
    Error(value.span, "bad-constant", "the lists of a constant must have equal lengths");
    return nullptr;
  }
  if (!IsElementType(dtype)) {
    Error(value.span, "bad-constant", fmt::format("there are no constants of type {}", dtype.ToString()));
    return nullptr;
  }
  std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const ScriptValue& leaf = *leaves[i];
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
      Error(leaf.span, "bad-constant", fmt::format("this is not a value of type {}", dtype.ToString()));
      return nullptr;
    }
  }
  return array;
}

// R.const(value, dtype): a scalar or nested lists of them. Without a dtype: int32, float32, bool as in TVM.
bool RelaxParser::ParseConst(uint32_t begin, ScriptValue& out) {
  std::vector<ScriptValue> args;
  std::vector<ScriptKeyword> keywords;
  in_constant_ = true;
  const bool parsed = Expect(TokenKind::kLParen, "a call") && ParseArguments(args, keywords);
  in_constant_ = false;
  if (!parsed) return false;
  const Span span = lex_.SpanFrom(begin);
  for (const ScriptKeyword& k : keywords) {
    if (k.name != "dtype" && k.name != "value")
      return Error(k.name_span, "unknown-argument", fmt::format("R.const has no argument '{}'", k.name));
    args.push_back(k.value);
  }
  if (args.empty() || args.size() > 2) return Error(span, "missing-argument", "R.const takes a value and a data type");
  DataType dtype;
  if (args.size() == 2 && args[1].kind != Kind::kNone) {
    const auto named = args[1].kind == Kind::kString ? DataType::Parse(args[1].string()) : std::nullopt;
    if (!named || named->is_void() || named->is_handle())
      return Error(args[1].span, "unknown-dtype", "this is not a data type of constants");
    dtype = *named;
  } else {
    std::vector<int64_t> shape;
    std::vector<const ScriptValue*> leaves;
    static_cast<void>(FlattenLists(args[0], shape, leaves));  // ragged lists are reported below
    const bool real =
        std::any_of(leaves.begin(), leaves.end(), [](const ScriptValue* v) { return v->kind == Kind::kFloat; });
    const bool boolean = !leaves.empty() && leaves[0]->kind == Kind::kBool;
    dtype = real || leaves.empty() ? DataType::Float(32) : boolean ? DataType::Bool() : DataType::Int(32);
  }
  const std::shared_ptr<NDArray> array = ConstArray(args[0], dtype);
  if (!array) return false;
  ws_.arena().Retain(array);
  std::vector<const PrimExpr*> dims;
  for (const int64_t d : array->shape()) dims.push_back(IRContext::Current().Int(d));
  auto* constant = ws_.New<Constant>(array.get(), TensorType::Get(dims, dtype));
  constant->set_span(span);
  out.kind = Kind::kExpr;
  out.expr = constant;
  out.span = span;
  return true;
}

const TupleType* RelaxParser::TypeArguments(const ScriptValue& value) {
  std::vector<const Type*> types;
  if (value.kind == Kind::kType) {
    types.push_back(value.type);
  } else if (value.kind == Kind::kTuple || value.kind == Kind::kList) {
    for (const ScriptValue& v : value.items()) {
      if (v.kind != Kind::kType) return Error(v.span, "bad-expression", "expected a type");
      types.push_back(v.type);
    }
  } else {
    return Error(value.span, "bad-expression", "expected a type or a tuple of types");
  }
  return MakeTupleType(types);
}

// R.call_packed("name", operands..., attributes..., sinfo_args=(...))
bool RelaxParser::ParseCallPacked(uint32_t begin, ScriptValue& out) {
  std::vector<ScriptValue> args;
  std::vector<ScriptKeyword> keywords;
  if (!Expect(TokenKind::kLParen, "a call") || !ParseArguments(args, keywords)) return false;
  const Span span = lex_.SpanFrom(begin);
  if (args.empty() || (args[0].kind != Kind::kString && args[0].kind != Kind::kExpr)) {
    return Error(span, "missing-argument", "R.call_packed takes the name of a packed function first");
  }
  const TupleType* type_args = nullptr;
  std::string_view key = "DictAttrs";
  std::vector<std::string_view> names;
  std::vector<const Attr*> values;
  for (const ScriptKeyword& k : keywords) {
    if (k.name == "sinfo_args") {
      if (!(type_args = TypeArguments(k.value))) return false;
    } else if (k.name == "attrs_type_key" && k.value.kind == Kind::kString) {
      key = k.value.string();
    } else {
      const Attr* attr = ScriptValueToAttr(k.value);
      if (!attr) return Error(k.value.span, "bad-expression", "this is not an attribute value");
      names.push_back(k.name);
      values.push_back(attr);
    }
  }
  std::vector<const Expr*> operands;
  for (size_t i = 1; i < args.size(); ++i) {
    operands.push_back(ToExpr(args[i]));
    if (!operands.back()) return false;
  }
  const Expr* callee = args[0].kind == Kind::kExpr ? args[0].expr : nullptr;
  if (!callee) {
    auto* func = ws_.New<ExternFunc>(ws_.arena().CopyString(args[0].string()), DictAttr::Empty(), nullptr);
    func->set_span(args[0].span);
    callee = Typed(func);
  }
  const Attr* attrs = names.empty() ? nullptr : ObjectAttr::Get(key, names, values);
  auto* call = ws_.New<Call>(callee, ws_.Copy(operands), attrs, type_args, nullptr);
  call->set_span(span);
  out.kind = Kind::kExpr;
  out.expr = call;
  out.span = span;
  return true;
}

}  // namespace iropt::text
