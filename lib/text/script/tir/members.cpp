// T.name(...) in expressions: data types, and forms that are not functions of their arguments.
#include <fmt/format.h>

#include <algorithm>

#include "functions.h"
#include "iropt/arith/const_fold.h"
#include "iropt/infer/print/prim_printer.h"
#include "iropt/op/device_calls.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "lambdas.h"
#include "layouts.h"
#include "scalar_parser.h"
#include "tile_calls.h"

namespace iropt::text {

namespace {

// TVM 0.26 sorts some intrinsics by target: T.metal.simdgroup_load.
std::string_view IntrinsicName(std::string_view name) {
  for (const std::string_view target : {"metal.", "cuda."}) {
    if (name.starts_with(target)) return name.substr(target.size());
  }
  return name;
}

}  // namespace

// At the prefix of T.name.
bool ScalarParser::ParseTirMember(PyValue& out) {
  const Token prefix = lex_.Next();
  const uint32_t begin = prefix.begin;
  std::string_view name = DottedName();
  if (name.empty()) return false;
  Record(OccurrenceKind::kOperator, TextOf(lex_.SpanFrom(begin)));
  if (lex_.text(prefix) == state_.tile_prefix && !IsTileCall(name))
    name = scratch_.CopyString(fmt::format("tile.{}", name));
  if (const auto dtype = TirDTypeName(name)) return ParseDTypeMember(*dtype, begin, out);
  if (name == "handle" || name == "Ptr" || name == "ptr" || name == "buffer_var") return ParseHandle(begin, out);
  if (name == "TensorMap") return ParseTensorMap(begin, out);
  if (name == "Let") return ParseLet(begin, out);
  if (name == "comm_reducer") return ParseReducer(*this, begin, out);
  if (name == "index_map") return ParseIndexMap(*this, begin, out);
  if (const TirFunction* function = FindTirFunction(name)) {
    PyArgs args;
    if (name == "Buffer" && At(TokenKind::kLBracket) ? !ParseBufferItems(args, begin)
        : name == "target"                           ? !ParsePlainArguments(args, begin)
                                                     : !ParseArguments(args, begin))
      return false;
    return CallTirFunction(*this, *function, args, out);
  }
  if (name == "TileLayout" || name == "ComposeLayout" || name == "SwizzleLayout" || name == "TileLayout.from_iters")
    return ParseLayout(*this, name, begin, out);
  if (name == "ptx" && Accept(TokenKind::kLBracket)) {
    // T.ptx["cp.async.commit_group"]()
    PyValue instruction;
    std::string_view text;
    if (!ParseValue(instruction) || !ToString(instruction, text) || !Expect(TokenKind::kRBracket, "an instruction"))
      return false;
    name = scratch_.CopyString(fmt::format("ptx.{}", text));
  }
  if (name.find('.') != std::string_view::npos && (IsTileCall(name) || IsDeviceCall(name))) {
    PyArgs args;
    if (!ParseArguments(args, begin)) return false;
    return Give(IsTileCall(name) ? MakeTileCall(*this, name, args) : MakeDeviceCall(*this, name, args), out);
  }
  if (const OpInfo* op = FindIntrinsicByScript(IntrinsicName(name))) {
    PyArgs args;
    return ParseArguments(args, begin) && MakeIntrinsicCall(*this, *IntrinsicOf(op->op), args, out);
  }
  return UnknownTir(name, lex_.SpanFrom(begin));
}

namespace {

// All that T.name may be.
std::vector<std::string_view> TirNames() {
  std::vector<std::string_view> names;
  for (const TirFunction& function : TirFunctions()) names.push_back(function.name);
  for (const std::string_view word : TirStatementNames()) names.push_back(word);
  for (const OpInfo& op : AllOps()) {
    if (!op.is_graph_level()) names.push_back(op.script.substr(2));
  }
  for (const DeviceCallInfo& call : DeviceCalls()) names.push_back(call.name);
  for (const std::string_view word :
       {"bool", "comm_reducer", "float16", "float32", "float64", "handle", "index_map", "int16", "int32", "int64",
        "int8", "Let", "uint16", "uint32", "uint64", "uint8"}) {
    names.push_back(word);
  }
  return names;
}

}  // namespace

bool ScalarParser::IsTirName(std::string_view name) {
  const std::vector<std::string_view> names = TirNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

ParserCore::Failed ScalarParser::UnknownTir(std::string_view name, Span span) {
  const std::vector<std::string_view> names = TirNames();
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return Error(span, "bad-expression", fmt::format("T.{} is a statement, not an expression", name));
  }
  return UnknownMember("T", name, span, names);
}

// T.float32 names a type; T.float32(x) converts; T.float32() makes a variable.
bool ScalarParser::ParseDTypeMember(DataType dtype, uint32_t begin, PyValue& out) {
  if (!At(TokenKind::kLParen)) {
    out = PyValue(dtype, lex_.SpanFrom(begin));
    return true;
  }
  lex_.Next();
  PyArgs args;
  if (AtNumber() && lex_.next_char() == ')') {
    // T.int64(7): most of a script's calls.
    PyValue& number = args.positional.emplace_back();
    if (!ParseNumber(number) || !(dtype == DataType::UInt(64) || InRange(number))) return false;
    lex_.Next();
    args.span = lex_.SpanFrom(begin);
  } else if (!ParseMoreArguments(args, begin)) {
    return false;
  }
  const PyValue* v[2];
  if (args.positional.size() == 1 && args.keywords.empty()) {
    // The name for messages takes longer to make than all else.
    v[0] = &args.positional[0];
    v[1] = nullptr;
  } else if (!Bind(args, fmt::format("T.{}", dtype.ToString()), {"expr", "is_size_var"}, 0, v)) {
    return false;
  }
  const Span span = args.span;
  if (!Given(v[0])) {
    const std::string_view name = ws_.arena().CopyString(pending_name_);
    const bool size = v[1] && v[1]->is(Kind::kBool) && v[1]->boolean;
    tir::Var* var = size ? ws_.New<tir::SizeVar>(name, dtype, ws_.NextVarId()) : ws_.NewPrimVar(name, dtype);
    return Give(Spanned(var, span), out);
  }
  const PrimExpr* e = nullptr;
  if (v[0]->is(Kind::kString)) {
    const auto special = SpecialFloat(v[0]->string());
    if (!special) return WrongValue(*v[0], "a number, \"inf\", \"-inf\" or \"nan\"");
    e = ops_.Float(*special, dtype, span);
  } else if (v[0]->is(Kind::kFloat) && dtype.is_floating() && dtype.is_scalar()) {
    e = ops_.Float(v[0]->real, dtype, span);
  } else if (v[0]->is(Kind::kInt) && dtype.is_integer() && dtype.is_scalar() &&
             (v[0]->beyond_int64 || arith::FitsIn(v[0]->integer, dtype))) {
    e = ops_.Int(v[0]->integer, dtype, v[0]->span);
  } else {
    const PrimExpr* value = ToPrim(*v[0]);
    e = value ? ops_.MakeCast(dtype, value, span) : nullptr;
  }
  return Give(e, out);
}

// At the bracket of T.Buffer[(128, 128), "float32"] or T.Ptr[T.float32], as older scripts write calls.
bool ScalarParser::ParseBracketed(PyArgs& args, uint32_t begin) {
  lex_.Next();
  if (!ParseItems(TokenKind::kRBracket, args.positional)) return false;
  args.span = lex_.SpanFrom(begin);
  return !args.positional.empty() || Error(args.span, "missing-argument", "expected a shape or a type in the brackets");
}

// Everything in the brackets is the shape, unless a data type stands second.
bool ScalarParser::ParseBufferItems(PyArgs& args, uint32_t begin) {
  const uint32_t open = lex_.peek().begin;
  if (!ParseBracketed(args, begin)) return false;
  if (args.positional.size() > 1 && !args.positional[1].is(Kind::kString)) {
    const PyValue shape = ListOf(Kind::kTuple, args.positional, lex_.SpanFrom(open));
    args.positional.clear();
    args.positional.push_back(shape);
  }
  return true;
}

// T.handle is an opaque pointer; T.handle("float32", "global") the variable of a pointer with a known element type.
bool ScalarParser::ParseHandle(uint32_t begin, PyValue& out) {
  if (!At(TokenKind::kLParen) && !At(TokenKind::kLBracket)) {
    out = PyValue(DataType::Handle(), lex_.SpanFrom(begin));
    return true;
  }
  PyArgs args;
  const PyValue* v[3];
  if (At(TokenKind::kLBracket) ? !ParseBracketed(args, begin) : !ParseArguments(args, begin)) return false;
  if (!Bind(args, "T.handle", {"dtype", "storage_scope", "is_size_var"}, 0, v)) return false;
  DataType element = DataType::Void();
  std::string_view scope;
  const bool is_tensor_map = Given(v[0]) && v[0]->is(Kind::kString) && v[0]->string() == kTensorMapScope;
  const bool typed = Given(v[0]) != nullptr;
  if (is_tensor_map) {
    scope = kTensorMapScope;
  } else if (typed && !ToDType(*v[0], element)) {
    return false;
  }
  if (v[1] && !ToString(*v[1], scope)) return false;
  // The newest text always states the memory. Older ones leave the usual one out where MakePackedAPI makes the pointer:
  // for shapes, strides and type codes.
  const TextVersion version =
      state_.module->text_version().value_or(TextVersion::kV0_27);  // not known of parameters yet
  const bool always_states = state_.has_layouts && version >= TextVersion::kV0_27;
  const bool is_of_call = element == DataType::Int(32) || element == DataType::Int(64);
  if (always_states && is_of_call && scope == "global") scope = {};
  const tir::PointerInfo* pointer =
      typed || (v[1] && scope != "global") ? tir::PointerInfo::Get(element, scope) : nullptr;
  tir::Var* var = ws_.NewPrimVar(pending_name_, DataType::Handle(), pointer);
  KeepPointer(var);
  return Give(Spanned(var, args.span), out);
}

// T.TensorMap(): the variable of a pointer to the description of a tensor for asynchronous copies.
bool ScalarParser::ParseTensorMap(uint32_t begin, PyValue& out) {
  PyArgs args;
  if (At(TokenKind::kLParen) && (!ParseArguments(args, begin) || !CountArgs(args, "T.TensorMap", 0, 0))) return false;
  tir::Var* var =
      ws_.NewPrimVar(pending_name_, DataType::Handle(), tir::PointerInfo::Get(DataType::Void(), kTensorMapScope));
  return Give(Spanned(var, lex_.SpanFrom(begin)), out);
}

// T.Let(body, where={x: value}); x is a variable that an earlier `x = T.int32()` made.
bool ScalarParser::ParseLet(uint32_t begin, PyValue& out) {
  PyValue body, name, value;
  if (!Expect(TokenKind::kLParen, "T.Let(...)") || !ParseValue(body) || !Expect(TokenKind::kComma, "T.Let(...)"))
    return false;
  if (!AtKeyword() || !AtName("where")) return Unexpected("where={x: value}");
  lex_.Next();
  lex_.Next();
  if (!Expect(TokenKind::kLBrace, "T.Let(...)") || !ParseValue(name) || !Expect(TokenKind::kColon, "T.Let(...)") ||
      !ParseValue(value))
    return false;
  Accept(TokenKind::kComma);
  if (!Expect(TokenKind::kRBrace, "T.Let(...), which binds one variable,") || !ExpectClose("T.Let(...)")) return false;
  return Give(MakeLet(*this, name, value, body, lex_.SpanFrom(begin)), out);
}

}  // namespace iropt::text
