#include "winograd_expressions.h"

#include <array>
#include <string_view>

#include "iropt/legalize/topi.h"
#include "iropt/schedule/winograd.h"

namespace iropt {

namespace {

using te::Shape;
using te::Value;
using te::Values;

constexpr int64_t kKernel = 3;

// Multiplies unless the factor is 1.
Value Times(Value x, int64_t factor) {
  return factor == 1 ? x : x * x.te()->Const(static_cast<double>(factor), x.dtype());
}

// Adds up the elements with these factors; no value if all of them are 0.
template <class Element>
Value Combine(std::span<const int64_t> factors, size_t first, size_t step, Element element) {
  Value sum;
  for (size_t i = first; i < factors.size(); i += step) {
    if (factors[i] == 0) continue;
    if (!sum.te())
      sum = Times(element(i), factors[i]);
    else if (factors[i] > 0)
      sum = sum + Times(element(i), factors[i]);
    else
      sum = sum - Times(element(i), -factors[i]);
  }
  return sum;
}

// A row of B^T times a column. Rows come in pairs that differ in the sign of the elements of odd index, whose sums are
// then the same expression, which is computed once.
template <class Element>
Value InputRow(std::span<const int64_t> row, Element element) {
  const Value even = Combine(row, 0, 2, element);
  if (!even.te()) return Combine(row, 1, 2, element);
  std::vector<int64_t> factors(row.begin(), row.end());
  int64_t sign = 0;
  for (size_t i = factors.size(); i-- > 0;) {
    if (i % 2 == 0 || factors[i] == 0) continue;
    if (sign == 0) sign = factors[i] > 0 ? 1 : -1;
    factors[i] *= sign;
  }
  const Value odd = Combine(factors, 1, 2, element);
  if (!odd.te()) return even;
  return sign > 0 ? even + odd : even - odd;
}

// A row of A^T times a column. Its inner factors come in pairs that are equal but for the sign: sums and differences of
// these elements are the same expressions in all rows.
template <class Element>
Value OutputRow(std::span<const int64_t> row, Element element) {
  Value sum;
  const auto add = [&](Value term) { sum = sum.te() ? sum + term : term; };
  if (row.front() != 0) add(Times(element(0), row.front()));
  for (size_t i = 1; i + 2 < row.size(); i += 2) {
    const Value pair = row[i] == row[i + 1] ? element(i) + element(i + 1) : element(i) - element(i + 1);
    add(Times(pair, row[i]));
  }
  if (row.back() != 0) add(Times(element(row.size() - 1), row.back()));
  return sum;
}

// The expression of the row of that index.
template <class Row>
Value ChooseRow(Value index, size_t count, Row row) {
  Value value = row(count - 1);
  for (size_t i = count - 1; i-- > 0;) value = te::IfThenElse(index == static_cast<int64_t>(i), row(i), value);
  return value;
}

te::StageOptions Annotated(std::string_view key, int64_t tile) {
  te::StageOptions options = te::PythonAxes();
  const DictAttr::Entry entry[] = {{key, IntAttr::Get(tile)}};
  options.annotations = DictAttr::Get(entry);
  return options;
}

}  // namespace

const WinogradMatrices& WinogradMatricesFor(int64_t tile) {
  static const WinogradMatrices two = {
      .input = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
      .weight = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}},
      .weight_divisor = 2,
      .output = {{1, 1, 1, 0}, {0, 1, -1, -1}},
  };
  static const WinogradMatrices four = {
      .input = {{4, 0, -5, 0, 1, 0},
                {0, -4, -4, 1, 1, 0},
                {0, 4, -4, -1, 1, 0},
                {0, -2, -1, 2, 1, 0},
                {0, 2, -1, -2, 1, 0},
                {0, 4, 0, -5, 0, 1}},
      .weight = {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 24}},
      .weight_divisor = 24,
      .output = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
  };
  return tile == 2 ? two : four;
}

te::Tensor WinogradInput(const te::Tensor& data, const WinogradGrid& grid) {
  te::Builder& te = data.te();
  const WinogradMatrices& matrices = WinogradMatricesFor(grid.tile);
  const int64_t size = grid.tile + kKernel - 1;
  const Value before[] = {0, grid.top, grid.left, 0};
  const Value after[] = {0, te.Simplify(grid.rows() * grid.tile + kKernel - 1 - grid.top - data.dim(1)),
                         te.Simplify(grid.columns() * grid.tile + kKernel - 1 - grid.left - data.dim(2)), 0};
  const te::Tensor padded = topi::Pad(data, before, after, te.Const(0, data.dtype()), "pad_temp");
  const Value channels = data.dim(3);
  const Shape shape = {grid.batch, grid.rows(), grid.columns(), size, size, channels};
  const te::Tensor columns = te.Compute(
      "winograd_input_columns", shape,
      [&](Values i) {
        return ChooseRow(i[3], matrices.input.size(), [&](size_t row) {
          return InputRow(matrices.input[row], [&](size_t k) {
            return padded(i[0], i[1] * grid.tile + static_cast<int64_t>(k), i[2] * grid.tile + i[4], i[5]);
          });
        });
      },
      Annotated(schedule::kWinogradInput, grid.tile));
  const Shape transformed = {size, size, grid.tiles(), channels};
  return te.Compute(
      "winograd_input", transformed,
      [&](Values i) {
        const Value column = te::FloorMod(i[2], grid.columns());
        const Value row = te::FloorMod(te::FloorDiv(i[2], grid.columns()), grid.rows());
        const Value image = te::FloorDiv(i[2], grid.rows() * grid.columns());
        return ChooseRow(i[1], matrices.input.size(), [&](size_t k) {
          return InputRow(matrices.input[k],
                          [&](size_t q) { return columns(image, row, column, i[0], static_cast<int64_t>(q), i[3]); });
        });
      },
      te::PythonAxes());
}

te::Tensor WinogradProducts(const te::Tensor& input, const te::Tensor& weight) {
  return input.te().Reduce(
      "winograd_products", {input.dim(0), input.dim(1), input.dim(2), weight.dim(3)}, {{"k", input.dim(3)}},
      te::Reducer::kSum,
      [&](Values i, Values r) { return input(i[0], i[1], i[2], r[0]) * weight(i[0], i[1], r[0], i[3]); },
      te::PythonAxes());
}

te::Tensor WinogradOutput(const te::Tensor& products, const WinogradGrid& grid) {
  te::Builder& te = products.te();
  const WinogradMatrices& matrices = WinogradMatricesFor(grid.tile);
  const Value channels = products.dim(3);
  const Shape shape = {grid.batch, grid.rows(), grid.columns(), grid.tile, grid.tile + kKernel - 1, channels};
  const te::Tensor columns = te.Compute(
      "winograd_output_columns", shape,
      [&](Values i) {
        const Value tile = (i[0] * grid.rows() + i[1]) * grid.columns() + i[2];
        return ChooseRow(i[3], matrices.output.size(), [&](size_t row) {
          return OutputRow(matrices.output[row],
                           [&](size_t k) { return products(static_cast<int64_t>(k), i[4], tile, i[5]); });
        });
      },
      Annotated(schedule::kWinogradOutput, grid.tile));
  const Shape result = {grid.batch, grid.height, grid.width, channels};
  return te.Compute(
      "winograd_output", result,
      [&](Values i) {
        return ChooseRow(te::FloorMod(i[2], grid.tile), matrices.output.size(), [&](size_t row) {
          return OutputRow(matrices.output[row], [&](size_t k) {
            return columns(i[0], te::FloorDiv(i[1], grid.tile), te::FloorDiv(i[2], grid.tile),
                           te::FloorMod(i[1], grid.tile), static_cast<int64_t>(k), i[3]);
          });
        });
      },
      te::PythonAxes());
}

void TransformWinogradWeights(std::span<const float> weights, int64_t outputs, int64_t channels, int64_t tile,
                              std::span<float> result) {
  const WinogradMatrices& matrices = WinogradMatricesFor(tile);
  const auto size = static_cast<size_t>(tile + kKernel - 1);
  const double divisor = static_cast<double>(matrices.weight_divisor * matrices.weight_divisor);
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t c = 0; c < channels; ++c) {
      std::array<std::array<double, kKernel>, kKernel> kernel;
      for (size_t y = 0; y < kKernel; ++y) {
        for (size_t x = 0; x < kKernel; ++x)
          kernel[y][x] = weights[static_cast<size_t>(
              ((o * kKernel + static_cast<int64_t>(y)) * kKernel + static_cast<int64_t>(x)) * channels + c)];
      }
      for (size_t i = 0; i < size; ++i) {
        for (size_t k = 0; k < size; ++k) {
          double sum = 0;
          for (size_t y = 0; y < kKernel; ++y) {
            for (size_t x = 0; x < kKernel; ++x)
              sum += static_cast<double>(matrices.weight[i][y] * matrices.weight[k][x]) * kernel[y][x];
          }
          result[static_cast<size_t>((static_cast<int64_t>(i * size + k) * channels + c) * outputs + o)] =
              static_cast<float>(sum / divisor);
        }
      }
    }
  }
}

}  // namespace iropt
