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
  explicit ParamsReader(std::string_view file) : rest_(file) {}

  Result<std::vector<TensorEntry>> Read() {
    uint64_t magic = 0, reserved = 0, count = 0, arrays = 0;
    if (!Take(magic) || magic != kListMagic || !Take(reserved) || !Take(count)) return CutOff();
    std::vector<TensorEntry> tensors;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t size = 0;
      std::string_view name;
      if (!Take(size) || !TakeBytes(size, name)) return CutOff();
      tensors.push_back({.name = std::string(name), .dtype = {}, .shape = {}, .bytes = {}});
    }
    if (!Take(arrays)) return CutOff();
    if (arrays != count) return Malformed(fmt::format("it has {} names and {} tensors", count, arrays));
    for (TensorEntry& tensor : tensors) {
      if (const Status taken = TakeArray(tensor); !taken.ok())
        return Malformed(fmt::format("tensor '{}': {}", tensor.name, taken.error().message));
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

  Status TakeArray(TensorEntry& tensor) {
    uint64_t magic = 0, reserved = 0;
    int32_t device_type = 0, device_id = 0, rank = 0;
    uint8_t code = 0, bits = 0;
    uint16_t lanes = 0;
    if (!Take(magic) || magic != kArrayMagic || !Take(reserved) || !Take(device_type) || !Take(device_id) ||
        !Take(rank) || !Take(code) || !Take(bits) || !Take(lanes) || rank < 0)
      return Malformed("its header is damaged");
    for (const TypeCode known : kCodes) {
      if (DLPackCode(known) == code) tensor.dtype = DataType::Make(known, bits, lanes);
    }
    if (!IsElementType(tensor.dtype)) return Malformed("it has an unknown dtype");
    for (int32_t i = 0; i < rank; ++i) {
      int64_t dim = 0;
      if (!Take(dim)) return CutOff();
      tensor.shape.push_back(dim);
    }
    int64_t size = 0;
    const std::optional<uint64_t> expected = ArrayBytes(tensor.dtype, tensor.shape);
    if (!Take(size) || size < 0 || expected != static_cast<uint64_t>(size))
      return Malformed("its number of bytes does not match its dtype and shape");
    if (!TakeBytes(static_cast<uint64_t>(size), tensor.bytes)) return CutOff();
    return {};
  }

  std::string_view rest_;
};

}  // namespace

bool IsTvmParams(std::string_view file) { return file.size() >= 8 && Load<uint64_t>(file) == kListMagic; }

Result<std::vector<TensorEntry>> ReadTvmParamsEntries(std::string_view file) { return ParamsReader(file).Read(); }

Result<std::vector<NamedTensor>> ReadTvmParams(const Bytes& file) {
  IROPT_ASSIGN_OR_RETURN(std::vector<TensorEntry> entries, ReadTvmParamsEntries(file.text));
  std::vector<NamedTensor> tensors;
  for (TensorEntry& entry : entries) {
    std::shared_ptr<const NDArray> array = MakeArray(entry.dtype, std::move(entry.shape), {entry.bytes, file.owner});
    tensors.push_back({std::move(entry.name), std::move(array)});
  }
  return tensors;
}

}  // namespace iropt::data
