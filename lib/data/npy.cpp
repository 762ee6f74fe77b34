#include "npy.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace iropt::data {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// Of a preamble: the magic, two bytes of version, and in version 1 the length of the header in two bytes.
constexpr size_t kPreamble1 = 10;
constexpr size_t kPreamble2 = 12;
// In bytes. numpy writes about 128 and reads 10,000.
constexpr size_t kLongestHeader = 1 << 16;
// numpy's alignment of the elements.
constexpr size_t kAlignment = 64;

// numpy's names of dtypes, without the order of the bytes.
struct Spelling {
  std::string_view name;
  DataType dtype;
};
constexpr Spelling kSpellings[] = {
    {"b1", DataType::Bool()},   {"i1", DataType::Int(8)},    {"i2", DataType::Int(16)},   {"i4", DataType::Int(32)},
    {"i8", DataType::Int(64)},  {"u1", DataType::UInt(8)},   {"u2", DataType::UInt(16)},  {"u4", DataType::UInt(32)},
    {"u8", DataType::UInt(64)}, {"f2", DataType::Float(16)}, {"f4", DataType::Float(32)}, {"f8", DataType::Float(64)},
};

struct Header {
  std::string_view descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads the header, the literal of a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  // False if it is malformed.
  bool Read(Header& header) {
    if (!Take("{")) return false;
    bool has_descr = false, has_order = false, has_shape = false;
    while (!Take("}")) {
      std::string_view key;
      if (!TakeString(key) || !Take(":")) return false;
      if (key == "descr") {
        has_descr = TakeString(header.descr);
        if (!has_descr) return false;
      } else if (key == "fortran_order") {
        header.fortran_order = Take("True");
        has_order = header.fortran_order || Take("False");
        if (!has_order) return false;
      } else if (key == "shape") {
        has_shape = TakeShape(header.shape);
        if (!has_shape) return false;
      } else {
        return false;
      }
      if (!Take(",") && !Peek('}')) return false;
    }
    SkipSpace();
    return rest_.empty() && has_descr && has_order && has_shape;
  }

 private:
  void SkipSpace() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  bool Peek(char c) {
    SkipSpace();
    return rest_.starts_with(c);
  }
  bool Take(std::string_view token) {
    SkipSpace();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool TakeString(std::string_view& text) {
    if (!Peek('\'') && !Peek('"')) return false;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return false;
    text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool TakeShape(std::vector<int64_t>& shape) {
    if (!Take("(")) return false;
    while (!Take(")")) {
      SkipSpace();
      int64_t dim = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dim);
      if (error != std::errc() || dim < 0) return false;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      shape.push_back(dim);
      if (!Take(",") && !Peek(')')) return false;
    }
    return true;
  }

  std::string_view rest_;
};

// The offsets of the elements of an array in Fortran order, in row-major order of the indices.
class FortranOffsets {
 public:
  FortranOffsets(std::span<const int64_t> shape, size_t element_size) {
    size_t stride = element_size;
    for (const int64_t dim : shape) {
      axes_.push_back({0, dim, stride});
      stride *= static_cast<size_t>(dim);
    }
  }

  size_t Next() {
    const size_t offset = offset_;
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
      offset_ += axis->stride;
      if (++axis->index < axis->size) break;
      offset_ -= axis->stride * static_cast<size_t>(axis->size);
      axis->index = 0;
    }
    return offset;
  }

 private:
  struct Axis {
    int64_t index;
    int64_t size;
    size_t stride;
  };
  std::vector<Axis> axes_;
  size_t offset_ = 0;
};

// Copies an array in Fortran order or with reversed bytes.
std::shared_ptr<const NDArray> Rearranged(DataType dtype, const std::vector<int64_t>& shape, bool fortran_order,
                                          bool swap_bytes, std::string_view data) {
  std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  const auto size = static_cast<size_t>(dtype.bytes());
  FortranOffsets offsets(shape, size);
  auto* to = reinterpret_cast<char*>(array->mutable_data());
  for (size_t from = 0; from < array->num_bytes(); from += size, to += size) {
    std::memcpy(to, data.data() + (fortran_order ? offsets.Next() : from), size);
    if (swap_bytes) std::reverse(to, to + size);
  }
  return array;
}

std::string_view NumpyName(DataType dtype) {
  const auto* found = std::ranges::find(kSpellings, dtype, &Spelling::dtype);
  return found == std::end(kSpellings) ? std::string_view() : found->name;
}

// Contents of the preamble and the header.
struct Layout {
  DataType dtype;
  std::vector<int64_t> shape;
  bool fortran_order = false;
  bool swap_bytes = false;
  size_t begin = 0;              // of the elements
  std::optional<uint64_t> size;  // of the elements in bytes, if that many can exist
};

// The offset of the header and that of the elements. The preamble is complete.
Result<std::pair<size_t, size_t>> HeaderBounds(std::string_view text) {
  if (!text.starts_with(kMagic)) return Malformed("not an .npy file");
  const int version = static_cast<uint8_t>(text[6]);
  if (version < 1 || version > 3) return Malformed(fmt::format("unknown version {} of the .npy format", version));
  const size_t begin = version == 1 ? kPreamble1 : kPreamble2;
  const size_t size = version == 1 ? Load<uint16_t>(text, 8) : Load<uint32_t>(text, 8);
  if (size > kLongestHeader) return Malformed(fmt::format("its header has {} bytes", size));
  return std::pair(begin, begin + size);
}

Result<Layout> ReadLayout(std::string_view text) {
  if (text.size() < kPreamble2) return Malformed("not an .npy file");
  IROPT_ASSIGN_OR_RETURN(const auto bounds, HeaderBounds(text));
  if (bounds.second > text.size()) return Malformed("its header is cut off");
  Header header;
  if (!HeaderReader(text.substr(bounds.first, bounds.second - bounds.first)).Read(header))
    return Malformed("its header is not that of an array of numbers");
  const std::string_view order = header.descr.substr(0, 1);
  const auto* spelling = std::ranges::find(kSpellings, header.descr.substr(order.size()), &Spelling::name);
  if (spelling == std::end(kSpellings) || (order != "<" && order != ">" && order != "|" && order != "="))
    return Malformed(fmt::format("numpy's dtype '{}' is not supported", header.descr));
  Layout layout;
  layout.dtype = spelling->dtype;
  layout.fortran_order = header.fortran_order && header.shape.size() > 1;
  layout.swap_bytes = order == ">" && layout.dtype.bytes() > 1;
  layout.begin = bounds.second;
  layout.size = ArrayBytes(layout.dtype, header.shape);
  layout.shape = std::move(header.shape);
  return layout;
}

}  // namespace

Result<std::shared_ptr<const NDArray>> ReadNpy(const Bytes& file) {
  IROPT_ASSIGN_OR_RETURN(Layout layout, ReadLayout(file.text));
  const std::string_view elements = file.text.substr(layout.begin);
  if (!layout.size || *layout.size != elements.size()) {
    return Malformed(fmt::format("it has {} bytes of elements, but dtype {} and shape ({}) need {}", elements.size(),
                                 layout.dtype.ToString(), fmt::join(layout.shape, ", "),
                                 layout.size ? std::to_string(*layout.size) : "more than can exist"));
  }
  if (layout.fortran_order || layout.swap_bytes)
    return Rearranged(layout.dtype, layout.shape, layout.fortran_order, layout.swap_bytes, elements);
  return MakeArray(layout.dtype, std::move(layout.shape), {elements, file.owner});
}

Result<std::optional<uint64_t>> NpySize(std::string_view first) {
  using Size = std::optional<uint64_t>;
  if (first.size() < kPreamble2) return Size();
  IROPT_ASSIGN_OR_RETURN(const auto bounds, HeaderBounds(first));
  if (first.size() < bounds.second) return Size();
  IROPT_ASSIGN_OR_RETURN(const Layout layout, ReadLayout(first));
  if (!layout.size || *layout.size > std::numeric_limits<uint64_t>::max() - layout.begin)
    return Malformed("its shape has more elements than can exist");
  return Size(layout.begin + *layout.size);
}

Result<std::string> NpyHeader(const NDArray& array) {
  const std::string_view name = NumpyName(array.dtype());
  if (name.empty()) return Malformed(fmt::format("numpy has no dtype {}", array.dtype().ToString()));
  const std::span<const int64_t> shape = array.shape();
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                  array.dtype().bytes() == 1 ? '|' : '<', name, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const size_t used = kPreamble1 + header.size() + 1;
  header.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  header += '\n';
  if (header.size() > std::numeric_limits<uint16_t>::max()) return Malformed("the array has too many dimensions");
  std::string result(kMagic);
  result += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return result + header;
}

}  // namespace iropt::data
