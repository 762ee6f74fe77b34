// A matrix of weights as integers of few bits with scales of blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "block_codes.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/result.h"
#include "tensor_store.h"

namespace iropt {

// A constant of float32, float16 or bfloat16 that data is multiplied by: [inputs, outputs], or [outputs, inputs], where
// inputs may be several axes.
struct WeightMatrix {
  const NDArray* array = nullptr;
  bool outputs_first = false;

  int64_t outputs() const { return array->shape()[outputs_first ? 0 : 1]; }
  int64_t inputs() const { return outputs() == 0 ? 0 : array->num_elements() / outputs(); }
};

struct MatrixFormat {
  enum class Layout : uint8_t {
    kPacked,       // as MatMulNBits of onnxruntime: the blocks of each output, integers of less than a byte packed
    kPlain,        // the layout of the matrix, with one scale for each block of inputs and each output
    kInputsFirst,  // the same, but [inputs, outputs] for every matrix, which has two axes
  };
  BlockFormat numbers;
  int64_t block = 32;  // inputs with a common scale; 0: all of an output
  Layout layout = Layout::kPacked;

  int64_t BlockOf(int64_t inputs) const { return block == 0 ? inputs : block; }
  int64_t BlocksOf(int64_t inputs) const { return (inputs + BlockOf(inputs) - 1) / BlockOf(inputs); }
};

struct QuantizedMatrix {
  // kPacked: uint8 [outputs, blocks, bytes of a block]; kPlain: integers of the layout of the matrix, signed if
  // symmetric.
  std::shared_ptr<const NDArray> codes;
  // kPacked: [outputs * blocks]; kPlain: the layout of the matrix with blocks for inputs, and [outputs] if there is one
  // block and the format has none.
  std::shared_ptr<const NDArray> scales;
  // kPacked: uint8, rows of packed integers; kPlain: as the scales, of the dtype of the codes. Null if symmetric.
  std::shared_ptr<const NDArray> zeros;
  double squared_error = 0;  // of all numbers
  double squared_norm = 0;   // of the matrix

  uint64_t num_bytes() const;
};

// Rounds the numbers of some outputs, one row of inputs after the other, to codes. Scales are by row and block.
class RowRounder {
 public:
  virtual ~RowRounder() = default;
  // `rows` are `count` rows of `inputs` numbers. Called by several threads.
  virtual void Round(const float* rows, int64_t count, int64_t inputs, const MatrixFormat& format, uint8_t* codes,
                     BlockScale* scales) const = 0;
};

// Rounds each number to the nearest code.
class NearestRounder final : public RowRounder {
 public:
  void Round(const float* rows, int64_t count, int64_t inputs, const MatrixFormat& format, uint8_t* codes,
             BlockScale* scales) const override;
};

// Consecutive outputs with all of their inputs. The memory is used again for the next ones, also those of other
// matrices.
struct MatrixChunk {
  int64_t first = 0;
  int64_t count = 0;
  std::vector<float> numbers;      // [count, inputs]
  std::vector<uint8_t> codes;      // [count, inputs]
  std::vector<BlockScale> scales;  // [count, blocks]
  std::vector<uint8_t> bytes;
};

// Nothing if a number is not finite. The memory that it takes does not depend on the size of the matrix, if no row is
// very long, and what is read of a file is given back. `name` is that of the matrix, from which the tensors get theirs.
Result<std::optional<QuantizedMatrix>> QuantizeMatrix(const WeightMatrix& matrix, const MatrixFormat& format,
                                                      const RowRounder& rounder, const std::string& name,
                                                      TensorStore& store, int threads, MatrixChunk& buffers);

}  // namespace iropt
