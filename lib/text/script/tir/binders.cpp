// Functions of T that bind variables, make parts of expressions, and call intrinsics by name.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/support/edit_distance.h"
#include "functions.h"

namespace iropt::text {

using Kind = Value::Kind;

bool TirFunctions::MakeLet(TirParser& p, const Value& name, const Value& value, const Value& body, Span span,
                           Value& out) {
  const tir::Var* var = p.ToVar(name);
  const PrimExpr* bound = var ? p.ToPrimOf(value, var->dtype) : nullptr;
  const PrimExpr* result = bound ? p.ToPrim(body) : nullptr;
  return result && Give(Spanned(p.ws_.New<tir::Let>(var, bound, result), span), out);
}

// T.let(x, value, body), the old form of T.Let.
bool TirFunctions::Let(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[3];
  return p.Bind(args, "T.let", {"v", "value", "body"}, 3, v) && MakeLet(p, *v[0], *v[1], *v[2], args.span, out);
}

bool TirFunctions::Range(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  if (!p.Bind(args, "T.Range", {"begin", "end"}, 2, v)) return false;
  const Value ends[] = {*v[0], *v[1]};
  out = p.ListOf(Kind::kTuple, ends, args.span);
  const tir::Range* range = p.ToRange(out);
  out.kind = Kind::kRange;
  out.range = range;
  return range != nullptr;
}

bool TirFunctions::IterVar(TirParser& p, TirArgs& args, Value& out) {
  static constexpr std::string_view kTypes[] = {"DataPar",  "ThreadIndex", "CommReduce",   "Ordered",   "Opaque",
                                                "Unrolled", "Vectorized",  "Parallelized", "Tensorized"};
  const Value* v[4];
  std::string_view type, tag;
  if (!p.Bind(args, "T.iter_var", {"var", "dom", "iter_type", "thread_tag"}, 4, v) || !p.ToString(*v[2], type) ||
      !p.ToString(*v[3], tag))
    return false;
  const auto* found = std::find(std::begin(kTypes), std::end(kTypes), type);
  if (found == std::end(kTypes)) return p.WrongValue(*v[2], "a kind of iteration such as \"DataPar\"");
  const tir::Range* dom = v[1]->is(Kind::kNone) ? nullptr : p.ToRange(*v[1]);
  if (!dom && !v[1]->is(Kind::kNone)) return false;
  const tir::Var* var = nullptr;
  if (v[0]->is(Kind::kString)) {
    var = p.ws_.NewPrimVar(v[0]->string(), dom ? dom->extent->dtype : DataType::Int(32));
  } else {
    var = p.ToVar(*v[0]);
  }
  if (!var) return false;
  auto* node = p.ws_.New<tir::IterVar>(dom, var, static_cast<tir::IterVarType>(found - std::begin(kTypes)),
                                       p.ws_.arena().CopyString(tag));
  node->set_span(args.span);
  out.kind = Kind::kIterVar;
  out.iter_var = node;
  out.span = args.span;
  return true;
}

bool TirFunctions::Reduce(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[6];
  if (!p.Bind(args, "T.reduce", {"combiner", "source", "init", "axis", "condition", "value_index"}, 2, v)) return false;
  if (!v[0]->is(Kind::kReducer)) return p.WrongValue(*v[0], "T.comm_reducer(...)");
  std::vector<const PrimExpr*> source, init;
  std::vector<const tir::IterVar*> axis;
  int64_t index = 0;
  if (!p.ToPrims(*v[1], source) || (v[2] && !p.ToPrims(*v[2], init)) || (v[5] && !p.ToInteger(*v[5], index)))
    return false;
  if (v[3]) {
    if (!v[3]->is_list()) return p.WrongValue(*v[3], "a list of iteration variables");
    for (const Value& item : v[3]->items()) {
      if (!item.is(Kind::kIterVar)) return p.WrongValue(item, "T.iter_var(...)");
      axis.push_back(item.iter_var);
    }
  }
  const PrimExpr* condition = v[4] ? p.ToBool(*v[4]) : p.True(args.span);
  if (!condition) return false;
  if (index < 0 || index >= static_cast<int64_t>(source.size()))
    return p.Error(args.span, "index-out-of-range", "value_index is out of range");
  return Give(
      Spanned(p.ws_.New<tir::Reduce>(source[static_cast<size_t>(index)]->dtype, v[0]->reducer, p.CopyPrims(source),
                                     p.CopyPrims(init), p.ws_.Copy(axis), condition, static_cast<int32_t>(index)),
              args.span),
      out);
}

bool TirFunctions::Buffer(TirParser& p, TirArgs& args, Value& out) {
  out.kind = Kind::kBuffer;
  out.buffer = p.DeclareBuffer(args, "T.Buffer");
  out.span = args.span;
  return out.buffer != nullptr;
}

bool TirFunctions::BufferLoad(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[3];
  std::vector<const PrimExpr*> indices;
  if (!p.Bind(args, "T.BufferLoad", {"buffer", "indices", "predicate"}, 2, v) || !p.ToPrims(*v[1], indices))
    return false;
  if (!v[0]->is(Kind::kBuffer)) return p.WrongValue(*v[0], "a buffer");
  const PrimExpr* predicate = v[2] && !v[2]->is(Kind::kNone) ? p.ToPrim(*v[2]) : nullptr;
  return Give(p.MakeLoad(v[0]->buffer, indices, predicate, args.span), out);
}

bool TirFunctions::UnknownIntrinsic(TirParser& p, std::string_view name, Span span) {
  std::vector<std::string_view> names;
  for (const OpInfo& op : AllOps()) {
    if (!op.is_graph_level()) names.push_back(op.name);
  }
  const auto near = NearestName(name, names);
  return p.Error(span, "unknown-operator",
                 near ? fmt::format("unknown intrinsic \"{}\"; did you mean \"{}\"?", name, *near)
                      : fmt::format("unknown intrinsic \"{}\"", name));
}

// T.call_intrin("float32", "tir.exp", x)
bool TirFunctions::CallIntrin(TirParser& p, TirArgs& args, Value& out) {
  if (args.positional.size() == 1 || (args.positional.size() > 1 && !args.keywords.empty())) {
    if (args.keywords.size() == 1 && args.keywords[0].name == "dtype") {
      args.positional.insert(args.positional.begin(), args.keywords[0].value);
      args.keywords.clear();
    }
  }
  DataType dtype;
  std::string_view name;
  if (!p.CountArgs(args, "T.call_intrin", 2, SIZE_MAX) || !p.ToDType(args.positional[0], dtype) ||
      !p.ToString(args.positional[1], name))
    return false;
  // TVM 0.26 calls the dialect tirx.
  constexpr std::string_view kNewer = "tirx.";
  const OpInfo* op =
      name.starts_with(kNewer) ? FindOp(fmt::format("tir.{}", name.substr(kNewer.size()))) : FindOp(name);
  if (!op || op->is_graph_level()) return UnknownIntrinsic(p, name, args.positional[1].span);
  std::vector<const PrimExpr*> operands;
  for (const Value& v : std::span<const Value>(args.positional).subspan(2)) {
    const PrimExpr* e = p.IntrinsicArg(*IntrinsicOf(op->op), v);
    if (!e) return false;
    operands.push_back(e);
  }
  return Give(Spanned(p.ws_.New<tir::Call>(dtype, op->op, p.CopyPrims(operands)), args.span), out);
}

// T.Call(dtype, "tir.exp", [x])
bool TirFunctions::Call(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[3];
  if (!p.Bind(args, "T.Call", {"dtype", "op", "args"}, 3, v)) return false;
  if (!v[2]->is_list()) return p.WrongValue(*v[2], "a list of operands");
  TirArgs flat;
  flat.positional = {*v[0], *v[1]};
  flat.positional.insert(flat.positional.end(), v[2]->items().begin(), v[2]->items().end());
  flat.span = args.span;
  return CallIntrin(p, flat, out);
}

}  // namespace iropt::text
