#include "iropt/arith/smt_script.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::arith {

namespace {

std::string_view SortOf(DataType dtype) { return dtype.is_bool() ? "Bool" : "Int"; }

std::string NumberOf(int64_t value) {
  return value < 0 ? fmt::format("(- {})", 0 - static_cast<uint64_t>(value)) : fmt::format("{}", value);
}

// That the remainder fits the divisor, and the sign of what is divided. It does not if the divisor is 0.
std::string Fits(const SmtScript::Division& division, const std::string& remainder) {
  constexpr std::string_view kFloor = "(ite (> {1} 0) (and (<= 0 {2}) (< {2} {1})) (and (<= {2} 0) (< {1} {2})))";
  constexpr std::string_view kTruncated =
      "(ite (>= {0} 0) (and (<= 0 {2}) (< {2} (abs {1}))) (and (<= {2} 0) (< (- (abs {1})) {2})))";
  return fmt::format(fmt::runtime(division.truncates ? kTruncated : kFloor), division.a, division.b, remainder);
}

}  // namespace

void SmtScript::Assert(const std::string& condition) {
  fmt::format_to(std::back_inserter(text_), "(assert {})\n", condition);
}

void SmtScript::AssertRange(const PrimExpr* var, const PrimExpr* min, const PrimExpr* extent) {
  const std::string name = VisitExpr(var);
  const std::string least = VisitExpr(min);
  Assert(fmt::format("(<= {} {})", least, name));
  Assert(fmt::format("(< {} (+ {} {}))", name, least, VisitExpr(extent)));
}

std::string SmtScript::Quotient(const tir::BinaryExpr& expr, const std::string& a, const std::string& b) {
  const int64_t* divisor = arith::AsInt(expr.b);
  const bool is_number = divisor && *divisor > 0;
  const bool truncates = expr.kind == NodeKind::kDiv || expr.kind == NodeKind::kMod;
  const bool is_remainder = expr.kind == NodeKind::kMod || expr.kind == NodeKind::kFloorMod;
  // The quotient of SMT-LIB is the floor for positive divisors.
  if (is_number && !truncates) return fmt::format("({} {} {})", is_remainder ? "mod" : "div", a, b);
  if (has_variables_) {
    const Division& division = Divide(a, b, truncates);
    return is_remainder ? division.remainder : division.quotient;
  }
  const std::string quotient =
      truncates
          ? fmt::format("(ite (= (>= {0} 0) (> {1} 0)) (div (abs {0}) (abs {1})) (- (div (abs {0}) (abs {1}))))", a, b)
          : fmt::format("(ite (> {1} 0) (div {0} {1}) (div (- {0}) (- {1})))", a, b);
  return is_remainder ? fmt::format("(- {} (* {} {}))", a, b, quotient) : quotient;
}

const SmtScript::Division& SmtScript::Divide(const std::string& a, const std::string& b, bool truncates) {
  for (const Division& known : divisions_) {
    if (known.a == a && known.b == b && known.truncates == truncates) return known;
  }
  const DataType dtype = DataType::Int(64);
  const Division& made = divisions_.emplace_back(
      Division{a, b, truncates, Define(dtype, Declare('q', dtype)), Define(dtype, Declare('r', dtype))});
  const std::string axiom =
      fmt::format("(and (= {} (+ (* {} {}) {})) {})", a, b, made.quotient, made.remainder, Fits(made, made.remainder));
  const std::string is_not_zero = fmt::format("(not (= {} 0))", b);
  if (is_defined_) Assert(is_not_zero);
  Assert(is_defined_ ? axiom : fmt::format("(=> {} {})", is_not_zero, axiom));
  return made;
}

void SmtScript::AssertUniqueQuotients(const std::vector<std::string>& candidates) {
  for (const Division& known : divisions_) {
    for (const std::string& candidate : candidates) {
      const std::string rest = fmt::format("(- {} (* {} {}))", known.a, known.b, candidate);
      Assert(fmt::format("(=> {} (and (= {} {}) (= {} {})))", Fits(known, rest), known.quotient, candidate,
                         known.remainder, rest));
    }
  }
}

void SmtScript::AssertOrders(const std::vector<std::string>& candidates) {
  for (const Division& known : divisions_) {
    for (const std::string& candidate : candidates) {
      if (candidate == known.quotient) continue;
      const std::string product = fmt::format("(* {} {})", known.b, candidate);
      // Where the quotient is rounded down, or up; `order` is that of the product and of what is divided.
      const auto rounds_down = [&](std::string_view order) {
        return fmt::format("(and (= (<= {0} {1}) ({2} {3} {4})) (= (< {0} {1}) ({2} (+ {3} {5}) {4})))", candidate,
                           known.quotient, order, product, known.a, known.b);
      };
      const auto rounds_up = [&](std::string_view order) {
        return fmt::format("(and (= (>= {0} {1}) ({2} {3} {4})) (= (> {0} {1}) ({2} (- {3} {5}) {4})))", candidate,
                           known.quotient, order, product, known.a, known.b);
      };
      const auto by_divisor = [&](std::string_view positive, std::string_view negative) {
        return fmt::format("(ite (> {} 0) {} {})", known.b, positive, negative);
      };
      std::string law = by_divisor(rounds_down("<="), rounds_down(">="));
      if (known.truncates) {
        law = fmt::format("(ite (>= {} 0) {} {})", known.a, by_divisor(rounds_down("<="), rounds_up("<=")),
                          by_divisor(rounds_up(">="), rounds_down(">=")));
      }
      Assert(fmt::format("(=> (not (= {} 0)) {})", known.b, law));
    }
  }
}

std::string SmtScript::VisitSizeVar(const tir::SizeVar* var) { return VisitVar(var); }

std::string SmtScript::VisitNot(const tir::Not* expr) { return fmt::format("(not {})", VisitExpr(expr->a)); }

std::string SmtScript::Define(DataType dtype, std::string text) {
  if (text.starts_with('e')) return text;  // a name
  std::string& name = definitions_[text];
  if (!name.empty()) return name;
  name = text.starts_with('(') ? fmt::format("e{}", num_definitions_++) : text;
  if (name != text) fmt::format_to(std::back_inserter(text_), "(define-fun {} () {} {})\n", name, SortOf(dtype), text);
  if (!dtype.is_bool()) integers_.push_back(name);
  return name;
}

std::string SmtScript::Declare(char prefix, DataType dtype) {
  std::string name = fmt::format("{}{}", prefix, num_variables_++);
  fmt::format_to(std::back_inserter(text_), "(declare-fun {} () {})\n", name, SortOf(dtype));
  return name;
}

std::string SmtScript::VisitExpr(const PrimExpr* expr) {
  if (const std::string* known = names_.Find(expr)) return *known;
  std::string text = WithStack([&] { return ExprFunctor::VisitExpr(expr); });
  return names_[expr] = Define(expr->dtype, std::move(text));
}

std::string SmtScript::VisitDefault(const PrimExpr* expr) {
  if (expr->kind >= NodeKind::kAdd && expr->kind <= NodeKind::kOr)
    return Binary(*static_cast<const tir::BinaryExpr*>(expr));
  return Unknown(expr->dtype);
}

std::string SmtScript::VisitVar(const tir::Var* var) {
  std::string name = Declare('v', var->dtype);
  if (var->is_size_var() || var->context_owned()) Assert(fmt::format("(<= 0 {})", name));
  return name;
}

std::string SmtScript::VisitIntImm(const tir::IntImm* imm) {
  if (imm->dtype.is_bool()) return imm->value != 0 ? "true" : "false";
  return NumberOf(imm->value);
}

std::string SmtScript::VisitCast(const tir::Cast* cast) {
  const DataType from = cast->value->dtype;
  if (!cast->dtype.is_integer() || !from.is_integer() || cast->dtype.is_bool()) return Unknown(cast->dtype);
  if (from.is_bool()) return fmt::format("(ite {} 1 0)", VisitExpr(cast->value));
  return cast->dtype.bits >= 32 ? VisitExpr(cast->value) : Unknown(cast->dtype);
}

std::string SmtScript::VisitSelect(const tir::Select* expr) {
  return Choice(expr->condition, expr->true_value, expr->false_value);
}

std::string SmtScript::VisitBufferLoad(const tir::BufferLoad* load) {
  reads_memory_ = true;
  std::string& function = functions_[load->buffer];
  if (function.empty()) {
    function = fmt::format("f{}", num_functions_++);
    std::string sorts;
    for (size_t i = 0; i < load->indices.size(); ++i) sorts.append(" Int");
    fmt::format_to(std::back_inserter(text_), "(declare-fun {} ({}) {})\n", function, sorts, SortOf(load->dtype));
  }
  if (load->indices.empty()) return function;
  std::string text = fmt::format("({}", function);
  for (const PrimExpr* index : load->indices) fmt::format_to(std::back_inserter(text), " {}", VisitExpr(index));
  text += ")";
  return text;
}

std::string SmtScript::VisitCall(const tir::Call* call) {
  if (IsOp(call->op, op::kTirLikely) || IsOp(call->op, op::kTirTvmThreadInvariant)) return VisitExpr(call->args[0]);
  if (IsOp(call->op, op::kTirIfThenElse)) return Choice(call->args[0], call->args[1], call->args[2]);
  const int64_t* number = call->args.size() == 2 ? arith::AsInt(call->args[1]) : nullptr;
  if (number && *number >= 0 && *number < 62) {
    if (IsOp(call->op, op::kTirShiftRight))
      return fmt::format("(div {} {})", VisitExpr(call->args[0]), int64_t{1} << *number);
    if (IsOp(call->op, op::kTirShiftLeft))
      return fmt::format("(* {} {})", VisitExpr(call->args[0]), int64_t{1} << *number);
  }
  const bool is_mask = number && *number > 0 && (*number & (*number + 1)) == 0;
  if (IsOp(call->op, op::kTirBitwiseAnd) && is_mask && !call->dtype.is_bool())
    return fmt::format("(mod {} {})", VisitExpr(call->args[0]), *number + 1);
  return Unknown(call->dtype);
}

std::string SmtScript::Unknown(DataType dtype) {
  has_other_operations_ = true;
  return Declare('u', dtype);
}

std::string SmtScript::Choice(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) {
  return fmt::format("(ite {} {} {})", VisitExpr(condition), VisitExpr(a), VisitExpr(b));
}

std::string SmtScript::Binary(const tir::BinaryExpr& expr) {
  if (!expr.a->dtype.is_integer() || !expr.a->dtype.is_scalar()) return Unknown(expr.dtype);
  const std::string a = VisitExpr(expr.a);
  const std::string b = VisitExpr(expr.b);
  if (expr.kind >= NodeKind::kDiv && expr.kind <= NodeKind::kFloorMod) return Quotient(expr, a, b);
  switch (expr.kind) {
    case NodeKind::kAdd: return fmt::format("(+ {} {})", a, b);
    case NodeKind::kSub: return fmt::format("(- {} {})", a, b);
    case NodeKind::kMul: return fmt::format("(* {} {})", a, b);
    case NodeKind::kMin: return fmt::format("(ite (<= {0} {1}) {0} {1})", a, b);
    case NodeKind::kMax: return fmt::format("(ite (>= {0} {1}) {0} {1})", a, b);
    case NodeKind::kEQ: return fmt::format("(= {} {})", a, b);
    case NodeKind::kNE: return fmt::format("(not (= {} {}))", a, b);
    case NodeKind::kLT: return fmt::format("(< {} {})", a, b);
    case NodeKind::kLE: return fmt::format("(<= {} {})", a, b);
    case NodeKind::kGT: return fmt::format("(> {} {})", a, b);
    case NodeKind::kGE: return fmt::format("(>= {} {})", a, b);
    case NodeKind::kAnd: return fmt::format("(and {} {})", a, b);
    case NodeKind::kOr: return fmt::format("(or {} {})", a, b);
    default: return Unknown(expr.dtype);
  }
}

}  // namespace iropt::arith
