// The rules of integer_rules.cpp by themselves: each gives what an operator is on quantized tensors, or nothing after a
// report.
#pragma once

#include <optional>

#include "rule_call.h"

namespace iropt {

using Applied = std::optional<IntegerValue>;

// ---- Operators that move elements, or choose from them (move_rules.cpp)
Applied ApplyIdentity(RuleCall& in);
Applied ApplyChoice(RuleCall& in);
Applied ApplySplit(RuleCall& in);
Applied ApplyTopk(RuleCall& in);
Applied ApplyConcat(RuleCall& in);
Applied ApplyPad(RuleCall& in);
// The type of a tensor after the operator has moved its elements; nothing after a report if its channels are then no
// longer along an axis. In TVM, the axis of the channels stays what it was.
std::optional<AffineType> MovedType(RuleCall& in);

// ---- Operators of each element (elementwise_rules.cpp)
Applied ApplyRelu(RuleCall& in);
Applied ApplyClip(RuleCall& in);
Applied ApplyLeakyRelu(RuleCall& in);
Applied ApplySoftmax(RuleCall& in);
Applied ApplyAbs(RuleCall& in);
Applied ApplyErf(RuleCall& in);
Applied ApplyExp(RuleCall& in);
Applied ApplyHardswish(RuleCall& in);
Applied ApplyLog(RuleCall& in);
Applied ApplyRsqrt(RuleCall& in);
Applied ApplySigmoid(RuleCall& in);
Applied ApplySqrt(RuleCall& in);
Applied ApplyTanh(RuleCall& in);
Applied ApplyAdd(RuleCall& in);
Applied ApplySubtract(RuleCall& in);
Applied ApplyMultiply(RuleCall& in);
Applied ApplyExtremum(RuleCall& in);

// ---- Sums of many elements (product_rules.cpp)
Applied ApplyAvgPool(RuleCall& in);
Applied ApplyAdaptiveAvgPool(RuleCall& in);
Applied ApplyGlobalAvgPool(RuleCall& in);
Applied ApplyMean(RuleCall& in);
Applied ApplyConv2d(RuleCall& in);
Applied ApplyConv2dTranspose(RuleCall& in);
Applied ApplyDense(RuleCall& in);
Applied ApplyBatchMatmul(RuleCall& in);
Applied ApplyBiasAdd(RuleCall& in);

// ---- What they share
// The type with another dtype.
IntegerValue ValueOfType(const Expr* expr, AffineType type, DataType dtype);
// The static size of a dimension of a tensor; nothing if it is not known.
std::optional<int64_t> SizeOf(const Expr* tensor, size_t axis);
// Returns whether there is one scale and one zero point.
bool IsPerTensor(const AffineType& type);
// The type of an operand with one scale and one zero point; null after a report for other ones.
const AffineType* TypeOfTensor(RuleCall& in, size_t operand);
// The type of an operand whose integers have the order of the numbers; null after a report for other ones.
const AffineType* TypeInOrder(RuleCall& in, size_t operand);

}  // namespace iropt
