#include "exchange/onnx/export/packed_elements.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exchange/onnx/export/external_data.h"
#include "iropt/support/scratch_file.h"

namespace iropt::onnx {

namespace {

constexpr size_t kMostInMemory = size_t{1} << 20;  // bytes of one tensor
constexpr size_t kPart = size_t{1} << 22;          // elements

void PackPart(std::span<const std::byte> elements, int bits, std::span<std::byte> packed) {
  const auto per_byte = static_cast<size_t>(8 / bits);
  const unsigned mask = (1U << bits) - 1;
  std::ranges::fill(packed, std::byte{0});
  for (size_t i = 0; i < elements.size(); ++i) {
    const unsigned code = (std::to_integer<unsigned>(elements[i]) & mask) << (i % per_byte * static_cast<size_t>(bits));
    packed[i / per_byte] |= static_cast<std::byte>(code);
  }
}

}  // namespace

Result<std::shared_ptr<const NDArray>> PackElements(const NDArray& array) {
  const int bits = array.dtype().bits;
  const auto per_byte = static_cast<size_t>(8 / bits);
  const auto bytes = static_cast<int64_t>((array.num_bytes() + per_byte - 1) / per_byte);
  const std::span elements(array.data(), array.num_bytes());
  if (static_cast<size_t>(bytes) <= kMostInMemory) {
    std::shared_ptr<NDArray> packed = NDArray::Make(DataType::UInt(8), {bytes});
    PackPart(elements, bits, {packed->mutable_data(), packed->num_bytes()});
    return std::shared_ptr<const NDArray>(std::move(packed));
  }
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<ScratchFile> file, ScratchFile::Create());
  file->Reserve(static_cast<uint64_t>(bytes));
  std::vector<std::byte> packed;
  for (size_t begin = 0; begin < elements.size(); begin += kPart) {
    const std::span part = elements.subspan(begin, std::min(kPart, elements.size() - begin));
    packed.resize((part.size() + per_byte - 1) / per_byte);
    PackPart(part, bits, packed);
    IROPT_RETURN_IF_ERROR(file->Write(begin / per_byte, packed));
  }
  Forget(&array);
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<const FileBuffer> buffer, file->Map(0, static_cast<size_t>(bytes)));
  const auto* data = reinterpret_cast<const std::byte*>(buffer->data());
  return NDArray::InFile(DataType::UInt(8), std::span(&bytes, 1), data,
                         {.path = {}, .name = {}, .hash = {}, .span = {}, .file = std::move(buffer)});
}

}  // namespace iropt::onnx
