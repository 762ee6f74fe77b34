#include "function_axes.h"

#include <fmt/format.h>

#include <algorithm>

#include "buffer_axes.h"
#include "dist_functions.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/ops/distributed.h"
#include "iropt/op/ops/matmul.h"

namespace iropt {

namespace {

constexpr int kWhole = -1;  // the axis that stands for the tensor

void JoinOperatorAxes(const Call& call, const Expr* result, const TensorType* type, AxisGraph& graph) {
  std::vector<const Expr*> operands;
  std::vector<const TensorType*> types;
  for (const Expr* arg : call.args) {
    const auto tensors = TensorsOf(arg->type);
    if (tensors.size() != 1 || !tensors[0]) continue;
    if (!tensors[0]->known) return;
    operands.push_back(arg);
    types.push_back(tensors[0]);
  }
  if (operands.empty() || !type->known) return;
  Arena arena;
  InferContext quiet(nullptr, arena, nullptr);
  std::optional<AxisFlow> flow = AxisFlowOf(call, types, type, quiet);
  if (!flow) return;
  for (size_t i = 0; i < flow->size(); ++i) {
    for (size_t axis = 0; axis < (*flow)[i].size(); ++axis) {
      const int to = (*flow)[i][axis];
      if (to >= 0) graph.Join({operands[i], static_cast<int>(axis)}, {result, to}, AxisEdge::kToResult);
    }
  }
  // The axes that a product sums over must be split alike in both factors.
  if (!IsOp(call.op, op::kMatmul) || operands.size() != 2) return;
  const int row = std::max(types[1]->ndim - 2, 0);
  graph.Join({operands[0], types[0]->ndim - 1}, {operands[1], row}, AxisEdge::kBetween);
}

void JoinPrimFuncAxes(const Call& call, const PrimFunc& func, const Expr* result, size_t num_results,
                      AxisGraph& graph) {
  const std::span<const Expr* const> operands = DistOperands(call);
  const size_t num_params = func.param_buffers.size();
  if (operands.size() + num_results > num_params) return;
  // Outputs come after the operands; scalar parameters may follow.
  const auto axis_of = [&](std::pair<uint32_t, uint32_t> param) -> TensorAxis {
    const auto axis = static_cast<int>(param.second);
    if (param.first < operands.size()) return {operands[param.first], axis};
    return {result, axis, static_cast<int>(param.first - operands.size())};
  };
  BufferAxes buffers(func);
  for (const auto& group : buffers.ParamGroups(func)) {
    const auto is_output = [&](const auto& param) { return param.first >= operands.size(); };
    if (std::ranges::none_of(group, is_output)) {
      for (size_t i = 1; i < group.size(); ++i) graph.Join(axis_of(group[i]), axis_of(group[0]), AxisEdge::kBetween);
      continue;
    }
    for (const auto& output : group) {
      if (!is_output(output)) continue;
      for (const auto& input : group) {
        if (!is_output(input)) graph.Join(axis_of(input), axis_of(output), AxisEdge::kToResult);
      }
    }
  }
}

// Joins the axes of all bindings, and adds the annotated axes as sources.
class GraphBuilder : public ExprVisitor {
 public:
  GraphBuilder(const Module& module, AxisGraph& graph) : module_(module), graph_(graph) {}

  void VisitBinding(const Binding* binding) override {
    if (const auto* call = As<Call>(ValueOf(binding))) AddCall(*call, binding->var);
    if (const auto* item = As<TupleGetItem>(ValueOf(binding))) {
      JoinAll(item->tuple, item->index, binding->var, 0, binding->var->type);
    }
    if (Is<VarBinding>(binding) && Var::ClassOf(ValueOf(binding)->kind)) {
      const std::vector<const TensorType*> tensors = TensorsOf(binding->var->type);
      for (int i = 0; i < static_cast<int>(tensors.size()); ++i)
        JoinAll(ValueOf(binding), i, binding->var, i, tensors[static_cast<size_t>(i)]);
    }
    ExprVisitor::VisitBinding(binding);
  }

 private:
  void AddCall(const Call& call, const Var* var) {
    JoinCallAxes(call, var, var->type, module_, graph_);
    for (const Expr* operand : DistOperands(call)) {
      if (As<TensorType>(operand->type)) graph_.Join({operand, kWhole}, {var, kWhole}, AxisEdge::kToResult);
    }
    if (!IsOp(call.op, op::kDistAnnotateSharding)) return;
    const DistributionAttrs attrs(call);
    const DeviceMeshAttr* mesh = attrs.device_mesh();
    if (!mesh) return;
    const Placement placement = ParsePlacement(attrs.placement());
    for (int dim = 0; dim < static_cast<int>(placement.size()); ++dim) {
      const int axis = placement[static_cast<size_t>(dim)];
      if (axis >= 0) graph_.AddSource({var, axis}, {mesh, dim});
    }
    graph_.AddSource({var, kWhole}, {mesh, kWhole});
  }

  void JoinAll(const Expr* from, int from_item, const Expr* to, int to_item, const Type* type) {
    const auto* tensor = As<TensorType>(type);
    if (!tensor) return;
    for (int axis = kWhole; axis < tensor->ndim; ++axis)
      graph_.Join({from, axis, from_item}, {to, axis, to_item}, AxisEdge::kToResult);
  }

  const Module& module_;
  AxisGraph& graph_;
};

// Finds axes that are too short to be split, and tensors that cannot be placed.
class PlacementChecker : public ExprVisitor {
 public:
  PlacementChecker(AxisGraph& graph, DiagnosticEngine& diagnostics) : graph_(graph), diagnostics_(diagnostics) {}

  bool Run(const Function& function) {
    VisitExpr(function.body);
    for (const Var* param : function.params) Check(*param);
    return ok_;
  }

  void VisitBinding(const Binding* binding) override {
    Check(*binding->var);
    ExprVisitor::VisitBinding(binding);
  }

 protected:
  void VisitConstant(const Constant* constant) override {
    const auto* type = As<TensorType>(constant->type);
    for (int axis = 0; type && axis < type->ndim; ++axis) {
      if (graph_.Of({constant, axis})) Fail(*constant, "a constant cannot be split over devices; make it a parameter");
    }
  }

 private:
  void Check(const Var& var) {
    const auto* type = As<TensorType>(var.type);
    if (!type || !type->known) return;
    const DeviceMeshAttr* mesh = nullptr;
    std::vector<int> dims;
    for (int axis = kWhole; axis < type->ndim; ++axis) {
      const TensorAxis place{&var, axis};
      const std::optional<MeshAxis> split = graph_.Of(place);
      if (!split) continue;
      if ((mesh && mesh != split->mesh) || graph_.IsAmbiguous(place)) {
        return Fail(var, fmt::format("the annotations distribute tensor '{}' in different ways", var.name()));
      }
      mesh = split->mesh;
      if (axis == kWhole) continue;
      if (std::ranges::find(dims, split->dim) != dims.end()) {
        return Fail(var, fmt::format("two axes of tensor '{}' would be split over dimension {} of the mesh", var.name(),
                                     split->dim));
      }
      dims.push_back(split->dim);
      const int64_t* length = arith::AsInt(type->dims[static_cast<uint32_t>(axis)]);
      if (length && *length < mesh->shape[static_cast<uint32_t>(split->dim)]) graph_.Cut(place);
    }
  }

  void Fail(const Expr& at, std::string message) {
    diagnostics_.Error(Location(at), "pass-failed", std::move(message));
    ok_ = false;
  }

  AxisGraph& graph_;
  DiagnosticEngine& diagnostics_;
  bool ok_ = true;
};

}  // namespace

std::vector<const TensorType*> TensorsOf(const Type* type) {
  const auto tensor_of = [](const Type* t) -> const TensorType* {
    const auto* distributed = As<DTensorType>(t);
    return distributed ? distributed->tensor : As<TensorType>(t);
  };
  std::vector<const TensorType*> tensors;
  if (const TensorType* tensor = tensor_of(type)) tensors.push_back(tensor);
  const auto* tuple = As<TupleType>(type);
  for (uint32_t i = 0; tuple && i < tuple->fields.size(); ++i) tensors.push_back(tensor_of(tuple->fields[i]));
  const bool has_tensor = std::ranges::any_of(tensors, [](const TensorType* t) { return t != nullptr; });
  return has_tensor ? tensors : std::vector<const TensorType*>();
}

void JoinCallAxes(const Call& call, const Expr* result, const Type* type, const Module& module, AxisGraph& graph) {
  const std::vector<const TensorType*> tensors = TensorsOf(type);
  if (const PrimFunc* func = PrimFuncOf(call, module)) {
    JoinPrimFuncAxes(call, *func, result, tensors.size(), graph);
  } else if (tensors.size() == 1 && tensors[0] && IsOp(call.op, op::kDistAnnotateSharding)) {
    for (int axis = 0; axis < tensors[0]->ndim; ++axis)
      graph.Join({call.args[0], axis}, {result, axis}, AxisEdge::kToResult);
  } else if (tensors.size() == 1 && tensors[0] && Is<Op>(call.op)) {
    JoinOperatorAxes(call, result, tensors[0], graph);
  }
}

std::optional<AxisGraph> DistributeFunction(const Function& function, const Module& module,
                                            DiagnosticEngine& diagnostics) {
  AxisGraph graph;
  GraphBuilder(module, graph).VisitExpr(function.body);
  graph.Propagate();
  if (!PlacementChecker(graph, diagnostics).Run(function)) return std::nullopt;
  graph.Propagate();
  return graph;
}

Placement PlacementOf(const AxisGraph& graph, const Expr* tensor, int item, int rank, const DeviceMeshAttr& mesh) {
  Placement placement(mesh.shape.size(), -1);
  for (int axis = 0; axis < rank; ++axis) {
    const std::optional<MeshAxis> split = graph.Of({tensor, axis, item});
    if (split && split->mesh == &mesh) placement[static_cast<size_t>(split->dim)] = axis;
  }
  return placement;
}

}  // namespace iropt
