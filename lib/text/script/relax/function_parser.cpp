// Headers and bodies of Relax functions, at the top level and nested.
#include "function_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/infer/infer.h"
#include "iropt/support/lookup.h"
#include "symbolic_vars.h"
#include "text/script/type_vars.h"

namespace iropt::text {

bool RelaxFunctionParser::ParseDecorator(RelaxSignature& signature) {
  if (!Accept(TokenKind::kAt)) return Unexpected("a decorator such as @R.function");
  const Span span = SpanHere();
  if (AtPrefix() != Prefix::kRelax) return Unexpected("R.function");
  lex_.Next();
  const std::string_view name = DottedName();
  if (name != "function") {
    static constexpr std::string_view kNames[] = {"function"};
    return name.empty() ? false : static_cast<bool>(UnknownMember("R", name, span, kNames));
  }
  if (Accept(TokenKind::kLParen)) {
    while (!At(TokenKind::kRParen)) {
      if (!AtKeyword()) return Unexpected("pure=... or private=...");
      const Token keyword = lex_.Next();
      lex_.Next();
      const std::string_view word = lex_.text(keyword);
      if (word != "pure" && word != "private" && word != "check_well_formed") {
        return Error(lex_.SpanOf(keyword), "unknown-argument", fmt::format("R.function has no argument '{}'", word));
      }
      if (!AtName("True") && !AtName("False")) return Unexpected("True or False");
      const bool value = lex_.text(lex_.Next()) == "True";
      if (word == "pure") signature.pure = value;
      if (word == "private") signature.is_private = value;
      if (!Accept(TokenKind::kComma)) break;
    }
    if (!Expect(TokenKind::kRParen, "R.function(...)")) return false;
  }
  return Expect(TokenKind::kNewline, "a decorator");
}

namespace {

// Statements like `n = T.int64(is_size_var=True)` at the start of the body determine the kind of the variable "n" of
// the signature. They are read before the signature, by a separate lexer.
void ScanPrelude(const ParserCore& p) {
  DiagnosticBuffer nowhere;
  DiagnosticEngine silent(&nowhere);
  Lexer ahead(p.lex_.buffer(), p.lex_.base(), p.lex_.peek().begin, p.lex_.end_offset(), silent);
  while (ahead.kind() != TokenKind::kEnd && !(ahead.kind() == TokenKind::kNewline)) ahead.Next();
  ahead.Next();
  if (ahead.kind() != TokenKind::kIndent) return;
  ahead.Next();
  AnfBuilder anf(p.ws_, p.state_.module, silent);
  RelaxExprParser prelude({ahead, p.state_, p.ws_, p.symbols_, silent}, anf);
  while (ahead.kind() == TokenKind::kName && (prelude.AtKeyword() || ahead.next_char() == ',')) {
    std::vector<Token> names;
    if (!ReadTargets(prelude, names) || !ReadSymbolicVars(prelude, names) || ahead.kind() != TokenKind::kNewline)
      return;
    ahead.Next();
  }
}

}  // namespace

bool RelaxFunctionParser::ParseSignature(RelaxSignature& signature) {
  if (!AcceptName("def")) return Unexpected("'def' after the decorator");
  if (!At(TokenKind::kName)) return Unexpected("the name of the function");
  const Token name = lex_.Next();
  signature.name = lex_.text(name);
  signature.name_span = lex_.SpanOf(name);
  std::vector<std::string_view> type_params;
  if (!ReadTypeParams(*this, type_params)) return false;
  if (!At(TokenKind::kLParen)) return Unexpected("'(' and parameters");
  ScanPrelude(*this);
  for (const std::string_view param : type_params) {
    const Node* known = symbols_.Find(param);
    if (!known || state_.IsValueSymbol(known)) symbols_.Define(param, IRContext::Current().NewSymVar(param));
    types_.Invalidate();
  }
  lex_.Next();
  exprs_.set_in_signature(true);
  bool ok = true;
  while (ok && !At(TokenKind::kRParen)) {
    ok = ParseParam(signature);
    if (!Accept(TokenKind::kComma)) break;
  }
  ok = ok && Expect(TokenKind::kRParen, "a parameter list");
  if (ok && Accept(TokenKind::kArrow)) {
    signature.ret_annotation = types_.Parse();
    ok = signature.ret_annotation != nullptr;
  }
  exprs_.set_in_signature(false);
  return ok;
}

bool RelaxFunctionParser::ParseParam(RelaxSignature& signature) {
  if (!At(TokenKind::kName)) return Unexpected("a parameter");
  const Token param = lex_.Next();
  const std::string_view name = lex_.text(param);
  if (!Accept(TokenKind::kColon)) {
    return Error(lex_.SpanOf(param), "missing-annotation", fmt::format("parameter '{}' has no type annotation", name));
  }
  const bool is_scalar = AtPrefix() == Prefix::kTir || state_.has_layouts;
  const Type* type = types_.Parse();
  if (!type) return false;
  const auto* prim = is_scalar ? As<PrimType>(type) : nullptr;
  const bool is_symbol = prim && !prim->value && prim->dtype == DataType::Int(64);
  const tir::Var* symbol = is_symbol ? SymbolOfParam(name) : nullptr;
  Var* var = ws_.NewVar(name, symbol ? PrimType::Get(symbol) : type);
  var->set_span(lex_.SpanOf(param));
  symbols_.Define(name, symbol ? static_cast<const Node*>(symbol) : var);
  if (symbol) types_.Invalidate();
  signature.params.push_back(var);
  return true;
}

// From TVM 0.26 on, a parameter such as n: T.int64 or n: R.Prim("int64") is a symbolic variable, which the types of
// parameters before it may have introduced.
const tir::Var* RelaxFunctionParser::SymbolOfParam(std::string_view name) {
  const Node* known = symbols_.scope_depth() == 0 ? symbols_.Find(name) : nullptr;
  const bool is_symbol = known && tir::Var::ClassOf(known->kind);
  return is_symbol ? static_cast<const tir::Var*>(known) : IRContext::Current().NewSymVar(name);
}

const Type* RelaxFunctionParser::ParseSignatureType() {
  exprs_.set_in_signature(true);
  const Type* type = types_.Parse();
  exprs_.set_in_signature(false);
  return type;
}

const FuncType* RelaxFunctionParser::DeclaredType(const RelaxSignature& signature) {
  std::vector<const Type*> params;
  for (const Var* p : signature.params) params.push_back(p->type);
  return types_.MakeFuncType(params, signature.ret_annotation ? signature.ret_annotation : ObjectType::Get(),
                             signature.pure);
}

const Function* RelaxFunctionParser::ParseBody(const RelaxSignature& signature) {
  Sequence body;
  Sequence* const outer = anf_.Enter(&body);
  const DictAttr* const outer_attrs = std::exchange(func_attrs_, DictAttr::Empty());
  const Function* function = nullptr;
  if (ParseSuite()) {
    if (body.result) {
      function = MakeFunction(signature, body.result);
    } else {
      Error(signature.name_span, "missing-return",
            fmt::format("function '{}' has no return statement", signature.name));
    }
  }
  anf_.Enter(outer);
  func_attrs_ = outer_attrs;
  return function;
}

namespace {

bool HasFunctions(const Type* type) {
  const auto* tuple = As<TupleType>(type);
  return tuple ? std::ranges::any_of(tuple->fields, HasFunctions) : Is<FuncType>(type);
}

// Returns whether the value is a function of the module, or a tuple with one.
bool NamesFunctions(const Expr* result, std::span<const BindingBlock* const> blocks) {
  LookupSet<const Expr*> parts{result};
  bool found = false;
  const auto add = [&](const Expr* value) {
    std::vector<const Expr*> next{value};
    while (!next.empty()) {
      const Expr* part = next.back();
      next.pop_back();
      found |= Is<GlobalVar>(part);
      parts.insert(part);
      if (const auto* tuple = As<Tuple>(part)) next.insert(next.end(), tuple->fields.begin(), tuple->fields.end());
      if (const auto* item = As<TupleGetItem>(part)) next.push_back(item->tuple);
    }
  };
  add(result);
  for (size_t i = blocks.size(); i > 0; --i) {
    const List<const Binding*> bindings = blocks[i - 1]->bindings;
    for (size_t j = bindings.size(); j > 0; --j) {
      const auto* bound = As<VarBinding>(bindings[j - 1]);
      if (bound && parts.contains(bound->var)) add(bound->value);
    }
  }
  return found;
}

}  // namespace

const Function* RelaxFunctionParser::MakeFunction(const RelaxSignature& signature, const Expr* result) {
  const Type* result_type = (result = anf_.Typed(result)) ? TypeOfExpr(result, state_.module) : nullptr;
  if (!result_type) return nullptr;
  // The inferred type of the body may be more precise than the annotation. That of a function is not used: it may be
  // this function's own type, which would grow.
  const Type* ret = signature.ret_annotation;
  const bool may_grow = HasFunctions(result_type) && NamesFunctions(result, sequence().blocks);
  if (!ret || (ret != result_type && !may_grow))
    ret = FunctionReturnType(signature.params, result_type, ret, ws_.arena());
  auto* seq = ws_.New<SeqExpr>(ws_.Copy(sequence().blocks), result, result_type);
  seq->set_span(result->span());
  std::vector<const Type*> params;
  for (const Var* p : signature.params) params.push_back(p->type);
  const FuncType* type = types_.MakeFuncType(params, ret, signature.pure);
  auto* function = ws_.New<Function>(ws_.Copy(std::span<const Var* const>(signature.params)), seq, ret, signature.pure,
                                     func_attrs_, type);
  function->set_span(signature.name_span);
  return function;
}

bool RelaxFunctionParser::ParseNestedFunction() {
  RelaxSignature signature;
  if (lex_.buffer().substr(lex_.peek().end).starts_with("T.")) {
    ErrorHere("inline-prim-func", "a PrimFunc must be a function of the module");
    return SkipNestedFunction();
  }
  if (!ParseDecorator(signature)) return SkipNestedFunction();
  symbols_.PushScope();
  bool ok = ParseSignature(signature);
  const Function* function = nullptr;
  Var* var = nullptr;
  if (ok) {
    // The name is visible in the body, for recursion.
    var = anf_.NewVar(signature.name, DeclaredType(signature), signature.name_span);
    symbols_.Define(signature.name, var);
    function = ParseBody(signature);
    ok = function != nullptr;
  }
  symbols_.PopScope();
  if (!ok) {
    if (!signature.name.empty()) DefineFallback(signature.name, nullptr);
    return false;
  }
  // The result type may have become more precise; the variable was only used inside the body until now.
  if (!signature.ret_annotation || function->type != var->type) var->type = function->type;
  anf_.Bind(var, function, signature.name_span);
  symbols_.Define(signature.name, var);
  return true;
}

// Recovery: skips a function that cannot be read, from its decorator to the end of its body. Its name is defined
// nevertheless.
bool RelaxFunctionParser::SkipNestedFunction() {
  lex_.SkipLine();
  if (!AcceptName("def")) return false;
  if (At(TokenKind::kName)) DefineFallback(lex_.text(), nullptr);
  lex_.SkipLine();
  return false;
}

}  // namespace iropt::text
