// The list of targets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "iropt/driver/catalog.h"
#include "iropt/ir/target.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

std::string_view TypeWord(TargetOptionType type) {
  switch (type) {
    case TargetOptionType::Bool: return "bool";
    case TargetOptionType::Int: return "int";
    case TargetOptionType::String: return "string";
    case TargetOptionType::Strings: return "string list";
    case TargetOptionType::Target: return "target";
    case TargetOptionType::Targets: return "target list";
  }
  IROPT_UNREACHABLE("type of a target's option {}", type);
}

std::string RenderOptions(std::span<const TargetOption> options) {
  std::string out;
  for (const TargetOption& option : options) {
    const std::string name = option.default_value.empty() ? std::string(option.name)
                                                          : fmt::format("{}={}", option.name, option.default_value);
    out += fmt::format("    -{:<42}  {}\n", name, TypeWord(option.type));
  }
  return out;
}

Json OptionsJson(std::span<const TargetOption> options) {
  Json list = Json::array();
  for (const TargetOption& option : options) {
    list.push_back({{"name", option.name}, {"type", TypeWord(option.type)}});
    if (!option.default_value.empty()) list.back()["default"] = option.default_value;
  }
  return list;
}

}  // namespace

std::string RenderTargets() {
  std::string out = "kinds, with the options of each; every kind also has these:\n";
  out += RenderOptions(CommonTargetOptions());
  for (const TargetKind& kind : TargetKinds()) {
    out += fmt::format("{:<12}  device {}", kind.name, kind.device);
    out += kind.keys.empty() ? "\n" : fmt::format(", keys {}\n", fmt::join(kind.keys, ","));
    out += RenderOptions(kind.options);
  }
  out += "\ntags, each with its target:\n";
  for (const TargetTag& tag : TargetTags()) out += fmt::format("{:<32}  {}\n", tag.name, tag.target);
  return out;
}

std::string RenderTargetsJson() {
  Json kinds = Json::array();
  for (const TargetKind& kind : TargetKinds()) {
    kinds.push_back(
        {{"name", kind.name}, {"device", kind.device}, {"keys", kind.keys}, {"options", OptionsJson(kind.options)}});
  }
  Json tags = Json::array();
  for (const TargetTag& tag : TargetTags()) tags.push_back({{"name", tag.name}, {"target", tag.target}});
  return Json{{"kinds", std::move(kinds)}, {"options", OptionsJson(CommonTargetOptions())}, {"tags", std::move(tags)}}
             .dump(2) +
         '\n';
}

}  // namespace iropt
