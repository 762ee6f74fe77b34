// A direct evaluator of integer expressions, against which the simplifier is checked.
#pragma once

#include <map>
#include <optional>

#include "iropt/arith/prim_builder.h"

namespace iropt::arith::test {

using Env = std::map<const tir::Var*, int64_t>;

// The value of the expression; nothing if it divides by zero or overflows.
inline std::optional<int64_t> Eval(const PrimExpr* e, const Env& env) {
  if (const int64_t* value = AsInt(e)) return *value;
  if (const auto* var = As<tir::Var>(e)) return env.at(var);
  if (const auto* cast = As<tir::Cast>(e)) return Eval(cast->value, env);
  if (const auto* negation = As<tir::Not>(e)) {
    const auto a = Eval(negation->a, env);
    return a ? std::optional<int64_t>(*a == 0) : std::nullopt;
  }
  if (const auto* select = As<tir::Select>(e)) {
    const auto cond = Eval(select->condition, env);
    if (!cond) return std::nullopt;
    return Eval(*cond ? select->true_value : select->false_value, env);
  }
  const auto* binary = To<tir::BinaryExpr>(e);
  const auto a = Eval(binary->a, env);
  const auto b = Eval(binary->b, env);
  if (!a || !b) return std::nullopt;
  if (e->kind == NodeKind::kAnd) return *a && *b;
  if (e->kind == NodeKind::kOr) return *a || *b;
  return FoldIntegers(e->kind, *a, *b);
}

// The comparisons.
inline constexpr NodeKind kOrders[] = {NodeKind::kEQ, NodeKind::kNE, NodeKind::kLT,
                                       NodeKind::kLE, NodeKind::kGT, NodeKind::kGE};

// Prints as TVMScript does, with all parentheses that the operators need.
inline std::string Show(const PrimExpr* e) {
  if (const int64_t* value = AsInt(e)) return e->dtype.is_bool() ? (*value ? "True" : "False") : std::to_string(*value);
  if (const auto* var = As<tir::Var>(e)) return std::string(var->name);
  if (const auto* cast = As<tir::Cast>(e)) return "cast(" + Show(cast->value) + ")";
  if (const auto* negation = As<tir::Not>(e)) return "not (" + Show(negation->a) + ")";
  const auto* binary = As<tir::BinaryExpr>(e);
  if (!binary) return "?";
  const auto operand = [](const PrimExpr* x) {
    const bool simple = AsInt(x) || tir::Var::ClassOf(x->kind) || x->kind == NodeKind::kMin ||
                        x->kind == NodeKind::kMax || x->kind == NodeKind::kCast;
    return simple ? Show(x) : "(" + Show(x) + ")";
  };
  const std::string a = operand(binary->a);
  const std::string b = operand(binary->b);
  switch (e->kind) {
    case NodeKind::kAdd: return a + " + " + b;
    case NodeKind::kSub: return a + " - " + b;
    case NodeKind::kMul: return a + " * " + b;
    case NodeKind::kDiv: return "div(" + Show(binary->a) + ", " + Show(binary->b) + ")";
    case NodeKind::kMod: return "mod(" + Show(binary->a) + ", " + Show(binary->b) + ")";
    case NodeKind::kFloorDiv: return a + " // " + b;
    case NodeKind::kFloorMod: return a + " % " + b;
    case NodeKind::kMin: return "min(" + Show(binary->a) + ", " + Show(binary->b) + ")";
    case NodeKind::kMax: return "max(" + Show(binary->a) + ", " + Show(binary->b) + ")";
    case NodeKind::kEQ: return a + " == " + b;
    case NodeKind::kNE: return a + " != " + b;
    case NodeKind::kLT: return a + " < " + b;
    case NodeKind::kLE: return a + " <= " + b;
    case NodeKind::kAnd: return a + " and " + b;
    case NodeKind::kOr: return a + " or " + b;
    default: return "?";
  }
}

}  // namespace iropt::arith::test
