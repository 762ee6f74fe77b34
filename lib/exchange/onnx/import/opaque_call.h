// Operators that have no counterpart in Relax stay calls: R.call_pure_packed("onnx.LSTM", x, w, r, R.tuple(),
// R.str("hidden_size"), R.prim_value(8), sinfo_args=...). The operands are the inputs, an empty tuple for each that is
// left out, followed by a name and a value for each attribute; for a graph, the value is a function and a tuple of the
// values around the node that are its last parameters. Operators of other domains have the domain before their names,
// as in "onnx.com.microsoft.FusedConv".
#pragma once

#include "exchange/onnx/import/op_import.h"
#include "exchange/onnx/types/node_types.h"
#include "iropt/support/function_ref.h"

namespace iropt::onnx {

inline constexpr std::string_view kOpaquePrefix = "onnx.";
// Names of the operands after the attributes: the version of the operator set, and the number of outputs if it is not
// 1.
inline constexpr std::string_view kOpsetKey = "opset";
inline constexpr std::string_view kOutputsKey = "outputs";

// The call for a node. Graphs that are attributes become private functions.
Value MakeOpaqueCall(OpImport& op);
// The call for a node with outputs of these types.
Value MakeOpaqueCall(OpImport& op, const std::vector<NodeType>& types);
// The call for a node, with result types that follow from the function of the node's graph.
Value MakeOpaqueCall(OpImport& op, FunctionRef<std::vector<NodeType>(const iropt::Function& body)> types_of);
// A constant of strings or complex numbers: the shape and the elements, R.tuple(R.shape([2]), R.tuple(R.str("a"),
// ...)). Null for elements of other types.
const Expr* OpaqueTensor(const TensorProto& tensor, Workspace& workspace);

}  // namespace iropt::onnx
