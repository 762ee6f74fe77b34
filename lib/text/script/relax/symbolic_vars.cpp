#include "symbolic_vars.h"

#include <bit>

#include "iropt/ir/context.h"

namespace iropt::text {

namespace {

// I.meta_var(16): the name stands for the number. False if something else is there.
bool ReadMetaVar(RelaxExprParser& p, const Token& name) {
  if (p.AtPrefix() != Prefix::kIr) return false;
  const Lexer::State start = p.lex_.Save();
  p.lex_.Next();
  PyValue value;
  const bool is_meta = p.DottedName() == "meta_var" && p.Accept(TokenKind::kLParen) && p.ParseValue(value) &&
                       (value.is(PyValue::Kind::kPrim) || value.is(PyValue::Kind::kInt)) &&
                       p.Accept(TokenKind::kRParen);
  if (!is_meta) return p.lex_.Restore(start), false;
  const PrimExpr* number = value.is(PyValue::Kind::kPrim) ? value.prim : IRContext::Current().Int(value.integer);
  p.symbols_.Define(p.lex_.text(name), number);
  return true;
}

// T.int64(), T.int64(is_size_var=True), T.Var("n", "int64") or T.SizeVar("n", "int64"): the definition of a symbolic
// variable, which the signature may have named before. False if something else is there.
bool ReadSymbolicVar(RelaxExprParser& p, const Token& name) {
  if (p.AtPrefix() != Prefix::kTir) return false;
  p.lex_.Next();
  const std::string_view member = p.DottedName();
  const std::string_view text = p.lex_.text(name);
  bool size_var = member == "SizeVar";
  std::optional<DataType> dtype;
  if (!p.At(TokenKind::kLParen)) return false;
  if (size_var || member == "Var") {
    p.lex_.Next();
    if (!p.At(TokenKind::kString) || p.ParseStringLiteral() != text) return false;
    if (p.Accept(TokenKind::kComma) && !p.At(TokenKind::kRParen)) {
      p.AcceptKeyword("dtype");
      dtype = p.At(TokenKind::kString) ? DataType::Parse(p.ParseStringLiteral()) : std::nullopt;
    }
  } else {
    dtype = DataType::Parse(member);
    p.lex_.Next();
    const bool size = p.AcceptKeyword("is_size_var");
    if (size || p.AcceptKeyword("is_unknown_type")) {
      size_var = size && p.AtName("True");
      if (!p.AcceptName("True") && !p.AcceptName("False")) return false;
    }
  }
  p.Accept(TokenKind::kComma);
  if (!dtype || !dtype->is_scalar() || !std::has_single_bit(dtype->bits) || !p.Accept(TokenKind::kRParen)) return false;
  const Node* known = p.symbols_.Find(text);
  if (known && PrimExpr::ClassOf(known->kind) && static_cast<const PrimExpr*>(known)->dtype == *dtype) return true;
  p.symbols_.Define(text, IRContext::Current().NewSymVar(text, *dtype, size_var));
  p.types().Invalidate();
  return true;
}

}  // namespace

bool ReadTargets(ParserCore& p, std::vector<Token>& names) {
  do {
    if (p.At(TokenKind::kAssign) && !names.empty()) break;
    if (!p.At(TokenKind::kName)) return p.Unexpected("the name of a variable");
    names.push_back(p.lex_.Next());
  } while (p.Accept(TokenKind::kComma));
  return p.Expect(TokenKind::kAssign, "a binding");
}

bool ReadSymbolicVars(RelaxExprParser& p, std::span<const Token> names) {
  const Prefix prefix = p.AtPrefix();
  const bool grouped = names.size() > 1 && p.At(TokenKind::kLParen);
  if (!grouped && prefix != Prefix::kTir && prefix != Prefix::kIr) return false;
  const Lexer::State start = p.lex_.Save();
  if (grouped) p.lex_.Next();
  bool ok = true;
  for (size_t i = 0; ok && i < names.size(); ++i)
    ok = (i == 0 || p.Accept(TokenKind::kComma)) && (ReadMetaVar(p, names[i]) || ReadSymbolicVar(p, names[i]));
  if (ok && grouped) {
    p.Accept(TokenKind::kComma);
    ok = p.Accept(TokenKind::kRParen);
  }
  if (!ok) p.lex_.Restore(start);
  return ok;
}

}  // namespace iropt::text
