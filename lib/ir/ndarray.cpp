#include "iropt/ir/ndarray.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "iropt/support/check.h"
#include "iropt/support/hash.h"

namespace iropt {

namespace {

int64_t NumElements(std::span<const int64_t> shape) {
  int64_t elements = 1;
  for (const int64_t dim : shape) {
    IROPT_CHECK(dim >= 0, "negative dimension {}", dim);
    // Readers must have refused sizes that no memory can hold; this only guards the product.
    IROPT_CHECK(!__builtin_mul_overflow(elements, dim, &elements), "array of more than 2^63 elements");
  }
  return elements;
}

size_t NumBytes(DataType dtype, std::span<const int64_t> shape) {
  int64_t bytes = 0;
  IROPT_CHECK(!__builtin_mul_overflow(NumElements(shape), dtype.bytes(), &bytes), "array of more than 2^63 bytes");
  // Fewer bytes are too many where addresses have 32 bits.
  if (static_cast<uint64_t>(bytes) > SIZE_MAX / 2) throw std::bad_alloc();
  return static_cast<size_t>(bytes);
}

// The data of big arrays do not lie across what a cache loads at once, which has the size of the biggest vectors.
constexpr size_t kDataAlignment = 64;
constexpr size_t kBigArray = 4096;

std::byte* AllocateBytes(size_t bytes, bool zeroed) {
  bytes = std::max<size_t>(bytes, 1);
  auto* memory = static_cast<std::byte*>(zeroed ? std::calloc(bytes, 1) : std::malloc(bytes));
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void Storage::Free::operator()(std::byte* memory) const { std::free(memory); }

std::shared_ptr<Storage> Storage::Make(size_t bytes, Tracking tracking) {
  std::shared_ptr<Storage> storage(new Storage());
  // The marks follow the data.
  const size_t halves = tracking == Tracking::kOn ? 2 : 1;
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  storage->owned_.reset(AllocateBytes(halves * bytes, true));
  storage->data_ = storage->owned_.get();
  storage->num_bytes_ = bytes;
  if (tracking == Tracking::kOn) storage->marks_ = storage->data_ + bytes;
  return storage;
}

std::shared_ptr<Storage> Storage::Wrap(std::byte* data, size_t bytes, std::byte* marks) {
  std::shared_ptr<Storage> storage(new Storage());
  storage->data_ = data;
  storage->num_bytes_ = bytes;
  storage->marks_ = marks;
  return storage;
}

bool Storage::IsWritten(size_t offset, size_t bytes) const {
  return !marks_ || bytes == 0 || std::memchr(marks_ + offset, 0, bytes) == nullptr;
}

void Storage::SetWritten(size_t offset, size_t bytes, bool written) {
  if (marks_ && bytes != 0) std::memset(marks_ + offset, written ? 1 : 0, bytes);
}

NDArray::NDArray(Private, DataType dtype, std::span<const int64_t> shape, size_t own_bytes, bool zeroed)
    : dtype_(dtype), rank_(static_cast<uint32_t>(shape.size())), num_elements_(NumElements(shape)) {
  size_t offset = DataOffset(rank_);
  std::byte* block = inline_;
  if (offset + own_bytes > kInlineBytes) {
    const bool is_big = own_bytes >= kBigArray;
    block = AllocateBytes(offset + own_bytes + (is_big ? kDataAlignment : 0), zeroed);
    if (is_big) offset += kDataAlignment - (reinterpret_cast<uintptr_t>(block) + offset) % kDataAlignment;
  } else {
    std::memset(inline_, 0, kInlineBytes);
  }
  shape_ = reinterpret_cast<int64_t*>(block);
  std::copy(shape.begin(), shape.end(), shape_);
  mutable_data_ = block + offset;
  data_ = mutable_data_;
}

NDArray::~NDArray() {
  if (auto* block = reinterpret_cast<std::byte*>(shape_); block != inline_) std::free(block);
}

std::shared_ptr<NDArray> NDArray::Make(DataType dtype, std::span<const int64_t> shape) {
  return std::make_shared<NDArray>(Private(), dtype, shape, NumBytes(dtype, shape));
}

std::shared_ptr<const NDArray> NDArray::View(DataType dtype, std::span<const int64_t> shape, const std::byte* data,
                                             std::shared_ptr<const void> owner) {
  NumBytes(dtype, shape);
  auto array = std::make_shared<NDArray>(Private(), dtype, shape, 0);
  array->data_ = data;
  array->mutable_data_ = nullptr;
  array->owner_ = std::move(owner);
  return array;
}

std::shared_ptr<NDArray> NDArray::View(DataType dtype, std::span<const int64_t> shape, std::shared_ptr<Storage> storage,
                                       size_t offset) {
  const size_t bytes = NumBytes(dtype, shape);
  IROPT_CHECK(offset <= storage->num_bytes() && bytes <= storage->num_bytes() - offset,
              "a view reaches past the end of its storage");
  auto array = std::make_shared<NDArray>(Private(), dtype, shape, 0);
  array->mutable_data_ = storage->data() + offset;
  array->data_ = array->mutable_data_;
  array->storage_ = std::move(storage);
  return array;
}

std::shared_ptr<const NDArray> NDArray::InFile(DataType dtype, std::span<const int64_t> shape, const std::byte* data,
                                               FileTensor source) {
  const size_t bytes = NumBytes(dtype, shape);
  const bool aligned = reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(dtype.bytes()) == 0;
  auto array = std::make_shared<NDArray>(Private(), dtype, shape, aligned ? 0 : bytes, /*zeroed=*/false);
  if (aligned) {
    array->data_ = data;
  } else if (bytes != 0) {
    std::memcpy(array->mutable_data_, data, bytes);
  }
  array->mutable_data_ = nullptr;
  if (source.hash) array->state_ = State::kUnchecked;
  array->source_ = std::make_unique<Source>();
  array->source_->copied = !aligned;
  array->source_->tensor = std::move(source);
  return array;
}

DataHash NDArray::HashBytesInFile() const {
  std::call_once(source_->hashed, [this] {
    // The bytes of a big file need not stay in memory.
    const auto discard = [&](std::string_view part) {
      if (!source_->copied) source_->tensor.file->Discard(part);
    };
    source_->hash = HashData({data_, num_bytes()}, discard);
  });
  return source_->hash;
}

void NDArray::CheckHash() const {
  const bool valid = HashBytesInFile() == source_->tensor.hash;
  state_.store(valid ? State::kValid : State::kDamaged, std::memory_order_relaxed);
}

DataHash NDArray::ContentHash() const {
  if (has_recorded_hash()) return *source_->tensor.hash;
  return source_ ? HashBytesInFile() : HashData({data_, num_bytes()});
}

bool operator==(const NDArray& a, const NDArray& b) {
  if (&a == &b) return true;
  if (a.dtype_ != b.dtype_ || !std::ranges::equal(a.shape(), b.shape())) return false;
  if (a.has_recorded_hash() || b.has_recorded_hash()) return a.ContentHash() == b.ContentHash();
  return a.data_ == b.data_ || std::memcmp(a.data_, b.data_, a.num_bytes()) == 0;
}

uint64_t NDArray::Hash() const {
  // Zero means "not computed yet". Two threads may both compute it; they get the same number.
  uint64_t hash = hash_.load(std::memory_order_relaxed);
  if (hash != 0) return hash;
  hash = HashMix(dtype_.raw());
  for (const int64_t dim : shape()) hash = HashCombine(hash, static_cast<uint64_t>(dim));
  hash = HashCombine(hash, ContentHash().low);
  hash = std::max<uint64_t>(hash, 1);
  hash_.store(hash, std::memory_order_relaxed);
  return hash;
}

std::optional<uint64_t> ArrayBytes(DataType dtype, std::span<const int64_t> shape) {
  int64_t bytes = dtype.bytes();
  bool empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    empty |= dim == 0;
    if (dim != 0 && __builtin_mul_overflow(bytes, dim, &bytes)) return std::nullopt;
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

}  // namespace iropt
