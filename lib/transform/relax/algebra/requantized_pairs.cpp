#include "requantized_pairs.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "iropt/ir/ndarray.h"
#include "iropt/ir/structural.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "transform/relax/quantization/affine_type.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

Pattern IsPacked(std::string_view name, std::initializer_list<Pattern> operands) {
  std::vector<Pattern> args = {Wildcard().Where([name](const Expr* callee) {
    const auto* function = As<ExternFunc>(callee);
    return function != nullptr && function->global_symbol == name;
  })};
  args.insert(args.end(), operands.begin(), operands.end());
  return IsCall(GetOp(op::kCallPurePacked), args).AnyMoreArgs();
}

bool IsSameOperand(const Expr* a, const Expr* b, const Definitions& definitions) {
  const Expr* x = DefinitionOf(a, definitions);
  const Expr* y = DefinitionOf(b, definitions);
  if (a == b || x == y) return true;
  const auto* of_x = As<Constant>(x);
  const auto* of_y = As<Constant>(y);
  if (of_x && of_y) return *of_x->data == *of_y->data;
  const bool is_literal = Is<StringImm>(x) || Is<PrimValue>(x) || Is<ShapeExpr>(x);
  return is_literal && StructuralEqual(x, y);
}

// Returns whether rounding undoes the products of these scales with integers of so many bits, and the quotients.
bool AreSafeScales(const Expr* scale, int bits) {
  const auto* constant = As<Constant>(scale);
  const auto numbers = constant ? NumbersOf(constant) : std::nullopt;
  if (!numbers) return false;
  const DataType dtype = constant->data->dtype();
  const bool is_half = dtype == DataType::Float(16);
  if (bits > 16 || (!is_half && dtype != DataType::Float(32)) || (is_half && bits > 8)) return false;
  // Their products are neither too large nor below the least normal number.
  const double least = is_half ? std::ldexp(1.0, -14) : std::ldexp(1.0, -100);
  const double most = is_half ? std::ldexp(1.0, 6) : std::ldexp(1.0, 100);
  return std::ranges::all_of(*numbers, [&](double number) { return number >= least && number <= most; });
}

}  // namespace

void AddRequantizedPairRules(RuleSet& rules) {
  constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"onnx.QuantizeLinear", "onnx.DequantizeLinear"},
      {"onnx.com.microsoft.QuantizeLinear", "onnx.com.microsoft.DequantizeLinear"}};
  for (const auto& [quantize, dequantize] : kPairs) {
    const Pattern x = Wildcard();
    const Pattern real = IsPacked(dequantize, {x});
    const Pattern again = IsPacked(quantize, {real});
    rules.Add({"quantize of dequantize", again, [=](const Match& match, BlockBuilder&) -> const Expr* {
                 const Call& inner = *match.CallAt(real);
                 const Call& outer = *match.CallAt(again);
                 const TensorType* type = TensorTypeOf(match[x]);
                 // The function, the tensor, the scale and the zero point, and then attributes.
                 if (inner.args.size() != outer.args.size() || inner.args.size() < 4) return nullptr;
                 if (type == nullptr || !type->dtype.is_integer() || !TypeEqual(type, match[again]->type))
                   return nullptr;
                 for (uint32_t i = 2; i < inner.args.size(); ++i) {
                   if (!IsSameOperand(inner.args[i], outer.args[i], match.definitions())) return nullptr;
                 }
                 const Expr* scale = DefinitionOf(inner.args[2], match.definitions());
                 return AreSafeScales(scale, type->dtype.bits) ? match[x] : nullptr;
               }});
  }
}

}  // namespace iropt
