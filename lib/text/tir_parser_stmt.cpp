// Statements of loop-level functions.
#include <fmt/format.h>

#include "iropt/arith/prim_builder.h"
#include "iropt/support/stack.h"
#include "tir_parser.h"

namespace iropt::text {
namespace {

using Kind = Value::Kind;

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

}  // namespace

const Node* TirParser::poison() {
  static const NoneAttr marker;
  return &marker;
}

bool TirParser::EndOfStatement() {
  if (Accept(TokenKind::kSemicolon)) return At(TokenKind::kNewline) ? EndOfStatement() : ParseSimpleStatement();
  if (At(TokenKind::kDedent) || At(TokenKind::kEnd)) return true;
  if (Accept(TokenKind::kNewline)) return true;
  return Unexpected("the end of the line");
}

char TirParser::CharAfterName() const {
  const std::string_view text = lex_.buffer();
  uint32_t p = lex_.peek().end;
  while (p < lex_.end_offset() && (text[p] == ' ' || text[p] == '\t')) ++p;
  return p < lex_.end_offset() ? text[p] : '\0';
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
    const size_t stmts = stmts_.size();
    const size_t open = open_.size();
    const size_t blocks = blocks_.size();
    const size_t conditionals = conditionals_.size();
    const size_t nesting = nesting_;
    const bool conditional = AtName("if");
    if (ParseStatement()) continue;
    // Nothing is left of a statement that failed, except that the names that it should have defined are known to be
    // bad.
    stmts_.resize(std::min(stmts, stmts_.size()));
    open_.resize(std::min(open, open_.size()));
    blocks_.resize(blocks);
    conditionals_.resize(conditionals, {});
    nesting_ = nesting;
    lex_.SkipLine();
    while (conditional && (AtName("elif") || AtName("else"))) lex_.SkipLine();
  }
}

const tir::Stmt* TirParser::ParseBranch() {
  const Names names(symbols_);
  const size_t mark = open_.size();
  const size_t start = stmts_.size();
  const size_t nesting = nesting_++;
  const bool ok = ParseSuite();
  CloseTo(mark);
  nesting_ = nesting;
  const tir::Stmt* body = TakeStatements(start);
  return ok ? body : nullptr;
}

bool TirParser::ParseStatement() {
  return WithStack([&]() -> bool {
    statement_vars_ = ws_.num_vars();
    pending_name_ = {};
    targets_ = {};
    meta_ = false;
    if (At(TokenKind::kIndent)) return Unexpected("a statement at the indentation of the block");
    if (At(TokenKind::kName)) {
      const std::string_view word = lex_.text();
      if (word == "for") return ParseFor();
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
    const char next = CharAfterName();
    if (AtKeyword() || next == ',' || next == ':') return ParseAssignment();
    if (next == '[' || next == '.') {
      const Node* node = symbols_.Find(word);
      const auto* buffer = node ? As<tir::Buffer>(node) : nullptr;
      if (buffer && next == '[') return ParseElementStatement(buffer);
      if (buffer && lex_.buffer().substr(lex_.peek().end).starts_with(".vstore(")) return ParseVectorStore(buffer);
    }
    Value result;
    bool known = false;
    const bool ok = ParseConstruct(result, known);
    if (known) return ok && EndOfStatement();
  } else if (At(TokenKind::kLParen) || At(TokenKind::kStar)) {
    const Lexer::State start = lex_.Save();
    std::vector<Token> targets;
    // (a, b) = ... or an expression in parentheses.
    lex_.Next();
    const bool assignment = At(TokenKind::kName) && CharAfterName() == ',';
    lex_.Restore(start);
    if (assignment) return ParseAssignment();
  }
  Value value;
  return ParseExpr(value) && EmitValue(value) && EndOfStatement();
}

bool TirParser::EmitValue(const Value& value) {
  // A documentation string, or T.something that returns nothing.
  if (value.is(Kind::kString) || value.is(Kind::kNone)) return true;
  const PrimExpr* e = ToPrim(value);
  if (!e) return false;
  auto* stmt = ws_.New<tir::Evaluate>(e);
  stmt->set_span(value.span);
  Emit(stmt);
  return true;
}

// ---- Compound statements

bool TirParser::ParseWhile() {
  const uint32_t begin = lex_.Next().begin;
  Value value;
  if (!ParseExpr(value)) return false;
  const PrimExpr* condition = ToCondition(value);
  if (!condition) return false;
  const Span span = lex_.SpanFrom(begin);
  const tir::Stmt* body = ParseBranch();
  if (!body) return false;
  auto* loop = ws_.New<tir::While>(condition, body);
  loop->set_span(span);
  Emit(loop);
  return true;
}

// A condition that the text decides leaves only the branch that is taken.
bool TirParser::ParseIf() {
  const uint32_t begin = lex_.Next().begin;
  Value value;
  if (!ParseExpr(value)) return false;
  const bool decided = value.is(Kind::kBool);
  const PrimExpr* condition = decided ? nullptr : ToCondition(value);
  if (!decided && !condition) return false;
  const Span span = lex_.SpanFrom(begin);
  const tir::Stmt* then_case = ParseBranch();
  if (!then_case) return false;
  const tir::Stmt* else_case = nullptr;
  if (AtName("elif")) {
    const size_t start = stmts_.size();
    ++nesting_;
    const bool ok = WithStack([&] { return ParseIf(); });
    --nesting_;
    if (!ok) return false;
    else_case = TakeStatements(start);
  } else if (AcceptName("else")) {
    else_case = ParseBranch();
    if (!else_case) return false;
  }
  if (decided) {
    if (const tir::Stmt* taken = value.boolean ? then_case : else_case) Emit(taken);
    return true;
  }
  auto* stmt = ws_.New<tir::IfThenElse>(condition, then_case, else_case);
  stmt->set_span(span);
  Emit(stmt);
  return true;
}

// What stands after `with` is no T.name(...) with a body.
bool TirParser::NoConstruct(Span span) {
  if (AtPrefix() == Prefix::kTir) {
    lex_.Next();
    const std::string_view name = DottedName();
    if (!name.empty() && !IsTirName(name)) return UnknownTir(name, span);
  }
  return Error(span, "bad-expression", "expected a statement such as T.block(...) after 'with'");
}

bool TirParser::ParseWith() {
  lex_.Next();
  const Names names(symbols_);
  const size_t mark = open_.size();
  do {
    // The name stands behind what it names.
    const Lexer::State start = lex_.Save();
    std::vector<Token> targets;
    int depth = 0;
    while (!At(TokenKind::kNewline) && !At(TokenKind::kEnd)) {
      if (depth == 0 && (AtName("as") || At(TokenKind::kComma) || At(TokenKind::kColon))) break;
      if (At(TokenKind::kLParen) || At(TokenKind::kLBracket) || At(TokenKind::kLBrace)) ++depth;
      if (At(TokenKind::kRParen) || At(TokenKind::kRBracket) || At(TokenKind::kRBrace)) --depth;
      lex_.Next();
    }
    if (AcceptName("as") && !ParseAlias(targets)) return false;
    const Lexer::State end = lex_.Save();
    lex_.Restore(start);
    targets_ = targets;
    pending_name_ = targets.empty() ? std::string_view() : lex_.text(targets[0]);
    Value result;
    bool known = false;
    const size_t opened = open_.size();
    const Span span = SpanHere();
    const bool ok = ParseConstruct(result, known);
    if (!known) return NoConstruct(span);
    if (!ok) return false;
    if (open_.size() == opened) return Error(span, "bad-expression", "this opens no block of statements");
    lex_.Restore(end);
    if (!targets.empty() && !AssignAll(targets, result)) return false;
    targets_ = {};
  } while (Accept(TokenKind::kComma));
  const bool ok = ParseSuite();
  if (ok) CloseTo(mark);
  return ok;
}

bool TirParser::ParseAssert() {
  const uint32_t begin = lex_.Next().begin;
  Value condition_value, message_value;
  if (!ParseExpr(condition_value) || !Expect(TokenKind::kComma, "an assertion, which has a message") ||
      !ParseExpr(message_value))
    return false;
  const PrimExpr* condition = ToBool(condition_value);
  const PrimExpr* message = condition ? ToPrim(message_value) : nullptr;
  if (!message) return false;
  if (!message_value.is(Kind::kString)) return WrongValue(message_value, "a string");
  OpenNew<tir::AssertStmt>(lex_.SpanFrom(begin), condition, message, nullptr);
  return EndOfStatement();
}

bool TirParser::ParseReturn() {
  const uint32_t begin = lex_.Next().begin;
  Value value;
  if (!ParseExpr(value)) return false;
  const PrimExpr* result = ToPrim(value);
  if (!result) return false;
  const Span span = lex_.SpanFrom(begin);
  auto* stmt = ws_.New<tir::Evaluate>(MakeCall("tir.ret", result->dtype, {result}, span));
  stmt->set_span(span);
  Emit(stmt);
  return EndOfStatement();
}

// ---- Assignments

// name, or name, name, ... with or without parentheses.
bool TirParser::ParseTargets(std::vector<Token>& targets) {
  const bool parenthesized = Accept(TokenKind::kLParen);
  do {
    if (!targets.empty() && (!At(TokenKind::kName) || AtName("in"))) break;
    if (!At(TokenKind::kName)) return Unexpected("a name");
    targets.push_back(lex_.Next());
  } while (Accept(TokenKind::kComma));
  return !parenthesized || Expect(TokenKind::kRParen, "a list of names");
}

// What stands after `as`: a list of names only in parentheses, since a comma begins the next item.
bool TirParser::ParseAlias(std::vector<Token>& targets) {
  if (At(TokenKind::kLParen)) return ParseTargets(targets);
  if (!At(TokenKind::kName)) return Unexpected("a name");
  targets.push_back(lex_.Next());
  return true;
}

bool TirParser::ParseAssignment() {
  std::vector<Token> targets;
  if (!ParseTargets(targets)) return false;
  if (At(TokenKind::kColon) && targets.size() == 1) {
    if (ParseAnnotated(targets[0])) return EndOfStatement();
    Poison(targets[0]);
    return false;
  }
  if (!Expect(TokenKind::kAssign, "an assignment")) return false;
  // cls = Module
  if (targets.size() == 1 && At(TokenKind::kName) && lex_.next_char() != '.') {
    const Node* node = symbols_.Find(lex_.text());
    if (node == state_.module_alias() || (!node && lex_.text() == state_.module_name)) {
      lex_.Next();
      symbols_.Define(lex_.text(targets[0]), state_.module_alias());
      return EndOfStatement();
    }
  }
  targets_ = targets;
  Value value;
  const bool ok = ParseRightHandSide(value) && AssignAll(targets, value);
  targets_ = {};
  if (ok) return EndOfStatement();
  for (const Token& target : targets) Poison(target);
  return false;
}

// What targets_ are to name.
bool TirParser::ParseRightHandSide(Value& out) {
  pending_name_ = lex_.text(targets_[0]);
  bool known = false;
  const bool ok = ParseConstruct(out, known);
  if (known) return ok;
  const uint32_t begin = lex_.peek().begin;
  if (!ParseExpr(out)) return false;
  if (!At(TokenKind::kComma)) return true;
  std::vector<Value> items{out};
  while (Accept(TokenKind::kComma) && !At(TokenKind::kNewline)) {
    pending_name_ = items.size() < targets_.size() ? lex_.text(targets_[items.size()]) : std::string_view();
    Value item;
    if (!ParseExpr(item)) return false;
    items.push_back(item);
  }
  out = ListOf(Kind::kTuple, items, lex_.SpanFrom(begin));
  return true;
}

bool TirParser::AssignAll(const std::vector<Token>& targets, const Value& value) {
  if (targets.size() == 1 && !value.is_list()) return Assign(targets[0], value);
  if (!value.is_list() || value.items().size() != targets.size()) {
    const size_t found = value.is_list() ? value.items().size() : 1;
    return Error(value.span, "bad-expression",
                 fmt::format("{} for {}", Counted(targets.size(), "name", "names"), Counted(found, "value", "values")));
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!Assign(targets[i], value.items()[i])) return false;
  }
  return true;
}

bool TirParser::Assign(const Token& target, const Value& value) {
  const std::string_view name = lex_.text(target);
  if (value.is(Kind::kBuffer)) {
    symbols_.Define(name, value.buffer);
    return true;
  }
  if (value.is(Kind::kIterVar)) {
    symbols_.Define(name, value.iter_var);
    return true;
  }
  const auto* var = value.is(Kind::kPrim) ? As<tir::Var>(value.prim) : nullptr;
  if ((var && !var->context_owned() && var->id >= statement_vars_) || (meta_ && value.is(Kind::kPrim))) {
    symbols_.Define(name, value.prim);
    return true;
  }
  const PrimExpr* bound = ToPrim(value);
  if (!bound) return false;
  tir::Var* let = ws_.NewPrimVar(name, bound->dtype);
  let->set_span(lex_.SpanOf(target));
  OpenLet(let, bound, lex_.SpanFrom(target.begin));
  symbols_.Define(name, let);
  return true;
}

void TirParser::OpenLet(const tir::Var* var, const PrimExpr* value, Span span) {
  OpenNew<tir::LetStmt>(span, var, value, nullptr);
}

// The value of a LetStmt: what its variable can hold.
const PrimExpr* TirParser::LetValue(const Value& value, const tir::Var* var) {
  const PrimExpr* e = ToPrim(value);
  if (e && var->pointer && e->dtype.is_handle()) return e;
  return e ? ToPrimOf(value, var->dtype) : nullptr;
}

// name: type = value
bool TirParser::ParseAnnotated(const Token& target) {
  lex_.Next();
  const tir::Var* var = nullptr;
  if (!ParseAnnotation(var, lex_.text(target)) || !Expect(TokenKind::kAssign, "an assignment")) return false;
  Value value;
  if (!ParseExpr(value)) return false;
  if (!var) return Assign(target, value);
  const PrimExpr* bound = LetValue(value, var);
  if (!bound) return false;
  OpenLet(var, bound, lex_.SpanFrom(target.begin));
  symbols_.Define(lex_.text(target), var);
  return true;
}

// The type of a variable: T.int32, T.handle("float32"). TVM 0.26 writes T.let[T.int32], or T.let where the value says
// it.
bool TirParser::ParseAnnotation(const tir::Var*& var, std::string_view name) {
  pending_name_ = name;
  const Lexer::State start = lex_.Save();
  if (AtPrefix() == Prefix::kTir) {
    lex_.Next();
    if (DottedName() == "let") {
      if (!Accept(TokenKind::kLBracket)) return true;
      return ParseAnnotation(var, name) && Expect(TokenKind::kRBracket, "an annotation");
    }
    lex_.Restore(start);
  }
  Value value;
  if (!ParseExpr(value)) return false;
  if (value.is(Kind::kDType)) {
    tir::Var* made = ws_.NewPrimVar(name, value.dtype);
    made->set_span(value.span);
    var = made;
    return true;
  }
  if (value.is(Kind::kPrim)) var = As<tir::Var>(value.prim);
  if (!var || var->id < statement_vars_ || var->context_owned()) return WrongValue(value, "a type such as T.int32");
  return true;
}

// ---- Stores

bool TirParser::ParseElementStatement(const tir::Buffer* buffer) {
  const uint32_t begin = lex_.Next().begin;
  std::vector<Index> indices;
  if (!ParseIndices(indices)) return false;
  if (!At(TokenKind::kAssign)) {
    if (lex_.next_char() == '=') return ParseAugmented(buffer, indices, begin);
    Value value;
    return AccessOf(buffer, indices, lex_.SpanFrom(begin), value) && ParsePostfix(value, begin) &&
           ParseInfix(value, begin, Precedence::kLambda) && EmitValue(value) && EndOfStatement();
  }
  lex_.Next();
  Value value;
  std::vector<const PrimExpr*> exprs;
  if (!ParseExpr(value) || !VectorIndices(buffer, indices, exprs)) return false;
  const tir::Stmt* store = MakeStore(buffer, exprs, value, nullptr, lex_.SpanFrom(begin));
  if (!store) return false;
  Emit(store);
  return EndOfStatement();
}

// A[i] += value
bool TirParser::ParseAugmented(const tir::Buffer* buffer, std::vector<Index>& indices, uint32_t begin) {
  const Span span = lex_.SpanFrom(begin);
  const TokenKind op = lex_.Next().kind;
  if (!Expect(TokenKind::kAssign, "an assignment")) return false;
  Value value, sum;
  std::vector<const PrimExpr*> exprs;
  if (!ParseExpr(value) || !Operand(value) || !VectorIndices(buffer, indices, exprs)) return false;
  const PrimExpr* load = MakeLoad(buffer, exprs, nullptr, span);
  if (!load || !ops_.Binary(op, Value(load), value, lex_.SpanFrom(begin), sum)) return false;
  const tir::Stmt* store = MakeStore(buffer, exprs, sum, nullptr, lex_.SpanFrom(begin));
  if (!store) return false;
  Emit(store);
  return EndOfStatement();
}

// A.vstore([i], value, predicate=mask)
bool TirParser::ParseVectorStore(const tir::Buffer* buffer) {
  const uint32_t begin = lex_.Next().begin;
  lex_.Next();
  lex_.Next();
  TirArgs args;
  const Value* v[3];
  std::vector<const PrimExpr*> indices;
  if (!ParseArguments(args, begin) || !Bind(args, "vstore", {"begin", "value", "predicate"}, 2, v) ||
      !ToPrims(*v[0], indices))
    return false;
  const PrimExpr* value = ToPrim(*v[1]);
  if (!value) return false;
  const int factor = buffer->dtype.lanes > 0 && value->dtype.lanes > 0 ? value->dtype.lanes / buffer->dtype.lanes : 1;
  if (factor > 1 && !indices.empty() && indices.back()->dtype.is_scalar()) {
    const DataType index = indices.back()->dtype;
    indices.back() = ops_.MakeRamp(indices.back(), ops_.Int(1, index, args.span),
                                   ops_.Int(factor, DataType::Int(32), args.span), args.span);
  }
  const tir::Stmt* store = MakeStore(buffer, indices, Value(value), v[2], args.span);
  if (!store) return false;
  Emit(store);
  return EndOfStatement();
}

}  // namespace iropt::text
