// Printing of pipelines as strings and as files.
#include <fmt/format.h>

#include "iropt/pass/pipeline.h"
#include "iropt/support/check.h"
#include "pipeline_text.h"

namespace iropt {

namespace {

std::string Quoted(const std::string& text) { return ToJson(OptionValue(text)); }

std::string OptionsText(const OptionValue::Dict& options) {
  std::string text;
  for (const OptionValue::Entry& option : options) {
    const std::string key = IsWord(option.key) ? option.key : Quoted(option.key);
    text += fmt::format("{}{}={}", text.empty() ? "<" : ";", key, ToString(option.value));
  }
  return text.empty() ? text : text + '>';
}

std::string SequentialOptions(const PipelineItem& item) {
  OptionValue::Dict options;
  if (!item.name.empty()) options.push_back({"name", item.name, {}});
  if (item.opt_level) options.push_back({"opt_level", *item.opt_level, {}});
  if (item.at_level) options.push_back({"at_level", *item.at_level, {}});
  return OptionsText(options);
}

std::string PrintItem(const PipelineItem& item) {
  const auto children = [&] { return fmt::format("({})", PrintPipeline(item.children)); };
  switch (item.kind) {
    case PipelineItem::Kind::Pass:
      return (IsBareName(item.name) ? item.name : Quoted(item.name)) + OptionsText(item.options);
    case PipelineItem::Kind::Sequential: return "Sequential" + SequentialOptions(item) + children();
    case PipelineItem::Kind::Fixpoint: return fmt::format("fixpoint<{}>", item.count) + children();
    case PipelineItem::Kind::Repeat: return fmt::format("repeat<{}>", item.count) + children();
    case PipelineItem::Kind::Named: return fmt::format("{}<O{}>", item.name, item.count);
  }
  IROPT_UNREACHABLE("pipeline item {}", item.kind);
}

// A string in a file is itself a pipeline string, so names that need quotes are written as objects.
std::string PassJson(const PipelineItem& item) {
  if (item.options.empty() && IsBareName(item.name)) return Quoted(item.name);
  const std::string name = fmt::format("{{\"name\": {}", Quoted(item.name));
  return item.options.empty() ? name + '}' : fmt::format("{}, \"options\": {}}}", name, ToJson(item.options));
}

std::string SequentialJson(const PipelineItem& item) {
  std::string text = fmt::format("{{\"sequential\": {}", PrintPipelineJson(item.children));
  if (!item.name.empty()) text += fmt::format(", \"name\": {}", Quoted(item.name));
  if (item.opt_level) text += fmt::format(", \"opt_level\": {}", *item.opt_level);
  if (item.at_level) text += fmt::format(", \"at_level\": {}", *item.at_level);
  return text + '}';
}

std::string ItemJson(const PipelineItem& item) {
  const auto rounds = [&](std::string_view key, std::string_view count) {
    return fmt::format("{{\"{}\": {}, \"{}\": {}}}", key, PrintPipelineJson(item.children), count, item.count);
  };
  switch (item.kind) {
    case PipelineItem::Kind::Pass: return PassJson(item);
    case PipelineItem::Kind::Sequential: return SequentialJson(item);
    case PipelineItem::Kind::Fixpoint: return rounds("fixpoint", "max");
    case PipelineItem::Kind::Repeat: return rounds("repeat", "times");
    case PipelineItem::Kind::Named: return Quoted(PrintItem(item));
  }
  IROPT_UNREACHABLE("pipeline item {}", item.kind);
}

std::string InstrumentJson(const InstrumentSpec& spec) {
  if (spec.options.empty()) return Quoted(spec.name);
  OptionValue::Dict object{{"name", spec.name, {}}};
  object.insert(object.end(), spec.options.begin(), spec.options.end());
  return ToJson(std::move(object));
}

// A list with each item on a line of its own.
template <class T, class F>
std::string Lines(const std::vector<T>& items, F&& print) {
  std::string text;
  for (const T& item : items) text += fmt::format("{}\n    {}", text.empty() ? "[" : ",", print(item));
  return text.empty() ? "[]" : text + "\n  ]";
}

OptionValue NameList(const std::vector<LocatedName>& names) {
  OptionValue::List list;
  for (const LocatedName& name : names) list.emplace_back(name.name);
  return list;
}

}  // namespace

std::string PrintPipeline(const Pipeline& pipeline) {
  std::string text;
  for (const PipelineItem& item : pipeline) {
    if (!text.empty()) text += ',';
    text += PrintItem(item);
  }
  return text;
}

std::string PrintPipelineJson(const Pipeline& pipeline) {
  std::string text = "[";
  for (const PipelineItem& item : pipeline) {
    if (text.size() > 1) text += ", ";
    text += ItemJson(item);
  }
  return text + ']';
}

std::string PrintPipelineFile(const PipelineFile& file) {
  std::string text;
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format("{}\n  \"{}\": {}", text.empty() ? "{" : ",", key, value);
  };
  if (!file.plugins.empty()) add("plugins", ToJson(NameList(file.plugins)));
  if (file.version) add("version", fmt::format("\"{}\"", ToString(*file.version)));
  if (file.opt_level) add("opt_level", std::to_string(*file.opt_level));
  if (!file.disabled.empty()) add("disabled", ToJson(NameList(file.disabled)));
  if (!file.required.empty()) add("required", ToJson(NameList(file.required)));
  if (!file.config.empty()) add("config", ToJson(file.config));
  if (!file.target.is_null()) add("target", ToJson(file.target));
  if (file.passes) add("passes", Lines(*file.passes, ItemJson));
  if (!file.instruments.empty()) add("instruments", Lines(file.instruments, InstrumentJson));
  return text.empty() ? "{}\n" : text + "\n}\n";
}

}  // namespace iropt
