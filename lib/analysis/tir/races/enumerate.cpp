#include "analysis/tir/races/enumerate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
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

constexpr int64_t kMaxCommonValues = 256;
constexpr int64_t kMaxSizeValues = 16;

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

// The values of a number in the domains, of which the last one changes first.
void SetTo(const std::vector<Domain>& domains, int64_t number, Values& values) {
  for (size_t i = domains.size(); i-- > 0;) {
    values[i] = domains[i].min + number % domains[i].size();
    number /= domains[i].size();
  }
}

// What a side does for all values of its variables, found by the element: rows of the element, the actor and the value.
class Records {
 public:
  Records(const Code& code, const Values& common)
      : code_(code), width_(code.element.size() + code.actor.size() + code.value.size()) {
    columns_.resize(common.size() + code.domains.size());
    for (size_t i = 0; i < common.size(); ++i) columns_[i].fill(common[i]);
    num_common_ = common.size();
  }

  // Calls f(number, row) for all rows whose conditions hold, until it returns true.
  template <class F>
  void FindAll(F&& f) {
    Values values(code_.domains.size());
    std::vector<int64_t> rows(width_ * Program::kRuns);
    for (int64_t begin = 0; begin < code_.count; begin += Program::kRuns) {
      const size_t size = static_cast<size_t>(std::min<int64_t>(Program::kRuns, code_.count - begin));
      SetTo(code_.domains, begin, values);
      for (size_t i = 0; i < size; ++i) {
        for (size_t v = 0; v < values.size(); ++v) columns_[num_common_ + v][i] = values[v];
        Advance(values);
      }
      std::array<bool, Program::kRuns> holds;
      holds.fill(true);
      for (const Program& guard : code_.guards) {
        const auto results = guard.Run(columns_, size, scratch_);
        for (size_t i = 0; i < size; ++i) holds[i] &= results[i] != 0;
      }
      size_t column = 0;
      for (const Programs* programs : {&code_.element, &code_.actor, &code_.value}) {
        for (const Program& program : *programs) {
          const auto results = program.Run(columns_, size, scratch_);
          for (size_t i = 0; i < size; ++i) rows[i * width_ + column] = results[i];
          ++column;
        }
      }
      for (size_t i = 0; i < size; ++i) {
        if (holds[i] && f(begin + static_cast<int64_t>(i), &rows[i * width_])) return;
      }
    }
  }

  void AddAll() {
    size_t size = 16;
    while (size < 2 * static_cast<size_t>(code_.count)) size *= 2;
    heads_.assign(size, kEnd);
    FindAll([&](int64_t number, const int64_t* row) {
      // Two actors for each value are enough: any other one differs from one of them.
      int num_alike = 0;
      AnyAt(row, [&](int64_t, const int64_t* other) {
        if (SameValue(other, row)) num_alike += SameActor(other, row) ? 2 : 1;
        return num_alike >= 2;
      });
      if (num_alike >= 2) return false;
      uint32_t& head = HeadOf(row);
      entries_.push_back({number, head});
      head = static_cast<uint32_t>(entries_.size() - 1);
      rows_.insert(rows_.end(), row, row + width_);
      return false;
    });
  }

  // Calls f(number, row) for the rows with the same element, until it returns true. Returns whether it did.
  template <class F>
  bool AnyAt(const int64_t* row, F&& f) {
    for (uint32_t i = HeadOf(row); i != kEnd; i = entries_[i].next) {
      const int64_t* other = &rows_[i * width_];
      if (std::equal(row, row + code_.element.size(), other) && f(entries_[i].number, other)) return true;
    }
    return false;
  }
  bool SameActor(const int64_t* a, const int64_t* b) const {
    return Same(a, b, code_.element.size(), code_.actor.size());
  }
  bool SameValue(const int64_t* a, const int64_t* b) const {
    return Same(a, b, code_.element.size() + code_.actor.size(), code_.value.size());
  }

 private:
  static constexpr uint32_t kEnd = 0xffffffff;
  struct Entry {
    int64_t number;
    uint32_t next;
  };

  static bool Same(const int64_t* a, const int64_t* b, size_t begin, size_t size) {
    return std::equal(a + begin, a + begin + size, b + begin);
  }
  void Advance(Values& values) const {
    for (size_t v = values.size(); v-- > 0;) {
      if (values[v]++ != code_.domains[v].max) return;
      values[v] = code_.domains[v].min;
    }
  }
  uint32_t& HeadOf(const int64_t* row) {
    uint64_t hash = 0;
    for (size_t i = 0; i < code_.element.size(); ++i)
      hash = (hash ^ static_cast<uint64_t>(row[i])) * 0x9e3779b97f4a7c15;
    return heads_[(hash >> 32) & (heads_.size() - 1)];
  }

  const Code& code_;
  const size_t width_;
  size_t num_common_ = 0;
  Program::Columns columns_, scratch_;
  std::vector<uint32_t> heads_;
  std::vector<Entry> entries_;
  std::vector<int64_t> rows_;
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

  Answer Search(const Code (&code)[2], bool actors_differ, bool values_differ) {
    int64_t num_common = 1;
    for (const Domain& domain : common_domains_) num_common *= domain.size();
    const int64_t cost = num_common * (code[0].count + code[1].count);
    if (cost > static_cast<int64_t>(budget_)) return {};
    budget_ -= static_cast<size_t>(cost);
    Answer answer = {.solution = Solution::kNone};
    Values common(common_.size());
    for (int64_t i = 0; i < num_common && answer.solution == Solution::kNone; ++i) {
      SetTo(common_domains_, i, common);
      Records first(code[0], common);
      first.AddAll();
      Records second(code[1], common);
      second.FindAll([&](int64_t number, const int64_t* record) {
        return first.AnyAt(record, [&](int64_t other_number, const int64_t* other) {
          if ((!actors_differ && first.SameActor(other, record)) || (!values_differ && first.SameValue(other, record)))
            return false;
          answer = {.solution = is_exact_ ? Solution::kFound : Solution::kUnknown};
          Describe(common, code, other_number, number, answer);
          return true;
        });
      });
    }
    return answer;
  }

  void Describe(const Values& common, const Code (&code)[2], int64_t first, int64_t second, Answer& answer) const {
    const auto add = [](const auto& variables, const Values& values, auto& to) {
      for (size_t i = 0; i < values.size(); ++i) to.emplace_back(variables[i].name, values[i]);
    };
    for (size_t i = 0; i < common_.size(); ++i) answer.common.emplace_back(common_[i]->name, common[i]);
    Values values(query_.first.vars.size());
    SetTo(code[0].domains, first, values);
    add(query_.first.vars, values, answer.first);
    values.resize(query_.second.vars.size());
    SetTo(code[1].domains, second, values);
    add(query_.second.vars, values, answer.second);
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

Answer SolveForSmallSizes(const Query& query, Workspace& workspace, size_t& budget) {
  if (query.sizes.empty() || query.sizes.size() > 4) return {};
  int64_t greatest = 1;
  const auto num_values = [&](int64_t size) {
    int64_t count = 1;
    for (size_t i = 0; i < query.sizes.size(); ++i) count *= size;
    return count;
  };
  while (num_values(greatest + 1) <= kMaxSizeValues) ++greatest;
  const arith::PrimBuilder make(workspace);
  Query bounded = query;
  std::vector<Variable> sizes;
  for (const tir::Var* size : query.sizes)
    sizes.push_back({size, make.Const(1, size->dtype), make.Const(greatest, size->dtype), size->name});
  bounded.common.insert(bounded.common.begin(), sizes.begin(), sizes.end());
  Answer answer = SolveByEnumeration(bounded, workspace, budget);
  if (answer.solution == Solution::kNone) answer = {};
  return answer;
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
