// Rounding of weights that makes up for its errors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "quantized_matrix.h"

namespace iropt {

// The sums of the products of each two inputs of a matmul over all rows of its data.
class InputProducts {
 public:
  explicit InputProducts(int64_t inputs) : inputs_(inputs), sums_(static_cast<size_t>(inputs * inputs)) {}

  // Rows of `inputs` numbers. Rows with a number that is not finite are left out. O(numbers * inputs).
  void Add(std::span<const float> rows);

  int64_t inputs() const { return inputs_; }
  int64_t num_rows() const { return num_rows_; }
  double Sum(int64_t i, int64_t j) const {
    return sums_[static_cast<size_t>(i <= j ? i * inputs_ + j : j * inputs_ + i)];
  }

 private:
  void AddPending();

  int64_t inputs_;
  int64_t num_rows_ = 0;
  std::vector<double> pending_ = {};  // rows that are not added yet
  std::vector<double> sums_;          // [inputs, inputs], from the diagonal on
};

// Rounds the weights of an output one after the other, and changes those that follow so that the product with data of
// the same statistics changes least.
class CompensatedRounder final : public RowRounder {
 public:
  // Nothing if there are no rows, or the products are not those of real data. O(inputs^3).
  static std::optional<CompensatedRounder> Make(const InputProducts& products);

  void Round(const float* rows, int64_t count, int64_t inputs, const MatrixFormat& format, uint8_t* codes,
             BlockScale* scales) const override;

 private:
  explicit CompensatedRounder(std::vector<float> factor) : factor_(std::move(factor)) {}

  std::vector<float> factor_;  // upper triangular U with U^T U = H^-1
};

}  // namespace iropt
