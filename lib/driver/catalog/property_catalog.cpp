// The listing of the properties of PrimFuncs, with the passes that have to do with them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "iropt/driver/catalog.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

struct PropertyView {
  std::string_view summary;
  std::vector<std::string> established_by;  // with what decides, see Describe
  std::vector<std::string> given_for;       // passes that establish others if functions have this one
  std::vector<std::string> required_by;
  std::vector<std::string> broken_by;
};

std::map<std::string_view, PropertyView> AllProperties(const PassRegistry& registry) {
  std::map<std::string_view, PropertyView> views;
  const auto view = [&](const FunctionProperty& property) -> PropertyView& {
    PropertyView& found = views[property.name];
    found.summary = property.summary;
    return found;
  };
  for (const auto& [name, row] : registry.passes()) {
    for (const EstablishedProperty& established : row.info.established_properties) {
      view(*established.property).established_by.push_back(Describe(established, name));
      if (established.given != nullptr) view(*established.given).given_for.push_back(name);
    }
    for (const FunctionProperty* property : row.info.required_properties) view(*property).required_by.push_back(name);
    for (const FunctionProperty* property : row.info.broken_properties) view(*property).broken_by.push_back(name);
  }
  return views;
}

}  // namespace

std::string RenderProperties(const PassRegistry& registry) {
  const auto views = AllProperties(registry);
  size_t width = 8;
  for (const auto& [name, view] : views) width = std::max(width, name.size());
  std::string out = fmt::format("{:<{}}  summary\n", "property", width);
  for (const auto& [name, view] : views) {
    out += fmt::format("{:<{}}  {}\n", name, width, view.summary);
    const auto add = [&, width](std::string_view what, const std::vector<std::string>& passes) {
      if (!passes.empty()) out += fmt::format("{:<{}}    {} {}\n", "", width, what, fmt::join(passes, ", "));
    };
    add("established by", view.established_by);
    add("given for", view.given_for);
    add("required by", view.required_by);
    add("broken by", view.broken_by);
  }
  return out;
}

std::string RenderPropertiesJson(const PassRegistry& registry) {
  Json list = Json::array();
  for (const auto& [name, view] : AllProperties(registry)) {
    list.push_back({{"name", name},
                    {"summary", view.summary},
                    {"established_by", view.established_by},
                    {"given_for", view.given_for},
                    {"required_by", view.required_by},
                    {"broken_by", view.broken_by}});
  }
  return Json{{"properties", std::move(list)}}.dump(2) + '\n';
}

}  // namespace iropt
