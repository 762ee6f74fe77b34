// The matrices of Winograd's algorithm, and the decision where it pays. Programs are in test/transform/winograd_conv2d.
#include "iropt/schedule/winograd.h"

#include <vector>

#include "catch.h"
#include "iropt/ir/context.h"
#include "transform/relax/algebra/winograd_expressions.h"

namespace iropt {

namespace {

const TargetAttr* Cpu(int64_t vector_width) {
  const DictAttr::Entry entries[] = {{"kind", StrAttr::Get("llvm")}, {"vector-width", IntAttr::Get(vector_width)}};
  return TargetAttr::Get(DictAttr::Get(entries));
}

}  // namespace

// For unit vectors of weights and data, all numbers are integers: A^T ((G w) * (B^T d)) times the divisor.
TEST_CASE("the matrices of Winograd's algorithm compute correlations of three weights exactly", "[winograd]") {
  for (const int64_t tile : {2, 4}) {
    const WinogradMatrices& matrices = WinogradMatricesFor(tile);
    const auto size = static_cast<size_t>(tile + 2);
    REQUIRE(matrices.output.size() == static_cast<size_t>(tile));
    REQUIRE(matrices.input.size() == size);
    REQUIRE(matrices.weight.size() == size);
    for (size_t y = 0; y < matrices.output.size(); ++y) {
      for (size_t w = 0; w < 3; ++w) {
        for (size_t d = 0; d < size; ++d) {
          int64_t sum = 0;
          for (size_t i = 0; i < size; ++i) sum += matrices.output[y][i] * matrices.weight[i][w] * matrices.input[i][d];
          CAPTURE(tile, y, w, d);
          CHECK(sum == (y + w == d ? matrices.weight_divisor : 0));
        }
      }
    }
  }
}

TEST_CASE("transformed weights are those of the matrices", "[winograd]") {
  const std::vector<float> weights = {0, 0, 0, 0, 0, 0, 0, 0, 24 * 24, 6, 0, 0, 0, 0, 0, 0, 0, 0};
  std::vector<float> result(36 * 2);
  TransformWinogradWeights(weights, /*outputs=*/2, /*channels=*/1, /*tile=*/4, result);
  const std::vector<float> last_column = {0, -4, -4, 4, 4, 24}, first_column = {6, -4, -4, 1, 1, 0};
  for (size_t i = 0; i < 6; ++i) {
    for (size_t k = 0; k < 6; ++k) {
      CAPTURE(i, k);
      CHECK(result[(i * 6 + k) * 2] == last_column[i] * last_column[k]);
      CHECK(result[(i * 6 + k) * 2 + 1] == Approx(6 * first_column[i] * first_column[k] / 576).epsilon(1e-6));
    }
  }
}

TEST_CASE("tiles that images do not fill", "[winograd]") {
  const WinogradGrid grid{.tile = 4, .batch = 3, .height = 9, .width = 4};
  CHECK(grid.rows() == 3);
  CHECK(grid.columns() == 1);
  CHECK(grid.tiles() == 9);
}

TEST_CASE("Winograd's algorithm pays where images are big", "[winograd]") {
  using schedule::ChooseWinogradTile;
  const auto choose = [](int64_t pixels, int64_t channels, const TargetAttr* target) {
    return ChooseWinogradTile({1, pixels, pixels, channels, channels}, target);
  };
  CHECK(choose(56, 64, Cpu(512)) == 4);
  CHECK(choose(28, 128, Cpu(512)) == 4);
  CHECK(choose(56, 64, Cpu(256)) == 4);
  // The weights of smaller images cost more than the products.
  CHECK(choose(14, 256, Cpu(512)) == 2);
  CHECK(choose(7, 512, Cpu(512)) == 0);
  // Channels that do not fill vectors, no target, another device.
  CHECK(choose(56, 24, Cpu(512)) == 0);
  CHECK(choose(56, 24, Cpu(256)) == 4);
  CHECK(choose(56, 64, nullptr) == 0);
  const DictAttr::Entry cuda[] = {{"kind", StrAttr::Get("cuda")}};
  CHECK(choose(56, 64, TargetAttr::Get(DictAttr::Get(cuda))) == 0);
  // A batch has as many more tiles for the same weights.
  CHECK(ChooseWinogradTile({8, 7, 7, 512, 512}, Cpu(512)) > 0);
  // What is between the transforms does not fit into a cache.
  CHECK(ChooseWinogradTile({16, 56, 56, 64, 64}, Cpu(512)) == 0);
}

}  // namespace iropt
