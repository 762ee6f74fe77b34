// The operators of Relay that are written between their operands.
#pragma once

#include <string_view>

#include "lexer.h"

namespace iropt::relay {

struct InfixOperator {
  TokenKind token;
  int precedence;
  std::string_view name;
};

inline constexpr InfixOperator kInfixOperators[] = {
    {TokenKind::kStar, 4, "multiply"},   {TokenKind::kSlash, 4, "divide"},
    {TokenKind::kPlus, 3, "add"},        {TokenKind::kMinus, 3, "subtract"},
    {TokenKind::kLess, 2, "less"},       {TokenKind::kLessEqual, 2, "less_equal"},
    {TokenKind::kGreater, 2, "greater"}, {TokenKind::kGreaterEqual, 2, "greater_equal"},
    {TokenKind::kEqual, 1, "equal"},     {TokenKind::kNotEqual, 1, "not_equal"},
};

// Null if the token is not an infix operator.
inline const InfixOperator* FindInfix(TokenKind token) {
  if (token < TokenKind::kPlus) return nullptr;
  for (const InfixOperator& op : kInfixOperators) {
    if (op.token == token) return &op;
  }
  return nullptr;
}

}  // namespace iropt::relay
