// Statements of PrimFuncs.
#include <fmt/format.h>

#include <algorithm>

#include "allocations.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/support/stack.h"
#include "parser.h"
#include "text/script/text_scan.h"
#include "tile_calls.h"
#include "tirx_statements.h"

namespace iropt::text {
namespace {

using Kind = PyValue::Kind;

// Names of a scope of the text.
class Names {
 public:
  explicit Names(SymbolTable& symbols) : symbols_(symbols) { symbols_.PushScope(); }
  ~Names() { symbols_.PopScope(); }
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

 private:
  SymbolTable& symbols_;
};

// After `with`, if T.name(...) with a body is missing.
bool NoConstruct(TirParser& p, Span span) {
  if (p.AtPrefix() == Prefix::kTir) {
    p.lex_.Next();
    const std::string_view name = p.DottedName();
    if (!name.empty() && !TirParser::IsTirName(name)) return p.UnknownTir(name, span);
  }
  return p.Error(span, "bad-expression", "expected a statement such as T.block(...) after 'with'");
}

// "message", or the kind of the error and the parts of the message: ("TypeError", ["expected ", "int32"]).
const PrimExpr* AssertMessage(TirParser& p, const PyValue& value) {
  // A string of several lines was read from the metadata section.
  const auto is_string = [](const PyValue& part) {
    return part.is(Kind::kString) || (part.is(Kind::kPrim) && Is<tir::StringImm>(part.prim));
  };
  if (is_string(value)) return p.ToPrim(value);
  const bool is_pair =
      value.is_list() && value.items().size() == 2 && value.items()[0].is(Kind::kString) && value.items()[1].is_list();
  if (!is_pair) return p.WrongValue(value, "a string, or a kind of error and a list of strings");
  std::vector<const PrimExpr*> parts{p.ToPrim(value.items()[0])};
  for (const PyValue& part : value.items()[1].items()) {
    if (!is_string(part)) return p.WrongValue(part, "a string");
    parts.push_back(p.ToPrim(part));
  }
  // This is what a message alone means.
  if (parts.size() == 2 && value.items()[0].string() == "RuntimeError") return parts[1];
  return ListOperand(p, "tir.assert_message", parts, value.span);
}

}  // namespace

bool TirParser::EndOfStatement() {
  if (Accept(TokenKind::kSemicolon)) return At(TokenKind::kNewline) ? EndOfStatement() : ParseSimpleStatement();
  if (At(TokenKind::kDedent) || At(TokenKind::kEnd)) return true;
  if (Accept(TokenKind::kNewline)) return true;
  return Unexpected("the end of the line");
}

bool TirParser::ParseSuite() {
  if (!Expect(TokenKind::kColon, "a statement")) return false;
  if (!Accept(TokenKind::kNewline)) return ParseSimpleStatement();
  if (!Accept(TokenKind::kIndent)) return Unexpected("an indented block");
  ParseStatements();
  Accept(TokenKind::kDedent);
  return true;
}

void TirParser::ParseStatements() {
  while (!At(TokenKind::kDedent) && !At(TokenKind::kEnd)) {
    if (diag_.error_limit_reached()) {
      lex_.SkipLine();
      continue;
    }
    const tir::StmtStack::Mark mark = build_.mark();
    const bool conditional = AtName("if");
    if (ParseStatement()) continue;
    // A statement that failed leaves nothing, except that the names that it should have defined are marked as bad.
    build_.Rollback(mark);
    lex_.SkipLine();
    while (conditional && (AtName("elif") || AtName("else"))) lex_.SkipLine();
  }
}

const tir::Stmt* TirParser::ParseBranch() {
  const Names names(symbols_);
  build_.OpenBody();
  const size_t depth = build_.depth();
  if (!ParseSuite()) return nullptr;
  CloseTo(depth);
  return build_.TakeBody();
}

bool TirParser::ParseStatement() {
  return WithStack([&]() -> bool {
    statement_vars_ = ws_.num_vars();
    pending_name_ = {};
    meta_ = false;
    if (At(TokenKind::kIndent)) return ErrorHere("syntax", "unexpected indent");
    if (At(TokenKind::kAt)) return ParseLocalMacro();
    if (At(TokenKind::kName)) {
      const std::string_view word = lex_.text();
      if (word == "for") return ParseFor(*this);
      if (word == "if") return ParseIf();
      if (word == "with") return ParseWith();
      if (word == "while") return ParseWhile();
    }
    return ParseSimpleStatement();
  });
}

bool TirParser::ParseSimpleStatement() {
  if (At(TokenKind::kName)) {
    const std::string_view word = lex_.text();
    if (word == "assert") return ParseAssert();
    if (word == "return") return ParseReturn();
    if (word == "pass") return lex_.Next(), EndOfStatement();
    if (word == "break" || word == "continue") return ParseJump();
    const char next = CharAfterName();
    if (AtKeyword() || next == ',' || next == ':') return ParseAssignment();
    if (next == '[' || next == '.') {
      const Node* node = symbols_.Find(word);
      const auto* buffer = node ? As<tir::Buffer>(node) : nullptr;
      if (buffer && next == '[') return ParseElementStatement(buffer);
      if (buffer && lex_.buffer().substr(lex_.peek().end).starts_with(".vstore(")) return ParseVectorStore(buffer);
    }
    const Macro* macro = next == '(' ? FindMacro(word) : nullptr;
    if (macro) return ExpandMacro(*macro);
    PyValue result;
    bool known = false;
    const bool ok = ParseTirStatement(result, known);
    if (known) return ok && EndOfStatement();
    const bool is_read = ParseUnknownCall(known);
    if (known) return is_read && EndOfStatement();
  } else if (targets_.AtTarget() && targets_.AtTargetList()) {
    return ParseAssignment();
  }
  const Token first = lex_.peek();
  PyValue value;
  if (!ParseValue(value)) return false;
  // x += 1
  if (first.kind == TokenKind::kName && lex_.previous_end() == first.end && AtAugmented())
    return ParseNameUpdate(first, value);
  return EmitValue(value) && EndOfStatement();
}

bool TirParser::EmitValue(const PyValue& value) {
  // A documentation string, or T.something that returns nothing.
  if (value.is(Kind::kString) || value.is(Kind::kNone)) return true;
  if (value.is_list())
    return std::ranges::all_of(value.items(), [this](const PyValue& item) { return EmitValue(item); });
  const PrimExpr* e = ToPrim(value);
  if (!e) return false;
  auto* stmt = ws_.New<tir::Evaluate>(e);
  stmt->set_span(value.span);
  build_.Emit(stmt);
  return true;
}

// ---- Compound statements

bool TirParser::ParseWhile() {
  const uint32_t begin = lex_.Next().begin;
  PyValue value;
  if (!ParseValue(value)) return false;
  const PrimExpr* condition = ToCondition(value);
  if (!condition) return false;
  const Span span = lex_.SpanFrom(begin);
  const tir::Stmt* body = ParseBranch();
  if (!body) return false;
  auto* loop = ws_.New<tir::While>(condition, body);
  loop->set_span(span);
  build_.Emit(loop);
  return true;
}

// A condition that the text decides leaves only the branch that is taken.
bool TirParser::ParseIf() {
  const uint32_t begin = lex_.Next().begin;
  PyValue value;
  if (!ParseValue(value)) return false;
  const bool decided = value.is(Kind::kBool);
  const PrimExpr* condition = decided ? nullptr : ToCondition(value);
  if (!decided && !condition) return false;
  const Span span = lex_.SpanFrom(begin);
  const tir::Stmt* then_case = ParseBranch();
  if (!then_case) return false;
  const tir::Stmt* else_case = nullptr;
  if (AtName("elif")) {
    build_.OpenBody();
    if (!WithStack([&] { return ParseIf(); })) return false;
    else_case = build_.TakeBody();
  } else if (AcceptName("else")) {
    else_case = ParseBranch();
    if (!else_case) return false;
  }
  if (decided) {
    if (const tir::Stmt* taken = value.boolean ? then_case : else_case) build_.Emit(taken);
    return true;
  }
  auto* stmt = ws_.New<tir::IfThenElse>(condition, then_case, else_case);
  stmt->set_span(span);
  build_.Emit(stmt);
  return true;
}

bool TirParser::ParseWith() {
  lex_.Next();
  const Names names(symbols_);
  const size_t mark = build_.depth();
  do {
    // The name comes after its value.
    const Lexer::State start = lex_.Save();
    Target target;
    int depth = 0;
    while (!At(TokenKind::kNewline) && !At(TokenKind::kEnd)) {
      if (depth == 0 && (AtName("as") || At(TokenKind::kComma) || At(TokenKind::kColon))) break;
      if (At(TokenKind::kLParen) || At(TokenKind::kLBracket) || At(TokenKind::kLBrace)) ++depth;
      if (At(TokenKind::kRParen) || At(TokenKind::kRBracket) || At(TokenKind::kRBrace)) --depth;
      lex_.Next();
    }
    // A list of names stands in brackets only, since a comma begins the next item.
    const bool named = AcceptName("as");
    if (named && !targets_.ParseTarget(target)) return false;
    const Lexer::State end = lex_.Save();
    lex_.Restore(start);
    pending_name_ = named && !target.is_list ? lex_.text(target.name) : std::string_view();
    PyValue result;
    bool known = false;
    const size_t opened = build_.depth();
    const Span span = SpanHere();
    const bool ok = ParseTirStatement(result, known);
    if (!known) return NoConstruct(*this, span);
    if (!ok) return false;
    if (build_.depth() == opened) return Error(span, "bad-expression", "this opens no block of statements");
    lex_.Restore(end);
    if (named && result.is(Kind::kNone)) return Error(target.span, "bad-expression", "there is nothing to name");
    if (named && !AssignTo(target, result, Naming::kDirect)) return false;
  } while (Accept(TokenKind::kComma));
  const bool ok = ParseSuite();
  if (ok) CloseTo(mark);
  return ok;
}

bool TirParser::ParseAssert() {
  const uint32_t begin = lex_.Next().begin;
  PyValue condition_value, message_value;
  if (!ParseValue(condition_value) || !Expect(TokenKind::kComma, "an assertion, which has a message") ||
      !ParseValue(message_value))
    return false;
  const PrimExpr* condition = ToBool(condition_value);
  const PrimExpr* message = condition ? AssertMessage(*this, message_value) : nullptr;
  if (!message) return false;
  build_.Open<tir::AssertStmt>(lex_.SpanFrom(begin), condition, message, nullptr);
  return EndOfStatement();
}

bool TirParser::ParseReturn() {
  const uint32_t begin = lex_.Next().begin;
  PyValue value;
  return ParseValue(value) && EmitReturn(*this, value, lex_.SpanFrom(begin)) && EndOfStatement();
}

bool EmitReturn(TirParser& p, const PyValue& value, Span span) {
  const PrimExpr* result = p.ToPrim(value);
  if (!result) return false;
  auto* stmt = p.ws_.New<tir::Evaluate>(p.MakeCall("tir.ret", result->dtype, {result}, span));
  stmt->set_span(span);
  p.build_.Emit(stmt);
  return true;
}

// break and continue
bool TirParser::ParseJump() {
  const Token word = lex_.Next();
  const Span span = lex_.SpanOf(word);
  const std::string_view name = lex_.text(word) == "break" ? "tir.break_loop" : "tir.continue_loop";
  auto* stmt = ws_.New<tir::Evaluate>(MakeCall(name, DataType::Void(), {}, span));
  stmt->set_span(span);
  build_.Emit(stmt);
  return EndOfStatement();
}

const Macro* TirParser::FindMacro(std::string_view name) const {
  const Node* node = symbols_.Find(name);
  if (!node) return state_.FindMacro(name, Prefix::kTir);
  return local_macros_.Find(node);
}

// @T.inline in a function: as for a function of Python, names in its body are those of the scopes around it, with the
// values that they have when it is called.
bool TirParser::ParseLocalMacro() {
  const uint32_t at = lex_.Next().begin;
  const std::string_view member = lex_.buffer().substr(lex_.peek().end);
  if (AtPrefix() != Prefix::kTir || (!member.starts_with(".inline") && !member.starts_with(".macro")))
    return Unexpected("T.inline, the only decorator in a function");
  Macro macro;
  if (!ReadMacroHeader(*this, macro)) return false;
  macro.depth = symbols_.scope_depth();
  macro.body_begin = lex_.peek().begin;
  lex_.Next();
  if (!At(TokenKind::kNewline)) return Unexpected("the body of the macro on lines of its own");
  const size_t line = lex_.buffer().rfind('\n', at);
  const uint32_t column = at - (line == std::string_view::npos ? 0 : static_cast<uint32_t>(line) + 1);
  macro.body_end = BlockEnd(lex_.buffer().substr(0, lex_.end_offset()), macro.body_begin, column);
  lex_.SkipToLine(macro.body_end);
  const Node* node = scratch_.New<ValueSymbol>(PyValue::None(macro.name_span));
  symbols_.Define(macro.name, node);
  local_macros_.try_emplace(node, std::move(macro));
  return true;
}

// The statements of the macro's body.
bool TirParser::ExpandMacro(const Macro& macro) {
  const uint32_t begin = lex_.Next().begin;
  PyArgs args;
  if (!ParseArguments(args, begin)) return false;
  {
    const MacroExpansion expansion(*this, macros_, macro, args, [&](std::string_view name, const PyValue& value) {
      symbols_.Define(name, NodeOf(value));
    });
    if (!expansion.entered() || !ParseSuite()) return false;
  }
  return EndOfStatement();
}

// ---- Assignments

bool TirParser::ParseAssignment() {
  Target target;
  if (!targets_.ParseTargets(target)) return false;
  if (At(TokenKind::kColon) && !target.is_list) {
    if (ParseAnnotated(target)) return EndOfStatement();
    Poison(target);
    return false;
  }
  if (!Expect(TokenKind::kAssign, "an assignment")) return false;
  // cls = Module
  if (!target.is_list && At(TokenKind::kName) && lex_.next_char() != '.') {
    const Node* node = symbols_.Find(lex_.text());
    if (node == state_.module_alias() || (!node && lex_.text() == state_.module_name)) {
      lex_.Next();
      symbols_.Define(lex_.text(target.name), state_.module_alias());
      return EndOfStatement();
    }
  }
  PyValue value;
  if (!ParseRightHandSide(target, value)) {
    Poison(target);
    return false;
  }
  if (state_.is_tirx && !target.is_list) {
    bool known = false;
    const bool ok = StoreToScalar(lex_.text(target.name), lex_.SpanFrom(target.name.begin), value, known);
    if (known) return ok && EndOfStatement();
  }
  if (AssignTo(target, value, Naming::kAssignment)) return EndOfStatement();
  Poison(target);
  return false;
}

// The value for the target.
bool TirParser::ParseRightHandSide(const Target& target, PyValue& out) {
  pending_name_ = target.is_list ? std::string_view() : lex_.text(target.name);
  if (AtKeyword()) return ErrorHere("syntax", "an assignment has one '='; name the value first, and then its name");
  if (AtView(*this)) return ParseView(*this, out);
  bool known = false;
  const bool ok = ParseTirStatement(out, known);
  if (known) {
    // Such a statement returns a variable, which is not bound to another one: bx = T.launch_thread(...) names the
    // thread's own variable.
    if (ok && out.is(Kind::kNone) && !meta_) return Error(target.span, "bad-expression", "there is nothing to name");
    meta_ |= ok && out.is(Kind::kPrim) && tir::Var::ClassOf(out.prim->kind) && out.prim->id < statement_vars_;
    return ok;
  }
  const uint32_t begin = lex_.peek().begin;
  const bool star = Accept(TokenKind::kStar);
  if (!ParseValue(out)) return false;
  if (At(TokenKind::kComma)) return ParseTupleTail(out, star, begin);
  return !star || Error(out.span, "syntax", "'*' unpacks a list in another list only");
}

// The operator of +=, //= and so on.
bool TirParser::AtAugmented() const {
  return PrecedenceOf(lex_.kind()) > Precedence::kComparison && lex_.next_char() == '=';
}

// name += value, after the name.
bool TirParser::ParseNameUpdate(const Token& name, const PyValue& value) {
  const TokenKind op = lex_.Next().kind;
  PyValue current = value, other, sum;
  if (!Expect(TokenKind::kAssign, "an assignment") || !ParseValue(other) || !Operand(current) || !Operand(other) ||
      !ops_.Binary(op, current, other, lex_.SpanFrom(name.begin), sum))
    return false;
  if (state_.is_tirx) {
    bool known = false;
    const bool ok = StoreToScalar(lex_.text(name), lex_.SpanFrom(name.begin), sum, known);
    if (known) return ok && EndOfStatement();
  }
  Target target;
  target.name = name;
  return AssignTo(target, sum, Naming::kAssignment) && EndOfStatement();
}

void TirParser::OpenLet(const tir::Var* var, const PrimExpr* value, Span span) {
  build_.Open<tir::LetStmt>(span, var, value, nullptr);
}

// The value of a LetStmt: what its variable can hold.
const PrimExpr* TirParser::LetValue(const PyValue& value, const tir::Var* var) {
  const PrimExpr* e = ToPrim(value);
  if (e && var->pointer && e->dtype.is_handle()) return e;
  return e ? ToPrimOf(value, var->dtype) : nullptr;
}

// name: type = value
bool TirParser::ParseAnnotated(const Target& target) {
  lex_.Next();
  Annotation annotation;
  if (!ParseAnnotation(annotation, lex_.text(target.name))) return false;
  // Since TVM 0.25, a type that is not T.let[...] declares a scalar, which can be assigned again.
  const tir::Var* var = annotation.var;
  const bool is_scalar = annotation.shape || (var && !annotation.is_let && !var->dtype.is_handle());
  if (is_scalar && state_.has_scalars) return ParseScalar(target, annotation);
  if (!Expect(TokenKind::kAssign, "an assignment")) return false;
  PyValue value;
  if (!ParseValue(value)) return false;
  if (!var) return BindLet(target, value);
  const PrimExpr* bound = LetValue(value, var);
  if (!bound) return false;
  OpenLet(var, bound, lex_.SpanFrom(target.name.begin));
  symbols_.Define(lex_.text(target.name), var);
  return true;
}

// name: T.let = value, whose type is that of the value
bool TirParser::BindLet(const Target& target, const PyValue& value) {
  const PrimExpr* bound = ToPrim(value);
  if (!bound) return false;
  const std::string_view name = lex_.text(target.name);
  tir::Var* var = ws_.NewPrimVar(name, bound->dtype);
  KeepPointer(var);
  var->set_span(lex_.SpanOf(target.name));
  OpenLet(var, bound, lex_.SpanFrom(target.name.begin));
  symbols_.Define(name, var);
  return true;
}

// name: T.int32, name: T.int32 = value, name: T.float32[4, 8]
bool TirParser::ParseScalar(const Target& target, const Annotation& annotation) {
  const std::string_view name = lex_.text(target.name);
  const Span span = lex_.SpanOf(target.name);
  if (annotation.shape) {
    tir::BufferSpec spec{.dtype = annotation.dtype, .scope = "local"};
    if (!ToPrims(*annotation.shape, spec.shape) || !ReadLayout(nullptr, span, spec)) return false;
    const tir::Buffer* buffer = tir::MakeBuffer(ws_, spec, name, span);
    OpenAllocation(*this, buffer, DictAttr::Empty(), span);
    symbols_.Define(name, buffer);
    return true;
  }
  PyValue value;
  const bool is_stored = Accept(TokenKind::kAssign);
  if (is_stored && !ParseValue(value)) return false;
  const PrimExpr* scalar = OpenScalar(*this, name, annotation.var->dtype, "local", span);
  if (!scalar) return false;
  symbols_.Define(name, scalar);
  bool known = false;
  if (!is_stored) return true;
  return StoreToScalar(name, lex_.SpanFrom(target.name.begin), value, known) &&
         (known || WrongValue(value, "the value of a scalar"));
}

bool TirParser::StoreToScalar(std::string_view name, Span span, const PyValue& value, bool& known) {
  const Node* node = symbols_.Find(name);
  const auto* load = node ? As<tir::BufferLoad>(node) : nullptr;
  // The name of a buffer of one element is as good.
  const auto* buffer = load ? load->buffer : node ? As<tir::Buffer>(node) : nullptr;
  const bool is_value =
      value.is_number() || value.is(Kind::kPrim) || value.is(Kind::kIterVar) || value.is(Kind::kRegion);
  known = buffer && is_value && !meta_ && buffer->shape.size() == 1 && arith::IsInt(buffer->shape[0], 1);
  if (!known) return true;
  const PrimExpr* const index[] = {ops_.Int(0, DataType::Int(32), span)};
  const tir::Stmt* store = MakeStore(buffer, index, value, nullptr, span);
  if (store) build_.Emit(store);
  return store != nullptr;
}

// The type of a variable: T.int32, T.handle("float32"). TVM 0.26 writes T.let[T.int32], or T.let if it follows from the
// value, and T.float32[4, 8] for a buffer.
bool TirParser::ParseAnnotation(Annotation& annotation, std::string_view name) {
  pending_name_ = name;
  const Lexer::State start = lex_.Save();
  if (AtPrefix() == Prefix::kTir) {
    lex_.Next();
    if (DottedName() == "let") {
      annotation.is_let = true;
      if (!Accept(TokenKind::kLBracket)) return true;
      return ParseAnnotation(annotation, name) && Expect(TokenKind::kRBracket, "an annotation");
    }
    lex_.Restore(start);
  }
  PyValue value;
  if (!ParseValue(value)) return false;
  if (value.is(Kind::kDType)) {
    tir::Var* made = ws_.NewPrimVar(name, value.dtype);
    KeepPointer(made);
    made->set_span(value.span);
    annotation.var = made;
    return true;
  }
  if (state_.is_tirx && value.is(Kind::kTuple) && value.items().size() == 2 && value.items()[0].is(Kind::kDType)) {
    annotation.dtype = value.items()[0].dtype;
    annotation.shape = &value.items()[1];
    return true;
  }
  const tir::Var*& var = annotation.var;
  if (value.is(Kind::kPrim)) var = As<tir::Var>(value.prim);
  if (!var || var->id < statement_vars_ || var->context_owned()) return WrongValue(value, "a type such as T.int32");
  return true;
}

// ---- Stores

bool TirParser::EmitStore(const tir::Stmt* store) {
  if (store) build_.Emit(store);
  return store && EndOfStatement();
}

bool TirParser::ParseElementStatement(const tir::Buffer* buffer) {
  const uint32_t begin = lex_.Next().begin;
  Subscripts indices;
  if (!ParseSubscripts(indices)) return false;
  if (!At(TokenKind::kAssign)) {
    if (At(TokenKind::kComma)) return ErrorHere("syntax", "an element of a buffer is assigned on its own");
    if (AtAugmented()) return ParseAugmented(buffer, indices, begin);
    PyValue value;
    return AccessOf(buffer, indices, lex_.SpanFrom(begin), value) && ParsePostfix(value, begin) &&
           ParseInfix(value, begin, Precedence::kLambda) && EmitValue(value) && EndOfStatement();
  }
  lex_.Next();
  PyValue value;
  Prims exprs;
  if (!ParseValue(value) || !VectorIndices(buffer, indices, exprs)) return false;
  return EmitStore(MakeStore(buffer, exprs, value, nullptr, lex_.SpanFrom(begin)));
}

// A[i] += value
bool TirParser::ParseAugmented(const tir::Buffer* buffer, std::span<const text::Subscript> indices, uint32_t begin) {
  const Span span = lex_.SpanFrom(begin);
  const TokenKind op = lex_.Next().kind;
  if (!Expect(TokenKind::kAssign, "an assignment")) return false;
  PyValue value, sum;
  Prims exprs;
  if (!ParseValue(value) || !Operand(value) || !VectorIndices(buffer, indices, exprs)) return false;
  const PrimExpr* load = MakeLoad(buffer, exprs, nullptr, span);
  if (!load || !ops_.Binary(op, PyValue(load), value, lex_.SpanFrom(begin), sum)) return false;
  return EmitStore(MakeStore(buffer, exprs, sum, nullptr, lex_.SpanFrom(begin)));
}

// A.vstore([i], value, predicate=mask)
bool TirParser::ParseVectorStore(const tir::Buffer* buffer) {
  const uint32_t begin = lex_.Next().begin;
  lex_.Next();
  lex_.Next();
  PyArgs args;
  const PyValue* v[3];
  std::vector<const PrimExpr*> indices;
  if (!ParseArguments(args, begin) || !Bind(args, "vstore", {"begin", "value", "predicate"}, 2, v) ||
      !ToPrims(*v[0], indices))
    return false;
  const PrimExpr* value = ToPrim(*v[1]);
  if (!value) return false;
  WidenIndices(buffer, value->dtype, indices, args.span);
  return EmitStore(MakeStore(buffer, indices, PyValue(value), v[2], args.span));
}

}  // namespace iropt::text
