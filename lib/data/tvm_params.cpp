// The format: a magic number and 8 reserved bytes; the number of names and, for each, its length and text; the number
// of arrays, which is the same, and each array as TVM stores it, in the order of the names.
#include "tvm_params.h"

#include <utility>

#include "iropt/ir/dlpack.h"
#include "iropt/ir/element.h"

namespace iropt::data {

namespace {

constexpr uint64_t kListMagic = 0xf7e58d4f05049cb7u;
constexpr uint64_t kArrayMagic = 0xdd5e40f096b4a13fu;
constexpr TypeCode kCodes[] = {TypeCode::kInt, TypeCode::kUInt, TypeCode::kFloat, TypeCode::kBFloat};

// Takes numbers and texts from the front of the file.
class ParamsReader {
 public:
  explicit ParamsReader(const Bytes& file) : rest_(file.text), owner_(file.owner) {}

  Result<std::vector<NamedTensor>> Read() {
    uint64_t magic = 0, reserved = 0, count = 0, arrays = 0;
    if (!Take(magic) || magic != kListMagic || !Take(reserved) || !Take(count)) return CutOff();
    std::vector<NamedTensor> tensors;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t size = 0;
      std::string_view name;
      if (!Take(size) || !TakeBytes(size, name)) return CutOff();
      tensors.push_back({std::string(name), nullptr});
    }
    if (!Take(arrays)) return CutOff();
    if (arrays != count) return Malformed(fmt::format("it has {} names and {} tensors", count, arrays));
    for (NamedTensor& named : tensors) {
      Result<std::shared_ptr<const NDArray>> array = TakeArray();
      if (!array) return Malformed(fmt::format("tensor '{}': {}", named.name, array.error().message));
      named.tensor = *std::move(array);
    }
    return tensors;
  }

 private:
  static Error CutOff() { return Malformed("it is cut off"); }

  template <class T>
  bool Take(T& number) {
    if (rest_.size() < sizeof number) return false;
    number = Load<T>(rest_);
    rest_.remove_prefix(sizeof number);
    return true;
  }

  bool TakeBytes(uint64_t size, std::string_view& bytes) {
    if (size > rest_.size()) return false;
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  Result<std::shared_ptr<const NDArray>> TakeArray() {
    uint64_t magic = 0, reserved = 0;
    int32_t device_type = 0, device_id = 0, rank = 0;
    uint8_t code = 0, bits = 0;
    uint16_t lanes = 0;
    if (!Take(magic) || magic != kArrayMagic || !Take(reserved) || !Take(device_type) || !Take(device_id) ||
        !Take(rank) || !Take(code) || !Take(bits) || !Take(lanes) || rank < 0)
      return Malformed("its header is damaged");
    DataType dtype;
    for (const TypeCode known : kCodes) {
      if (DLPackCode(known) == code) dtype = DataType::Make(known, bits, lanes);
    }
    if (!IsElementType(dtype)) return Malformed("it has an unknown dtype");
    std::vector<int64_t> shape;
    for (int32_t i = 0; i < rank; ++i) {
      int64_t dim = 0;
      if (!Take(dim)) return CutOff();
      shape.push_back(dim);
    }
    int64_t size = 0;
    std::string_view bytes;
    const std::optional<uint64_t> expected = ArrayBytes(dtype, shape);
    if (!Take(size) || size < 0 || expected != static_cast<uint64_t>(size))
      return Malformed("its number of bytes does not match its dtype and shape");
    if (!TakeBytes(static_cast<uint64_t>(size), bytes)) return CutOff();
    return MakeArray(dtype, std::move(shape), {bytes, owner_});
  }

  std::string_view rest_;
  std::shared_ptr<const void> owner_;
};

}  // namespace

bool IsTvmParams(std::string_view file) { return file.size() >= 8 && Load<uint64_t>(file) == kListMagic; }

Result<std::vector<NamedTensor>> ReadTvmParams(const Bytes& file) { return ParamsReader(file).Read(); }

}  // namespace iropt::data
