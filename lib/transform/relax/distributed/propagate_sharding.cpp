// distributed.PropagateSharding: distributes all tensors of a function, given how some of them are.
//
//   def f(x: R.Tensor((8, 8)),                            def f(x: R.DTensor((8, 8), "float32", "mesh[0]", "R"),
//         w: R.Tensor((8, 8))):                                 w: R.DTensor((8, 8), "float32", "mesh[0]", "S[1]")):
//     y = R.matmul(x, w)                           -->      y: R.DTensor(..., "S[1]") = R.matmul(x, w)
//     z = R.dist.annotate_sharding(y, "mesh[0]",            return y
//             "S[1]")
//     return z
//
// The split of an axis is passed on to the axes of other tensors that correspond to it, from results to operands and
// back, of operators and of the loops of PrimFuncs. Where a result is not placed as it has to be, it is redistributed.
// Functions without annotations stay. O(nodes * annotations), plus the accesses of each block of a PrimFunc, squared.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "dist_functions.h"
#include "function_axes.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/distributed.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/relax/util/rewrite_functions.h"

namespace iropt {

namespace {

constexpr std::pair<std::string_view, std::string_view> kDistributedBuiltins[] = {
    {"vm.builtin.attention_kv_cache_append", "vm.builtin.distributed.attention_kv_cache_append"},
    {"vm.builtin.attention_kv_cache_view", "vm.builtin.distributed.attention_kv_cache_view"},
};

bool HasAnnotation(const Function& function) {
  struct Finder : WalkHandler {
    bool found = false;
    void OnCall(const Call& call) { found |= IsOp(call.op, op::kDistAnnotateSharding); }
  } finder;
  Walk(function, finder);
  return finder.found;
}

class Distributor : public ExprMutator {
 public:
  Distributor(const AxisGraph& graph, const Module& module, Workspace& workspace, TypeInferrer& inferrer,
              DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), graph_(graph), module_(module), diagnostics_(diagnostics) {}

  bool ok() const { return ok_ && !failed(); }

 protected:
  const Expr* VisitFunction(const Function* function) override {
    if (!std::exchange(in_function_, true)) {
      for (const Var* param : function->params) {
        const Type* type = Distribute(param->type, param);
        if (type != param->type) RemapToType(param, type);
      }
    }
    return ExprMutator::VisitFunction(function);
  }

  const Expr* VisitConstant(const Constant* constant) override {
    const Type* type = Distribute(constant->type, constant);
    return type == constant->type ? constant : NewLike<Constant>(workspace(), *constant, constant->data, type);
  }

  // Of a call without tensors as results.
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const Expr* op = DistributedBuiltin(call->op);
    if (op == call->op) return call;
    return NewLike<Call>(workspace(), *call, op, call->args, call->attrs, call->type_args, nullptr);
  }

  void VisitVarBinding(const VarBinding* binding) override {
    if (const auto* item = As<TupleGetItem>(binding->value)) {
      if (const auto* found = items_.Find({As<Var>(item->tuple), item->index})) return Remap(binding->var, *found);
    }
    const auto* call = As<Call>(binding->value);
    const std::vector<const TensorType*> tensors =
        call ? TensorsOf(binding->var->type) : std::vector<const TensorType*>();
    if (tensors.empty()) return ExprMutator::VisitVarBinding(binding);
    const DeviceMeshAttr* mesh = MeshOf(binding->var, 0);
    if (!mesh) return;
    std::vector<Placement> placements;
    for (size_t i = 0; i < tensors.size(); ++i) {
      placements.push_back(
          PlacementOf(graph_, binding->var, static_cast<int>(i), tensors[i] ? tensors[i]->ndim : 0, *mesh));
    }
    const Type* wanted = MakeType(binding->var->type, *mesh, placements);
    if (Is<TupleType>(wanted)) return BindTuple(binding, DistributeCall(*call, wanted), *mesh, placements);
    const Expr* value = DistributeCall(*call, wanted);
    if (value->type && !TypeEqual(value->type, wanted)) value = Redistribute(value, *mesh, placements[0]);
    const auto* made = As<Call>(value);
    if (made && IsOp(made->op, op::kDistAnnotateSharding)) value = made->args[0];
    if (const auto* var = As<Var>(value)) return Remap(binding->var, var);
    ReEmitBinding(binding, value);
  }

 private:
  // The mesh of a tensor; null after an error.
  const DeviceMeshAttr* MeshOf(const Expr* tensor, int item) {
    if (const std::optional<MeshAxis> place = graph_.Of({tensor, -1, item})) return place->mesh;
    const auto* var = As<Var>(tensor);
    diagnostics_.Error(Location(*tensor), "pass-failed",
                       fmt::format("no annotation says on which mesh {} is",
                                   var ? fmt::format("tensor '{}'", var->name()) : std::string("the constant")));
    ok_ = false;
    return nullptr;
  }

  // The type of a parameter or constant.
  const Type* Distribute(const Type* type, const Expr* tensor) {
    const auto distribute = [&](const Type* leaf, int item) -> const Type* {
      const auto* tensor_type = As<TensorType>(leaf);
      const DeviceMeshAttr* mesh = tensor_type ? MeshOf(tensor, item) : nullptr;
      if (!mesh) return leaf;
      return MakeDTensor(tensor_type, mesh, PlacementOf(graph_, tensor, item, tensor_type->ndim, *mesh));
    };
    const auto* tuple = As<TupleType>(type);
    if (!tuple) return distribute(type, 0);
    std::vector<const Type*> fields;
    for (const Type* field : tuple->fields) fields.push_back(distribute(field, static_cast<int>(fields.size())));
    return TupleType::Get(workspace().arena(), fields);
  }

  const Type* MakeType(const Type* type, const DeviceMeshAttr& mesh, const std::vector<Placement>& placements) {
    if (const auto* tensor = As<TensorType>(type)) return MakeDTensor(tensor, &mesh, placements[0]);
    std::vector<const Type*> fields;
    for (const Type* field : To<TupleType>(type)->fields) {
      const auto* tensor = As<TensorType>(field);
      fields.push_back(tensor ? MakeDTensor(tensor, &mesh, placements[fields.size()]) : field);
    }
    return TupleType::Get(workspace().arena(), fields);
  }

  // The call on distributed operands, with its type.
  const Expr* DistributeCall(const Call& old, const Type* wanted) {
    const Expr* op = DistributedBuiltin(old.op);
    std::vector<const Expr*> args;
    for (const Expr* arg : old.args) args.push_back(VisitExpr(arg));
    auto* call = NewLike<Call>(workspace(), old, op, workspace().Copy(args), old.attrs, old.type_args, nullptr);
    if (op != old.op && old.type_args) call->type_args = TypeArgs(wanted);
    if (IsOp(old.op, op::kCallTir)) call->type_args = TypeArgs(DistOperands(*call).empty() ? wanted : ResultOf(*call));
    return builder().Normalize(call);
  }

  const Expr* DistributedBuiltin(const Expr* callee) {
    const auto* external = As<ExternFunc>(callee);
    for (const auto& [name, distributed] : kDistributedBuiltins) {
      if (external && external->global_symbol == name)
        return workspace().New<ExternFunc>(distributed, DictAttr::Empty(), PackedFuncType());
    }
    return callee;
  }

  const TupleType* TypeArgs(const Type* type) {
    const Type* const types[] = {type};
    return TupleType::Get(workspace().arena(), types);
  }

  // The type of a call of a PrimFunc, as its operands are distributed.
  const Type* ResultOf(const Call& call) {
    const Type* type = call.type_args->fields[0];
    const Var* result = workspace().NewVar("output", type);
    AxisGraph graph;
    JoinCallAxes(call, result, type, module_, graph);
    const DeviceMeshAttr* mesh = nullptr;
    for (const Expr* operand : DistOperands(call)) {
      const auto* dtensor = As<DTensorType>(operand->type);
      if (!dtensor) continue;
      mesh = dtensor->device_mesh;
      const Placement placement = iropt::PlacementOf(*dtensor);
      for (size_t dim = 0; dim < placement.size(); ++dim) {
        if (placement[dim] >= 0) graph.AddSource({operand, placement[dim]}, {mesh, static_cast<int>(dim)});
      }
    }
    if (!mesh) return type;
    graph.Propagate();
    std::vector<Placement> placements;
    for (const TensorType* tensor : TensorsOf(type)) {
      placements.push_back(
          PlacementOf(graph, result, static_cast<int>(placements.size()), tensor ? tensor->ndim : 0, *mesh));
    }
    return MakeType(type, *mesh, placements);
  }

  const Expr* Redistribute(const Expr* value, const DeviceMeshAttr& mesh, const Placement& placement) {
    const auto* call = As<Call>(value);
    if (call && IsOp(call->op, op::kDistAnnotateSharding)) value = call->args[0];
    const DTensorType* to = MakeDTensor(TensorType::Get(0, DataType::Void()), &mesh, placement);
    const ObjectAttr* attrs =
        MakeOpAttrs(op::kDistRedistribute, DistributionAttrs::Values{.device_mesh = &mesh, .placement = to->placement});
    return builder().MakeCall(GetOp(op::kDistRedistribute), {builder().NormalizeArgument(value)}, attrs);
  }

  // Binds a tuple, and redistributes those of its items that are not placed as they have to be.
  void BindTuple(const VarBinding* binding, const Expr* value, const DeviceMeshAttr& mesh,
                 const std::vector<Placement>& placements) {
    ReEmitBinding(binding, value);
    const auto* now = As<TupleType>(value->type);
    const Expr* replaced = RemapOf(binding->var);
    const Expr* tuple = replaced ? replaced : binding->var;
    for (uint32_t i = 0; now && i < now->fields.size(); ++i) {
      const auto* type = As<DTensorType>(now->fields[i]);
      if (!type || MakeDTensor(type->tensor, &mesh, placements[i]) == type) continue;
      const auto index = static_cast<int32_t>(i);
      const Var* item = builder().Emit(workspace().New<TupleGetItem>(tuple, index, nullptr));
      items_[{binding->var, index}] = builder().Emit(Redistribute(item, mesh, placements[i]));
    }
  }

  const AxisGraph& graph_;
  const Module& module_;
  DiagnosticEngine& diagnostics_;
  bool ok_ = true;
  bool in_function_ = false;
  LookupMap<std::pair<const Var*, int32_t>, const Var*> items_;
};

Result<const Function*> PropagateInFunction(const ModuleEntry& entry, const Module& module, Workspace& workspace,
                                            DiagnosticEngine& diagnostics) {
  const auto* function = To<Function>(entry.func);
  if (!HasAnnotation(*function)) return function;
  const std::optional<AxisGraph> graph = DistributeFunction(*function, module, diagnostics);
  if (!graph) return Failure{ErrorCode::PassFailed};
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  Distributor distributor(*graph, module, workspace, inferrer, diagnostics);
  const auto* result = To<Function>(distributor.VisitExpr(function));
  if (!distributor.ok()) return Failure{ErrorCode::PassFailed};
  return result;
}

}  // namespace

Pass CreatePropagateSharding(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    const Module before = module;
    IROPT_RETURN_IF_ERROR(TryRewriteRelaxFunctions(
        module, context, [&](const ModuleEntry& entry, Workspace& workspace, DiagnosticEngine& diagnostics) {
          return PropagateInFunction(entry, before, workspace, diagnostics);
        }));
    return module;
  });
}

}  // namespace iropt
