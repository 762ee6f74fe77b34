// The metadata section of TVM 0.22 and newer: the JSON of its FFI, in which values are indices of nodes and every node
// comes after those that it refers to.
#include "metadata_writer.h"

#include <map>
#include <optional>
#include <vector>

#include "iropt/ir/array_attr.h"
#include "iropt/ir/ndarray.h"
#include "weights.h"

namespace iropt::text {
namespace {

class GraphWriter {
 public:
  GraphWriter(const MetadataTable& table, const PrintOptions& options, TextVersion version, OutputStream& out)
      : table_(table), options_(options), version_(version), paths_(options.folder), out_(out) {}

  void Write() {
    out_.Append("metadata = tvm.ir.load_json(\"\"\"{\n  \\\"root_index\\\": ");
    // The root is the last node, so the nodes are counted first.
    is_counting_ = true;
    out_.AppendInt(static_cast<int64_t>(WriteNodes()));
    is_counting_ = false;
    count_ = 0;
    none_.reset();
    empty_.reset();
    strings_.clear();
    types_.clear();
    dtypes_.clear();
    out_.Append(",\n  \\\"nodes\\\": [");
    WriteNodes();
    out_.Append("\n  ],\n  \\\"metadata\\\": {\n    \\\"tvm_version\\\": \\\"");
    out_.Append(NameOfVersion());
    out_.Append("\\\"\n  }\n}\"\"\")\n");
  }

 private:
  using Fields = std::vector<std::pair<std::string_view, std::string>>;

  // The name that the version gives itself: the newest one has no release yet.
  std::string NameOfVersion() const {
    return version_ == TextVersion::kV0_27 ? "0.26.dev0" : std::string(ToString(version_)) + ".0";
  }

  // As the writer of TVM's FFI does, in a string of a string.
  static std::string EscapeSlashes(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size() + text.size() / 32);
    for (const char c : text) {
      if (c == '/') escaped += "\\\\";
      escaped += c;
    }
    return escaped;
  }

  size_t WriteNodes() {
    std::vector<size_t> map;
    // The key of a list comes before its entries.
    const auto list = [&](std::string_view key, const auto& items, const auto& write) {
      if (items.empty()) return;
      map.push_back(Node(kStringKey, Quoted(key)));
      std::vector<size_t> entries;
      for (const auto* item : items) entries.push_back(write(item, entries.size()));
      map.push_back(Node("ffi.Array", List(entries)));
    };
    list("relax.expr.Constant", table_.constants(),
         [&](const Constant* constant, size_t index) { return WriteConstant(*constant->data, index); });
    list(kTensorKey, table_.arrays(), [&](const ObjectAttr* array, size_t) {
      return Node(kTensorKey, Quoted(To<StrAttr>(array->Find(kArrayField))->value));
    });
    list(StringImmKey(), table_.strings(),
         [&](const tir::StringImm* string, size_t) { return WriteStringImm(string->value); });
    list(kStringKey, table_.attr_strings(), [&](const StrAttr* string, size_t) { return WriteString(string->value); });
    return Node("ffi.Map", List(map));
  }

  std::string_view StringImmKey() const { return version_ >= TextVersion::kV0_24 ? kStringImmKey : kOldStringImmKey; }

  size_t WriteStringImm(std::string_view string) {
    // Strings have no type; before, they were handles.
    const auto type = DtypeField(HasTypes() ? "" : "handle");
    return Object(StringImmKey(), {{"span", Ref(None())}, type, {"value", Ref(WriteString(string))}});
  }

  size_t WriteString(std::string_view string) {
    const auto [value, added] = strings_.try_emplace(string);
    if (added) value->second = Node(kStringKey, Quoted(EscapeSlashes(EscapeJson(std::string(string)))));
    return value->second;
  }

  size_t WriteConstant(const NDArray& array, size_t index) {
    const FileTensor* file = FileOf(array, options_);
    const bool is_elided = !file && array.num_bytes() > static_cast<uint64_t>(options_.elide_larger_than);
    const size_t type = WriteTensorType(array);
    Fields fields{{"span", Ref(None())}, {HasTypes() ? "ty" : "struct_info_", Ref(type)}};
    if (file || is_elided) {
      if (!empty_) empty_ = WriteTensor(*NDArray::Make(DataType::Float(32), {0}));
      fields.emplace_back("data", Ref(*empty_));
    } else {
      fields.emplace_back("data", Ref(WriteTensor(array)));
    }
    if (file) {
      fields.emplace_back(kWeightsFile, Quoted(EscapeJson(paths_.PathOf(*file))));
      fields.emplace_back(kWeightsHash, Quoted(file->hash->ToString()));
      fields.emplace_back(kWeightsName, Quoted(EscapeJson(file->name)));
    } else if (is_elided) {
      fields.emplace_back(kWeightsElided, Quoted(std::to_string(array.num_bytes())));
      fields.emplace_back(kWeightsName, Quoted(std::to_string(index)));
    }
    return Object("relax.expr.Constant", fields);
  }

  size_t WriteTensor(const NDArray& array) {
    Begin(kTensorKey);
    Put("\\\"");
    if (!is_counting_)
      EncodeArray(
          array, [this](std::string_view part) { out_.Append(EscapeSlashes(part)); }, version_);
    Put("\\\"");
    return End();
  }

  size_t WriteTensorType(const NDArray& array) {
    const std::vector<int64_t> dims(array.shape().begin(), array.shape().end());
    const auto [known, added] = types_.try_emplace({array.dtype().ToString(), dims});
    if (!added) return known->second;
    std::vector<size_t> values;
    for (const int64_t dim : dims)
      values.push_back(
          Object("ir.IntImm", {{"span", Ref(None())}, DtypeField("int64"), {"value", std::to_string(dim)}}));
    const std::string ndim = std::to_string(dims.size());
    const size_t list = Node("ffi.Array", List(values));
    const size_t shape_type = Object(HasTypes() ? "relax.ShapeType" : "relax.ShapeStructInfo",
                                     {{"span", Ref(None())}, {"values", Ref(list)}, {"ndim", ndim}});
    const size_t shape =
        Object("relax.expr.ShapeExpr",
               {{"span", Ref(None())}, {HasTypes() ? "ty" : "struct_info_", Ref(shape_type)}, {"values", Ref(list)}});
    const std::string dtype = DtypeField(DTypeName(array.dtype(), version_)).second;
    return known->second = Object(HasTypes() ? "relax.TensorType" : "relax.TensorStructInfo", {{"span", Ref(None())},
                                                                                               {"shape", Ref(shape)},
                                                                                               {"dtype", dtype},
                                                                                               {"vdevice", Ref(None())},
                                                                                               {"ndim", ndim}});
  }

  // Types of expressions are types of scalars from 0.26 on.
  bool HasTypes() const { return version_ >= TextVersion::kV0_26; }
  std::pair<std::string_view, std::string> DtypeField(const std::string& dtype) {
    const auto [known, added] = dtypes_.try_emplace(dtype);
    if (added && HasTypes()) {
      known->second = Object("ir.PrimType", {{"span", Ref(None())}, {"dtype", Quoted(dtype)}});
    } else if (added) {
      known->second = Node("DataType", Quoted(dtype));
    }
    return {HasTypes() ? "ty" : "dtype", Ref(known->second)};
  }

  size_t None() {
    if (!none_) none_ = Node("None", {});
    return *none_;
  }
  static std::string Ref(size_t node) { return std::to_string(node); }
  static std::string Quoted(std::string_view text) { return "\\\"" + std::string(text) + "\\\""; }
  static std::string List(std::span<const size_t> items) {
    std::string text = "[";
    for (size_t i = 0; i < items.size(); ++i) text += (i ? ",\n        " : "\n        ") + std::to_string(items[i]);
    return text + (items.empty() ? "]" : "\n      ]");
  }

  size_t Object(std::string_view type, const Fields& fields) {
    std::string text = "{";
    for (const auto& [name, value] : fields) {
      text += text.size() > 1 ? ",\n        " : "\n        ";
      text += Quoted(name) + ": " + value;
    }
    return Node(type, text + "\n      }");
  }

  size_t Node(std::string_view type, std::string_view data) {
    Begin(type, !data.empty());
    Put(data);
    return End();
  }
  void Begin(std::string_view type, bool has_data = true) {
    Put(count_ ? ",\n    {\n      \\\"type\\\": \\\"" : "\n    {\n      \\\"type\\\": \\\"");
    Put(type);
    Put(has_data ? "\\\",\n      \\\"data\\\": " : "\\\"");
  }
  size_t End() {
    Put("\n    }");
    return count_++;
  }

  void Put(std::string_view text) {
    if (!is_counting_) out_.Append(text);
  }

  const MetadataTable& table_;
  const PrintOptions& options_;
  const TextVersion version_;
  WeightsPaths paths_;
  OutputStream& out_;
  bool is_counting_ = false;
  size_t count_ = 0;
  std::optional<size_t> none_;
  std::optional<size_t> empty_;  // the array of those that are not in the text
  std::map<std::pair<std::string, std::vector<int64_t>>, size_t> types_;
  std::map<std::string, size_t> dtypes_;
  std::map<std::string_view, size_t> strings_;
};

}  // namespace

void WriteMetadataGraph(const MetadataTable& table, const PrintOptions& options, TextVersion version,
                        OutputStream& out) {
  GraphWriter(table, options, version, out).Write();
}

}  // namespace iropt::text
