#include "vector_instructions.h"

namespace iropt {

namespace {

bool AddPairs(ScalarEvaluator& eval, const PrimExpr* const* operands, int lane, int64_t* sum) {
  for (int i = 2 * lane; i < 2 * lane + 2; ++i) {
    int64_t a = 0;
    int64_t b = 0;
    if (!eval.EvalInt(operands[0], &a, i) || !eval.EvalInt(operands[1], &b, i)) return false;
    *sum += a * b;
  }
  return true;
}

bool AddBytes(ScalarEvaluator& eval, const PrimExpr* const* operands, int lane, int64_t* sum) {
  int64_t a = 0;
  int64_t b = 0;
  if (!eval.EvalInt(operands[0], sum, lane) || !eval.EvalInt(operands[1], &a, lane) ||
      !eval.EvalInt(operands[2], &b, lane))
    return false;
  for (int shift = 0; shift < 32; shift += 8) *sum += ((a >> shift) & 255) * static_cast<int8_t>((b >> shift) & 255);
  return true;
}

}  // namespace

bool EvalInstruction(ScalarEvaluator& eval, const tir::Call& call, NamedInstruction named, int lane, Scalar* result) {
  const PrimExpr* const* operands = &call.args[named.first_operand];
  int64_t sum = 0;
  const bool has_value = named.instruction == VectorInstruction::kDotPairs ? AddPairs(eval, operands, lane, &sum)
                                                                           : AddBytes(eval, operands, lane, &sum);
  // Sums wrap around.
  if (has_value) *result = Scalar::Int(static_cast<int32_t>(sum), call.dtype.with_lanes(1));
  return has_value;
}

}  // namespace iropt
