#include "rule_values.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>
#include <utility>

namespace iropt {

namespace {

constexpr size_t kMostChoices = 4096;

using Words = std::vector<std::pair<std::string, std::string>>;

bool IsPartOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string WithWords(std::string_view text, const Words& words) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsPartOfWord(text[end])) ++end;
    std::string_view part = text.substr(i, std::max<size_t>(end - i, 1));
    i += part.size();
    for (const auto& [word, value] : words) {
      if (part == word) {
        part = value;
        break;
      }
    }
    result += part;
  }
  return result;
}

OptionValue Replaced(const OptionValue& value, const Words& words) {
  OptionValue result = value;
  if (const std::string* text = value.as_string()) result = OptionValue(WithWords(*text, words));
  if (OptionValue::List* list = result.as_list()) {
    for (OptionValue& item : *list) item = Replaced(item, words);
  }
  if (auto* entries = result.as_dict()) {
    for (OptionValue::Entry& entry : *entries) entry.value = Replaced(entry.value, words);
  }
  result.set_span(value.span());
  return result;
}

std::vector<std::string> NamesIn(std::string_view key) {
  std::vector<std::string> names(1);
  for (const char c : key) {
    if (c == ',') names.emplace_back();
    if (IsPartOfWord(c)) names.back() += c;
  }
  return names;
}

std::optional<std::string> TextOf(const OptionValue& value) {
  if (const std::string* text = value.as_string()) return *text;
  if (const int64_t* number = value.as_int()) return fmt::format("{}", *number);
  return std::nullopt;
}

// The words of one choice for these names; nothing if it has another form.
std::optional<Words> WordsOf(const std::vector<std::string>& names, const OptionValue& choice) {
  const OptionValue::List* list = choice.as_list();
  if (names.size() > 1 && (!list || list->size() != names.size())) return std::nullopt;
  Words words;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto text = TextOf(names.size() > 1 ? (*list)[i] : choice);
    if (!text) return std::nullopt;
    words.emplace_back(names[i], *text);
  }
  return words;
}

}  // namespace

std::optional<std::vector<RuleWithValues>> ChooseValues(const OptionValue& description, std::string& problem) {
  const OptionValue* values = description.Find("values");
  if (values == nullptr) return std::vector<RuleWithValues>{{description}};
  problem = "'values' must be an object of lists of strings and integers";
  if (!values->is_dict()) return std::nullopt;
  std::vector<Words> choices(1);
  for (const OptionValue::Entry& entry : values->entries()) {
    const OptionValue::List* list = entry.value.as_list();
    if (list == nullptr || list->empty()) return std::nullopt;
    const std::vector<std::string> names = NamesIn(entry.key);
    std::vector<Words> longer;
    for (const Words& before : choices) {
      for (const OptionValue& choice : *list) {
        const auto words = WordsOf(names, choice);
        if (!words) return std::nullopt;
        longer.push_back(before);
        longer.back().insert(longer.back().end(), words->begin(), words->end());
      }
    }
    choices = std::move(longer);
    if (choices.size() > kMostChoices) {
      problem = fmt::format("'values' has more than {} choices", kMostChoices);
      return std::nullopt;
    }
  }
  std::vector<RuleWithValues> rules;
  for (Words& words : choices) {
    for (auto& [name, value] : words) value = WithWords(value, words);
    std::vector<OptionValue::Entry> entries;
    for (const OptionValue::Entry& entry : description.entries()) {
      if (entry.key == "values") continue;
      entries.push_back(entry);
      if (entry.key != "name") entries.back().value = Replaced(entry.value, words);
    }
    RuleWithValues& rule = rules.emplace_back(RuleWithValues{OptionValue(std::move(entries))});
    rule.description.set_span(description.span());
    for (const auto& [name, value] : words)
      rule.values += fmt::format("{}{}={}", rule.values.empty() ? "" : ", ", name, value);
  }
  return rules;
}

}  // namespace iropt
