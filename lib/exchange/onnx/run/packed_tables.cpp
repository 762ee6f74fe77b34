// Tables and matrices of few bits that onnxruntime's tools make: rows of quantized embeddings, and the four bits of
// bitsandbytes.

#include <algorithm>
#include <array>
#include <vector>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/run/quantized.h"

namespace iropt::onnx {

namespace {

int64_t NumBlocks(int64_t count, int64_t block) { return count / block + (count % block != 0 ? 1 : 0); }

// A table of integers with a scale, and a zero point, for each block along an axis. Bytes may hold several numbers
// along the last axis.
class BlockTable {
 public:
  static Result<BlockTable> Read(const OnnxCall& call) {
    BlockTable table;
    IROPT_ASSIGN_OR_RETURN(const Tensor data, call.TensorIn(0));
    IROPT_ASSIGN_OR_RETURN(const Tensor scales, call.TensorIn(2));
    IROPT_ASSIGN_OR_RETURN(table.data_, call.NumbersIn(0));
    IROPT_ASSIGN_OR_RETURN(table.scales_, call.NumbersIn(2));
    table.shape_.assign(data->shape().begin(), data->shape().end());
    table.scale_shape_.assign(scales->shape().begin(), scales->shape().end());
    const auto rank = static_cast<int64_t>(table.shape_.size());
    const bool is_bytes = data->dtype() == DataType::UInt(8);
    table.bits_ = is_bytes ? call.Int("bits", 4) : 8;
    const bool knows_bits = table.bits_ == 2 || table.bits_ == 4 || table.bits_ == 8;
    const int64_t axis = call.Int("quantize_axis", 1);
    if (rank == 0 || !knows_bits || axis < -rank || axis >= rank)
      return call.Fail("this form of the operator cannot be run");
    table.axis_ = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    table.shape_.back() *= 8 / table.bits_;
    table.block_ = call.Int("block_size", 128);
    if (table.block_ == 0) table.block_ = std::max<int64_t>(table.shape_[table.axis_], 1);
    if (table.block_ < 0 || !table.FitsScales()) return call.Fail("the scales do not fit the blocks");
    if (is_bytes) table.zero_ = static_cast<double>(int64_t{1} << (table.bits_ - 1));
    if (!call.Has(3)) return table;
    IROPT_ASSIGN_OR_RETURN(table.zeros_, call.NumbersIn(3));
    const int64_t rows = table.scale_shape_.back() == 0 ? 0 : Product(table.scale_shape_) / table.scale_shape_.back();
    if (static_cast<int64_t>(table.zeros_.size()) != rows * table.zero_bytes())
      return call.Fail("the zero points do not fit the blocks");
    return table;
  }

  const std::vector<int64_t>& shape() const { return shape_; }
  size_t axis() const { return axis_; }

  double At(int64_t place) const {
    int64_t scale_place = 0;
    int64_t factor = 1;
    int64_t rest = place;
    for (size_t i = shape_.size(); i-- > 0;) {
      const int64_t at = rest % shape_[i];
      rest /= shape_[i];
      const int64_t of_scale = i == axis_ ? at / block_ : at;
      scale_place += scale_shape_[i] == 1 ? 0 : of_scale * factor;
      factor *= scale_shape_[i];
    }
    return (Number(data_, shape_.back() * bits_ / 8, shape_.back(), place) - ZeroAt(scale_place)) *
           scales_[static_cast<size_t>(scale_place)];
  }

 private:
  bool FitsScales() const {
    if (scale_shape_.size() != shape_.size()) return false;
    for (size_t i = 0; i < shape_.size(); ++i) {
      const int64_t wanted = i == axis_ ? NumBlocks(shape_[i], block_) : shape_[i];
      if (scale_shape_[i] != wanted && (i == axis_ || scale_shape_[i] != 1)) return false;
    }
    return true;
  }
  int64_t zero_bytes() const { return (scale_shape_.back() * bits_ + 7) / 8; }
  // The number at the place of a matrix of so many columns, which has so many bytes in each row.
  double Number(const std::vector<double>& bytes, int64_t row_bytes, int64_t columns, int64_t place) const {
    if (bits_ == 8) return bytes[static_cast<size_t>(place)];
    return BitsAt(bytes, row_bytes, place / columns, place % columns, bits_);
  }
  double ZeroAt(int64_t scale_place) const {
    return zeros_.empty() ? zero_ : Number(zeros_, zero_bytes(), scale_shape_.back(), scale_place);
  }

  std::vector<int64_t> shape_, scale_shape_;
  std::vector<double> data_, scales_, zeros_;
  int64_t bits_ = 8, block_ = 1;
  size_t axis_ = 0;
  double zero_ = 0;
};

// Zeros for indices out of range, as in onnxruntime.
Result<HostValue> RunGatherBlockQuantized(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const BlockTable table, BlockTable::Read(call));
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, call.IntsIn(1));
  const auto rank = static_cast<int64_t>(table.shape().size());
  int64_t axis = call.Int("gather_axis");
  if (axis < -rank || axis >= rank) return call.Fail("the axis is out of range");
  if (axis < 0) axis += rank;
  if (static_cast<size_t>(axis) == table.axis() || (axis != 0 && call.Dtype(0) == DataType::UInt(8)))
    return call.Fail("this form of the operator cannot be run");
  const std::span<const int64_t> before = std::span(table.shape()).first(static_cast<size_t>(axis));
  const std::span<const int64_t> after = std::span(table.shape()).subspan(static_cast<size_t>(axis) + 1);
  const std::span<const int64_t> chosen = call.Shape(1);
  std::vector<int64_t> shape(before.begin(), before.end());
  shape.insert(shape.end(), chosen.begin(), chosen.end());
  shape.insert(shape.end(), after.begin(), after.end());
  IROPT_RETURN_IF_ERROR(call.CheckShape(shape));
  const int64_t size = table.shape()[static_cast<size_t>(axis)];
  const int64_t inner = Product(after);
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(Product(shape)));
  for (int64_t outer = 0; outer < Product(before); ++outer) {
    for (const int64_t index : indices) {
      const int64_t row = index < 0 ? index + size : index;
      for (int64_t i = 0; i < inner; ++i)
        numbers.push_back(row < 0 || row >= size ? 0 : table.At((outer * size + row) * inner + i));
    }
  }
  return HostValue(FromNumbers(call.Dtype(2), shape, numbers));
}

// The numbers that four bits stand for: floats of four bits, and quantiles of a normal distribution (QLoRA).
constexpr std::array<float, 16> kFloats4 = {
    0, 5.208333333e-03F,  0.66666667F,  1,  0.33333333F,  0.5F,  0.16666667F,  0.25F,
    0, -5.208333333e-03F, -0.66666667F, -1, -0.33333333F, -0.5F, -0.16666667F, -0.25F};
constexpr std::array<float, 16> kNormalFloats4 = {
    -1,         -0.6961928F, -0.52507305F, -0.3949175F, -0.28444138F, -0.18477343F, -0.091050036F, 0,
    0.0795803F, 0.1609302F,  0.2461123F,   0.33791524F, 0.44070983F,  0.562617F,    0.72295684F,   1};

// Data, the packed matrix [N, K] with the first number in the high bits, and the greatest number of each block
Result<HostValue> RunMatMulBnb4(OnnxCall& call) {
  const int64_t rows = call.Int("N"), columns = call.Int("K"), block = call.Int("block_size", 64);
  if (rows <= 0 || columns <= 0 || block <= 0 || call.Int("transB", 1) == 0)
    return call.Fail("this form of the operator cannot be run");
  const int64_t whole[] = {rows, columns};
  IROPT_RETURN_IF_ERROR(call.CheckShape(whole));
  IROPT_ASSIGN_OR_RETURN(const Tensor packed, call.TensorIn(1));
  if (packed->dtype() != DataType::UInt(8)) return call.Fail("the packed matrix has no bytes");
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> a, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> bytes, call.NumbersIn(1));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> greatest, call.NumbersIn(2));
  const int64_t count = rows * columns;
  if (static_cast<int64_t>(bytes.size()) < (count + 1) / 2 ||
      static_cast<int64_t>(greatest.size()) < NumBlocks(count, block))
    return call.Fail("the packed matrix does not fit the attributes");
  const std::array<float, 16>& values = call.Int("quant_type", 1) == 0 ? kFloats4 : kNormalFloats4;
  std::vector<double> b(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned>(bytes[static_cast<size_t>(i / 2)]);
    const float value = values[(i % 2 == 0 ? byte >> 4 : byte) & 15];
    b[static_cast<size_t>(i % columns * rows + i / columns)] =
        static_cast<double>(value) * greatest[static_cast<size_t>(i / block)];
  }
  const int64_t b_shape[] = {columns, rows};
  IROPT_ASSIGN_OR_RETURN(const MatrixProduct product, Multiplied(call, call.Shape(0), a, b_shape, b));
  return HostValue(FromNumbers(call.Dtype(0), product.shape, product.values));
}

constexpr KernelRow kPackedTableKernels[] = {
    {"com.microsoft.GatherBlockQuantized", "012", RunGatherBlockQuantized},
    {"com.microsoft.MatMulBnb4", "012", RunMatMulBnb4},
};

}  // namespace

std::span<const KernelRow> PackedTableKernels() { return kPackedTableKernels; }

}  // namespace iropt::onnx
