// The axis graph of a Relax function on tensors, some of which are annotated with how they are distributed.
#pragma once

#include "axis_graph.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/infer/sharding.h"
#include "iropt/ir/module.h"

namespace iropt {

// The tensor types of a variable: its own, or those of the items of a tuple; null for other items than tensors. Empty
// if it has no tensors.
std::vector<const TensorType*> TensorsOf(const Type* type);

// Joins the axes of the operands of a call with those of its result, which `result` stands for and which has `type`.
void JoinCallAxes(const Call& call, const Expr* result, const Type* type, const Module& module, AxisGraph& graph);

// Finds the sharding of all tensors of the function, from R.dist.annotate_sharding. Axes that are too short to be split
// are not. Nothing after an error: a tensor that should be on two meshes, or of which two axes should be split over one
// dimension of the mesh.
std::optional<AxisGraph> DistributeFunction(const Function& function, const Module& module,
                                            DiagnosticEngine& diagnostics);

// The placement of a tensor, or of an item of a tuple, on a mesh.
Placement PlacementOf(const AxisGraph& graph, const Expr* tensor, int item, int rank, const DeviceMeshAttr& mesh);

}  // namespace iropt
