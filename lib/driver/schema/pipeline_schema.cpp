// The schema of pipeline files: parse a file with ParsePipelineFile (pass/pipeline.h) for what it means.
#include <string>

#include "iropt/driver/catalog.h"
#include "iropt/support/text_version.h"
#include "schema_json.h"

namespace iropt::schema {

namespace {

Json ValuesOf(const OptionSpec& spec);

// An object of options, all of which have defaults.
Json OptionsOf(std::span<const OptionSpec> specs) {
  Json members = Json::object();
  for (const OptionSpec& spec : specs) members[spec.name] = ValuesOf(spec);
  return ObjectOf(std::move(members), Json::array());
}

Json FormOf(const OptionSpec& spec) {
  switch (spec.type) {
    case OptionType::Bool: return AnyOf({TypeOf("boolean"), OneOf({0, 1})});
    case OptionType::Int: return TypeOf("integer");
    case OptionType::Float: return TypeOf("number");
    case OptionType::String: return spec.choices.empty() ? TypeOf("string") : OneOf(spec.choices);
    case OptionType::StringList: return ListOf(TypeOf("string"));
    case OptionType::Record: return OptionsOf(spec.fields);
    case OptionType::Phases: return TypeOf("array");
    case OptionType::Json: break;
  }
  return Json::object();
}

Json ValuesOf(const OptionSpec& spec) {
  Json form = FormOf(spec);
  if (!spec.summary.empty()) form["description"] = spec.summary;
  return form;
}

// A pass by its name, with its options.
Json PassSchema(const PassEntry& pass) {
  Json members = {{"name", {{"const", pass.info.name}}}, {"options", OptionsOf(pass.options)}};
  Json schema = ObjectOf(std::move(members), {"name"});
  schema["description"] = pass.summary;
  return schema;
}

Json Composite(std::string_view key, Json members) {
  members[std::string(key)] = {{"$ref", "#/definitions/passes"}};
  return ObjectOf(std::move(members), {key});
}

// The names of passes and pipelines are choices for completion; the string may also be a whole pipeline.
Json PassNames(const PassRegistry& registry) {
  Json names = Json::array();
  for (const auto& [name, pass] : registry.passes()) names.push_back(name);
  for (const std::string& name : PipelineNames(registry)) names.push_back(name);
  return names;
}

Json ItemSchema(const PassRegistry& registry) {
  Json choices = {AnyOf({OneOf(PassNames(registry)), TypeOf("string")})};
  for (const auto& [name, pass] : registry.passes()) choices.push_back(PassSchema(pass));
  const Json level = {{"type", "integer"}, {"minimum", 0}, {"maximum", kMaxOptLevel}};
  choices.push_back(Composite("sequential", {{"name", TypeOf("string")}, {"opt_level", level}, {"at_level", level}}));
  choices.push_back(Composite("fixpoint", {{"max", TypeOf("integer")}}));
  choices.push_back(Composite("repeat", {{"times", TypeOf("integer")}}));
  return AnyOf(std::move(choices));
}

Json InstrumentsSchema(const PassRegistry& registry) {
  Json names = Json::array();
  for (const CatalogEntry& entry : Instruments(registry)) names.push_back(entry.name);
  const Json named = {{"type", "object"}, {"properties", {{"name", OneOf(names)}}}, {"required", {"name"}}};
  return ListOf(AnyOf({OneOf(names), named}));
}

}  // namespace

Json PipelineSchema(const PassRegistry& registry) {
  Json passes = Json::array();
  for (const auto& [name, pass] : registry.passes()) passes.push_back(name);
  Json config = Json::object();
  for (const auto& [key, spec] : registry.configs()) config[key] = ValuesOf(spec);
  const Json names = ListOf(AnyOf({OneOf(passes), TypeOf("string")}));
  Json members = {{"opt_level", {{"type", "integer"}, {"minimum", 0}, {"maximum", kMaxOptLevel}}},
                  {"disabled", names},
                  {"required", names},
                  {"config", {{"type", "object"}, {"properties", std::move(config)}}},
                  {"passes", {{"$ref", "#/definitions/passes"}}},
                  {"target", AnyOf({TypeOf("string"), TypeOf("object"), TypeOf("null")})},
                  {"instruments", InstrumentsSchema(registry)},
                  {"plugins", ListOf(TypeOf("string"))},
                  {"version", OneOf(kTextVersions)}};
  Json schema = ObjectOf(std::move(members), Json::array());
  schema["definitions"] = {{"passes", AnyOf({TypeOf("string"), ListOf({{"$ref", "#/definitions/item"}})})},
                           {"item", ItemSchema(registry)}};
  return schema;
}

}  // namespace iropt::schema
