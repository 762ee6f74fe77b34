// The last step on the nodes of an exported model.
#pragma once

#include "exchange/onnx/export/export.h"

namespace iropt::onnx {

// Makes outputs that are small constants, or that nothing else uses, nodes Constant, not copies of initializers, which
// the versions before 4 of the IR have among the inputs. O(initializers + nodes).
void MakeConstantNodes(ExportedModel& exported);

// Removes nodes none of whose outputs is used, in graphs that are attributes, too, and then the types and initializers
// that only these had. A fused node, or a shape that is taken from a tensor, leaves such nodes behind. The names in the
// model must be unique. O(nodes + their inputs and outputs).
void RemoveDeadNodes(ExportedModel& model);

// Div(a, x) for Mul(a, Reciprocal(x)), where nothing else uses the reciprocal: ONNX has no rsqrt, and runtimes look for
// the quotient in normalizations. In graphs that are attributes, too. O(nodes + their inputs).
void DivideByReciprocals(GraphProto& graph);

// Takes what a transpose is made of where another one undoes it, and one of them is a step of a call: operators in
// other layouts are written between transposes. O(nodes + their inputs).
void CancelTransposes(GraphProto& graph);

// Takes the value of a node from an equal one before it in the same graph, unless both have names or give outputs of
// the graph: several values may be composed of the same steps. The name, if one of them has one, stays. O(nodes + their
// inputs).
void MergeEqualNodes(GraphProto& graph);

// Parts of shapes instead of their elements, where nothing else uses the shape: Shape(x){start=1} for
// Gather(Shape(x), [1, 2, ...]). The operator set has them from version 15 on. O(nodes + their inputs).
void TakePartsOfShapes(GraphProto& graph);

// Lets values that are outputs under other names have these names, instead of copies of them; constants from version 4
// of the IR on, before which they are inputs. Constants that need several names are there several times if they are
// small, or were in the input. O(nodes and their operands).
void NameOutputs(ExportedModel& exported);

// Leaves each value one description, the last one, and inputs and outputs none. Those go that would make the model
// larger by more than a small part and the bytes that the descriptions took when it was read, or all if it had none.
void TidyValueInfos(Model& model, uint64_t given);

// Takes the shapes of inputs and outputs, first those of inner graphs, that would make the model larger by more than a
// small part and the bytes that such shapes took when it was read.
void TidyShapes(Model& model, uint64_t given);

// Lists integers of tensors that were made or read as lists where that takes less room: most are small numbers.
// O(their elements).
void ListSmallIntegers(ExportedModel& exported);

}  // namespace iropt::onnx
