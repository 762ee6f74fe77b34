#include "object_attrs.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/stack.h"

namespace iropt::schedule {

namespace {

// An integer as an attribute: integers of Python are those of int32, as in texts.
Result<const Attr*> IntegerAttr(int64_t value, DataType dtype) {
  if (dtype.is_bool()) return static_cast<const Attr*>(IntAttr::Bool(value != 0));
  if (dtype == DataType::Int(32)) return static_cast<const Attr*>(IntAttr::Get(value));
  if (!dtype.is_scalar() || !dtype.is_integer()) return GraphError("an integer whose dtype is not one of integers");
  return static_cast<const Attr*>(ExprAttr::Get(arith::PrimBuilder().Int(value, dtype)));
}

// A number or truth value that is an object: BoxInt("3"), or int with the data 3.
Result<const Attr*> ReadBoxed(const ObjectGraph& graph, size_t node, std::string_view type) {
  const OptionValue* value = graph.Plain(node);
  if (!value) return GraphError(fmt::format("an object '{}' without a value", type));
  if (type == "bool" || type == "BoxBool") {
    const bool* flag = value->as_bool();
    const std::string* text = value->as_string();
    return static_cast<const Attr*>(IntAttr::Bool(flag ? *flag : text && *text == "true"));
  }
  if (type == "float" || type == "BoxFloat") {
    const std::optional<double> number = RealOf(*value);
    if (number) return static_cast<const Attr*>(FloatAttr::Get(*number, DataType::Float(32)));
  } else {
    const std::optional<int64_t> number = IntegerOf(*value);
    if (number) return static_cast<const Attr*>(IntAttr::Get(*number));
  }
  return GraphError(fmt::format("an object '{}' that is not a number", type));
}

bool IsBoxed(std::string_view type) {
  return type == "int" || type == "bool" || type == "float" || type == "BoxInt" || type == "BoxBool" ||
         type == "BoxFloat";
}

constexpr std::string_view kNewPrefix = "tirx.";

// The name and value of an attribute of a function, as functions of modules have them; no value if they do not have it.
DictAttr::Entry FuncAttrOf(std::string_view key, const Attr* value) {
  if (key.starts_with(kNewPrefix))
    key = IRContext::Current().InternString(fmt::format("tir.{}", key.substr(kNewPrefix.size())));
  const auto* flag = As<IntAttr>(value);
  if (key == attr::kSTir && flag && flag->value != 0) return {key, nullptr};
  if (key == attr::kPrimitive && flag) return {key, IntAttr::Get(flag->value)};
  return {key, value};
}

// The largest number of values in an attribute. A few shared lists in each other would be more than there is memory.
constexpr size_t kMostValues = 100000;

// `budget` is the number of values that may still be read.
Result<const Attr*> ReadOne(const ObjectGraph& graph, size_t node, size_t& budget) {
  if (budget-- == 0) return GraphError("an attribute with too many values in an object graph");
  const std::string_view type = graph.TypeOf(node);
  if (graph.IsNull(node)) return static_cast<const Attr*>(NoneAttr::Get());
  if (IsBoxed(type)) return ReadBoxed(graph, node, type);
  if (type == "String") {
    IROPT_ASSIGN_OR_RETURN(const std::string text, graph.Text(node));
    return static_cast<const Attr*>(StrAttr::Get(text));
  }
  if (type == "StringImm") {
    IROPT_ASSIGN_OR_RETURN(const std::string text, graph.Text(node, "value"));
    return static_cast<const Attr*>(StrAttr::Get(text));
  }
  if (type == "IntImm") {
    IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph.DTypeOf(node));
    IROPT_ASSIGN_OR_RETURN(const int64_t value, graph.Integer(node, "value"));
    return IntegerAttr(value, dtype);
  }
  if (type == "FloatImm") {
    IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph.DTypeOf(node));
    IROPT_ASSIGN_OR_RETURN(const double value, graph.Real(node, "value"));
    return static_cast<const Attr*>(FloatAttr::Get(value, dtype));
  }
  if (type == "Array") {
    IROPT_ASSIGN_OR_RETURN(const std::vector<size_t> items, graph.Items(node));
    std::vector<const Attr*> values;
    for (const size_t item : items) {
      IROPT_ASSIGN_OR_RETURN(const Attr* value, WithStack([&] { return ReadOne(graph, item, budget); }));
      values.push_back(value);
    }
    return static_cast<const Attr*>(ListAttr::Get(values));
  }
  if (type != "Map") return GraphError(fmt::format("an attribute '{}' is not supported in a workload", type));
  IROPT_ASSIGN_OR_RETURN(const auto named, graph.NamedEntries(node));
  std::vector<DictAttr::Entry> entries;
  for (const auto& [key, item] : named) {
    IROPT_ASSIGN_OR_RETURN(const Attr* value, WithStack([&, child = item] { return ReadOne(graph, child, budget); }));
    entries.emplace_back(IRContext::Current().InternString(key), value);
  }
  return static_cast<const Attr*>(DictAttr::Get(entries));
}

}  // namespace

Result<const Attr*> ReadAttr(const ObjectGraph& graph, size_t node) {
  size_t budget = kMostValues;
  return ReadOne(graph, node, budget);
}

Result<const DictAttr*> ReadDict(const ObjectGraph& graph, size_t node) {
  if (!graph.Is(node, "Map")) return GraphError("expected a map in an object graph");
  IROPT_ASSIGN_OR_RETURN(const Attr* dict, ReadAttr(graph, node));
  return To<DictAttr>(dict);
}

Result<const DictAttr*> ReadFuncAttrs(const ObjectGraph& graph, size_t func) {
  IROPT_ASSIGN_OR_RETURN(const std::optional<size_t> attrs, graph.OptionalChild(func, "attrs"));
  if (!attrs) return DictAttr::Empty();
  IROPT_ASSIGN_OR_RETURN(const size_t map, graph.Child(*attrs, "__dict__"));
  IROPT_ASSIGN_OR_RETURN(const DictAttr* read, ReadDict(graph, map));
  std::vector<DictAttr::Entry> entries;
  for (uint32_t i = 0; i < read->size(); ++i) {
    const DictAttr::Entry entry = FuncAttrOf(read->keys[i], read->values[i]);
    if (entry.second) entries.push_back(entry);
  }
  return DictAttr::Get(entries);
}

}  // namespace iropt::schedule
