// The metadata section of TVM 0.21 and older: nodes with attributes, which refer to other nodes by their indices.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <vector>

#include "iropt/ir/array_attr.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/base64.h"
#include "metadata_writer.h"
#include "weights.h"

namespace iropt::text {
namespace {

// Writes nodes in the form of TVM's JSON, inside a Python string: quotes are escaped. Node 0 stands for null. The map
// is node 1. Before 0.21, the lists of all kinds come next, then their entries, then the types of constants in files.
// In 0.21, the entries of a list follow it, each with all that it refers to first.
class NodeWriter {
 public:
  NodeWriter(const MetadataTable& table, const PrintOptions& options, TextVersion version, OutputStream& out)
      : table_(table),
        options_(options),
        version_(version),
        nested_(version >= TextVersion::kV0_21),
        paths_(options.folder),
        out_(out) {
    const auto add = [&](std::string_view key, size_t count) {
      if (count > 0) groups_.push_back({.key = key, .count = count, .list = 0, .entries = {}});
    };
    add("relax.expr.Constant", table.constants().size());
    add(nested_ ? kNDArrayKey : kArrayKey, table.arrays().size());
    add(kOldStringImmKey, table.strings().size());
    add(kOldStringKey, table.attr_strings().size());
  }

  void Write() {
    out_.Append(
        "metadata = tvm.ir.load_json(\"\"\"{\n  \\\"root\\\": 1, \n  \\\"nodes\\\": [\n    {\n      \\\"type_key\\\": "
        "\\\"\\\"\n    }");
    Plan();
    WriteMap();
    if (!nested_) {
      for (const Group& group : groups_) WriteArrayOf(group.entries);
    }
    for (const Group& group : groups_) {
      if (nested_) WriteArrayOf(group.entries);
      WriteEntries(group);
    }
    for (const auto& [array, at] : type_nodes_) WriteType(*array, at);
    WriteArrays();
    out_.Append(
        fmt::format(", \n  \\\"attrs\\\": {{\\\"tvm_version\\\": \\\"{}.0\\\"}}\n}}\"\"\")\n", ToString(version_)));
  }

 private:
  struct Group {
    std::string_view key;
    size_t count;
    size_t list = 0;              // its node
    std::vector<size_t> entries;  // their nodes
  };

  // The nodes of a type without those of the dimensions.
  size_t TypeNodes() const { return nested_ ? 4 : 6; }

  // Returns whether the value of a constant is not in the text.
  bool IsOutside(const NDArray& array) const {
    return array.num_bytes() > static_cast<uint64_t>(options_.elide_larger_than) || FileOf(array, options_) != nullptr;
  }

  static std::pair<std::string, std::vector<int64_t>> TypeKey(const NDArray& array) {
    return {array.dtype().ToString(), {array.shape().begin(), array.shape().end()}};
  }

  void Plan() {
    size_t next = 2;
    for (Group& group : groups_) {
      if (!nested_) group.list = next++;
    }
    for (Group& group : groups_) {
      if (nested_) group.list = next++;
      for (size_t i = 0; i < group.count; ++i) {
        group.entries.push_back(next);
        next += CountNodes(group, i, next);
      }
    }
    // Constants in files share the nodes of their types.
    for (const Constant* c : table_.constants()) {
      if (nested_ || !IsOutside(*c->data) || !types_.try_emplace(TypeKey(*c->data), next).second) continue;
      type_nodes_.emplace_back(c->data, next);
      next += TypeNodes() + c->data->shape().size();
    }
  }

  // Those of an entry with the ones that it alone refers to.
  size_t CountNodes(const Group& group, size_t index, size_t at) {
    if (group.key == kOldStringImmKey) return 2;
    if (&group != &groups_[0] || table_.constants().empty()) return 1;
    const NDArray& array = *table_.constants()[index]->data;
    const bool outside = IsOutside(array);
    num_inline_ += outside ? 0 : 1;
    if (outside && !nested_) return 1;
    size_t count = 1 + TypeNodes() + array.shape().size();
    if (!nested_) return count;
    if (!outside) return count + 1;
    if (!empty_) empty_ = at + count++;
    return count;
  }

  // From type keys, in their order, to the lists.
  void WriteMap() {
    Begin(nested_ ? "ffi.Map" : "Map");
    out_.Append(", \n      \\\"keys\\\": [");
    std::vector<size_t> lists;
    for (const Group& group : groups_) {
      out_.Append(lists.empty() ? "\n        \\\"" : ", \n        \\\"");
      out_.Append(group.key);
      out_.Append("\\\"");
      lists.push_back(group.list);
    }
    out_.Append("\n      ]");
    WriteList(lists);
  }

  void WriteEntries(const Group& group) {
    for (size_t i = 0; i < group.count; ++i) {
      if (group.key == kOldStringImmKey) {
        WriteStringImm(table_.strings()[i]->value, group.entries[i]);
      } else if (group.key == kOldStringKey) {
        WriteString(table_.attr_strings()[i]->value);
      } else if (group.key == kArrayKey || group.key == kNDArrayKey) {
        WriteBytes(group.key, kArrayField, To<StrAttr>(table_.arrays()[i]->Find(kArrayField))->value);
      } else {
        WriteConstant(*table_.constants()[i]->data, group.entries[i], i);
      }
    }
  }

  void WriteStringImm(std::string_view string, size_t at) {
    Record(kOldStringImmKey, {{"dtype", "handle"}, {"span", Null()}, {"value", Number(at + 1)}});
    WriteString(string);
  }

  // Characters that cannot be printed are in base64, and these strings have line breaks.
  void WriteString(std::string_view string) {
    std::string encoded;
    EncodeBase64(string, [&](std::string_view part) { encoded += part; });
    WriteBytes(nested_ ? kStringKey : kOldStringKey, "repr_b64", encoded);
  }

  void WriteBytes(std::string_view type_key, std::string_view field, std::string_view text) {
    Begin(type_key);
    out_.Append(", \n      \\\"");
    out_.Append(field);
    out_.Append("\\\": \\\"");
    out_.Append(text);
    out_.Append("\\\"\n    }");
  }

  void WriteConstant(const NDArray& array, size_t at, size_t index) {
    const FileTensor* file = FileOf(array, options_);
    const bool outside = IsOutside(array);
    const size_t type = outside && !nested_ ? types_.at(TypeKey(array)) : at + 1;
    const size_t tensor = at + 1 + TypeNodes() + array.shape().size();
    Attrs attrs;
    if (!nested_) attrs.emplace_back("_checked_type_", Number(type + TypeNodes() - 1));
    if (nested_) {
      attrs.emplace_back("data", Number(outside ? *empty_ : tensor));
    } else {
      attrs.emplace_back("data", Number(outside ? num_inline_ : num_written_));
    }
    attrs.insert(attrs.end(), {{"span", Null()}, {"struct_info_", Number(type)}});
    if (file) {
      attrs.insert(attrs.end(), {{kWeightsFile, EscapeJson(paths_.PathOf(*file))},
                                 {kWeightsHash, file->hash->ToString()},
                                 {kWeightsName, EscapeJson(file->name)}});
    } else if (outside) {
      attrs.insert(attrs.end(), {{kWeightsElided, Number(array.num_bytes())}, {kWeightsName, Number(index)}});
    }
    Record("relax.expr.Constant", attrs);
    num_written_ += outside ? 0 : 1;
    if (!outside || nested_) WriteType(array, type);
    if (!nested_) return;
    if (!outside) return WriteArrayNode(array);
    if (*empty_ == tensor) WriteArrayNode(*NDArray::Make(DataType::Float(32), {0}));
  }

  // An array in 0.21.
  void WriteArrayNode(const NDArray& array) {
    Begin(kNDArrayKey);
    out_.Append(", \n      \\\"repr_str\\\": \\\"");
    EncodeArray(
        array, [this](std::string_view part) { out_.Append(part); }, version_);
    out_.Append("\\\"\n    }");
  }

  // The type, and its shape with its dimensions and its type; before 0.21, the legacy types of both.
  void WriteType(const NDArray& array, size_t at) {
    const std::string dtype = DTypeName(array.dtype(), version_);
    const size_t ndim = array.shape().size();
    const size_t list = nested_ ? at + 3 : at + 2, shape_type = nested_ ? at + 2 : at + 3;
    std::vector<size_t> dims;
    for (size_t i = 0; i < ndim; ++i) dims.push_back(at + TypeNodes() + i);
    Record(
        "relax.TensorStructInfo",
        {{"dtype", dtype}, {"ndim", Number(ndim)}, {"shape", Number(at + 1)}, {"span", Null()}, {"vdevice", Null()}});
    Attrs shape;
    if (!nested_) shape.emplace_back("_checked_type_", Number(at + 4));
    shape.insert(shape.end(), {{"span", Null()}, {"struct_info_", Number(shape_type)}, {"values", Number(list)}});
    Record("relax.expr.ShapeExpr", shape);
    if (!nested_) WriteArrayOf(dims);
    Record("relax.ShapeStructInfo", {{"ndim", Number(ndim)}, {"span", Null()}, {"values", Number(list)}});
    if (nested_) WriteArrayOf(dims);
    if (!nested_) {
      Record("relax.ShapeType", {{"ndim", Number(ndim)}, {"span", "0"}});
      Record("relax.DynTensorType", {{"dtype", dtype}, {"ndim", Number(ndim)}, {"span", "0"}});
    }
    for (const int64_t dim : array.shape())
      Record(nested_ ? "ir.IntImm" : "IntImm",
             {{"dtype", "int64"}, {"span", Null()}, {"value", Number(static_cast<size_t>(dim))}});
  }

  void WriteArrays() {
    out_.Append("\n  ], \n  \\\"b64ndarrays\\\": [");
    size_t i = 0;
    const auto write = [&](const NDArray& array) {
      out_.Append(i++ ? ", \n    \\\"" : "\n    \\\"");
      EncodeArray(
          array, [this](std::string_view part) { out_.Append(part); }, version_);
      out_.Append("\\\"");
    };
    for (const Constant* c : table_.constants()) {
      if (!nested_ && !IsOutside(*c->data)) write(*c->data);
    }
    // For TVM, an empty array stands for all that are in files or left out.
    if (!types_.empty()) write(*NDArray::Make(DataType::Float(32), {0}));
    out_.Append(i ? "\n  ]" : "]");
  }

  using Attrs = std::vector<std::pair<std::string_view, std::string>>;

  static std::string Number(size_t value) { return std::to_string(value); }
  std::string Null() const { return nested_ ? "null" : "0"; }

  void Begin(std::string_view type_key) {
    out_.Append(", \n    {\n      \\\"type_key\\\": \\\"");
    out_.Append(type_key);
    out_.Append("\\\"");
  }

  void WriteArrayOf(const std::vector<size_t>& indices) {
    Begin(nested_ ? "ffi.Array" : "Array");
    // An empty list is left out.
    if (nested_ && indices.empty()) return out_.Append("\n    }");
    WriteList(indices);
  }

  void WriteList(const std::vector<size_t>& indices) {
    out_.Append(", \n      \\\"data\\\": [");
    for (size_t i = 0; i < indices.size(); ++i) {
      if (i) out_.Append(", ");
      out_.AppendInt(static_cast<int64_t>(indices[i]));
    }
    out_.Append("]\n    }");
  }

  void Record(std::string_view type_key, const Attrs& attrs) {
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
  const bool nested_;  // as in 0.21
  WeightsPaths paths_;
  OutputStream& out_;
  std::vector<Group> groups_;
  size_t num_inline_ = 0;
  size_t num_written_ = 0;       // of those
  std::optional<size_t> empty_;  // in 0.21, the array of those that are not in the text
  // The first nodes of types of constants in files, and one of the arrays of each type.
  std::map<std::pair<std::string, std::vector<int64_t>>, size_t> types_;
  std::vector<std::pair<const NDArray*, size_t>> type_nodes_;
};

}  // namespace

void WriteMetadataNodes(const MetadataTable& table, const PrintOptions& options, TextVersion version,
                        OutputStream& out) {
  NodeWriter(table, options, version, out).Write();
}

}  // namespace iropt::text
