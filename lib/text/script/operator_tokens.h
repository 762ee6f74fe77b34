// The operators that tokens stand for. Words, `and` and `or`, are not among them.
#pragma once

#include <array>

#include "iropt/op/operators.h"
#include "iropt/text/script/lexer.h"

namespace iropt::text {

// By token, the index of its operator in kOperators; one past the end for other tokens.
inline constexpr auto kOperatorOfToken = [] {
  std::array<uint8_t, static_cast<size_t>(TokenKind::kError) + 1> rows{};
  rows.fill(std::size(kOperators));
  uint8_t row = 0;
#define IROPT_OPERATOR(token, infix, precedence, node, function, graph)                                                \
  rows[static_cast<size_t>(TokenKind::token)] = row++;
#include "iropt/op/operators.def"
  rows[static_cast<size_t>(TokenKind::kName)] = rows[static_cast<size_t>(TokenKind::kEnd)] = std::size(kOperators);
  return rows;
}();

// The operator of a token that stands for one.
constexpr const OperatorInfo& OperatorOf(TokenKind kind) {
  return kOperators[kOperatorOfToken[static_cast<size_t>(kind)]];
}
// Its precedence; kLambda, the loosest, for other tokens.
constexpr Precedence PrecedenceOf(TokenKind kind) {
  const uint8_t row = kOperatorOfToken[static_cast<size_t>(kind)];
  return row < std::size(kOperators) ? kOperators[row].precedence : Precedence::kLambda;
}

}  // namespace iropt::text
