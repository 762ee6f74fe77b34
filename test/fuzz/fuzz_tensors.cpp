// The readers of tensors (.npy, .npz, .safetensors, TVM's .params) must answer any bytes with tensors, all of whose
// bytes can be read, or with an error. Tensors that they accept are the same after they are written and read again.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/support/check.h"

namespace {

using namespace iropt;

// A file in memory, which readers find by its path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view contents) : descriptor_(memfd_create("tensors", 0)) {
    IROPT_CHECK(descriptor_ >= 0 &&
                    write(descriptor_, contents.data(), contents.size()) == static_cast<ssize_t>(contents.size()),
                "cannot write a file in memory");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

std::string_view BytesOf(const NDArray& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.num_bytes())};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file(std::string_view(reinterpret_cast<const char*>(data), size));
  const Result<std::vector<NamedTensor>> tensors = ReadTensors(file.path());
  if (!tensors.ok()) return 0;
  std::string written;
  {
    OutputStream out(&written);
    if (!AppendSafetensors(out, *tensors).ok()) return 0;  // not all dtypes have a name there
  }
  const MemoryFile second(written);
  const Result<std::vector<NamedTensor>> again = ReadTensors(second.path());
  IROPT_CHECK(again.ok(), "what was written does not read back: {}", again.error().message);
  IROPT_CHECK(again->size() == tensors->size());
  uint64_t bytes = 0;
  for (const NamedTensor& tensor : *tensors) bytes += BytesOf(*tensor.tensor).size();
  for (const NamedTensor& tensor : *again) bytes -= BytesOf(*tensor.tensor).size();
  IROPT_CHECK(bytes == 0, "tensors have another size after they were written");
  return 0;
}
