// Files of tensors: written files read back, and damage anywhere is an error. Files of other programs are tested in
// test/transform/bind_params.
#include "iropt/data/tensors.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "catch.h"

namespace iropt {
namespace {

// A file that is removed after the test.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_(std::filesystem::temp_directory_path() / ("iropt-tensors-" + std::to_string(getpid()) + ".npz")) {}
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::shared_ptr<const NDArray> Counting(DataType dtype, std::vector<int64_t> shape) {
  auto array = NDArray::Make(dtype, shape);
  for (size_t i = 0; i < array->num_bytes(); ++i) array->mutable_data()[i] = static_cast<std::byte>(i % 7);
  return array;
}

std::vector<NamedTensor> Examples() {
  return {{"w", Counting(DataType::Float(32), {2, 3})},      {"scalar", Counting(DataType::Int(64), {})},
          {"empty", Counting(DataType::Float(64), {0, 5})},  {"half", Counting(DataType::Float(16), {5})},
          {"flags", Counting(DataType::UInt(8), {3, 1, 1})}, {"", Counting(DataType::UInt(64), {1})}};
}

std::shared_ptr<const FileBuffer> Buffer(std::string text) {
  return std::make_shared<const FileBuffer>(std::move(text));
}

std::string Archive(std::span<const NamedTensor> tensors) {
  const TemporaryFile file;
  REQUIRE(WriteNpz(file.path(), tensors).ok());
  return std::string((*ReadFile(file.path()))->text());
}

std::string Safetensors(const std::string& header, const std::string& data) {
  std::string file(8, '\0');
  const uint64_t size = header.size();
  std::memcpy(file.data(), &size, sizeof size);
  return file + header + data;
}

void CheckSame(const std::vector<NamedTensor>& expected, const std::vector<NamedTensor>& got) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].name == expected[i].name);
    CHECK(*got[i].tensor == *expected[i].tensor);
  }
}

TEST_CASE("an archive reads back as it was written", "[tensors]") {
  const TemporaryFile file;
  const std::vector<NamedTensor> tensors = Examples();
  REQUIRE(WriteNpz(file.path(), tensors).ok());
  auto read = ReadTensors(file.path());
  REQUIRE(read.ok());
  CheckSame(tensors, *read);
}

TEST_CASE("tensors outlive the file that they were read from", "[tensors]") {
  auto read = ReadNpz(Buffer(Archive(Examples())));
  REQUIRE(read.ok());
  CheckSame(Examples(), *read);
}

TEST_CASE("an archive without tensors is one", "[tensors]") {
  auto read = ReadNpz(Buffer(Archive({})));
  REQUIRE(read.ok());
  CHECK(read->empty());
}

TEST_CASE("dtypes that numpy lacks and repeated names are not written", "[tensors]") {
  const TemporaryFile file;
  const std::vector<NamedTensor> brain{{"b", Counting(DataType::BFloat(16), {2})}};
  CHECK(WriteNpz(file.path(), brain).error().message == "tensor 'b': numpy has no dtype bfloat16");
  const std::vector<NamedTensor> twice{{"a", brain[0].tensor}, {"a", brain[0].tensor}};
  CHECK(WriteNpz(file.path(), twice).error().message == "it has two tensors 'a'");
  CHECK(!std::filesystem::exists(file.path()));
}

TEST_CASE("tensors of a safetensors file keep their order and are not copied if they are aligned", "[tensors]") {
  std::string header =
      R"({"z": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}, "a": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [0, 4]}})";
  header.append(8 - header.size() % 8, ' ');
  const auto file = Buffer(Safetensors(header, std::string("\x80\x3f\x00\x40\0\0\x80\x3f\0\0\0\x40", 12)));
  auto read = ReadSafetensors(file);
  REQUIRE(read.ok());
  REQUIRE(read->size() == 2);
  CHECK((*read)[0].name == "z");
  CHECK((*read)[0].tensor->As<float>()[1] == 2.0f);
  CHECK((*read)[1].tensor->dtype() == DataType::BFloat(16));
  const auto* bytes = reinterpret_cast<const char*>((*read)[1].tensor->data());
  CHECK((bytes >= file->data() && bytes < file->data() + file->size()));
}

TEST_CASE("a file that is cut off anywhere is an error", "[tensors]") {
  const std::string archive = Archive(Examples());
  for (size_t size = 0; size < archive.size(); ++size) CHECK(!ReadNpz(Buffer(archive.substr(0, size))).ok());
  const std::string safetensors =
      Safetensors(R"({"a": {"dtype": "I8", "shape": [4], "data_offsets": [0, 4]}})", "1234");
  REQUIRE(ReadSafetensors(Buffer(safetensors)).ok());
  for (size_t size = 0; size < safetensors.size(); ++size)
    CHECK(!ReadSafetensors(Buffer(safetensors.substr(0, size))).ok());
}

TEST_CASE("a file with any byte changed is read or refused", "[tensors]") {
  const std::string archive = Archive(Examples());
  const std::string safetensors =
      Safetensors(R"({"a": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}})", "1234");
  for (const char byte : {'\0', '\1', '\x7f', '\xff', '9', '}'}) {
    for (size_t i = 0; i < archive.size(); ++i) {
      std::string changed = archive;
      changed[i] = byte;
      if (auto read = ReadNpz(Buffer(changed))) CHECK(read->size() <= Examples().size());
    }
    for (size_t i = 0; i < safetensors.size(); ++i) {
      std::string changed = safetensors;
      changed[i] = byte;
      if (auto read = ReadSafetensors(Buffer(changed))) CHECK(read->size() <= 1);
    }
  }
}

}  // namespace
}  // namespace iropt
