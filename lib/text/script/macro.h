// Expansion of macros: the body is read instead of the call, with the parameters as names of the arguments.
#pragma once

#include <optional>

#include "iropt/infer/py_value.h"
#include "iropt/support/function_ref.h"
#include "parser_core.h"

namespace iropt::text {

// Limits the expansions of one function. Macros may call one another, and themselves.
struct MacroBudget {
  static constexpr uint32_t kMostNested = 100;
  static constexpr uint32_t kMostExpansions = 100'000;
  uint32_t nested = 0;
  uint32_t expansions = 0;
};

// Reads the header of a macro from its prefix up to the colon: T.macro(hygienic=False), the name and the parameters.
bool ReadMacroHeader(ParserCore& p, Macro& macro);

// While it lives, the reader is in the body of the macro, and everything that is reported says so. After an error,
// which was reported, it is not `entered`.
class MacroExpansion {
 public:
  // `define(name, value)` gives a parameter its meaning.
  MacroExpansion(ParserCore& reader, MacroBudget& budget, const Macro& macro, const PyArgs& args,
                 FunctionRef<void(std::string_view, const PyValue&)> define);
  MacroExpansion(const MacroExpansion&) = delete;
  MacroExpansion& operator=(const MacroExpansion&) = delete;
  ~MacroExpansion();

  bool entered() const { return body_.has_value(); }

 private:
  bool hides_caller() const { return macro_.hygienic && !macro_.depth; }
  bool Bind(const PyArgs& args, std::vector<const PyValue*>& values);

  ParserCore& reader_;
  MacroBudget& budget_;
  const Macro& macro_;
  std::optional<DiagnosticContext> context_;
  std::optional<Lexer> body_;  // reads the text after the call, while the reader's own reads the body
  SymbolTable outer_symbols_;  // of a hygienic macro outside of functions
};

}  // namespace iropt::text
