#include "pipeline_completion.h"

#include <algorithm>
#include <string_view>

#include "iropt/driver/catalog.h"
#include "iropt/support/text_version.h"

namespace iropt::lsp {

namespace {

// An object or a list that is open at the cursor.
struct Container {
  bool is_object = false;
  std::string_view key;   // that it is the value of in the object around it
  std::string_view name;  // of an object: its member "name"
  std::string_view last_key = {};
  bool at_value = false;  // after the ':' of the last key

  // Of what begins now.
  std::string_view KeyHere() const { return is_object ? last_key : std::string_view(); }
};

// The position of the cursor in a JSON text; the text before it may be malformed.
class JsonCursor {
 public:
  JsonCursor(std::string_view text, uint32_t offset) {
    for (size_t i = 0; i < offset; ++i) {
      switch (text[i]) {
        case '"': {
          size_t end = i + 1;
          while (end < offset && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
          if (end >= offset) {
            in_string_ = true;
            begin_ = static_cast<uint32_t>(i + 1);
            return;
          }
          String(text.substr(i + 1, end - i - 1));
          i = end;
          break;
        }
        case '{':
        case '[': Open(text[i] == '{'); break;
        case '}':
        case ']':
          if (!open_.empty()) open_.pop_back();
          break;
        case ':':
          if (!open_.empty()) open_.back().at_value = true;
          break;
        case ',':
          if (!open_.empty()) open_.back().at_value = false;
          break;
        default: break;
      }
    }
  }

  bool in_string() const { return in_string_; }
  uint32_t begin() const { return begin_; }
  size_t depth() const { return open_.size(); }
  // The containers around the cursor, innermost first.
  const Container* around(size_t level) const {
    return level < open_.size() ? &open_[open_.size() - 1 - level] : nullptr;
  }
  bool at_key() const { return !open_.empty() && open_.back().is_object && !open_.back().at_value; }

 private:
  void Open(bool is_object) {
    const std::string_view key = open_.empty() ? std::string_view() : open_.back().KeyHere();
    Container& container = open_.emplace_back();
    container.is_object = is_object;
    container.key = key;
  }

  void String(std::string_view text) {
    if (open_.empty() || !open_.back().is_object) return;
    Container& object = open_.back();
    if (!object.at_value) {
      object.last_key = text;
    } else if (object.last_key == "name") {
      object.name = text;
    }
  }

  std::vector<Container> open_;
  bool in_string_ = false;
  uint32_t begin_ = 0;
};

std::vector<PipelineWord> Words(std::initializer_list<std::string_view> words) {
  std::vector<PipelineWord> result;
  for (const std::string_view word : words) result.push_back({std::string(word)});
  return result;
}

std::vector<PipelineWord> PassWords(const PassRegistry& registry, bool with_pipelines) {
  std::vector<PipelineWord> words;
  for (const auto& [name, pass] : registry.passes()) words.push_back({name, pass.summary});
  for (const std::string& name : with_pipelines ? PipelineNames(registry) : std::vector<std::string>())
    words.push_back({name, "pipeline"});
  return words;
}

std::vector<PipelineWord> OptionWords(const PassRegistry& registry, std::string_view pass) {
  std::vector<PipelineWord> words;
  if (const PassEntry* entry = registry.Find(pass)) {
    for (const OptionSpec& option : entry->options) words.push_back({option.name, option.summary});
  }
  return words;
}

bool HoldsPasses(std::string_view key) {
  return key == "passes" || key == "sequential" || key == "fixpoint" || key == "repeat";
}

std::vector<PipelineWord> Keys(const JsonCursor& cursor, const PassRegistry& registry) {
  const Container& object = *cursor.around(0);
  const Container* outer = cursor.around(1);
  if (cursor.depth() == 1)
    return Words(
        {"opt_level", "disabled", "required", "config", "passes", "target", "instruments", "plugins", "version"});
  if (object.key == "config") {
    std::vector<PipelineWord> words;
    for (const auto& [key, spec] : registry.configs()) words.push_back({key, spec.summary});
    return words;
  }
  if (object.key == "options" && outer) return OptionWords(registry, outer->name);
  if (outer && HoldsPasses(outer->key))
    return Words({"name", "options", "sequential", "opt_level", "at_level", "fixpoint", "max", "repeat", "times"});
  return outer && outer->key == "instruments" ? Words({"name"}) : std::vector<PipelineWord>();
}

std::vector<PipelineWord> Values(const JsonCursor& cursor, const PassRegistry& registry) {
  const Container* here = cursor.around(0);
  const Container* outer = cursor.around(1);
  if (!here) return {};
  const std::string_view key = here->is_object ? here->last_key : here->key;
  if (!here->is_object && HoldsPasses(key)) return PassWords(registry, true);
  if (key == "disabled" || key == "required") return PassWords(registry, false);
  if (key == "passes") return PassWords(registry, true);
  const bool is_instrument = key == "instruments" || (key == "name" && outer && outer->key == "instruments");
  if (is_instrument) {
    std::vector<PipelineWord> words;
    for (const CatalogEntry& entry : Instruments(registry)) words.push_back({entry.name, entry.summary});
    return words;
  }
  if (key == "name") return PassWords(registry, false);
  std::vector<PipelineWord> words;
  for (const std::string_view version : kTextVersions) {
    if (key == "version") words.push_back({std::string(version)});
  }
  return words;
}

}  // namespace

std::vector<PipelineWord> CompletePipeline(const TextDocument& text, uint32_t offset, const PassRegistry& registry,
                                           TextSpan& replaced) {
  const JsonCursor cursor(text.text(), offset);
  if (!cursor.in_string()) return {};
  replaced = {cursor.begin(), offset};
  return cursor.at_key() ? Keys(cursor, registry) : Values(cursor, registry);
}

}  // namespace iropt::lsp
