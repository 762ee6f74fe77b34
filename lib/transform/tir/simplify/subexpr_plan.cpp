#include "transform/tir/simplify/subexpr_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <optional>
#include <utility>

#include "iropt/analysis/tir/computations.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// Equal expressions have equal keys: those of the operands are their numbers.
struct SubexprKey {
  NodeKind kind;
  uint64_t dtype;
  std::array<uint64_t, 3> parts;
  friend bool operator==(const SubexprKey&, const SubexprKey&) = default;
};

struct SubexprKeyHash {
  size_t operator()(const SubexprKey& key) const {
    uint64_t hash = static_cast<uint64_t>(key.kind) * 31 + key.dtype;
    for (const uint64_t part : key.parts) hash = (hash ^ part) * 0x9E3779B97F4A7C15U + (hash >> 29U);
    return static_cast<size_t>(hash);
  }
};

// Statements whose body is the rest of the sequence that they are in; elsewhere they are scopes.
bool IsNested(const tir::Stmt* stmt) {
  return Is<tir::LetStmt>(stmt) || Is<tir::Allocate>(stmt) || Is<tir::AllocateConst>(stmt) ||
         Is<tir::DeclBuffer>(stmt) || Is<tir::AssertStmt>(stmt) || Is<tir::BufferRealize>(stmt);
}

class SubexprPlanner : public tir::StmtExprVisitor {
 public:
  SubexprPlan Plan(const tir::Stmt* body) {
    scopes_.push_back({});
    VisitStmt(body);
    return MakePlan();
  }

  void VisitStmt(const tir::Stmt* stmt) override {
    stmt_ = stmt;
    StmtExprVisitor::VisitStmt(stmt);
  }

 protected:
  // ---- Statements
  void VisitFor(const tir::For* loop) override {
    VisitExpr(loop->min);
    VisitExpr(loop->extent);
    if (loop->step) VisitExpr(loop->step);
    Define(loop->loop_var);
    InScope(loop, [&] { VisitWithout0(loop->extent, loop->body); });
  }
  void VisitWhile(const tir::While* loop) override {
    VisitExpr(loop->condition);
    InScope(loop, [&] { VisitStmt(loop->body); });
  }
  void VisitIfThenElse(const tir::IfThenElse* stmt) override {
    VisitExpr(stmt->condition);
    InScope(stmt, [&] { VisitStmt(stmt->then_case); });
    if (stmt->else_case) InScope(stmt, [&] { VisitStmt(stmt->else_case); });
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    VisitExpr(stmt->value);
    if (const auto* axis = As<tir::IterVar>(stmt->node)) Define(axis->var);
    InScope(stmt, [&] { VisitWithout0(DefinesThread(*stmt) ? stmt->value : nullptr, stmt->body); });
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    for (const PrimExpr* value : realize->iter_values) VisitExpr(value);
    VisitExpr(realize->predicate);
    // No statement is before both of them: what uses the axes is not shared by them.
    for (const tir::Stmt* part : {realize->block->init, realize->block->body}) {
      for (const tir::IterVar* axis : realize->block->iter_vars) Define(axis->var);
      if (part) InScope(realize, [&] { VisitStmt(part); });
    }
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    VisitExpr(let->value);
    Define(let->var);
    VisitStmt(let->body);
  }
  void VisitAllocate(const tir::Allocate* allocate) override {
    for (const PrimExpr* extent : allocate->extents) VisitExpr(extent);
    VisitExpr(allocate->condition);
    const auto* decl = As<tir::DeclBuffer>(allocate->body);
    if (decl && decl->buffer->data == allocate->buffer_var) allocated_ = decl;
    VisitStmt(allocate->body);
  }
  // Does not count the shape of a declaration right in the allocation of its memory, which is the same as that of the
  // allocation.
  void VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    counts_ = decl != allocated_;
    for (const PrimExpr* extent : decl->buffer->shape) VisitExpr(extent);
    for (const PrimExpr* stride : decl->buffer->strides) VisitExpr(stride);
    if (decl->buffer->elem_offset) VisitExpr(decl->buffer->elem_offset);
    counts_ = true;
    VisitStmt(decl->body);
  }
  void VisitBufferUse(const tir::Buffer*) override {}
  void VisitSeqStmt(const tir::SeqStmt* seq) override {
    for (const tir::Stmt* stmt : seq->seq) {
      const bool is_scope = IsNested(stmt) && stmt != seq->seq.back();
      is_scope ? InScope(stmt, [&] { VisitStmt(stmt); }) : VisitStmt(stmt);
    }
  }

  // ---- Expressions, operands first
  void VisitVar(const tir::Var* var) override {
    Number(var, {var->kind, 0, {reinterpret_cast<uintptr_t>(var), versions_[var], 0}});
  }
  void VisitIntImm(const tir::IntImm* number) override {
    Number(number, {number->kind, number->dtype.raw(), {static_cast<uint64_t>(number->value), 0, 0}});
  }
  void VisitFloatImm(const tir::FloatImm* number) override {
    Number(number, {number->kind, number->dtype.raw(), {std::bit_cast<uint64_t>(number->value), 0, 0}});
  }
  void VisitBinary(const tir::BinaryExpr* expr) override {
    VisitOperands(expr);
    Record(expr, {expr->a, expr->b});
  }
  void VisitCall(const tir::Call* call) override { VisitOperands(call); }
  void VisitNot(const tir::Not* expr) override {
    StmtExprVisitor::VisitNot(expr);
    Record(expr, {expr->a});
  }
  void VisitCast(const tir::Cast* expr) override {
    StmtExprVisitor::VisitCast(expr);
    Record(expr, {expr->value});
  }
  void VisitSelect(const tir::Select* expr) override {
    VisitOperands(expr);
    Record(expr, {expr->condition, expr->true_value, expr->false_value});
  }
  void VisitRamp(const tir::Ramp* expr) override {
    StmtExprVisitor::VisitRamp(expr);
    NumberOf(expr, {expr->base, expr->stride, expr->lanes});
  }
  void VisitBroadcast(const tir::Broadcast* expr) override {
    StmtExprVisitor::VisitBroadcast(expr);
    NumberOf(expr, {expr->value, expr->lanes});
  }
  // Expressions in the body may depend on the variable, which is not there before the statement.
  void VisitLet(const tir::Let* let) override {
    VisitExpr(let->value);
    Define(let->var);
    ++let_depth_;
    VisitExpr(let->body);
    --let_depth_;
  }

 private:
  static bool DefinesThread(const tir::AttrStmt& stmt) {
    return Is<tir::IterVar>(stmt.node) && !stmt.value->dtype.is_handle();
  }
  // The body of a loop or of a thread: it runs only if none of the factors of the extent is 0.
  void VisitWithout0(const PrimExpr* extent, const tir::Stmt* body) {
    const size_t outer = not_0_.size();
    if (extent) AddFactors(extent);
    VisitStmt(body);
    not_0_.resize(outer);
  }
  void AddFactors(const PrimExpr* expr) {
    if (const auto* cast = As<tir::Cast>(expr); cast && cast->dtype.bits >= cast->value->dtype.bits) expr = cast->value;
    if (const auto* product = As<tir::Mul>(expr)) {
      AddFactors(product->a);
      AddFactors(product->b);
    } else if (const auto* var = As<tir::Var>(expr)) {
      not_0_.emplace_back(var, scope_);
    }
  }
  // The outermost scope in which the division is defined: the function, or the loop that tells that the divisor is not
  // 0. Nothing if it may not be.
  std::optional<int> DefinedIn(const PrimExpr* expr) const {
    if (!MayBeUndefined(expr)) return 0;
    const auto* binary = As<tir::BinaryExpr>(expr);
    const PrimExpr* divisor = binary ? binary->b : nullptr;
    if (const auto* cast = As<tir::Cast>(divisor); cast && cast->dtype.bits >= cast->value->dtype.bits)
      divisor = cast->value;
    const auto known = std::ranges::find(not_0_, As<tir::Var>(divisor), &std::pair<const tir::Var*, int>::first);
    return divisor && known != not_0_.end() && known->first ? std::optional(known->second) : std::nullopt;
  }

  void VisitOperands(const PrimExpr* expr) {
    const bool outer = guarded_;
    ForEachOperand(expr, outer, [this](const PrimExpr* operand, bool guarded) {
      guarded_ = guarded;
      VisitExpr(operand);
    });
    guarded_ = outer;
  }

  struct Scope {
    int parent = -1;
    int depth = 0;
    const tir::Stmt* stmt = nullptr;  // that it is in; null for the function
  };
  struct Entry {
    const PrimExpr* expr = nullptr;
    int64_t count = 0;
    int depth = 0;  // of nested entries
    int scope = 0;  // the innermost one around all occurrences
    int first_scope = 0;
    const tir::Stmt* first_stmt = nullptr;
    std::optional<int> defined_in = 0;  // the outermost scope in which it is defined
    bool is_guarded = false;            // conditions decide whether the first occurrence is computed
    std::vector<std::pair<uint64_t, int64_t>> operands = {};  // entries among the operands, and how often
    int64_t within_shared = 0;  // occurrences in other shared entries, except for one each
  };

  // ---- Scopes
  template <class F>
  void InScope(const tir::Stmt* stmt, F&& visit) {
    const int outer = scope_;
    scopes_.push_back({outer, scopes_[static_cast<size_t>(outer)].depth + 1, stmt});
    scope_ = static_cast<int>(scopes_.size()) - 1;
    visit();
    scope_ = outer;
  }
  const Scope& ScopeAt(int i) const { return scopes_[static_cast<size_t>(i)]; }
  int CommonScope(int a, int b) const {
    while (a != b) {
      if (ScopeAt(a).depth >= ScopeAt(b).depth) {
        a = ScopeAt(a).parent;
      } else {
        b = ScopeAt(b).parent;
      }
    }
    return a;
  }

  // ---- Numbers
  // A variable that is defined again is another one.
  void Define(const tir::Var* var) { ++versions_[var]; }
  uint64_t Number(const PrimExpr* expr, const SubexprKey& key) {
    const uint64_t number = numbers_.try_emplace(key, numbers_.size() + 1).first;
    number_of_[expr] = number;
    return number;
  }
  // 0 if an operand has none: it loads, calls or defines something.
  uint64_t NumberOf(const PrimExpr* expr, std::initializer_list<const PrimExpr*> operands) {
    SubexprKey key{expr->kind, expr->dtype.raw(), {}};
    size_t i = 0;
    for (const PrimExpr* operand : operands) {
      const auto* number = number_of_.Find(operand);
      if (!number) return 0;
      key.parts[i++] = *number;
    }
    return Number(expr, key);
  }

  void Record(const PrimExpr* expr, std::initializer_list<const PrimExpr*> operands) {
    const uint64_t number = NumberOf(expr, operands);
    if (number == 0 || expr->dtype.is_bool() || let_depth_ > 0 || !counts_) return;
    const auto [place, is_new] = entry_of_.try_emplace(number, entries_.size());
    if (!is_new) {
      Entry& entry = entries_[place];
      entry.scope = CommonScope(entry.scope, scope_);
      ++entry.count;
      return;
    }
    Entry entry{expr, 1, 1, scope_, scope_, stmt_, DefinedIn(expr), guarded_};
    for (const PrimExpr* operand : operands) {
      const uint64_t part = number_of_[operand];
      const auto* known = entry_of_.Find(part);
      if (!known) continue;
      entry.depth = std::max(entry.depth, entries_[*known].depth + 1);
      const std::optional<int> part_in = entries_[*known].defined_in;
      const bool is_inner = part_in && entry.defined_in && ScopeAt(*part_in).depth > ScopeAt(*entry.defined_in).depth;
      if (!part_in || is_inner) entry.defined_in = part_in;
      const auto same = std::ranges::find(entry.operands, part, &std::pair<uint64_t, int64_t>::first);
      same == entry.operands.end() ? static_cast<void>(entry.operands.emplace_back(part, 1))
                                   : static_cast<void>(++same->second);
    }
    entries_.push_back(std::move(entry));
  }

  // ---- The plan
  const tir::Stmt* PositionOf(const Entry& entry) const {
    if (entry.first_scope == entry.scope) return entry.first_stmt;
    int scope = entry.first_scope;
    while (ScopeAt(scope).parent != entry.scope) scope = ScopeAt(scope).parent;
    return ScopeAt(scope).stmt;
  }

  // What may be undefined is computed only where it is computed in any case.
  bool CanBeShared(const Entry& entry) const {
    if (entry.first_scope == entry.scope && !entry.is_guarded) return true;
    return entry.defined_in && CommonScope(*entry.defined_in, entry.scope) == *entry.defined_in;
  }

  SubexprPlan MakePlan() {
    for (const Entry& entry : entries_) {
      if (!CanBeShared(entry)) continue;
      for (const auto& [operand, times] : entry.operands) {
        entries_[entry_of_.at(operand)].within_shared += (entry.count - 1) * times;
      }
    }
    std::vector<size_t> order;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].count - entries_[i].within_shared >= 2 && CanBeShared(entries_[i])) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](size_t i) { return entries_[i].depth; });
    SubexprPlan plan;
    LookupMap<size_t, size_t> shared_at;  // by entry
    for (const size_t i : order) {
      shared_at[i] = plan.shared.size();
      plan.shared.push_back({entries_[i].expr, PositionOf(entries_[i])});
    }
    number_of_.ForEachInAnyOrder([&](const PrimExpr* expr, uint64_t number) {
      const size_t* entry = entry_of_.Find(number);
      const size_t* shared = entry ? shared_at.Find(*entry) : nullptr;
      if (shared) plan.shared_of.try_emplace(expr, *shared);
    });
    return plan;
  }

  std::vector<Scope> scopes_;
  int scope_ = 0;
  const tir::Stmt* stmt_ = nullptr;
  int let_depth_ = 0;
  bool counts_ = true;                                  // what is visited
  bool guarded_ = false;                                // conditions decide whether the expression is computed
  std::vector<std::pair<const tir::Var*, int>> not_0_;  // and the scopes of the loops that tell so
  const tir::DeclBuffer* allocated_ = nullptr;
  std::vector<Entry> entries_;  // in the order of their first occurrences
  LookupMap<const tir::Var*, uint64_t> versions_;
  LookupMap<SubexprKey, uint64_t, SubexprKeyHash> numbers_;
  LookupMap<const PrimExpr*, uint64_t> number_of_;
  LookupMap<uint64_t, size_t> entry_of_;
};

}  // namespace

SubexprPlan PlanSubexprs(const tir::Stmt* body) { return SubexprPlanner().Plan(body); }

}  // namespace iropt
