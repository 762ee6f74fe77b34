#include "iropt/op/tile_layout.h"

#include <algorithm>

#include "iropt/op/intrinsic_ids.h"

namespace iropt {
namespace {

std::optional<std::vector<LayoutIter>> LayoutIters(const PrimExpr* expr) {
  const tir::Call* list = CallOf(expr, op::kTirListArg);
  if (!list) return std::nullopt;
  std::vector<LayoutIter> iters;
  for (const PrimExpr* item : list->args) {
    const tir::Call* iter = CallOf(item, op::kTirLayoutIter);
    const auto* axis = iter && iter->args.size() == 3 ? As<tir::StringImm>(iter->args[2]) : nullptr;
    if (!axis) return std::nullopt;
    iters.push_back({iter->args[0], iter->args[1], axis->value});
  }
  return iters;
}

}  // namespace

std::optional<TileLayout> AsTileLayout(const PrimExpr* expr) {
  const tir::Call* call = CallOf(expr, op::kTirTileLayout);
  if (!call || call->args.size() != 3) return std::nullopt;
  auto shard = LayoutIters(call->args[0]);
  auto replica = LayoutIters(call->args[1]);
  auto offset = LayoutIters(call->args[2]);
  if (!shard || !replica || !offset) return std::nullopt;
  return TileLayout{*std::move(shard), *std::move(replica), *std::move(offset)};
}

bool IsScalar(const tir::Buffer& buffer) {
  constexpr int32_t kDefaultAlignment = 64;
  const auto* extent = buffer.shape.size() == 1 ? As<tir::IntImm>(buffer.shape[0]) : nullptr;
  return extent && extent->value == 1 && buffer.strides.empty() && buffer.data_alignment == kDefaultAlignment &&
         buffer.offset_factor == 1 && buffer.allocated_addr.empty() &&
         CallOf(buffer.layout, op::kTirDefaultLayout) != nullptr;
}

bool IsThreadAxis(std::string_view axis) {
  static constexpr std::string_view kMemory[] = {"Bank", "F", "P", "TCol", "TLane", "m"};
  return std::ranges::find(kMemory, axis) == std::end(kMemory);
}

}  // namespace iropt
