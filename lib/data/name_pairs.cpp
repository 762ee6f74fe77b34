#include "iropt/data/name_pairs.h"

#include "bytes.h"
#include "iropt/support/file.h"
#include "iropt/support/json.h"
#include "iropt/support/lookup.h"

namespace iropt {

Result<NamePairs> ReadNamePairs(const std::string& path) {
  IROPT_ASSIGN_OR_RETURN(const auto file, ReadFile(path));
  const Result<JsonText> json = JsonText::Parse(file->text());
  if (!json || !json->root().is_object()) return data::Malformed(fmt::format("{}: not a JSON object of names", path));
  NamePairs names;
  LookupSet<std::string_view> known;
  std::string problem;
  for (const auto& [key, value] : json->root().members()) {
    if (!known.insert(key)) problem = fmt::format("it has '{}' twice", key);
    if (!value.is_string()) problem = fmt::format("the value of '{}' is not a string", key);
    if (problem.empty()) names.emplace_back(key, value.string());
  }
  if (!problem.empty()) return data::Malformed(fmt::format("{}: {}", path, problem));
  return names;
}

}  // namespace iropt
