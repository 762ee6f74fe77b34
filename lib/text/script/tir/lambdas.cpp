#include "lambdas.h"

#include <fmt/format.h>

#include "iropt/infer/print/prim_printer.h"

namespace iropt::text {

using Kind = PyValue::Kind;

bool ParseLambda(ScalarParser& p, std::vector<std::string_view>& params, uint32_t& body) {
  if (!p.AcceptName("lambda")) return p.Unexpected("a lambda");
  while (!p.At(TokenKind::kColon)) {
    if (!p.At(TokenKind::kName)) return p.Unexpected("the name of a parameter");
    params.push_back(p.lex_.text(p.lex_.Next()));
    if (!p.Accept(TokenKind::kComma)) break;
  }
  if (!p.Expect(TokenKind::kColon, "a lambda")) return false;
  body = p.lex_.peek().begin;
  for (int depth = 0;; p.lex_.Next()) {
    if (p.At(TokenKind::kEnd) || p.At(TokenKind::kNewline)) return p.Unexpected("the body of the lambda");
    if (p.At(TokenKind::kLParen) || p.At(TokenKind::kLBracket) || p.At(TokenKind::kLBrace)) ++depth;
    if (p.At(TokenKind::kRParen) || p.At(TokenKind::kRBracket) || p.At(TokenKind::kRBrace)) {
      if (depth-- == 0) return true;
    }
    if (p.At(TokenKind::kComma) && depth == 0) return true;
  }
}

bool ParseReducer(ScalarParser& p, uint32_t begin, PyValue& out) {
  if (!p.Expect(TokenKind::kLParen, "T.comm_reducer(...)")) return false;
  const Lexer::State start = p.lex_.Save();
  std::vector<std::string_view> names;
  uint32_t body = 0;
  if (!ParseLambda(p, names, body)) return false;
  if (!p.Expect(TokenKind::kComma, "T.comm_reducer(...)")) return false;
  PyValue identity_value, result_value;
  std::vector<const PrimExpr*> identity, result;
  if (!p.ParseValue(identity_value)) return false;
  if (!identity_value.is_list()) return p.WrongValue(identity_value, "a list of identity elements");
  for (const PyValue& item : identity_value.items()) {
    if (item.is(Kind::kFloat)) return p.WrongValue(item, "an element with a type such as T.float32(0)");
  }
  if (!p.ToPrims(identity_value, identity)) return false;
  if (names.size() != 2 * identity.size()) {
    return p.Error(identity_value.span, "bad-expression",
                   fmt::format("a reducer with {} identity elements has {} parameters, found {}", identity.size(),
                               2 * identity.size(), names.size()));
  }
  const Lexer::State end = p.lex_.Save();
  p.lex_.Restore(start);
  while (p.lex_.peek().begin < body) p.lex_.Next();
  p.symbols_.PushScope();
  std::vector<const tir::Var*> vars;
  for (size_t i = 0; i < names.size(); ++i) {
    vars.push_back(p.ws_.NewPrimVar(names[i], identity[i % identity.size()]->dtype));
    p.symbols_.Define(names[i], vars.back());
  }
  const bool ok = p.ParseValue(result_value) && p.ToPrims(result_value, result);
  p.symbols_.PopScope();
  if (!ok) return false;
  if (result.size() != identity.size())
    return p.Error(result_value.span, "bad-expression", "a reducer has as many results as identity elements");
  p.lex_.Restore(end);
  if (!p.ExpectClose("T.comm_reducer(...)")) return false;
  const std::span<const tir::Var* const> all(vars);
  auto* reducer =
      p.ws_.New<tir::CommReducer>(p.ws_.Copy(all.first(identity.size())), p.ws_.Copy(all.subspan(identity.size())),
                                  p.CopyPrims(result), p.CopyPrims(identity));
  reducer->set_span(p.lex_.SpanFrom(begin));
  out.kind = Kind::kReducer;
  out.reducer = reducer;
  out.span = p.lex_.SpanFrom(begin);
  return true;
}

const IndexMapAttr* ParseMapping(ScalarParser& p, DataType dtype, const IndexMapAttr* inverse) {
  const Lexer::State start = p.lex_.Save();
  std::vector<std::string_view> names;
  uint32_t body = 0;
  if (!ParseLambda(p, names, body)) return nullptr;
  p.lex_.Restore(start);
  while (p.lex_.peek().begin < body) p.lex_.Next();
  IRContext& context = IRContext::Current();
  p.symbols_.PushScope();
  std::vector<const tir::Var*> params;
  for (const std::string_view name : names) {
    params.push_back(context.NewSymVar(name, dtype));
    p.symbols_.Define(name, params.back());
  }
  PyValue value;
  std::vector<const PrimExpr*> results;
  const bool ok = p.ParseValue(value) && p.ToPrims(value, results);
  p.symbols_.PopScope();
  if (!ok) return nullptr;
  for (const PrimExpr*& e : results) {
    bool own = true;
    ForEachPrimName(
        e, [&](const tir::Var* v) { own &= v->context_owned(); }, [&](const tir::Buffer*) { own = false; });
    if (!own) return p.Error(value.span, "bad-expression", "an index map refers to nothing but its parameters");
    e = context.Intern(e);
  }
  return IndexMapAttr::Get(params, results, inverse);
}

bool ParseIndexMap(ScalarParser& p, uint32_t begin, PyValue& out) {
  if (!p.Expect(TokenKind::kLParen, "T.index_map(...)")) return false;
  const DataType dtype = DataType::Int(64);
  const Lexer::State start = p.lex_.Save();
  const IndexMapAttr* map = ParseMapping(p, dtype, nullptr);
  if (!map) return false;
  const IndexMapAttr* inverse = nullptr;
  while (p.Accept(TokenKind::kComma) && p.AtKeyword()) {
    const Token name = p.lex_.Next();
    p.lex_.Next();
    if (p.lex_.text(name) == "index_dtype") {
      // TVM 0.26 has this argument; the canonical text has only 64-bit indices.
      PyValue value;
      DataType ignored;
      if (!p.ParseValue(value) || !p.ToDType(value, ignored)) return false;
    } else if (p.lex_.text(name) != "inverse_index_map") {
      return p.Error(p.lex_.SpanOf(name), "unknown-argument",
                     fmt::format("T.index_map has no argument '{}'", p.lex_.text(name)));
    } else if (!p.AcceptName("None")) {
      inverse = ParseMapping(p, dtype, nullptr);
      if (!inverse) return false;
    }
  }
  if (inverse) {
    const Lexer::State end = p.lex_.Save();
    p.lex_.Restore(start);
    map = ParseMapping(p, dtype, inverse);
    p.lex_.Restore(end);
    if (!map) return false;
  }
  if (!p.ExpectClose("T.index_map(...)")) return false;
  out = PyValue(map, p.lex_.SpanFrom(begin));
  return true;
}

}  // namespace iropt::text
