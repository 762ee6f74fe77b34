// Statements of graph-level functions.
#include <fmt/format.h>

#include <bit>

#include "text/script/attr_text.h"
#include "iropt/infer/infer.h"
#include "iropt/support/stack.h"
#include "parser.h"

namespace iropt::text {

using Kind = ScriptValue::Kind;

Var* RelaxParser::NewBoundVar(std::string_view name, const Type* type) {
  if (!scope_->in_dataflow) return ws_.NewVar(name, type);
  Var* var = ws_.NewDataflowVar(name, type);
  scope_->dataflow_vars.push_back(var);
  return var;
}

void RelaxParser::EndBlock() {
  if (scope_->bindings.empty() && !scope_->in_dataflow) return;
  const auto bindings = ws_.Copy(scope_->bindings);
  scope_->blocks.push_back(scope_->in_dataflow ? ws_.New<DataflowBlock>(bindings) : ws_.New<BindingBlock>(bindings));
  scope_->bindings.clear();
}

// An indented block of statements. Errors in one statement don't keep the following ones from being read.
bool RelaxParser::ParseSuite() {
  if (!Expect(TokenKind::kColon, "a block header")) return false;
  if (!Expect(TokenKind::kNewline, "a block header")) return false;
  if (!At(TokenKind::kIndent)) return Unexpected("an indented block");
  lex_.Next();
  bool ok = true;
  while (!At(TokenKind::kDedent) && !At(TokenKind::kEnd)) {
    const uint32_t begin = lex_.peek().begin;
    if (ParseStatement()) continue;
    ok = false;
    if (diag_.error_limit_reached()) return false;
    // A block that was wrong as a whole has been read to its end.
    if (lex_.peek().begin == begin || !AtLineStart()) lex_.SkipLine();
  }
  Accept(TokenKind::kDedent);
  return ok;
}

bool RelaxParser::AtLineStart() const {
  if (lex_.bracket_depth() > 0) return false;
  const std::string_view before = lex_.buffer().substr(0, lex_.peek().begin);
  const size_t end = before.find_last_not_of(" \t");
  return end == std::string_view::npos || before[end] == '\n';
}

bool RelaxParser::ParseStatement() {
  if (At(TokenKind::kIndent)) return Unexpected("a statement at the indentation of the block");
  if (scope_->output_seen) return ErrorHere("syntax", "R.output(...) must be the last statement of a dataflow block");
  if (scope_->result) return ErrorHere("syntax", "nothing may follow the return statement");
  if (At(TokenKind::kName)) {
    const std::string_view word = lex_.text();
    if (word == "return") return ParseReturn();
    if (word == "with") return ParseWith();
    if (word == "if") return ParseIf();
    if (word == "pass") {
      lex_.Next();
      return Expect(TokenKind::kNewline, "a statement");
    }
    const char next = lex_.next_char();
    // `name: type = value`, `name = value` and `name, name = values`; everything else is an expression statement.
    if (next == ':' || AtKeyword()) return ParseBinding();
    if (next == ',') return ParseUnpacking();
    return ParseExprStatement();
  }
  if (At(TokenKind::kAt)) return WithStack([&] { return ParseNestedFunction(); });
  if (At(TokenKind::kString)) {  // a comment in the form of a string
    ParseStringLiteral();
    return Expect(TokenKind::kNewline, "a statement");
  }
  if (At(TokenKind::kSemicolon)) return lex_.Next(), true;
  return Unexpected("a statement");
}

bool RelaxParser::ParseBinding() {
  const Token name = lex_.Next();
  const Type* annotation = nullptr;
  Span annotation_span;
  if (Accept(TokenKind::kColon)) {
    annotation_span = SpanHere();
    if (!(annotation = ParseType())) {
      DefineFallback(lex_.text(name), nullptr);
      return false;
    }
  }
  if (!Expect(TokenKind::kAssign, "a binding")) return false;
  if (!annotation && ParseSymbolicVars({&name, 1})) return Expect(TokenKind::kNewline, "a statement");
  // An alias of the module: cls = Module.
  if (At(TokenKind::kName) && lex_.text() == state_.module_name && lex_.next_char() != '.' && lex_.next_char() != '(' &&
      !symbols_.Find(lex_.text())) {
    lex_.Next();
    symbols_.Define(lex_.text(name), state_.module_alias());
    return Expect(TokenKind::kNewline, "a statement");
  }
  if (AtPrefix() == Prefix::kRelax && lex_.buffer().substr(lex_.peek().end).starts_with(".match_cast")) {
    const MatchCast* cast = ParseMatchCast(name, annotation);
    if (!cast) DefineFallback(lex_.text(name), annotation);
    return cast && Expect(TokenKind::kNewline, "a statement");
  }
  ScriptValue value;
  bool ok = ParseValue(value);
  if (ok && At(TokenKind::kComma)) ok = ParseTupleTail(value);
  ok = ok && BindValue(name, annotation, annotation_span, value);
  if (!ok) DefineFallback(lex_.text(name), annotation);
  return ok && Expect(TokenKind::kNewline, "a statement");
}

// `a, b` without parentheses: the first item was read.
bool RelaxParser::ParseTupleTail(ScriptValue& value) {
  std::vector<ScriptValue> items{value};
  while (Accept(TokenKind::kComma)) {
    if (At(TokenKind::kNewline)) break;
    items.emplace_back();
    if (!ParseValue(items.back())) return false;
  }
  const uint32_t begin = value.span.begin;
  value.kind = Kind::kTuple;
  value.list = {scratch_.Copy(std::span<const ScriptValue>(items)).data(), static_cast<uint32_t>(items.size())};
  value.span = Span::Of(begin, lex_.base() + lex_.previous_end());
  return true;
}

// The names up to the '=' of `a, b = values`.
bool RelaxParser::ParseTargets(std::vector<Token>& names) {
  do {
    if (At(TokenKind::kAssign) && !names.empty()) break;
    if (!At(TokenKind::kName)) return Unexpected("the name of a variable");
    names.push_back(lex_.Next());
  } while (Accept(TokenKind::kComma));
  return Expect(TokenKind::kAssign, "a binding");
}

// a, b = x, y and a, b = t: as in Python, all values are read before the first name is bound.
bool RelaxParser::ParseUnpacking() {
  std::vector<Token> names;
  if (!ParseTargets(names)) return false;
  if (ParseSymbolicVars(names)) return Expect(TokenKind::kNewline, "a statement");
  ScriptValue value;
  std::vector<ScriptValue> items;
  bool ok = ParseValue(value) && (!At(TokenKind::kComma) || ParseTupleTail(value)) && Unpack(value, items);
  if (ok && items.size() != names.size()) {
    ok = Error(
        Span::Of(lex_.SpanOf(names[0]).begin, lex_.SpanOf(names.back()).end()), "bad-unpacking",
        fmt::format("{} for {}", Counted(names.size(), "name", "names"), Counted(items.size(), "value", "values")));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    ok = ok && BindValue(names[i], nullptr, {}, items[i]);
    if (!ok) DefineFallback(lex_.text(names[i]), nullptr);
  }
  return ok && Expect(TokenKind::kNewline, "a statement");
}

// The fields of a tuple: those that are written, or projections of a variable.
bool RelaxParser::Unpack(const ScriptValue& value, std::vector<ScriptValue>& items) {
  if (value.kind == Kind::kTuple || value.kind == Kind::kList) {
    items.assign(value.items().begin(), value.items().end());
    return true;
  }
  const Expr* tuple = ToExpr(value);
  tuple = tuple ? FlattenOperand(tuple) : nullptr;
  tuple = tuple ? Typed(tuple) : nullptr;
  if (!tuple) return false;
  const auto* type = As<TupleType>(tuple->type);
  if (!type) return Error(value.span, "bad-unpacking", "only a tuple can be bound to several names");
  for (uint32_t i = 0; i < type->fields.size(); ++i) {
    auto* item = ws_.New<TupleGetItem>(tuple, static_cast<int32_t>(i), type->fields[i]);
    item->set_span(value.span);
    items.emplace_back();
    items.back().kind = Kind::kExpr;
    items.back().expr = item;
    items.back().span = value.span;
  }
  return true;
}

// After a statement failed: its variable is defined nevertheless, so that its uses are not reported as well.
void RelaxParser::DefineFallback(std::string_view name, const Type* annotation) {
  symbols_.Define(name, NewBoundVar(name, annotation ? annotation : ObjectType::Get()));
}

bool RelaxParser::BindValue(const Token& name, const Type* annotation, Span annotation_span, const ScriptValue& value) {
  const Expr* expr = ToExpr(value);
  expr = expr ? Flatten(expr) : nullptr;
  if (!expr) return false;
  if (annotation && !expr->type && Is<Call>(expr)) {
    // The checker compares the annotation of a call with what the operator says; here it is taken as given.
    const_cast<Expr*>(expr)->type = annotation;
  } else if (!(expr = Typed(expr))) {
    return false;
  } else if (annotation && expr->type && expr->type != annotation &&
             TypeBaseCheck(annotation, expr->type) == BaseCheck::kFailL0) {
    return Error(annotation_span, "type-mismatch",
                 fmt::format("the annotation {} contradicts the type of the value, {}", TypeToString(annotation),
                             TypeToString(expr->type)));
  }
  const Type* type = annotation ? annotation : TypeOfExpr(expr, state_.module);
  if (!type) return Error(value.span, "bad-expression", "this can't be bound to a variable");
  const std::string_view text = lex_.text(name);
  Var* var = NewBoundVar(text, type);
  var->set_span(lex_.SpanOf(name));
  auto* binding = ws_.New<VarBinding>(var, expr);
  binding->set_span(lex_.SpanFrom(name.begin));
  EmitBinding(binding);
  symbols_.Define(text, var);
  scope_->last_span = var->span();
  return true;
}

// n = T.int64(), or m, n = T.int64(), T.int64(): the names were read. False, with nothing read, where other values
// follow.
bool RelaxParser::ParseSymbolicVars(std::span<const Token> names) {
  if (AtPrefix() != Prefix::kTir) return false;
  const Lexer::State start = lex_.Save();
  for (size_t i = 0; i < names.size(); ++i) {
    if ((i == 0 || Accept(TokenKind::kComma)) && ParseSymbolicVar(names[i])) continue;
    lex_.Restore(start);
    return false;
  }
  return true;
}

// T.int64(), T.int64(is_size_var=True), T.Var("n", "int64") or T.SizeVar("n", "int64"): the definition of a symbolic
// variable, which the signature may have named before. False where something else is there.
bool RelaxParser::ParseSymbolicVar(const Token& name) {
  if (AtPrefix() != Prefix::kTir) return false;
  lex_.Next();
  const std::string_view member = DottedName();
  const std::string_view text = lex_.text(name);
  bool size_var = member == "SizeVar";
  std::optional<DataType> dtype;
  if (!At(TokenKind::kLParen)) return false;
  if (size_var || member == "Var") {
    lex_.Next();
    if (!At(TokenKind::kString) || ParseStringLiteral() != text) return false;
    if (Accept(TokenKind::kComma) && !At(TokenKind::kRParen)) {
      if (AtKeyword() && AtName("dtype")) lex_.Next(), lex_.Next();
      dtype = At(TokenKind::kString) ? DataType::Parse(ParseStringLiteral()) : std::nullopt;
    }
  } else {
    dtype = DataType::Parse(member);
    lex_.Next();
    if (AtKeyword() && (AtName("is_size_var") || AtName("is_unknown_type"))) {
      const bool size = AtName("is_size_var");
      lex_.Next();
      lex_.Next();
      size_var = size && AtName("True");
      if (!AcceptName("True") && !AcceptName("False")) return false;
    }
  }
  Accept(TokenKind::kComma);
  if (!dtype || !dtype->is_scalar() || !std::has_single_bit(dtype->bits) || !Accept(TokenKind::kRParen)) return false;
  const Node* known = symbols_.Find(text);
  if (known && PrimExpr::ClassOf(known->kind) && static_cast<const PrimExpr*>(known)->dtype == *dtype) return true;
  symbols_.Define(text, IRContext::Current().NewSymVar(text, *dtype, size_var));
  types_.Invalidate();
  return true;
}

const MatchCast* RelaxParser::ParseMatchCast(const Token& name, const Type* annotation) {
  lex_.Next();
  DottedName();
  if (!Expect(TokenKind::kLParen, "R.match_cast(...)")) return nullptr;
  const Expr* value = ParseExpr();
  value = value ? Flatten(value) : nullptr;
  if (!value || !(value = Typed(value)) || !Expect(TokenKind::kComma, "R.match_cast(value, type)")) return nullptr;
  if (AtKeyword() && AtName("struct_info")) {
    lex_.Next();
    lex_.Next();
  }
  const Type* type = ParseType();
  if (!type || !ExpectClose("R.match_cast(...)")) return nullptr;
  const Span span = lex_.SpanFrom(name.begin);
  if (annotation && !TypeEqual(annotation, type)) {
    return Error(
        span, "type-mismatch",
        fmt::format("the annotation {} is not the type of the cast, {}", TypeToString(annotation), TypeToString(type)));
  }
  // Not only leaves: what is cast stands for itself, as in `x = R.exp(y)`.
  if (!Is<Var>(value) && !Is<Constant>(value) && !Is<ShapeExpr>(value) && !Is<PrimValue>(value) && !Is<Tuple>(value) &&
      !Is<Call>(value) && !Is<TupleGetItem>(value)) {
    value = EmitTemporary(value);
  }
  const std::string_view text = lex_.text(name);
  Var* var = NewBoundVar(text, type);
  var->set_span(lex_.SpanOf(name));
  auto* cast = ws_.New<MatchCast>(var, value, type);
  cast->set_span(span);
  EmitBinding(cast);
  symbols_.Define(text, var);
  return cast;
}

bool RelaxParser::ParseExprStatement() {
  const uint32_t begin = lex_.peek().begin;
  bool handled = false;
  const bool ok = ParseRelaxStatement(handled);
  if (handled) return ok;
  const Expr* expr = ParseExpr();
  expr = expr ? Flatten(expr) : nullptr;
  if (!expr || !(expr = Typed(expr))) return false;
  const Span span = lex_.SpanFrom(begin);
  const auto* type = As<TupleType>(expr->type);
  if (!type || !type->fields.empty()) {
    return Error(
        span, "unused-value",
        fmt::format("the value of this statement, of type {}, is not bound to a variable", TypeToString(expr->type)));
  }
  Var* var = NewBoundVar("_", expr->type);
  var->set_span(span);
  auto* binding = ws_.New<VarBinding>(var, expr);
  binding->set_span(span);
  EmitBinding(binding);
  return Expect(TokenKind::kNewline, "a statement");
}

// R.func_attr({...}) and R.output(...).
bool RelaxParser::ParseRelaxStatement(bool& handled) {
  if (AtPrefix() != Prefix::kRelax) return false;
  const std::string_view rest = lex_.buffer().substr(lex_.peek().end, 11);
  handled = rest.starts_with(".func_attr(") || rest.starts_with(".output(");
  if (!handled) return false;
  const bool output = rest.starts_with(".output(");
  lex_.Next();
  DottedName();
  return (output ? ParseOutput() : ParseFuncAttr()) && Expect(TokenKind::kNewline, "a statement");
}

bool RelaxParser::ParseFuncAttr() {
  const Span span = lex_.SpanFrom(lex_.previous_end() - 9);
  if (!Expect(TokenKind::kLParen, "R.func_attr(...)")) return false;
  const Attr* attr = ParseAttr(shared_, AttrMode::kRelax);
  if (!attr || !ExpectClose("R.func_attr(...)")) return false;
  const auto* dict = As<DictAttr>(attr);
  if (!dict) return Error(span, "bad-expression", "R.func_attr takes a dictionary");
  for (uint32_t i = 0; i < dict->size(); ++i) {
    if (func_attrs_->Find(dict->keys[i]))
      return Error(span, "duplicate-attribute",
                   fmt::format("the function has the attribute \"{}\" already", dict->keys[i]));
    func_attrs_ = func_attrs_->With(dict->keys[i], dict->values[i]);
  }
  return true;
}

bool RelaxParser::ParseOutput() {
  const Span span = lex_.SpanFrom(lex_.previous_end() - 6);
  if (!scope_->in_dataflow) return Error(span, "syntax", "R.output(...) stands only in a dataflow block");
  if (!Expect(TokenKind::kLParen, "R.output(...)")) return false;
  while (!At(TokenKind::kRParen)) {
    if (!At(TokenKind::kName)) return Unexpected("a variable of the dataflow block");
    const Token name = lex_.Next();
    const Node* node = symbols_.Find(lex_.text(name));
    if (!node) return UnknownName(name);
    auto* var = const_cast<Var*>(As<Var>(node));
    if (!var || !var->is_dataflow()) {
      return Error(lex_.SpanOf(name), "bad-output",
                   fmt::format("'{}' is not bound in this dataflow block", lex_.text(name)));
    }
    // Which variables leave the block is known only at its end; a variable and a dataflow variable have the same
    // layout.
    var->kind = NodeKind::kVar;
    if (!Accept(TokenKind::kComma)) break;
  }
  scope_->output_seen = true;
  return Expect(TokenKind::kRParen, "R.output(...)");
}

bool RelaxParser::ParseWith() {
  lex_.Next();
  const Span span = SpanHere();
  if (AtPrefix() != Prefix::kRelax) return Unexpected("R.dataflow()");
  lex_.Next();
  const std::string_view name = DottedName();
  if (name != "dataflow") {
    static constexpr std::string_view kNames[] = {"dataflow"};
    return name.empty() ? false : static_cast<bool>(UnknownMember("R", name, span, kNames));
  }
  if (!Expect(TokenKind::kLParen, "R.dataflow()") || !Expect(TokenKind::kRParen, "R.dataflow()")) return false;
  if (scope_->in_dataflow) return Error(span, "syntax", "a dataflow block can't stand in another one");
  EndBlock();
  scope_->in_dataflow = true;
  symbols_.PushScope();
  const bool ok = ParseSuite();
  symbols_.PopScope();
  EndBlock();
  for (const Var* var : scope_->dataflow_vars) {
    if (!var->is_dataflow()) symbols_.Define(var->name(), var);
  }
  scope_->dataflow_vars.clear();
  scope_->in_dataflow = false;
  scope_->output_seen = false;
  return ok;
}

// One branch: its last binding names the variable that the conditional defines, and its value is the branch's value.
// `elif` is an else branch of one conditional.
bool RelaxParser::ParseBranch(std::string_view suffix, Branch& branch) {
  SeqScope inner;
  inner.is_branch = true;
  SeqScope* const outer = scope_;
  const Span header = SpanHere();
  scope_ = &inner;
  symbols_.PushScope();
  bool ok = AtName("elif") ? ParseIf() : ParseSuite();
  symbols_.PopScope();
  if (ok && inner.bindings.empty())
    ok = Error(header, "bad-branch", "a branch must end with the binding of a variable");
  if (!inner.bindings.empty()) {
    branch.name = inner.bindings.back()->var->name();
    branch.name_span = inner.bindings.back()->var->span();
  }
  if (ok) {
    const Expr* body = BranchValue(suffix);
    EndBlock();
    auto* made = ws_.New<SeqExpr>(ws_.Copy(inner.blocks), body, body->type);
    made->set_span(header);
    branch.seq = made;
  }
  scope_ = outer;
  return ok;
}

// The value of the last binding of a branch. Where it is no leaf, the binding stays, and its variable takes a name that
// tells it from the conditional's.
const Expr* RelaxParser::BranchValue(std::string_view suffix) {
  const Binding* last = scope_->bindings.back();
  if (const auto* binding = As<VarBinding>(last); binding && (Is<Tuple>(binding->value) || IsLeaf(binding->value))) {
    scope_->bindings.pop_back();
    if (!binding->value->type) const_cast<Expr*>(binding->value)->type = last->var->type;
    return binding->value;
  }
  // The variable was made by this reader a moment ago, and nothing but a recursive function has used it.
  auto* var = const_cast<Var*>(last->var);
  const std::string_view name = ws_.arena().CopyString(fmt::format("{}_{}", var->name(), suffix));
  var->name_data = name.data();
  var->name_size = static_cast<uint32_t>(name.size());
  return var;
}

bool RelaxParser::ParseIf() {
  const uint32_t begin = lex_.Next().begin;
  const Span span = lex_.SpanFrom(begin);
  bool ok = true;
  if (scope_->in_dataflow) ok = Error(span, "syntax", "a conditional can't stand in a dataflow block");
  const Expr* cond = ParseExpr();
  cond = cond ? FlattenOperand(cond) : nullptr;
  if (!cond) {
    lex_.SkipLine();
    while (AtName("elif") || AtName("else")) lex_.SkipLine();
    return false;
  }
  return WithStack([&] { return ParseBranches(cond, span) && ok; });
}

// What follows the condition. Where something is wrong with the branches, their variable is defined nevertheless.
bool RelaxParser::ParseBranches(const Expr* cond, Span span) {
  Branch yes;
  Branch no;
  bool ok = ParseBranch("then", yes);
  if (AtName("elif") || AcceptName("else")) {
    ok = ParseBranch("else", no) && ok;
    if (ok && yes.name != no.name) {
      ok = Error(no.name_span, "bad-branch",
                 fmt::format("the branches end with different variables, '{}' and '{}'", yes.name, no.name));
    }
  } else if (ok) {
    ok = Error(span, "syntax", "a conditional needs an else branch");
  }
  if (!ok) {
    for (const Branch* branch : {&yes, &no}) {
      if (!branch->name.empty()) DefineFallback(branch->name, nullptr);
    }
    return false;
  }
  auto* value = ws_.New<If>(cond, yes.seq, no.seq, nullptr);
  value->set_span(span);
  value->type = TypeLCA(yes.seq->type, no.seq->type, ws_.arena());
  Var* var = NewBoundVar(yes.name, value->type);
  var->set_span(yes.name_span);
  auto* binding = ws_.New<VarBinding>(var, value);
  binding->set_span(span);
  EmitBinding(binding);
  symbols_.Define(yes.name, var);
  return true;
}

bool RelaxParser::ParseReturn() {
  const uint32_t begin = lex_.Next().begin;
  if (scope_->is_branch) return Error(lex_.SpanFrom(begin), "syntax", "a branch can't return");
  if (scope_->in_dataflow) return Error(lex_.SpanFrom(begin), "syntax", "a dataflow block can't return");
  ScriptValue value;
  if (!ParseValue(value) || (At(TokenKind::kComma) && !ParseTupleTail(value))) return false;
  const Expr* expr = ToExpr(value);
  expr = expr ? FlattenOperand(expr) : nullptr;
  if (!expr) return false;
  EndBlock();
  scope_->result = expr;
  return Expect(TokenKind::kNewline, "a statement");
}

}  // namespace iropt::text
