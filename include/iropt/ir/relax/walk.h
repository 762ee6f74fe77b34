// A walk over Relax code for analyses of variables, effects and types: each use, definition, call and type once, in
// program order. The handler's functions are called directly, so that a walk costs no more than a hand-written loop.
//
//   struct CountCalls : WalkHandler {
//     size_t count = 0;
//     void OnCall(const Call&) { ++count; }
//   };
//   CountCalls counter;
//   Walk(function, counter);
#pragma once

#include "iropt/ir/prefetched_range.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/stack.h"

namespace iropt {

// The events of a walk; a handler hides the functions that it needs. Operands come before their expression.
struct WalkHandler {
  void OnUse(const Var*) {}
  void OnDefine(const Var*) {}
  void OnCall(const Call&) {}
  void OnGlobal(const GlobalVar*) {}
  void OnConstant(const Constant&) {}
  // A dimension of a shape expression, or the value of a PrimValue.
  void OnScalar(const PrimExpr*) {}
  // The type of a definition, a type argument of a call, or the result type of a function.
  void OnType(const Type*) {}
  // The type of a parameter or of a match_cast, before OnType; it may define symbolic variables.
  void OnDefiningType(const Type*) {}
  // Returns whether to walk over the tuple that an item is taken from.
  bool EnterItem(const TupleGetItem&) { return true; }
  // Before the value of the binding.
  void OnBinding(const Binding&) {}
  void EnterBlock(const BindingBlock&) {}
  void LeaveBlock(const BindingBlock&) {}
  // Returns whether to walk over the body of a function.
  bool EnterFunction(const Function&) { return true; }
  void LeaveFunction(const Function&) {}
};

template <class Handler>
class RelaxWalk {
 public:
  explicit RelaxWalk(Handler& handler) : handler_(handler) {}

  void Visit(const Expr* e) {
    switch (e->kind) {
      case NodeKind::kVar:
      case NodeKind::kDataflowVar: return handler_.OnUse(static_cast<const Var*>(e));
      case NodeKind::kGlobalVar: return handler_.OnGlobal(static_cast<const GlobalVar*>(e));
      case NodeKind::kConstant: return handler_.OnConstant(*static_cast<const Constant*>(e));
      case NodeKind::kPrimValue: return handler_.OnScalar(static_cast<const PrimValue*>(e)->value);
      case NodeKind::kShapeExpr:
        for (const PrimExpr* dim : static_cast<const ShapeExpr*>(e)->values) handler_.OnScalar(dim);
        return;
      case NodeKind::kExternFunc:
      case NodeKind::kOp:
      case NodeKind::kStringImm:
      case NodeKind::kDataTypeImm:
      case NodeKind::kPrimFunc: return;
      case NodeKind::kCall: return VisitCall(*static_cast<const Call*>(e));
      case NodeKind::kTupleGetItem: {
        const auto& item = *static_cast<const TupleGetItem*>(e);
        if (handler_.EnterItem(item)) VisitNested(item.tuple);
        return;
      }
      case NodeKind::kTuple:
        for (const Expr* field : static_cast<const Tuple*>(e)->fields) VisitNested(field);
        return;
      case NodeKind::kIf:
        VisitNested(static_cast<const If*>(e)->cond);
        VisitNested(static_cast<const If*>(e)->true_branch);
        return VisitNested(static_cast<const If*>(e)->false_branch);
      case NodeKind::kSeqExpr:
        for (const BindingBlock* block : static_cast<const SeqExpr*>(e)->blocks) VisitBlock(*block);
        return VisitNested(static_cast<const SeqExpr*>(e)->body);
      case NodeKind::kFunction: return VisitFunction(*static_cast<const Function*>(e));
      default: IROPT_UNREACHABLE("{} is not an expression", NodeKindName(e->kind));
    }
  }

  void VisitFunction(const Function& f) {
    if (!handler_.EnterFunction(f)) return;
    for (const Var* param : f.params) handler_.OnDefiningType(param->type);
    for (const Var* param : f.params) Define(param);
    if (f.ret_type) handler_.OnType(f.ret_type);
    VisitNested(f.body);
    handler_.LeaveFunction(f);
  }

  void VisitBlock(const BindingBlock& block) {
    handler_.EnterBlock(block);
    for (const Binding* binding : PrefetchedRange(block.bindings)) VisitBinding(*binding);
    handler_.LeaveBlock(block);
  }

  void VisitBinding(const Binding& binding) {
    handler_.OnBinding(binding);
    if (binding.kind == NodeKind::kMatchCast) {
      const auto& cast = static_cast<const MatchCast&>(binding);
      Visit(cast.value);
      handler_.OnDefiningType(cast.match_type);
      handler_.OnType(cast.match_type);
      return Define(binding.var);
    }
    const Expr* value = static_cast<const VarBinding&>(binding).value;
    // A local function may call itself, so its variable comes first.
    const bool is_function = value->kind == NodeKind::kFunction;
    if (is_function) Define(binding.var);
    // Most values are calls.
    value->kind == NodeKind::kCall ? VisitCall(*static_cast<const Call*>(value)) : Visit(value);
    if (!is_function) Define(binding.var);
  }

 private:
  void VisitCall(const Call& call) {
    VisitNested(call.op);
    for (const Expr* arg : call.args) VisitNested(arg);
    if (call.type_args) handler_.OnType(call.type_args);
    handler_.OnCall(call);
  }

  // Most operands are variables and operators, which need no check of the stack.
  void VisitNested(const Expr* e) {
    switch (e->kind) {
      case NodeKind::kVar:
      case NodeKind::kDataflowVar: return handler_.OnUse(static_cast<const Var*>(e));
      case NodeKind::kOp: return;
      default: WithStack([&] { Visit(e); });
    }
  }

  void Define(const Var* var) {
    if (var->type) handler_.OnType(var->type);
    handler_.OnDefine(var);
  }

  Handler& handler_;
};

template <class Handler>
void Walk(const Expr* e, Handler& handler) {
  RelaxWalk<Handler>(handler).Visit(e);
}
template <class Handler>
void Walk(const Function& f, Handler& handler) {
  RelaxWalk<Handler>(handler).VisitFunction(f);
}

}  // namespace iropt
