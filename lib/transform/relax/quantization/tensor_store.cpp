#include "tensor_store.h"

#include <cstring>
#include <utility>

namespace iropt {

Status TensorStore::Sink::Write(size_t offset, std::span<const std::byte> bytes) {
  if (file_) return file_->Write(begin_ + offset, bytes);
  if (!bytes.empty()) std::memcpy(memory_.data() + offset, bytes.data(), bytes.size());
  return {};
}

Result<std::shared_ptr<const NDArray>> TensorStore::Sink::Finish() {
  std::shared_ptr<const FileBuffer> buffer;
  if (file_) {
    IROPT_ASSIGN_OR_RETURN(buffer, file_->Map(begin_, bytes_));
  } else {
    buffer = std::make_shared<const FileBuffer>(std::move(memory_));
  }
  const auto* data = reinterpret_cast<const std::byte*>(buffer->data());
  return NDArray::InFile(dtype_, shape_, data,
                         {.path = {}, .name = std::move(name_), .hash = {}, .span = {}, .file = std::move(buffer)});
}

Result<TensorStore::Sink> TensorStore::Begin(std::string name, DataType dtype, std::span<const int64_t> shape) {
  Sink sink;
  sink.name_ = std::move(name);
  sink.dtype_ = dtype;
  sink.shape_.assign(shape.begin(), shape.end());
  sink.bytes_ = static_cast<size_t>(*ArrayBytes(dtype, shape));
  if (sink.bytes_ <= left_) {
    left_ -= sink.bytes_;
    sink.memory_.resize(sink.bytes_);
    return sink;
  }
  if (!file_) {
    IROPT_ASSIGN_OR_RETURN(file_, ScratchFile::Create());
  }
  sink.file_ = file_;
  sink.begin_ = file_->Reserve(sink.bytes_);
  return sink;
}

}  // namespace iropt
