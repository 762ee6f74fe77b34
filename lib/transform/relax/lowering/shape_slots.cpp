#include "shape_slots.h"

#include "iropt/ir/context.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

// The order of the visits is that of TVM's visitors, which decides the numbers of slots.
class ShapeSlots::Collector final : public ExprFunctor<void(const Expr*)> {
 public:
  explicit Collector(ShapeSlots& slots) : slots_(slots) {}

  void Run(const Function& function) {
    for (const Var* param : function.params) VisitType(param->type);
    VisitExpr(function.body);
    VisitType(function.ret_type);
  }

 private:
  // Other leaves, and local functions, depend on no value.
  void VisitDefault(const Expr*) override {}

  void VisitVar(const Var* var) override { VisitType(var->type); }
  void VisitDataflowVar(const DataflowVar* var) override { VisitType(var->type); }
  void VisitPrimValue(const PrimValue* expr) override { Add(expr->value); }
  void VisitShapeExpr(const ShapeExpr* expr) override {
    for (const PrimExpr* dim : expr->values) Add(dim);
  }
  void VisitTuple(const Tuple* tuple) override {
    for (const Expr* field : tuple->fields) VisitExpr(field);
    VisitType(tuple->type);
  }
  void VisitTupleGetItem(const TupleGetItem* item) override {
    VisitExpr(item->tuple);
    VisitType(item->type);
  }
  void VisitCall(const Call* call) override {
    VisitExpr(call->op);
    if (call->type_args) VisitType(call->type_args);
    for (const Expr* arg : call->args) VisitExpr(arg);
    VisitType(call->type);
  }
  void VisitIf(const If* branch) override {
    VisitExpr(branch->cond);
    VisitExpr(branch->true_branch);
    VisitExpr(branch->false_branch);
    VisitType(branch->type);
  }
  void VisitSeqExpr(const SeqExpr* seq) override {
    for (const BindingBlock* block : seq->blocks) {
      for (const Binding* binding : block->bindings) {
        if (const auto* cast = As<MatchCast>(binding)) VisitType(cast->match_type);
        VisitExpr(ValueOf(binding));
      }
    }
    VisitExpr(seq->body);
    VisitType(seq->type);
  }

  void VisitType(const Type* type) {
    if (!type || (!type->has_sym_var() && !type->has_shape_var()) || !visited_.insert(type)) return;
    switch (type->kind) {
      case NodeKind::kPrimType: return Add(To<PrimType>(type)->value);
      case NodeKind::kShapeType: return AddAll(To<ShapeType>(type)->values);
      case NodeKind::kTensorType:
        if (const Expr* shape = To<TensorType>(type)->shape_var) return VisitExpr(shape);
        return AddAll(To<TensorType>(type)->dims);
      case NodeKind::kTupleType:
        for (const Type* field : To<TupleType>(type)->fields) WithStack([&] { VisitType(field); });
        return;
      default: return;
    }
  }

  void AddAll(List<const PrimExpr*> values) {
    for (const PrimExpr* value : values) Add(value);
  }
  void Add(const PrimExpr* value) {
    if (Is<tir::IntImm>(value)) return;
    const PrimExpr* key = IRContext::Current().Intern(value);
    if (slots_.index_.emplace(key, slots_.size()).second) slots_.slots_.push_back({key});
  }

  ShapeSlots& slots_;
  LookupSet<const Type*> visited_;
};

ShapeSlots::ShapeSlots(const Function& function) {
  Collector(*this).Run(function);
  LinkUsers();
}

ShapeSlot* ShapeSlots::Find(const PrimExpr* value) {
  const auto found = index_.find(IRContext::Current().Intern(value));
  return found == index_.end() ? nullptr : &slots_[found->second];
}

// TVM visits the slots in the order of a hash table: from the last one to the first, unless hash values collide.
void ShapeSlots::LinkUsers() {
  for (uint32_t i = size(); i-- > 0;) {
    ShapeSlot& slot = slots_[i];
    if (Is<tir::Var>(slot.value)) continue;
    tir::ForEachVar(slot.value, [&](const tir::Var* var) {
      ShapeSlot* of_var = Find(var);
      if (!of_var) {
        undefined_ = slot.value;
      } else if (of_var->users.empty() || of_var->users.back() != i) {
        of_var->users.push_back(i);
        ++slot.missing;
      }
    });
  }
}

}  // namespace iropt
