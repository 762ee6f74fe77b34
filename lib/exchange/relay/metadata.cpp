#include "metadata.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>

#include "constants.h"
#include "iropt/ir/array_attr.h"
#include "iropt/support/json.h"
#include "iropt/support/stack.h"

namespace iropt::relay {

namespace {

// The second one is that of TVM 0.6.
constexpr std::string_view kHeaders[] = {"#[metadata]", "METADATA:"};

Error DamagedSection(std::string message) { return {ErrorCode::Parse, std::move(message)}; }

// Fields of objects that say where they come from.
bool IsProvenance(std::string_view field) {
  return field == "span" || field == "_checked_type_" || field == "virtual_device_";
}

class MetadataLoader {
 public:
  explicit MetadataLoader(Workspace& workspace) : workspace_(workspace) {}

  Status Run(JsonValue root, MetadataEntries& entries) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue nodes, root.At("nodes"));
    nodes_.assign(nodes.begin(), nodes.end());
    if (const auto arrays = root.Find("b64ndarrays")) arrays_.assign(arrays->begin(), arrays->end());
    IROPT_ASSIGN_OR_RETURN(const JsonValue first, root.At("root"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue map, NodeAt(first));
    IROPT_ASSIGN_OR_RETURN(const JsonValue keys, map.At("keys"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue data, map.At("data"));
    const std::vector<JsonValue> lists(data.begin(), data.end());
    for (size_t i = 0; const JsonValue item : keys) {
      IROPT_ASSIGN_OR_RETURN(const std::string_view key, item.AsString());
      if (i >= lists.size()) return DamagedSection("a key has no entries");
      IROPT_ASSIGN_OR_RETURN(const JsonValue list, NodeAt(lists[i++]));
      std::vector<MetadataEntry>& of_key = entries[std::string(key)];
      const auto objects = list.Find("data");
      if (!objects) continue;
      for (const JsonValue object : *objects) {
        IROPT_ASSIGN_OR_RETURN(MetadataEntry entry, ReadEntry(object));
        of_key.push_back(std::move(entry));
      }
    }
    return {};
  }

 private:
  Result<JsonValue> NodeAt(JsonValue index) const {
    IROPT_ASSIGN_OR_RETURN(const int64_t i, index.AsInteger());
    if (i >= 0 && static_cast<size_t>(i) < nodes_.size()) return nodes_[static_cast<size_t>(i)];
    return DamagedSection(fmt::format("node {} is out of range", i));
  }

  static std::string_view KeyOf(JsonValue node) {
    const auto key = node.Find("type_key");
    return key && key->is_string() ? key->string() : std::string_view();
  }

  Result<MetadataEntry> ReadEntry(JsonValue index) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue node, NodeAt(index));
    MetadataEntry entry;
    const std::string_view key = KeyOf(node);
    const auto attrs = node.Find("attrs");
    const bool has_objects = key == "relay.attrs.ScanopAttrs";  // all of whose fields are: 0 stands for none
    if (key == "relay.Constant" || IsLeafKey(key) || key == "Array" || !attrs) {
      IROPT_ASSIGN_OR_RETURN(entry.value, ReadValue(node, 0));
      return entry;
    }
    for (const JsonMember member : attrs->members()) {
      if (IsProvenance(member.key)) continue;
      const bool is_none = has_objects && member.value.is_string() && member.value.string() == "0";
      IROPT_ASSIGN_OR_RETURN(const PyValue value, is_none ? PyValue() : ReadField(member.value, index.integer()));
      entry.fields.push_back({workspace_.arena().CopyString(member.key), {}, value});
    }
    return entry;
  }

  static bool IsLeafKey(std::string_view key) {
    return key == "IntImm" || key == "FloatImm" || key == "runtime.String" || key.starts_with("runtime.Box");
  }

  static std::optional<int64_t> IntegerIn(std::string_view text) {
    int64_t number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
  }

  // Fields are strings: indices of nodes, numbers and texts, which the type of the object would tell apart. Nodes are
  // numbered as they are met, so the index of a value is greater than that of the object that has it.
  Result<PyValue> ReadField(JsonValue field, int64_t owner) {
    if (!field.is_string()) return PyValue();
    const std::string_view text = field.string();
    const auto number = IntegerIn(text);
    if (!number) {
      char* end = nullptr;
      const std::string digits(text);
      const double real = std::strtod(digits.c_str(), &end);
      if (!digits.empty() && *end == '\0') return PyValue::Float(real, {});
      return PyValue::String(workspace_.arena().CopyString(text), {});
    }
    if (*number <= owner || static_cast<size_t>(*number) >= nodes_.size()) return PyValue::Int(*number, {});
    const JsonValue node = nodes_[static_cast<size_t>(*number)];
    const std::string_view key = KeyOf(node);
    if (!IsLeafKey(key) && key != "Array") return PyValue::Int(*number, {});
    return ReadValue(node, 0);
  }

  static Result<std::string_view> TextOf(JsonValue node, std::string_view field) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue attrs, node.At("attrs"));
    IROPT_ASSIGN_OR_RETURN(const JsonValue value, attrs.At(field));
    return value.AsString();
  }

  // None for objects of other types.
  Result<PyValue> ReadValue(JsonValue node, int depth) {
    constexpr int kMaxDepth = 64;
    if (depth > kMaxDepth) return DamagedSection("an object contains itself");
    const std::string_view key = KeyOf(node);
    if (key == "IntImm" || key == "FloatImm") {
      IROPT_ASSIGN_OR_RETURN(const std::string_view text, TextOf(node, "value"));
      return Number(text, key == "IntImm");
    }
    if (key == "runtime.String" || key.starts_with("runtime.Box")) return ReadBoxed(node, key);
    if (key == "relay.Constant") return ReadConstant(node);
    if (key == "relay.ExternalFunc" || key == "GlobalVar") {
      IROPT_ASSIGN_OR_RETURN(const std::string_view text, TextOf(node, "name_hint"));
      return PyValue::String(workspace_.arena().CopyString(text), {});
    }
    const auto items = node.Find("data");
    if (key != "Array" || !items) {
      return key == "Array" ? PyValue(PyValue::Kind::kList, {}, {}) : PyValue();
    }
    std::vector<PyValue> values;
    for (const JsonValue item : *items) {
      IROPT_ASSIGN_OR_RETURN(const JsonValue element, NodeAt(item));
      IROPT_ASSIGN_OR_RETURN(const PyValue value, ReadValue(element, depth + 1));
      values.push_back(value);
    }
    return PyValue(PyValue::Kind::kList, workspace_.arena().Copy(values), {});
  }

  static PyValue Number(std::string_view text, bool integer) {
    if (const auto number = IntegerIn(text); integer && number) return PyValue::Int(*number, {});
    return PyValue::Float(std::strtod(std::string(text).c_str(), nullptr), {});
  }

  Result<PyValue> ReadBoxed(JsonValue node, std::string_view key) {
    const auto repr = node.Find("repr_str");
    const std::string_view text = repr && repr->is_string() ? repr->string() : std::string_view();
    if (key == "runtime.String") return PyValue::String(workspace_.arena().CopyString(text), {});
    if (key == "runtime.BoxBool") return PyValue::Bool(text == "1" || text == "True" || text == "true", {});
    return Number(text, key == "runtime.BoxInt");
  }

  Result<PyValue> ReadConstant(JsonValue node) {
    IROPT_ASSIGN_OR_RETURN(const std::string_view text, TextOf(node, "data"));
    const auto index = IntegerIn(text);
    if (!index || *index < 0 || static_cast<size_t>(*index) >= arrays_.size())
      return DamagedSection("a constant has no array");
    IROPT_ASSIGN_OR_RETURN(const std::string_view base64, arrays_[static_cast<size_t>(*index)].AsString());
    IROPT_ASSIGN_OR_RETURN(std::shared_ptr<const NDArray> array, DecodeArray(base64));
    return PyValue(static_cast<const Expr*>(MakeConstant(std::move(array), workspace_)));
  }

  Workspace& workspace_;
  std::vector<JsonValue> nodes_;
  std::vector<JsonValue> arrays_;
};

}  // namespace

size_t FindMetadata(std::string_view text) {
  size_t found = text.size();
  for (const std::string_view header : kHeaders) {
    for (size_t at = text.find(header, 1); at != std::string_view::npos; at = text.find(header, at + 1)) {
      if (text[at - 1] == '\n') found = at;
    }
    if (found != text.size()) break;
  }
  return found;
}

size_t MetadataHeaderSize(std::string_view section) {
  for (const std::string_view header : kHeaders) {
    if (section.starts_with(header)) return header.size();
  }
  return 0;
}

Result<MetadataEntries> LoadMetadata(std::string_view section, Workspace& workspace) {
  MetadataEntries entries;
  IROPT_ASSIGN_OR_RETURN(const JsonText text, JsonText::Parse(section.substr(MetadataHeaderSize(section))));
  IROPT_RETURN_IF_ERROR(MetadataLoader(workspace).Run(text.root(), entries));
  return entries;
}

}  // namespace iropt::relay
