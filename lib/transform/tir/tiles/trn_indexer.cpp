#include "transform/tir/tiles/trn_indexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <queue>

#include "iropt/ir/tir/substitute.h"

namespace iropt {

namespace {

Error TileError(std::string message) { return {ErrorCode::PassFailed, std::move(message)}; }

// The shape of which both split dimensions are groups; nothing if their factors do not match.
std::optional<std::vector<int64_t>> CommonFactors(std::span<const int64_t> a, std::span<const int64_t> b) {
  std::vector<int64_t> factors;
  if (a.empty() && b.empty()) return factors;
  if (a.empty() || b.empty()) return std::nullopt;
  size_t i = 0, j = 0;
  int64_t rest_a = a[0], rest_b = b[0];
  while (i < a.size() && j < b.size()) {
    const int64_t common = std::gcd(rest_a, rest_b);
    if (common == 1 && (rest_a != 1 || rest_b != 1)) return std::nullopt;
    factors.push_back(common);
    rest_a /= common;
    rest_b /= common;
    if (rest_a == 1 && ++i < a.size()) rest_a = a[i];
    if (rest_b == 1 && ++j < b.size()) rest_b = b[j];
  }
  if (i != a.size() || j != b.size()) return std::nullopt;
  return factors;
}

std::vector<int64_t> ExtentsOf(const GroupedShard& layout, size_t dim) {
  std::vector<int64_t> extents;
  for (size_t i = layout.begins[dim]; i < layout.begins[dim + 1]; ++i) extents.push_back(layout.shard[i].extent);
  return extents;
}

bool IsUnit(const PrimExpr* extent) { return arith::IsInt(extent, 1); }

}  // namespace

Status TrnInstruction::Limit(std::optional<int64_t> most) {
  if (!most || size <= *most) return {};
  if (*most <= 0 || size % *most != 0)
    return TileError(fmt::format("the instruction takes {} elements, which is not a multiple of {}", size, *most));
  size = *most;
  iters.clear();
  return {};
}

bool TrnIndexer::Divides(int64_t factor, const PrimExpr* value) {
  const arith::PrimBuilder& make = analyzer_.make();
  const PrimExpr* rest = make.FloorMod(value, make.Const(factor, value->dtype));
  return analyzer_.CanProveEqual(rest, make.Const(0, rest->dtype));
}

// The factors of the buffer that the region covers.
Result<GroupedShard> TrnIndexer::LayoutOf(const TileRegion& region, std::span<const int64_t> bounds) {
  const arith::PrimBuilder& make = analyzer_.make();
  std::vector<int64_t> shape;
  for (const PrimExpr* dim : region.buffer->shape) {
    const int64_t* value = arith::AsInt(dim);
    if (!value) return TileError(fmt::format("the shape of '{}' is not constant", region.buffer->name));
    shape.push_back(*value);
  }
  const auto shard = ShardOf(*region.buffer);
  const auto grouped = shard ? Group(Canonical(*shard), shape) : std::nullopt;
  if (!grouped) return TileError(fmt::format("'{}' has no constant layout of its shape", region.buffer->name));
  GroupedShard covered{.begins = {0}};
  for (size_t dim = 0; dim < bounds.size(); ++dim) {
    const PrimExpr* min = region.mins[dim];
    int64_t extent = bounds[dim];
    Shard reversed;
    for (size_t i = grouped->begins[dim + 1]; i > grouped->begins[dim] && extent != 1; --i) {
      const AxisIter& iter = grouped->shard[i - 1];
      const bool whole = extent % iter.extent == 0 && Divides(iter.extent, min);
      if (whole) {
        min = make.FloorDiv(min, make.Const(iter.extent, min->dtype));
        extent /= iter.extent;
        reversed.push_back(iter);
        continue;
      }
      const PrimExpr* end = make.Add(min, make.Const(extent, min->dtype));
      const PrimExpr* inside = make.Binary(NodeKind::kLE, end, make.Const(iter.extent, end->dtype));
      if (iter.axis == "P" || !analyzer_.CanProve(inside))
        return TileError(
            fmt::format("the region of '{}' does not cover whole parts of its layout", region.buffer->name));
      reversed.push_back({extent, iter.stride, iter.axis});
      break;
    }
    covered.shard.insert(covered.shard.end(), reversed.rbegin(), reversed.rend());
    covered.begins.push_back(covered.shard.size());
  }
  return covered;
}

Result<size_t> TrnIndexer::Add(const TileRegion& region) {
  std::vector<int64_t> bounds;
  for (const PrimExpr* extent : region.extents) {
    const arith::IntBound bound = analyzer_.Bound(extent);
    if (bound.max == arith::IntBound::kPosInf || bound.max <= 0)
      return TileError(fmt::format("an extent of the region of '{}' has no bound", region.buffer->name));
    bounds.push_back(bound.max);
  }
  IROPT_ASSIGN_OR_RETURN(GroupedShard layout, LayoutOf(region, bounds));
  const size_t num_iters = layout.shard.size();
  regions_.push_back({.region = region, .bounds = std::move(bounds), .layout = std::move(layout)});
  regions_.back().parts.resize(num_iters);
  return regions_.size() - 1;
}

// ---- Links

Result<DimMap> TrnIndexer::ElementwiseDims(size_t from, size_t to) {
  const auto& a = region(from).extents;
  const auto& b = region(to).extents;
  DimMap dims;
  size_t i = 0, j = 0;
  while (true) {
    while (i < a.size() && IsUnit(a[i])) ++i;
    while (j < b.size() && IsUnit(b[j])) ++j;
    if (i == a.size() || j == b.size()) break;
    if (!analyzer_.CanProveEqual(a[i], b[j])) break;
    dims[i++] = j++;
  }
  if (i != a.size() || j != b.size())
    return TileError(fmt::format("the regions of '{}' and '{}' differ in shape", region(from).buffer->name,
                                 region(to).buffer->name));
  return dims;
}

Result<DimMap> TrnIndexer::ReducedDims(size_t source, size_t result, const Dims& axes) {
  const auto& a = region(source).extents;
  const auto& b = region(result).extents;
  DimMap dims;
  size_t j = 0;
  const auto skip_units = [&] {
    while (j < b.size() && IsUnit(b[j])) ++j;
  };
  bool matches = true;
  for (size_t i = 0; i < a.size(); ++i) {
    if (IsUnit(a[i]) || std::ranges::count(axes, i) != 0) continue;
    skip_units();
    matches = matches && j < b.size() && analyzer_.CanProveEqual(a[i], b[j]);
    if (!matches) break;
    dims[i] = j++;
  }
  skip_units();
  if (!matches || j != b.size())
    return TileError(fmt::format("the region of '{}' is not that of '{}' without the reduced dimensions",
                                 region(result).buffer->name, region(source).buffer->name));
  return dims;
}

void TrnIndexer::SetLink(size_t from, size_t to, const DimMap& dims) {
  const auto set = [&](size_t a, size_t b, const DimMap& map) {
    auto& links = regions_[a].links;
    const auto known = std::ranges::find(links, b, &std::pair<size_t, DimMap>::first);
    known == links.end() ? links.emplace_back(b, map) : * known = {b, map};
  };
  DimMap reversed;
  for (const auto& [i, j] : dims) reversed[j] = i;
  set(from, to, dims);
  set(to, from, reversed);
}

// Also over other regions.
DimMap TrnIndexer::LinkOf(size_t from, size_t to) {
  std::queue<std::pair<size_t, DimMap>> queue;
  std::vector<bool> visited(regions_.size());
  visited[from] = true;
  for (const auto& [next, dims] : regions_[from].links) {
    if (next == to) return dims;
    visited[next] = true;
    queue.emplace(next, dims);
  }
  for (; !queue.empty(); queue.pop()) {
    const auto& [current, dims] = queue.front();
    if (current == to) {
      DimMap found = dims;
      SetLink(from, to, found);
      return found;
    }
    for (const auto& [next, step] : regions_[current].links) {
      if (visited[next]) continue;
      visited[next] = true;
      DimMap composed;
      for (const auto& [i, j] : dims) {
        if (const auto further = step.find(j); further != step.end()) composed[i] = further->second;
      }
      if (!composed.empty()) queue.emplace(next, std::move(composed));
    }
  }
  return {};
}

// Splits the factors of the region as those of linked dimensions.
Status TrnIndexer::Split(size_t id, size_t like, const DimMap& dims) {
  Region& region = regions_[id];
  std::vector<int64_t> shape;
  std::vector<size_t> ends;
  for (size_t dim = 0; dim < region.rank(); ++dim) {
    std::vector<int64_t> extents = ExtentsOf(region.layout, dim);
    if (const auto linked = dims.find(dim); linked != dims.end()) {
      auto common = CommonFactors(ExtentsOf(regions_[like].layout, linked->second), extents);
      if (!common)
        return TileError(fmt::format("the layouts of '{}' and '{}' do not split alike", region.region.buffer->name,
                                     regions_[like].region.buffer->name));
      extents = *std::move(common);
    }
    shape.insert(shape.end(), extents.begin(), extents.end());
    ends.push_back(shape.size());
  }
  auto grouped = Group(Canonical(region.layout.shard), shape);
  if (!grouped)
    return TileError(fmt::format("the layout of '{}' cannot be split as needed", region.region.buffer->name));
  std::vector<size_t> begins = {0};
  for (const size_t end : ends) begins.push_back(grouped->begins[end]);
  region.layout = {.shard = std::move(grouped->shard), .begins = std::move(begins)};
  region.parts.assign(region.layout.shard.size(), {});
  return {};
}

Status TrnIndexer::Link(size_t from, size_t to, const DimMap& dims) {
  SetLink(from, to, dims);
  for (size_t id = 0; id < regions_.size(); ++id) {
    if (id == to) continue;
    const DimMap forward = LinkOf(id, to);
    DimMap backward;
    for (const auto& [i, j] : forward) backward[j] = i;
    IROPT_RETURN_IF_ERROR(Split(id, to, forward));
    IROPT_RETURN_IF_ERROR(Split(to, id, backward));
    for (const auto& [i, j] : forward) {
      if (regions_[id].num_iters(i) != regions_[to].num_iters(j))
        return TileError(fmt::format("dimension {} of '{}' and dimension {} of '{}' do not split alike", i,
                                     region(id).buffer->name, j, region(to).buffer->name));
    }
  }
  return {};
}

// ---- Variables

// var % modulus // divisor
const PrimExpr* TrnIndexer::Number(const tir::Var* var, int64_t modulus, int64_t divisor) const {
  const arith::PrimBuilder& make = analyzer_.make();
  const PrimExpr* number = var;
  if (modulus > 0) number = make.FloorMod(number, make.Const(modulus, var->dtype));
  return make.FloorDiv(number, make.Const(divisor, var->dtype));
}

// The part of the factor that a stretch numbered by the variable takes; nothing if it takes none.
Result<std::optional<TrnIndexer::Part>> TrnIndexer::StretchOn(const AxisIter& iter, const tir::Var* var, int64_t size,
                                                              int64_t stride) const {
  const int64_t span = iter.stride * iter.extent;
  const int64_t end = size * stride;
  std::optional<Part> part;
  if (span <= stride || iter.stride >= end) return part;
  const Error irregular = TileError("the layouts do not allow a regular instruction");
  if (span < end && stride <= iter.stride) {
    if (end % span != 0 || iter.stride % stride != 0) return irregular;
    part = Part{1, iter.extent, Number(var, span / stride, iter.stride / stride)};
  } else if (span < end) {
    if (end % span != 0 || stride % iter.stride != 0) return irregular;
    part = Part{stride / iter.stride, span / stride, Number(var, span / stride, 1)};
  } else if (stride <= iter.stride) {
    if (span % end != 0 || iter.stride % stride != 0) return irregular;
    part = Part{1, end / iter.stride, Number(var, 0, iter.stride / stride)};
  }
  return part;
}

Status TrnIndexer::Bind(size_t id, const tir::Var* var, int64_t size, int64_t stride, bool free, bool propagate) {
  const GroupedShard& layout = regions_[id].layout;
  if (!IsTrainium(layout.shard))
    return TileError(fmt::format("'{}' is not in the memory of Trainium", region(id).buffer->name));
  Parts parts(layout.shard.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const AxisIter& iter = layout.shard[i];
    if ((iter.axis == "F" || iter.axis == "Bank") != free) continue;
    IROPT_ASSIGN_OR_RETURN(const std::optional<Part> part, StretchOn(iter, var, size, stride));
    if (part) parts[i].push_back(*part);
  }
  AddParts(id, parts);
  if (propagate) Propagate(id, parts);
  return {};
}

void TrnIndexer::AddParts(size_t id, const Parts& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    auto& own = regions_[id].parts[i];
    own.insert(own.end(), parts[i].begin(), parts[i].end());
  }
}

void TrnIndexer::Propagate(size_t id, const Parts& parts) {
  for (size_t to = 0; to < regions_.size(); ++to) {
    if (to == id) continue;
    Parts linked(regions_[to].parts.size());
    for (const auto& [i, j] : LinkOf(id, to)) {
      for (size_t k = 0; k < regions_[id].num_iters(i); ++k)
        linked[regions_[to].layout.begins[j] + k] = parts[regions_[id].layout.begins[i] + k];
    }
    AddParts(to, linked);
  }
}

void TrnIndexer::Sort(size_t id) {
  for (std::vector<Part>& parts : regions_[id].parts) {
    std::ranges::stable_sort(parts, [](const Part& a, const Part& b) {
      return std::pair(a.stride, a.extent) < std::pair(b.stride, b.extent);
    });
  }
}

Result<int64_t> TrnIndexer::BindRest(size_t id, const tir::Var* var, std::optional<Dims> dims) {
  if (!dims || dims->empty()) {
    dims.emplace(regions_[id].rank());
    std::iota(dims->begin(), dims->end(), 0);
  }
  Sort(id);
  const Region& region = regions_[id];
  Parts rest(region.parts.size());
  int64_t extent = 1;
  for (size_t d = dims->size(); d-- > 0;) {
    const size_t dim = (*dims)[d];
    for (size_t i = region.layout.begins[dim + 1]; i-- > region.layout.begins[dim];) {
      const AxisIter& iter = region.layout.shard[i];
      int64_t done = 1;
      for (size_t p = 0; p <= region.parts[i].size(); ++p) {
        const int64_t next = p < region.parts[i].size() ? region.parts[i][p].stride : iter.extent;
        if (done == 0 || next % done != 0)
          return TileError(fmt::format("the steps of a loop over '{}' are irregular", region.region.buffer->name));
        const int64_t gap = next / done;
        if (iter.axis == "P" && gap != 1)
          return TileError(
              fmt::format("the instruction does not take all partitions of '{}'", region.region.buffer->name));
        if (gap > 1) {
          rest[i].push_back({done, gap, Number(var, extent * gap, extent)});
          extent *= gap;
        }
        if (p < region.parts[i].size()) done = region.parts[i][p].stride * region.parts[i][p].extent;
      }
    }
  }
  AddParts(id, rest);
  Propagate(id, rest);
  return extent;
}

Status TrnIndexer::CheckCoverage(size_t id) {
  Sort(id);
  const Region& region = regions_[id];
  for (size_t i = 0; i < region.parts.size(); ++i) {
    const std::vector<Part>& parts = region.parts[i];
    for (size_t p = 0; p < parts.size(); ++p) {
      const int64_t next = p + 1 < parts.size() ? parts[p + 1].stride : region.layout.shard[i].extent;
      if (next != parts[p].stride * parts[p].extent)
        return TileError(fmt::format("the loops do not cover the region of '{}'", region.region.buffer->name));
    }
  }
  return {};
}

// ---- Indices

Result<std::vector<const PrimExpr*>> TrnIndexer::Axes(size_t id) {
  IROPT_RETURN_IF_ERROR(CheckCoverage(id));
  const arith::PrimBuilder& make = analyzer_.make();
  const Region& region = regions_[id];
  tir::VarValues values;
  for (const auto& [var, value] : region.values) values[var] = value;
  std::vector<const PrimExpr*> axes;
  for (size_t dim = 0; dim < region.rank(); ++dim) {
    const PrimExpr* index = make.Int(0, DataType::Int(32));
    int64_t step = 1;
    for (size_t i = region.layout.begins[dim + 1]; i-- > region.layout.begins[dim];) {
      const std::vector<Part>& parts = region.parts[i];
      for (size_t p = parts.size(); p-- > 0;) {
        if (parts[p].extent == 1) continue;
        const PrimExpr* number = tir::Substitute(parts[p].number, values, workspace_);
        const PrimExpr* scaled = make.Mul(make.Const(parts[p].stride, number->dtype), number);
        index = make.Add(index, make.Mul(scaled, make.Const(step, number->dtype)));
      }
      step *= region.layout.shard[i].extent;
    }
    axes.push_back(index);
  }
  return axes;
}

Result<std::vector<const PrimExpr*>> TrnIndexer::Indices(size_t id) {
  IROPT_ASSIGN_OR_RETURN(std::vector<const PrimExpr*> axes, Axes(id));
  for (size_t dim = 0; dim < axes.size(); ++dim) axes[dim] = analyzer_.make().Add(axes[dim], region(id).mins[dim]);
  return axes;
}

Result<const PrimExpr*> TrnIndexer::Guard(size_t id) {
  const arith::PrimBuilder& make = analyzer_.make();
  Dims bounded;
  for (size_t dim = 0; dim < regions_[id].rank(); ++dim) {
    const PrimExpr* extent = region(id).extents[dim];
    if (!analyzer_.CanProveEqual(extent, make.Const(regions_[id].bounds[dim], extent->dtype))) bounded.push_back(dim);
  }
  if (bounded.empty()) return nullptr;
  IROPT_ASSIGN_OR_RETURN(const std::vector<const PrimExpr*> axes, Axes(id));
  const PrimExpr* guard = make.Bool(true);
  for (const size_t dim : bounded)
    guard = make.Node(NodeKind::kAnd, guard, make.Binary(NodeKind::kLT, axes[dim], region(id).extents[dim]));
  return guard;
}

}  // namespace iropt
