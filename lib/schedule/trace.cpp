// Traces in memory: defaults of arguments, the form of a text, and traces without what is not used.
#include "iropt/schedule/trace.h"

#include <algorithm>

#include "iropt/support/lookup.h"

namespace iropt::schedule {

Value DefaultOf(const Param& param) {
  const std::string_view text = param.default_value;
  if (text == "True" || text == "False") return Value{text == "True"};
  if (text == "None") return Value{};
  if (text == "[]") return Value{Value::List{}};
  if (text.starts_with('\'')) return Value{std::string(text.substr(1, text.size() - 2))};
  return Value{int64_t{std::stoll(std::string(text))}};
}

Result<Trace> ReadTrace(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[' ? ReadTraceJson(text) : ReadTracePython(text);
}

Trace Simplify(const Trace& trace) {
  LookupSet<std::string> used;
  const auto use = [&](const Value& value, auto&& self) -> void {
    if (const auto* name = value.As<Value::Name>()) used.insert(name->text);
    if (const auto* list = value.As<Value::List>()) {
      for (const Value& item : *list) self(item, self);
    }
  };
  std::vector<Instruction> kept;
  for (auto i = trace.instructions.rbegin(); i != trace.instructions.rend(); ++i) {
    const auto is_used = [&](const std::string& result) { return used.contains(result); };
    if (i->primitive->is_pure && std::ranges::none_of(i->results, is_used)) continue;
    for (const Value& arg : i->args) use(arg, use);
    kept.push_back(*i);
  }
  std::ranges::reverse(kept);
  return {std::move(kept)};
}

}  // namespace iropt::schedule
