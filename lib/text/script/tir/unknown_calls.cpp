// Calls of dialects that are built on TIR, such as tile operators, as opaque statements.
#include <span>

#include "iropt/op/op.h"
#include "parser.h"

namespace iropt::text {

// T.name(...), where T has no such name, becomes a call of a function that is outside of the module: the operands are
// the memory of all buffers and the variables that the text of the call names, each as often. What it does with them is
// not known.
bool TirParser::ParseUnknownCall(bool& known) {
  known = false;
  if (!state_.allows_unknown_calls || AtPrefix() != Prefix::kTir) return false;
  const Lexer::State start = lex_.Save();
  const uint32_t begin = lex_.Next().begin;
  const std::string_view name = DottedName();
  known = !name.empty() && At(TokenKind::kLParen) && !IsTirName(name);
  if (!known) {
    lex_.Restore(start);
    return false;
  }
  Prims operands{ToPrim(PyValue::String(name, lex_.SpanFrom(begin)))};
  int depth = 0;
  do {
    if (At(TokenKind::kEnd)) return Error(lex_.SpanFrom(begin), "bad-expression", "')' of the call is missing");
    if (At(TokenKind::kLParen) || At(TokenKind::kLBracket) || At(TokenKind::kLBrace)) ++depth;
    if (At(TokenKind::kRParen) || At(TokenKind::kRBracket) || At(TokenKind::kRBrace)) --depth;
    const Node* node = At(TokenKind::kName) ? symbols_.Find(lex_.text()) : nullptr;
    const auto* buffer = node ? As<tir::Buffer>(node) : nullptr;
    const tir::Var* var = buffer ? buffer->data : node ? As<tir::Var>(node) : nullptr;
    if (var) operands.push_back(var);
    lex_.Next();
  } while (depth > 0);
  auto* call = ws_.New<tir::Call>(DataType::Int(32), GetOp("tir.call_extern"),
                                  ws_.Copy(std::span<const PrimExpr* const>(operands.begin(), operands.end())));
  call->set_span(lex_.SpanFrom(begin));
  return EmitValue(PyValue(static_cast<const PrimExpr*>(call)));
}

}  // namespace iropt::text
