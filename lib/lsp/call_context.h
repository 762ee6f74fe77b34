// The position of the cursor in a statement, as far as the text alone shows it: the text is mostly incomplete when an
// editor asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "iropt/lsp/text_document.h"

namespace iropt::lsp {

struct OpenBracket {
  char bracket = '(';
  std::string_view callee;                      // the dotted name directly before a '('; empty if there is none
  uint32_t argument = 0;                        // the number of commas before the cursor
  std::string_view keyword;                     // of the argument that the cursor is in
  std::vector<std::string_view> keywords = {};  // of all arguments so far
};

struct CursorContext {
  bool in_comment = false;
  bool in_string = false;
  TextSpan word;                      // the dotted name that ends at the cursor, or the text of the string before it
  std::string_view before;            // the text of the statement before the word
  std::vector<OpenBracket> brackets;  // that are open at the cursor, innermost last

  // The innermost call around the cursor; null if there is none.
  const OpenBracket* call() const;
};

// O(bytes of the statement, of which at most some hundred lines are looked at).
CursorContext ContextAt(const TextDocument& document, uint32_t offset);

bool IsNameCharacter(char c);

}  // namespace iropt::lsp
