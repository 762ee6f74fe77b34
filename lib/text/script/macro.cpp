#include "macro.h"

#include <fmt/format.h>

#include "arguments.h"

namespace iropt::text {

namespace {

// The annotations of a macro are for human readers only.
void SkipAnnotation(ParserCore& p) {
  const int depth = p.lex_.bracket_depth();
  while (!p.At(TokenKind::kEnd) && !p.At(TokenKind::kNewline)) {
    const bool ends = p.At(TokenKind::kComma) || p.At(TokenKind::kColon) || p.At(TokenKind::kAssign);
    if (p.lex_.bracket_depth() < depth || (ends && p.lex_.bracket_depth() == depth)) return;
    p.lex_.Next();
  }
}

}  // namespace

bool ReadMacroHeader(ParserCore& p, Macro& macro) {
  macro.level = p.AtPrefix();
  p.lex_.Next();
  p.DottedName();
  if (p.Accept(TokenKind::kLParen)) {
    if (p.AcceptKeyword("hygienic")) {
      if (!p.AtName("True") && !p.AtName("False")) return p.Unexpected("True or False");
      macro.hygienic = p.lex_.text(p.lex_.Next()) == "True";
    }
    if (!p.ExpectClose("the decorator of a macro, which takes hygienic=...")) return false;
  }
  if (!p.Expect(TokenKind::kNewline, "a decorator")) return false;
  if (!p.AcceptName("def") || !p.At(TokenKind::kName)) return p.Unexpected("'def' and the name of the macro");
  const Token name = p.lex_.Next();
  macro.name = p.lex_.text(name);
  macro.name_span = p.lex_.SpanOf(name);
  if (!p.Expect(TokenKind::kLParen, "the parameters of a macro")) return false;
  while (!p.At(TokenKind::kRParen)) {
    if (!p.At(TokenKind::kName)) return p.Unexpected("a parameter");
    macro.params.push_back(p.lex_.text(p.lex_.Next()));
    if (p.Accept(TokenKind::kColon)) SkipAnnotation(p);
    if (p.At(TokenKind::kAssign)) return p.ErrorHere("syntax", "a parameter of a macro has no default");
    if (!p.Accept(TokenKind::kComma)) break;
  }
  if (!p.Expect(TokenKind::kRParen, "the parameters of a macro")) return false;
  if (p.Accept(TokenKind::kArrow)) SkipAnnotation(p);
  return p.At(TokenKind::kColon) || p.Unexpected("':' after the header of the macro");
}

MacroExpansion::MacroExpansion(ParserCore& reader, MacroBudget& budget, const Macro& macro, const PyArgs& args,
                               FunctionRef<void(std::string_view, const PyValue&)> define)
    : reader_(reader), budget_(budget), macro_(macro) {
  std::vector<const PyValue*> values(macro.params.size());
  if (!Bind(args, values)) return;
  Lexer& lexer = reader.lex_;
  body_.emplace(lexer.buffer(), lexer.base(), macro.body_begin, macro.body_end, reader.diag_);
  lexer.SwapPositions(*body_);
  context_.emplace(reader.diag_, Location(args.span), fmt::format("in the expansion of macro '{}'", macro.name));
  if (hides_caller()) {
    std::swap(reader.symbols_, outer_symbols_);
    reader.symbols_.set_constants(&reader.state_.constants, macro.num_constants);
  }
  if (macro.hygienic && macro.depth) {
    reader.symbols_.PushScopeWithin(*macro.depth);
  } else {
    reader.symbols_.PushScope();
  }
  for (size_t i = 0; i < values.size(); ++i) define(macro.params[i], *values[i]);
  ++budget_.nested;
}

MacroExpansion::~MacroExpansion() {
  if (!entered()) return;
  --budget_.nested;
  reader_.symbols_.PopScope();
  if (hides_caller()) std::swap(reader_.symbols_, outer_symbols_);
  reader_.lex_.SwapPositions(*body_);
}

bool MacroExpansion::Bind(const PyArgs& args, std::vector<const PyValue*>& values) {
  if (budget_.nested == MacroBudget::kMostNested || ++budget_.expansions > MacroBudget::kMostExpansions) {
    return reader_.Error(args.span, "bad-expression",
                         budget_.nested == MacroBudget::kMostNested
                             ? fmt::format("macros call one another more than {} deep", MacroBudget::kMostNested)
                             : fmt::format("a function expands more than {} macros", MacroBudget::kMostExpansions));
  }
  return BindArguments(args, fmt::format("macro '{}'", macro_.name), macro_.params, macro_.params.size(), values,
                       reader_.diag_);
}

}  // namespace iropt::text
