#include "analysis/tir/races/enumerate.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/tir/races/program.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt::races {

namespace {

constexpr int64_t kMaxCommonValues = 64;

struct Domain {
  int64_t min;
  int64_t max;
  int64_t size() const { return max < min ? 0 : max - min + 1; }
};

using Programs = std::vector<Program>;
using Values = std::vector<int64_t>;

// A side that can be run. The slots are those of the common variables, then those of its own ones.
struct Code {
  Programs guards, element, actor, value;
  std::vector<Domain> domains;  // of its own variables
  int64_t count = 1;            // of their values
};

// The parts of a sum.
void SplitSum(const PrimExpr* expr, bool is_negative, std::vector<std::pair<const PrimExpr*, bool>>& terms) {
  const auto* binary = As<tir::BinaryExpr>(expr);
  if (binary && (expr->kind == NodeKind::kAdd || expr->kind == NodeKind::kSub)) {
    SplitSum(binary->a, is_negative, terms);
    SplitSum(binary->b, is_negative != (expr->kind == NodeKind::kSub), terms);
  } else {
    terms.emplace_back(expr, is_negative);
  }
}

class Enumeration {
 public:
  Enumeration(const Query& query, Workspace& workspace, size_t& budget)
      : query_(query), analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny), budget_(budget) {}

  Answer Solve() {
    for (const Variable& variable : query_.common) analyzer_.Bind(variable.var, variable.min, variable.extent);
    for (const Side* side : {&query_.first, &query_.second}) {
      for (const Variable& variable : side->vars) analyzer_.Bind(variable.var, variable.min, variable.extent);
    }
    Answer answer = SolveWith(/*common=*/false);
    if (answer.solution == Solution::kUnknown && !query_.common.empty()) answer = SolveWith(/*common=*/true);
    return answer;
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  Answer SolveWith(bool common) {
    is_exact_ = true;
    common_.clear();
    common_domains_.clear();
    Slots slots;
    if (common && !ChooseCommon(slots)) return {};
    Slots slots_of[] = {slots, slots};
    Code code[2];
    const Side* sides[] = {&query_.first, &query_.second};
    for (int i = 0; i < 2; ++i) {
      if (!AddVariables(*sides[i], slots_of[i], code[i])) return {};
      CompileGuards(*sides[i], slots_of[i], code[i]);
    }
    CompileTuple(&Side::element, slots_of, code, &Code::element);
    const bool actors_differ = !CompileTuple(&Side::actor, slots_of, code, &Code::actor);
    const bool values_differ = !CompileTuple(&Side::value, slots_of, code, &Code::value) || query_.first.value.empty();
    if (code[0].actor.empty() && !actors_differ) return {.solution = Solution::kNone};
    if (code[0].value.empty() && !values_differ) return {.solution = Solution::kNone};
    return Search(code, actors_differ, values_differ);
  }

  // Gives slots to the common variables of few values. Returns false if there are no such variables.
  bool ChooseCommon(Slots& slots) {
    int64_t count = 1;
    for (const Variable& variable : query_.common) {
      const std::optional<Domain> domain = DomainOf(variable);
      if (!domain || domain->size() > kMaxCommonValues / count) continue;
      count *= std::max<int64_t>(1, domain->size());
      slots[variable.var] = static_cast<uint32_t>(common_.size());
      common_.push_back(&variable);
      common_domains_.push_back(*domain);
    }
    return !common_.empty();
  }

  std::optional<Domain> DomainOf(const Variable& variable) {
    const arith::IntBound bound = analyzer_.Bound(variable.var);
    if (bound.min == arith::IntBound::kNegInf || bound.max == arith::IntBound::kPosInf) return {};
    return Domain{bound.min, bound.max};
  }

  // Variables that nothing depends on need one value only.
  bool AddVariables(const Side& side, Slots& slots, Code& code) {
    const auto is_used = [&](const Variable& variable) {
      const auto in = [&](const std::vector<const PrimExpr*>& list) {
        return std::ranges::any_of(list, [&](const PrimExpr* expr) { return tir::UsesVar(expr, variable.var); });
      };
      const auto in_range = [&](const Variable& other) {
        return tir::UsesVar(other.min, variable.var) || tir::UsesVar(other.extent, variable.var);
      };
      return in(side.guards) || in(side.element) || in(side.actor) || in(side.value) ||
             std::ranges::any_of(side.vars, in_range);
    };
    for (const Variable& variable : side.vars) {
      std::optional<Domain> domain = DomainOf(variable);
      const bool used = is_used(variable);
      if (!domain && used) return false;
      if (!domain || !used) domain = {0, 0};
      slots[variable.var] = static_cast<uint32_t>(common_.size() + code.domains.size());
      code.domains.push_back(*domain);
      if (domain->size() == 0) code.count = 0;
      if (domain->size() != 0 && code.count > static_cast<int64_t>(budget_) / domain->size()) return false;
      code.count *= domain->size();
    }
    return true;
  }

  void CompileGuards(const Side& side, const Slots& slots, Code& code) {
    const auto add = [&](const PrimExpr* guard) {
      std::optional<Program> program = Program::Of(guard, slots);
      is_exact_ &= program.has_value();
      if (program) code.guards.push_back(std::move(*program));
    };
    for (const PrimExpr* guard : side.guards) add(guard);
    const auto add_range = [&](const Variable& variable) {
      if (arith::AsInt(variable.min) && arith::AsInt(variable.extent)) return;
      add(make().Binary(NodeKind::kGE, variable.var, variable.min));
      add(make().Binary(NodeKind::kLT, variable.var, make().Add(variable.min, variable.extent)));
    };
    for (const Variable& variable : side.vars) add_range(variable);
    for (const Variable* variable : common_) add_range(*variable);
  }

  // Compiles the pairs of components of which the first sides differ from the second ones only by what can be computed;
  // returns false if others remain.
  bool CompileTuple(std::vector<const PrimExpr*> Side::*list, const Slots (&slots)[2], Code (&code)[2],
                    Programs Code::*programs) {
    bool is_complete = true;
    for (size_t i = 0; i < (query_.first.*list).size(); ++i) {
      const PrimExpr* exprs[] = {(query_.first.*list)[i], (query_.second.*list)[i]};
      std::optional<Program> compiled[] = {Program::Of(exprs[0], slots[0]), Program::Of(exprs[1], slots[1])};
      if (!compiled[0] || !compiled[1]) {
        if (exprs[0] == exprs[1]) continue;
        const PrimExpr* rests[2];
        for (int side = 0; side < 2; ++side) compiled[side] = CompileTerms(exprs[side], slots[side], rests[side]);
        if (!compiled[0] || !compiled[1] || !analyzer_.CanProveEqual(rests[0], rests[1])) {
          is_complete = false;
          is_exact_ = false;
          continue;
        }
      }
      for (int side = 0; side < 2; ++side) (code[side].*programs).push_back(std::move(*compiled[side]));
    }
    return is_complete;
  }

  // Compiles the terms that can be computed, and sums up the others.
  std::optional<Program> CompileTerms(const PrimExpr* expr, const Slots& slots, const PrimExpr*& rest) {
    if (!expr->dtype.is_integer() || expr->dtype.is_bool()) return {};
    std::vector<std::pair<const PrimExpr*, bool>> terms;
    SplitSum(analyzer_.Simplify(expr), false, terms);
    const PrimExpr* sum = make().Const(0, expr->dtype);
    rest = sum;
    for (const auto& [term, is_negative] : terms) {
      const bool is_known = Program::Of(term, slots).has_value();
      const PrimExpr*& target = is_known ? sum : rest;
      target = is_negative ? make().Sub(target, term) : make().Add(target, term);
    }
    return Program::Of(sum, slots);
  }

  struct Record {
    Values actor, value, variables;
  };
  using Table = LookupMap<Values, std::vector<Record>>;

  Answer Search(const Code (&code)[2], bool actors_differ, bool values_differ) {
    int64_t num_common = 1;
    for (const Domain& domain : common_domains_) num_common *= domain.size();
    const int64_t cost = num_common * (code[0].count + code[1].count);
    if (cost > static_cast<int64_t>(budget_)) return {};
    budget_ -= static_cast<size_t>(cost);
    const auto differ = [&](const Record& a, const Record& b) {
      return (actors_differ || a.actor != b.actor) && (values_differ || a.value != b.value);
    };
    Answer answer = {.solution = Solution::kNone};
    Values values(common_.size());
    ForEach(common_domains_, values, 0, [&] {
      Table table;
      ForEachRecord(code[0], values, [&](const Values& element, Record record) {
        std::vector<Record>& records = table[element];
        // Two actors for each value are enough: any other one differs from one of them.
        int num_alike = 0;
        for (const Record& other : records) {
          if (other.value == record.value) num_alike += other.actor == record.actor ? 2 : 1;
        }
        if (num_alike < 2) records.push_back(std::move(record));
        return true;
      });
      ForEachRecord(code[1], values, [&](const Values& element, const Record& record) {
        const std::vector<Record>* others = table.Find(element);
        if (!others) return true;
        for (const Record& other : *others) {
          if (!differ(other, record)) continue;
          answer = {.solution = is_exact_ ? Solution::kFound : Solution::kUnknown};
          Describe(values, other, record, answer);
          return false;
        }
        return true;
      });
      return answer.solution == Solution::kNone;
    });
    return answer;
  }

  // Calls f for all values in the domains from `at` on, until it returns false.
  template <class F>
  static bool ForEach(const std::vector<Domain>& domains, Values& values, size_t offset, F&& f) {
    for (size_t i = 0; i < domains.size(); ++i) {
      if (domains[i].size() == 0) return true;
      values[offset + i] = domains[i].min;
    }
    while (true) {
      if (!f()) return false;
      size_t i = domains.size();
      while (i > 0 && values[offset + i - 1] == domains[i - 1].max) {
        values[offset + i - 1] = domains[i - 1].min;
        --i;
      }
      if (i == 0) return true;
      ++values[offset + i - 1];
    }
  }

  template <class F>
  static void ForEachRecord(const Code& code, const Values& common, F&& f) {
    Values values = common;
    values.resize(common.size() + code.domains.size());
    Values scratch;
    const auto run = [&](const Programs& programs) {
      Values results;
      for (const Program& program : programs) results.push_back(program.Run(values, scratch));
      return results;
    };
    ForEach(code.domains, values, common.size(), [&] {
      for (const Program& guard : code.guards) {
        if (guard.Run(values, scratch) == 0) return true;
      }
      const auto own = std::span(values).subspan(common.size());
      return f(run(code.element), Record{run(code.actor), run(code.value), {own.begin(), own.end()}});
    });
  }

  void Describe(const Values& common, const Record& first, const Record& second, Answer& answer) const {
    for (size_t i = 0; i < common_.size(); ++i) answer.common.emplace_back(common_[i]->name, common[i]);
    for (size_t i = 0; i < query_.first.vars.size(); ++i)
      answer.first.emplace_back(query_.first.vars[i].name, first.variables[i]);
    for (size_t i = 0; i < query_.second.vars.size(); ++i)
      answer.second.emplace_back(query_.second.vars[i].name, second.variables[i]);
  }

  const Query& query_;
  arith::Analyzer analyzer_;
  size_t& budget_;
  bool is_exact_ = true;  // what is found is a solution
  std::vector<const Variable*> common_;
  std::vector<Domain> common_domains_;
};

}  // namespace

Answer SolveByEnumeration(const Query& query, Workspace& workspace, size_t& budget) {
  return Enumeration(query, workspace, budget).Solve();
}

bool IsInjective(const Side& side, Workspace& workspace) {
  arith::Analyzer analyzer(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny);
  arith::IterRanges iters;
  for (const Variable& variable : side.vars) {
    const auto uses = [&](const PrimExpr* expr) { return tir::UsesVar(expr, variable.var); };
    if (!std::ranges::any_of(side.element, uses) && !std::ranges::any_of(side.actor, uses)) continue;
    iters.try_emplace(variable.var, tir::Range(variable.min, variable.extent));
    analyzer.Bind(variable.var, variable.min, variable.extent);
  }
  // What depends on other variables of the side may hold for one of two values only.
  const auto is_of_others = [&](const tir::Var* var) {
    const bool is_own = std::ranges::find(side.vars, var, &Variable::var) != side.vars.end();
    return (is_own && !iters.contains(var)) || std::ranges::find(side.loaded, var) != side.loaded.end();
  };
  const PrimExpr* condition = nullptr;
  for (const PrimExpr* guard : side.guards) {
    if (tir::UsesVar(guard, is_of_others)) continue;
    condition = condition ? analyzer.make().Node(NodeKind::kAnd, condition, guard) : guard;
  }
  const auto map =
      arith::DetectIterMap(side.element, iters, condition, {.level = arith::IterMapLevel::kBijective}, analyzer);
  return map && map->is_exact && !map->padding_predicate;
}

}  // namespace iropt::races
