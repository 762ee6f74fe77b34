#include "iropt/analysis/relax/normal_form.h"

#include <algorithm>

#include "iropt/infer/infer.h"
#include "iropt/op/op.h"
#include "iropt/op/op_groups.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

bool IsCallTir(const Call& call) {
  const auto* op = As<Op>(call.op);
  return op && IsCallTir(op->id);
}

bool IsVoid(const Type* type) {
  const auto* tuple = As<TupleType>(type);
  return tuple && tuple->fields.empty();
}

// Finds the deviations of a function.
class FormCheck {
 public:
  explicit FormCheck(const Function& function) { VisitFunction(function); }

  bool is_normal() const { return is_normal_; }
  bool needs_op_normalization() const { return needs_op_normalization_; }

 private:
  void Require(bool holds) { is_normal_ &= holds; }

  void VisitFunction(const Function& function) {
    Require(function.type != nullptr && function.ret_type != nullptr);
    VisitBody(function.body);
  }

  void VisitBody(const Expr* body) {
    const auto* seq = As<SeqExpr>(body);
    Require(seq != nullptr && seq->type != nullptr);
    if (!is_normal_) return;
    const BindingBlock* previous = nullptr;
    for (const BindingBlock* block : seq->blocks) {
      Require(!block->bindings.empty() && !(previous && previous->kind == block->kind));
      for (const Binding* binding : block->bindings) {
        Require(binding->var->type != nullptr);
        VisitValue(ValueOf(binding));
        if (!is_normal_) return;
      }
      previous = block;
    }
    VisitLeaf(seq->body);
  }

  void VisitValue(const Expr* value) {
    switch (value->kind) {
      case NodeKind::kCall: {
        const auto& call = *static_cast<const Call*>(value);
        Require(call.type != nullptr);
        VisitLeaf(call.op);
        for (const Expr* arg : call.args) VisitLeaf(arg);
        needs_op_normalization_ |= NeedsOpNormalization(call);
        return;
      }
      case NodeKind::kTupleGetItem:
        Require(value->type != nullptr);
        return VisitLeaf(static_cast<const TupleGetItem*>(value)->tuple);
      case NodeKind::kIf: {
        const auto* branch = static_cast<const If*>(value);
        Require(branch->type != nullptr);
        VisitLeaf(branch->cond);
        WithStack([&] { VisitBody(branch->true_branch); });
        return WithStack([&] { VisitBody(branch->false_branch); });
      }
      case NodeKind::kFunction: return WithStack([&] { VisitFunction(*static_cast<const Function*>(value)); });
      default: return VisitLeaf(value);
    }
  }

  void VisitLeaf(const Expr* leaf) {
    if (leaf->kind == NodeKind::kTuple) {
      Require(leaf->type != nullptr);
      WithStack([&] {
        for (const Expr* field : static_cast<const Tuple*>(leaf)->fields) VisitLeaf(field);
      });
    } else {
      Require(IsLeaf(leaf) && !(leaf->kind == NodeKind::kVar && IsVoid(leaf->type)));
    }
  }

  bool is_normal_ = true;
  bool needs_op_normalization_ = false;
};

}  // namespace

bool NeedsOpNormalization(const Call& call) {
  if (KnownInspection(call)) return true;
  return IsCallTir(call) && call.args.size() >= 2 && !Is<Tuple>(call.args[1]);
}

NormalFormInfo::Result NormalFormInfo::Of(const Function& function) {
  const FormCheck check(function);
  return {check.is_normal(), check.needs_op_normalization()};
}

NormalFormInfo::Result NormalFormInfo::Compute(const BaseFunc& function, const FuncStorage&) {
  const auto* graph_function = As<Function>(&function);
  if (!graph_function) return {};
  return Of(*graph_function);
}

}  // namespace iropt
