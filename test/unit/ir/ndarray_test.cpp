// Arrays in files: comparisons do not read the bytes if a hash is recorded; the first use checks it.
#include "iropt/ir/ndarray.h"

#include <sys/mman.h>

#include <cstring>

#include "catch.h"

namespace iropt {
namespace {

constexpr size_t kBytes = size_t{1} << 20;
constexpr int64_t kFloats = kBytes / sizeof(float);
const std::initializer_list<int64_t> kShape{kFloats};

// A mapping that must not be read: reading it ends the program.
std::shared_ptr<const FileBuffer> Unreadable() {
  void* mapping = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(mapping != MAP_FAILED);
  return std::make_shared<const FileBuffer>(mapping, kBytes);
}

std::shared_ptr<const NDArray> InFile(const std::shared_ptr<const FileBuffer>& file, std::optional<DataHash> hash,
                                      std::span<const int64_t> shape = kShape, size_t offset = 0) {
  const FileTensor source{
      .path = "w.safetensors", .absolute = false, .name = "w", .hash = hash, .span = {}, .file = file};
  return NDArray::InFile(DataType::Float(32), shape, reinterpret_cast<const std::byte*>(file->data()) + offset, source);
}

TEST_CASE("arrays with recorded hashes are compared without reading them", "[ir]") {
  const auto file = Unreadable();
  const DataHash hash{.high = 1, .low = 2};
  const auto a = InFile(file, hash);
  const auto b = InFile(Unreadable(), hash);
  const auto c = InFile(Unreadable(), DataHash{.high = 1, .low = 3});
  CHECK(*a == *b);
  CHECK(a->Hash() == b->Hash());
  CHECK_FALSE(*a == *c);
  CHECK(a->Hash() != c->Hash());
  CHECK(a->ContentHash() == hash);
  const std::vector<int64_t> matrix{kFloats / 2, 2};
  CHECK_FALSE(*a == *InFile(file, hash, matrix));
  CHECK(a->Hash() != InFile(file, hash, matrix)->Hash());
  CHECK(a->source()->name == "w");
  CHECK_FALSE(a->damaged());
}

TEST_CASE("an array in memory equals one in a file that has its hash", "[ir]") {
  const auto array = NDArray::Make(DataType::Float(32), kShape);
  array->MutableAs<float>()[7] = 1.0f;
  const auto same = InFile(Unreadable(), array->ContentHash());
  CHECK(*array == *same);
  CHECK(*same == *array);
  CHECK(array->Hash() == same->Hash());
  CHECK_FALSE(*array == *InFile(Unreadable(), DataHash{}));
  CHECK(array->source() == nullptr);
}

TEST_CASE("the first use of an array checks its recorded hash", "[ir]") {
  const auto file = std::make_shared<const FileBuffer>(std::string(kBytes, 'x'));
  const DataHash hash = HashData(std::as_bytes(std::span(file->text())));
  const auto valid = InFile(file, hash);
  CHECK(valid->As<float>().size() == static_cast<size_t>(kFloats));
  CHECK_FALSE(valid->damaged());
  const auto damaged = InFile(file, DataHash{});
  CHECK_FALSE(damaged->damaged());
  CHECK(damaged->data() == reinterpret_cast<const std::byte*>(file->data()));
  CHECK(damaged->damaged());
  const auto unknown = InFile(file, std::nullopt);
  CHECK(unknown->ContentHash() == hash);
  CHECK(unknown->data() != nullptr);
  CHECK_FALSE(unknown->damaged());
  CHECK(*unknown == *valid);
}

TEST_CASE("bytes that are not aligned are copied, and keep their source", "[ir]") {
  std::string text(9, '\0');
  const float value = 1.5f;
  std::memcpy(text.data() + 5, &value, sizeof value);
  const auto file = std::make_shared<const FileBuffer>(text + std::string(100, ' '));
  const std::vector<int64_t> one{1};
  const auto array = InFile(file, std::nullopt, one, 5);
  CHECK(array->As<float>()[0] == value);
  CHECK(array->ContentHash() == HashData(std::as_bytes(std::span(&value, 1))));
  CHECK(array->As<float>()[0] == value);
  CHECK(array->source()->name == "w");
}

TEST_CASE("data of big arrays are aligned as vectors are", "[ir]") {
  for (const int64_t size : {1024, 5000, 1 << 20}) {
    const auto flat = NDArray::Make(DataType::Float(32), {size});
    const auto deep = NDArray::Make(DataType::Float(32), {1, 1, size, 1, 1});
    CHECK(reinterpret_cast<uintptr_t>(flat->data()) % 64 == 0);
    CHECK(reinterpret_cast<uintptr_t>(deep->data()) % 64 == 0);
  }
}

}  // namespace
}  // namespace iropt
