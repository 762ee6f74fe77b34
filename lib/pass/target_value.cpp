#include "iropt/pass/target_value.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace iropt {

namespace {

// Null for what no option of a target can be.
const Attr* ToAttr(const OptionValue& value) {
  if (const bool* truth = value.as_bool()) return IntAttr::Bool(*truth);
  if (const int64_t* number = value.as_int()) return IntAttr::Get(*number);
  if (const std::string* text = value.as_string()) return StrAttr::Get(*text);
  if (const OptionValue::List* list = value.as_list()) {
    std::vector<const Attr*> items;
    for (const OptionValue& item : *list) items.push_back(ToAttr(item));
    return std::ranges::find(items, nullptr) == items.end() ? ListAttr::Get(items) : nullptr;
  }
  const OptionValue::Dict* dict = value.as_dict();
  if (dict == nullptr) return nullptr;
  std::vector<DictAttr::Entry> entries;
  for (const OptionValue::Entry& entry : *dict) {
    const Attr* attr = ToAttr(entry.value);
    if (attr == nullptr) return nullptr;
    entries.emplace_back(entry.key, attr);
  }
  return DictAttr::Get(entries);
}

const TargetAttr* ReadObject(const OptionValue& value, SourceSpan span, DiagnosticEngine& diagnostics) {
  const auto* config = value.as_dict() ? As<DictAttr>(ToAttr(value)) : nullptr;
  if (config == nullptr) {
    diagnostics.Error(span, "wrong-option-type",
                      R"(a target must be a string, such as "llvm -mcpu=skylake", or an object)");
    return nullptr;
  }
  return TargetFromDict(
      config, [&](size_t, size_t, std::string message) { diagnostics.Error(span, "bad-target", std::move(message)); });
}

}  // namespace

const TargetAttr* ReadTarget(const OptionValue& value, DiagnosticEngine& diagnostics) {
  const SourceSpan span = value.span();
  const std::string* text = value.as_string();
  if (text == nullptr) return ReadObject(value, span, diagnostics);
  if (text->starts_with('{')) {
    const std::optional<OptionValue> object = ReadOptionValue(*text, span, diagnostics);
    return object ? ReadObject(*object, span, diagnostics) : nullptr;
  }
  return ParseTarget(*text, [&](size_t begin, size_t end, std::string message) {
    SourceSpan place = span;
    if (span.known() && span.end - span.begin == text->size()) {
      place = {span.begin + static_cast<uint32_t>(begin), span.begin + static_cast<uint32_t>(end)};
    }
    diagnostics.Error(place, "bad-target", std::move(message));
  });
}

}  // namespace iropt
