#include "iropt/data/name_map.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "bytes.h"
#include "iropt/support/file.h"

namespace iropt {

Result<NameMap> ReadNameMap(const std::string& path) {
  using Json = nlohmann::json;
  IROPT_ASSIGN_OR_RETURN(const auto file, ReadFile(path));
  NameMap names;
  std::unordered_set<std::string> known;
  std::string problem;
  const auto look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) {
      names.emplace_back(parsed.get<std::string>(), "");
      if (!known.insert(names.back().first).second) problem = fmt::format("it has '{}' twice", names.back().first);
    }
    return true;
  };
  const Json object = Json::parse(file->text(), look, /*allow_exceptions=*/false);
  if (!object.is_object()) return data::Malformed(fmt::format("{}: not a JSON object of names", path));
  for (auto& [key, value] : names) {
    if (const Json& name = object.at(key); name.is_string()) {
      value = name.get<std::string>();
    } else {
      problem = fmt::format("the value of '{}' is not a string", key);
    }
  }
  if (!problem.empty()) return data::Malformed(fmt::format("{}: {}", path, problem));
  return names;
}

}  // namespace iropt
