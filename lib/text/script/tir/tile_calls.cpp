#include "tile_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "functions.h"
#include "iropt/op/device_calls.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"
#include "lambdas.h"

namespace iropt::text {

using Kind = PyValue::Kind;

namespace {

// The threads that take part in a tile operation, by the word before its name.
constexpr std::string_view kTileScopes[] = {"cluster", "cta", "thread", "tile", "warp", "warpgroup", "wg"};

constexpr std::string_view kTileOperations[] = {"add",        "binary_chain",   "binary_reduce", "cast",
                                                "compose_op", "copy",           "copy_async",    "exp",
                                                "exp2",       "fdiv",           "fill",          "fma",
                                                "gemm",       "gemm_async",     "log2",          "max",
                                                "maximum",    "memset",         "min",           "minimum",
                                                "mul",        "permute_layout", "reciprocal",    "reduce_negate",
                                                "select",     "silu",           "sqrt",          "sub",
                                                "sum",        "unary_reduce",   "zero"};

// T.cuda.warp_sum(x) is T.cuda.warp_reduce(x, "sum"): the name of the reduction is the second operand.
struct Reduction {
  std::string_view name, call, operation;
};
constexpr Reduction kReductions[] = {
    {"cuda.cta_max", "cuda.cta_reduce", "max"},   {"cuda.cta_min", "cuda.cta_reduce", "min"},
    {"cuda.cta_sum", "cuda.cta_reduce", "sum"},   {"cuda.warp_max", "cuda.warp_reduce", "max"},
    {"cuda.warp_min", "cuda.warp_reduce", "min"}, {"cuda.warp_sum", "cuda.warp_reduce", "sum"},
};

template <class Names>
bool Contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

// The function of TVM 0.24 for what 0.25 and 0.26 write as T.ptx.cp_async("float32", ...), T.ptx.ldg32(...),
// T.ptx.cp_async.commit_group() and T.ptx.cp_async.wait_group(0); null for other instructions.
const TirFunction* OldCopyFunction(std::string_view name, const PyArgs& args) {
  const size_t count = args.positional.size();
  if (name == "ptx.cp_async" && count >= 6 && args.positional[0].is(PyValue::Kind::kString))
    return FindTirFunction("ptx_cp_async");
  if (name == "ptx.cp_async.commit_group" && count == 0) return FindTirFunction("ptx_commit_group");
  if (name == "ptx.cp_async.wait_group" && count == 1) return FindTirFunction("ptx_wait_group");
  return name == "ptx.ldg32" && count == 4 ? FindTirFunction("ptx_ldg32") : nullptr;
}

// Such an intrinsic for tensor cores: T.ptx_legacy.ldmatrix(...), until 0.26 T.ptx.ldmatrix_legacy(...). kTirDeviceCall
// for other instructions.
OpId OldMatrixIntrinsic(std::string_view name) {
  if (name == "ptx_legacy.ldmatrix" || name == "ptx.ldmatrix_legacy") return op::kTirPtxLdmatrix;
  const bool multiplies = name == "ptx_legacy.mma" || name == "ptx.mma.legacy" || name == "ptx.mma_legacy";
  return multiplies ? op::kTirPtxMma : op::kTirDeviceCall;
}

// Puts the dtype of the elements before the operands where it is not stated, as the intrinsic of TVM 0.24 needs it: of
// loads TVM takes int8, of products none. The first operand of a product is its shape, "m16n8k8".
void StateDType(OpId intrinsic, PyArgs& args) {
  if (std::ranges::find(args.keywords, "dtype", &PyKeyword::name) != args.keywords.end()) return;
  const PyValue* first = args.positional.empty() ? nullptr : &args.positional[0];
  const bool is_text = first && first->is(Kind::kString);
  const bool loads = intrinsic == op::kTirPtxLdmatrix;
  const bool is_shape = is_text && first->string().starts_with('m');
  if ((is_text && !(is_shape && !loads)) || (first && first->is(Kind::kDType))) return;
  const std::vector<PyValue> given(args.positional.begin(), args.positional.end());
  args.positional.clear();
  args.positional.push_back(PyValue(loads ? DataType::Int(8) : DataType::Void(), args.span));
  args.positional.append(given);
}

}  // namespace

// ---- Operands

const PrimExpr* ListOperand(ScalarParser& p, std::string_view op, std::span<const PrimExpr* const> items, Span span) {
  auto* call = p.ws_.New<tir::Call>(DataType::Handle(), GetOp(op), p.ws_.Copy(items));
  call->set_span(span);
  return call;
}

namespace {

// A buffer as a whole: its first element stands for it.
const PrimExpr* BufferOperand(ScalarParser& p, const tir::Buffer* buffer, Span span) {
  Prims zeros;
  for (const PrimExpr* dim : buffer->shape) zeros.push_back(p.ops_.Int(0, dim->dtype, span));
  const PrimExpr* first = p.MakeLoad(buffer, zeros, nullptr, span);
  return first ? p.MakeCall("tir.buffer_arg", DataType::Handle(), {first}, span) : nullptr;
}

const tir::BufferRegion* WholeRegion(ScalarParser& p, const PyValue& buffer) {
  Ranges ranges;
  for (const PrimExpr* dim : buffer.buffer->shape) {
    ranges.push_back(p.ws_.New<tir::Range>(p.ops_.Int(0, dim->dtype, buffer.span), dim));
  }
  return p.ws_.New<tir::BufferRegion>(buffer.buffer, p.ws_.Copy<const tir::Range*>(ranges));
}

const PrimExpr* RegionOperand(ScalarParser& p, const tir::BufferRegion* region, Span span) {
  Prims mins;
  for (const tir::Range* range : region->region) mins.push_back(range->min);
  std::vector<const PrimExpr*> operands{p.MakeLoad(region->buffer, mins, nullptr, span)};
  if (!operands[0]) return nullptr;
  for (const tir::Range* range : region->region) operands.push_back(range->extent);
  return ListOperand(p, "tir.region_arg", operands, span);
}

const PrimExpr* KeywordOperand(ScalarParser& p, std::string_view name, const PrimExpr* value, Span span) {
  return value ? p.MakeCall("tir.keyword_arg", DataType::Handle(), {p.ToPrim(PyValue::String(name, span)), value}, span)
               : nullptr;
}

// A dictionary was read as an attribute.
const PrimExpr* AttrOperand(ScalarParser& p, const Attr* attr, Span span) {
  std::vector<const PrimExpr*> items;
  if (const auto* dict = As<DictAttr>(attr)) {
    for (uint32_t i = 0; i < dict->size(); ++i) {
      const PrimExpr* value = WithStack([&] { return AttrOperand(p, dict->values[i], span); });
      items.push_back(KeywordOperand(p, dict->keys[i], value, span));
      if (!items.back()) return nullptr;
    }
    return ListOperand(p, "tir.dict_arg", items, span);
  }
  if (const auto* list = As<ListAttr>(attr)) {
    for (const Attr* item : list->values) {
      items.push_back(WithStack([&] { return AttrOperand(p, item, span); }));
      if (!items.back()) return nullptr;
    }
    return ListOperand(p, "tir.list_arg", items, span);
  }
  if (Is<NoneAttr>(attr)) return p.MakeCall("tir.none_arg", DataType::Handle(), {}, span);
  if (const auto* text = As<StrAttr>(attr)) return p.ToPrim(PyValue::String(text->value, span));
  if (const auto* i = As<IntAttr>(attr))
    return p.ops_.Int(i->value, i->dtype.is_bool() ? DataType::Bool() : DataType::Int(32), span);
  if (const auto* f = As<FloatAttr>(attr)) return p.ops_.Float(f->value, f->dtype, span);
  const auto* expr = As<ExprAttr>(attr);
  const auto* buffer = expr ? As<tir::BufferLoad>(expr->value) : nullptr;
  if (buffer && buffer->indices.empty() && buffer->dtype.is_handle()) return BufferOperand(p, buffer->buffer, span);
  if (expr) return expr->value;
  return p.Error(span, "bad-expression", "this value can't be an operand of a call");
}

}  // namespace

const PrimExpr* ToOperand(ScalarParser& p, const PyValue& value) {
  switch (value.kind) {
    case Kind::kNone: return p.MakeCall("tir.none_arg", DataType::Handle(), {}, value.span);
    case Kind::kBuffer: return BufferOperand(p, value.buffer, value.span);
    case Kind::kRegion: return RegionOperand(p, value.region, value.span);
    case Kind::kPointerType: return p.ToPrim(PyValue::String("handle", value.span));
    case Kind::kDType: return p.ToPrim(PyValue::String(value.dtype.ToString(), value.span));
    case Kind::kAttr: return AttrOperand(p, value.attr, value.span);
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kTvmArray: {
      std::vector<const PrimExpr*> items;
      for (const PyValue& item : value.items()) {
        items.push_back(WithStack([&] { return ToOperand(p, item); }));
        if (!items.back()) return nullptr;
      }
      return ListOperand(p, "tir.list_arg", items, value.span);
    }
    default: return p.ToPrim(value);
  }
}

bool ToOperands(ScalarParser& p, const PyArgs& args, std::vector<const PrimExpr*>& operands) {
  for (const PyValue& value : args.positional) {
    operands.push_back(ToOperand(p, value));
    if (!operands.back()) return false;
  }
  for (const PyKeyword& keyword : args.keywords) {
    operands.push_back(KeywordOperand(p, keyword.name, ToOperand(p, keyword.value), keyword.span));
    if (!operands.back()) return false;
  }
  return true;
}

// lambda i, j: i < j as an operand. The parameters are integers without a value.
bool ScalarParser::Lambda(PyValue& out) {
  const uint32_t begin = lex_.peek().begin;
  const Lexer::State start = lex_.Save();
  std::vector<std::string_view> names;
  uint32_t body = 0;
  if (!ParseLambda(*this, names, body)) return false;
  const Span span = lex_.SpanFrom(begin);
  lex_.Restore(start);
  while (lex_.peek().begin < body) lex_.Next();
  symbols_.PushScope();
  std::vector<const tir::Var*> params;
  for (const std::string_view name : names) {
    params.push_back(ws_.NewPrimVar(name, DataType::Int(32)));
    symbols_.Define(name, params.back());
  }
  PyValue value;
  const PrimExpr* e = ParseValue(value) ? ToPrim(value) : nullptr;
  symbols_.PopScope();
  if (!e) return false;
  for (size_t i = params.size(); i-- > 0;) {
    const PrimExpr* unknown = MakeCall("tir.undef", params[i]->dtype, {}, span);
    auto* let = ws_.New<tir::Let>(params[i], unknown, e);
    let->set_span(span);
    e = let;
  }
  const PrimExpr* count = ops_.Int(static_cast<int64_t>(params.size()), DataType::Int(32), span);
  return Give(MakeCall("tir.lambda_arg", DataType::Handle(), {e, count}, span), out);
}

// ---- Calls

bool IsDeviceCall(std::string_view name) {
  return FindDeviceCall(name) || std::ranges::find(kReductions, name, &Reduction::name) != std::end(kReductions);
}

// Returns whether T.<name> is a tile operation: its scope and its name.
bool IsTileCall(std::string_view name) {
  const size_t dot = name.find('.');
  return dot != std::string_view::npos && Contains(kTileScopes, name.substr(0, dot)) &&
         Contains(kTileOperations, name.substr(dot + 1));
}

// T.warp.copy(A[0:8], B[0:8], dispatch="tma"). The scope of one thread is called `tile`, and warpgroup is `wg`.
const PrimExpr* MakeTileCall(ScalarParser& p, std::string_view name, const PyArgs& args) {
  const size_t dot = name.find('.');
  std::string_view scope = name.substr(0, dot);
  if (scope == "thread") scope = "tile";
  if (scope == "warpgroup") scope = "wg";
  const std::string full = fmt::format("{}{}", scope, name.substr(dot));
  std::vector<const PrimExpr*> operands{p.ToPrim(PyValue::String(full, args.span))};
  for (const PyValue& value : args.positional) {
    // An operation works on regions: a buffer is the region of all its elements.
    operands.push_back(value.is(Kind::kBuffer) ? RegionOperand(p, WholeRegion(p, value), value.span)
                                               : ToOperand(p, value));
    if (!operands.back()) return nullptr;
  }
  PyArgs keywords;
  keywords.keywords = args.keywords;
  if (!ToOperands(p, keywords, operands)) return nullptr;
  auto* call = p.ws_.New<tir::Call>(DataType::Void(), GetOp(op::kTirTileCall), p.CopyPrims(operands));
  call->set_span(args.span);
  return call;
}

// T.nki.load(A[0], B[0]). An argument `dtype`, or `return_type` of T.cuda.func_call, is that of the call.
const PrimExpr* MakeDeviceCall(ScalarParser& p, std::string_view name, PyArgs& args) {
  if (const auto* reduction = std::ranges::find(kReductions, name, &Reduction::name);
      reduction != std::end(kReductions)) {
    if (!p.CountArgs(args, fmt::format("T.{}", name), 1, SIZE_MAX)) return nullptr;
    const std::vector<PyValue> given(args.positional.begin(), args.positional.end());
    args.positional.clear();
    args.positional.push_back(given[0]);
    args.positional.push_back(PyValue::String(reduction->operation, args.span));
    args.positional.append(std::span(given).subspan(1));
    name = reduction->call;
  }
  if (const OpId old = OldMatrixIntrinsic(name); old != op::kTirDeviceCall) {
    PyValue made;
    StateDType(old, args);
    return MakeIntrinsicCall(p, *IntrinsicOf(GetOp(old)), args, made) ? made.prim : nullptr;
  }
  if (const TirFunction* old = OldCopyFunction(name, args)) {
    PyValue made;
    std::erase_if(args.keywords, [](const PyKeyword& keyword) { return keyword.name == "dtype"; });
    return CallTirFunction(p, *old, args, made) ? made.prim : nullptr;
  }
  const DeviceCallInfo& info = *FindDeviceCall(name);
  std::optional<DataType> dtype;
  for (auto it = args.keywords.begin(); it != args.keywords.end();) {
    const bool is_code = it->name == "source_code";
    if (!is_code && it->name != "dtype" && it->name != "return_type") {
      ++it;
      continue;
    }
    if (is_code) {
      args.positional.push_back(it->value);
    } else if (DataType read; p.ToDType(it->value, read)) {
      dtype = read;
    } else {
      return nullptr;
    }
    it = args.keywords.erase(it);
  }
  const size_t most = info.most < 0 ? SIZE_MAX : static_cast<size_t>(info.most);
  const size_t least = args.keywords.empty() ? static_cast<size_t>(info.least) : 0;
  if (!p.CountArgs(args, fmt::format("T.{}", name), least, most)) return nullptr;
  std::vector<const PrimExpr*> operands{p.ToPrim(PyValue::String(name, args.span))};
  if (!ToOperands(p, args, operands)) return nullptr;
  if (!dtype) dtype = ResultDtypeOf(info, std::span(operands).subspan(1));
  if (!dtype) return p.Error(args.span, "missing-argument", fmt::format("T.{} needs a data type", name));
  const OpId op = info.effect == CallEffect::kPure ? op::kTirPureDeviceCall : op::kTirDeviceCall;
  auto* call = p.ws_.New<tir::Call>(*dtype, GetOp(op), p.CopyPrims(operands));
  call->set_span(args.span);
  return call;
}

// T.Call("tirx.exp", [x], attrs={"key": value}, ret_ty="float32")
const PrimExpr* MakeAttributedCall(ScalarParser& p, const PyArgs& args) {
  const PyValue* v[4];
  DataType dtype;
  std::string_view name;
  if (!p.Bind(args, "T.Call", {"op", "args", "attrs", "ret_ty"}, 2, v) || !p.ToString(*v[0], name) ||
      (v[3] && !p.ToDType(*v[3], dtype)))
    return nullptr;
  if (!v[3]) return p.Error(args.span, "missing-argument", "missing argument 'ret_ty' in call to T.Call");
  PyArgs flat;
  flat.span = args.span;
  flat.positional.push_back(PyValue(dtype, v[3]->span));
  flat.positional.push_back(*v[0]);
  if (!v[1]->is_list()) return p.WrongValue(*v[1], "a list of operands");
  flat.positional.append(v[1]->items());
  PyValue call;
  if (!CallTirFunction(p, *FindTirFunction("call_intrin"), flat, call)) return nullptr;
  const DictAttr* attrs = p.ToDict(v[2]);
  if (!attrs || attrs->size() == 0) return attrs ? call.prim : nullptr;
  const PrimExpr* dict = AttrOperand(p, attrs, v[2]->span);
  return dict ? p.MakeCall("tir.attributed_call", dtype, {call.prim, dict}, args.span) : nullptr;
}

}  // namespace iropt::text
