// T.name(...) in expressions: data types, constructors of nodes, and the functions that are more than a call of an
// intrinsic.
#include "functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "iropt/ir/context.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::text {

using Kind = Value::Kind;

const PrimExpr* TirParser::MakeCall(std::string_view op, DataType dtype, std::initializer_list<const PrimExpr*> args,
                                    Span span) {
  auto* call =
      ws_.New<tir::Call>(dtype, GetOp(op), ws_.Copy(std::span<const PrimExpr* const>(args.begin(), args.size())));
  call->set_span(span);
  return call;
}

namespace {

// TVM 0.26 sorts some intrinsics by target: T.metal.simdgroup_load.
std::string_view IntrinsicName(std::string_view name) {
  constexpr std::string_view kMetal = "metal.";
  return name.starts_with(kMetal) ? name.substr(kMetal.size()) : name;
}

}  // namespace

// At the prefix of T.name.
bool TirParser::ParseTirMember(Value& out) {
  const uint32_t begin = lex_.Next().begin;
  const std::string_view name = DottedName();
  if (name.empty()) return false;
  if (const auto dtype = TirDTypeName(name)) return ParseDTypeMember(*dtype, begin, out);
  if (name == "handle" || name == "Ptr" || name == "ptr" || name == "buffer_var") return ParseHandle(begin, out);
  if (name == "Let") return ParseLet(begin, out);
  if (name == "comm_reducer") return ParseReducer(begin, out);
  if (name == "index_map") return ParseIndexMap(begin, out);
  if (name == "target") {
    out.kind = Kind::kAttr;
    out.attr = ParseTarget(begin);
    out.span = lex_.SpanFrom(begin);
    return out.attr != nullptr;
  }
  if (const TirFunctions::Entry* function = TirFunctions::Find(name)) {
    TirArgs args;
    if (name == "Buffer" && At(TokenKind::kLBracket) ? !ParseBufferItems(args, begin) : !ParseArguments(args, begin))
      return false;
    if (function->ignores_dtype && !args.positional.empty())
      std::erase_if(args.keywords, [](const TirArgs::Keyword& k) { return k.name == "dtype"; });
    return function->make(*this, args, out);
  }
  if (const OpInfo* op = FindIntrinsicByScript(IntrinsicName(name)))
    return ParseIntrinsic(*IntrinsicOf(op->op), begin, out);
  return UnknownTir(name, lex_.SpanFrom(begin));
}

namespace {

// What T.name may be.
std::vector<std::string_view> TirNames() {
  std::vector<std::string_view> names;
  TirFunctions::Names(names);
  for (const std::string_view word : TirConstructNames()) names.push_back(word);
  for (const OpInfo& op : AllOps()) {
    if (!op.is_graph_level()) names.push_back(op.script.substr(2));
  }
  for (const std::string_view word :
       {"bool", "comm_reducer", "float16", "float32", "float64", "handle", "index_map", "int16", "int32", "int64",
        "int8", "Let", "target", "uint16", "uint32", "uint64", "uint8"}) {
    names.push_back(word);
  }
  return names;
}

}  // namespace

bool TirParser::IsTirName(std::string_view name) {
  const std::vector<std::string_view> names = TirNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

ParserCore::Failed TirParser::UnknownTir(std::string_view name, Span span) {
  const std::vector<std::string_view> names = TirNames();
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return Error(span, "bad-expression", fmt::format("T.{} is a statement, not an expression", name));
  }
  return UnknownMember("T", name, span, names);
}

// T.float32 names a type; T.float32(x) converts; T.float32() makes a variable.
bool TirParser::ParseDTypeMember(DataType dtype, uint32_t begin, Value& out) {
  if (!At(TokenKind::kLParen)) {
    out.kind = Kind::kDType;
    out.dtype = dtype;
    out.span = lex_.SpanFrom(begin);
    return true;
  }
  TirArgs args;
  const Value* v[2];
  if (!ParseArguments(args, begin) || !Bind(args, fmt::format("T.{}", dtype.ToString()), {"expr", "is_size_var"}, 0, v))
    return false;
  const Span span = args.span;
  if (!v[0] || v[0]->is(Kind::kNone)) {
    const std::string_view name = ws_.arena().CopyString(pending_name_);
    const bool size = v[1] && v[1]->is(Kind::kBool) && v[1]->boolean;
    tir::Var* var = size ? ws_.New<tir::SizeVar>(name, dtype, ws_.NextVarId()) : ws_.NewPrimVar(name, dtype);
    var->set_span(span);
    out = Value(static_cast<const PrimExpr*>(var));
    return true;
  }
  const PrimExpr* e = nullptr;
  if (v[0]->is(Kind::kString)) {
    const auto special = SpecialFloat(v[0]->string());
    if (!special) return WrongValue(*v[0], "a number, \"inf\", \"-inf\" or \"nan\"");
    e = ops_.Float(*special, dtype, span);
  } else if (v[0]->is(Kind::kFloat) && dtype.is_floating() && dtype.is_scalar()) {
    e = ops_.Float(v[0]->real, dtype, span);
  } else {
    const PrimExpr* value = ToPrim(*v[0]);
    e = value ? ops_.MakeCast(dtype, value, span) : nullptr;
  }
  if (e) out = Value(e);
  return e != nullptr;
}

// At the bracket of T.Buffer[(128, 128), "float32"] or T.Ptr[T.float32], which are calls of old.
bool TirParser::ParseBracketed(TirArgs& args, uint32_t begin) {
  lex_.Next();
  if (!ParseItems(TokenKind::kRBracket, args.positional)) return false;
  args.span = lex_.SpanFrom(begin);
  return !args.positional.empty() || Error(args.span, "missing-argument", "expected a shape or a type in the brackets");
}

// Everything in the brackets is the shape, unless a data type stands second.
bool TirParser::ParseBufferItems(TirArgs& args, uint32_t begin) {
  const uint32_t open = lex_.peek().begin;
  if (!ParseBracketed(args, begin)) return false;
  if (args.positional.size() > 1 && !args.positional[1].is(Kind::kString))
    args.positional = {ListOf(Kind::kTuple, args.positional, lex_.SpanFrom(open))};
  return true;
}

// T.handle is an opaque pointer; T.handle("float32", "global") the variable of a pointer with a known element type.
bool TirParser::ParseHandle(uint32_t begin, Value& out) {
  if (!At(TokenKind::kLParen) && !At(TokenKind::kLBracket)) {
    out.kind = Kind::kDType;
    out.dtype = DataType::Handle();
    out.span = lex_.SpanFrom(begin);
    return true;
  }
  TirArgs args;
  const Value* v[3];
  if (At(TokenKind::kLBracket) ? !ParseBracketed(args, begin) : !ParseArguments(args, begin)) return false;
  if (!Bind(args, "T.handle", {"dtype", "storage_scope", "is_size_var"}, 0, v)) return false;
  DataType element = DataType::Void();
  std::string_view scope;
  const bool typed = v[0] && !v[0]->is(Kind::kNone);
  if (typed && !ToDType(*v[0], element)) return false;
  if (v[1] && !ToString(*v[1], scope)) return false;
  const tir::PointerInfo* pointer =
      typed || (v[1] && scope != "global") ? tir::PointerInfo::Get(element, scope) : nullptr;
  tir::Var* var = ws_.NewPrimVar(pending_name_, DataType::Handle(), pointer);
  var->set_span(args.span);
  out = Value(static_cast<const PrimExpr*>(var));
  return true;
}

// T.Let(body, where={x: value}); x is a variable that an earlier `x = T.int32()` made.
bool TirParser::ParseLet(uint32_t begin, Value& out) {
  Value body, name, value;
  if (!Expect(TokenKind::kLParen, "T.Let(...)") || !ParseExpr(body) || !Expect(TokenKind::kComma, "T.Let(...)"))
    return false;
  if (!AtKeyword() || !AtName("where")) return Unexpected("where={x: value}");
  lex_.Next();
  lex_.Next();
  if (!Expect(TokenKind::kLBrace, "T.Let(...)") || !ParseExpr(name) || !Expect(TokenKind::kColon, "T.Let(...)") ||
      !ParseExpr(value))
    return false;
  Accept(TokenKind::kComma);
  if (!Expect(TokenKind::kRBrace, "T.Let(...), which binds one variable,") || !ExpectClose("T.Let(...)")) return false;
  return TirFunctions::MakeLet(*this, name, value, body, lex_.SpanFrom(begin), out);
}

// `lambda a, b:` and the position of its body, which is skipped: what its parameters are may stand behind it.
bool TirParser::ParseLambda(std::vector<std::string_view>& params, uint32_t& body) {
  if (!AcceptName("lambda")) return Unexpected("a lambda");
  while (!At(TokenKind::kColon)) {
    if (!At(TokenKind::kName)) return Unexpected("the name of a parameter");
    params.push_back(lex_.text(lex_.Next()));
    if (!Accept(TokenKind::kComma)) break;
  }
  if (!Expect(TokenKind::kColon, "a lambda")) return false;
  body = lex_.peek().begin;
  for (int depth = 0;; lex_.Next()) {
    if (At(TokenKind::kEnd) || At(TokenKind::kNewline)) return Unexpected("the body of the lambda");
    if (At(TokenKind::kLParen) || At(TokenKind::kLBracket) || At(TokenKind::kLBrace)) ++depth;
    if (At(TokenKind::kRParen) || At(TokenKind::kRBracket) || At(TokenKind::kRBrace)) {
      if (depth-- == 0) return true;
    }
    if (At(TokenKind::kComma) && depth == 0) return true;
  }
}

// T.comm_reducer(lambda x, y: x + y, [identity])
bool TirParser::ParseReducer(uint32_t begin, Value& out) {
  if (!Expect(TokenKind::kLParen, "T.comm_reducer(...)")) return false;
  const Lexer::State start = lex_.Save();
  std::vector<std::string_view> names;
  uint32_t body = 0;
  if (!ParseLambda(names, body)) return false;
  if (!Expect(TokenKind::kComma, "T.comm_reducer(...)")) return false;
  Value identity_value, result_value;
  std::vector<const PrimExpr*> identity, result;
  if (!ParseExpr(identity_value)) return false;
  if (!identity_value.is_list()) return WrongValue(identity_value, "a list of identity elements");
  for (const Value& item : identity_value.items()) {
    if (item.is(Kind::kFloat)) return WrongValue(item, "an element with a type such as T.float32(0)");
  }
  if (!ToPrims(identity_value, identity)) return false;
  if (names.size() != 2 * identity.size()) {
    return Error(identity_value.span, "bad-expression",
                 fmt::format("a reducer with {} identity elements has {} parameters, found {}", identity.size(),
                             2 * identity.size(), names.size()));
  }
  const Lexer::State end = lex_.Save();
  lex_.Restore(start);
  while (lex_.peek().begin < body) lex_.Next();
  symbols_.PushScope();
  std::vector<const tir::Var*> vars;
  for (size_t i = 0; i < names.size(); ++i) {
    vars.push_back(ws_.NewPrimVar(names[i], identity[i % identity.size()]->dtype));
    symbols_.Define(names[i], vars.back());
  }
  const bool ok = ParseExpr(result_value) && ToPrims(result_value, result);
  symbols_.PopScope();
  if (!ok) return false;
  if (result.size() != identity.size())
    return Error(result_value.span, "bad-expression", "a reducer has as many results as identity elements");
  lex_.Restore(end);
  if (!ExpectClose("T.comm_reducer(...)")) return false;
  const std::span<const tir::Var* const> all(vars);
  auto* reducer =
      ws_.New<tir::CommReducer>(ws_.Copy(all.first(identity.size())), ws_.Copy(all.subspan(identity.size())),
                                CopyPrims(result), CopyPrims(identity));
  reducer->set_span(lex_.SpanFrom(begin));
  out.kind = Kind::kReducer;
  out.reducer = reducer;
  out.span = lex_.SpanFrom(begin);
  return true;
}

// A lambda from indices to indices.
const IndexMapAttr* TirParser::ParseMapping(DataType dtype, const IndexMapAttr* inverse) {
  const Lexer::State start = lex_.Save();
  std::vector<std::string_view> names;
  uint32_t body = 0;
  if (!ParseLambda(names, body)) return nullptr;
  lex_.Restore(start);
  while (lex_.peek().begin < body) lex_.Next();
  IRContext& context = IRContext::Current();
  symbols_.PushScope();
  std::vector<const tir::Var*> params;
  for (const std::string_view name : names) {
    params.push_back(context.NewSymVar(name, dtype));
    symbols_.Define(name, params.back());
  }
  Value value;
  std::vector<const PrimExpr*> results;
  const bool ok = ParseExpr(value) && ToPrims(value, results);
  symbols_.PopScope();
  if (!ok) return nullptr;
  for (const PrimExpr*& e : results) {
    bool own = true;
    ForEachPrimName(
        e, [&](const tir::Var* v) { own &= v->context_owned(); }, [&](const tir::Buffer*) { own = false; });
    if (!own) return Error(value.span, "bad-expression", "an index map refers to nothing but its parameters");
    e = context.Intern(e);
  }
  return IndexMapAttr::Get(params, results, inverse);
}

// T.index_map(lambda i, j: (j, i), inverse_index_map=lambda j, i: (i, j))
bool TirParser::ParseIndexMap(uint32_t begin, Value& out) {
  if (!Expect(TokenKind::kLParen, "T.index_map(...)")) return false;
  const DataType dtype = DataType::Int(64);
  const Lexer::State start = lex_.Save();
  const IndexMapAttr* map = ParseMapping(dtype, nullptr);
  if (!map) return false;
  const IndexMapAttr* inverse = nullptr;
  while (Accept(TokenKind::kComma) && AtKeyword()) {
    const Token name = lex_.Next();
    lex_.Next();
    if (lex_.text(name) == "index_dtype") {
      // TVM 0.26 can say it; the canonical text has indices of 64 bits only.
      Value value;
      DataType ignored;
      if (!ParseExpr(value) || !ToDType(value, ignored)) return false;
    } else if (lex_.text(name) != "inverse_index_map") {
      return Error(lex_.SpanOf(name), "unknown-argument",
                   fmt::format("T.index_map has no argument '{}'", lex_.text(name)));
    } else if (!AcceptName("None")) {
      inverse = ParseMapping(dtype, nullptr);
      if (!inverse) return false;
    }
  }
  if (inverse) {
    const Lexer::State end = lex_.Save();
    lex_.Restore(start);
    map = ParseMapping(dtype, inverse);
    lex_.Restore(end);
    if (!map) return false;
  }
  if (!ExpectClose("T.index_map(...)")) return false;
  out.kind = Kind::kAttr;
  out.attr = map;
  out.span = lex_.SpanFrom(begin);
  return true;
}

// ---- Calls of intrinsics

bool TirParser::ParseIntrinsic(const IntrinsicInfo& info, uint32_t begin, Value& out) {
  TirArgs args;
  return ParseArguments(args, begin) && MakeIntrinsic(info, args, out);
}

// Takes the dtype of the call out of the arguments, where it stands among them.
bool TirParser::TakeDType(const IntrinsicInfo& info, TirArgs& args, std::optional<DataType>& dtype) {
  const auto read = [&](const Value& value) {
    DataType t;
    if (!ToDType(value, t)) return false;
    dtype = t;
    return true;
  };
  for (const TirArgs::Keyword& k : args.keywords) {
    if (k.name != "dtype")
      return Error(k.span, "unknown-argument", fmt::format("{} has no argument '{}'", info.op->script, k.name));
    if (!read(k.value)) return false;
  }
  std::vector<Value>& positional = args.positional;
  const auto is_type = [](const Value& v) { return v.is(Kind::kString) || v.is(Kind::kDType); };
  if (info.dtype_print == DtypePrint::kNone) {
    // Scripts of old repeat the dtype of calls that have no choice.
    if (info.result != ResultDtype::kGiven) dtype.reset();
    return true;
  }
  if (dtype) return true;
  const bool optional = info.result != ResultDtype::kGiven;
  if (info.dtype_print == DtypePrint::kFirst) {
    if (optional && (positional.empty() || !is_type(positional[0]))) return true;
    if (positional.empty())
      return Error(args.span, "missing-argument", fmt::format("{} needs a data type", info.op->script));
    if (!read(positional[0])) return false;
    positional.erase(positional.begin());
    return true;
  }
  if (optional && static_cast<int>(positional.size()) <= info.num_args) return true;
  if (positional.empty())
    return Error(args.span, "missing-argument", fmt::format("{} needs a data type", info.op->script));
  if (!read(positional.back())) return false;
  positional.pop_back();
  return true;
}

const PrimExpr* TirParser::IntrinsicArg(const IntrinsicInfo& info, const Value& value) {
  if (!value.is(Kind::kBuffer)) return ToPrim(value);
  if (info.packs_buffers) return PackBuffer(value.buffer, value.span);
  return Error(value.span, "bad-expression",
               fmt::format("{0} takes no buffer; its pointer is '{1}.data', an element '{1}[...]'", info.op->script,
                           value.buffer->name));
}

bool TirParser::MakeIntrinsic(const IntrinsicInfo& info, TirArgs& args, Value& out) {
  std::optional<DataType> dtype;
  if (!TakeDType(info, args, dtype)) return false;
  if (info.num_args >= 0) {
    const auto most = static_cast<size_t>(info.num_args);
    if (!CountArgs(args, info.op->script, most - info.defaults.size(), most)) return false;
  }
  std::vector<const PrimExpr*> operands;
  for (const Value& v : args.positional) {
    const PrimExpr* e = IntrinsicArg(info, v);
    if (!e) return false;
    operands.push_back(e);
  }
  while (info.num_args >= 0 && operands.size() < static_cast<size_t>(info.num_args)) {
    const size_t missing = static_cast<size_t>(info.num_args) - operands.size();
    operands.push_back(ops_.Int(info.defaults[info.defaults.size() - missing], DataType::Int(32), args.span));
  }
  if (info.match_dtypes) {
    for (size_t i = info.match_from; i + 1 < operands.size(); ++i) {
      if (!ops_.MatchDtypes(operands[i], operands[i + 1], args.span)) return false;
    }
  }
  if (!dtype) dtype = ResultDtypeOf(info, operands);
  if (!dtype) return Error(args.span, "missing-argument", fmt::format("{} needs a data type", info.op->script));
  auto* call = ws_.New<tir::Call>(*dtype, info.op->op, CopyPrims(operands));
  call->set_span(args.span);
  out = Value(static_cast<const PrimExpr*>(call));
  return true;
}

}  // namespace iropt::text
