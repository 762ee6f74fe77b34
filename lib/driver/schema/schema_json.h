// Parts of JSON schemas.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "iropt/pass/registry.h"

namespace iropt::schema {

using Json = nlohmann::ordered_json;

inline Json TypeOf(std::string_view type) { return {{"type", type}}; }
inline Json ListOf(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
inline Json OneOf(Json choices) { return {{"enum", std::move(choices)}}; }
inline Json AnyOf(Json choices) { return {{"anyOf", std::move(choices)}}; }
// An object that has these members and no others; `required` of them are always there.
Json ObjectOf(Json members, Json required);
// An object whose members all have values of this form.
inline Json MapOf(Json values) { return {{"type", "object"}, {"additionalProperties", std::move(values)}}; }

Json PipelineSchema(const PassRegistry& registry);
Json DiagnosticsSchema();
Json ReportSchema();
Json PassesSchema();

}  // namespace iropt::schema
