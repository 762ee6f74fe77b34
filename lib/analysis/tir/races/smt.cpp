#include "analysis/tir/races/smt.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/arith/smt_script.h"
#include "iropt/arith/smt_solver.h"

namespace iropt::races {

namespace {

// The tuples are equal, or not.
std::string Equal(const std::vector<const PrimExpr*>& a, const std::vector<const PrimExpr*>& b,
                  arith::SmtScript& writer) {
  std::string all;
  for (size_t i = 0; i < a.size(); ++i) all += fmt::format(" (= {} {})", writer.Write(a[i]), writer.Write(b[i]));
  return all.empty() ? "true" : fmt::format("(and{})", all);
}

void Write(const Query& query, arith::SmtScript& writer) {
  const auto assert_range = [&](const Variable& variable) {
    writer.AssertRange(variable.var, variable.min, variable.extent);
  };
  for (const Variable& variable : query.common) assert_range(variable);
  for (const Side* side : {&query.first, &query.second}) {
    for (const Variable& variable : side->vars) assert_range(variable);
    for (const PrimExpr* guard : side->guards) writer.Assert(writer.Write(guard));
  }
  writer.Assert(Equal(query.first.element, query.second.element, writer));
  writer.Assert(fmt::format("(not {})", Equal(query.first.actor, query.second.actor, writer)));
  if (!query.first.value.empty())
    writer.Assert(fmt::format("(not {})", Equal(query.first.value, query.second.value, writer)));
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
  arith::SmtScript writer;
  Write(query, writer);
  const bool reads_memory = writer.reads_memory() || !query.first.loaded.empty() || !query.second.loaded.empty();
  const bool is_exact = !reads_memory && !writer.has_other_operations();
  std::string names;
  for (const tir::Var* size : query.sizes) names += writer.Write(size) + " ";
  for (const auto* vars : {&query.common, &query.first.vars, &query.second.vars}) {
    for (const Variable& variable : *vars) names += writer.Write(variable.var) + " ";
  }
  Answer answer = {.reads_memory = reads_memory, .has_other_operations = writer.has_other_operations()};
  solver->InSession([&](arith::SmtSolver::Eval eval) {
    const std::string result = eval(fmt::format("(set-option :rlimit {})\n{}(check-sat)\n", limit, writer.text()));
    if (result.starts_with("unsat")) answer.solution = Solution::kNone;
    if (!result.starts_with("sat")) return;
    answer.solution = is_exact ? Solution::kFound : Solution::kUnknown;
    ReadAnswer(query, eval(fmt::format("(get-value ({}))\n", names)), answer);
  });
  return answer;
}

}  // namespace iropt::races
