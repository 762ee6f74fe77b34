// Source: E. Frantar, S. Ashkboos, T. Hoefler, D. Alistarh, GPTQ: Accurate Post-Training Quantization for Generative
// Pre-trained Transformers, 2023. H is the matrix of the products of inputs, with 1 % of its mean diagonal added to the
// diagonal; the errors go to the weights that follow by the rows of the Cholesky factor U of its inverse.
#include "compensated_rounder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "iropt/eval/matrix_product.h"

namespace iropt {

namespace {

constexpr double kDamping = 0.01;
constexpr int64_t kLazyInputs = 128;  // errors go to weights behind them at once

// Part of a matrix of doubles in memory, row-major.
struct MatrixView {
  double* data;
  int64_t stride;
  double* Row(int64_t i) const { return data + i * stride; }
  MatrixView From(int64_t row, int64_t column) const { return {Row(row) + column, stride}; }
};

// A matrix of doubles of its own.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns) : columns_(columns), numbers_(static_cast<size_t>(rows * columns)) {}
  MatrixView view() { return {numbers_.data(), columns_}; }

 private:
  int64_t columns_;
  std::vector<double> numbers_;
};

void Multiply(MatrixView a, MatrixView b, MatrixView c, int64_t rows, int64_t depth, int64_t columns) {
  eval::MultiplyByLibrary(eval::MatrixProduct<double>{.rows = rows,
                                                      .depth = depth,
                                                      .columns = columns,
                                                      .a = a.data,
                                                      .a_stride = a.stride,
                                                      .b = b.data,
                                                      .b_stride = b.stride,
                                                      .c = c.data,
                                                      .c_stride = c.stride});
}

Matrix Transposed(MatrixView from, int64_t rows, int64_t columns) {
  Matrix to(columns, rows);
  constexpr int64_t kTile = 16;
  for (int64_t first = 0; first < rows; first += kTile) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = first; i < std::min(first + kTile, rows); ++i) to.view().Row(j)[i] = from.Row(i)[j];
    }
  }
  return to;
}

// H / rows, with inputs that are always 0 apart from the others.
Matrix DampedProducts(const InputProducts& products) {
  const int64_t n = products.inputs();
  const auto rows = static_cast<double>(products.num_rows());
  double trace = 0;
  for (int64_t i = 0; i < n; ++i) trace += products.Sum(i, i) / rows;
  const double damping = kDamping * trace / static_cast<double>(n);
  Matrix h(n, n);
  for (int64_t i = 0; i < n; ++i) {
    double* row = h.view().Row(i);
    for (int64_t j = 0; j < n; ++j) row[j] = products.Sum(i, j) / rows;
    row[i] += damping > 0 ? damping : 1;
  }
  return h;
}

// Makes the upper triangle of H the upper triangular R with R R^T = H. False if H is not positive definite.
bool FactorFromEnd(MatrixView h, int64_t n) {
  for (int64_t j = n - 1; j >= 0; --j) {
    double* row_j = h.Row(j);
    double diagonal = row_j[j];
    for (int64_t k = j + 1; k < n; ++k) diagonal -= row_j[k] * row_j[k];
    if (!(diagonal > 0) || !std::isfinite(diagonal)) return false;
    diagonal = std::sqrt(diagonal);
    row_j[j] = diagonal;
    for (int64_t i = 0; i < j; ++i) {
      double* row_i = h.Row(i);
      double sum = row_i[j];
      for (int64_t k = j + 1; k < n; ++k) sum -= row_i[k] * row_j[k];
      row_i[j] = sum / diagonal;
    }
  }
  return true;
}

// Makes an upper triangular matrix its inverse, and what is below its diagonal 0.
void InvertUpper(MatrixView r, int64_t n) {
  for (int64_t i = n - 1; i >= 0; --i) {
    double* row = r.Row(i);
    const double diagonal = row[i];
    std::vector<double> inverse(static_cast<size_t>(n), 0.0);
    for (int64_t k = i + 1; k < n; ++k) {
      const double* below = r.Row(k);
      for (int64_t j = k; j < n; ++j) inverse[static_cast<size_t>(j)] -= row[k] * below[j] / diagonal;
    }
    inverse[static_cast<size_t>(i)] = 1 / diagonal;
    std::ranges::copy(inverse, row);
  }
}

// Makes a symmetric H, of which the upper triangle is read, the upper triangular U with U^T U = H^-1, by halves, so
// that nearly all of it is products: with H = [A B; B^T C], R = [Ra Rb; 0 Rc] and R R^T = H, Rb is B Uc^T, Ra is the
// factor of A - Rb Rb^T, and U = R^-1 = [Ua -Ua Rb Uc; 0 Uc]. False if H is not positive definite.
bool InvertFactor(MatrixView h, int64_t n) {
  constexpr int64_t kSmall = 64;
  if (n <= kSmall) {
    if (!FactorFromEnd(h, n)) return false;
    InvertUpper(h, n);
    return true;
  }
  const int64_t a = n / 2;
  const int64_t c = n - a;
  const MatrixView last = h.From(a, a);
  const MatrixView corner = h.From(0, a);
  if (!InvertFactor(last, c)) return false;
  Matrix rb(a, c);
  Multiply(corner, Transposed(last, c, c).view(), rb.view(), a, c, c);
  {
    Matrix square(a, a);
    Multiply(rb.view(), Transposed(rb.view(), a, c).view(), square.view(), a, c, a);
    for (int64_t i = 0; i < a; ++i)
      std::transform(h.Row(i), h.Row(i) + a, square.view().Row(i), h.Row(i), std::minus<>());
  }
  if (!InvertFactor(h, a)) return false;
  Matrix product(a, c);
  Multiply(h, rb.view(), product.view(), a, a, c);
  Multiply(product.view(), last, corner, a, c, c);
  for (int64_t i = 0; i < a; ++i) std::transform(corner.Row(i), corner.Row(i) + c, corner.Row(i), std::negate<>());
  for (int64_t i = a; i < n; ++i) std::fill_n(h.Row(i), a, 0.0);
  return true;
}

void SubtractProduct(float factor, const float* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] -= factor * from[i];
}

}  // namespace

void InputProducts::Add(std::span<const float> rows) {
  const auto n = static_cast<size_t>(inputs_);
  for (size_t begin = 0; begin + n <= rows.size(); begin += n) {
    const std::span<const float> row = rows.subspan(begin, n);
    if (!std::ranges::all_of(row, [](float x) { return std::isfinite(x); })) continue;
    pending_.insert(pending_.end(), row.begin(), row.end());
    ++num_rows_;
    constexpr size_t kRowsAtOnce = 128;
    if (pending_.size() >= kRowsAtOnce * n) AddPending();
  }
  AddPending();
}

void InputProducts::AddPending() {
  const int64_t rows = std::ssize(pending_) / inputs_;
  if (rows == 0) return;
  const MatrixView data{pending_.data(), inputs_};
  Matrix columns = Transposed(data, rows, inputs_);
  constexpr int64_t kPanel = 256;
  Matrix sums(kPanel, inputs_);
  for (int64_t first = 0; first < inputs_; first += kPanel) {
    const int64_t height = std::min(kPanel, inputs_ - first);
    const int64_t width = inputs_ - first;
    Multiply(columns.view().From(first, 0), data.From(0, first), sums.view(), height, rows, width);
    for (int64_t i = 0; i < height; ++i) {
      double* to = sums_.data() + (first + i) * inputs_ + first;
      std::transform(to, to + width, sums.view().Row(i), to, std::plus<>());
    }
  }
  pending_.clear();
}

std::optional<CompensatedRounder> CompensatedRounder::Make(const InputProducts& products) {
  if (products.num_rows() == 0) return std::nullopt;
  const int64_t n = products.inputs();
  Matrix h = DampedProducts(products);
  if (!InvertFactor(h.view(), n)) return std::nullopt;
  std::vector<float> factor(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    std::transform(h.view().Row(i) + i, h.view().Row(i) + n, factor.begin() + i * n + i,
                   [](double x) { return static_cast<float>(x); });
  return CompensatedRounder(std::move(factor));
}

void CompensatedRounder::Round(const float* rows, int64_t count, int64_t inputs, const MatrixFormat& format,
                               uint8_t* codes, BlockScale* scales) const {
  const int64_t block = format.BlockOf(inputs);
  const int64_t blocks = format.BlocksOf(inputs);
  std::vector<float> changed(rows, rows + count * inputs);
  std::vector<float> errors(static_cast<size_t>(count * kLazyInputs));
  for (int64_t first = 0; first < inputs; first += kLazyInputs) {
    const int64_t end = std::min(first + kLazyInputs, inputs);
    for (int64_t k = first; k < end; ++k) {
      const float* factor = factor_.data() + k * inputs;
      for (int64_t n = 0; n < count; ++n) {
        float* row = changed.data() + n * inputs;
        BlockScale& scale = scales[n * blocks + k / block];
        if (k % block == 0)
          scale = ScaleOf({row + k, static_cast<size_t>(std::min(block, inputs - k))}, format.numbers);
        uint8_t* code = codes + n * inputs + k;
        CodesOf({row + k, 1}, scale, format.numbers, code);
        const float error = (row[k] - NumberOf(*code, scale)) / factor[k];
        errors[static_cast<size_t>(n * kLazyInputs + k - first)] = error;
        SubtractProduct(error, factor + k + 1, row + k + 1, end - k - 1);
      }
    }
    for (int64_t n = 0; n < count; ++n) {
      for (int64_t k = first; k < end; ++k)
        SubtractProduct(errors[static_cast<size_t>(n * kLazyInputs + k - first)], factor_.data() + k * inputs + end,
                        changed.data() + n * inputs + end, inputs - end);
    }
  }
}

}  // namespace iropt
