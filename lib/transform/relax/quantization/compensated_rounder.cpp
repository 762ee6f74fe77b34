// Source: E. Frantar, S. Ashkboos, T. Hoefler, D. Alistarh, GPTQ: Accurate Post-Training Quantization for Generative
// Pre-trained Transformers, 2023. H is the matrix of the products of inputs, with 1 % of its mean diagonal added to the
// diagonal; the errors go to the weights that follow by the rows of the Cholesky factor U of its inverse.
#include "compensated_rounder.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace iropt {

namespace {

constexpr double kDamping = 0.01;
constexpr int64_t kLazyInputs = 128;  // errors go to weights behind them at once

// Square matrices, one row after the other.
class Square {
 public:
  explicit Square(int64_t size) : size_(size), numbers_(static_cast<size_t>(size * size)) {}
  double* Row(int64_t i) { return numbers_.data() + i * size_; }
  const double* Row(int64_t i) const { return numbers_.data() + i * size_; }

 private:
  int64_t size_;
  std::vector<double> numbers_;
};

// H / rows, with inputs that are always 0 apart from the others.
Square DampedProducts(const InputProducts& products) {
  const int64_t n = products.inputs();
  const auto rows = static_cast<double>(products.num_rows());
  double trace = 0;
  for (int64_t i = 0; i < n; ++i) trace += products.Sum(i, i) / rows;
  const double damping = kDamping * trace / static_cast<double>(n);
  Square h(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) h.Row(i)[j] = products.Sum(i, j) / rows;
    h.Row(i)[i] += damping > 0 ? damping : 1;
  }
  return h;
}

// Makes H the upper triangular R with R R^T = H. False if H is not positive definite.
bool FactorFromEnd(Square& h, int64_t n) {
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

// The inverse of an upper triangular matrix.
std::vector<float> InverseOfUpper(const Square& r, int64_t n) {
  Square u(n);
  for (int64_t i = n - 1; i >= 0; --i) {
    const double* row_r = r.Row(i);
    double* row = u.Row(i);
    for (int64_t k = i + 1; k < n; ++k) {
      const double* below = u.Row(k);
      for (int64_t j = k; j < n; ++j) row[j] -= row_r[k] * below[j];
    }
    for (int64_t j = i + 1; j < n; ++j) row[j] /= row_r[i];
    row[i] = 1 / row_r[i];
  }
  std::vector<float> result(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    std::transform(u.Row(i) + i, u.Row(i) + n, result.begin() + i * n + i,
                   [](double x) { return static_cast<float>(x); });
  return result;
}

void SubtractProduct(float factor, const float* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] -= factor * from[i];
}

}  // namespace

void InputProducts::Add(std::span<const float> rows) {
  const auto n = static_cast<size_t>(inputs_);
  std::vector<double> row(n);
  for (size_t begin = 0; begin + n <= rows.size(); begin += n) {
    std::ranges::copy(rows.subspan(begin, n), row.begin());
    if (!std::ranges::all_of(row, [](double x) { return std::isfinite(x); })) continue;
    ++num_rows_;
    for (size_t i = 0; i < n; ++i) {
      if (row[i] == 0) continue;
      double* sums = sums_.data() + i * n;
      for (size_t j = i; j < n; ++j) sums[j] += row[i] * row[j];
    }
  }
}

std::optional<CompensatedRounder> CompensatedRounder::Make(const InputProducts& products) {
  if (products.num_rows() == 0) return std::nullopt;
  const int64_t n = products.inputs();
  Square h = DampedProducts(products);
  if (!FactorFromEnd(h, n)) return std::nullopt;
  return CompensatedRounder(InverseOfUpper(h, n));
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
