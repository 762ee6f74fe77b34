#include "metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "iropt/ir/array_attr.h"
#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/base64.h"
#include "iropt/support/json.h"
#include "iropt/support/lookup.h"
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
    if (const auto index = root.Find("root_index")) {
      codes_ = TextVersion::kV0_23;
      return RunFfi(*index, entries);
    }
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
    const bool is_string = IsStringImmKey(name);
    if (!is_array && name != kStringKey && !is_string && name != "relax.expr.Constant") return nullptr;
    IROPT_ASSIGN_OR_RETURN(const JsonValue data, node.At("data"));
    if (is_array || name == kStringKey) {
      IROPT_ASSIGN_OR_RETURN(const std::string_view text, data.AsString());
      const Attr* const fields[] = {StrAttr::Get(text)};
      if (!is_array) return fields[0];
      IROPT_RETURN_IF_ERROR(DecodeArray(text, codes_));
      return ObjectAttr::Get(kArrayKey, {{kArrayField}}, fields);
    }
    if (WeightsReader::Refers(data)) {
      IROPT_ASSIGN_OR_RETURN(const ArrayType expected, ReadFfiType(data));
      IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const NDArray> array, weights_.Open(data, expected));
      return array ? MakeConstant(array) : nullptr;
    }
    IROPT_ASSIGN_OR_RETURN(const std::string_view text, TextOf(data, is_string ? "value" : "data"));
    if (is_string) return ws_.New<tir::StringImm>(ws_.arena().CopyString(text));
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const NDArray> array, DecodeArray(text, codes_));
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
    if (IsStringImmKey(key)) {
      IROPT_ASSIGN_OR_RETURN(const JsonValue attrs, node.At("attrs"));
      IROPT_ASSIGN_OR_RETURN(const size_t i, NumberIn(attrs, "value"));
      IROPT_ASSIGN_OR_RETURN(const JsonValue value, ItemAt(nodes_, i));
      IROPT_ASSIGN_OR_RETURN(const std::string text, BytesOf(value));
      return ws_.New<tir::StringImm>(ws_.arena().CopyString(text));
    }
    const bool is_array = key == kArrayKey || key == kNDArrayKey;
    if (!is_array && key != kOldStringKey && key != kStringKey) return nullptr;
    IROPT_ASSIGN_OR_RETURN(const std::string text, BytesOf(node));
    const Attr* const fields[] = {StrAttr::Get(text)};
    if (!is_array) return fields[0];
    IROPT_RETURN_IF_ERROR(DecodeArray(text, key == kArrayKey ? TextVersion::kV0_18 : TextVersion::kV0_21));
    return ObjectAttr::Get(kArrayKey, {{kArrayField}}, fields);
  }

  // Reads the bytes of an object without attributes: they are in base64, unless all characters can be printed.
  static Result<std::string> BytesOf(JsonValue node) {
    const auto encoded = node.Find("repr_b64");
    IROPT_ASSIGN_OR_RETURN(const JsonValue field, encoded ? Result<JsonValue>(*encoded) : node.At(kArrayField));
    IROPT_ASSIGN_OR_RETURN(const std::string_view text, field.AsString());
    std::string bytes(text);
    if (encoded && !DecodeBase64(text, bytes)) return Damaged("a string is not in base64");
    return bytes;
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
    if (arrays_.empty()) {
      // In 0.21, arrays are nodes.
      IROPT_ASSIGN_OR_RETURN(const JsonValue node, ItemAt(nodes_, i));
      IROPT_ASSIGN_OR_RETURN(const JsonValue field, node.At(kArrayField));
      IROPT_ASSIGN_OR_RETURN(const std::string_view text, field.AsString());
      return DecodeArray(text, TextVersion::kV0_21);
    }
    IROPT_ASSIGN_OR_RETURN(const JsonValue item, ItemAt(arrays_, i));
    IROPT_ASSIGN_OR_RETURN(const std::string_view base64, item.AsString());
    return DecodeArray(base64);
  }

  // Constants in files share the nodes of their types.
  Result<const ArrayType*> TypeOf(JsonValue attrs) {
    IROPT_ASSIGN_OR_RETURN(const size_t type, NumberIn(attrs, "struct_info_"));
    const auto [known, added] = types_.try_emplace(type);
    if (added) {
      IROPT_ASSIGN_OR_RETURN(known, ReadType(attrs));
    }
    return &known;
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
  TextVersion codes_ = TextVersion::kV0_18;  // of the numbers of data types
  std::vector<JsonValue> nodes_;
  std::vector<JsonValue> arrays_;
  LookupMap<size_t, ArrayType> types_;  // by node
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
  known = by_content_.try_emplace(constant->data, constants_.size()).first;
  if (known == constants_.size()) constants_.push_back(constant);
}

void MetadataTable::Add(const Attr* attr) {
  if (const auto* array = As<ObjectAttr>(attr)) {
    if (index_.try_emplace(array, arrays_.size()).second) arrays_.push_back(array);
  } else if (index_.try_emplace(attr, attr_strings_.size()).second) {
    attr_strings_.push_back(To<StrAttr>(attr));
  }
}

void MetadataTable::Add(const tir::StringImm* string) {
  if (string_numbers_.try_emplace(string, strings_.size()).second) strings_.push_back(string);
}

void SaveMetadata(const MetadataTable& table, const PrintOptions& options, TextVersion version, OutputStream& out) {
  if (table.empty()) return;
  if (version >= TextVersion::kV0_22) return WriteMetadataGraph(table, options, version, out);
  WriteMetadataNodes(table, options, version, out);
}

}  // namespace iropt::text
