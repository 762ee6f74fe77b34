#include "cuda_graph_plan.h"

#include <string_view>
#include <utility>

#include "iropt/infer/infer.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call.h"
#include "iropt/op/ops/memory.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

struct UseFinder : WalkHandler {
  std::vector<const Var*> uses;
  void OnUse(const Var* var) { uses.push_back(var); }
};

std::vector<const Var*> UsesIn(const Expr* expr) {
  UseFinder finder;
  Walk(expr, finder);
  return std::move(finder.uses);
}

// The storage of tensors that a function returns, which the caller may keep while the function runs again.
class ReturnedStorage {
 public:
  explicit ReturnedStorage(const Function& function) { VisitBody(function.body); }
  bool contains(const Var* var) const { return storage_.contains(var); }

 private:
  // From the last binding to the first: what a returned value consists of is returned, too.
  void VisitBody(const Expr* body) {
    const auto* seq = As<SeqExpr>(body);
    if (!seq) return;
    for (const Var* var : UsesIn(seq->body)) returned_.insert(var);
    for (uint32_t b = seq->blocks.size(); b-- > 0;) {
      const auto& bindings = seq->blocks[b]->bindings;
      for (uint32_t i = bindings.size(); i-- > 0;) VisitBinding(*bindings[i]);
    }
  }

  void VisitBinding(const Binding& binding) {
    const Expr* value = ValueOf(&binding);
    if (const auto* branch = As<If>(value)) {
      WithStack([&] { VisitBody(branch->true_branch); });
      WithStack([&] { VisitBody(branch->false_branch); });
    }
    if (!returned_.contains(binding.var)) return;
    const auto* call = As<Call>(value);
    if (Is<If>(value)) return;
    if (!call) return Insert(value, returned_);
    if (IsOp(call->op, op::kReshape)) Insert(call->args[0], returned_);
    if (IsOp(call->op, op::kMemoryAllocTensor)) Insert(call->args[0], storage_);
  }

  static void Insert(const Expr* expr, std::unordered_set<const Var*>& vars) {
    for (const Var* var : UsesIn(expr)) vars.insert(var);
  }

  std::unordered_set<const Var*> returned_;
  std::unordered_set<const Var*> storage_;
};

// The variables of an operand or a type, and whether it is static.
struct PlanOperands {
  bool is_static = true;
  std::vector<const Var*> vars = {};
  std::vector<const tir::Var*> sym_vars = {};
};

class Planner {
 public:
  Planner(const Module& module, const ModuleEntry& entry)
      : module_(module),
        function_(*To<Function>(entry.func)),
        returned_(function_),
        is_static_(entry.storage->num_vars),
        region_of_(entry.storage->num_vars) {}

  GraphPlan Run() {
    VisitParams();
    VisitBody(function_.body);
    return std::move(plan_);
  }

 private:
  void VisitParams() {
    LookupSet<std::string_view> captured;
    if (const auto* names = As<ListAttr>(function_.attrs->Find(attr::kCaptureSymbolicVars))) {
      for (const Attr* item : names->values) {
        if (const auto* name = As<StrAttr>(item)) captured.insert(name->value);
      }
    }
    const auto* num_input = As<IntAttr>(function_.attrs->Find(attr::kNumInput));
    for (uint32_t i = 0; i < function_.params.size(); ++i) {
      const Var* param = function_.params[i];
      const bool is_weight = num_input && i >= num_input->value;
      if (is_weight) is_static_[param->id] = true;
      ForEachDefinedSymVar(param->type, [&](const tir::Var* var) {
        if (is_weight || captured.contains(var->name)) static_sym_vars_.insert(var);
      });
    }
  }

  void VisitBody(const Expr* body) {
    const auto* seq = As<SeqExpr>(body);
    if (!seq) return UseOutside(body);
    for (const BindingBlock* block : seq->blocks) VisitBlock(*block);
    UseOutside(seq->body);
  }

  // Dataflow blocks stay: the pass runs after ToNonDataflow.
  void VisitBlock(const BindingBlock& block) {
    GraphRegion* outer = std::exchange(current_, nullptr);
    for (const Binding* binding : block.bindings) {
      const auto* var_binding = As<VarBinding>(binding);
      if (block.is_dataflow() || !var_binding) {
        EndRegion();
        UseOutside(ValueOf(binding));
      } else {
        VisitVarBinding(*var_binding);
      }
    }
    current_ = outer;
  }

  void VisitVarBinding(const VarBinding& binding) {
    const Expr* value = binding.value;
    switch (value->kind) {
      case NodeKind::kCall: return VisitCall(binding, *To<Call>(value));
      case NodeKind::kVar:
      case NodeKind::kConstant:
      case NodeKind::kTuple: return VisitStatic(binding, OperandsOf(value), false);
      case NodeKind::kTupleGetItem: return VisitStatic(binding, OperandsOf(To<TupleGetItem>(value)->tuple), false);
      case NodeKind::kIf: {
        const auto* branch = To<If>(value);
        EndRegion();
        UseOutside(branch->cond);
        ++depth_;
        WithStack([&] { VisitBody(branch->true_branch); });
        WithStack([&] { VisitBody(branch->false_branch); });
        --depth_;
        return;
      }
      case NodeKind::kFunction: EndRegion(); return UseOutside(value);
      // Other leaves use no variables.
      default: return;
    }
  }

  void VisitCall(const VarBinding& binding, const Call& call) {
    if (IsOp(call.op, op::kMemoryAllocStorage)) {
      if (IsStaticStorage(binding.var, call)) AddTo(plan_.storage, binding);
      return;
    }
    if (IsOp(call.op, op::kBuiltinAllocTensor)) return;
    PlanOperands operands;
    for (const Expr* arg : call.args) AddOperand(arg, operands);
    ForEachScalar(call.type, false, [&](const PrimExpr* dim) { AddScalar(dim, operands); });
    operands.is_static &= CanCapture(call);
    VisitStatic(binding, operands, IsKernelLaunch(call));
  }

  // The first kernel launch with static operands starts a region, anything that is not static ends it.
  void VisitStatic(const VarBinding& binding, const PlanOperands& operands, bool is_launch) {
    if (!operands.is_static) {
      EndRegion();
      return UseOutside(operands.vars);
    }
    if (!current_ && is_launch) {
      plan_.captures.push_back(std::make_unique<GraphRegion>());
      current_ = plan_.captures.back().get();
    }
    is_static_[binding.var->id] = true;
    if (current_) {
      AddTo(*current_, binding);
      for (const Var* var : operands.vars) {
        if (region_of_[var->id] != current_) current_->inputs.Add(var);
      }
      for (const tir::Var* var : operands.sym_vars) current_->sym_vars.Add(var);
    }
    UseOutside(operands.vars);
  }

  void EndRegion() { current_ = nullptr; }

  void AddTo(GraphRegion& region, const VarBinding& binding) {
    region.bindings.push_back(&binding);
    region_of_[binding.var->id] = &region;
    is_static_[binding.var->id] = true;
  }

  // Variables of other regions than the current one are outputs of these.
  void UseOutside(const std::vector<const Var*>& vars) {
    for (const Var* var : vars) {
      GraphRegion* region = region_of_[var->id];
      if (region && region != current_) region->outputs.Add(var);
    }
  }
  void UseOutside(const Expr* expr) { UseOutside(UsesIn(expr)); }

  // ---- What is static

  // In branches, storage stays: it is allocated where the function first needs some.
  bool IsStaticStorage(const Var* var, const Call& call) const {
    const auto* shape = As<ShapeExpr>(call.args[0]);
    const auto* device = As<PrimValue>(call.args[1]);
    const auto* number = device ? As<tir::IntImm>(device->value) : nullptr;
    return depth_ == 0 && shape && shape->values.size() == 1 && Is<tir::IntImm>(shape->values[0]) && number &&
           number->value == 0 && !returned_.contains(var);
  }

  bool IsPrimFuncName(const Expr* callee) const {
    const auto* name = As<GlobalVar>(callee);
    const ModuleEntry* entry = name ? module_.Find(name) : nullptr;
    return entry && Is<PrimFunc>(entry->func);
  }

  // Builtins depend on the state of the virtual machine, and Relax functions may do anything.
  bool CanCapture(const Call& call) const {
    if (const auto* packed = As<ExternFunc>(call.op)) return !packed->global_symbol.starts_with("vm.builtin");
    return Is<Op>(call.op) || IsPrimFuncName(call.op);
  }

  bool IsKernelLaunch(const Call& call) const {
    const auto* op = As<Op>(call.op);
    if (!op) return true;
    return !op->name.starts_with("relax.memory") && !op->name.starts_with("relax.builtin") && op->id != op::kReshape &&
           op->id != op::kNullValue && op->id != op::kCallBuiltinWithCtx;
  }

  PlanOperands OperandsOf(const Expr* expr) {
    PlanOperands operands;
    AddOperand(expr, operands);
    return operands;
  }

  void AddOperand(const Expr* expr, PlanOperands& operands) {
    switch (expr->kind) {
      case NodeKind::kConstant:
      case NodeKind::kDataTypeImm:
      case NodeKind::kStringImm:
      case NodeKind::kGlobalVar: return;
      case NodeKind::kPrimValue: return AddScalar(To<PrimValue>(expr)->value, operands);
      case NodeKind::kShapeExpr:
        for (const PrimExpr* dim : To<ShapeExpr>(expr)->values) AddScalar(dim, operands);
        return;
      case NodeKind::kTuple:
        for (const Expr* field : To<Tuple>(expr)->fields) WithStack([&] { AddOperand(field, operands); });
        return;
      case NodeKind::kVar: {
        const Var* var = To<Var>(expr);
        operands.vars.push_back(var);
        if (is_static_[var->id]) {
          AddType(var->type, operands);
        } else {
          operands.is_static = false;
        }
        return;
      }
      default: operands.is_static = false;
    }
  }

  void AddScalar(const PrimExpr* value, PlanOperands& operands) {
    tir::ForEachVar(value, [&](const tir::Var* var) {
      if (static_sym_vars_.contains(var)) {
        operands.sym_vars.push_back(var);
      } else {
        operands.is_static = false;
      }
    });
  }

  void AddType(const Type* type, PlanOperands& operands) {
    switch (type->kind) {
      case NodeKind::kObjectType:
      case NodeKind::kPrimType: return;
      case NodeKind::kTensorType:
        operands.is_static &= To<TensorType>(type)->known;
        for (const PrimExpr* dim : To<TensorType>(type)->dims) AddScalar(dim, operands);
        return;
      case NodeKind::kShapeType:
        operands.is_static &= To<ShapeType>(type)->known;
        for (const PrimExpr* dim : To<ShapeType>(type)->values) AddScalar(dim, operands);
        return;
      case NodeKind::kTupleType:
        for (const Type* field : To<TupleType>(type)->fields) WithStack([&] { AddType(field, operands); });
        return;
      default: operands.is_static = false;
    }
  }

  const Module& module_;
  const Function& function_;
  const ReturnedStorage returned_;
  GraphPlan plan_;
  GraphRegion* current_ = nullptr;  // the region that the next binding may join
  int depth_ = 0;                   // of branches
  std::vector<bool> is_static_;     // by Var::id
  std::vector<GraphRegion*> region_of_;
  LookupSet<const tir::Var*> static_sym_vars_;
};

}  // namespace

GraphPlan PlanCudaGraph(const Module& module, const ModuleEntry& function) { return Planner(module, function).Run(); }

}  // namespace iropt
