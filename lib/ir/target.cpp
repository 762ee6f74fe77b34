// Reading targets. Source: src/target/target.cc and target/parsers of TVM 0.18.
#include "iropt/ir/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "iropt/support/edit_distance.h"

namespace iropt {

namespace {

constexpr char kQuote = '\'';
constexpr char kEscape = '\\';

// Range of a part of the text.
struct Range {
  size_t begin;
  size_t end;

  std::string_view In(std::string_view text) const { return text.substr(begin, end - begin); }
};

// Calls `each` with the parts of the range between separators that are not quoted; empty parts are left out. Returns
// whether every quote is closed.
template <class F>
bool SplitAt(char separator, std::string_view text, Range range, F&& each) {
  size_t begin = range.begin;
  bool quoted = false;
  for (size_t i = range.begin; i < range.end; ++i) {
    if (text[i] == kEscape) {
      ++i;
    } else if (text[i] == kQuote) {
      quoted = !quoted;
    } else if (text[i] == separator && !quoted) {
      if (begin < i) each(Range{begin, i});
      begin = i + 1;
    }
  }
  if (begin < range.end) each(Range{begin, range.end});
  return !quoted;
}

// Returns whether the only quotes that are not escaped are the first and the last byte.
bool IsQuoted(std::string_view text) {
  if (text.size() < 2 || text.front() != kQuote || text.back() != kQuote) return false;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == kQuote) return false;
    if (text[i] == kEscape && ++i + 1 >= text.size()) return false;  // the last quote is escaped
  }
  return true;
}

// The text without the quotes around it, and without the escapes that are not between further quotes.
std::string Unquote(std::string_view text) {
  if (IsQuoted(text)) text = text.substr(1, text.size() - 2);
  std::string result;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kEscape && i + 1 < text.size()) {
      if (quoted) result += kEscape;
      result += text[++i];
      continue;
    }
    if (text[i] == kQuote) quoted = !quoted;
    result += text[i];
  }
  return result;
}

std::optional<int64_t> ToInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> ToBool(std::string_view text) {
  if (text == "1" || text == "true" || text == "True") return true;
  if (text == "0" || text == "false" || text == "False") return false;
  return std::nullopt;
}

std::string_view NameOf(TargetOptionType type) {
  switch (type) {
    case TargetOptionType::Bool: return "true or false";
    case TargetOptionType::Int: return "an integer";
    case TargetOptionType::String: return "a string";
    case TargetOptionType::Strings: return "a list of strings";
    case TargetOptionType::Target: return "a target";
    case TargetOptionType::Targets: return "a list of targets";
  }
  return {};
}

const TargetOption* FindIn(std::span<const TargetOption> options, std::string_view name) {
  const auto at = std::ranges::find(options, name, &TargetOption::name);
  return at != options.end() ? &*at : nullptr;
}

const TargetOption* FindOption(const TargetKind& kind, std::string_view name) {
  const TargetOption* own = FindIn(kind.options, name);
  return own ? own : FindIn(CommonTargetOptions(), name);
}

std::vector<std::string_view> KindsAndTags() {
  std::vector<std::string_view> names;
  for (const TargetKind& kind : TargetKinds()) names.push_back(kind.name);
  for (const TargetTag& tag : TargetTags()) names.push_back(tag.name);
  return names;
}

std::string DescribeUnknownTarget(std::string_view name) {
  const std::string meant = DidYouMean(name, KindsAndTags());
  return fmt::format("unknown target '{}'{}", name,
                     meant.empty() ? ": expected a kind, such as llvm, c or cuda, or a tag" : meant);
}

std::string UnknownOption(const TargetKind& kind, std::string_view name) {
  std::vector<std::string_view> names;
  for (const TargetOption& option : kind.options) names.push_back(option.name);
  for (const TargetOption& option : CommonTargetOptions()) names.push_back(option.name);
  return fmt::format("targets of the kind '{}' have no option '{}'{}", kind.name, name, DidYouMean(name, names));
}

// A target in the form of options.
class OptionReader {
 public:
  OptionReader(std::string_view text, TargetErrors errors) : text_(text), errors_(errors) {}

  // Null after an error.
  const DictAttr* Read() {
    std::vector<Range> words;
    if (!SplitAt(' ', text_, {0, text_.size()}, [&](Range word) { words.push_back(word); }))
      return Fail({0, text_.size()}, "a quote is not closed");
    if (words.empty()) return Fail({0, text_.size()}, "a target begins with its kind, such as 'llvm'");
    const std::string_view name = words[0].In(text_);
    kind_ = FindTargetKind(name);
    if (!kind_) return Fail(words[0], DescribeUnknownTarget(name));
    entries_.emplace_back("kind", StrAttr::Get(name));
    for (size_t i = 1; i < words.size(); ++i) {
      const bool has_next = i + 1 < words.size() && text_[words[i + 1].begin] != '-';
      bool used_next = false;
      if (!ReadOption(words[i], has_next ? &words[i + 1] : nullptr, used_next)) return nullptr;
      if (used_next) ++i;
    }
    return DictAttr::Get(entries_);
  }

 private:
  std::nullptr_t Fail(Range at, std::string message) {
    errors_(at.begin, at.end, std::move(message));
    return nullptr;
  }

  // "-name=value", "-name value", or "-name" alone.
  bool ReadOption(Range word, const Range* next, bool& used_next) {
    const std::string_view text = word.In(text_);
    const size_t dashes = std::min(text.find_first_not_of('-'), text.size());
    if (dashes == 0 || dashes == text.size())
      return Fail(word, fmt::format("expected an option such as '-mcpu=skylake', not '{}'", text)) != nullptr;
    const size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(dashes, equals - dashes);
    const TargetOption* option = FindOption(*kind_, name);
    if (!option) return Fail(word, UnknownOption(*kind_, name)) != nullptr;
    const auto same = [&](const DictAttr::Entry& entry) { return entry.first == name; };
    if (std::ranges::any_of(entries_, same))
      return Fail(word, fmt::format("the option '{}' is given twice", name)) != nullptr;
    Range value = {word.begin + std::min(equals + 1, text.size()), word.end};
    std::string_view value_text = value.In(text_);
    if (equals == text.size() && next) {
      used_next = true;
      value = *next;
      value_text = value.In(text_);
    } else if (equals == text.size()) {
      value = word;
      value_text = "1";
    } else if (value_text.empty()) {
      return Fail(word, fmt::format("the option '{}' needs a value", name)) != nullptr;
    }
    const Attr* attr = ReadValue(value_text, value, *option);
    if (attr) entries_.emplace_back(name, attr);
    return attr != nullptr;
  }

  const Attr* ReadValue(std::string_view raw, Range at, const TargetOption& option) {
    const std::string text = Unquote(raw);
    switch (option.type) {
      case TargetOptionType::Bool:
        if (const std::optional<bool> value = ToBool(text)) return IntAttr::Bool(*value);
        break;
      case TargetOptionType::Int:
        if (const std::optional<int64_t> value = ToInteger(text)) return IntAttr::Get(*value);
        break;
      case TargetOptionType::String: {
        const size_t begin = std::min(text.find_first_not_of(' '), text.size());
        return StrAttr::Get(std::string_view(text).substr(begin, text.find_last_not_of(' ') + 1 - begin));
      }
      case TargetOptionType::Strings: return ReadList(text, at, {option.name, TargetOptionType::String});
      case TargetOptionType::Targets: return ReadList(text, at, {option.name, TargetOptionType::Target});
      case TargetOptionType::Target: {
        const TargetAttr* target = ParseTarget(
            text, [&](size_t, size_t, std::string message) { errors_(at.begin, at.end, std::move(message)); });
        return target ? target->config : nullptr;
      }
    }
    return Fail(at, fmt::format("the option '{}' is {}, not '{}'", option.name, NameOf(option.type), text));
  }

  const Attr* ReadList(std::string_view text, Range at, const TargetOption& item) {
    std::vector<const Attr*> items;
    bool ok = true;
    const bool closed = SplitAt(',', text, {0, text.size()}, [&](Range part) {
      const Attr* attr = ok ? ReadValue(part.In(text), at, item) : nullptr;
      ok = attr != nullptr;
      if (ok) items.push_back(attr);
    });
    if (!closed) return Fail(at, "a quote is not closed");
    return ok ? ListAttr::Get(items) : nullptr;
  }

  const std::string_view text_;
  const TargetErrors errors_;
  const TargetKind* kind_ = nullptr;
  std::vector<DictAttr::Entry> entries_;
};

const Attr* DefaultOf(const TargetOption& option) {
  switch (option.type) {
    case TargetOptionType::Bool: return IntAttr::Bool(*ToBool(option.default_value));
    case TargetOptionType::Int: return IntAttr::Get(*ToInteger(option.default_value));
    default: return StrAttr::Get(option.default_value);
  }
}

std::string_view StringOf(const DictAttr& config, std::string_view name) {
  const auto* text = As<StrAttr>(config.Find(name));
  return text ? text->value : std::string_view();
}

// Processors of Arm, by the names of LLVM.
bool IsArm(const DictAttr& config) {
  constexpr std::string_view kMicrocontrollers[] = {"cortex-m0",  "cortex-m3",   "cortex-m4",  "cortex-m7",
                                                    "cortex-m33", "cortex-m35p", "cortex-m55", "cortex-m85"};
  const std::string_view cpu = StringOf(config, "mcpu");
  const std::string_view triple = StringOf(config, "mtriple");
  const auto is_cpu = [&](std::string_view prefix) { return cpu.starts_with(prefix); };
  if (std::ranges::any_of(kMicrocontrollers, is_cpu)) return true;
  return triple.starts_with("aarch64") || (triple.starts_with("arm") && !cpu.starts_with("cortex-m"));
}

// The given keys, or else those of the device and of the kind.
const Attr* KeysOf(const DictAttr& config, const TargetKind* kind) {
  std::vector<const Attr*> keys;
  const auto add = [&](const Attr* key) {
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  };
  const auto* given = As<ListAttr>(config.Find("keys"));
  if (given) {
    for (const Attr* key : given->values) add(key);
  }
  const bool arm = (StringOf(config, "kind") == "llvm" || StringOf(config, "kind") == "c") && IsArm(config);
  if (arm) {
    add(StrAttr::Get("arm_cpu"));
    add(StrAttr::Get("cpu"));
  }
  if (const auto* device = As<StrAttr>(config.Find("device"))) add(device);
  if (!given && !arm && kind) {
    for (const std::string_view key : kind->keys) add(StrAttr::Get(key));
  }
  return ListAttr::Get(keys);
}

}  // namespace

const TargetAttr* TargetFromDict(const DictAttr* config, TargetErrors errors) {
  const auto* name = As<StrAttr>(config->Find("kind"));
  if (!name || name->value.empty()) return errors(0, 0, "a target needs a \"kind\""), nullptr;
  const TargetKind* kind = FindTargetKind(name->value);
  const DictAttr* result = config->With("keys", KeysOf(*config, kind));
  if (!config->Find("tag")) result = result->With("tag", StrAttr::Get(""));
  if (const Attr* host = config->Find("host")) {
    const auto* nested = As<TargetAttr>(host);
    const auto* dict = nested ? nested->config : As<DictAttr>(host);
    const auto* text = As<StrAttr>(host);
    const auto report = [&](size_t, size_t, const std::string& message) { errors(0, 0, message); };
    const TargetAttr* target = dict ? TargetFromDict(dict, errors) : text ? ParseTarget(text->value, report) : nullptr;
    if (!dict && !text) errors(0, 0, "the host of a target must be a target");
    if (!target) return nullptr;
    result = result->With("host", target->config);
  }
  for (uint32_t i = 0; kind && i < config->size(); ++i) {
    const TargetOption* option = FindOption(*kind, config->keys[i]);
    const auto* value = As<IntAttr>(config->values[i]);
    // The text form of a module writes truth values as numbers, too.
    if (option && value && option->type == TargetOptionType::Bool)
      result = result->With(config->keys[i], IntAttr::Bool(value->value != 0));
  }
  if (!kind) return TargetAttr::Get(result);
  for (const TargetOption& option : kind->options) {
    if (!option.default_value.empty() && !config->Find(option.name))
      result = result->With(option.name, DefaultOf(option));
  }
  return TargetAttr::Get(result);
}

const TargetAttr* ParseTarget(std::string_view text, TargetErrors errors) {
  const std::span<const TargetTag> tags = TargetTags();
  const auto tag = std::ranges::lower_bound(tags, text, {}, &TargetTag::name);
  if (tag != tags.end() && tag->name == text) return ParseTarget(tag->target, errors);
  const DictAttr* config = OptionReader(text, errors).Read();
  return config ? TargetFromDict(config, errors) : nullptr;
}

std::string_view TargetKindOf(const TargetAttr* target) {
  return target ? StringOf(*target->config, "kind") : std::string_view();
}

}  // namespace iropt
