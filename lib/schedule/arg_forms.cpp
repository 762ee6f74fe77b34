#include "iropt/schedule/arg_forms.h"

namespace iropt::schedule {

namespace {

template <class T, class F>
Value ListOf(const std::vector<T>& items, F make) {
  Value::List list;
  list.reserve(items.size());
  for (const T& item : items) list.push_back(make(item));
  return Value{std::move(list)};
}

}  // namespace

Annotation::Annotation(const std::vector<int64_t>& numbers) : value(ToValue(numbers)) {}

Value ToValue(const Name& name) { return Value{Value::Name{name}}; }
Value ToValue(const Names& names) {
  return ListOf(names, [](const Name& name) { return ToValue(name); });
}
Value ToValue(const std::variant<Name, Names>& target) {
  return std::visit([](const auto& value) { return ToValue(value); }, target);
}
Value ToValue(const Factors& factors) {
  return ListOf(factors, [](const std::optional<int64_t>& factor) { return factor ? Value{*factor} : Value{}; });
}
Value ToValue(int64_t number) { return Value{number}; }
Value ToValue(bool flag) { return Value{flag}; }
Value ToValue(std::string_view text) { return Value{std::string(text)}; }
Value ToValue(const std::vector<int64_t>& numbers) {
  return ListOf(numbers, [](int64_t number) { return Value{number}; });
}
Value ToValue(const std::vector<double>& numbers) {
  return ListOf(numbers, [](double number) { return Value{number}; });
}
Value ToValue(const IndexMapAttr* map) { return map ? Value{map} : Value{}; }
Value ToValue(Side side) { return Value{static_cast<int64_t>(side)}; }
Value ToValue(const Annotation& annotation) { return annotation.value; }

}  // namespace iropt::schedule
