#include "transform/tir/tiles/tile_call.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"

namespace iropt {

namespace {

// A keyword and its value.
std::optional<std::pair<std::string_view, const PrimExpr*>> AsKeyword(const PrimExpr* expr) {
  const tir::Call* call = CallOf(expr, op::kTirKeywordArg);
  const auto* name = call && call->args.size() == 2 ? As<tir::StringImm>(call->args[0]) : nullptr;
  if (!name) return std::nullopt;
  return std::pair(name->value, call->args[1]);
}

}  // namespace

const PrimExpr* TileCall::Keyword(std::string_view keyword) const {
  const auto found = std::ranges::find(keywords, keyword, &std::pair<std::string_view, const PrimExpr*>::first);
  return found == keywords.end() || IsNone(found->second) ? nullptr : found->second;
}

const tir::Buffer* TileCall::Workspace(std::string_view buffer) const {
  const tir::Call* dict = CallOf(Keyword("workspace"), op::kTirDictArg);
  if (!dict) return nullptr;
  for (const PrimExpr* item : dict->args) {
    if (const auto entry = AsKeyword(item); entry && entry->first == buffer) return AsWholeBuffer(entry->second);
  }
  return nullptr;
}

std::optional<TileCall> AsTileCall(const PrimExpr* expr) {
  const tir::Call* call = CallOf(expr, op::kTirTileCall);
  const auto* name = call && !call->args.empty() ? As<tir::StringImm>(call->args[0]) : nullptr;
  const size_t dot = name ? name->value.find('.') : std::string_view::npos;
  if (dot == std::string_view::npos) return std::nullopt;
  TileCall result{.scope = name->value.substr(0, dot), .name = name->value.substr(dot + 1)};
  for (uint32_t i = 1; i < call->args.size(); ++i) {
    if (const auto keyword = AsKeyword(call->args[i])) {
      result.keywords.push_back(*keyword);
    } else {
      result.operands.push_back(call->args[i]);
    }
  }
  return result;
}

std::optional<TileRegion> AsTileRegion(const PrimExpr* expr) {
  const tir::Call* call = CallOf(expr, op::kTirRegionArg);
  const auto* first = call && !call->args.empty() ? As<tir::BufferLoad>(call->args[0]) : nullptr;
  if (!first || first->predicate || first->indices.size() + 1 != call->args.size()) return std::nullopt;
  const std::span<const PrimExpr* const> args = call->args;
  return TileRegion{.buffer = first->buffer,
                    .mins = {first->indices.begin(), first->indices.end()},
                    .extents = {args.begin() + 1, args.end()}};
}

std::optional<std::vector<int64_t>> AsIntegers(const PrimExpr* list) {
  const tir::Call* call = CallOf(list, op::kTirListArg);
  if (!call) return std::nullopt;
  std::vector<int64_t> values;
  for (const PrimExpr* item : call->args) {
    const int64_t* value = arith::AsInt(item);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

const tir::Buffer* AsWholeBuffer(const PrimExpr* expr) {
  const tir::Call* call = CallOf(expr, op::kTirBufferArg);
  const auto* load = call && call->args.size() == 1 ? As<tir::BufferLoad>(call->args[0]) : nullptr;
  return load ? load->buffer : nullptr;
}

bool IsNone(const PrimExpr* expr) { return CallOf(expr, op::kTirNoneArg) != nullptr; }

}  // namespace iropt
