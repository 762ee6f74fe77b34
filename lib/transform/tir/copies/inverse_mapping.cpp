#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/tir/mutator.h"
#include "transform/tir/copies/coalesced_access.h"
#include "transform/tir/copies/loop_nest.h"

namespace iropt {

namespace {

// begin + offset as one expression, which is the begin if the offset is 0.
const PrimExpr* Shift(const PrimExpr* begin, const PrimExpr* offset, const arith::PrimBuilder& make) {
  return arith::IsInt(offset, 0) ? begin : make.Add(begin, offset);
}

// Loads from the source with indices that are relative to the begin of the region that is read.
class LoadRebaser : public tir::ExprMutator {
 public:
  LoadRebaser(const tir::BufferRegion& read, arith::Analyzer& analyzer, Workspace& workspace)
      : ExprMutator(workspace), read_(read), analyzer_(analyzer) {}

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = ExprMutator::VisitBufferLoad(load);
    if (load->buffer != read_.buffer || load->indices.size() != read_.region.size()) return visited;
    auto* copy = workspace().New<tir::BufferLoad>(*To<tir::BufferLoad>(visited));
    std::vector<const PrimExpr*> indices;
    for (size_t i = 0; i < copy->indices.size(); ++i) {
      const PrimExpr* begin = read_.region[i]->min;
      const PrimExpr* offset = analyzer_.Simplify(analyzer_.make().Sub(copy->indices[i], begin));
      indices.push_back(Shift(begin, offset, analyzer_.make()));
    }
    copy->indices = workspace().Copy(indices);
    return copy;
  }

 private:
  const tir::BufferRegion& read_;
  arith::Analyzer& analyzer_;
};

class MappingInverter {
 public:
  MappingInverter(const BlockCopy& copy, const LoopNest& nest, const tir::BufferStore& store, Workspace& workspace)
      : copy_(copy),
        nest_(nest),
        store_(store),
        workspace_(workspace),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

  Result<const tir::Stmt*> Invert() {
    IROPT_RETURN_IF_ERROR(CheckStore());
    LoadRebaser rebaser(*copy_.read, analyzer_, workspace_);
    const PrimExpr* value = rebaser.VisitExpr(store_.value);
    CollectOffsets();
    CollectLoops();
    IROPT_RETURN_IF_ERROR(CheckCoverage());
    const auto inverse = arith::InverseIterMap(offsets_, outputs_, iters_, analyzer_);
    if (!inverse) return NotOnce();
    const tir::Stmt* body =
        workspace_.New<tir::BufferStore>(store_.buffer, tir::Substitute(value, *inverse, workspace_), WriteIndices());
    return WithLoops(loops_, body, workspace_);
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }
  List<const tir::Range*> region() const { return copy_.write->region; }
  Error NotOnce() const {
    return CopyError(
        fmt::format("its loops must run through the elements of '{}' that it writes once", store_.buffer->name));
  }

  Status CheckStore() const {
    if (store_.buffer != copy_.write->buffer || store_.indices.size() != region().size()) {
      return CopyError(fmt::format("it stores to '{}', but says that it writes to '{}'", store_.buffer->name,
                                   copy_.write->buffer->name));
    }
    return {};
  }

  // Collects the index of each dimension relative to the begin of the region; those that are always 0 are left out.
  void CollectOffsets() {
    for (size_t i = 0; i < region().size(); ++i) {
      const PrimExpr* offset = analyzer_.Simplify(make().Sub(store_.indices[i], region()[i]->min));
      if (arith::IsInt(offset, 0)) continue;
      dims_.push_back(i);
      offsets_.push_back(offset);
    }
  }

  // The new loops, one for each dimension of more than one element, named after those of the nest.
  void CollectLoops() {
    for (const tir::For* loop : nest_.loops) iters_.try_emplace(loop->loop_var, tir::Range(loop->min, loop->extent));
    for (const size_t dim : dims_) {
      const PrimExpr* extent = region()[dim]->extent;
      const tir::Var* named = nest_.loops[std::min(loops_.size(), nest_.loops.size() - 1)]->loop_var;
      if (arith::IsInt(extent, 1)) {
        outputs_.push_back(make().Const(0, named->dtype));
        continue;
      }
      const PrimExpr* size = make().Cast(named->dtype, extent);
      loops_.push_back(NewLoop(fmt::format("{}_inverse", named->name), size, workspace_));
      outputs_.push_back(loops_.back()->loop_var);
    }
  }

  // The region has as many elements as the loops have iterations, which all access elements of it.
  // It gives the loops ranges, which would change the offsets before.
  Status CheckCoverage() {
    std::optional<int64_t> iterations = 1;
    std::optional<int64_t> elements = 1;
    const auto multiply = [](std::optional<int64_t>& product, const PrimExpr* factor) {
      const int64_t* value = arith::AsInt(factor);
      product = product && value ? arith::CheckedMul(*product, *value) : std::nullopt;
    };
    for (const tir::For* loop : nest_.loops) {
      multiply(iterations, loop->extent);
      analyzer_.Bind(loop->loop_var, loop->min, loop->extent);
    }
    for (const tir::Range* range : region()) multiply(elements, range->extent);
    if (!iterations || !elements) return CopyError("the extents of its loops and of what it writes must be constants");
    if (iterations != elements) return NotOnce();
    for (size_t i = 0; i < dims_.size(); ++i) {
      const bool inside = analyzer_.CanProveGreaterEqual(offsets_[i], 0) &&
                          analyzer_.CanProveLess(offsets_[i], *arith::AsInt(region()[dims_[i]]->extent));
      if (!inside) return NotOnce();
    }
    return {};
  }

  List<const PrimExpr*> WriteIndices() {
    std::vector<const PrimExpr*> indices;
    for (const tir::Range* range : region()) indices.push_back(range->min);
    for (size_t i = 0; i < dims_.size(); ++i) indices[dims_[i]] = Shift(indices[dims_[i]], outputs_[i], make());
    return workspace_.Copy(indices);
  }

  const BlockCopy& copy_;
  const LoopNest& nest_;
  const tir::BufferStore& store_;
  Workspace& workspace_;
  arith::Analyzer analyzer_;
  // By dimension that the loops select elements of.
  std::vector<size_t> dims_;
  std::vector<const PrimExpr*> offsets_;
  std::vector<const PrimExpr*> outputs_;  // the offsets in the new loops
  std::vector<const tir::For*> loops_;    // the new ones
  arith::IterRanges iters_;
};

}  // namespace

Result<const tir::Stmt*> InvertMapping(const tir::Stmt* stmt, const BlockCopy& copy, Workspace& workspace) {
  const LoopNest nest = LoopNestOf(stmt);
  const auto runs_once = [](const tir::For* loop) { return arith::IsInt(loop->extent, 1); };
  if (std::ranges::all_of(nest.loops, runs_once)) return stmt;
  IROPT_ASSIGN_OR_RETURN(const tir::BufferStore* store, StoreIn(nest.body));
  return MappingInverter(copy, nest, *store, workspace).Invert();
}

}  // namespace iropt
