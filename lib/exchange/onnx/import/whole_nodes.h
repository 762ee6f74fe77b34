// Nodes that stay calls of `onnx.<Op>` because the writer would need several nodes for what Relax has.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "exchange/onnx/import/op_import.h"
#include "exchange/onnx/types/node_types.h"
#include "iropt/ir/relax/expr.h"

namespace iropt::onnx {

// The number of nodes that a function would be written as, or nothing if it cannot be written. With `sizes_are_given`,
// what computes dimensions does not count.
using NodeCounter = std::function<std::optional<size_t>(const iropt::Function& function, bool sizes_are_given)>;

// The shapes that stay values: those of results of nodes whose dimensions are computed of others, or all that have
// dimensions which only a run knows.
enum class KeptShapes : uint8_t { None, Computed, All };

// Returns whether a node that was imported as `value`, with the bindings that were made on the way, is better kept as
// it is: it would become more nodes, or none that the operator set has. Not of nodes whose inputs are all known, which
// can be folded, and of those with graphs.
bool IsBetterWhole(OpImport& op, const Expr* value, std::span<const Binding* const> made, const NodeCounter& count);

// The types of the outputs of a node that was imported as `value`.
std::vector<NodeType> TypesOfOutputs(OpImport& op, const Expr* value);

}  // namespace iropt::onnx
