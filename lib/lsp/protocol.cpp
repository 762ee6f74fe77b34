#include "protocol.h"

#include <algorithm>
#include <cstdint>

namespace iropt::lsp {

namespace {

// Numbers beyond the range mean the end of the line or of the text.
uint32_t Count(const Json& json) {
  if (json.is_number_unsigned()) return static_cast<uint32_t>(std::min<uint64_t>(json.get<uint64_t>(), INT32_MAX));
  return static_cast<uint32_t>(std::clamp<double>(json.get<double>(), 0, INT32_MAX));
}

}  // namespace

Position PositionFrom(const Json& json) { return {Count(json.at("line")), Count(json.at("character"))}; }

Range RangeFrom(const Json& json) { return {PositionFrom(json.at("start")), PositionFrom(json.at("end"))}; }

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace iropt::lsp
