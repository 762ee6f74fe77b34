#include "iropt/analysis/tir/block_access.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "iropt/arith/int_set.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/ir/tir/written_values.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"

namespace iropt {
namespace {

using arith::IntervalSet;
using Region = std::vector<IntervalSet>;

// The accesses of one kind: reads, writes, or opaque uses.
class Accesses {
 public:
  struct Entry {
    const tir::Buffer* buffer;
    Region region;
  };

  const std::vector<Entry>& entries() const { return entries_; }
  bool Has(const tir::Buffer* buffer) const { return IndexOf(buffer) < entries_.size(); }
  void Add(const tir::Buffer* buffer, Region region, arith::Analyzer& analyzer) {
    const size_t index = IndexOf(buffer);
    if (index == entries_.size()) {
      entries_.push_back({buffer, std::move(region)});
      if (entries_.size() > kFew) Index();
      return;
    }
    Region& known = entries_[index].region;
    for (size_t i = 0; i < region.size() && i < known.size(); ++i)
      known[i] = arith::Union(known[i], region[i], analyzer);
  }

 private:
  // Most blocks access a handful of buffers, which are found without a table.
  static constexpr size_t kFew = 8;

  // The number of entries if the buffer has none.
  size_t IndexOf(const tir::Buffer* buffer) const {
    if (entries_.size() <= kFew)
      return static_cast<size_t>(std::ranges::find(entries_, buffer, &Entry::buffer) - entries_.begin());
    const auto* found = index_.Find(buffer);
    return found ? *found : entries_.size();
  }
  void Index() {
    for (size_t i = index_.size(); i < entries_.size(); ++i) index_.try_emplace(entries_[i].buffer, i);
  }

  std::vector<Entry> entries_;
  LookupMap<const tir::Buffer*, size_t> index_;  // of more than a few entries
};

class AccessDetector : public tir::StmtExprVisitor {
 public:
  AccessDetector(const BuffersByPointer& known, Workspace& workspace)
      : known_(known),
        workspace_(workspace),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        lets_(workspace) {}

  void Visit(const tir::Block& block) {
    for (const tir::MatchBufferRegion* match : block.match_buffers) {
      if (!known_.contains(match->source->buffer->data)) continue;
      match_of_.try_emplace(match->buffer->data, matches_.size());
      matches_.push_back(match);
    }
    if (block.init) VisitStmt(block.init);
    VisitStmt(block.body);
  }

  const Accesses& reads() const { return reads_; }
  const Accesses& writes() const { return writes_; }
  const Accesses& opaques() const { return opaques_; }
  // The accesses to buffers that do not occur in `without`.
  std::vector<const tir::BufferRegion*> Collect(const Accesses& accesses,
                                                std::initializer_list<const Accesses*> without = {});

 protected:
  using tir::StmtExprVisitor::VisitExpr;

  void VisitFor(const tir::For* loop) override {
    VisitExpr(loop->min);
    VisitExpr(loop->extent);
    if (loop->step) VisitExpr(loop->step);
    // Nothing outside of the block knows a variable that is bound in it.
    const PrimExpr* min = lets_.Of(loop->min);
    domains_.insert_or_assign(loop->loop_var, IntervalSet::FromRange(min, lets_.Of(loop->extent), make()));
    VisitStmt(loop->body);
    domains_.erase(loop->loop_var);
  }

  void VisitLetStmt(const tir::LetStmt* let) override {
    VisitExpr(let->value);
    WithValue(let->var, let->value, [&] { VisitStmt(let->body); });
  }

  void VisitLet(const tir::Let* let) override {
    VisitExpr(let->value);
    WithValue(let->var, let->value, [&] { VisitExpr(let->body); });
  }

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Add(reads_, load->buffer, Relax(load->indices));
    tir::StmtExprVisitor::VisitBufferLoad(load);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    Add(writes_, store->buffer, Relax(store->indices));
    tir::StmtExprVisitor::VisitBufferStore(store);
  }

  void VisitCall(const tir::Call* call) override {
    if (!IsOp(call->op, op::kTirTvmAccessPtr) || call->args.size() != 5) return StmtExprVisitor::VisitCall(call);
    const int64_t* mask = arith::AsInt(call->args[4]);
    if (!Is<tir::Var>(call->args[1]) || !mask) return StmtExprVisitor::VisitCall(call);
    const tir::Buffer* buffer = BufferOf(static_cast<const tir::Var*>(call->args[1]));
    if (!buffer || (*mask & 3) == 0) return;
    Add((*mask & 3) == 3 ? opaques_ : (*mask & 1) ? reads_ : writes_, buffer, Whole(buffer));
  }

  void VisitVar(const tir::Var* var) override {
    if (const tir::Buffer* buffer = BufferOf(var)) Add(opaques_, buffer, Whole(buffer));
  }

  // A nested block counts with the regions that it states.
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    tir::VarValues values;
    for (uint32_t i = 0; i < realize->iter_values.size(); ++i)
      values[realize->block->iter_vars[i]->var] = realize->iter_values[i];
    for (const tir::BufferRegion* region : realize->block->reads) Add(reads_, region->buffer, Relax(*region, values));
    for (const tir::BufferRegion* region : realize->block->writes) Add(writes_, region->buffer, Relax(*region, values));
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  // Visits what a variable is bound in.
  template <class F>
  void WithValue(const tir::Var* var, const PrimExpr* value, F&& visit) {
    const bool is_known = lets_.Bind(var, value);
    if (!is_known) domains_.insert_or_assign(var, IntervalSet::Everything());
    visit();
    if (!is_known) domains_.erase(var);
    lets_.Unbind(var);
  }

  static Region Whole(const tir::Buffer* buffer) { return Region(buffer->shape.size(), IntervalSet::Everything()); }

  Region Relax(List<const PrimExpr*> indices) {
    Region region;
    region.reserve(indices.size());
    for (const PrimExpr* index : indices) region.push_back(arith::EvalSet(lets_.Of(index), domains_, analyzer_));
    return region;
  }

  Region Relax(const tir::BufferRegion& accessed, const tir::VarValues& values) {
    Region region;
    region.reserve(accessed.region.size());
    for (const tir::Range* range : accessed.region) {
      const PrimExpr* min = Outside(range->min, values);
      const PrimExpr* extent = Outside(range->extent, values);
      region.push_back(min && extent ? arith::EvalSet(IntervalSet::FromRange(min, extent, make()), domains_, analyzer_)
                                     : IntervalSet::Everything());
    }
    return region;
  }

  // The expression by what is known outside of the block; null if it becomes long, as at each of many blocks in each
  // other whose axes use several outer ones.
  const PrimExpr* Outside(const PrimExpr* expr, const tir::VarValues& values) {
    const PrimExpr* written = lets_.Of(tir::Substitute(expr, values, workspace_));
    using tir::WrittenValues;
    const size_t most = std::max(WrittenValues::kMaxParts, WrittenValues::NumParts(expr));
    return WrittenValues::NumParts(written) > most ? nullptr : written;
  }

  const tir::Buffer* BufferOf(const tir::Var* pointer) const {
    if (!pointer->dtype.is_handle()) return nullptr;
    if (const auto* match = match_of_.Find(pointer)) return matches_[*match]->buffer;
    return known_.Lookup(pointer);
  }

  void Add(Accesses& accesses, const tir::Buffer* buffer, Region region) {
    // The source of a match may be the buffer of a later one.
    for (size_t first = 0; first < matches_.size();) {
      const auto* match = match_of_.Find(buffer->data);
      if (!match || *match < first) break;
      region = RegionOfSource(*matches_[*match], region);
      buffer = matches_[*match]->source->buffer;
      first = *match + 1;
    }
    if (known_.contains(buffer->data)) accesses.Add(buffer, std::move(region), analyzer_);
  }

  Region RegionOfSource(const tir::MatchBufferRegion& match, const Region& region);

  const BuffersByPointer& known_;
  Workspace& workspace_;
  arith::Analyzer analyzer_;
  Accesses reads_, writes_, opaques_;
  std::vector<const tir::MatchBufferRegion*> matches_;
  LookupMap<const tir::Var*, size_t> match_of_;  // by data pointer, in matches_
  arith::VarDomains domains_;                    // of the enclosing loops, and of unknown variables of lets_
  tir::WrittenValues lets_;
};

// Maps a region of a matched buffer to the source buffer. The source has leading dimensions of one element that the
// buffer may lack.
Region AccessDetector::RegionOfSource(const tir::MatchBufferRegion& match, const Region& region) {
  const List<const tir::Range*> source = match.source->region;
  const List<const PrimExpr*> shape = match.buffer->shape;
  const bool fits = region.size() <= source.size() && region.size() == shape.size();
  const size_t offset = fits ? source.size() - region.size() : source.size();
  Region result;
  for (size_t i = 0; i < source.size(); ++i) {
    if (i < offset) {
      result.push_back(IntervalSet::FromRange(*source[i], make()));
      continue;
    }
    const IntervalSet& part = region[i - offset];
    if (!part.is_bounded()) {
      result.push_back(IntervalSet::FromRange(source[i]->min, shape[i - offset], make()));
    } else {
      const PrimExpr* min = make().Add(source[i]->min, part.min());
      result.push_back(IntervalSet::Interval(min, part.is_point() ? min : make().Add(source[i]->min, part.max())));
    }
  }
  return result;
}

std::vector<const tir::BufferRegion*> AccessDetector::Collect(const Accesses& accesses,
                                                              std::initializer_list<const Accesses*> without) {
  std::vector<const tir::BufferRegion*> regions;
  for (const Accesses::Entry& entry : accesses.entries()) {
    const tir::Buffer* buffer = entry.buffer;
    const Region& region = entry.region;
    if (std::ranges::any_of(without, [&](const Accesses* other) { return other->Has(buffer); })) continue;
    std::vector<const tir::Range*> ranges;
    ranges.reserve(region.size());
    for (size_t i = 0; i < region.size(); ++i) {
      const PrimExpr* dim = buffer->shape[i];
      const tir::Range range =
          region[i].CanProvePoint(analyzer_)
              ? tir::Range(region[i].min(), make().Const(1, region[i].min()->dtype))
              : arith::CoverRange(region[i], tir::Range(make().Const(0, dim->dtype), dim), analyzer_);
      ranges.push_back(workspace_.New<tir::Range>(range));
    }
    regions.push_back(workspace_.New<tir::BufferRegion>(buffer, workspace_.Copy(ranges)));
  }
  return regions;
}

}  // namespace

BlockAccesses GetBlockAccessRegion(const tir::Block& block, const BuffersByPointer& known, Workspace& workspace) {
  AccessDetector detector(known, workspace);
  detector.Visit(block);
  const Accesses none;
  return {detector.Collect(detector.reads(), {block.init ? &detector.writes() : &none}),
          detector.Collect(detector.writes()), detector.Collect(detector.opaques())};
}

BlockAccesses GetBlockReadWriteRegion(const tir::Block& block, const BuffersByPointer& known, Workspace& workspace) {
  AccessDetector detector(known, workspace);
  detector.Visit(block);
  const Accesses none;
  BlockAccesses result;
  result.opaques = detector.Collect(detector.opaques());
  result.writes = detector.Collect(detector.writes(), {&detector.opaques()});
  result.reads = detector.Collect(detector.reads(), {&detector.opaques(), block.init ? &detector.writes() : &none});
  result.reads.insert(result.reads.end(), result.opaques.begin(), result.opaques.end());
  result.writes.insert(result.writes.end(), result.opaques.begin(), result.opaques.end());
  return result;
}

}  // namespace iropt
