#include "transform/tir/copies/contiguous_copy.h"

#include <span>
#include <vector>

#include "iropt/arith/int_set.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

namespace {

struct Nest {
  std::vector<const tir::For*> loops;
  arith::IterRanges ranges;
  arith::VarDomains domains;
  const tir::Stmt* body;
};

// Nothing for loops that depend on each other, or are not plain ones.
std::optional<Nest> ReadNest(const tir::For& outermost, const arith::PrimBuilder& make) {
  Nest nest;
  nest.body = &outermost;
  while (const auto* loop = As<tir::For>(nest.body)) {
    if (loop->step || loop->for_kind == tir::ForKind::kThreadBinding) return std::nullopt;
    const auto is_outer = [&](const tir::Var* var) { return nest.ranges.contains(var); };
    if (tir::UsesVar(loop->min, is_outer) || tir::UsesVar(loop->extent, is_outer)) return std::nullopt;
    nest.loops.push_back(loop);
    nest.ranges.insert_or_assign(loop->loop_var, tir::Range(loop->min, loop->extent));
    nest.domains.insert_or_assign(loop->loop_var, arith::IntervalSet::FromRange(loop->min, loop->extent, make));
    nest.body = loop->body;
  }
  return nest;
}

// The index into a flat and compact buffer, null for other accesses.
const PrimExpr* FlatIndex(const tir::Buffer& buffer, List<const PrimExpr*> indices, const PrimExpr* predicate) {
  if (predicate || indices.size() != 1 || !buffer.strides.empty() || indices[0]->dtype.lanes != 1) return nullptr;
  return indices[0];
}

// The first of the indices, if they are `size` neighboring ones, each of them once. Null if they are not.
const PrimExpr* FirstOfNeighbors(const PrimExpr* index, const PrimExpr* size, const Nest& nest,
                                 arith::Analyzer& analyzer) {
  const arith::IterMapOptions options{.level = arith::IterMapLevel::kBijective};
  if (!arith::DetectIterMap(std::span(&index, 1), nest.ranges, nullptr, options, analyzer)) return nullptr;
  const arith::IntervalSet values = arith::EvalSet(index, nest.domains, analyzer);
  if (!values.is_bounded()) return nullptr;
  const arith::PrimBuilder& make = analyzer.make();
  const PrimExpr* extent = make.Add(make.Sub(values.max(), values.min()), make.Const(1, index->dtype));
  return analyzer.CanProveEqual(size, extent) ? analyzer.Simplify(values.min()) : nullptr;
}

}  // namespace

std::optional<ContiguousCopy> FindContiguousCopy(const tir::For& nest, arith::Analyzer& analyzer) {
  const arith::PrimBuilder& make = analyzer.make();
  const std::optional<Nest> read = ReadNest(nest, make);
  const auto* store = read ? As<tir::BufferStore>(read->body) : nullptr;
  const auto* load = store ? As<tir::BufferLoad>(store->value) : nullptr;
  // The transfer may overwrite what it has not read yet.
  if (!load || load->buffer->data == store->buffer->data) return std::nullopt;
  const PrimExpr* dest = FlatIndex(*store->buffer, store->indices, store->predicate);
  const PrimExpr* source = FlatIndex(*load->buffer, load->indices, load->predicate);
  if (!dest || !source || dest->dtype != source->dtype) return std::nullopt;

  const PrimExpr* size = make.Const(1, dest->dtype);
  for (const tir::For* loop : read->loops) size = make.Mul(size, make.Cast(dest->dtype, loop->extent));
  size = analyzer.Simplify(size);
  const PrimExpr* dest_begin = FirstOfNeighbors(dest, size, *read, analyzer);
  const PrimExpr* source_begin = dest_begin ? FirstOfNeighbors(source, size, *read, analyzer) : nullptr;
  if (!source_begin) return std::nullopt;
  // Both run through their parts in the same order.
  if (!analyzer.CanProveEqual(make.Sub(dest, dest_begin), make.Sub(source, source_begin))) return std::nullopt;
  return ContiguousCopy{store->buffer, dest_begin, load->buffer, source_begin, size};
}

}  // namespace iropt
