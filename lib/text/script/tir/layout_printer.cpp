#include "layout_printer.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/attr.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/tile_layout.h"
#include "text/script/func_attrs.h"

namespace iropt::text {
namespace {

// Returns whether buffers of the function have a layout unless they say otherwise: false in the text of older versions.
bool HasLayouts(const PrimFunc& func, TextVersion version) {
  if (version < TextVersion::kV0_25) return false;
  const auto* s_tir = As<IntAttr>(func.attrs->Find(attr::kSTir));
  return s_tir && s_tir->value == 0;
}

bool IsDefaultLayout(const tir::Buffer& buffer) { return CallOf(buffer.layout, op::kTirDefaultLayout) != nullptr; }

// Memory of Trainium has no layout by default.
bool HasLayoutByDefault(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version) {
  const std::string_view scope = buffer.scope();
  return HasLayouts(func, version) && scope != "trn.sbuf" && scope != "trn.psum";
}

bool PrintsLayout(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version) {
  // TVM also states that a buffer on Trainium has none.
  if (!buffer.layout) return HasLayouts(func, version);
  if (version < TextVersion::kV0_25 && IsDefaultLayout(buffer)) return false;
  return !IsDefaultLayout(buffer) || !HasLayoutByDefault(func, buffer, version);
}

bool LiesWithThreads(const TileLayout& layout) {
  return std::ranges::any_of(layout.shard, [](const LayoutIter& iter) { return IsThreadAxis(iter.axis); });
}

std::optional<int64_t> Product(List<const PrimExpr*> factors) {
  int64_t product = 1;
  for (const PrimExpr* factor : factors) {
    const int64_t* value = arith::AsInt(factor);
    if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
  }
  return product;
}

// Part of a buffer that a thread has: the places from the first to the last one, and the number of elements.
struct Storage {
  int64_t span = 1;
  int64_t size = 1;
};
std::optional<Storage> StorageOf(const TileLayout& layout) {
  Storage storage;
  for (const auto* iters : {&layout.shard, &layout.replica}) {
    for (const LayoutIter& iter : *iters) {
      if (IsThreadAxis(iter.axis)) continue;
      const int64_t* extent = arith::AsInt(iter.extent);
      const int64_t* stride = arith::AsInt(iter.stride);
      int64_t reach = 0;
      if (!extent || !stride || __builtin_mul_overflow(*extent - 1, *stride, &reach) ||
          __builtin_add_overflow(storage.span, reach, &storage.span))
        return std::nullopt;
      if (iters == &layout.shard && __builtin_mul_overflow(storage.size, *extent, &storage.size)) return std::nullopt;
    }
  }
  for (const LayoutIter& iter : layout.offset) {
    const int64_t* value = arith::AsInt(iter.stride);
    if (IsThreadAxis(iter.axis)) continue;
    if (!value || __builtin_add_overflow(storage.span, *value, &storage.span)) return std::nullopt;
  }
  return storage;
}

// The strides of a buffer whose layout has one factor for each dimension; those of the compact layout by default.
struct DimLayout {
  std::vector<const PrimExpr*> strides;  // null for a known number
  std::vector<int64_t> compact;
  std::vector<std::string_view> axes;
};
std::optional<DimLayout> DimLayoutOf(const tir::Buffer& buffer) {
  DimLayout result;
  const size_t rank = buffer.shape.size();
  if (IsDefaultLayout(buffer)) {
    result.strides.resize(rank);
    result.axes.resize(rank, "m");
    result.compact.resize(rank, 1);
    for (size_t i = rank; i-- > 1;) {
      const int64_t* dim = arith::AsInt(buffer.shape[static_cast<uint32_t>(i)]);
      if (!dim || __builtin_mul_overflow(result.compact[i], *dim, &result.compact[i - 1])) return std::nullopt;
    }
    return result;
  }
  const auto tile = AsTileLayout(buffer.layout);
  if (!tile || tile->shard.size() != rank || !tile->replica.empty() || !tile->offset.empty()) return std::nullopt;
  for (uint32_t i = 0; i < rank; ++i) {
    if (!DeepEqual(tile->shard[i].extent, buffer.shape[i])) return std::nullopt;
    const int64_t* known = arith::AsInt(tile->shard[i].stride);
    result.strides.push_back(known ? nullptr : tile->shard[i].stride);
    result.compact.push_back(known ? *known : 0);
    result.axes.push_back(tile->shard[i].axis);
  }
  return result;
}

}  // namespace

bool StatesLayout(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version) {
  return PrintsLayout(func, buffer, version) || !buffer.allocated_addr.empty();
}

void PrintLayoutArguments(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version, PrimPrinter& prim,
                          OutputStream& out) {
  if (PrintsLayout(func, buffer, version)) {
    out.Append(", layout=");
    if (!buffer.layout) {
      out.Append("None");
    } else if (IsDefaultLayout(buffer)) {
      out.Append("\"default\"");
    } else {
      prim.Print(buffer.layout);
    }
  }
  if (buffer.allocated_addr.empty()) return;
  out.Append(", allocated_addr=");
  const bool list = buffer.allocated_addr.size() > 1;
  if (list) out.Append('[');
  prim.PrintItems(buffer.allocated_addr);
  if (list) out.Append(']');
}

bool PrintLocalView(const tir::Buffer& child, const tir::Buffer& parent, PrimPrinter& prim, OutputStream& out) {
  const auto tile = AsTileLayout(parent.layout);
  if (!tile || !LiesWithThreads(*tile) || !child.layout || child.dtype != parent.dtype) return false;
  const auto storage = StorageOf(*tile);
  const auto total = Product(child.shape);
  if (!storage || !total) return false;
  const bool compact = IsDefaultLayout(child) && *total == storage->span;
  const auto child_tile = AsTileLayout(child.layout);
  if (!compact && (IsDefaultLayout(child) || (child_tile && LiesWithThreads(*child_tile)))) return false;
  const int64_t expected = compact ? storage->span : storage->size;
  const bool follows = child.shape.size() == 1 && arith::IsInt(child.shape[0], expected);
  out.Append(".local(");
  if (!follows) prim.PrintItems(child.shape);
  if (!compact) {
    out.Append(follows ? "layout=" : ", layout=");
    prim.Print(child.layout);
  }
  out.Append(')');
  return true;
}

bool PrintPermutedView(const tir::Buffer& child, const tir::Buffer& parent, OutputStream& out) {
  const uint32_t rank = parent.shape.size();
  if (child.shape.size() != rank || child.dtype != parent.dtype || !child.layout || IsDefaultLayout(child))
    return false;
  const auto from = DimLayoutOf(parent), to = DimLayoutOf(child);
  if (!from || !to) return false;
  std::vector<uint32_t> order;
  std::vector<bool> used(rank);
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t found = rank;
    for (uint32_t j = 0; j < rank && found == rank; ++j) {
      if (!used[j] && DeepEqual(child.shape[i], parent.shape[j])) found = j;
    }
    if (found == rank || to->axes[i] != from->axes[found] || to->compact[i] != from->compact[found]) return false;
    if (!DeepEqual(to->strides[i], from->strides[found])) return false;
    used[found] = true;
    order.push_back(found);
  }
  if (std::ranges::is_sorted(order)) return false;
  out.Append(".permute(");
  for (uint32_t i = 0; i < rank; ++i) {
    if (i) out.Append(", ");
    out.AppendInt(order[i]);
  }
  out.Append(')');
  return true;
}

}  // namespace iropt::text
