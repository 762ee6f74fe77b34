// Matrix products.

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/ops/common.h"
#include "iropt/op/ops/linear_algebra.h"
#include "iropt/op/ops/matmul.h"

namespace iropt::onnx {

namespace {

const Expr* Transposed(OpImport& op, const Expr* x, bool transpose) {
  const int64_t axes[] = {1, 0};
  return transpose ? op.Transpose(x, axes) : x;
}

Value ImportGemm(OpImport& op) {
  const Expr* a = Transposed(op, op.In(0), op.Int("transA") != 0);
  const Expr* b = Transposed(op, op.In(1), op.Int("transB") != 0);
  const Expr* product = Scaled(op, op.Call(op::kMatmul, {a, b}), op.Float("alpha", 1));
  const double beta = op.Float("beta", 1);
  if (!op.Has(2) || beta == 0) return product;
  // A product that is folded would leave two nodes.
  const bool is_known = op.ConstantOf(0) && op.ConstantOf(1) && !op.ConstantOf(2);
  if (op.importer().context().count_nodes && is_known && beta != 1) return {};
  return Add(op, product, Scaled(op, op.In(2), beta));
}

Value ImportEinsum(OpImport& op) {
  const std::vector<const Expr*> inputs = op.AllIn();
  std::string equation(op.String("equation"));
  std::erase(equation, ' ');
  return op.Call(op::kEinsum, {op.Tuple(inputs)}, op.Attrs<EinsumAttrs>(op::kEinsum, {.subscripts = equation}));
}

constexpr OpRow kLinearRows[] = {
    {"Einsum", 12, 1, kAny, ImportEinsum, "R.einsum"},
    {"Gemm", 1, 2, 3, ImportGemm, "R.permute_dims, R.matmul, R.multiply, R.add"},
    {"MatMul", 1, 2, 2, ImportBinary<op::kMatmul>, "R.matmul"},
};

}  // namespace

std::span<const OpRow> LinearRows() { return kLinearRows; }

}  // namespace iropt::onnx
