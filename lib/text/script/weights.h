// Constants in files. The entry of such a constant in the metadata section has the attributes `weights_file` (the path
// of a .safetensors file, relative to the folder of the text), `weights_name` (of the tensor in it) and `weights_hash`;
// its dtype and shape are those of its type. For TVM, which ignores these attributes, it is a constant of that type
// with an empty array. A constant whose data was left out has `weights_elided`, the number of bytes, and
// `weights_name`, its index in the section, instead; it can't be read.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/json.h"
#include "iropt/support/lookup.h"
#include "iropt/text/script/parser.h"
#include "metadata.h"

namespace iropt::text {

// The attributes.
inline constexpr std::string_view kWeightsElided = "weights_elided";
inline constexpr std::string_view kWeightsFile = "weights_file";
inline constexpr std::string_view kWeightsHash = "weights_hash";
inline constexpr std::string_view kWeightsName = "weights_name";

struct ArrayType {
  DataType dtype;
  std::vector<int64_t> shape;

  std::string ToString() const;
  friend bool operator==(const ArrayType&, const ArrayType&) = default;
};

// Opens the tensors that a metadata section refers to, and reports those that are missing or different.
class WeightsReader {
 public:
  WeightsReader(const MetadataText& text, const TensorOpener& open_tensor, DiagnosticEngine& diagnostics)
      : text_(text), open_tensor_(open_tensor), diagnostics_(diagnostics) {}

  // Returns whether the attributes of a constant refer to a tensor, or say that it was left out.
  static bool Refers(JsonValue attrs);
  // The tensor, or null after an error, which was reported. A missing attribute is an error of the section.
  Result<std::shared_ptr<const NDArray>> Open(JsonValue attrs, const ArrayType& expected);
  // Returns whether an error was reported.
  bool failed() const { return failed_; }

 private:
  // The error for a constant whose data was left out.
  Result<std::shared_ptr<const NDArray>> RefuseElided(JsonValue attrs, const ArrayType& type);
  std::shared_ptr<const NDArray> Fail(SourceSpan span, std::string message);
  // The name in the text, for messages; the whole section if it is spelled in another way than by the printer.
  SourceSpan Locate(const std::string& name);
  void FindNames();
  // The index in names_ of a name as the text spells it; the number of names if it is not among them.
  size_t IndexOf(std::string_view escaped);

  std::set<std::string> told_;  // errors of opening tensors
  const MetadataText& text_;
  const TensorOpener& open_tensor_;
  DiagnosticEngine& diagnostics_;
  // The names in the text with their offsets in it, in its order; the same sorted, if they are not opened in this
  // order.
  std::vector<std::pair<std::string_view, size_t>> names_;
  std::vector<std::pair<std::string_view, size_t>> sorted_;
  bool found_names_ = false;
  size_t next_ = 0;  // of names_, after the one that was located last
  bool failed_ = false;
};

// The file that a constant is in; null if its value is in the text.
const FileTensor* FileOf(const NDArray& array, const PrintOptions& options);

// The paths of files as a text in a folder has them; empty for the current folder.
class WeightsPaths {
 public:
  explicit WeightsPaths(const std::string& folder) : folder_(folder.empty() ? "." : folder) {}

  const std::string& PathOf(const FileTensor& tensor);

 private:
  std::string folder_;
  LookupMap<std::string, std::string> paths_;
};

// A text as the inner part of a JSON string that is itself in a Python string.
std::string EscapeJson(const std::string& text);

}  // namespace iropt::text
