// tir.CompactBufferAllocation: makes allocated buffers as small as the part of them that is accessed.
//
//   for i in range(16):                               for i in range(16):
//       B = T.decl_buffer((16, 16))                       B = T.decl_buffer((1, 16))
//       for j in range(16):                               for j in range(16):
//           B[i, j] = A[i, j]                 -->             B[i - i, j] = A[i, j]
//       for j in range(16):                               for j in range(16):
//           C[i, j] = B[i, j]                                 C[i, j] = B[i - i, j]
//
// The alignments of dimensions (buffer_dim_align) become strides. Buffers whose memory has several views stay. With
// is_strict, accesses outside of the shape of a buffer do not count. Refuses blocks with axes, see
// tir.ConvertBlocksToOpaque. Functions of the older scheduler stay. O(nodes times nesting), plus simplification.
//
// Source: TVM 0.18's pass of this name. Conditions between several iterators count if they bound an iterator map.
#include <algorithm>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/CompactBufferAllocation.h"
#include "transform/tir/buffers/access_regions.h"
#include "transform/tir/util/buffer_layout.h"
#include "transform/tir/util/prim_func_pass.h"
#include "transform/tir/util/storage_align.h"

namespace iropt {

namespace {

class BufferCompactor : public tir::StmtExprMutator {
 public:
  BufferCompactor(const PrimFunc& func, bool in_bound, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {
    const StorageAligns aligns = CollectStorageAligns(func.body);
    for (AccessedRegion& accessed : CollectAccessedRegions(func, in_bound, workspace)) {
      const tir::Buffer* buffer = accessed.buffer;
      const auto* align = aligns.Find(buffer->data);
      const tir::Buffer* compact = Compact(*buffer, accessed.region, !align ? nullptr : align);
      compacted_.try_emplace(buffer->data, Compacted{compact, std::move(accessed.region)});
    }
  }

 protected:
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return BufferOf(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return BufferOf(buffer); }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    const Compacted* compacted = Find(store->buffer);
    if (!compacted) return visited;
    tir::BufferStore copy = *To<tir::BufferStore>(visited);
    copy.indices = Shift(copy.indices, *compacted);
    return workspace().New<tir::BufferStore>(copy);
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    const Compacted* compacted = Find(load->buffer);
    if (!compacted) return visited;
    tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
    copy.flags = 0;
    copy.indices = Shift(copy.indices, *compacted);
    return workspace().New<tir::BufferLoad>(copy);
  }

  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override {
    const tir::BufferRegion* visited = StmtExprMutator::VisitBufferRegion(region);
    const Compacted* compacted = Find(region->buffer);
    if (!compacted) return visited;
    std::vector<const tir::Range*> ranges;
    for (size_t i = 0; i < visited->region.size(); ++i) {
      const tir::Range& range = *visited->region[i];
      const PrimExpr* min = make().Sub(range.min, compacted->region[i].min);
      const bool is_narrower = range.extent->dtype.bits < min->dtype.bits;
      const PrimExpr* extent = is_narrower ? make().Cast(min->dtype, range.extent) : range.extent;
      ranges.push_back(workspace().New<tir::Range>(min, extent));
    }
    return workspace().New<tir::BufferRegion>(visited->buffer, workspace().Copy(ranges));
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const auto* visited = To<tir::Allocate>(StmtExprMutator::VisitAllocate(allocate));
    const auto* found = compacted_.Find(allocate->buffer_var);
    if (!found || found->buffer->dtype != allocate->dtype) return visited;
    const std::vector<const PrimExpr*> shape = AllocationShape(*found->buffer, analyzer_);
    if (shape.size() != found->buffer->shape.size() || std::ranges::equal(shape, visited->extents)) return visited;
    tir::Allocate copy = *visited;
    copy.extents = workspace().Copy(shape);
    return workspace().New<tir::Allocate>(copy);
  }

 private:
  struct Compacted {
    const tir::Buffer* buffer;
    std::vector<tir::Range> region;  // of the old buffer
  };

  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  const Compacted* Find(const tir::Buffer* buffer) const { return compacted_.Find(buffer->data); }
  const tir::Buffer* BufferOf(const tir::Buffer* buffer) {
    const Compacted* compacted = Find(buffer);
    return compacted ? compacted->buffer : RewriteBuffer(buffer);
  }

  const tir::Buffer* Compact(const tir::Buffer& buffer, const std::vector<tir::Range>& region,
                             const std::vector<StorageAlign>* aligns) {
    std::vector<const PrimExpr*> shape;
    for (const tir::Range& range : region) shape.push_back(range.extent);
    const std::vector<const PrimExpr*> strides = aligns ? Strides(shape, *aligns) : std::vector<const PrimExpr*>();
    const bool is_at_start = arith::IsInt(buffer.elem_offset, 0);
    if (is_at_start && DeepEqual(shape, buffer.shape) && DeepEqual(strides, buffer.strides)) return &buffer;
    tir::Buffer copy = buffer;
    copy.shape = workspace().Copy(shape);
    copy.strides = workspace().Copy(strides);
    // It begins where its memory does. An offset of 0 is not printed, and has the dtype of the dimensions.
    copy.elem_offset = make().Const(0, shape.empty() ? buffer.elem_offset->dtype : shape[0]->dtype);
    copy.id = workspace().NextVarId();
    return workspace().New<tir::Buffer>(copy);
  }

  // Row by row, where the stride of an aligned dimension is its offset modulo its factor.
  std::vector<const PrimExpr*> Strides(const std::vector<const PrimExpr*>& shape,
                                       const std::vector<StorageAlign>& aligns) const {
    std::vector<const PrimExpr*> strides(shape.size());
    if (shape.empty()) return strides;
    const PrimExpr* stride = make().Const(1, shape[0]->dtype);
    for (size_t i = shape.size(); i > 0; --i) {
      const size_t dim = i - 1;
      // The last request for a dimension counts.
      for (auto align = aligns.rbegin(); align != aligns.rend(); ++align) {
        if (align->dim != static_cast<int64_t>(dim)) continue;
        if (align->factor == 0) break;
        const PrimExpr* factor = make().Const(align->factor, stride->dtype);
        const PrimExpr* offset = make().Const(align->offset, stride->dtype);
        const PrimExpr* missing = make().Sub(make().Add(factor, offset), make().FloorMod(stride, factor));
        stride = make().Add(stride, make().FloorMod(missing, factor));
        break;
      }
      strides[dim] = stride;
      stride = make().Mul(stride, shape[dim]);
    }
    return strides;
  }

  List<const PrimExpr*> Shift(List<const PrimExpr*> indices, const Compacted& compacted) {
    std::vector<const PrimExpr*> result;
    for (size_t i = 0; i < indices.size(); ++i) result.push_back(make().Sub(indices[i], compacted.region[i].min));
    return workspace().Copy(result);
  }

  arith::Analyzer analyzer_;
  LookupMap<const tir::Var*, Compacted> compacted_;  // by data pointer
};

}  // namespace

Pass CreateCompactBufferAllocation(const PassOptions& options) {
  return CreateMutatorPass<BufferCompactor>(options.info(), kSkipLegacy,
                                            *pass_options::CompactBufferAllocation(options).is_strict);
}

}  // namespace iropt
