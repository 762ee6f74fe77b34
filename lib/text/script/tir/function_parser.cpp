// PrimFuncs as a whole: decorator, signature, body.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "hints.h"
#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/op/tile_layout.h"
#include "parser.h"
#include "text/script/func_attrs.h"
#include "text/script/type_vars.h"

namespace iropt::text {
namespace {

using Kind = PyValue::Kind;

}  // namespace

void TirParser::CloseTo(size_t depth) {
  while (build_.depth() > depth) {
    if (const auto branches = build_.open_if(); branches && !branches->then_case) {
      Error(branches->span, "bad-block", "T.If needs T.Then");
      build_.OpenBranch(false);
      continue;
    }
    build_.Close();
  }
}

// @T.prim_func, @T.prim_func(private=True)
bool TirFunctionParser::ParseDecorator(TirSignature& signature) {
  if (!Expect(TokenKind::kAt, "a decorator")) return false;
  const uint32_t begin = lex_.peek().begin;
  // Only the text of TVM 0.25 and newer has PrimFuncs of another kind.
  bool is_s_tir = !state_.has_layouts || state_.is_s_tir;
  lex_.Next();
  const std::string_view name = DottedName();
  if (name != "prim_func") {
    static constexpr std::string_view kNames[] = {"prim_func"};
    return name.empty() ? false : static_cast<bool>(UnknownMember("T", name, lex_.SpanFrom(begin), kNames));
  }
  if (At(TokenKind::kLParen)) {
    PyArgs args;
    const PyValue* v[4];
    if (!ParseArguments(args, begin) ||
        !Bind(args, "T.prim_func", {"private", "check_well_formed", "s_tir", "persistent"}, 0, v))
      return false;
    for (const PyValue* value : v) {
      if (value && !value->is(Kind::kBool)) return WrongValue(*value, "True or False");
    }
    signature.is_private = v[0] && v[0]->boolean;
    is_s_tir = v[2] ? v[2]->boolean : is_s_tir;
    if (v[3] && v[3]->boolean) signature.attrs = signature.attrs->With(attr::kPersistentKernel, IntAttr::Bool(true));
  }
  if (!is_s_tir) signature.attrs = signature.attrs->With(attr::kSTir, IntAttr::Bool(false));
  signature.is_s_tir = is_s_tir;
  return Expect(TokenKind::kNewline, "a decorator");
}

bool TirFunctionParser::ParseParam(TirSignature& signature) {
  if (!At(TokenKind::kName)) return Unexpected("the name of a parameter");
  const Token token = lex_.Next();
  const std::string_view name = lex_.text(token);
  if (!At(TokenKind::kColon))
    return Error(lex_.SpanOf(token), "missing-annotation", fmt::format("the parameter '{}' has no type", name));
  lex_.Next();
  pending_name_ = name;
  statement_vars_ = ws_.num_vars();
  PyValue value;
  if (!ParseValue(value)) return false;
  const tir::Var* var = nullptr;
  const tir::Buffer* buffer = nullptr;
  if (value.is(Kind::kBuffer)) {
    buffer = value.buffer;
    tir::Var* handle = ws_.NewPrimVar(fmt::format("{}_handle", name), DataType::Handle());
    handle->set_span(lex_.SpanOf(token));
    var = handle;
  } else if (value.is(Kind::kDType)) {
    const auto known = std::ranges::find(signature.symbols, name, &tir::Var::name);
    if (known != signature.symbols.end() && (*known)->dtype == value.dtype) {
      signature.params.push_back(*known);
      signature.buffers.push_back(nullptr);
      signature.symbols.erase(known);
      return true;
    }
    tir::Var* scalar = ws_.NewPrimVar(name, value.dtype);
    KeepPointer(scalar);
    scalar->set_span(lex_.SpanOf(token));
    var = scalar;
  } else if (value.is(Kind::kPrim)) {
    var = As<tir::Var>(value.prim);
  }
  if (!var || var->id < statement_vars_)
    return WrongValue(value, "a type such as T.handle or T.Buffer((8,), \"float32\")");
  signature.params.push_back(var);
  signature.buffers.push_back(buffer);
  if (tir::Var* pointer = KeptPointer(var); pointer && !buffer) signature.pointers.push_back(pointer);
  symbols_.Define(name, buffer ? static_cast<const Node*>(buffer) : var);
  return true;
}

const tir::Var* TirFunctionParser::Introduce(std::string_view name, DataType dtype, Span span,
                                             TirSignature& signature) {
  tir::Var* var = ws_.NewPrimVar(name, dtype);
  var->set_span(span);
  symbols_.Define(name, var);
  signature.symbols.push_back(var);
  return var;
}

// The type with which the first statements of a body declare the name: `n = T.int64()`, `m, n = T.int64(), T.int64()`.
std::optional<DataType> TirFunctionParser::TypeOfDeclaration(std::string_view name, uint32_t body) const {
  DiagnosticBuffer nowhere;
  DiagnosticEngine silent(&nowhere);
  Lexer ahead(lex_.buffer(), lex_.base(), body, lex_.end_offset(), silent);
  while (ahead.kind() == TokenKind::kNewline || ahead.kind() == TokenKind::kIndent) ahead.Next();
  while (ahead.kind() == TokenKind::kName) {
    // Declarations may also follow the attributes.
    if (state_.prefixes.Of(ahead.text()) == Prefix::kTir &&
        ahead.buffer().substr(ahead.peek().end).starts_with(".func_attr(")) {
      ahead.SkipLine();
      continue;
    }
    std::vector<std::string_view> names;
    for (; ahead.kind() == TokenKind::kName || ahead.kind() == TokenKind::kComma; ahead.Next()) {
      if (ahead.kind() == TokenKind::kName) names.push_back(ahead.text());
    }
    if (ahead.kind() != TokenKind::kAssign) return std::nullopt;
    ahead.Next();
    for (const std::string_view declared : names) {
      if (ahead.kind() != TokenKind::kName || state_.prefixes.Of(ahead.text()) != Prefix::kTir) return std::nullopt;
      ahead.Next();
      ahead.Next();
      const std::optional<DataType> type = DataType::Parse(ahead.text());
      if (!type || declared == name) return type;
      while (ahead.kind() != TokenKind::kComma && ahead.kind() != TokenKind::kNewline &&
             ahead.kind() != TokenKind::kEnd)
        ahead.Next();
      if (ahead.kind() == TokenKind::kComma) ahead.Next();
    }
    if (ahead.kind() == TokenKind::kNewline) ahead.Next();
  }
  return std::nullopt;
}

// The type of the parameter of this name, which may come later: `name: T.int64`, or of its declaration in the body.
// int32 if there is none.
DataType TirFunctionParser::TypeOfParam(std::string_view name) const {
  DiagnosticBuffer nowhere;
  DiagnosticEngine silent(&nowhere);
  Lexer ahead(lex_.buffer(), lex_.base(), params_begin_, lex_.end_offset(), silent);
  while (ahead.kind() != TokenKind::kNewline && ahead.kind() != TokenKind::kEnd) {
    const bool is_name = ahead.kind() == TokenKind::kName && ahead.bracket_depth() == 1 && ahead.text() == name;
    ahead.Next();
    if (!is_name || ahead.kind() != TokenKind::kColon) continue;
    ahead.Next();
    if (ahead.kind() != TokenKind::kName || state_.prefixes.Of(ahead.text()) != Prefix::kTir) break;
    ahead.Next();
    ahead.Next();
    return DataType::Parse(ahead.text()).value_or(DataType::Int(32));
  }
  return TypeOfDeclaration(name, ahead.peek().begin).value_or(DataType::Int(32));
}

// A dimension in quotes, "n * T.int64(2)": names that are not known yet are variables.
const PrimExpr* TirFunctionParser::ParseQuoted(const PyValue& value, TirSignature& signature) {
  const std::string_view text = value.string();
  const auto size = static_cast<uint32_t>(text.size());
  DiagnosticBuffer nowhere;
  DiagnosticEngine silent(&nowhere);
  bool is_member = false;
  for (Lexer names(text, value.span.begin + 1, 0, size, silent); names.kind() != TokenKind::kEnd; names.Next()) {
    if (names.kind() == TokenKind::kError) break;
    const Node* known = names.kind() == TokenKind::kName ? symbols_.Find(names.text()) : nullptr;
    if (names.kind() == TokenKind::kName && !is_member && (!known || state_.IsValueSymbol(known)) &&
        state_.prefixes.Of(names.text()) == Prefix::kNone)
      Introduce(names.text(), TypeOfParam(names.text()), names.SpanOf(names.peek()), signature);
    is_member = names.kind() == TokenKind::kDot;
  }
  Lexer inner(text, value.span.begin + 1, 0, size, diag_);
  ScalarParser reader({inner, state_, ws_, symbols_, diag_});
  const PrimExpr* dim = reader.ParseScalar(Precedence::kLambda);
  if (!dim) return nullptr;
  if (inner.kind() != TokenKind::kNewline && inner.kind() != TokenKind::kEnd)
    return reader.Unexpected("the end of the dimension");
  return dim;
}

// Returns whether a string in the signature before the span contains the name: the dimensions of one buffer are read
// together, T.Buffer(("n", n)), and only then the strings among them.
bool TirFunctionParser::IsQuoted(std::string_view name, Span span) const {
  DiagnosticBuffer nowhere;
  DiagnosticEngine silent(&nowhere);
  const uint32_t end = span.begin - lex_.base();
  for (Lexer ahead(lex_.buffer(), lex_.base(), params_begin_, end, silent); ahead.kind() != TokenKind::kEnd;
       ahead.Next()) {
    if (ahead.kind() == TokenKind::kError) return false;
    if (ahead.kind() != TokenKind::kString) continue;
    const std::string_view text = ahead.text();
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
      const size_t after = at + name.size();
      if (at > 0 && !is_word(text[at - 1]) && after < text.size() && !is_word(text[after])) return true;
    }
  }
  return false;
}

bool TirFunctionParser::ParseReturnType(TirSignature& signature) {
  if (AcceptName("None")) return true;
  statement_vars_ = ws_.num_vars();
  PyValue value;
  if (!ParseValue(value)) return false;
  if (value.is(Kind::kDType)) {
    signature.ret_type = value.dtype.is_void() ? nullptr : PrimType::Get(value.dtype);
    return true;
  }
  if (value.is(Kind::kPrim) && tir::Var::ClassOf(value.prim->kind)) {
    signature.ret_type = PrimType::Get(value.prim->dtype);
    return true;
  }
  return WrongValue(value, "a type such as T.int32");
}

bool TirFunctionParser::ParseParams(TirSignature& signature) {
  if (!Expect(TokenKind::kLParen, "a function header")) return false;
  while (!At(TokenKind::kRParen)) {
    if (!ParseParam(signature)) return false;
    if (!Accept(TokenKind::kComma)) break;
  }
  return Expect(TokenKind::kRParen, "a function header");
}

// The functions of TVM 0.25 and newer say whether they are of the older flavour, whose buffers have no layouts; those
// of older versions all are.
void TirFunctionParser::EnterFlavour(const TirSignature& signature) {
  default_layout_ = state_.has_layouts && !signature.is_s_tir;
  has_elements_ = default_layout_;
  is_s_tir_ = state_.has_layouts && signature.is_s_tir;
  has_void_pointers_ = state_.has_layouts;
}

bool TirFunctionParser::ParseSignature(TirSignature& signature) {
  if (!AcceptName("def")) return Unexpected("'def' and the name of the function");
  if (!At(TokenKind::kName)) return Unexpected("the name of the function");
  const Token name = lex_.Next();
  signature.name = lex_.text(name);
  signature.name_span = lex_.SpanOf(name);
  std::vector<std::string_view> type_params;
  if (!ReadTypeParams(*this, type_params)) return false;
  for (const std::string_view param : type_params) Introduce(param, DataType::Int(64), signature.name_span, signature);
  params_begin_ = lex_.peek().begin;
  EnterFlavour(signature);
  if (state_.is_tirx) {
    read_quoted_ = [&](const PyValue& value) { return ParseQuoted(value, signature); };
    read_introduced_ = [&](std::string_view dim, Span span) -> const tir::Var* {
      return IsQuoted(dim, span) ? Introduce(dim, TypeOfParam(dim), span, signature) : nullptr;
    };
  }
  const bool ok = ParseParams(signature);
  read_quoted_ = nullptr;
  read_introduced_ = nullptr;
  if (!ok) return false;
  return !Accept(TokenKind::kArrow) || ParseReturnType(signature);
}

PrimFunc* TirFunctionParser::MakeHeader(const TirSignature& signature, Workspace& workspace) {
  const Type* ret = signature.ret_type ? signature.ret_type : TupleType::Get({});
  auto* func = workspace.New<PrimFunc>(workspace.Copy(signature.params), workspace.Copy(signature.buffers), nullptr,
                                       ret, DictAttr::Empty(), nullptr);
  func->type = PrimFuncType(func);
  return func;
}

const PrimFunc* TirFunctionParser::ParseBody(TirSignature& signature) {
  signature_ = &signature;
  func_attrs_ = signature.attrs;
  for (tir::Var* pointer : signature.pointers) KeepPointer(pointer);
  EnterFlavour(signature);
  const size_t errors = diag_.error_count();
  if (!ParseSuite()) return nullptr;
  CloseTo(0);
  const tir::Stmt* body = build_.Finish();
  if (diag_.error_count() != errors) return nullptr;
  for (const auto& [block, buffer] : CompleteBlocks(signature.buffers, body, build_.incomplete_blocks(), ws_)) {
    Error(block->span(), "bad-block",
          fmt::format("the block passes the pointer of '{}' on; state T.reads(...) and T.writes(...)", buffer->name));
  }
  if (diag_.error_count() != errors) return nullptr;
  const Type* ret = signature.ret_type ? signature.ret_type : TupleType::Get({});
  auto* func =
      ws_.New<PrimFunc>(ws_.Copy(signature.params), ws_.Copy(signature.buffers), body, ret, func_attrs_, nullptr);
  func->type = PrimFuncType(func);
  func->set_span(signature.name_span);
  if (!hinted_buffers_.empty()) RecoverHints(func, hinted_buffers_, state_.module_name);
  return func;
}

}  // namespace iropt::text
