// TVM's JSON of object graphs: nodes by number, which refer to each other.
//
// Two forms are read: that of TVM 0.21 and older, {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "tir.Var",
// "attrs": {"dtype": "int32", "name": "2"}}, ...]}, and that of newer versions, {"root_index": 1, "nodes":
// [{"type": "None"}, {"type": "tir.Var", "data": {"dtype": "int32", "name": 2}}, ...]}.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/dtype.h"
#include "iropt/pass/option_value.h"
#include "iropt/support/result.h"

namespace iropt::schedule {

inline Error GraphError(std::string message) { return Error{ErrorCode::PassFailed, std::move(message)}; }

class ObjectGraph {
 public:
  // O(size of the text).
  static Result<ObjectGraph> Parse(std::string_view json);

  size_t root() const { return root_; }
  size_t size() const { return nodes_->size(); }
  // Returns whether the graph has the form of TVM 0.22 and newer.
  bool is_new() const { return is_new_; }

  // The name of the type without the parts before it, which differ between versions: tir.Var and ir.Var are both Var.
  // Empty for null.
  std::string_view TypeOf(size_t node) const;
  bool Is(size_t node, std::string_view type) const { return TypeOf(node) == type; }
  bool IsNull(size_t node) const { return TypeOf(node).empty() || Is(node, "None"); }

  // Returns whether the object has the field.
  bool Has(size_t node, std::string_view field) const { return Field(node, field) != nullptr; }
  // The object that a field refers to.
  Result<size_t> Child(size_t node, std::string_view field) const;
  // The object that a field refers to; nothing for null, and without the field.
  Result<std::optional<size_t>> OptionalChild(size_t node, std::string_view field) const;
  // The numbers and strings that are fields themselves.
  Result<int64_t> Integer(size_t node, std::string_view field) const;
  Result<double> Real(size_t node, std::string_view field) const;
  // The dtype of an expression, which is a field of it or, in the newest versions, of its type.
  Result<DataType> DTypeOf(size_t node) const;

  // The items of an array.
  Result<std::vector<size_t>> Items(size_t node) const;
  Result<std::vector<size_t>> Items(size_t node, std::string_view field) const;
  // A map from objects to objects.
  Result<std::vector<std::pair<size_t, size_t>>> Entries(size_t node) const;
  // A map from strings, in the order of the text.
  Result<std::vector<std::pair<std::string, size_t>>> NamedEntries(size_t node) const;
  // The characters of a string object, or of the field that refers to one.
  Result<std::string> Text(size_t node) const;
  Result<std::string> Text(size_t node, std::string_view field) const;
  // The value of an object that is not a record: the number of a boxed number, the name of an operator.
  const OptionValue* Plain(size_t node) const;

 private:
  explicit ObjectGraph(OptionValue json) : json_(std::make_unique<OptionValue>(std::move(json))) {}

  // Null if there is none.
  const OptionValue* Field(size_t node, std::string_view name) const;
  Result<size_t> Index(const OptionValue& value) const;
  const OptionValue::List* DataOf(size_t node) const;

  std::unique_ptr<OptionValue> json_;  // nodes_ is a part of it
  const OptionValue::List* nodes_ = nullptr;
  size_t root_ = 0;
  bool is_new_ = false;
};

// The integer of a value, which older versions write as a string.
std::optional<int64_t> IntegerOf(const OptionValue& value);
std::optional<double> RealOf(const OptionValue& value);

}  // namespace iropt::schedule
