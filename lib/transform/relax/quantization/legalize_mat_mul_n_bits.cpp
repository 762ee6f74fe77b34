// LegalizeMatMulNBits: computes products with weights of few bits by PrimFuncs, which unpack the weights in registers.
//
//   y = R.call_pure_packed("onnx.com.microsoft.MatMulNBits", x, codes, scales, ...)    -->
//   y = R.call_tir(cls.matmul_n_bits, (x, words, scales), out_sinfo=R.Tensor((1, 4096), "float32"))
//
// where a word of int32 has the codes of one column in 32 / bits rows, less the middle of their range, and scales and
// zero points have a row for each block of rows: a vector of columns is in memory in order. The PrimFunc can be fused
// with what follows it, and scheduled like other products. It adds up floats, while the call is computed in float64.
//
// Data and scales are float32, and weights, scales and zero points are constants. Calls stay with groups of rows in
// another order, and with blocks of a number of rows that words do not divide. Weights in files are read. O(nodes +
// weights).
#include <optional>

#include "iropt/analysis/tir/op_pattern.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "packed_node.h"
#include "transform/relax/util/prim_func_calls.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr DataType kNumber = DataType::Float(32);
constexpr int64_t kWordBits = 32;

// A weight [K, N] whose blocks of rows have scales, and zero points unless these are the middle of the range of codes.
struct BlockedWeight {
  int64_t inputs = 0, outputs = 0, bits = 4, block = 32;
  const NDArray *codes = nullptr, *scales = nullptr, *zeros = nullptr;

  int64_t blocks() const { return (inputs + block - 1) / block; }
  int64_t codes_per_word() const { return kWordBits / bits; }
  int64_t words() const { return blocks() * block / codes_per_word(); }
  int64_t bytes_of_zeros() const { return (blocks() * bits + 7) / 8; }
};

// The bits of a code of a row of packed codes.
unsigned CodeAt(const std::byte* row, int64_t index, int64_t bits) {
  const auto byte = std::to_integer<unsigned>(row[index * bits / 8]);
  return byte >> static_cast<unsigned>(index * bits % 8) & ((1U << bits) - 1);
}

// The constant that the input is or is bound to; null for others.
const NDArray* ConstantIn(LegalizeCall& call, const PackedNode& node, size_t input) {
  if (!node.In(input)) return nullptr;
  const Constant* constant = call.ConstantArg(input + 1);  // after the name
  return constant ? constant->data : nullptr;
}

std::optional<BlockedWeight> WeightOf(LegalizeCall& call, const PackedNode& node) {
  BlockedWeight weight{.inputs = node.Int("K", 0),
                       .outputs = node.Int("N", 0),
                       .bits = node.Int("bits", 4),
                       .block = node.Int("block_size", 32),
                       .codes = ConstantIn(call, node, 1),
                       .scales = ConstantIn(call, node, 2),
                       .zeros = ConstantIn(call, node, 3)};
  const bool has_bits = weight.bits == 2 || weight.bits == 4 || weight.bits == 8;
  if (!has_bits || weight.inputs <= 0 || weight.outputs <= 0 || weight.block <= 0) return std::nullopt;
  if (weight.block % weight.codes_per_word() != 0 || !weight.codes || !weight.scales) return std::nullopt;
  if (!node.IsLeftOut(4) || (!weight.zeros && !node.IsLeftOut(3))) return std::nullopt;
  const auto count_of_codes = static_cast<uint64_t>(weight.outputs) * static_cast<uint64_t>(weight.words()) * 4;
  const auto has = [](const NDArray& array, DataType dtype, uint64_t count) {
    return array.dtype() == dtype && static_cast<uint64_t>(array.num_elements()) == count;
  };
  const auto numbers = static_cast<uint64_t>(weight.outputs * weight.blocks());
  const auto bytes = static_cast<uint64_t>(weight.outputs * weight.bytes_of_zeros());
  const bool fits = has(*weight.codes, DataType::UInt(8), count_of_codes) && has(*weight.scales, kNumber, numbers);
  const bool has_zeros =
      !weight.zeros || has(*weight.zeros, DataType::UInt(8), bytes) || has(*weight.zeros, kNumber, numbers);
  return fits && has_zeros ? std::optional(weight) : std::nullopt;
}

// The words, with codes less the middle of their range: the first bit of each is turned.
const Expr* WordsOf(const BlockedWeight& weight, Workspace& workspace) {
  uint32_t first_bits = 0;
  for (int64_t bit = weight.bits - 1; bit < kWordBits; bit += weight.bits) first_bits |= 1U << bit;
  const auto words = NDArray::Make(DataType::Int(32), {weight.words(), weight.outputs});
  const std::span<int32_t> to = words->MutableAs<int32_t>();
  const std::span<const uint8_t> from = weight.codes->As<uint8_t>();
  for (int64_t n = 0; n < weight.outputs; ++n) {
    for (int64_t i = 0; i < weight.words(); ++i) {
      uint32_t word = 0;
      for (int64_t byte = 0; byte < 4; ++byte)
        word |= uint32_t{from[static_cast<size_t>((n * weight.words() + i) * 4 + byte)]} << (8 * byte);
      to[static_cast<size_t>(i * weight.outputs + n)] = static_cast<int32_t>(word ^ first_bits);
    }
  }
  return MakeConstant(words, workspace);
}

// A row for each block of what `number` gives for a column and a block.
template <class F>
const Expr* RowsOfBlocks(const BlockedWeight& weight, Workspace& workspace, const F& number) {
  const auto rows = NDArray::Make(kNumber, {weight.blocks(), weight.outputs});
  const std::span<float> to = rows->MutableAs<float>();
  for (int64_t n = 0; n < weight.outputs; ++n) {
    for (int64_t block = 0; block < weight.blocks(); ++block)
      to[static_cast<size_t>(block * weight.outputs + n)] = number(n, block);
  }
  return MakeConstant(rows, workspace);
}

const Expr* ScalesOf(const BlockedWeight& weight, Workspace& workspace) {
  const std::span<const float> from = weight.scales->As<float>();
  return RowsOfBlocks(weight, workspace,
                      [&](int64_t n, int64_t block) { return from[static_cast<size_t>(n * weight.blocks() + block)]; });
}

// The zero points less the middle of the range; null if there are none.
const Expr* ZerosOf(const BlockedWeight& weight, Workspace& workspace) {
  if (!weight.zeros) return nullptr;
  const bool is_packed = weight.zeros->dtype() == DataType::UInt(8);
  const auto middle = static_cast<float>(1U << (weight.bits - 1));
  return RowsOfBlocks(weight, workspace, [&](int64_t n, int64_t block) {
    if (!is_packed) return weight.zeros->As<float>()[static_cast<size_t>(n * weight.blocks() + block)] - middle;
    const std::byte* row = weight.zeros->data() + n * weight.bytes_of_zeros();
    return static_cast<float>(CodeAt(row, block, weight.bits)) - middle;
  });
}

te::Tensor Product(const te::Tensor& x, const te::Tensor& words, const te::Tensor& scales, const te::Tensor& zeros,
                   const BlockedWeight& weight) {
  te::Builder& te = x.te();
  te::Shape shape = x.shape();
  shape.back() = weight.outputs;
  const te::ReduceAxis k[] = {{"k", weight.inputs}};
  return te.Reduce("matmul_n_bits", shape, k, te::Reducer::kSum, [&](te::Values i, te::Values r) {
    std::vector<te::Value> at(i.begin(), i.end());
    at.back() = r[0];
    const te::Value place = te::Cast(DataType::Int(32), te::FloorMod(r[0], weight.codes_per_word()));
    const te::Value after = te.Const(static_cast<double>(kWordBits - weight.bits), DataType::Int(32));
    // The code goes to the end of the word, and back with its sign.
    const te::Value first =
        te::Bitwise(arith::BitOp::kShiftLeft, words(te::FloorDiv(r[0], weight.codes_per_word()), i.back()),
                    after - place * weight.bits);
    te::Value number = te::Cast(kNumber, te::Bitwise(arith::BitOp::kShiftRight, first, after));
    const te::Value block = te::FloorDiv(r[0], weight.block);
    if (zeros) number = number - zeros(block, i.back());
    return x(te::Values(at)) * (number * scales(block, i.back()));
  });
}

const Expr* ReplaceProduct(LegalizeCall& call) {
  const PackedNode node(call.call());
  if (node.name() != "com.microsoft.MatMulNBits") return &call.call();
  const auto* x = node.In(0) ? TensorTypeOf(node.In(0)) : nullptr;
  const TensorType* result = TensorTypeOf(&call.call());
  if (!x || x->dtype != kNumber || !x->known || x->ndim < 1 || !result || result->dtype != kNumber) return &call.call();
  const auto weight = WeightOf(call, node);
  const int64_t* columns = arith::AsInt(x->dims[x->dims.size() - 1]);
  if (!weight || !columns || *columns != weight->inputs || (!node.IsLeftOut(5) && !node.In(5))) return &call.call();
  if (!AllowRewrite("legalize-mat-mul-n-bits", call.call())) return &call.call();
  TeCall product(call, "matmul_n_bits");
  Workspace& workspace = call.builder().workspace();
  const te::Tensor data = product.Input(node.In(0));
  const te::Tensor words = product.Input(WordsOf(*weight, workspace));
  const te::Tensor scales = product.Input(ScalesOf(*weight, workspace));
  const Expr* zero_points = ZerosOf(*weight, workspace);
  const te::Tensor zeros = zero_points ? product.Input(zero_points) : te::Tensor();
  // Elementwise operators are fused after it.
  product.SetAttr(attr::kOpPattern, IntAttr::Get(static_cast<int64_t>(OpPattern::kOutEWiseFusable)));
  const Expr* y = product.Finish({Product(data, words, scales, zeros, *weight)});
  return node.In(5) ? op::Add(OpBuilder(call.builder()), call.builder().Emit(y), node.In(5)) : y;
}

}  // namespace

Pass CreateLegalizeMatMulNBits(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) {
    return ReplaceByPrimFuncs(std::move(module), ReplaceProduct, context.diagnostics);
  });
}

}  // namespace iropt
