// Winograd's algorithm for convolutions of 3 x 3: a tile of m x m results takes (m + 2)^2 products instead of 9 m^2.
//
//   results = A^T ((G weights G^T) * (B^T data B)) A        (* is elementwise, and summed over channels before A)
//
// As tensor expressions, for data in NHWC: the transformed data are [m + 2, m + 2, tiles, channels], so that the
// products of all tiles are (m + 2)^2 matrix products. A tile at the end of the image reads zeros after it, and
// its results there are dropped.
//
// Source: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "iropt/legalize/te.h"

namespace iropt {

// The matrices of F(m x m, 3 x 3), all of integers: those of weights are divided by a number.
struct WinogradMatrices {
  using Matrix = std::vector<std::vector<int64_t>>;
  Matrix input;            // B^T, of m + 2 rows and columns
  Matrix weight;           // G, of m + 2 rows and 3 columns, times the divisor
  int64_t weight_divisor;  // of G
  Matrix output;           // A^T, of m rows and m + 2 columns
};
// `tile` is m, 2 or 4.
const WinogradMatrices& WinogradMatricesFor(int64_t tile);

// A convolution with stride 1 whose results are computed in tiles. All sizes are positive, but for the padding.
struct WinogradGrid {
  int64_t tile = 4;                          // m
  int64_t top = 0, left = 0;                 // the padding before the data
  int64_t batch = 1, height = 1, width = 1;  // of the result

  int64_t rows() const { return (height + tile - 1) / tile; }    // of tiles
  int64_t columns() const { return (width + tile - 1) / tile; }  // of tiles
  int64_t tiles() const { return batch * rows() * columns(); }
};

// The transformed data [m + 2, m + 2, tiles, C] of data [N, H, W, C].
te::Tensor WinogradInput(const te::Tensor& data, const WinogradGrid& grid);
// The products [m + 2, m + 2, tiles, O] with transformed weights [m + 2, m + 2, C, O].
te::Tensor WinogradProducts(const te::Tensor& input, const te::Tensor& weight);
// The results [N, height, width, O] of the products.
te::Tensor WinogradOutput(const te::Tensor& products, const WinogradGrid& grid);

// Transforms weights [O, 3, 3, C] to [m + 2, m + 2, C, O], in double precision. O(m^2 C O).
void TransformWinogradWeights(std::span<const float> weights, int64_t outputs, int64_t channels, int64_t tile,
                              std::span<float> result);

}  // namespace iropt
