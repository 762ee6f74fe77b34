// The operators of scripts, for readers and printers of expressions. The rows come from operators.def.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "iropt/ir/node.h"

namespace iropt {

// The precedence of Python's operators, from the loosest to the tightest.
enum class Precedence : uint8_t {
  kLambda = 1,
  kIfThenElse,
  kOr,
  kAnd,
  kNot,
  kComparison,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kAdd,
  kMul,
  kUnary,
  kPower,
  kAtom
};

constexpr Precedence Above(Precedence p) { return static_cast<Precedence>(static_cast<uint8_t>(p) + 1); }

// A row of operators.def; see there for the columns.
struct OperatorInfo {
  std::string_view infix;
  Precedence precedence;
  std::optional<NodeKind> node;
  std::string_view function;
  std::string_view graph_op;
};

inline constexpr std::nullopt_t NoNode = std::nullopt;  // NOLINT: a word of the table

inline constexpr OperatorInfo kOperators[] = {
#define IROPT_OPERATOR(token, infix, precedence, node, function, graph)                                                \
  {infix, Precedence::precedence, node, function, graph},
#include "iropt/op/operators.def"
};

// The operator of a binary expression on scalars. O(1).
constexpr const OperatorInfo& OperatorOf(NodeKind kind) {
  constexpr size_t kFirst = static_cast<size_t>(NodeKind::kAdd);
  constexpr auto kRows = [] {
    std::array<uint8_t, static_cast<size_t>(NodeKind::kOr) - kFirst + 1> rows{};
    for (size_t i = 0; i < std::size(kOperators); ++i) {
      if (kOperators[i].node) rows[static_cast<size_t>(*kOperators[i].node) - kFirst] = static_cast<uint8_t>(i);
    }
    return rows;
  }();
  return kOperators[kRows[static_cast<size_t>(kind) - kFirst]];
}

}  // namespace iropt
