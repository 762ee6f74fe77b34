#include "multiply_adds.h"

#include <algorithm>
#include <set>
#include <string>

#include "iropt/infer/einsum.h"
#include "iropt/infer/layout.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/attention.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/linear_algebra.h"
#include "iropt/op/ops/matmul.h"

namespace iropt {

namespace {

using Count = std::optional<uint64_t>;

Count Multiply(Count a, Count b) {
  uint64_t product = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

const TensorType* TensorOf(const Type* type) {
  if (const auto* distributed = As<DTensorType>(type)) return distributed->tensor;
  return As<TensorType>(type);
}

// Dimension `i` of a tensor; negative ones count from the end.
Count StaticDim(const Type* type, int i) {
  const TensorType* tensor = TensorOf(type);
  if (tensor == nullptr || !tensor->known) return std::nullopt;
  const int ndim = static_cast<int>(tensor->dims.size());
  const int at = i < 0 ? i + ndim : i;
  if (at < 0 || at >= ndim) return std::nullopt;
  const auto* dim = As<tir::IntImm>(tensor->dims[at]);
  return dim != nullptr && dim->value >= 0 ? Count(static_cast<uint64_t>(dim->value)) : std::nullopt;
}

// Each element of `visited`, the output of a convolution or the input of a transposed one, meets the weights of one
// channel: all weights divided by the number of its channels, which `channel` names in the layout.
Count CountConvolution(const Type* visited, const Type* weight, std::string_view kernel_layout, char channel) {
  const std::optional<Layout> layout = Layout::Parse(kernel_layout);
  if (!layout) return std::nullopt;
  const int at = layout->IndexOf(channel);
  if (at < 0) return std::nullopt;
  const Count channels =
      Multiply(StaticDim(weight, at), static_cast<uint64_t>(std::max<int64_t>(layout->SplitOf(channel), 1)));
  const Count weights = StaticElements(weight);
  if (!channels || !weights) return std::nullopt;
  return *channels == 0 ? 0 : Multiply(StaticElements(visited), *weights / *channels);
}

// The length of the axis with this letter; an operand may have length 1 there. An ellipsis may stand for any number of
// axes, so that letters after it are counted from the end.
Count LengthOf(char letter, const EinsumEquation& equation, const TupleType& operands) {
  uint64_t length = 1;
  for (size_t i = 0; i < equation.inputs.size(); ++i) {
    const std::string& axes = equation.inputs[i];
    const size_t at = axes.find(letter);
    if (at == std::string::npos) continue;
    const bool from_end = at > axes.find('.');
    const int axis = static_cast<int>(at) - (from_end ? static_cast<int>(axes.size()) : 0);
    const Count dim = StaticDim(operands.fields[i], axis);
    if (!dim) return std::nullopt;
    if (*dim != 1) length = *dim;
  }
  return length;
}

// For each element of the result and each position of the axes that are summed over, a product of all operands.
Count CountEinsum(const Call& call) {
  const auto* operands = As<TupleType>(call.args[0]->type);
  const std::optional<EinsumEquation> equation = ParseEinsum(EinsumAttrs(call).subscripts());
  if (operands == nullptr || !equation || equation->inputs.size() != operands->fields.size()) return std::nullopt;
  std::set<char> summed;
  for (const std::string& axes : equation->inputs) {
    for (const char letter : axes) {
      if (letter != '.' && equation->output.find(letter) == std::string::npos) summed.insert(letter);
    }
  }
  Count count = Multiply(StaticElements(call.type), equation->inputs.size() - 1);
  for (const char letter : summed) count = Multiply(count, LengthOf(letter, *equation, *operands));
  return count;
}

// The products of queries and keys, and of the weights and values.
Count CountAttention(const Call& call) {
  const Count keys = StaticDim(call.args[1]->type, 1);
  const Count scores = Multiply(StaticElements(call.args[0]->type), keys);
  const Count sums = Multiply(StaticElements(call.type), keys);
  uint64_t sum = 0;
  if (!scores || !sums || __builtin_add_overflow(*scores, *sums, &sum)) return std::nullopt;
  return sum;
}

}  // namespace

std::optional<uint64_t> StaticElements(const Type* type) {
  const TensorType* tensor = TensorOf(type);
  if (tensor == nullptr || !tensor->known) return std::nullopt;
  Count count = 1;
  for (int i = 0; i < static_cast<int>(tensor->dims.size()); ++i) count = Multiply(count, StaticDim(type, i));
  return count;
}

std::optional<uint64_t> CountMultiplyAdds(const Call& call) {
  const auto* op = As<Op>(call.op);
  if (op == nullptr || call.args.empty()) return 0;
  switch (op->id) {
    case op::kMatmul: return Multiply(StaticElements(call.type), StaticDim(call.args[0]->type, -1));
    case op::kEinsum: return CountEinsum(call);
    case op::kNnConv1d:
    case op::kNnConv2d:
    case op::kNnConv3d: return CountConvolution(call.type, call.args[1]->type, ConvAttrs(call).kernel_layout(), 'O');
    case op::kNnConv1dTranspose:
    case op::kNnConv2dTranspose:
      return CountConvolution(call.args[0]->type, call.args[1]->type, ConvTransposeAttrs(call).kernel_layout(), 'I');
    case op::kNnAttention:
    case op::kNnAttentionBias: return CountAttention(call);
    // The lengths of the sequences are data.
    case op::kNnAttentionVarLen: return std::nullopt;
    default: return 0;
  }
}

}  // namespace iropt
