// Weights as integers of few bits. The pass is tested on programs in test/transform/quantize_weights.
#include "transform/relax/quantization/quantized_matrix.h"

#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "catch.h"
#include "iropt/ir/ndarray.h"
#include "transform/relax/quantization/compensated_rounder.h"

namespace iropt {

namespace {

std::shared_ptr<NDArray> RandomMatrix(int64_t rows, int64_t columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::shared_ptr<NDArray> array = NDArray::Make(DataType::Float(32), {rows, columns});
  for (float& number : array->MutableAs<float>()) number = normal(generator);
  return array;
}

std::shared_ptr<NDArray> Transposed(const NDArray& matrix) {
  const int64_t rows = matrix.shape()[0];
  const int64_t columns = matrix.shape()[1];
  std::shared_ptr<NDArray> array = NDArray::Make(matrix.dtype(), {columns, rows});
  for (int64_t i = 0; i < rows * columns; ++i)
    array->MutableAs<float>()[static_cast<size_t>(i % columns * rows + i / columns)] =
        matrix.As<float>()[static_cast<size_t>(i)];
  return array;
}

QuantizedMatrix Quantized(const WeightMatrix& matrix, const MatrixFormat& format, size_t memory = SIZE_MAX,
                          const RowRounder& rounder = NearestRounder()) {
  TensorStore store(memory);
  MatrixChunk buffers;
  auto result = QuantizeMatrix(matrix, format, rounder, "w", store, 2, buffers);
  REQUIRE(result.ok());
  REQUIRE(*result);
  return **result;
}

double RelativeError(const QuantizedMatrix& matrix) { return std::sqrt(matrix.squared_error / matrix.squared_norm); }

}  // namespace

TEST_CASE("the codes of a block are the nearest ones", "[quantized_matrix]") {
  const std::vector<float> numbers = {-4, 0.5F, 3.2F, 0, 1, -0.24F};
  for (const bool symmetric : {true, false}) {
    for (const int bits : {4, 8}) {
      for (const bool negative_scales : {true, false}) {
        const BlockFormat format{.bits = bits, .symmetric = symmetric, .negative_scales = negative_scales};
        const BlockScale scale = ScaleOf(numbers, format);
        std::vector<uint8_t> codes(numbers.size());
        CodesOf(numbers, scale, format, codes.data());
        for (size_t i = 0; i < numbers.size(); ++i) {
          CHECK(codes[i] < format.levels());
          const float error = std::abs(NumberOf(codes[i], scale) - numbers[i]);
          CHECK(error <= std::abs(scale.scale) * 0.501F);
        }
        // Zeros stay zeros.
        CHECK(codes[3] == scale.zero);
      }
    }
  }
}

TEST_CASE("scales have the precision of their dtype and are not zero", "[quantized_matrix]") {
  const BlockFormat half{.bits = 4, .scale_dtype = DataType::Float(16)};
  CHECK(ScaleOf(std::vector{1e-9F, 0.0F}, half).scale == std::ldexp(1.0F, -24));
  CHECK(ScaleOf(std::vector{0.7F}, half).scale == 0.0999755859375F);
  const BlockFormat single{.bits = 4};
  CHECK(ScaleOf(std::vector{0.0F, 0.0F}, single).scale == 1);
  CHECK(ScaleOf(std::vector{1e-45F}, single).scale > 0);
}

TEST_CASE("a matrix and its transposition have the same codes and scales", "[quantized_matrix]") {
  const std::shared_ptr<NDArray> by_output = RandomMatrix(37, 70, 1);
  const std::shared_ptr<NDArray> by_input = Transposed(*by_output);
  for (const bool symmetric : {true, false}) {
    const MatrixFormat format{.numbers = {.bits = 4, .symmetric = symmetric, .negative_scales = true}, .block = 32};
    const QuantizedMatrix a = Quantized({by_output.get(), true}, format);
    const QuantizedMatrix b = Quantized({by_input.get(), false}, format);
    CHECK(*a.codes == *b.codes);
    CHECK(*a.scales == *b.scales);
    CHECK((a.zeros != nullptr) == !symmetric);
    if (a.zeros) CHECK(*a.zeros == *b.zeros);
    CHECK(RelativeError(a) < 0.12);
    // 37 * 3 blocks of 16 bytes, as many floats, and rows of three zero points in two bytes.
    CHECK(a.num_bytes() == 37 * 3 * (16 + 4) + (symmetric ? 0 : 37 * 2));
  }
}

TEST_CASE("tensors beyond the memory are in a file", "[quantized_matrix]") {
  const std::shared_ptr<NDArray> matrix = RandomMatrix(64, 96, 2);
  for (const MatrixFormat::Layout layout : {MatrixFormat::Layout::kPacked, MatrixFormat::Layout::kPlain}) {
    const MatrixFormat format{.numbers = {.bits = 4, .symmetric = false}, .block = 32, .layout = layout};
    const QuantizedMatrix in_memory = Quantized({matrix.get(), false}, format);
    const QuantizedMatrix in_file = Quantized({matrix.get(), false}, format, 0);
    CHECK(*in_memory.codes == *in_file.codes);
    CHECK(*in_memory.scales == *in_file.scales);
    CHECK(*in_memory.zeros == *in_file.zeros);
    CHECK(in_file.codes->source()->name == "w_Q4");
    CHECK(in_file.codes->source()->path.empty());
  }
}

TEST_CASE("a matrix with a number that is not finite is not quantized", "[quantized_matrix]") {
  const std::shared_ptr<NDArray> matrix = RandomMatrix(33, 40, 3);
  matrix->MutableAs<float>()[1000] = INFINITY;
  for (const bool outputs_first : {true, false}) {
    TensorStore store(SIZE_MAX);
    MatrixChunk buffers;
    const auto result = QuantizeMatrix({matrix.get(), outputs_first}, {}, NearestRounder(), "w", store, 2, buffers);
    REQUIRE(result.ok());
    CHECK(!*result);
  }
}

// The data have few independent columns, as those of real models. There are enough inputs for several blocks.
TEST_CASE("rounding that makes up for errors changes products less", "[compensated_rounder]") {
  constexpr int64_t kInputs = 300;
  constexpr int64_t kOutputs = 40;
  const std::shared_ptr<NDArray> weights = RandomMatrix(kOutputs, kInputs, 4);
  const std::shared_ptr<NDArray> mix = RandomMatrix(12, kInputs, 5);
  const auto data_of = [&](unsigned seed) {
    const std::shared_ptr<NDArray> few = RandomMatrix(200, 12, seed);
    std::shared_ptr<NDArray> data = RandomMatrix(200, kInputs, seed + 1);
    for (size_t i = 0; i < 200 * kInputs; ++i) {
      float& number = data->MutableAs<float>()[i];
      number *= 0.1F;
      for (size_t k = 0; k < 12; ++k)
        number += few->As<float>()[i / kInputs * 12 + k] * mix->As<float>()[k * kInputs + i % kInputs];
    }
    return data;
  };
  InputProducts products(kInputs);
  products.Add(data_of(6)->As<float>());
  const auto rounder = CompensatedRounder::Make(products);
  REQUIRE(rounder);
  const std::shared_ptr<NDArray> data = data_of(8);
  const auto error_of = [&](const RowRounder& chosen, int64_t block) {
    const MatrixFormat format{.numbers = {.bits = 4}, .block = block};
    std::vector<uint8_t> codes(kOutputs * kInputs);
    std::vector<BlockScale> scales(static_cast<size_t>(kOutputs * format.BlocksOf(kInputs)));
    chosen.Round(weights->As<float>().data(), kOutputs, kInputs, format, codes.data(), scales.data());
    double error = 0;
    for (size_t row = 0; row < 200; ++row) {
      for (size_t n = 0; n < kOutputs; ++n) {
        double difference = 0;
        for (size_t k = 0; k < kInputs; ++k) {
          const BlockScale& scale = scales[n * static_cast<size_t>(format.BlocksOf(kInputs)) +
                                           k / static_cast<size_t>(format.BlockOf(kInputs))];
          const float change = NumberOf(codes[n * kInputs + k], scale) - weights->As<float>()[n * kInputs + k];
          difference += static_cast<double>(change * data->As<float>()[row * kInputs + k]);
        }
        error += difference * difference;
      }
    }
    return error;
  };
  for (const int64_t block : {0, 16, 32, 40})
    CHECK(error_of(*rounder, block) < 0.3 * error_of(NearestRounder(), block));
}

TEST_CASE("without samples errors cannot be made up for", "[compensated_rounder]") {
  InputProducts products(3);
  CHECK(!CompensatedRounder::Make(products));
  products.Add(std::vector<float>{0, NAN, 1});
  CHECK(!CompensatedRounder::Make(products));
  products.Add(std::vector<float>{0, 0, 0});
  CHECK(CompensatedRounder::Make(products));
}

}  // namespace iropt
