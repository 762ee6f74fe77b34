#include "exchange/onnx/export/sparse_initializers.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "exchange/onnx/export/external_data.h"
#include "exchange/onnx/import/import.h"

namespace iropt::onnx {

namespace {

constexpr size_t kLeastBytes = 256;  // of a tensor: its description takes about as much

size_t NumElements(const TensorProto& tensor) {
  size_t count = 1;
  for (const int64_t dim : tensor.dims) count *= static_cast<size_t>(dim);
  return count;
}

// The places of the elements some of whose bits are set: -0 is not 0. Nothing if there are more than `most`.
std::optional<std::vector<int64_t>> PlacesIn(std::string_view bytes, size_t count, size_t most) {
  const size_t width = bytes.size() / count;
  std::vector<int64_t> places;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view element = bytes.substr(i * width, width);
    if (std::ranges::all_of(element, [](char byte) { return byte == 0; })) continue;
    if (places.size() == most) return std::nullopt;
    places.push_back(static_cast<int64_t>(i));
  }
  return places;
}

std::string_view BytesOf(const NDArray& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

// The tensor with the elements that are not 0; nothing if that is not much smaller.
std::optional<SparseTensorProto> Sparse(const TensorProto& tensor, ExportedModel& exported) {
  const std::optional<DataType> dtype = DataTypeOf(tensor.type);
  if (!dtype || !tensor.raw || tensor.raw->size() < kLeastBytes || tensor.dims.empty()) return std::nullopt;
  const size_t count = NumElements(tensor);
  const auto width = static_cast<size_t>(dtype->bytes());
  if (count * width != tensor.raw->size()) return std::nullopt;  // several elements in a byte
  const auto places = PlacesIn(*tensor.raw, count, tensor.raw->size() / (2 * (width + sizeof(int64_t))));
  if (!places) return std::nullopt;
  const auto nonzero = static_cast<int64_t>(places->size());
  auto values = NDArray::Make(*dtype, {nonzero});
  auto indices = NDArray::Make(DataType::Int(64), {nonzero});
  std::ranges::copy(*places, indices->MutableAs<int64_t>().begin());
  for (size_t i = 0; i < places->size(); ++i)
    std::memcpy(values->mutable_data() + i * width, tensor.raw->data() + static_cast<size_t>((*places)[i]) * width,
                width);
  const TensorProto of_values{.name = tensor.name, .dims = {nonzero}, .type = tensor.type, .raw = BytesOf(*values)};
  const TensorProto of_indices{.dims = {nonzero}, .type = ElementType::kInt64, .raw = BytesOf(*indices)};
  exported.made.push_back(std::move(values));
  exported.made.push_back(std::move(indices));
  return SparseTensorProto{.values = of_values, .indices = of_indices, .dims = tensor.dims};
}

}  // namespace

void MakeSparse(const Module& module, ExportedModel& exported) {
  const auto* facts = As<DictAttr>(module.attrs()->Find(attr::kOnnxModel));
  if (facts == nullptr || facts->Find(kHasSparseTensors) == nullptr) return;
  // Before version 4 of the IR, initializers are inputs, too, which are dense.
  if (exported.model.ir_version < 4) return;
  GraphProto& graph = exported.model.graph;
  exported.EraseInitializers([&](size_t i) {
    if (IsInOtherFile(exported.arrays[i])) return false;
    std::optional<SparseTensorProto> sparse = Sparse(graph.initializers[i], exported);
    if (!sparse) return false;
    graph.sparse_initializers.push_back(*std::move(sparse));
    return true;
  });
}

}  // namespace iropt::onnx
