#include "object_graph.h"

#include <fmt/format.h>

#include <charconv>

#include "schedule/json_text.h"

namespace iropt::schedule {

namespace {

std::string_view ShortName(std::string_view type) {
  const size_t dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

template <class T>
std::optional<T> ReadNumber(const std::string& text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int64_t> IntegerOf(const OptionValue& value) {
  if (const int64_t* number = value.as_int()) return *number;
  if (const bool* flag = value.as_bool()) return *flag;
  const std::string* text = value.as_string();
  return text ? ReadNumber<int64_t>(*text) : std::nullopt;
}

std::optional<double> RealOf(const OptionValue& value) {
  if (const double* number = value.as_double()) return *number;
  if (const int64_t* number = value.as_int()) return static_cast<double>(*number);
  const std::string* text = value.as_string();
  return text ? ReadNumber<double>(*text) : std::nullopt;
}

Result<ObjectGraph> ObjectGraph::Parse(std::string_view json) {
  IROPT_ASSIGN_OR_RETURN(OptionValue value, ParseJson(json));
  ObjectGraph graph(std::move(value));
  const OptionValue* nodes = graph.json_->Find("nodes");
  const OptionValue* old_root = graph.json_->Find("root");
  const OptionValue* root = old_root ? old_root : graph.json_->Find("root_index");
  if (!nodes || !nodes->as_list() || !root) return GraphError("expected the nodes of an object graph and their root");
  graph.nodes_ = nodes->as_list();
  graph.is_new_ = !old_root;
  IROPT_ASSIGN_OR_RETURN(graph.root_, graph.Index(*root));
  return graph;
}

std::string_view ObjectGraph::TypeOf(size_t node) const {
  const OptionValue& object = (*nodes_)[node];
  const OptionValue* type = object.Find("type_key") ? object.Find("type_key") : object.Find("type");
  return type && type->as_string() ? ShortName(*type->as_string()) : std::string_view();
}

const OptionValue* ObjectGraph::Field(size_t node, std::string_view name) const {
  const OptionValue& object = (*nodes_)[node];
  const OptionValue* fields = object.Find("attrs") ? object.Find("attrs") : object.Find("data");
  return fields ? fields->Find(name) : nullptr;
}

Result<size_t> ObjectGraph::Index(const OptionValue& value) const {
  const std::optional<int64_t> number = IntegerOf(value);
  if (!number || *number < 0 || static_cast<size_t>(*number) >= nodes_->size())
    return GraphError("a reference to an object that does not exist");
  return static_cast<size_t>(*number);
}

Result<size_t> ObjectGraph::Child(size_t node, std::string_view field) const {
  const OptionValue* value = Field(node, field);
  if (!value) return GraphError(fmt::format("an object {} without the field '{}'", TypeOf(node), field));
  return Index(*value);
}

Result<std::optional<size_t>> ObjectGraph::OptionalChild(size_t node, std::string_view field) const {
  const OptionValue* value = Field(node, field);
  if (!value || value->is_null()) return std::optional<size_t>();
  IROPT_ASSIGN_OR_RETURN(const size_t child, Index(*value));
  return IsNull(child) ? std::optional<size_t>() : std::optional(child);
}

Result<int64_t> ObjectGraph::Integer(size_t node, std::string_view field) const {
  const OptionValue* value = Field(node, field);
  const std::optional<int64_t> number = value ? IntegerOf(*value) : std::nullopt;
  if (!number) return GraphError(fmt::format("an object {} whose field '{}' is not an integer", TypeOf(node), field));
  return *number;
}

Result<double> ObjectGraph::Real(size_t node, std::string_view field) const {
  const OptionValue* value = Field(node, field);
  const std::optional<double> number = value ? RealOf(*value) : std::nullopt;
  if (!number) return GraphError(fmt::format("an object {} whose field '{}' is not a number", TypeOf(node), field));
  return *number;
}

Result<DataType> ObjectGraph::DTypeOf(size_t node) const {
  const OptionValue* dtype = Field(node, "dtype");
  if (!dtype && Has(node, "ty")) {
    IROPT_ASSIGN_OR_RETURN(const size_t type, Child(node, "ty"));
    if (Is(type, "PointerType")) return DataType::Handle();
    dtype = Field(type, "dtype");
  }
  const auto parsed = dtype && dtype->as_string() ? DataType::Parse(*dtype->as_string()) : std::nullopt;
  if (!parsed) return GraphError("an expression without a dtype in an object graph");
  return *parsed;
}

const OptionValue::List* ObjectGraph::DataOf(size_t node) const {
  static const OptionValue::List no_items;
  const OptionValue* data = (*nodes_)[node].Find("data");
  return data ? data->as_list() : &no_items;
}

Result<std::vector<size_t>> ObjectGraph::Items(size_t node) const {
  const OptionValue::List* data = DataOf(node);
  if ((!Is(node, "Array") && !Is(node, "List")) || !data) return GraphError("expected an array in an object graph");
  std::vector<size_t> items;
  items.reserve(data->size());
  for (const OptionValue& item : *data) {
    IROPT_ASSIGN_OR_RETURN(const size_t child, Index(item));
    items.push_back(child);
  }
  return items;
}

Result<std::vector<size_t>> ObjectGraph::Items(size_t node, std::string_view field) const {
  IROPT_ASSIGN_OR_RETURN(const size_t child, Child(node, field));
  return Items(child);
}

Result<std::vector<std::pair<size_t, size_t>>> ObjectGraph::Entries(size_t node) const {
  const OptionValue::List* data = DataOf(node);
  if ((!Is(node, "Map") && !Is(node, "Dict")) || !data || data->size() % 2 != 0)
    return GraphError("expected a map in an object graph");
  std::vector<std::pair<size_t, size_t>> entries;
  for (size_t i = 0; i < data->size(); i += 2) {
    IROPT_ASSIGN_OR_RETURN(const size_t key, Index((*data)[i]));
    IROPT_ASSIGN_OR_RETURN(const size_t value, Index((*data)[i + 1]));
    entries.emplace_back(key, value);
  }
  return entries;
}

Result<std::vector<std::pair<std::string, size_t>>> ObjectGraph::NamedEntries(size_t node) const {
  std::vector<std::pair<std::string, size_t>> entries;
  const OptionValue* keys = (*nodes_)[node].Find("keys");
  if (!keys) {
    IROPT_ASSIGN_OR_RETURN(const auto pairs, Entries(node));
    for (const auto& [key, value] : pairs) {
      IROPT_ASSIGN_OR_RETURN(std::string name, Text(key));
      entries.emplace_back(std::move(name), value);
    }
    return entries;
  }
  const OptionValue::List* data = DataOf(node);
  if (!Is(node, "Map") || !keys->as_list() || !data || data->size() != keys->as_list()->size())
    return GraphError("expected a map in an object graph");
  for (size_t i = 0; i < data->size(); ++i) {
    const std::string* name = (*keys->as_list())[i].as_string();
    if (!name) return GraphError("expected a map from strings in an object graph");
    IROPT_ASSIGN_OR_RETURN(const size_t value, Index((*data)[i]));
    entries.emplace_back(*name, value);
  }
  return entries;
}

const OptionValue* ObjectGraph::Plain(size_t node) const {
  const OptionValue& object = (*nodes_)[node];
  return object.Find("repr_str") ? object.Find("repr_str") : object.Find("data");
}

Result<std::string> ObjectGraph::Text(size_t node) const {
  const OptionValue* text = Plain(node);
  // The empty string has no text.
  if (!text && Is(node, "String")) return std::string();
  if (!text || !text->as_string()) return GraphError("expected a string in an object graph");
  return *text->as_string();
}

Result<std::string> ObjectGraph::Text(size_t node, std::string_view field) const {
  IROPT_ASSIGN_OR_RETURN(const size_t child, Child(node, field));
  return Text(child);
}

}  // namespace iropt::schedule
