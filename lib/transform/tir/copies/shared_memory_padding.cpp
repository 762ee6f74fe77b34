#include "transform/tir/copies/shared_memory_padding.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "iropt/arith/const_fold.h"
#include "iropt/arith/prim_builder.h"

namespace iropt {

namespace {

constexpr int64_t kBanks = 32;
constexpr int64_t kBankBits = 32;
// Of a row, what padding may add at most: 1 / kMaxPart.
constexpr int64_t kMaxPart = 4;
// An access to more elements at once is left out.
constexpr size_t kMaxElements = 1024;

class Padder {
 public:
  Padder(const tir::Buffer& buffer, const BufferAccesses& accesses)
      : accesses_(accesses.accesses),
        bits_(std::max<int64_t>(buffer.dtype.bits, 1)),
        width_(kBanks * kBankBits / bits_),
        unit_(std::clamp<int64_t>(accesses.padding_unit, 1, width_ + 1)) {
    for (const WarpAccess& access : accesses_) positions_.push_back(access.back());
  }

  // The stride of a dimension: of `row` elements, which consist of parts of `part` elements, and the padding. The
  // dimensions come from the last one but one to the first.
  int64_t Pad(size_t dim, int64_t row, int64_t part) {
    int64_t fewest = std::numeric_limits<int64_t>::max();
    int64_t best = row;
    const int64_t max = std::min(row / kMaxPart, width_);
    for (int64_t padding = 0; padding <= max; padding += unit_) {
      if (padding % part != 0) continue;
      const int64_t conflicts = Conflicts(dim, (row + padding) % width_);
      if (conflicts >= fewest) continue;
      fewest = conflicts;
      best = row + padding;
    }
    Extend(dim, best % width_);
    return best;
  }

 private:
  // The most threads of an access that use the same bank.
  int64_t Conflicts(size_t dim, int64_t stride) const {
    int64_t most = 0;
    for (size_t i = 0; i < accesses_.size(); ++i) {
      std::array<int64_t, kBanks> users = {};
      for (const int64_t index : accesses_[i][dim]) {
        for (const int64_t position : positions_[i]) {
          const int64_t bank = (index * stride + position) * bits_ / kBankBits % kBanks;
          most = std::max(most, ++users[static_cast<size_t>(bank)]);
        }
      }
    }
    return most;
  }

  // Adds the dimension to the positions. The factor is TVM's: for wide elements, the positions become 0.
  void Extend(size_t dim, int64_t stride) {
    for (size_t i = 0; i < accesses_.size(); ++i) {
      const std::vector<int64_t>& indices = accesses_[i][dim];
      if (indices.empty()) continue;
      std::vector<int64_t> extended;
      const bool fits = positions_[i].size() <= kMaxElements / indices.size();
      for (size_t n = 0; fits && n < indices.size(); ++n) {
        for (const int64_t position : positions_[i])
          extended.push_back((indices[n] * stride + position) * bits_ % width_);
      }
      positions_[i] = std::move(extended);
    }
  }

  const std::vector<WarpAccess>& accesses_;
  const int64_t bits_;   // of an element
  const int64_t width_;  // the elements in all banks
  const int64_t unit_;
  // By access, where in a row of the current dimension its threads are.
  std::vector<std::vector<int64_t>> positions_;
};

}  // namespace

const tir::Buffer* PadSharedMemory(const tir::Buffer& buffer, const BufferAccesses& accesses, Workspace& workspace) {
  const size_t rank = buffer.shape.size();
  if (rank == 0 || accesses.accesses.empty()) return &buffer;
  const arith::PrimBuilder make(workspace);
  std::vector<const PrimExpr*> strides(rank, make.Int(1, DataType::Int(32)));
  Padder padder(buffer, accesses);
  int64_t stride = 1;
  for (size_t dim = rank - 1; dim-- > 0;) {
    const PrimExpr* size = buffer.shape[dim + 1];
    const int64_t* value = arith::AsInt(size);
    const auto row = value && *value > 0 ? arith::CheckedMul(stride, *value) : std::nullopt;
    if (!row || *row > std::numeric_limits<int32_t>::max()) return &buffer;
    stride = padder.Pad(dim, *row, stride);
    strides[dim] = make.Int(stride, size->dtype);
  }
  auto* padded = workspace.New<tir::Buffer>(buffer);
  padded->id = workspace.NextVarId();
  padded->strides = workspace.Copy(strides);
  return padded;
}

}  // namespace iropt
