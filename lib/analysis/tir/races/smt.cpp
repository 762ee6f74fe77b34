#include "analysis/tir/races/smt.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/arith/smt_solver.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::races {

namespace {

// Writes expressions as definitions, one for each node, so that shared operands stay shared.
class ScriptWriter : public tir::ExprFunctor<std::string(const PrimExpr*)> {
 public:
  std::string VisitExpr(const PrimExpr* expr) override {
    if (const std::string* known = names_.Find(expr)) return *known;
    std::string text = ExprFunctor::VisitExpr(expr);
    if (text.starts_with('(')) {
      const std::string name = fmt::format("e{}", num_definitions_++);
      fmt::format_to(std::back_inserter(script_), "(define-fun {} () {} {})\n", name, SortOf(expr->dtype), text);
      text = name;
    }
    names_[expr] = text;
    return text;
  }

  void Assert(const std::string& text) { fmt::format_to(std::back_inserter(script_), "(assert {})\n", text); }
  void AssertRange(const Variable& variable) {
    const std::string name = VisitExpr(variable.var);
    const std::string min = VisitExpr(variable.min);
    Assert(fmt::format("(<= {} {})", min, name));
    Assert(fmt::format("(< {} (+ {} {}))", name, min, VisitExpr(variable.extent)));
  }
  // The tuples are equal, or not.
  std::string Equal(const std::vector<const PrimExpr*>& a, const std::vector<const PrimExpr*>& b) {
    std::string all;
    for (size_t i = 0; i < a.size(); ++i) all += fmt::format(" (= {} {})", VisitExpr(a[i]), VisitExpr(b[i]));
    return all.empty() ? "true" : fmt::format("(and{})", all);
  }

  const std::string& script() const { return script_; }
  bool reads_memory() const { return reads_memory_; }
  bool has_other_operations() const { return has_other_operations_; }

 protected:
  std::string VisitDefault(const PrimExpr* expr) override {
    if (expr->kind >= NodeKind::kAdd && expr->kind <= NodeKind::kOr)
      return Binary(*static_cast<const tir::BinaryExpr*>(expr));
    return Unknown(expr->dtype);
  }
  std::string VisitVar(const tir::Var* var) override {
    std::string name = fmt::format("v{}", num_variables_++);
    fmt::format_to(std::back_inserter(script_), "(declare-fun {} () {})\n", name, SortOf(var->dtype));
    if (var->is_size_var() || var->context_owned()) Assert(fmt::format("(<= 0 {})", name));
    return name;
  }
  std::string VisitSizeVar(const tir::SizeVar* var) override { return VisitVar(var); }
  std::string VisitIntImm(const tir::IntImm* imm) override {
    if (imm->dtype.is_bool()) return imm->value != 0 ? "true" : "false";
    return Number(imm->value);
  }
  std::string VisitCast(const tir::Cast* cast) override {
    const DataType from = cast->value->dtype;
    if (!cast->dtype.is_integer() || !from.is_integer() || cast->dtype.is_bool()) return Unknown(cast->dtype);
    if (from.is_bool()) return fmt::format("(ite {} 1 0)", VisitExpr(cast->value));
    return cast->dtype.bits >= 32 ? VisitExpr(cast->value) : Unknown(cast->dtype);
  }
  std::string VisitNot(const tir::Not* expr) override { return fmt::format("(not {})", VisitExpr(expr->a)); }
  std::string VisitSelect(const tir::Select* expr) override {
    return Choice(expr->condition, expr->true_value, expr->false_value);
  }
  std::string VisitBufferLoad(const tir::BufferLoad* load) override {
    reads_memory_ = true;
    std::string& function = functions_[load->buffer];
    if (function.empty()) {
      function = fmt::format("f{}", num_functions_++);
      std::string sorts;
      for (size_t i = 0; i < load->indices.size(); ++i) sorts += " Int";
      fmt::format_to(std::back_inserter(script_), "(declare-fun {} ({}) {})\n", function, sorts, SortOf(load->dtype));
    }
    if (load->indices.empty()) return function;
    std::string text = "(" + function;
    for (const PrimExpr* index : load->indices) text += " " + VisitExpr(index);
    return text + ")";
  }
  std::string VisitCall(const tir::Call* call) override {
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

 private:
  static std::string_view SortOf(DataType dtype) { return dtype.is_bool() ? "Bool" : "Int"; }
  static std::string Number(int64_t value) {
    return value < 0 ? fmt::format("(- {})", 0 - static_cast<uint64_t>(value)) : fmt::format("{}", value);
  }

  // A value of its own for everything that has no form in integers.
  std::string Unknown(DataType dtype) {
    has_other_operations_ = true;
    std::string name = fmt::format("u{}", num_variables_++);
    fmt::format_to(std::back_inserter(script_), "(declare-fun {} () {})\n", name, SortOf(dtype));
    return name;
  }

  std::string Choice(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) {
    return fmt::format("(ite {} {} {})", VisitExpr(condition), VisitExpr(a), VisitExpr(b));
  }

  std::string Binary(const tir::BinaryExpr& expr) {
    if (!expr.a->dtype.is_integer() || !expr.a->dtype.is_scalar()) return Unknown(expr.dtype);
    const std::string a = VisitExpr(expr.a);
    const std::string b = VisitExpr(expr.b);
    const int64_t* divisor = arith::AsInt(expr.b);
    // The quotient of SMT-LIB is the floor for positive divisors.
    const auto floor_div = [&] {
      if (divisor && *divisor > 0) return fmt::format("(div {} {})", a, b);
      return fmt::format("(ite (> {1} 0) (div {0} {1}) (div (- {0}) (- {1})))", a, b);
    };
    const auto trunc_div = [&] {
      return fmt::format("(ite (= (>= {0} 0) (> {1} 0)) (div (abs {0}) (abs {1})) (- (div (abs {0}) (abs {1}))))", a,
                         b);
    };
    switch (expr.kind) {
      case NodeKind::kAdd: return fmt::format("(+ {} {})", a, b);
      case NodeKind::kSub: return fmt::format("(- {} {})", a, b);
      case NodeKind::kMul: return fmt::format("(* {} {})", a, b);
      case NodeKind::kDiv: return trunc_div();
      case NodeKind::kMod: return fmt::format("(- {} (* {} {}))", a, b, trunc_div());
      case NodeKind::kFloorDiv: return floor_div();
      case NodeKind::kFloorMod:
        return divisor && *divisor > 0 ? fmt::format("(mod {} {})", a, b)
                                       : fmt::format("(- {} (* {} {}))", a, b, floor_div());
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

  std::string script_;
  LookupMap<const PrimExpr*, std::string> names_;
  LookupMap<const tir::Buffer*, std::string> functions_;
  int num_definitions_ = 0;
  int num_variables_ = 0;
  int num_functions_ = 0;
  bool reads_memory_ = false;
  bool has_other_operations_ = false;  // that have no form in integers
};

void Write(const Query& query, ScriptWriter& writer) {
  for (const Variable& variable : query.common) writer.AssertRange(variable);
  for (const Side* side : {&query.first, &query.second}) {
    for (const Variable& variable : side->vars) writer.AssertRange(variable);
    for (const PrimExpr* guard : side->guards) writer.Assert(writer.VisitExpr(guard));
  }
  writer.Assert(writer.Equal(query.first.element, query.second.element));
  writer.Assert(fmt::format("(not {})", writer.Equal(query.first.actor, query.second.actor)));
  if (!query.first.value.empty())
    writer.Assert(fmt::format("(not {})", writer.Equal(query.first.value, query.second.value)));
}

// The values in an answer such as ((v0 3) (v1 (- 4))), in its order.
std::vector<int64_t> ReadValues(std::string_view text) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < text.size(); ++i) {
    // A number begins behind a blank; one in parentheses is negative.
    if (text[i] != ' ' || i + 1 == text.size()) continue;
    const bool is_negative = text.substr(i + 1).starts_with("(- ");
    const std::string_view digits = text.substr(i + (is_negative ? 4 : 1));
    if (digits.empty() || std::isdigit(static_cast<unsigned char>(digits[0])) == 0) continue;
    int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    values.push_back(is_negative ? -value : value);
    if (is_negative) i += 3;
  }
  return values;
}

void ReadAnswer(const Query& query, std::string_view text, Answer& answer) {
  const std::vector<int64_t> values = ReadValues(text);
  size_t next = 0;
  const auto take = [&](const std::vector<Variable>& vars, std::vector<std::pair<std::string, int64_t>>& to) {
    for (const Variable& variable : vars) {
      if (next < values.size()) to.emplace_back(variable.name, values[next++]);
    }
  };
  for (const tir::Var* size : query.sizes) {
    if (next < values.size()) answer.common.emplace_back(size->name, values[next++]);
  }
  take(query.common, answer.common);
  take(query.first.vars, answer.first);
  take(query.second.vars, answer.second);
}

}  // namespace

Result<Answer> SolveBySmt(const Query& query, uint64_t limit) {
  const Result<arith::SmtSolver>& solver = arith::SmtSolver::Get();
  if (!solver.ok()) return solver.error();
  ScriptWriter writer;
  Write(query, writer);
  const bool reads_memory = writer.reads_memory() || !query.first.loaded.empty() || !query.second.loaded.empty();
  const bool is_exact = !reads_memory && !writer.has_other_operations();
  std::string names;
  for (const tir::Var* size : query.sizes) names += writer.VisitExpr(size) + " ";
  for (const auto* vars : {&query.common, &query.first.vars, &query.second.vars}) {
    for (const Variable& variable : *vars) names += writer.VisitExpr(variable.var) + " ";
  }
  Answer answer = {.reads_memory = reads_memory, .has_other_operations = writer.has_other_operations()};
  solver->InSession([&](arith::SmtSolver::Eval eval) {
    const std::string result = eval(fmt::format("(set-option :rlimit {})\n{}(check-sat)\n", limit, writer.script()));
    if (result.starts_with("unsat")) answer.solution = Solution::kNone;
    if (!result.starts_with("sat")) return;
    answer.solution = is_exact ? Solution::kFound : Solution::kUnknown;
    ReadAnswer(query, eval(fmt::format("(get-value ({}))\n", names)), answer);
  });
  return answer;
}

}  // namespace iropt::races
