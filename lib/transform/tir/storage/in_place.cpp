#include "transform/tir/storage/in_place.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

class InPlaceVerifier : public tir::StmtExprVisitor {
 public:
  InPlaceVerifier(const tir::Var* target, LookupSet<const tir::Var*>& refused) : target_(target), refused_(refused) {}

  // False if no operand will do. Those that will not are refused.
  bool Verify(const tir::Stmt* stmt) {
    switch (stmt->kind) {
      case NodeKind::kAttrStmt:
      case NodeKind::kFor:
      case NodeKind::kIfThenElse:
      case NodeKind::kWhile:
      case NodeKind::kBufferStore: VisitStmt(stmt); return valid_;
      default: return false;
    }
  }

  void VisitStmt(const tir::Stmt* stmt) override {
    if (valid_) StmtExprVisitor::VisitStmt(stmt);
  }
  void VisitExpr(const PrimExpr* expr) override {
    if (valid_) StmtExprVisitor::VisitExpr(expr);
  }

 protected:
  void VisitVar(const tir::Var* var) override {
    if (var == target_) valid_ = false;
    if (var->dtype.is_handle()) refused_.insert(var);
  }

  void VisitFor(const tir::For* loop) override {
    if (!arith::IsInt(loop->extent, 1)) ++loops_[loop->loop_var];
    StmtExprVisitor::VisitFor(loop);
    loops_.erase(loop->loop_var);
  }

  void VisitIfThenElse(const tir::IfThenElse* stmt) override {
    const size_t outer = conditions_.size();
    VisitExpr(stmt->condition);
    conditions_.push_back(stmt->condition);
    const bool was_stored = is_stored_;
    VisitStmt(stmt->then_case);
    const bool is_stored_then = std::exchange(is_stored_, was_stored);
    if (stmt->else_case) VisitStmt(stmt->else_case);
    is_stored_ = is_stored_ || is_stored_then;
    conditions_.resize(outer);
  }

  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key == attr::kExternScope || stmt->attr_key == attr::kVolatileScope) {
      valid_ = false;
      return;
    }
    VisitExpr(stmt->value);
    VisitStmt(stmt->body);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    ++nested_loads_;
    for (const PrimExpr* index : store->indices) VisitExpr(index);
    --nested_loads_;
    store_ = store->buffer->data == target_ ? store : nullptr;
    if (store_ && (StoresAgain(*store) || StoresElsewhere(*store))) valid_ = false;
    VisitExpr(store->value);
    if (!store_) AddOperandStore(*store);
    is_stored_ = is_stored_ || store_;
    store_ = nullptr;
  }

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    const tir::Var* pointer = load->buffer->data;
    if (pointer == target_ || nested_loads_ != 0) {
      valid_ = false;
      return;
    }
    // An element of the target that has a value has replaced that of the operand.
    if (!store_ || is_stored_ || store_->value->dtype != load->dtype || !DeepEqual(store_->indices, load->indices) ||
        !IsStoredOnlyAt(pointer, load->indices))
      refused_.insert(pointer);
    used_.insert(pointer);
    ++nested_loads_;
    StmtExprVisitor::VisitBufferLoad(load);
    --nested_loads_;
  }

 private:
  // A store to what may be an operand: to the element that the target gets next, or none of its elements are safe.
  void AddOperandStore(const tir::BufferStore& store) {
    const tir::Var* pointer = store.buffer->data;
    if (used_.contains(pointer) || !IsStoredOnlyAt(pointer, store.indices)) refused_.insert(pointer);
    stored_.try_emplace(pointer, &store);
  }
  // Returns whether another store to the target has other indices.
  bool StoresElsewhere(const tir::BufferStore& store) {
    if (!first_store_) first_store_ = &store;
    return !DeepEqual(first_store_->indices, store.indices);
  }
  bool IsStoredOnlyAt(const tir::Var* pointer, std::span<const PrimExpr* const> indices) const {
    const auto* store = stored_.Find(pointer);
    return !store || DeepEqual((*store)->indices, indices);
  }

  // Returns whether some loop around the store has nothing to do with the element or with the conditions around it.
  bool StoresAgain(const tir::BufferStore& store) const {
    if (loops_.empty()) return false;
    LookupMap<const tir::Var*, int> unused = loops_;
    const auto use = [&](const PrimExpr* expr) {
      tir::ForEachVar(expr, [&](const tir::Var* var) { unused.erase(var); });
    };
    for (const PrimExpr* index : store.indices) use(index);
    for (const PrimExpr* condition : conditions_) use(condition);
    return !unused.empty();
  }

  const tir::Var* target_;
  LookupSet<const tir::Var*>& refused_;
  bool valid_ = true;
  int nested_loads_ = 0;  // the number of loads and stores in whose indices the current expression is
  const tir::BufferStore* store_ = nullptr;        // to the target, around the current expression
  const tir::BufferStore* first_store_ = nullptr;  // to the target
  bool is_stored_ = false;                         // the target, before the current statement in one iteration
  LookupMap<const tir::Var*, int> loops_;          // the variables of the loops around here
  std::vector<const PrimExpr*> conditions_;
  LookupMap<const tir::Var*, const tir::BufferStore*> stored_;  // other pointers, and the first stores to them
  LookupSet<const tir::Var*> used_;                             // those whose elements the target has got
};

}  // namespace

InPlaceOperands::InPlaceOperands(const tir::Stmt* stmt, const tir::Var* target)
    : is_possible_(InPlaceVerifier(target, refused_).Verify(stmt)) {}

}  // namespace iropt
