#include "metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "iropt/ir/array_attr.h"
#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/json.h"
#include "metadata_writer.h"
#include "weights.h"

namespace iropt::text {
namespace {

Error Damaged(std::string message) { return {ErrorCode::Parse, std::move(message)}; }

// Reads the graph of objects that the JSON describes.
class Loader {
 public:
  Loader(WeightsReader& weights, Workspace& workspace) : weights_(weights), ws_(workspace) {}

  Status Run(JsonValue root, std::map<std::string, std::vector<const Node*>, std::less<>>& entries) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue nodes, root.At("nodes"));
    nodes_.assign(nodes.begin(), nodes.end());
    if (const auto index = root.Find("root_index")) return RunFfi(*index, entries);
    IROPT_ASSIGN_OR_RETURN(const JsonValue first, root.At("root"));
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
  // The JSON of TVM 0.22 and newer: nodes have a type and data, in which objects are indices of nodes. The map is a
  // list of keys and values in turn.
  Status RunFfi(JsonValue root, std::map<std::string, std::vector<const Node*>, std::less<>>& entries) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue map, DataOf(root));
    const std::vector<JsonValue> items(map.begin(), map.end());
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      IROPT_ASSIGN_OR_RETURN(const JsonValue name, DataOf(items[i]));
      IROPT_ASSIGN_OR_RETURN(const std::string_view key, name.AsString());
      IROPT_ASSIGN_OR_RETURN(const JsonValue list, DataOf(items[i + 1]));
      for (const JsonValue item : list) {
        IROPT_ASSIGN_OR_RETURN(const Node* entry, ReadFfiObject(item));
        entries[std::string(key)].push_back(entry);
      }
    }
    return {};
  }

  Result<JsonValue> DataOf(JsonValue index) const {
    IROPT_ASSIGN_OR_RETURN(const JsonValue node, NodeAt(index));
    return node.At("data");
  }

  // The data of the node that a field of an object refers to.
  Result<std::string_view> TextOf(JsonValue object, std::string_view field) const {
    IROPT_ASSIGN_OR_RETURN(const JsonValue index, object.At(field));
    IROPT_ASSIGN_OR_RETURN(const JsonValue data, DataOf(index));
    return data.AsString();
  }

  // Null for objects of other types.
  Result<const Node*> ReadFfiObject(JsonValue index) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue node, NodeAt(index));
    IROPT_ASSIGN_OR_RETURN(const JsonValue type, node.At("type"));
    IROPT_ASSIGN_OR_RETURN(const std::string_view name, type.AsString());
    const bool is_array = name == kTensorKey;
    if (!is_array && name != "ffi.String" && name != kStringImmKey && name != "relax.expr.Constant") return nullptr;
    IROPT_ASSIGN_OR_RETURN(const JsonValue data, node.At("data"));
    if (is_array || name == "ffi.String") {
      IROPT_ASSIGN_OR_RETURN(const std::string_view text, data.AsString());
      const Attr* const fields[] = {StrAttr::Get(text)};
      if (!is_array) return fields[0];
      IROPT_RETURN_IF_ERROR(DecodeArray(text));
      return ObjectAttr::Get(kArrayKey, {{kArrayField}}, fields);
    }
    if (WeightsReader::Refers(data)) {
      IROPT_ASSIGN_OR_RETURN(const ArrayType expected, ReadFfiType(data));
      IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const NDArray> array, weights_.Open(data, expected));
      return array ? MakeConstant(array) : nullptr;
    }
    IROPT_ASSIGN_OR_RETURN(const std::string_view text, TextOf(data, name == kStringImmKey ? "value" : "data"));
    if (name == kStringImmKey) return ws_.New<tir::StringImm>(ws_.arena().CopyString(text));
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const NDArray> array, DecodeArray(text));
    return MakeConstant(array);
  }

  // The dtype and the shape of a constant in a file.
  Result<ArrayType> ReadFfiType(JsonValue constant) const {
    const auto types = constant.Find("ty");
    IROPT_ASSIGN_OR_RETURN(const JsonValue index, types ? Result<JsonValue>(*types) : constant.At("struct_info_"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue type, DataOf(index));
    ArrayType result{.dtype = DataType::Void(), .shape = {}};
    IROPT_ASSIGN_OR_RETURN(const JsonValue dtype_index, type.At("dtype"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue dtype, DataOf(dtype_index));
    IROPT_ASSIGN_OR_RETURN(const std::string_view name, types ? TextField(dtype, "dtype") : dtype.AsString());
    result.dtype = DataType::Parse(name).value_or(DataType::Void());
    IROPT_ASSIGN_OR_RETURN(const JsonValue shape_index, type.At("shape"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue shape, DataOf(shape_index));
    IROPT_ASSIGN_OR_RETURN(const JsonValue values_index, shape.At("values"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue values, DataOf(values_index));
    for (const JsonValue item : values) {
      IROPT_ASSIGN_OR_RETURN(const JsonValue dim, DataOf(item));
      IROPT_ASSIGN_OR_RETURN(const JsonValue value, dim.At("value"));
      IROPT_ASSIGN_OR_RETURN(const int64_t number, value.AsInteger());
      result.shape.push_back(number);
    }
    return result;
  }

  static Result<std::string_view> TextField(JsonValue object, std::string_view field) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue value, object.At(field));
    return value.AsString();
  }

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
    return array ? MakeConstant(array) : nullptr;
  }

  const Node* MakeConstant(const std::shared_ptr<const NDArray>& array) {
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
  Writer(const MetadataTable& table, const PrintOptions& options, TextVersion version, OutputStream& out)
      : table_(table), options_(options), version_(version), paths_(options.folder), out_(out) {}

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
      if (const FileTensor* tensor = FileOf(array, options_)) {
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
    out_.Append(
        fmt::format(", \n  \\\"attrs\\\": {{\\\"tvm_version\\\": \\\"{}.0\\\"}}\n}}\"\"\")\n", ToString(version_)));
  }

 private:
  // The nodes of a type without those of the dimensions.
  static constexpr size_t kTypeNodes = 6;

  // Whether the value of a constant is not in the text.
  bool IsOutside(const NDArray& array) const {
    return array.num_bytes() > static_cast<uint64_t>(options_.elide_larger_than) || FileOf(array, options_) != nullptr;
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
      EncodeArray(array, [this](std::string_view part) { out_.Append(part); });
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
  const TextVersion version_;
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

void MetadataTable::Add(const tir::StringImm* string) {
  if (string_numbers_.try_emplace(string, strings_.size()).second) strings_.push_back(string);
}

void SaveMetadata(const MetadataTable& table, const PrintOptions& options, TextVersion version, OutputStream& out) {
  if (table.empty()) return;
  if (version >= TextVersion::kV0_22) return WriteMetadataGraph(table, options, version, out);
  Writer(table, options, version, out).Write();
}

}  // namespace iropt::text
