#include "macro.h"

#include <fmt/format.h>

#include "arguments.h"

namespace iropt::text {

MacroExpansion::MacroExpansion(ParserCore& reader, MacroBudget& budget, const Macro& macro, const PyArgs& args,
                               FunctionRef<void(std::string_view, const PyValue&)> define)
    : reader_(reader), budget_(budget), macro_(macro) {
  std::vector<const PyValue*> values(macro.params.size());
  if (!Bind(args, values)) return;
  Lexer& lexer = reader.lex_;
  body_.emplace(lexer.buffer(), lexer.base(), macro.body_begin, macro.body_end, reader.diag_);
  lexer.SwapPositions(*body_);
  context_.emplace(reader.diag_, Location(args.span), fmt::format("in the expansion of macro '{}'", macro.name));
  if (macro.hygienic) std::swap(reader.symbols_, outer_symbols_);
  reader.symbols_.PushScope();
  for (size_t i = 0; i < values.size(); ++i) define(macro.params[i], *values[i]);
  ++budget_.nested;
}

MacroExpansion::~MacroExpansion() {
  if (!entered()) return;
  --budget_.nested;
  reader_.symbols_.PopScope();
  if (macro_.hygienic) std::swap(reader_.symbols_, outer_symbols_);
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
