// Reading of pipeline files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "iropt/pass/pipeline.h"
#include "pipeline_text.h"
#include "reader.h"

namespace iropt {

namespace {

using Keys = std::initializer_list<std::string_view>;

class FileReader {
 public:
  explicit FileReader(DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {}

  std::optional<PipelineFile> Read(const OptionValue& root) {
    PipelineFile file;
    if (root.as_dict() == nullptr) {
      Misfit(root, "a pipeline file", "an object");
      return std::nullopt;
    }
    CheckKeys(root, "a pipeline file",
              {"opt_level", "disabled", "required", "config", "passes", "target", "instruments", "plugins", "version"});
    if (const OptionValue* level = root.Find("opt_level")) {
      file.opt_level = static_cast<int>(ReadInt(*level, "'opt_level'", 0, kMaxOptLevel));
    }
    if (const OptionValue* version = root.Find("version")) file.version = ReadVersion(*version);
    if (const OptionValue* names = root.Find("disabled")) file.disabled = ReadNames(*names, "'disabled'");
    if (const OptionValue* names = root.Find("plugins")) file.plugins = ReadNames(*names, "'plugins'");
    if (const OptionValue* names = root.Find("required")) file.required = ReadNames(*names, "'required'");
    if (const OptionValue* config = root.Find("config")) file.config = ReadConfig(*config);
    if (const OptionValue* passes = root.Find("passes")) file.passes = ReadPasses(*passes);
    if (const OptionValue* target = root.Find("target")) file.target = ReadTargetValue(*target);
    if (const OptionValue* instruments = root.Find("instruments")) file.instruments = ReadInstruments(*instruments);
    if (failed_) return std::nullopt;
    return file;
  }

  std::optional<std::vector<PhasePasses>> ReadPhases(const OptionValue& value, std::string_view what) {
    std::vector<PhasePasses> phases;
    for (const OptionValue& item : ReadList(value, what)) {
      const OptionValue::List* pair = item.as_list();
      if (pair == nullptr || pair->size() != 2) {
        Misfit(item, fmt::format("an element of {}", what), "[phase, passes]");
        continue;
      }
      const int64_t* phase = pair->front().as_int();
      if (phase == nullptr || *phase < 0) {
        Misfit(pair->front(), fmt::format("a phase of {}", what), "an integer that is not negative");
      }
      phases.push_back({phase == nullptr ? 0 : *phase, ReadPasses(OptionValue::List{pair->back()})});
    }
    if (failed_) return std::nullopt;
    return phases;
  }

 private:
  void Misfit(const OptionValue& value, std::string_view what, std::string_view expected) {
    failed_ = true;
    diagnostics_.Error(value.span(), "wrong-option-type", fmt::format("{} must be {}", what, expected));
  }

  void CheckKeys(const OptionValue& object, std::string_view what, Keys known) {
    for (const OptionValue::Entry& entry : *object.as_dict()) {
      if (std::ranges::find(known, entry.key) != known.end()) continue;
      failed_ = true;
      ReportUnknownName(fmt::format("{} has no key '{}'", what, entry.key), entry.key,
                        std::span(known.begin(), known.size()), "unknown-option", entry.key_span, diagnostics_);
    }
  }

  int64_t ReadInt(const OptionValue& value, std::string_view what, int64_t least, int64_t most) {
    const int64_t* number = value.as_int();
    if (number != nullptr && *number >= least && *number <= most) return *number;
    Misfit(value, what, fmt::format("an integer from {} to {}", least, most));
    return least;
  }

  std::string ReadName(const OptionValue& value, std::string_view what) {
    const std::string* name = value.as_string();
    if (name != nullptr && !name->empty()) return *name;
    Misfit(value, what, "a name in double quotes");
    return {};
  }

  const OptionValue::List& ReadList(const OptionValue& value, std::string_view what) {
    static const OptionValue::List none;
    if (const OptionValue::List* list = value.as_list()) return *list;
    Misfit(value, what, "a list");
    return none;
  }

  std::vector<LocatedName> ReadNames(const OptionValue& value, std::string_view what) {
    std::vector<LocatedName> names;
    for (const OptionValue& item : ReadList(value, what)) {
      names.push_back({ReadName(item, fmt::format("an element of {}", what)), item.span()});
    }
    return names;
  }

  std::optional<TextVersion> ReadVersion(const OptionValue& value) {
    const std::string* text = value.as_string();
    const std::optional<TextVersion> version = text ? ParseTextVersion(*text) : std::nullopt;
    if (!version) Misfit(value, "'version'", fmt::format("one of the strings {}", fmt::join(kTextVersions, ", ")));
    return version;
  }

  OptionValue::Dict ReadConfig(const OptionValue& value) {
    if (const OptionValue::Dict* config = value.as_dict()) return *config;
    Misfit(value, "'config'", "an object");
    return {};
  }

  OptionValue ReadTargetValue(const OptionValue& value) {
    const bool fits = value.as_string() != nullptr || value.as_dict() != nullptr || value.is_null();
    if (!fits) Misfit(value, "'target'", "a string or an object");
    return value;
  }

  Pipeline ReadPasses(const OptionValue& value) {
    if (value.as_string() != nullptr) return ReadPipelineString(value);
    Pipeline pipeline;
    for (const OptionValue& item : ReadList(value, "a list of passes")) {
      if (item.as_string() != nullptr && item.as_string()->empty()) {
        Misfit(item, "a pass", "a name or a pipeline, not an empty string");
      } else if (item.as_string() != nullptr) {
        std::ranges::move(ReadPipelineString(item), std::back_inserter(pipeline));
      } else if (item.as_dict() != nullptr) {
        pipeline.push_back(ReadItem(item));
      } else {
        Misfit(item, "a pass", "a string or an object");
      }
    }
    return pipeline;
  }

  Pipeline ReadPipelineString(const OptionValue& value) {
    std::optional<Pipeline> pipeline = ParseEmbeddedPipeline(*value.as_string(), value.span(), diagnostics_);
    if (!pipeline) failed_ = true;
    return std::move(pipeline).value_or(Pipeline());
  }

  PipelineItem ReadItem(const OptionValue& object) {
    PipelineItem item;
    item.span = object.span();
    if (object.Find("sequential") != nullptr) {
      ReadSequential(object, item);
    } else if (object.Find("fixpoint") != nullptr) {
      ReadRounds(object, PipelineItem::Kind::Fixpoint, "fixpoint", "max", item);
    } else if (object.Find("repeat") != nullptr) {
      ReadRounds(object, PipelineItem::Kind::Repeat, "repeat", "times", item);
    } else if (const OptionValue* name = object.Find("name")) {
      CheckKeys(object, "a pass", {"name", "options"});
      item.name = ReadName(*name, "the name of a pass");
      item.span = name->span();
      if (const OptionValue* options = object.Find("options")) item.options = ReadOptions(*options);
    } else {
      Misfit(object, "a pass", "an object with 'name', 'sequential', 'fixpoint' or 'repeat'");
    }
    return item;
  }

  OptionValue::Dict ReadOptions(const OptionValue& value) {
    if (const OptionValue::Dict* options = value.as_dict()) return *options;
    Misfit(value, "'options'", "an object");
    return {};
  }

  void ReadSequential(const OptionValue& object, PipelineItem& item) {
    CheckKeys(object, "a sequential", {"sequential", "name", "opt_level", "at_level"});
    item.kind = PipelineItem::Kind::Sequential;
    item.children = ReadPasses(*object.Find("sequential"));
    if (const OptionValue* name = object.Find("name")) item.name = ReadName(*name, "the name of a sequential");
    const auto read_level = [&](std::string_view key) -> std::optional<int> {
      const OptionValue* level = object.Find(key);
      if (level == nullptr) return std::nullopt;
      return static_cast<int>(ReadInt(*level, fmt::format("'{}'", key), 0, kMaxOptLevel));
    };
    item.opt_level = read_level("opt_level");
    item.at_level = read_level("at_level");
  }

  void ReadRounds(const OptionValue& object, PipelineItem::Kind kind, std::string_view key, std::string_view count_key,
                  PipelineItem& item) {
    CheckKeys(object, fmt::format("a {}", key), {key, count_key});
    item.kind = kind;
    item.children = ReadPasses(*object.Find(key));
    const OptionValue* count = object.Find(count_key);
    item.count = kDefaultFixpointRounds;
    if (count != nullptr) {
      item.count = static_cast<int>(ReadInt(*count, fmt::format("'{}'", count_key), 1, kMaxRounds));
    } else if (kind == PipelineItem::Kind::Repeat) {
      Misfit(object, "a repeat", "an object with 'times'");
    }
  }

  std::vector<InstrumentSpec> ReadInstruments(const OptionValue& value) {
    std::vector<InstrumentSpec> specs;
    for (const OptionValue& item : ReadList(value, "'instruments'")) {
      if (item.as_dict() == nullptr) {
        specs.push_back({ReadName(item, "an instrument"), {}, item.span()});
        continue;
      }
      const OptionValue* name = item.Find("name");
      if (name == nullptr) {
        Misfit(item, "an instrument", "an object with 'name'");
        continue;
      }
      InstrumentSpec& spec =
          specs.emplace_back(InstrumentSpec{ReadName(*name, "the name of an instrument"), {}, name->span()});
      std::ranges::copy_if(*item.as_dict(), std::back_inserter(spec.options),
                           [](const OptionValue::Entry& entry) { return entry.key != "name"; });
    }
    return specs;
  }

  DiagnosticEngine& diagnostics_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::vector<PhasePasses>> ReadPhases(const OptionValue& value, std::string_view what,
                                                   DiagnosticEngine& diagnostics) {
  return FileReader(diagnostics).ReadPhases(value, what);
}

std::optional<PipelineFile> ParsePipelineFile(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics) {
  // Editors of Windows begin UTF-8 with a byte order mark.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
    base += static_cast<uint32_t>(kByteOrderMark.size());
  }
  Reader reader(text, base, Reader::Words::Json, diagnostics);
  const std::optional<OptionValue> root = reader.ReadValue();
  if (root && !reader.failed() && !reader.AtEnd()) reader.Error("expected the end of the file");
  if (!root || reader.failed()) return std::nullopt;
  return FileReader(diagnostics).Read(*root);
}

}  // namespace iropt
