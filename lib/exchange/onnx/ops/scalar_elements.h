// Operators on tensors whose elements are scalar expressions, such as the parts of a shape (Elements).
#pragma once

#include "exchange/onnx/import/op_import.h"

namespace iropt::onnx {

Value EvaluateAdd(OpImport& op);
Value EvaluateAnd(OpImport& op);
Value EvaluateCast(OpImport& op);
Value EvaluateConcat(OpImport& op);
Value EvaluateConstantOfShape(OpImport& op);
Value EvaluateDiv(OpImport& op);
Value EvaluateEqual(OpImport& op);
Value EvaluateGather(OpImport& op);
Value EvaluateGreater(OpImport& op);
Value EvaluateGreaterOrEqual(OpImport& op);
Value EvaluateLess(OpImport& op);
Value EvaluateLessOrEqual(OpImport& op);
Value EvaluateMax(OpImport& op);
Value EvaluateMin(OpImport& op);
Value EvaluateMod(OpImport& op);
Value EvaluateMul(OpImport& op);
Value EvaluateNeg(OpImport& op);
Value EvaluateNot(OpImport& op);
Value EvaluateOr(OpImport& op);
Value EvaluateRange(OpImport& op);
Value EvaluateReduceProd(OpImport& op);
Value EvaluateReshape(OpImport& op);
Value EvaluateSlice(OpImport& op);
Value EvaluateSqueeze(OpImport& op);
Value EvaluateSub(OpImport& op);
Value EvaluateUnsqueeze(OpImport& op);
Value EvaluateWhere(OpImport& op);

}  // namespace iropt::onnx
