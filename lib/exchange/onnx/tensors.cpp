#include "exchange/onnx/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <span>

namespace iropt::onnx {

namespace {

// Sparse tensors are made dense up to this many bytes: a few bytes of a file must not take all memory.
constexpr uint64_t kLargestDense = uint64_t{1} << 30;

struct ElementRow {
  ElementType type;
  std::string_view name;
  DataType dtype;  // void: tensors of the type have no arrays
};

constexpr DataType kNoDtype = DataType::Void();

// In the order of the numbers.
constexpr ElementRow kElements[] = {
    {ElementType::kUndefined, "undefined", kNoDtype},
    {ElementType::kFloat, "float", DataType::Float(32)},
    {ElementType::kUint8, "uint8", DataType::UInt(8)},
    {ElementType::kInt8, "int8", DataType::Int(8)},
    {ElementType::kUint16, "uint16", DataType::UInt(16)},
    {ElementType::kInt16, "int16", DataType::Int(16)},
    {ElementType::kInt32, "int32", DataType::Int(32)},
    {ElementType::kInt64, "int64", DataType::Int(64)},
    {ElementType::kString, "string", kNoDtype},
    {ElementType::kBool, "bool", DataType::Bool()},
    {ElementType::kFloat16, "float16", DataType::Float(16)},
    {ElementType::kDouble, "double", DataType::Float(64)},
    {ElementType::kUint32, "uint32", DataType::UInt(32)},
    {ElementType::kUint64, "uint64", DataType::UInt(64)},
    {ElementType::kComplex64, "complex64", kNoDtype},
    {ElementType::kComplex128, "complex128", kNoDtype},
    {ElementType::kBfloat16, "bfloat16", DataType::BFloat(16)},
    {ElementType::kFloat8E4M3Fn, "float8e4m3fn", DataType::Make(TypeCode::kFloat8E4M3, 8, 1)},
    {ElementType::kFloat8E4M3Fnuz, "float8e4m3fnuz", DataType::Make(TypeCode::kFloat8E4M3Fnuz, 8, 1)},
    {ElementType::kFloat8E5M2, "float8e5m2", DataType::Make(TypeCode::kFloat8E5M2, 8, 1)},
    {ElementType::kFloat8E5M2Fnuz, "float8e5m2fnuz", DataType::Make(TypeCode::kFloat8E5M2Fnuz, 8, 1)},
    {ElementType::kUint4, "uint4", DataType::UInt(4)},
    {ElementType::kInt4, "int4", DataType::Int(4)},
    {ElementType::kFloat4E2M1, "float4e2m1", DataType::Make(TypeCode::kFloat4E2M1, 4, 1)},
    {ElementType::kFloat8E8M0, "float8e8m0", DataType::Make(TypeCode::kFloat8E8M0, 8, 1)},
    {ElementType::kUint2, "uint2", DataType::UInt(2)},
    {ElementType::kInt2, "int2", DataType::Int(2)},
};

const ElementRow* FindElement(ElementType type) {
  const auto number = static_cast<int32_t>(type);
  return number >= 0 && number < static_cast<int32_t>(std::size(kElements)) ? &kElements[number] : nullptr;
}

Error Bad(const TensorProto& tensor, std::string_view what) {
  return {ErrorCode::Parse, fmt::format("tensor '{}': {}", tensor.name, what)};
}

// Elements of less than a byte, of which host tensors have one in a byte: the first of a byte is in its low bits.
bool IsPacked(DataType dtype) { return dtype.bits < 8 && !dtype.is_bool(); }

uint64_t FileBytes(DataType dtype, uint64_t elements) {
  return IsPacked(dtype) ? (elements * dtype.bits + 7) / 8 : elements * static_cast<uint64_t>(dtype.bytes());
}

std::byte Unpack(std::string_view bytes, size_t element, DataType dtype) {
  const size_t per_byte = 8 / dtype.bits;
  const auto byte = static_cast<uint8_t>(bytes[element / per_byte]);
  const unsigned bits = byte >> (element % per_byte * dtype.bits) & ((1U << dtype.bits) - 1);
  const bool negative = dtype.is_int() && (bits >> (dtype.bits - 1)) != 0;
  return static_cast<std::byte>(negative ? bits | (0xffU << dtype.bits) : bits);
}

// Frees the elements of a tensor that has several in a byte, and keeps these bytes until then.
struct PackedSource {
  Array packed;
  void operator()(const FileBuffer* elements) const { delete elements; }
};

// Keeps the name of the tensor, as those that are not packed do, and `packed`, which is written if nothing changes.
Array UnpackAll(const TensorProto& tensor, DataType dtype, std::string_view bytes, Array packed) {
  std::string elements(*ArrayBytes(dtype, tensor.dims), '\0');
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<char>(Unpack(bytes, i, dtype));
  const std::shared_ptr<const FileBuffer> buffer(new FileBuffer(std::move(elements)), PackedSource{std::move(packed)});
  const auto* data = reinterpret_cast<const std::byte*>(buffer->data());
  return NDArray::InFile(dtype, tensor.dims, data,
                         {.path = {}, .name = std::string(tensor.name), .hash = {}, .span = {}, .file = buffer});
}

// The elements in int32_data, int64_data or uint64_data. Small types are there by their bits, those of less than a byte
// as in raw data.
Result<Array> NDArrayFromInts(const TensorProto& tensor, DataType dtype, uint64_t elements) {
  if (IsPacked(dtype)) {
    std::string bytes;
    for (const int64_t value : tensor.ints) bytes.push_back(static_cast<char>(value));
    if (bytes.size() != FileBytes(dtype, elements))
      return Bad(tensor,
                 fmt::format("has {} bytes of data: its dimensions need {}", bytes.size(), FileBytes(dtype, elements)));
    return UnpackAll(tensor, dtype, bytes, {});
  }
  if (tensor.ints.size() != elements)
    return Bad(tensor, fmt::format("has {} elements: its dimensions need {}", tensor.ints.size(), elements));
  auto array = NDArray::Make(dtype, tensor.dims);
  const auto size = static_cast<size_t>(dtype.bytes());
  std::byte* out = array->mutable_data();
  for (const int64_t value : tensor.ints) {
    std::memcpy(out, &value, size);  // the low bytes come first
    out += size;
  }
  return Array(std::move(array));
}

std::string_view Find(const Properties& properties, std::string_view key) {
  const auto found = std::ranges::find(properties, key, &Property::first);
  return found == properties.end() ? std::string_view() : found->second;
}

std::optional<uint64_t> ToNumber(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns whether `path` is `folder` or below it; both without symbolic links.
bool IsBelow(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto [rest, _] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end();
}

}  // namespace

const NDArray* PackedBytesOf(const NDArray& array) {
  const FileTensor* source = array.source();
  const auto* kept = source ? std::get_deleter<PackedSource>(source->file) : nullptr;
  return kept ? kept->packed.get() : nullptr;
}

std::optional<DataType> DataTypeOf(ElementType type) {
  const ElementRow* row = FindElement(type);
  if (row == nullptr || row->dtype.is_void()) return std::nullopt;
  return row->dtype;
}

ElementType ElementTypeOf(DataType dtype) {
  if (dtype.is_void()) return ElementType::kUndefined;
  const auto* row = std::ranges::find(kElements, dtype, &ElementRow::dtype);
  return row == std::end(kElements) ? ElementType::kUndefined : row->type;
}

std::string_view NameOf(ElementType type) {
  const ElementRow* row = FindElement(type);
  return row ? row->name : "unknown";
}

Result<Array> TensorReader::Read(const TensorProto& tensor) {
  const std::optional<DataType> dtype = DataTypeOf(tensor.type);
  if (!dtype) return Bad(tensor, fmt::format("elements of type {} cannot be computed with", NameOf(tensor.type)));
  const std::optional<uint64_t> bytes = ArrayBytes(*dtype, tensor.dims);
  if (!bytes) return Bad(tensor, "its dimensions are negative or too large");
  if (tensor.is_external) return ReadExternal(tensor, *dtype);
  // Exporters may write empty raw data next to listed elements.
  const bool is_listed = !tensor.floats.empty() || !tensor.doubles.empty() || !tensor.ints.empty();
  if (tensor.raw && !(tensor.raw->empty() && is_listed)) return View(tensor, *dtype, *tensor.raw, owner_);
  if (*dtype == DataType::Float(32)) return View(tensor, *dtype, tensor.floats, owner_);
  if (*dtype == DataType::Float(64)) return View(tensor, *dtype, tensor.doubles, owner_);
  return NDArrayFromInts(tensor, *dtype, *bytes / static_cast<uint64_t>(dtype->bytes()));
}

Result<Array> TensorReader::View(const TensorProto& tensor, DataType dtype, std::string_view bytes,
                                 const std::shared_ptr<const FileBuffer>& file, std::string path) {
  const uint64_t elements = *ArrayBytes(dtype, tensor.dims) / static_cast<uint64_t>(dtype.bytes());
  const uint64_t needed = FileBytes(dtype, elements);
  if (bytes.size() != needed)
    return Bad(tensor, fmt::format("has {} bytes of data: its dimensions need {}", bytes.size(), needed));
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  const bool in_file = bytes.data() >= file->data() && bytes.data() + bytes.size() <= file->data() + file->size();
  FileTensor source{.path = std::move(path), .name = std::string(tensor.name), .hash = {}, .span = {}, .file = file};
  if (IsPacked(dtype)) {
    const auto count = static_cast<int64_t>(bytes.size());
    Array packed =
        in_file ? NDArray::InFile(DataType::UInt(8), std::span(&count, 1), data, std::move(source)) : nullptr;
    Array array = UnpackAll(tensor, dtype, bytes, std::move(packed));
    if (in_file) file->Discard(bytes);
    return array;
  }
  if (!in_file) {  // put together from several fields
    auto copy = NDArray::Make(dtype, tensor.dims);
    if (!bytes.empty()) std::memcpy(copy->mutable_data(), data, bytes.size());
    return Array(std::move(copy));
  }
  Array array = NDArray::InFile(dtype, tensor.dims, data, std::move(source));
  // Elements that are not aligned in the file were copied.
  if (array->data() != data) file->Discard(bytes);
  return array;
}

std::vector<std::string_view> TensorReader::DataFiles() const {
  std::vector<std::string_view> files;
  for (const auto& [location, file] : files_) files.push_back(location);
  return files;
}

Result<Array> TensorReader::ReadExternal(const TensorProto& tensor, DataType dtype) {
  const std::string_view location = Find(tensor.external, "location");
  if (location.empty()) return Bad(tensor, "is in another file, but its location is missing");
  const auto number = [&](std::string_view key) -> Result<std::optional<uint64_t>> {
    const std::string_view text = Find(tensor.external, key);
    if (text.empty()) return std::optional<uint64_t>();
    const std::optional<uint64_t> value = ToNumber(text);
    if (!value) return Bad(tensor, fmt::format("invalid {} '{}' of external data", key, text));
    return value;
  };
  IROPT_ASSIGN_OR_RETURN(const std::optional<uint64_t> given_offset, number("offset"));
  IROPT_ASSIGN_OR_RETURN(const std::optional<uint64_t> given_length, number("length"));
  Result<std::shared_ptr<const FileBuffer>> file = OpenExternal(location);
  if (!file.ok()) return Bad(tensor, file.error().message);
  const uint64_t size = (*file)->size();
  const uint64_t offset = given_offset.value_or(0);
  const uint64_t elements = *ArrayBytes(dtype, tensor.dims) / static_cast<uint64_t>(dtype.bytes());
  const uint64_t length = given_length.value_or(FileBytes(dtype, elements));
  if (offset > size || length > size - offset)
    return Bad(tensor,
               fmt::format("the {} bytes from {} on are not in '{}', which has {}", length, offset, location, size));
  // The writer refers to the file if it is next to its output.
  const std::filesystem::path path = std::filesystem::path(folder_) / location;
  return View(tensor, dtype, (*file)->text().substr(offset, length), *file, path.string());
}

Result<std::shared_ptr<const FileBuffer>> TensorReader::OpenExternal(std::string_view location) {
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  namespace fs = std::filesystem;
  const fs::path relative(location);
  Error leaves{ErrorCode::Parse, fmt::format("the path '{}' leaves the folder of the model", location)};
  const size_t zero = location.find('\0');
  if (zero != std::string_view::npos)
    return Error{ErrorCode::Parse,
                 fmt::format("the path of its data has a zero byte after '{}'", location.substr(0, zero))};
  if (relative.is_absolute() || std::ranges::any_of(relative, [](const fs::path& part) { return part == ".."; }))
    return leaves;
  std::error_code error;
  const fs::path folder = fs::canonical(folder_.empty() ? fs::path(".") : fs::path(folder_), error);
  const fs::path path = fs::canonical(folder / relative, error);
  if (error) {
    const bool from_windows = location.find('\\') != std::string_view::npos;
    return Error{ErrorCode::Parse,
                 fmt::format("cannot read '{}': {}{}", location, error.message(),
                             from_windows ? "; folders in a path are separated by '/', not '\\'" : "")};
  }
  if (!IsBelow(path, folder)) return leaves;
  if (!fs::is_regular_file(path, error))
    return Error{ErrorCode::Parse, fmt::format("cannot read '{}': not a regular file", location)};
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<const FileBuffer> file, ReadFile(path.string()));
  return files_.emplace(std::string(location), std::move(file)).first->second;
}

Result<Array> TensorReader::Read(const SparseTensorProto& tensor) {
  has_read_sparse_ = true;
  TensorProto dense = tensor.values;
  IROPT_ASSIGN_OR_RETURN(const Array values, Read(tensor.values));
  IROPT_ASSIGN_OR_RETURN(const Array indices, Read(tensor.indices));
  const std::optional<uint64_t> bytes = ArrayBytes(values->dtype(), tensor.dims);
  if (!bytes || *bytes > kLargestDense)
    return Bad(dense, "the dimensions of the sparse tensor are negative or too large");
  const auto count = values->num_elements();
  const size_t rank = tensor.dims.size();
  const bool is_linear = indices->shape().size() == 1;
  const auto width = is_linear ? int64_t{1} : static_cast<int64_t>(rank);
  if (indices->dtype() != DataType::Int(64) || indices->num_elements() != count * width)
    return Bad(tensor.indices, "the indices of a sparse tensor are int64, one row for each value");
  auto array = NDArray::Make(values->dtype(), tensor.dims);
  const auto size = static_cast<size_t>(values->dtype().bytes());
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = is_linear ? indices->As<int64_t>()[static_cast<size_t>(i)] : 0;
    for (size_t axis = 0; !is_linear && axis < rank; ++axis) {
      const int64_t index = indices->As<int64_t>()[static_cast<size_t>(i) * rank + axis];
      if (index < 0 || index >= tensor.dims[axis])
        return Bad(tensor.indices, "an index of a sparse tensor is out of range");
      at = at * tensor.dims[axis] + index;
    }
    if (at < 0 || at >= array->num_elements())
      return Bad(tensor.indices, "an index of a sparse tensor is out of range");
    std::memcpy(array->mutable_data() + static_cast<size_t>(at) * size, values->data() + static_cast<size_t>(i) * size,
                size);
  }
  return Array(std::move(array));
}

}  // namespace iropt::onnx
