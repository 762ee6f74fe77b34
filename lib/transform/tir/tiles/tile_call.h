// The operands of calls of tir.tile_call, as what the text says.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/tir/expr.h"

namespace iropt {

// A part of a buffer.
struct TileRegion {
  const tir::Buffer* buffer = nullptr;
  std::vector<const PrimExpr*> mins;
  std::vector<const PrimExpr*> extents;
};

// T.warp.copy(A[0:8], B[0:8], dispatch="tma")
struct TileCall {
  std::string_view scope;  // the threads that take part: "warp"; "tile" for one
  std::string_view name;   // "copy"
  std::vector<const PrimExpr*> operands = {};
  std::vector<std::pair<std::string_view, const PrimExpr*>> keywords = {};

  // Null if it is not given.
  const PrimExpr* Keyword(std::string_view keyword) const;
  // The buffer of this name in the keyword `workspace`, a dictionary; null if there is none.
  const tir::Buffer* Workspace(std::string_view buffer) const;
};

// Nothing for other expressions, null included.
std::optional<TileCall> AsTileCall(const PrimExpr* expr);
std::optional<TileRegion> AsTileRegion(const PrimExpr* expr);
std::optional<std::vector<int64_t>> AsIntegers(const PrimExpr* list);
// Null for other expressions.
const tir::Buffer* AsWholeBuffer(const PrimExpr* expr);
bool IsNone(const PrimExpr* expr);

}  // namespace iropt
