// tir.LowerMatchBuffer: replaces the buffers that blocks match to regions by the buffers of the regions.
//
//   with T.block(""):                                         with T.block(""):
//       B = T.match_buffer(A[i * 4:i * 4 + 4], (4,))   -->        for j in range(4):
//       for j in range(4):                                            A[i * 4 + j] = T.float32(0)
//           B[j] = T.float32(0)
//
// The variables in shape, strides and offset of the matched buffer become what the region says. It is an error if the
// two do not agree, or if this cannot be proved. O(nodes), plus the proofs.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/buffer_layout.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class MatchBufferLowerer : public tir::StmtExprMutator {
 public:
  MatchBufferLowerer(const PrimFunc& func, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {
    // The scalar parameters have values of their own, which a match must agree with.
    for (const tir::Var* param : func.params) {
      if (!param->dtype.is_handle()) values_[param] = param;
    }
  }

 protected:
  const PrimExpr* VisitVar(const tir::Var* var) override { return values_.Lookup(var, var); }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    analyzer_.Bind(loop->loop_var, loop->min, loop->extent);
    return StmtExprMutator::VisitFor(loop);
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    if (block->match_buffers.empty()) return StmtExprMutator::VisitBlock(block);
    for (const tir::MatchBufferRegion* match : block->match_buffers) Match(*match);
    tir::Block lowered = *block;
    lowered.match_buffers = {};
    const tir::Stmt* visited = StmtExprMutator::VisitBlock(&lowered);
    return visited == &lowered ? workspace().New<tir::Block>(lowered) : visited;
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::BufferRegion* source = SourceOf(store->buffer, store->predicate, *store);
    if (!source) return StmtExprMutator::VisitBufferStore(store);
    const PrimExpr* value = VisitExpr(store->value);
    return workspace().New<tir::BufferStore>(source->buffer, value, ToSource(*source, store->indices));
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const tir::BufferRegion* source = SourceOf(load->buffer, load->predicate, *load);
    if (!source) return StmtExprMutator::VisitBufferLoad(load);
    return workspace().New<tir::BufferLoad>(load->dtype, source->buffer, ToSource(*source, load->indices));
  }

  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override {
    const auto* found = sources_.Find(region->buffer);
    if (!found) return StmtExprMutator::VisitBufferRegion(region);
    const List<const tir::Range*> source = (*found)->region;
    const size_t offset = source.size() - region->region.size();
    std::vector<const tir::Range*> ranges;
    for (size_t i = 0; i < source.size(); ++i) {
      const tir::Range* range = i < offset ? nullptr : region->region[i - offset];
      const PrimExpr* min = range ? make().Add(source[i]->min, VisitExpr(range->min)) : source[i]->min;
      const PrimExpr* extent = range ? VisitExpr(range->extent) : make().Const(1, min->dtype);
      ranges.push_back(workspace().New<tir::Range>(min, extent));
    }
    return workspace().New<tir::BufferRegion>((*found)->buffer, workspace().Copy(ranges));
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  void Error(const Node& at, const std::string& message) { diagnostics_.Error(Location(at), "pass-failed", message); }

  // The region that the buffer is matched to, or null.
  const tir::BufferRegion* SourceOf(const tir::Buffer* buffer, const PrimExpr* predicate, const Node& at) {
    const auto* found = sources_.Find(buffer);
    if (!found) return nullptr;
    if (predicate)
      Error(at, fmt::format("a predicated access to the matched buffer '{}' cannot be lowered", buffer->name));
    return *found;
  }

  List<const PrimExpr*> ToSource(const tir::BufferRegion& source, List<const PrimExpr*> indices) {
    const size_t offset = source.region.size() - indices.size();
    std::vector<const PrimExpr*> result;
    for (size_t i = 0; i < source.region.size(); ++i) {
      const PrimExpr* min = source.region[i]->min;
      result.push_back(i < offset ? min : make().Add(min, VisitExpr(indices[i - offset])));
    }
    return workspace().Copy(result);
  }

  void Match(const tir::MatchBufferRegion& match) {
    const tir::Buffer& buffer = *match.buffer;
    const tir::BufferRegion* region = VisitBufferRegion(match.source);
    const tir::Buffer& source = *region->buffer;
    if (buffer.scope() != source.scope() || buffer.dtype != source.dtype) {
      Error(match, fmt::format("'{}' has another dtype or storage scope than '{}', to which it is matched", buffer.name,
                               source.name));
    }
    if (arith::IsInt(buffer.elem_offset, 0) && !arith::IsInt(source.elem_offset, 0)) {
      Error(match,
            fmt::format("'{}' has no offset, but '{}', to which it is matched, has one", buffer.name, source.name));
    }
    const size_t offset = region->region.size() - buffer.shape.size();
    for (size_t i = 0; i < offset; ++i) Equal(match, region->region[i]->extent, 1, "the extent of a missing dimension");

    sources_[&buffer] = region;
    Bind(match, buffer.data, source.data, "data");
    MatchOffset(match, *region);
    MatchStrides(match, source, offset);
    for (size_t i = 0; i < buffer.shape.size(); ++i)
      Bind(match, buffer.shape[i], region->region[i + offset]->extent, fmt::format("shape[{}]", i));
  }

  void MatchOffset(const tir::MatchBufferRegion& match, const tir::BufferRegion& region) {
    const tir::Buffer& buffer = *match.buffer;
    std::vector<const PrimExpr*> start;
    for (const tir::Range* range : region.region) start.push_back(range->min);
    const std::vector<const PrimExpr*> offsets = ElementOffset(*region.buffer, start, analyzer_);
    // An offset into memory of several dimensions has no meaning.
    const bool is_flat = offsets.size() == 1;
    const PrimExpr* offset = is_flat ? offsets[0] : make().Const(0, buffer.elem_offset->dtype);
    Bind(match, buffer.elem_offset, offset, "elem_offset");
    if (is_flat && buffer.offset_factor > 1) {
      const PrimExpr* factor = make().Const(buffer.offset_factor, offset->dtype);
      Equal(match, make().TruncMod(VisitExpr(buffer.elem_offset), factor), 0, "the offset modulo the offset factor");
    }
  }

  void MatchStrides(const tir::MatchBufferRegion& match, const tir::Buffer& source, size_t offset) {
    const List<const PrimExpr*> strides = match.buffer->strides;
    if (strides.empty()) return;
    const PrimExpr* stride = strides.back()->dtype.is_handle() ? nullptr : make().Const(1, strides.back()->dtype);
    for (size_t i = strides.size(); i > 0; --i) {
      const size_t dim = i - 1 + offset;
      const PrimExpr* value = source.strides.empty() ? stride : source.strides[dim];
      if (!value) return Error(match, fmt::format("a stride of '{}' is not an integer", match.buffer->name));
      Bind(match, strides[i - 1], value, fmt::format("strides[{}]", i - 1));
      if (source.strides.empty()) stride = make().Mul(stride, source.shape[dim]);
    }
  }

  // The expression of the matched buffer shall have this value: a variable gets it, others must have it.
  void Bind(const tir::MatchBufferRegion& match, const PrimExpr* expr, const PrimExpr* value, std::string_view what) {
    value = VisitExpr(value);
    if (expr->dtype.is_int() && value->dtype.is_int() && expr->dtype.lanes == value->dtype.lanes)
      value = make().Cast(expr->dtype, value);
    if (expr->dtype != value->dtype) {
      return Error(match, fmt::format("{} of '{}' has the dtype {}, but {} is expected", what, match.buffer->name,
                                      expr->dtype.ToString(), value->dtype.ToString()));
    }
    const auto* var = As<tir::Var>(expr);
    if (var && values_.try_emplace(var, value).second) {
      if (!var->dtype.is_handle()) analyzer_.Bind(var, value);
      return;
    }
    const PrimExpr* expected = VisitExpr(expr);
    const bool agrees = expected == value || (!value->dtype.is_handle() && analyzer_.CanProveEqual(expected, value));
    if (!agrees) Error(match, fmt::format("{} of '{}' does not agree with the region", what, match.buffer->name));
  }

  void Equal(const tir::MatchBufferRegion& match, const PrimExpr* value, int64_t expected, std::string_view what) {
    if (analyzer_.CanProveEqual(value, make().Const(expected, value->dtype))) return;
    Error(match, fmt::format("{} of '{}' must be {}", what, match.buffer->name, expected));
  }

  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  LookupMap<const tir::Buffer*, const tir::BufferRegion*> sources_;
  LookupMap<const tir::Var*, const PrimExpr*> values_;
};

bool NeedsLowerMatchBuffer(const tir::Stmt* stmt) {
  const auto* block = As<tir::Block>(stmt);
  return block ? !block->match_buffers.empty() : HasNoOps(stmt);
}

}  // namespace

Pass CreateLowerMatchBuffer(const PassOptions& options) {
  return CreateMutatorPass<MatchBufferLowerer>(options.info(), {.needs = &NeedsLowerMatchBuffer});
}

}  // namespace iropt
