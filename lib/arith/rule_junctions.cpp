// Conjunctions and disjunctions of RuleSimplifier.
#include <algorithm>
#include <deque>
#include <vector>

#include "iropt/arith/side_effect.h"
#include "iropt/ir/structural.h"
#include "iropt/support/stack.h"
#include "map_operands.h"
#include "simplifier.h"

namespace iropt::arith {
namespace {

// The operands of nested operations of one kind, from left to right. Stops where there are more than `most`.
void CollectOperands(const PrimExpr* e, NodeKind kind, size_t most, std::vector<const PrimExpr*>& operands) {
  if (operands.size() > most) return;
  if (e->kind != kind) return operands.push_back(e);
  const auto* both = static_cast<const tir::BinaryExpr*>(e);
  WithStack([&] {
    CollectOperands(both->a, kind, most, operands);
    CollectOperands(both->b, kind, most, operands);
  });
}

// Returns whether the conjunctions and disjunctions at the top of the condition are at most this many.
bool HasAtMostJunctions(const PrimExpr* e, size_t most) {
  std::vector<const PrimExpr*> pending = {e};
  for (size_t count = 0; !pending.empty();) {
    const PrimExpr* next = pending.back();
    pending.pop_back();
    if (next->kind != NodeKind::kAnd && next->kind != NodeKind::kOr) continue;
    if (++count > most) return false;
    const auto* both = static_cast<const tir::BinaryExpr*>(next);
    pending.insert(pending.end(), {both->a, both->b});
  }
  return true;
}

}  // namespace

bool IsBigCondition(const PrimExpr* e) {
  constexpr size_t kMostJunctions = 24;
  return !HasAtMostJunctions(e, kMostJunctions);
}

// An operand of a conjunction is only of interest where all others hold, one of a disjunction where none does. An
// operand may profit from a change of the others, so each is visited up to twice. Where there are many of them, or many
// such expressions in each other, that would take too long: they are visited by themselves.
const PrimExpr* RuleSimplifier::VisitJunction(const tir::BinaryExpr* e) {
  constexpr size_t kMostOperands = 24;
  constexpr int kMostNested = 6;
  std::vector<const PrimExpr*> operands;
  CollectOperands(e, e->kind, kMostOperands, operands);
  if (operands.size() > kMostOperands || nested_junctions_ >= kMostNested) {
    auto visit = [this](const PrimExpr* operand) { return Visit(operand); };
    return MapOperands(e, visit, make_);
  }
  ++nested_junctions_;
  bool changed = true;
  for (int round = 0; round < 2 && changed; ++round) {
    changed = false;
    for (size_t i = 0; i < operands.size(); ++i) {
      const PrimExpr* updated = VisitWhereOthersDecideNothing(e->kind, operands, i);
      changed = changed || !DeepEqual(updated, operands[i]);
      operands[i] = updated;
    }
  }
  --nested_junctions_;
  std::span<const PrimExpr* const> left = operands;
  return WithOperands(e, left);
}

// The operation with other operands, of which it takes its own. Those that are such operations are rewritten.
const PrimExpr* RuleSimplifier::WithOperands(const tir::BinaryExpr* e, std::span<const PrimExpr* const>& operands) {
  const auto next = [&](const PrimExpr* old) {
    if (old->kind == e->kind) return Rewrite(WithOperands(static_cast<const tir::BinaryExpr*>(old), operands));
    const PrimExpr* operand = operands.front();
    operands = operands.subspan(1);
    return operand;
  };
  const PrimExpr* a = next(e->a);
  const PrimExpr* b = next(e->b);
  return a == e->a && b == e->b ? e : make_.Binary(e->kind, a, b);
}

const PrimExpr* RuleSimplifier::VisitWhereOthersDecideNothing(NodeKind kind, std::span<const PrimExpr* const> operands,
                                                              size_t i) {
  // The others were visited, or will be: as constraints they need no such visits of their operands.
  const Analyzer::Extensions extensions = analyzer_.extensions();
  Analyzer::Extensions plain = extensions;
  plain.constrain_branches = false;
  plain.and_of_ors = false;
  analyzer_.set_extensions(plain);
  std::deque<Analyzer::Constraint> others;  // dropped from the last
  // From the first operand that may fail on, operands are evaluated only where this one was, and may rely on it: they
  // must not be what removes it.
  const auto may_fail = [this](const PrimExpr* operand) { return MayFail(operand, analyzer_.bounds()); };
  const auto end = std::find_if(operands.begin() + static_cast<ptrdiff_t>(i), operands.end(), may_fail);
  for (size_t j = 0; j < static_cast<size_t>(end - operands.begin()); ++j) {
    if (j == i) continue;
    const PrimExpr* other = kind == NodeKind::kOr ? Rewrite(make_.Not(operands[j])) : operands[j];
    others.emplace_back(analyzer_, other, /*within_expression=*/true);
  }
  analyzer_.set_extensions(extensions);
  const PrimExpr* updated = Visit(operands[i]);
  while (!others.empty()) others.pop_back();
  return updated;
}

}  // namespace iropt::arith
