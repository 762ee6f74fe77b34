#include "iropt/analysis/tir/computations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "iropt/arith/side_effect.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

bool IsLeaf(const PrimExpr* e) {
  return tir::Var::ClassOf(e->kind) || e->kind == NodeKind::kIntImm || e->kind == NodeKind::kFloatImm ||
         e->kind == NodeKind::kPrimStringImm;
}

class OperandVisitor : public tir::ExprVisitor {
 public:
  explicit OperandVisitor(FunctionRef<void(const PrimExpr*)> f) : f_(f) {}
  void Of(const PrimExpr* expr) { ExprVisitor::VisitExpr(expr); }
  void VisitExpr(const PrimExpr* expr) override { f_(expr); }

 private:
  FunctionRef<void(const PrimExpr*)> f_;
};

// Calls f for the expressions and g for the statements directly in a statement.
template <class F, class G>
void ForEachPart(const tir::Stmt* stmt, const F& f, const G& g) {
  class Parts : public tir::StmtExprVisitor {
   public:
    Parts(const F& on_expr, const G& on_stmt) : f_(on_expr), g_(on_stmt) {}
    void Of(const tir::Stmt* s) { StmtExprVisitor::VisitStmt(s); }
    void VisitExpr(const PrimExpr* e) override { f_(e); }
    void VisitStmt(const tir::Stmt* s) override { g_(s); }

   protected:
    void VisitBufferDef(const tir::Buffer*) override {}
    void VisitAttr(const Attr*) override {}
    void VisitAttrStmt(const tir::AttrStmt* s) override {
      f_(s->value);
      g_(s->body);
    }

   private:
    const F& f_;
    const G& g_;
  };
  Parts(f, g).Of(stmt);
}

std::string_view InfixOperator(NodeKind kind) {
  switch (kind) {
    case NodeKind::kAdd: return " + ";
    case NodeKind::kSub: return " - ";
    case NodeKind::kMul: return "*";
    case NodeKind::kDiv: return "/";
    case NodeKind::kMod: return " % ";
    case NodeKind::kEQ: return " == ";
    case NodeKind::kNE: return " != ";
    case NodeKind::kLT: return " < ";
    case NodeKind::kLE: return " <= ";
    case NodeKind::kGT: return " > ";
    case NodeKind::kGE: return " >= ";
    case NodeKind::kAnd: return " && ";
    case NodeKind::kOr: return " || ";
    default: return {};
  }
}

std::string_view FunctionWord(NodeKind kind) {
  switch (kind) {
    case NodeKind::kMin: return "min";
    case NodeKind::kMax: return "max";
    case NodeKind::kFloorDiv: return "floordiv";
    case NodeKind::kFloorMod: return "floormod";
    default: return "select";
  }
}

// TVM's text of an expression for internal purposes, by which computations of one size are ordered.
void Print(const PrimExpr* e, std::string& text) {
  WithStack([&] {
    if (const auto* var = As<tir::Var>(e)) {
      text += var->name;
    } else if (const int64_t* value = arith::AsInt(e)) {
      text +=
          e->dtype == DataType::Int(32) ? std::to_string(*value) : fmt::format("({}){}", e->dtype.ToString(), *value);
    } else if (const auto* real = As<tir::FloatImm>(e)) {
      text += fmt::format("{:g}", real->value);
      if (e->dtype.bits < 64) text += e->dtype.bits == 32 ? 'f' : 'h';
    } else {
      const auto* binary = As<tir::BinaryExpr>(e);
      const std::string_view infix = InfixOperator(e->kind);
      if (const auto* cast = As<tir::Cast>(e)) text += cast->dtype.ToString();
      if (Is<tir::Not>(e)) text += '!';
      if ((binary && infix.empty()) || Is<tir::Select>(e)) text += FunctionWord(e->kind);
      if (!Is<tir::Not>(e)) text += '(';
      bool first = true;
      ForEachOperand(e, [&](const PrimExpr* operand) {
        if (!first) text += infix.empty() ? ", " : infix;
        first = false;
        Print(operand, text);
      });
      if (!Is<tir::Not>(e)) text += ')';
    }
  });
}

std::string TextOf(const PrimExpr* e) {
  std::string text;
  Print(e, text);
  return text;
}

}  // namespace

void ForEachOperand(const PrimExpr* expr, FunctionRef<void(const PrimExpr*)> f) { OperandVisitor(f).Of(expr); }

void ForEachOperand(const PrimExpr* expr, bool guarded, FunctionRef<void(const PrimExpr*, bool)> f) {
  const bool chooses =
      Is<tir::And>(expr) || Is<tir::Or>(expr) || Is<tir::Select>(expr) || CallOf(expr, op::kTirIfThenElse);
  bool is_first = true;
  ForEachOperand(expr, [&](const PrimExpr* operand) {
    f(operand, guarded || (chooses && !is_first));
    is_first = false;
  });
}

bool MayBeUndefined(const PrimExpr* expr) {
  if (const auto* cast = As<tir::Cast>(expr))
    return cast->value->dtype.is_floating() && cast->dtype.is_integer() && !cast->dtype.is_bool();
  if (expr->kind < NodeKind::kDiv || expr->kind > NodeKind::kFloorMod || !expr->dtype.is_integer()) return false;
  const int64_t* divisor = arith::AsInt(static_cast<const tir::BinaryExpr*>(expr)->b);
  return !divisor || *divisor == 0;
}

// ---- Facts

ComputationFacts::ComputationFacts(Workspace& workspace, bool equivalent, ComputationCalls calls) : calls_(calls) {
  if (!equivalent) return;
  analyzer_ = std::make_unique<arith::Analyzer>(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny);
}

const PrimExpr* ComputationFacts::Key(const PrimExpr* e) {
  if (!analyzer_) return e;
  const auto [key, is_new] = keys_.try_emplace(e, nullptr);
  if (is_new) key = analyzer_->Simplify(e);
  return key;
}

const ComputationFacts::Facts& ComputationFacts::Of(const PrimExpr* e) {
  if (const Facts* known = facts_.Find(e)) return *known;
  return WithStack([&]() -> const Facts& {
    Facts facts;
    facts.hash = HashCombine(static_cast<size_t>(e->kind), e->dtype.raw());
    const auto add = [&](uint64_t value) { facts.hash = HashCombine(facts.hash, value); };
    if (tir::Var::ClassOf(e->kind)) {
      add(reinterpret_cast<uintptr_t>(e));
    } else if (const int64_t* value = arith::AsInt(e)) {
      add(static_cast<uint64_t>(*value));
    } else if (const auto* real = As<tir::FloatImm>(e)) {
      add(std::bit_cast<uint64_t>(real->value));
    }
    // Expressions that bind are never equal to others.
    const bool is_fixed_call = Is<tir::Call>(e) && (calls_ == ComputationCalls::kNone || !arith::IsPure(e));
    facts.movable = !is_fixed_call && !Is<tir::BufferLoad>(e) && !Is<tir::ProducerLoad>(e) && !Is<tir::Let>(e) &&
                    !Is<tir::Reduce>(e);
    ForEachOperand(e, [&](const PrimExpr* operand) {
      const Facts& part = Of(operand);
      facts.size += part.size;
      facts.movable = facts.movable && part.movable;
      facts.can_fail = facts.can_fail || part.can_fail;
      add(part.hash);
    });
    facts.can_fail = facts.can_fail || MayBeUndefined(e);
    facts.eligible = facts.movable && !IsLeaf(e) && !Is<tir::Ramp>(e) && !Is<tir::Broadcast>(e);
    return facts_.try_emplace(e, facts).first;
  });
}

// ---- Tables

void ComputationTable::Add(const PrimExpr* expr, size_t count) {
  const auto [index, is_new] = index_.try_emplace(facts_.Key(expr), entries_.size());
  if (is_new) {
    entries_.push_back({expr, count});
    return;
  }
  Entry& entry = entries_[index];
  entry.count += count;
  if (!DeepEqual(entry.expr, expr) && TextOf(expr) < TextOf(entry.expr)) entry.expr = expr;
}

void ComputationTable::AddCommon(std::initializer_list<const ComputationTable*> parts) {
  ComputationTable all(facts_, prefix_);
  std::vector<int> parts_with;
  for (const ComputationTable* part : parts) {
    for (const Entry& entry : part->entries_) {
      all.Add(entry.expr, entry.count);
      parts_with.resize(all.entries_.size());
      ++parts_with[all.index_.at(facts_.Key(entry.expr))];
    }
  }
  for (size_t i = 0; i < all.entries_.size(); ++i) {
    if (parts_with[i] >= 2) Add(all.entries_[i].expr, all.entries_[i].count);
  }
}

void ComputationTable::Collect(const PrimExpr* expr, bool guarded) {
  if (IsLeaf(expr)) return;
  if (facts_.IsEligible(expr) && !(guarded && facts_.CanFail(expr))) return Add(expr, 1);
  WithStack(
      [&] { ForEachOperand(expr, guarded, [this](const PrimExpr* operand, bool inner) { Collect(operand, inner); }); });
}

void ComputationTable::Collect(const tir::Stmt* stmt, bool guarded) {
  if (prefix_.Ends(stmt)) return;
  WithStack([&] {
    const bool splits = Is<tir::For>(stmt) || Is<tir::IfThenElse>(stmt) || Is<tir::While>(stmt);
    if (!splits) {
      ForEachPart(
          stmt, [&](const PrimExpr* e) { Collect(e, guarded); }, [&](const tir::Stmt* s) { Collect(s, guarded); });
      return;
    }
    std::array<ComputationTable, 3> parts{ComputationTable(facts_, prefix_), ComputationTable(facts_, prefix_),
                                          ComputationTable(facts_, prefix_)};
    if (const auto* loop = As<tir::For>(stmt)) {
      parts[0].Collect(loop->min, guarded);
      parts[1].Collect(loop->extent, guarded);
      // Most loops have constant bounds, and their bodies are not looked at from outside.
      if (!parts[0].empty() || !parts[1].empty()) parts[2].Collect(loop->body, guarded);
    } else if (const auto* branch = As<tir::IfThenElse>(stmt)) {
      parts[0].Collect(branch->condition, guarded);
      if (!parts[0].empty() || branch->else_case) parts[1].Collect(branch->then_case, guarded);
      if (branch->else_case) parts[2].Collect(branch->else_case, guarded);
    } else {
      const auto* repeat = static_cast<const tir::While*>(stmt);
      parts[0].Collect(repeat->condition, guarded);
      if (!parts[0].empty()) parts[1].Collect(repeat->body, guarded);
    }
    AddCommon({&parts[0], &parts[1], &parts[2]});
  });
}

// ---- Repeated parts

bool Prefix::Ends(const tir::Stmt* stmt) const {
  const auto* let = parts_ ? As<tir::LetStmt>(stmt) : nullptr;
  return let && parts_->Number(let->var) > last_;
}

RepeatedParts::RepeatedParts(const tir::Stmt* stmt, ComputationFacts& facts)
    : facts_(facts), counts_(ComputationHash{&facts}) {
  Count(stmt);
}

size_t RepeatedParts::Number(const tir::Var* var) const { return numbers_.Lookup(var); }

size_t RepeatedParts::LastPlace(const PrimExpr* computation) const {
  const Occurrences* found = counts_.Find(facts_.Key(computation));
  return !found || found->count < 2 ? 0 : found->last;
}

size_t RepeatedParts::LastUse(const tir::Var* var) const {
  const Uses* uses = uses_.Find(var);
  if (!uses) return 0;
  size_t last = uses->last;
  // Computations that are the same may be without the variable.
  LookupSet<const PrimExpr*> seen;
  const auto visit = [&](const auto& self, const PrimExpr* expr) -> void {
    if (IsLeaf(expr) || !seen.insert(expr)) return;
    last = std::max(last, LastPlace(expr));
    WithStack([&] { ForEachOperand(expr, [&](const PrimExpr* operand) { self(self, operand); }); });
  };
  for (const PrimExpr* expr : uses->outermost) visit(visit, expr);
  return last;
}

size_t RepeatedParts::Add(const PrimExpr* expr, size_t place) {
  place_ = place;
  size_t last = 0;
  // Nodes that were visited before were in the expression that is replaced, and counted there.
  const auto visit = [&](const auto& self, const PrimExpr* e, const PrimExpr* outermost) -> void {
    if (IsLeaf(e) || (!facts_.has_equivalent() && visits_.contains(e))) return;
    Visits& visits = visits_[e];
    if (visits.count >= 2 && visits.place == place_) return;
    visits = {visits.count + 1, place_};
    if (facts_.IsMovable(e)) {
      if (!outermost) outermost = e;
      const Occurrences& same = CountComputation(e, outermost);
      if (same.count >= 2) last = std::max(last, same.last);
    }
    WithStack([&] { ForEachOperand(e, [&](const PrimExpr* operand) { self(self, operand, outermost); }); });
  };
  visit(visit, expr, nullptr);
  return last;
}

void RepeatedParts::Count(const tir::Stmt* stmt) {
  if (const auto* let = As<tir::LetStmt>(stmt)) numbers_.try_emplace(let->var, ++place_);
  WithStack([&] {
    ForEachPart(
        stmt, [this](const PrimExpr* e) { Count(e, nullptr); }, [this](const tir::Stmt* s) { Count(s); });
  });
}

// Beyond the second visit at a place of a node that has several parents, nothing changes.
void RepeatedParts::Count(const PrimExpr* expr, const PrimExpr* outermost) {
  if (IsLeaf(expr)) return;
  Visits& visits = visits_[expr];
  if (visits.count >= 2 && visits.place == place_) return;
  visits = {visits.count + 1, place_};
  if (facts_.IsMovable(expr)) {
    if (!outermost) outermost = expr;
    CountComputation(expr, outermost);
  }
  WithStack([&] { ForEachOperand(expr, [&](const PrimExpr* operand) { Count(operand, outermost); }); });
}

const RepeatedParts::Occurrences& RepeatedParts::CountComputation(const PrimExpr* expr, const PrimExpr* outermost) {
  Occurrences& same = counts_[facts_.Key(expr)];
  ++same.count;
  same.last = std::max(same.last, place_);
  ForEachOperand(expr, [&](const PrimExpr* operand) {
    if (!tir::Var::ClassOf(operand->kind)) return;
    Uses& uses = uses_[static_cast<const tir::Var*>(operand)];
    if (same.count >= 2) uses.last = std::max(uses.last, same.last);
    if (facts_.has_equivalent() && (uses.outermost.empty() || uses.outermost.back() != outermost))
      uses.outermost.push_back(outermost);
  });
  return same;
}

// ---- Order

std::vector<ComputationTable::Entry> ComputationTable::Sorted() const {
  struct Sortable {
    Entry entry;
    size_t size;
    std::string text;
  };
  std::vector<Sortable> items;
  items.reserve(entries_.size());
  for (const Entry& entry : entries_) items.push_back({entry, facts_.Size(entry.expr), {}});
  std::ranges::stable_sort(items, std::greater(), &Sortable::size);
  for (auto begin = items.begin(); begin != items.end();) {
    const auto end = std::find_if(begin, items.end(), [&](const Sortable& item) { return item.size != begin->size; });
    if (end - begin > 1) {
      for (auto it = begin; it != end; ++it) it->text = TextOf(it->entry.expr);
      std::stable_sort(begin, end, [](const Sortable& a, const Sortable& b) { return a.text < b.text; });
    }
    begin = end;
  }
  std::vector<Entry> sorted;
  sorted.reserve(items.size());
  for (const Sortable& item : items) sorted.push_back(item.entry);
  return sorted;
}

}  // namespace iropt
