#include "metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <unordered_map>

#include "iropt/ir/context.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/json.h"
#include "weights.h"

namespace iropt::text {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// TVM's header of an array, before the shape and the elements (little endian).
struct ArrayHeader {
  uint64_t magic = 0xdd5e40f096b4a13fu;
  uint64_t reserved = 0;
  int32_t device_type = 1;  // the host
  int32_t device_id = 0;
  int32_t ndim = 0;
  uint8_t type_code = 0;
  uint8_t bits = 0;
  uint16_t lanes = 1;
};
static_assert(sizeof(ArrayHeader) == 32);

// DLPack's numbers of the kinds of types, with TVM's additions for narrow floats.
constexpr std::pair<TypeCode, uint8_t> kTypeCodes[] = {
    {TypeCode::kInt, 0},    {TypeCode::kUInt, 1},       {TypeCode::kFloat, 2},     {TypeCode::kHandle, 3},
    {TypeCode::kBFloat, 4}, {TypeCode::kFloat8E4M3, 6}, {TypeCode::kFloat8E5M2, 7}};

bool DecodeBase64(std::string_view text, std::string& out) {
  static const std::array<int8_t, 256> values = [] {
    std::array<int8_t, 256> t;
    t.fill(-1);
    for (size_t i = 0; i < kBase64.size(); ++i) t[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
    return t;
  }();
  out.clear();
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=' || c == '\n' || c == '\r') continue;
    const int value = values[static_cast<uint8_t>(c)];
    if (value < 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count);
  }
  return true;
}

void EncodeBase64(std::string_view bytes, OutputStream& out) {
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out.Append(k <= n ? kBase64[group >> (18 - 6 * k) & 63] : '=');
  }
}

Error Damaged(std::string message) { return {ErrorCode::Parse, std::move(message)}; }

Result<std::shared_ptr<const NDArray>> DecodeArray(std::string_view base64) {
  std::string storage;
  if (!DecodeBase64(base64, storage)) return Damaged("an array is not in base64");
  const Error damaged = Damaged("an array is damaged");
  std::string_view bytes = storage;
  ArrayHeader header;
  const uint64_t magic = header.magic;
  if (bytes.size() < sizeof header) return damaged;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (header.magic != magic || header.ndim < 0 || bytes.size() < (static_cast<size_t>(header.ndim) + 1) * 8)
    return damaged;
  DataType dtype;
  for (const auto& [code, number] : kTypeCodes) {
    if (number == header.type_code) dtype = DataType::Make(code, header.bits, header.lanes);
  }
  if (!IsElementType(dtype)) return Damaged("an array has an unknown element type");
  std::vector<int64_t> shape(static_cast<size_t>(header.ndim));
  int64_t size = dtype.bytes();
  for (size_t i = 0; i < shape.size(); ++i) {
    std::memcpy(&shape[i], bytes.data() + 8 * i, 8);
    if (shape[i] < 0 || __builtin_mul_overflow(size, shape[i], &size)) return damaged;
  }
  bytes.remove_prefix(8 * shape.size() + 8);
  if (static_cast<uint64_t>(size) != bytes.size()) return damaged;
  const std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  std::memcpy(array->mutable_data(), bytes.data(), bytes.size());
  return array;
}

void WriteArray(const NDArray& array, OutputStream& out) {
  ArrayHeader header;
  header.ndim = static_cast<int32_t>(array.shape().size());
  for (const auto& [code, number] : kTypeCodes) {
    if (code == array.dtype().code) header.type_code = number;
  }
  header.bits = array.dtype().bits;
  const auto size = static_cast<int64_t>(array.num_bytes());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(array.shape().data()), array.shape().size() * 8);
  bytes.append(reinterpret_cast<const char*>(&size), 8);
  bytes.append(reinterpret_cast<const char*>(array.data()), array.num_bytes());
  EncodeBase64(bytes, out);
}

// Reads the graph of objects that the JSON describes.
class Loader {
 public:
  Loader(WeightsReader& weights, Workspace& workspace) : weights_(weights), ws_(workspace) {}

  Status Run(JsonValue root, std::map<std::string, std::vector<const Node*>, std::less<>>& entries) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue first, root.At("root"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue nodes, root.At("nodes"));
    nodes_.assign(nodes.begin(), nodes.end());
    if (const auto arrays = root.Find("b64ndarrays")) arrays_.assign(arrays->begin(), arrays->end());
    IROPT_ASSIGN_OR_RETURN(const JsonValue map, NodeAt(first));
    IROPT_ASSIGN_OR_RETURN(const JsonValue keys, map.At("keys"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue data, map.At("data"));
    const std::vector<JsonValue> lists(data.begin(), data.end());
    for (size_t i = 0; const JsonValue item : keys) {
      IROPT_ASSIGN_OR_RETURN(const std::string_view key, item.AsString());
      IROPT_ASSIGN_OR_RETURN(const JsonValue list, ItemAt(lists, i++));
      IROPT_RETURN_IF_ERROR(ReadList(list, entries[std::string(key)]));
    }
    if (weights_.failed()) return Failure{ErrorCode::Parse};
    return {};
  }

 private:
  static Result<JsonValue> ItemAt(const std::vector<JsonValue>& items, size_t i) {
    if (i < items.size()) return items[i];
    return Damaged(fmt::format("array index {} is out of range", i));
  }

  Result<JsonValue> NodeAt(JsonValue index) const {
    IROPT_ASSIGN_OR_RETURN(const int64_t i, index.AsInteger());
    return ItemAt(nodes_, static_cast<size_t>(i));
  }

  // Attributes are strings, also those that are numbers.
  static Result<size_t> NumberIn(JsonValue attrs, std::string_view key) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue value, attrs.At(key));
    IROPT_ASSIGN_OR_RETURN(const std::string_view text, value.AsString());
    size_t number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || end != text.data() + text.size()) return Damaged("an index is not a number");
    return number;
  }

  // The attributes of the node that an attribute refers to.
  Result<JsonValue> AttrsOf(JsonValue attrs, std::string_view key) const {
    IROPT_ASSIGN_OR_RETURN(const size_t i, NumberIn(attrs, key));
    IROPT_ASSIGN_OR_RETURN(const JsonValue node, ItemAt(nodes_, i));
    return node.At("attrs");
  }

  Status ReadList(JsonValue list, std::vector<const Node*>& entries) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue node, NodeAt(list));
    IROPT_ASSIGN_OR_RETURN(const JsonValue data, node.At("data"));
    for (const JsonValue item : data) {
      IROPT_ASSIGN_OR_RETURN(const JsonValue object, NodeAt(item));
      IROPT_ASSIGN_OR_RETURN(const Node* entry, ReadObject(object));
      entries.push_back(entry);
    }
    return {};
  }

  Result<const Node*> ReadObject(JsonValue node) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue type_key, node.At("type_key"));
    IROPT_ASSIGN_OR_RETURN(const std::string_view key, type_key.AsString());
    if (key == "relax.expr.Constant") return ReadConstant(node);
    const bool is_array = key == kArrayKey;
    if (!is_array && key != "runtime.String") return nullptr;
    IROPT_ASSIGN_OR_RETURN(const JsonValue field, node.At(is_array ? std::string_view(kArrayField) : "repr_str"));
    IROPT_ASSIGN_OR_RETURN(const std::string_view text, field.AsString());
    const Attr* const fields[] = {StrAttr::Get(text)};
    if (!is_array) return fields[0];
    IROPT_RETURN_IF_ERROR(DecodeArray(text));
    return ObjectAttr::Get(kArrayKey, {{kArrayField}}, fields);
  }

  // Null after errors of tensors in files.
  Result<const Node*> ReadConstant(JsonValue node) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue attrs, node.At("attrs"));
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const NDArray> array,
                           WeightsReader::Refers(attrs) ? OpenTensor(attrs) : ReadArray(attrs));
    if (!array) return nullptr;
    ws_.arena().Retain(array);
    std::vector<const PrimExpr*> dims;
    for (const int64_t d : array->shape()) dims.push_back(IRContext::Current().Int(d));
    return ws_.New<Constant>(array.get(), TensorType::Get(dims, array->dtype()));
  }

  Result<std::shared_ptr<const NDArray>> OpenTensor(JsonValue attrs) {
    IROPT_ASSIGN_OR_RETURN(const ArrayType* type, TypeOf(attrs));
    return weights_.Open(attrs, *type);
  }

  Result<std::shared_ptr<const NDArray>> ReadArray(JsonValue attrs) const {
    IROPT_ASSIGN_OR_RETURN(const size_t i, NumberIn(attrs, "data"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue item, ItemAt(arrays_, i));
    IROPT_ASSIGN_OR_RETURN(const std::string_view base64, item.AsString());
    return DecodeArray(base64);
  }

  // Constants in files share the nodes of their types.
  Result<const ArrayType*> TypeOf(JsonValue attrs) {
    IROPT_ASSIGN_OR_RETURN(const size_t type, NumberIn(attrs, "struct_info_"));
    const auto [known, added] = types_.try_emplace(type);
    if (added) {
      IROPT_ASSIGN_OR_RETURN(known->second, ReadType(attrs));
    }
    return &known->second;
  }

  Result<ArrayType> ReadType(JsonValue attrs) const {
    IROPT_ASSIGN_OR_RETURN(const JsonValue fields, AttrsOf(attrs, "struct_info_"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue dtype, fields.At("dtype"));
    IROPT_ASSIGN_OR_RETURN(const std::string_view name, dtype.AsString());
    ArrayType type{.dtype = DataType::Parse(name).value_or(DataType::Void()), .shape = {}};
    IROPT_ASSIGN_OR_RETURN(const JsonValue shape, AttrsOf(fields, "shape"));
    IROPT_ASSIGN_OR_RETURN(const size_t values, NumberIn(shape, "values"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue list, ItemAt(nodes_, values));
    const auto dims = list.Find("data");
    if (!dims) return type;  // of a scalar
    for (const JsonValue dim : *dims) {
      IROPT_ASSIGN_OR_RETURN(const JsonValue node, NodeAt(dim));
      IROPT_ASSIGN_OR_RETURN(const JsonValue dim_attrs, node.At("attrs"));
      IROPT_ASSIGN_OR_RETURN(const size_t value, NumberIn(dim_attrs, "value"));
      type.shape.push_back(static_cast<int64_t>(value));
    }
    return type;
  }

  WeightsReader& weights_;
  Workspace& ws_;
  std::vector<JsonValue> nodes_;
  std::vector<JsonValue> arrays_;
  std::unordered_map<size_t, ArrayType> types_;  // by node
};

// Writes nodes in the form of TVM's JSON, inside a Python string: quotes are escaped. Node 0 stands for null.
class Writer {
 public:
  Writer(const MetadataTable& table, const PrintOptions& options, OutputStream& out)
      : table_(table), options_(options), paths_(options.folder), out_(out) {}

  void Write() {
    out_.Append(
        "metadata = tvm.ir.load_json(\"\"\"{\n  \\\"root\\\": 1, \n  \\\"nodes\\\": [\n    {\n      \\\"type_key\\\": "
        "\\\"\\\"\n    }");
    // The map, a list for each kind, then the entries, and at the end the types of constants in files.
    PlanNodes(2 + (!table_.constants().empty()) + (!table_.arrays().empty()));
    WriteMap();
    for (const std::vector<size_t>* entries : {&constants_, &arrays_}) {
      if (entries->empty()) continue;
      Begin("Array");
      WriteList(*entries);
    }
    for (size_t i = 0, data = 0; i < constants_.size(); ++i) {
      const NDArray& array = *table_.constants()[i]->data;
      if (const FileTensor* tensor = FileOf(array)) {
        WriteExternal(array, *tensor);
      } else if (IsOutside(array)) {
        WriteElided(array, i);
      } else {
        WriteConstant(array, constants_[i], data++);
      }
    }
    for (const ObjectAttr* array : table_.arrays()) WriteArrayNode(*array);
    for (const auto& [array, at] : type_nodes_) WriteType(*array, at);
    WriteArrays();
    out_.Append(", \n  \\\"attrs\\\": {\\\"tvm_version\\\": \\\"0.18.0\\\"}\n}\"\"\")\n");
  }

 private:
  // The nodes of a type without those of the dimensions.
  static constexpr size_t kTypeNodes = 6;

  // The file that a constant is in; null if its value is in the text.
  const FileTensor* FileOf(const NDArray& array) const {
    if (options_.external) {
      if (const auto known = options_.external->find(&array); known != options_.external->end()) return &known->second;
    }
    return array.source() && array.source()->hash ? array.source() : nullptr;
  }

  // Whether the value of a constant is not in the text.
  bool IsOutside(const NDArray& array) const {
    return array.num_bytes() > static_cast<uint64_t>(options_.elide_larger_than) || FileOf(array) != nullptr;
  }

  static std::pair<std::string, std::vector<int64_t>> TypeKey(const NDArray& array) {
    return {array.dtype().ToString(), {array.shape().begin(), array.shape().end()}};
  }

  // A constant has its node and those of its type, as in TVM. Constants in files share types.
  void PlanNodes(size_t next) {
    std::vector<const NDArray*> external;
    for (const Constant* c : table_.constants()) {
      constants_.push_back(next++);
      if (IsOutside(*c->data)) {
        external.push_back(c->data);
      } else {
        next += kTypeNodes + c->data->shape().size();
        num_inline_ += 1;
      }
    }
    for (size_t i = 0; i < table_.arrays().size(); ++i) arrays_.push_back(next++);
    for (const NDArray* array : external) {
      if (!types_.try_emplace(TypeKey(*array), next).second) continue;
      type_nodes_.emplace_back(array, next);
      next += kTypeNodes + array->shape().size();
    }
  }

  void WriteArrays() {
    out_.Append("\n  ], \n  \\\"b64ndarrays\\\": [");
    size_t i = 0;
    const auto write = [&](const NDArray& array) {
      out_.Append(i++ ? ", \n    \\\"" : "\n    \\\"");
      WriteArray(array, out_);
      out_.Append("\\\"");
    };
    for (const Constant* c : table_.constants()) {
      if (!IsOutside(*c->data)) write(*c->data);
    }
    // For TVM, an empty array stands for all that are in files or left out.
    if (!types_.empty()) write(*NDArray::Make(DataType::Float(32), {0}));
    out_.Append(i ? "\n  ]" : "]");
  }

  // From type keys, in their order, to the lists that follow.
  void WriteMap() {
    Begin("Map");
    out_.Append(", \n      \\\"keys\\\": [");
    std::vector<size_t> lists;
    const auto key = [&](std::string_view name) {
      out_.Append(lists.empty() ? "\n        \\\"" : ", \n        \\\"");
      out_.Append(name);
      out_.Append("\\\"");
      lists.push_back(2 + lists.size());
    };
    if (!table_.constants().empty()) key("relax.expr.Constant");
    if (!table_.arrays().empty()) key(kArrayKey);
    out_.Append("\n      ]");
    WriteList(lists);
  }

  void WriteArrayNode(const ObjectAttr& array) {
    Begin(kArrayKey);
    out_.Append(", \n      \\\"repr_str\\\": \\\"");
    out_.Append(To<StrAttr>(array.Find(kArrayField))->value);
    out_.Append("\\\"\n    }");
  }

  void WriteConstant(const NDArray& array, size_t at, size_t index) {
    Record("relax.expr.Constant", {{"_checked_type_", Number(at + kTypeNodes)},
                                   {"data", Number(index)},
                                   {"span", "0"},
                                   {"struct_info_", Number(at + 1)}});
    WriteType(array, at + 1);
  }

  void WriteExternal(const NDArray& array, const FileTensor& tensor) {
    const size_t type = types_.at(TypeKey(array));
    Record("relax.expr.Constant", {{"_checked_type_", Number(type + kTypeNodes - 1)},
                                   {"data", Number(num_inline_)},
                                   {"span", "0"},
                                   {"struct_info_", Number(type)},
                                   {kWeightsFile, EscapeJson(paths_.PathOf(tensor))},
                                   {kWeightsHash, tensor.hash->ToString()},
                                   {kWeightsName, EscapeJson(tensor.name)}});
  }

  void WriteElided(const NDArray& array, size_t index) {
    const size_t type = types_.at(TypeKey(array));
    Record("relax.expr.Constant", {{"_checked_type_", Number(type + kTypeNodes - 1)},
                                   {"data", Number(num_inline_)},
                                   {"span", "0"},
                                   {"struct_info_", Number(type)},
                                   {kWeightsElided, Number(array.num_bytes())},
                                   {kWeightsName, Number(index)}});
  }

  // The type, the shape (expression, list, type, legacy type), the legacy tensor type, then the dimensions.
  void WriteType(const NDArray& array, size_t at) {
    const std::string dtype = array.dtype().ToString();
    const size_t ndim = array.shape().size();
    Record("relax.TensorStructInfo",
           {{"dtype", dtype}, {"ndim", Number(ndim)}, {"shape", Number(at + 1)}, {"span", "0"}, {"vdevice", "0"}});
    Record("relax.expr.ShapeExpr", {{"_checked_type_", Number(at + 4)},
                                    {"span", "0"},
                                    {"struct_info_", Number(at + 3)},
                                    {"values", Number(at + 2)}});
    Begin("Array");
    std::vector<size_t> dims;
    for (size_t i = 0; i < ndim; ++i) dims.push_back(at + kTypeNodes + i);
    WriteList(dims);
    Record("relax.ShapeStructInfo", {{"ndim", Number(ndim)}, {"span", "0"}, {"values", Number(at + 2)}});
    Record("relax.ShapeType", {{"ndim", Number(ndim)}, {"span", "0"}});
    Record("relax.DynTensorType", {{"dtype", dtype}, {"ndim", Number(ndim)}, {"span", "0"}});
    for (const int64_t dim : array.shape())
      Record("IntImm", {{"dtype", "int64"}, {"span", "0"}, {"value", Number(static_cast<size_t>(dim))}});
  }

  static std::string Number(size_t value) { return std::to_string(value); }

  void Begin(std::string_view type_key) {
    out_.Append(", \n    {\n      \\\"type_key\\\": \\\"");
    out_.Append(type_key);
    out_.Append("\\\"");
  }

  void WriteList(const std::vector<size_t>& indices) {
    out_.Append(", \n      \\\"data\\\": [");
    for (size_t i = 0; i < indices.size(); ++i) {
      if (i) out_.Append(", ");
      out_.AppendInt(static_cast<int64_t>(indices[i]));
    }
    out_.Append("]\n    }");
  }

  void Record(std::string_view type_key, std::initializer_list<std::pair<std::string_view, std::string_view>> attrs) {
    Begin(type_key);
    out_.Append(", \n      \\\"attrs\\\": {");
    bool first = true;
    for (const auto& [name, value] : attrs) {
      out_.Append(first ? "\n        \\\"" : ", \n        \\\"");
      first = false;
      out_.Append(name);
      out_.Append("\\\": \\\"");
      out_.Append(value);
      out_.Append("\\\"");
    }
    out_.Append("\n      }\n    }");
  }

  const MetadataTable& table_;
  const PrintOptions& options_;
  WeightsPaths paths_;
  OutputStream& out_;
  // The nodes of the entries.
  std::vector<size_t> constants_;
  std::vector<size_t> arrays_;
  size_t num_inline_ = 0;
  // The first nodes of types of constants in files, and one of the arrays of each type.
  std::map<std::pair<std::string, std::vector<int64_t>>, size_t> types_;
  std::vector<std::pair<const NDArray*, size_t>> type_nodes_;
};

}  // namespace

Status LoadMetadata(const MetadataText& text, const TensorOpener& open_tensor, DiagnosticEngine& diagnostics,
                    std::map<std::string, std::vector<const Node*>, std::less<>>& entries, Workspace& workspace) {
  IROPT_ASSIGN_OR_RETURN(const JsonText json, JsonText::Parse(text.json));
  WeightsReader weights(text, open_tensor, diagnostics);
  return Loader(weights, workspace).Run(json.root(), entries);
}

void MetadataTable::Add(const Constant* constant) {
  const auto [known, added] = index_.try_emplace(constant->data, constants_.size());
  if (!added) return;
  known->second = by_content_.try_emplace(constant->data, constants_.size()).first->second;
  if (known->second == constants_.size()) constants_.push_back(constant);
}

void MetadataTable::Add(const ObjectAttr* array) {
  if (index_.try_emplace(array, arrays_.size()).second) arrays_.push_back(array);
}

void SaveMetadata(const MetadataTable& table, const PrintOptions& options, OutputStream& out) {
  if (!table.empty()) Writer(table, options, out).Write();
}

}  // namespace iropt::text
