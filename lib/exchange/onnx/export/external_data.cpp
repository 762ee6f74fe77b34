#include "exchange/onnx/export/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>

#include "exchange/onnx/encode.h"

namespace iropt::onnx {

namespace {

constexpr size_t kLeastMoved = 1024;  // bytes; as the onnx package does
constexpr size_t kLeastMade = 256;    // bytes of constants that the input did not have in this form
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kLargestMessage = (uint64_t{1} << 31) - 1;

namespace fs = std::filesystem;

void Refer(TensorProto& tensor, std::string_view location, uint64_t offset, uint64_t length, Model& model) {
  tensor.raw.reset();
  tensor.is_external = true;
  tensor.external = {{"location", location},
                     {"offset", model.Keep(fmt::format("{}", offset))},
                     {"length", model.Keep(fmt::format("{}", length))}};
}

// Paths of files relative to the folder of the output; empty for files outside of it.
class Locations {
 public:
  explicit Locations(const std::string& output) {
    if (IsStandardStream(output)) return;
    std::error_code error;
    folder_ = fs::weakly_canonical(fs::absolute(output, error).parent_path(), error);
  }

  const std::string& Of(const std::string& path) {
    const auto [known, added] = known_.try_emplace(path);
    if (!added || folder_.empty()) return known->second;
    std::error_code error;
    const fs::path relative = fs::weakly_canonical(path, error).lexically_relative(folder_);
    if (!relative.empty() && *relative.begin() != "..") known->second = relative.string();
    return known->second;
  }

 private:
  fs::path folder_;
  std::map<std::string, std::string> known_;
};

// Refers to tensors that are in files next to the output already.
void ReferToOld(ExportedModel& exported, const std::string& output) {
  Locations locations(output);
  for (size_t i = 0; i < exported.arrays.size(); ++i) {
    TensorProto& tensor = exported.model.graph.initializers[i];
    const FileTensor* source = exported.arrays[i] ? exported.arrays[i]->source() : nullptr;
    if (source == nullptr || source->path.empty() || source->hash || !tensor.raw) continue;
    const std::string_view file = source->file->text();
    const char* data = tensor.raw->data();
    if (data < file.data() || data + tensor.raw->size() > file.data() + file.size()) continue;  // was copied
    const std::string& location = locations.Of(source->path);
    if (location.empty()) continue;
    Refer(tensor, exported.model.Keep(location), static_cast<uint64_t>(data - file.data()), tensor.raw->size(),
          exported.model);
  }
}

// Returns whether a tensor is in a file of the input, next to nodes.
bool IsInModel(const NDArray* array) {
  const FileTensor* source = array ? array->source() : nullptr;
  return source != nullptr && source->path.empty() && !source->name.empty();
}

// Which tensors move: all of some size, or those that were made for a model that has its tensors in other files.
enum class Moved : uint8_t { All, Made };

bool Moves(const ExportedModel& exported, size_t i, Moved moved) {
  const TensorProto& tensor = exported.model.graph.initializers[i];
  if (!tensor.raw) return false;
  if (moved == Moved::All) return tensor.raw->size() >= kLeastMoved;
  return tensor.raw->size() >= kLeastMade && !IsInModel(exported.arrays[i]);
}

// Returns whether the input has its tensors in files next to the output, and others were made that take much room.
bool HasMadeTensors(const ExportedModel& exported, const std::string& output) {
  if (IsStandardStream(output)) return false;
  const fs::path folder = fs::path(output).parent_path();
  std::error_code error;
  const bool has_files = std::ranges::any_of(
      exported.data_files, [&](std::string_view file) { return fs::is_regular_file(folder / fs::path(file), error); });
  size_t bytes = 0;
  for (size_t i = 0; has_files && i < exported.arrays.size(); ++i) {
    if (Moves(exported, i, Moved::Made)) bytes += exported.model.graph.initializers[i].raw->size();
  }
  return bytes >= kLeastMoved;
}

// A name that is not that of a file of the input.
std::string NameFor(const ExportedModel& exported, const fs::path& output) {
  const std::string base = output.filename().string();
  std::string name = base + ".data";
  for (int i = 2; std::ranges::find(exported.data_files, name) != exported.data_files.end(); ++i)
    name = fmt::format("{}.{}.data", base, i);
  return name;
}

// Appends the bytes of a tensor, which refers to them from then on.
void WriteTensor(TensorProto& tensor, std::string_view location, OutputStream& out, Model& model) {
  out.AppendRepeated('\0', (kAlignment - out.position() % kAlignment) % kAlignment);
  const std::string_view bytes = *tensor.raw;
  Refer(tensor, location, out.position(), bytes.size(), model);
  out.Append(bytes);
}

// The initializers of the graphs of nodes.
void WriteInnerTensors(GraphProto& graph, std::string_view location, OutputStream& out, Model& model) {
  for (NodeProto& node : graph.nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) {
        for (TensorProto& tensor : inner->initializers) {
          if (tensor.raw && tensor.raw->size() >= kLeastMoved) WriteTensor(tensor, location, out, model);
        }
        WriteInnerTensors(*inner, location, out, model);
      }
    }
  }
}

Result<AtomicFile> WriteTensors(ExportedModel& exported, const fs::path& folder, const std::string& name, Moved moved) {
  IROPT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create((folder / name).string()));
  OutputStream& out = file.stream();
  const std::string_view location = exported.model.Keep(name);
  for (size_t i = 0; i < exported.arrays.size(); ++i) {
    TensorProto& tensor = exported.model.graph.initializers[i];
    if (!Moves(exported, i, moved)) continue;
    WriteTensor(tensor, location, out, exported.model);
    Forget(exported.arrays[i]);
  }
  if (moved == Moved::All) WriteInnerTensors(exported.model.graph, location, out, exported.model);
  IROPT_RETURN_IF_ERROR(file.Finish());
  return file;
}

}  // namespace

bool IsInOtherFile(const NDArray* array) {
  const FileTensor* source = array ? array->source() : nullptr;
  return source != nullptr && !source->path.empty();
}

Result<std::optional<AtomicFile>> MoveOutTensors(ExportedModel& exported, const WriteRequest& request) {
  std::optional<AtomicFile> result;
  const std::optional<std::string> external_data = request.Option("external-data");
  if (!external_data) ReferToOld(exported, request.path);
  const bool is_large = EncodedSize(exported.model) > kLargestMessage;
  if (!external_data && !is_large && !HasMadeTensors(exported, request.path)) return result;
  if (IsStandardStream(request.path))
    return Error{ErrorCode::Usage, "a model with its tensors in another file needs a folder: name the output with -o"};
  const fs::path output(request.path);
  const fs::path name = external_data ? fs::path(*external_data) : fs::path(NameFor(exported, output));
  const bool in_folder =
      !name.has_parent_path() || fs::absolute(name).parent_path() == fs::absolute(output).parent_path();
  if (!in_folder)
    return Error{ErrorCode::Usage, fmt::format("the file '{}' is not in the folder of the output", name.string())};
  IROPT_ASSIGN_OR_RETURN(AtomicFile file, WriteTensors(exported, output.parent_path(), name.filename().string(),
                                                       external_data || is_large ? Moved::All : Moved::Made));
  result.emplace(std::move(file));
  if (EncodedSize(exported.model) > kLargestMessage)
    return Error{ErrorCode::Usage, "the model is larger than 2 GB without its tensors"};
  return result;
}

void Forget(const NDArray* array) {
  const FileTensor* source = array ? array->source() : nullptr;
  if (source == nullptr || source->file == nullptr) return;
  const std::string_view bytes(reinterpret_cast<const char*>(array->data()), array->num_bytes());
  const std::string_view file = source->file->text();
  if (bytes.data() >= file.data() && bytes.data() + bytes.size() <= file.data() + file.size())
    source->file->Discard(bytes);
}

}  // namespace iropt::onnx
