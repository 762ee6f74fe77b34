// Messages of the language server protocol, version 3.17, as JSON.
// Source: https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/lsp/text_document.h"

namespace iropt::lsp {

using Json = nlohmann::json;

// The answer to a request that can't be carried out.
struct RequestError {
  static constexpr int kParseError = -32700;
  static constexpr int kInvalidRequest = -32600;
  static constexpr int kMethodNotFound = -32601;
  static constexpr int kInvalidParams = -32602;
  static constexpr int kInternalError = -32603;
  static constexpr int kNotInitialized = -32002;
  static constexpr int kRequestFailed = -32803;
  static constexpr int kContentModified = -32801;
  static constexpr int kRequestCancelled = -32800;

  int code;
  std::string message;
};

inline RequestError Cancelled() { return {RequestError::kRequestCancelled, "the request was cancelled"}; }

inline Json ToJson(const RequestError& error) { return {{"code", error.code}, {"message", error.message}}; }
inline Json ToJson(Position position) { return {{"line", position.line}, {"character", position.character}}; }
inline Json ToJson(const Range& range) { return {{"start", ToJson(range.start)}, {"end", ToJson(range.end)}}; }
inline Json Location(std::string_view uri, const Range& range) { return {{"uri", uri}, {"range", ToJson(range)}}; }
inline Json TextEdit(const Range& range, std::string_view text) {
  return {{"range", ToJson(range)}, {"newText", text}};
}
inline Json Markdown(std::string text) { return {{"kind", "markdown"}, {"value", std::move(text)}}; }

// Throw nlohmann::json::exception for what is not a position.
Position PositionFrom(const Json& json);
Range RangeFrom(const Json& json);

// Text in which everything that is not UTF-8 is replaced, as JSON needs it.
std::string Dump(const Json& json);

}  // namespace iropt::lsp
