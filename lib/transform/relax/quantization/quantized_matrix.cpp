#include "quantized_matrix.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <type_traits>
#include <utility>
#include <vector>

#include "iropt/ir/element.h"
#include "iropt/support/parallel.h"

namespace iropt {

namespace {

constexpr int64_t kChunkBytes = int64_t{32} << 20;  // of the numbers that are worked on at a time
constexpr int64_t kBandRows = 512;                  // rows of a file that are in memory at a time
constexpr int64_t kRowsOfTask = 16;
constexpr int64_t kTileInputs = 64;

std::span<const std::byte> BytesOf(const std::vector<uint8_t>& bytes) { return std::as_bytes(std::span(bytes)); }

class MatrixQuantizer {
 public:
  MatrixQuantizer(const WeightMatrix& matrix, const MatrixFormat& format, const RowRounder& rounder, int threads,
                  MatrixChunk& buffers)
      : matrix_(matrix),
        format_(format),
        rounder_(rounder),
        threads_(threads),
        buffers_(buffers),
        inputs_(matrix.inputs()),
        blocks_(format.BlocksOf(inputs_)) {}

  Result<std::optional<QuantizedMatrix>> Run(const std::string& name, TensorStore& store) {
    IROPT_RETURN_IF_ERROR(Begin(name, store));
    const int64_t most = std::max<int64_t>(kRowsOfTask, kChunkBytes / (4 * std::max<int64_t>(inputs_, 1)));
    MatrixChunk& chunk = buffers_;
    for (chunk.first = 0; chunk.first < matrix_.outputs(); chunk.first += chunk.count) {
      chunk.count = std::min(most, matrix_.outputs() - chunk.first);
      chunk.numbers.resize(static_cast<size_t>(chunk.count * inputs_));
      chunk.codes.resize(chunk.numbers.size());
      chunk.scales.resize(static_cast<size_t>(chunk.count * blocks_));
      if (!Load(chunk)) return std::optional<QuantizedMatrix>();
      Round(chunk);
      IROPT_RETURN_IF_ERROR(WriteCodes(chunk));
      IROPT_RETURN_IF_ERROR(WriteScales(chunk));
    }
    IROPT_ASSIGN_OR_RETURN(result_.codes, codes_.Finish());
    IROPT_ASSIGN_OR_RETURN(result_.scales, scales_.Finish());
    if (has_zeros()) {
      IROPT_ASSIGN_OR_RETURN(result_.zeros, zeros_.Finish());
    }
    return std::optional(std::move(result_));
  }

 private:
  bool is_packed() const { return format_.layout == MatrixFormat::Layout::kPacked; }
  // Returns whether the integers of an output are next to each other.
  bool writes_outputs_first() const { return matrix_.outputs_first && format_.layout == MatrixFormat::Layout::kPlain; }
  bool has_zeros() const { return !format_.numbers.symmetric; }
  int bits() const { return format_.numbers.bits; }
  int64_t per_byte() const { return 8 / bits(); }
  int64_t bytes_of_block() const { return format_.BlockOf(inputs_) / per_byte(); }
  int64_t bytes_of_zeros() const { return (blocks_ + per_byte() - 1) / per_byte(); }

  Status Begin(const std::string& name, TensorStore& store) {
    const int64_t outputs = matrix_.outputs();
    const bool has_one = format_.block == 0;
    std::vector<int64_t> scales = {outputs * blocks_};
    std::vector<int64_t> zeros = {outputs * bytes_of_zeros()};
    std::vector<int64_t> codes = {outputs, blocks_, bytes_of_block()};
    DataType code_dtype = DataType::UInt(8);
    if (!is_packed()) {
      codes.assign(matrix_.array->shape().begin(), matrix_.array->shape().end());
      if (format_.layout == MatrixFormat::Layout::kInputsFirst) codes = {inputs_, outputs};
      scales = writes_outputs_first() ? std::vector{outputs, blocks_} : std::vector{blocks_, outputs};
      if (has_one) scales = {outputs};
      zeros = scales;
      code_dtype = has_zeros() ? DataType::UInt(bits()) : DataType::Int(bits());
    }
    IROPT_ASSIGN_OR_RETURN(codes_, store.Begin(name + (bits() == 4 ? "_Q4" : "_Q8"), code_dtype, codes));
    IROPT_ASSIGN_OR_RETURN(scales_, store.Begin(name + "_scales", format_.numbers.scale_dtype, scales));
    if (has_zeros()) {
      IROPT_ASSIGN_OR_RETURN(zeros_, store.Begin(name + "_zero_points", code_dtype, zeros));
    }
    return {};
  }

  // Gives back the memory of the rows of the matrix in its file.
  void Discard(int64_t begin, int64_t end) const {
    const FileTensor* source = matrix_.array->source();
    if (source == nullptr || source->file == nullptr) return;
    const auto row = static_cast<int64_t>(matrix_.array->num_bytes()) / std::max<int64_t>(matrix_.array->shape()[0], 1);
    const std::string_view bytes(reinterpret_cast<const char*>(matrix_.array->data()) + begin * row,
                                 static_cast<size_t>((end - begin) * row));
    const std::string_view file = source->file->text();
    const bool is_in_file = bytes.data() >= file.data() && bytes.data() + bytes.size() <= file.data() + file.size();
    if (is_in_file) source->file->Discard(bytes);
  }

  // Reads the numbers of the outputs. False if one is not finite.
  bool Load(MatrixChunk& chunk) const {
    bool is_finite = true;
    DispatchElement(matrix_.array->dtype(), [&]<class T>(std::type_identity<T>) {
      is_finite = matrix_.outputs_first ? LoadRows<T>(chunk) : LoadColumns<T>(chunk);
    });
    return is_finite;
  }

  // Returns whether all numbers are finite. Without a branch, so that compilers make vectors of it.
  static bool AreFinite(std::span<const float> numbers) {
    uint32_t most = 0;
    for (const float number : numbers) most = std::max(most, std::bit_cast<uint32_t>(number) & 0x7fffffffU);
    return most < 0x7f800000U;
  }

  template <class T>
  bool LoadRows(MatrixChunk& chunk) const {
    const T* from = reinterpret_cast<const T*>(matrix_.array->data()) + chunk.first * inputs_;
    std::atomic<bool> is_finite = true;
    ParallelFor(static_cast<size_t>(chunk.count), threads_, [&](size_t row) {
      const size_t begin = row * static_cast<size_t>(inputs_);
      const std::span numbers = std::span(chunk.numbers).subspan(begin, static_cast<size_t>(inputs_));
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(Element<T>::Load(from[begin + i]));
      if (!AreFinite(numbers)) is_finite = false;
    });
    Discard(chunk.first, chunk.first + chunk.count);
    return is_finite;
  }

  // Bands of rows of the file are in memory at a time.
  template <class T>
  bool LoadColumns(MatrixChunk& chunk) const {
    std::atomic<bool> is_finite = true;
    const int64_t tasks = (chunk.count + kRowsOfTask - 1) / kRowsOfTask;
    for (int64_t band = 0; band < inputs_; band += kBandRows) {
      const int64_t end = std::min(band + kBandRows, inputs_);
      ParallelFor(static_cast<size_t>(tasks), threads_, [&](size_t task) {
        for (int64_t k = band; k < end; k += kTileInputs) {
          if (!LoadTile<T>(chunk, static_cast<int64_t>(task) * kRowsOfTask, k, std::min(kTileInputs, end - k)))
            is_finite = false;
        }
      });
      Discard(band, end);
      if (!is_finite) return false;
    }
    return true;
  }

  // Some inputs of some outputs, which are transposed in the nearest cache. False if one is not finite.
  template <class T>
  bool LoadTile(MatrixChunk& chunk, int64_t first, int64_t input, int64_t num_inputs) const {
    const T* from = reinterpret_cast<const T*>(matrix_.array->data()) + chunk.first + first;
    const int64_t outputs = matrix_.outputs();
    const int64_t count = std::min(kRowsOfTask, chunk.count - first);
    std::array<float, kTileInputs * kRowsOfTask> tile;
    for (int64_t k = 0; k < num_inputs; ++k) {
      const T* row = from + (input + k) * outputs;
      for (int64_t n = 0; n < count; ++n)
        tile[static_cast<size_t>(n * kTileInputs + k)] = static_cast<float>(Element<T>::Load(row[n]));
    }
    bool is_finite = true;
    for (int64_t n = 0; n < count; ++n) {
      const std::span<const float> numbers(tile.data() + n * kTileInputs, static_cast<size_t>(num_inputs));
      std::ranges::copy(numbers, chunk.numbers.begin() + (first + n) * inputs_ + input);
      is_finite &= AreFinite(numbers);
    }
    return is_finite;
  }

  void Round(MatrixChunk& chunk) {
    const int64_t tasks = (chunk.count + kRowsOfTask - 1) / kRowsOfTask;
    std::vector<std::pair<double, double>> sums(static_cast<size_t>(tasks));  // of each task: the error and the norm
    ParallelFor(static_cast<size_t>(tasks), threads_, [&](size_t task) {
      const int64_t row = static_cast<int64_t>(task) * kRowsOfTask;
      const int64_t count = std::min(kRowsOfTask, chunk.count - row);
      rounder_.Round(chunk.numbers.data() + row * inputs_, count, inputs_, format_, chunk.codes.data() + row * inputs_,
                     chunk.scales.data() + row * blocks_);
      sums[task] = ErrorOf(chunk, row, count);
    });
    for (const auto& [error, norm] : sums) {
      result_.squared_error += error;
      result_.squared_norm += norm;
    }
  }

  // The squared error of some rows, and their squared norm.
  std::pair<double, double> ErrorOf(const MatrixChunk& chunk, int64_t row, int64_t count) const {
    const int64_t block = format_.BlockOf(inputs_);
    double error = 0;
    double norm = 0;
    for (int64_t n = row; n < row + count; ++n) {
      for (int64_t begin = 0; begin < inputs_; begin += block) {
        const BlockScale& scale = chunk.scales[static_cast<size_t>(n * blocks_ + begin / block)];
        float block_error = 0;
        float block_norm = 0;
        for (int64_t k = begin; k < std::min(begin + block, inputs_); ++k) {
          const auto at = static_cast<size_t>(n * inputs_ + k);
          const float difference = NumberOf(chunk.codes[at], scale) - chunk.numbers[at];
          block_error += difference * difference;
          block_norm += chunk.numbers[at] * chunk.numbers[at];
        }
        error += static_cast<double>(block_error);
        norm += static_cast<double>(block_norm);
      }
    }
    return {error, norm};
  }

  Status WriteCodes(const MatrixChunk& chunk) { return is_packed() ? WritePackedCodes(chunk) : WritePlainCodes(chunk); }

  Status WritePackedCodes(const MatrixChunk& chunk) {
    const int64_t row_bytes = blocks_ * bytes_of_block();
    std::vector<uint8_t>& packed = buffers_.bytes;
    packed.assign(static_cast<size_t>(chunk.count * row_bytes), 0);
    ParallelFor(static_cast<size_t>(chunk.count), threads_, [&](size_t row) {
      const uint8_t* codes = chunk.codes.data() + static_cast<int64_t>(row) * inputs_;
      uint8_t* bytes = packed.data() + static_cast<int64_t>(row) * row_bytes;
      int64_t i = 0;
      if (bits() == 4) {
        for (; i + 1 < inputs_; i += 2) bytes[i / 2] = static_cast<uint8_t>(codes[i] | codes[i + 1] << 4);
      }
      for (; i < row_bytes * per_byte(); ++i) {
        // The numbers after the end of the row are zero.
        const int code = i < inputs_ ? codes[i] : chunk.scales[(row + 1) * static_cast<size_t>(blocks_) - 1].zero;
        bytes[i / per_byte()] |= static_cast<uint8_t>(code << (i % per_byte() * bits()));
      }
    });
    return codes_.Write(static_cast<size_t>(chunk.first * row_bytes), BytesOf(packed));
  }

  // One code in a byte, as tensors of the host have it.
  Status WritePlainCodes(const MatrixChunk& chunk) {
    const int shift = has_zeros() ? 0 : format_.numbers.middle();
    const auto plain = [&](uint8_t code) { return static_cast<uint8_t>(code - shift); };
    if (writes_outputs_first()) {
      std::vector<uint8_t>& bytes = buffers_.bytes;
      bytes.resize(chunk.codes.size());
      std::ranges::transform(chunk.codes, bytes.begin(), plain);
      return codes_.Write(static_cast<size_t>(chunk.first * inputs_), BytesOf(bytes));
    }
    std::vector<uint8_t>& bytes = buffers_.bytes;
    bytes.resize(static_cast<size_t>(chunk.count));
    for (int64_t k = 0; k < inputs_; ++k) {
      for (size_t n = 0; n < bytes.size(); ++n)
        bytes[n] = plain(chunk.codes[n * static_cast<size_t>(inputs_) + static_cast<size_t>(k)]);
      IROPT_RETURN_IF_ERROR(codes_.Write(static_cast<size_t>(k * matrix_.outputs() + chunk.first), BytesOf(bytes)));
    }
    return {};
  }

  // The bytes of the scales of some blocks of each output.
  std::span<const std::byte> ScaleBytes(const MatrixChunk& chunk, int64_t block, int64_t num_blocks) {
    const auto count = static_cast<size_t>(chunk.count * num_blocks);
    buffers_.bytes.resize(count * static_cast<size_t>(format_.numbers.scale_dtype.bytes()));
    DispatchElement(format_.numbers.scale_dtype, [&]<class T>(std::type_identity<T>) {
      T* to = reinterpret_cast<T*>(buffers_.bytes.data());
      for (int64_t n = 0; n < chunk.count; ++n) {
        for (int64_t b = block; b < block + num_blocks; ++b) {
          const float scale = chunk.scales[static_cast<size_t>(n * blocks_ + b)].scale;
          *to++ = Element<T>::Store(static_cast<MathOf<T>>(scale));
        }
      }
    });
    return BytesOf(buffers_.bytes);
  }

  std::span<const std::byte> ZeroBytes(const MatrixChunk& chunk, int64_t block, int64_t num_blocks) {
    buffers_.bytes.clear();
    for (int64_t n = 0; n < chunk.count; ++n) {
      for (int64_t b = block; b < block + num_blocks; ++b)
        buffers_.bytes.push_back(static_cast<uint8_t>(chunk.scales[static_cast<size_t>(n * blocks_ + b)].zero));
    }
    return BytesOf(buffers_.bytes);
  }

  Status WriteScales(const MatrixChunk& chunk) {
    const auto scale_bytes = static_cast<int64_t>(format_.numbers.scale_dtype.bytes());
    const bool by_output = is_packed() || writes_outputs_first();
    // One run of all blocks of the outputs, or a run of the outputs for each block.
    const int64_t runs = by_output ? 1 : blocks_;
    for (int64_t run = 0; run < runs; ++run) {
      const int64_t num_blocks = by_output ? blocks_ : 1;
      const int64_t at = by_output ? chunk.first * blocks_ : run * matrix_.outputs() + chunk.first;
      IROPT_RETURN_IF_ERROR(scales_.Write(static_cast<size_t>(at * scale_bytes), ScaleBytes(chunk, run, num_blocks)));
      if (has_zeros() && !is_packed())
        IROPT_RETURN_IF_ERROR(zeros_.Write(static_cast<size_t>(at), ZeroBytes(chunk, run, num_blocks)));
    }
    return has_zeros() && is_packed() ? WritePackedZeros(chunk) : Status();
  }

  Status WritePackedZeros(const MatrixChunk& chunk) {
    std::vector<uint8_t>& packed = buffers_.bytes;
    packed.assign(static_cast<size_t>(chunk.count * bytes_of_zeros()), 0);
    for (int64_t n = 0; n < chunk.count; ++n) {
      for (int64_t b = 0; b < blocks_; ++b) {
        const int zero = chunk.scales[static_cast<size_t>(n * blocks_ + b)].zero;
        packed[static_cast<size_t>(n * bytes_of_zeros() + b / per_byte())] |=
            static_cast<uint8_t>(zero << (b % per_byte() * bits()));
      }
    }
    return zeros_.Write(static_cast<size_t>(chunk.first * bytes_of_zeros()), BytesOf(packed));
  }

  const WeightMatrix& matrix_;
  const MatrixFormat& format_;
  const RowRounder& rounder_;
  int threads_;
  MatrixChunk& buffers_;
  int64_t inputs_;
  int64_t blocks_;
  TensorStore::Sink codes_;
  TensorStore::Sink scales_;
  TensorStore::Sink zeros_;
  QuantizedMatrix result_;
};

}  // namespace

uint64_t QuantizedMatrix::num_bytes() const {
  const auto bits = static_cast<uint64_t>(codes->dtype().bits);
  const auto count = static_cast<uint64_t>(codes->num_elements());
  const uint64_t zero_count = zeros ? static_cast<uint64_t>(zeros->num_elements()) : 0;
  return (count * bits + 7) / 8 + scales->num_bytes() + (zero_count * bits + 7) / 8;
}

void NearestRounder::Round(const float* rows, int64_t count, int64_t inputs, const MatrixFormat& format, uint8_t* codes,
                           BlockScale* scales) const {
  const int64_t block = format.BlockOf(inputs);
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t begin = 0; begin < inputs; begin += block) {
      const std::span numbers(rows + row * inputs + begin, static_cast<size_t>(std::min(block, inputs - begin)));
      *scales = ScaleOf(numbers, format.numbers);
      CodesOf(numbers, *scales++, format.numbers, codes);
      codes += numbers.size();
    }
  }
}

Result<std::optional<QuantizedMatrix>> QuantizeMatrix(const WeightMatrix& matrix, const MatrixFormat& format,
                                                      const RowRounder& rounder, const std::string& name,
                                                      TensorStore& store, int threads, MatrixChunk& buffers) {
  return MatrixQuantizer(matrix, format, rounder, threads, buffers).Run(name, store);
}

}  // namespace iropt
