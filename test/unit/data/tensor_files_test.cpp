// Tensors that texts refer to in files.
#include "iropt/data/tensor_files.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "iropt/data/name_pairs.h"
#include "iropt/data/tensors.h"
#include "temporary_folder.h"

namespace iropt {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<NDArray> Filled(DataType dtype, std::initializer_list<int64_t> shape, int first) {
  auto array = NDArray::Make(dtype, shape);
  for (size_t i = 0; i < array->num_bytes(); ++i)
    array->mutable_data()[i] = static_cast<std::byte>(static_cast<size_t>(first) + i % 100);
  return array;
}

std::vector<NamedTensor> FileExamples() {
  return {{"flags \"a\\b\"", Filled(DataType::Bool(), {3}, 0)},
          {"layers.0.weight", Filled(DataType::Float(32), {2, 3}, 1)},
          {"scalar", Filled(DataType::Int(64), {}, 2)},
          {"empty", Filled(DataType::Float(64), {0, 5}, 3)},
          {"half", Filled(DataType::BFloat(16), {5}, 4)}};
}

FileTensor Reference(const std::string& path, const std::string& name, std::optional<DataHash> hash = {}) {
  return {.path = path, .absolute = false, .name = name, .hash = hash, .span = {}, .file = {}};
}

TEST_CASE("a safetensors file reads back as it was written, with all tensors aligned", "[tensors]") {
  const TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  REQUIRE(WriteSafetensors(path, FileExamples()).ok());
  const auto read = ReadTensors(path);
  REQUIRE(read.ok());
  REQUIRE(read->size() == FileExamples().size());
  TensorFiles files;
  for (const NamedTensor& expected : FileExamples()) {
    const auto array = files.Open(Reference(path, expected.name, expected.tensor->ContentHash()));
    REQUIRE(array.ok());
    CHECK(**array == *expected.tensor);
    CHECK((*array)->source()->path == path);
    const auto at = reinterpret_cast<uintptr_t>((*array)->data());
    const auto text = (*array)->source()->file->text();
    CHECK(at >= reinterpret_cast<uintptr_t>(text.data()));
    CHECK(at + (*array)->num_bytes() <= reinterpret_cast<uintptr_t>(text.data() + text.size()));
  }
  files.CheckAll();
  CHECK(files.TakeDamaged().empty());
}

TEST_CASE("a safetensors file has neither unknown dtypes nor repeated names", "[tensors]") {
  const TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  const std::vector<NamedTensor> twice{{"a", Filled(DataType::Int(8), {1}, 0)},
                                       {"a", Filled(DataType::Int(8), {1}, 0)}};
  CHECK(WriteSafetensors(path, twice).error().message == "it has two tensors 'a'");
  const DataType pair = DataType::Float(32).lanes == 1 ? DataType::Make(TypeCode::kFloat, 32, 2) : DataType::Void();
  CHECK_FALSE(IsSafetensorsType(pair));
  const std::vector<NamedTensor> wide{{"a", Filled(pair, {1}, 0)}};
  CHECK(WriteSafetensors(path, wide).error().message == "tensor 'a': the format has no dtype float32x2");
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("damaged tensors are found when they are used, and reported once", "[tensors]") {
  const TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  REQUIRE(WriteSafetensors(path, FileExamples()).ok());
  TensorFiles files;
  const auto wrong = files.Open(Reference(path, "half", DataHash{}));
  const auto unused = files.Open(Reference(path, "layers.0.weight", DataHash{}));
  REQUIRE((wrong.ok() && unused.ok()));
  CHECK(files.TakeDamaged().empty());
  CHECK((*wrong)->data() != nullptr);
  const auto damaged = files.TakeDamaged();
  REQUIRE(damaged.size() == 1);
  CHECK(damaged[0]->source()->name == "half");
  CHECK(files.TakeDamaged().empty());
  files.CheckAll();
  CHECK(files.TakeDamaged().size() == 1);
}

TEST_CASE("files and tensors that do not exist are errors", "[tensors]") {
  const TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  REQUIRE(WriteSafetensors(path, FileExamples()).ok());
  TensorFiles files;
  CHECK(files.Open(Reference(path, "scalars")).error().message ==
        path + ": it has no tensor 'scalars'; did you mean 'scalar'?");
  CHECK(files.Open(Reference(folder / "none", "a")).error().message ==
        "cannot open '" + (folder / "none") + "': no such file or directory");
  CHECK(files.Open(Reference(folder / "", "a")).error().message.ends_with("not a regular file"));
  CHECK(files.Open(Reference("/dev/zero", "a")).error().message == "cannot open '/dev/zero': not a regular file");
}

TEST_CASE("arrays stand for a file that is not written yet", "[tensors]") {
  const TemporaryFolder folder;
  TensorFiles files;
  const std::shared_ptr<const NDArray> array = Filled(DataType::Int(8), {4}, 9);
  const DataHash hash = array->ContentHash();
  files.Provide(Reference(folder / "later.safetensors", "a", hash), array);
  const auto opened = files.Open(Reference(folder / "./none/../later.safetensors", "a", hash));
  REQUIRE(opened.ok());
  CHECK(*opened == array);
  CHECK_FALSE(files.Open(Reference(folder / "later.safetensors", "b", hash)).ok());
  CHECK_FALSE(files.Open(Reference(folder / "later.safetensors", "a", DataHash{})).ok());
  CHECK(files.empty());
}

TEST_CASE("maps of names are objects of strings", "[tensors]") {
  const TemporaryFolder folder;
  const std::string path = folder / "names.json";
  const auto read = [&](std::string_view text) {
    std::ofstream(path) << text;
    return ReadNamePairs(path);
  };
  CHECK(*read(R"({"b.0": "x", "a": "y"})") == NamePairs{{"b.0", "x"}, {"a", "y"}});
  CHECK(read("{}")->empty());
  for (const char* text : {"", "[]", "{", R"({"a": 1})", R"({"a": "x", "a": "y"})", R"({"a": {"b": "c"}})"})
    CHECK_FALSE(read(text).ok());
}

}  // namespace
}  // namespace iropt
