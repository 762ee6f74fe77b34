// Statements of Relax functions.
#include <fmt/format.h>

#include <cmath>

#include "function_parser.h"
#include "iropt/arith/const_fold.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/limits.h"
#include "iropt/support/stack.h"
#include "symbolic_vars.h"
#include "text/script/attr_text.h"
#include "text/script/func_attrs.h"
#include "text/script/type_vars.h"
#include "void_type.h"

namespace iropt::text {

// An indented block of statements. Errors in one statement don't keep the following ones from being read.
bool RelaxFunctionParser::ParseSuite() {
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
    // A malformed block has been read to its end.
    if (lex_.peek().begin == begin || !AtLineStart()) lex_.SkipLine();
  }
  Accept(TokenKind::kDedent);
  return ok;
}

bool RelaxFunctionParser::AtLineStart() const {
  if (lex_.bracket_depth() > 0) return false;
  const std::string_view before = lex_.buffer().substr(0, lex_.peek().begin);
  const size_t end = before.find_last_not_of(" \t");
  return end == std::string_view::npos || before[end] == '\n';
}

bool RelaxFunctionParser::ParseStatement() {
  if (At(TokenKind::kIndent)) return ErrorHere("syntax", "unexpected indent");
  if (sequence().output_seen)
    return ErrorHere("syntax", "R.output(...) must be the last statement of a dataflow block");
  if (sequence().result) return ErrorHere("syntax", "nothing may follow the return statement");
  if (At(TokenKind::kName)) {
    const std::string_view word = lex_.text();
    if (word == "return") return ParseReturn();
    if (word == "with") return ParseWith();
    if (word == "if") return ParseIf();
    if (word == "pass") {
      lex_.Next();
      return EndOfStatement();
    }
    // The symbolic variables of a nested function, from 0.27 on.
    if (AtTypeVar(*this)) return ReadTypeVar(*this);
    const char next = lex_.next_char();
    // `name: type = value`, `name = value` and `name, name = values`; everything else is an expression statement.
    if (next == ':' || AtKeyword()) return ParseBinding();
    if (next == ',') return ParseUnpacking();
    return ParseExprStatement();
  }
  if (At(TokenKind::kAt)) return WithStack([&] { return ParseNestedFunction(); });
  if (At(TokenKind::kString)) {  // a comment in the form of a string
    ParseStringLiteral();
    return EndOfStatement();
  }
  if (At(TokenKind::kSemicolon)) return lex_.Next(), true;
  return Unexpected("a statement");
}

bool RelaxFunctionParser::ParseBinding() {
  const Token name = lex_.Next();
  Annotation annotation;
  if (Accept(TokenKind::kColon)) {
    annotation.span = SpanHere();
    annotation.is_scalar = AtPrefix() == Prefix::kTir;
    if (!(annotation.type = types_.Parse())) {
      DefineFallback(lex_.text(name), nullptr);
      return false;
    }
  }
  if (!Expect(TokenKind::kAssign, "a binding")) return false;
  if (!annotation.type && ReadSymbolicVars(exprs_, {&name, 1})) return EndOfStatement();
  // An alias of the module: cls = Module.
  if (At(TokenKind::kName) && lex_.text() == state_.module_name && lex_.next_char() != '.' && lex_.next_char() != '(' &&
      !symbols_.Find(lex_.text())) {
    lex_.Next();
    symbols_.Define(lex_.text(name), state_.module_alias());
    return EndOfStatement();
  }
  if (lex_.IsFollowedBy(".match_cast") && AtPrefix() == Prefix::kRelax) {
    const MatchCast* cast = ParseMatchCast(name, annotation.type);
    if (!cast) DefineFallback(lex_.text(name), annotation.type);
    return cast && EndOfStatement();
  }
  PyValue value;
  bool ok = exprs_.ParseValues(value);
  ok = ok && BindValue(name, annotation, value);
  if (!ok) DefineFallback(lex_.text(name), annotation.type);
  return ok && EndOfStatement();
}

// a, b = x, y and a, b = t: as in Python, all values are read before the first name is bound.
bool RelaxFunctionParser::ParseUnpacking() {
  std::vector<Token> names;
  if (!ReadTargets(exprs_, names)) return false;
  if (ReadSymbolicVars(exprs_, names)) return EndOfStatement();
  PyValue value;
  std::vector<PyValue> items;
  bool ok = exprs_.ParseValues(value) && Unpack(value, items);
  if (ok && items.size() != names.size()) {
    ok = Error(Span::Of(lex_.SpanOf(names[0]).begin, lex_.SpanOf(names.back()).end()), "bad-unpacking",
               fmt::format("cannot unpack {} into {}", Counted(items.size(), "value", "values"),
                           Counted(names.size(), "name", "names")));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    ok = ok && BindValue(names[i], {}, items[i]);
    if (!ok) DefineFallback(lex_.text(names[i]), nullptr);
  }
  return ok && EndOfStatement();
}

// The fields of a tuple: those that are written, or projections of a variable.
bool RelaxFunctionParser::Unpack(const PyValue& value, std::vector<PyValue>& items) {
  if (value.is_list()) {
    items.assign(value.items().begin(), value.items().end());
    return true;
  }
  const Expr* tuple = exprs_.ToExpr(value);
  tuple = tuple ? anf_.FlattenOperand(tuple) : nullptr;
  tuple = tuple ? anf_.Typed(tuple) : nullptr;
  if (!tuple) return false;
  const auto* type = As<TupleType>(tuple->type);
  if (ObjectType::IsAfterError(tuple->type)) return false;
  if (!type) return Error(value.span, "bad-unpacking", "only a tuple can be bound to several names");
  for (uint32_t i = 0; i < type->fields.size(); ++i) {
    auto* item = ws_.New<TupleGetItem>(tuple, static_cast<int32_t>(i), type->fields[i]);
    item->set_span(value.span);
    items.push_back(PyValue(item));
  }
  return true;
}

// After a statement failed: its variable is defined nevertheless, so that its uses are not reported as well.
void RelaxFunctionParser::DefineFallback(std::string_view name, const Type* annotation) {
  symbols_.Define(name, anf_.NewVar(name, annotation ? annotation : ObjectType::AfterError(), {}));
}

namespace {

// A literal as a number of a type; null for other values.
const PrimExpr* NumberOfType(const PyValue& value, DataType dtype) {
  const arith::PrimBuilder make;
  if (!dtype.is_scalar()) return nullptr;
  if (value.is(PyValue::Kind::kBool) && dtype.is_bool()) return make.Bool(value.boolean);
  if (value.is(PyValue::Kind::kInt) && dtype.is_integer() && !dtype.is_bool()) return make.Int(value.integer, dtype);
  if (value.is(PyValue::Kind::kFloat) && dtype.is_floating()) return make.Float(value.real, dtype);
  return nullptr;
}

bool Exceeds(const PyValue& value, DataType dtype) {
  if (value.is(PyValue::Kind::kInt) && dtype.is_integer() && !dtype.is_bool())
    return !arith::FitsIn(value.integer, dtype);
  const std::optional<double> most = value.is(PyValue::Kind::kFloat) ? GreatestFinite(dtype) : std::nullopt;
  return most && std::isfinite(value.real) && std::abs(value.real) > *most;
}

}  // namespace

bool RelaxFunctionParser::BindValue(const Token& name, const Annotation& stated, const PyValue& value) {
  const Type* annotation = stated.type;
  // x: T.int32 = 2 is a number of that type, and since TVM 0.24 x: R.Prim("int32") = 2, too.
  const auto* scalar = stated.is_scalar || state_.is_tirx ? As<PrimType>(annotation) : nullptr;
  const PrimExpr* number = scalar && !scalar->value ? NumberOfType(value, scalar->dtype) : nullptr;
  if (number && Exceeds(value, number->dtype)) {
    return Error(value.span, "bad-number",
                 fmt::format("this number exceeds the range of {}", number->dtype.ToString()));
  }
  const Expr* expr = exprs_.ToExpr(number ? PyValue(number) : value);
  expr = expr ? anf_.Flatten(expr) : nullptr;
  if (!expr) return false;
  if (annotation && !expr->type && Is<Call>(expr)) {
    // The verifier compares the annotation of a call with the type rule; here it is trusted.
    const_cast<Expr*>(expr)->type = annotation;
  } else if (!(expr = anf_.Typed(expr))) {
    return false;
  } else if (annotation && expr->type && expr->type != annotation &&
             TypeBaseCheck(annotation, expr->type) == BaseCheck::kFailL0) {
    return Error(stated.span, "type-mismatch",
                 fmt::format("the annotation {} contradicts the type of the value, {}", TypeToString(annotation),
                             TypeToString(expr->type)));
  }
  const Type* type = annotation;
  // The types of newer versions do not state the values of scalars, as R.Prim(value=1) does.
  if ((stated.is_scalar || number) && Is<PrimValue>(expr)) type = nullptr;
  // The annotation R.Callable does not say how the result types of calls follow, which the external function does.
  if (!type || (IsPackedFuncType(expr->type) && TypeEqual(type, FuncType::Opaque(ObjectType::Get()))))
    type = TypeOfExpr(expr, state_.module);
  if (!type) return Error(value.span, "bad-expression", "this can't be bound to a variable");
  const std::string_view text = lex_.text(name);
  const Var* var = anf_.NewVar(text, type, lex_.SpanOf(name));
  anf_.Bind(var, expr, lex_.SpanFrom(name.begin));
  symbols_.Define(text, var);
  return true;
}

const MatchCast* RelaxFunctionParser::ParseMatchCast(const Token& name, const Type* annotation) {
  lex_.Next();
  DottedName();
  if (!Expect(TokenKind::kLParen, "R.match_cast(...)")) return nullptr;
  const Expr* value = anf_.FlattenTyped(ParseExpr());
  if (!value || !Expect(TokenKind::kComma, "R.match_cast(value, type)")) return nullptr;
  AcceptKeyword("struct_info");
  const Type* type = types_.Parse();
  if (!type || !ExpectClose("R.match_cast(...)")) return nullptr;
  const Span span = lex_.SpanFrom(name.begin);
  if (annotation && !TypeEqual(annotation, type)) {
    return Error(
        span, "type-mismatch",
        fmt::format("the annotation {} is not the type of the cast, {}", TypeToString(annotation), TypeToString(type)));
  }
  // Not only leaves: the value may be any expression, as in `x = R.exp(y)`.
  if (!Is<Var>(value) && !Is<Constant>(value) && !Is<ShapeExpr>(value) && !Is<PrimValue>(value) && !Is<Tuple>(value) &&
      !Is<Call>(value) && !Is<TupleGetItem>(value)) {
    value = anf_.EmitTemporary(value);
  }
  const std::string_view text = lex_.text(name);
  const Var* var = anf_.NewVar(text, type, lex_.SpanOf(name));
  auto* cast = ws_.New<MatchCast>(var, value, type);
  cast->set_span(span);
  anf_.Emit(cast);
  symbols_.Define(text, var);
  return cast;
}

bool RelaxFunctionParser::ParseExprStatement() {
  const uint32_t begin = lex_.peek().begin;
  bool handled = false;
  const bool ok = ParseRelaxStatement(handled);
  if (handled) return ok;
  const Expr* expr = anf_.FlattenTyped(ParseExpr());
  if (!expr) return false;
  const Span span = lex_.SpanFrom(begin);
  const auto* type = As<TupleType>(expr->type);
  if (ObjectType::IsAfterError(expr->type)) return false;
  if (!type || !type->fields.empty()) {
    return Error(
        span, "unused-value",
        fmt::format("the value of this statement, of type {}, is not bound to a variable", TypeToString(expr->type)));
  }
  anf_.Bind(anf_.NewVar("_", expr->type, span), expr, span);
  return EndOfStatement();
}

// R.func_attr({...}) and R.output(...).
bool RelaxFunctionParser::ParseRelaxStatement(bool& handled) {
  if (AtPrefix() != Prefix::kRelax) return false;
  const std::string_view rest = lex_.buffer().substr(lex_.peek().end, 11);
  handled = rest.starts_with(".func_attr(") || rest.starts_with(".output(");
  if (!handled) return false;
  const bool output = rest.starts_with(".output(");
  lex_.Next();
  DottedName();
  return (output ? ParseOutput() : ParseFuncAttr()) && EndOfStatement();
}

bool RelaxFunctionParser::ParseFuncAttr() {
  const Span span = lex_.SpanFrom(lex_.previous_end() - 9);
  if (!Expect(TokenKind::kLParen, "R.func_attr(...)")) return false;
  const Attr* attr = ParseAttr(shared_, ScriptDialect::kRelax);
  if (!attr || !ExpectClose("R.func_attr(...)")) return false;
  const auto* dict = As<DictAttr>(attr);
  if (!dict) return Error(span, "bad-expression", "R.func_attr takes a dictionary");
  for (uint32_t i = 0; i < dict->size(); ++i) {
    const std::string_view key = FuncAttrKey(dict->keys[i]);
    if (func_attrs_->Find(key))
      return Error(span, "duplicate-attribute",
                   fmt::format("the function has the attribute \"{}\" already", dict->keys[i]));
    func_attrs_ = func_attrs_->With(key, FuncAttrOfText(key, dict->values[i], state_.module->text_version()));
  }
  return true;
}

bool RelaxFunctionParser::ParseOutput() {
  const Span span = lex_.SpanFrom(lex_.previous_end() - 6);
  if (!sequence().in_dataflow) return Error(span, "syntax", "R.output(...) is only allowed in a dataflow block");
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
    // The outputs of the block are known only at its end; a variable and a dataflow variable have the same layout.
    var->kind = NodeKind::kVar;
    if (!Accept(TokenKind::kComma)) break;
  }
  sequence().output_seen = true;
  return Expect(TokenKind::kRParen, "R.output(...)");
}

// The type of an output does not name variables of the block that is left.
void RelaxFunctionParser::HideLocalShapes(const Var& output) {
  if (!output.type || !output.type->has_shape_var()) return;
  const_cast<Var&>(output).type = EraseToWellDefined(
      output.type, [](const tir::Var* var) -> const PrimExpr* { return var; },
      [](const Expr* shape) -> const Expr* { return shape->kind == NodeKind::kDataflowVar ? nullptr : shape; },
      ws_.arena());
}

bool RelaxFunctionParser::ParseWith() {
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
  if (sequence().in_dataflow) return Error(span, "syntax", "a dataflow block can't be in another one");
  anf_.EndBlock();
  sequence().in_dataflow = true;
  symbols_.PushScope();
  const bool ok = ParseSuite();
  std::vector<std::pair<const Var*, uint32_t>> outputs;  // with their definitions
  for (const Var* var : sequence().dataflow_vars) {
    if (var->is_dataflow()) continue;
    HideLocalShapes(*var);
    outputs.emplace_back(var, symbols_.Peek(var->name()).definition);
  }
  symbols_.PopScope();
  anf_.EndBlock();
  for (const auto& [var, definition] : outputs) symbols_.DefineAs(var->name(), var, definition);
  sequence().dataflow_vars.clear();
  sequence().in_dataflow = false;
  sequence().output_seen = false;
  return ok;
}

// The last binding of a branch, which may be in a dataflow block; null if it gives no value.
static const Binding* LastOfBranch(const std::vector<const BindingBlock*>& blocks,
                                   const std::vector<const Binding*>& bindings) {
  if (!bindings.empty()) return bindings.back();
  if (blocks.empty() || blocks.back()->bindings.empty()) return nullptr;
  const Binding* last = blocks.back()->bindings.back();
  return last->var->is_dataflow() ? nullptr : last;
}

// One branch: its last binding names the variable that the conditional defines, and its value is the branch's value.
// `elif` is an else branch of one conditional.
bool RelaxFunctionParser::ParseBranch(std::string_view suffix, Branch& branch) {
  Sequence inner;
  inner.is_branch = true;
  const Span header = SpanHere();
  Sequence* const outer = anf_.Enter(&inner);
  symbols_.PushScope();
  bool ok = AtName("elif") ? ParseIf() : ParseSuite();
  symbols_.PopScope();
  const Binding* last = LastOfBranch(inner.blocks, inner.bindings);
  if (ok && last == nullptr) ok = Error(header, "bad-branch", "a branch must end with the binding of a variable");
  if (last != nullptr) {
    branch.name = last->var->name();
    branch.name_span = last->var->span();
    branch.type = last->var->type;
  }
  if (ok) {
    const Expr* body = BranchValue(suffix);
    anf_.EndBlock();
    auto* made = ws_.New<SeqExpr>(ws_.Copy(inner.blocks), body, body->type);
    made->set_span(header);
    branch.seq = made;
  }
  anf_.Enter(outer);
  return ok;
}

// The value of the last binding of a branch. If it is not a leaf, the binding stays, and its variable gets another name
// than the conditional's.
const Expr* RelaxFunctionParser::BranchValue(std::string_view suffix) {
  const Binding* last = LastOfBranch(sequence().blocks, sequence().bindings);
  const auto* binding = sequence().bindings.empty() ? nullptr : As<VarBinding>(last);
  if (binding && (Is<Tuple>(binding->value) || IsLeaf(binding->value))) {
    sequence().bindings.pop_back();
    if (!binding->value->type) const_cast<Expr*>(binding->value)->type = last->var->type;
    return binding->value;
  }
  // The variable was made by this reader a moment ago, and nothing but a recursive function has used it.
  auto* var = const_cast<Var*>(last->var);
  const std::string_view name = ws_.arena().CopyString(fmt::format("{}_{}", var->name(), suffix));
  var->name_data = name.data();
  var->name_size = static_cast<uint32_t>(name.size());
  if (IsVoid(var->type)) return anf_.Nothing(var->type, var->span());
  return var;
}

bool RelaxFunctionParser::ParseIf() {
  const uint32_t begin = lex_.Next().begin;
  const Span span = lex_.SpanFrom(begin);
  bool ok = true;
  if (sequence().in_dataflow) ok = Error(span, "syntax", "a conditional is not allowed in a dataflow block");
  const Expr* cond = ParseExpr();
  cond = cond ? anf_.FlattenOperand(cond) : nullptr;
  if (!cond) {
    lex_.SkipLine();
    while (AtName("elif") || AtName("else")) lex_.SkipLine();
    return false;
  }
  return WithStack([&] { return ParseBranches(cond, span) && ok; });
}

// The branches of a conditional. After an error in them their variable is defined nevertheless.
bool RelaxFunctionParser::ParseBranches(const Expr* cond, Span span) {
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
  const Var* var = anf_.NewVar(yes.name, TypeLCA(yes.type, no.type, ws_.arena()), yes.name_span);
  anf_.Bind(var, value, span);
  symbols_.DefineAgain(yes.name, var, TextOf(yes.name_span), TextOf(no.name_span));
  return true;
}

bool RelaxFunctionParser::ParseReturn() {
  const uint32_t begin = lex_.Next().begin;
  if (sequence().is_branch) return Error(lex_.SpanFrom(begin), "syntax", "a branch can't return");
  if (sequence().in_dataflow) return Error(lex_.SpanFrom(begin), "syntax", "a dataflow block can't return");
  PyValue value;
  if (!exprs_.ParseValues(value)) return false;
  const Expr* expr = exprs_.ToExpr(value);
  expr = expr ? anf_.FlattenOperand(expr) : nullptr;
  if (!expr) return false;
  anf_.EndBlock();
  sequence().result = expr;
  return EndOfStatement();
}

// The bindings of the macro's body, and the value that it returns.
bool RelaxFunctionParser::ExpandMacro(const Macro& macro, uint32_t begin, PyValue& out) {
  PyArgs args;
  if (!exprs_.ParseArguments(args, begin)) return false;
  if (!anf_.sequence()) return Error(args.span, "bad-expression", "a macro is called in the body of a function only");
  const MacroExpansion expansion(*this, macros_, macro, args, [&](std::string_view name, const PyValue& value) {
    symbols_.Define(name, exprs_.NodeOf(value));
  });
  if (!expansion.entered() || !WithStack([&] { return ParseMacroBody(macro, out); })) return false;
  out.span = args.span;
  return true;
}

bool RelaxFunctionParser::ParseMacroBody(const Macro& macro, PyValue& out) {
  if (!Expect(TokenKind::kColon, "a block header") || !Expect(TokenKind::kNewline, "a block header")) return false;
  if (!Accept(TokenKind::kIndent)) return Unexpected("an indented block");
  while (!At(TokenKind::kDedent) && !At(TokenKind::kEnd)) {
    if (!AcceptName("return")) {
      if (!ParseStatement()) return false;
      continue;
    }
    if (!exprs_.ParseValues(out) || !EndOfStatement()) return false;
    if (At(TokenKind::kDedent) || At(TokenKind::kEnd)) return true;
    return ErrorHere("syntax", "nothing may follow the return statement");
  }
  return Error(macro.name_span, "missing-return", fmt::format("macro '{}' has no return statement", macro.name));
}

}  // namespace iropt::text
