// tir.TransformMmaBufferLayout: distributes the matrices of tensor core instructions over the threads of a warp.
//
//   C = T.alloc_buffer((32, 16), scope="m16n8k8.matrixC")   -->   C = T.alloc_buffer((2, 2, 2, 2), scope="local")
//   C[i, j] = T.float32(0)                                        C[i // 16, j // 8, i % 16 // 8, j % 2] = ...
//
// A matrix consists of tiles, and each of the 8 x 4 threads holds its part of every tile: tiles of 16 x 8 elements for
// matrixC, of 32 x 8 for matrixA, of 8 x 32 for matrixB. The last two are accessed by pointers only, which instructions
// understand: another access to them is an error, as is a shape that is not a multiple of the tile. The regions of
// blocks become the whole of the new buffers. O(nodes), plus the simplification of the indices.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

// The tile of a scope, and the part of a thread of it.
struct MmaTile {
  std::string_view scope;
  int64_t rows, cols;
  int64_t own_rows, own_cols;
};
constexpr std::string_view kSumMatrix = "m16n8k8.matrixC";
constexpr MmaTile kTiles[] = {
    {kSumMatrix, 16, 8, 2, 2}, {"m16n8k8.matrixA", 32, 8, 4, 2}, {"m16n8k8.matrixB", 8, 32, 1, 8}};

const MmaTile* TileOf(const tir::Buffer& buffer) {
  for (const MmaTile& tile : kTiles) {
    if (tile.scope == buffer.scope()) return &tile;
  }
  return nullptr;
}

class MmaBufferTransformer : public tir::StmtExprMutator {
 public:
  MmaBufferTransformer(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) {
      if (const MmaTile* tile = TileOf(*buffer)) Distribute(*block, *buffer, *tile);
    }
    return StmtExprMutator::VisitBlock(block);
  }

  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override {
    const tir::Buffer* remapped = RemapOf(buffer);
    return remapped ? remapped : StmtExprMutator::VisitBufferDef(buffer);
  }

  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override {
    const tir::Buffer* buffer = DistributedOf(region->buffer);
    if (!buffer) return StmtExprMutator::VisitBufferRegion(region);
    std::vector<const tir::Range*> ranges;
    for (const PrimExpr* dim : buffer->shape)
      ranges.push_back(workspace().New<tir::Range>(make().Const(0, dim->dtype), dim));
    return workspace().New<tir::BufferRegion>(buffer, workspace().Copy(ranges));
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Buffer* buffer = DistributedOf(store->buffer);
    if (!buffer) return StmtExprMutator::VisitBufferStore(store);
    const PrimExpr* value = VisitExpr(store->value);
    return workspace().New<tir::BufferStore>(buffer, value, MapIndices(*store, *store->buffer, store->indices));
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const tir::Buffer* buffer = DistributedOf(load->buffer);
    if (!buffer) return StmtExprMutator::VisitBufferLoad(load);
    return workspace().New<tir::BufferLoad>(load->dtype, buffer, MapIndices(*load, *load->buffer, load->indices));
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  // Null if the buffer is not a matrix that was distributed.
  const tir::Buffer* DistributedOf(const tir::Buffer* buffer) const {
    return TileOf(*buffer) ? RemapOf(buffer) : nullptr;
  }

  void Distribute(const tir::Block& block, const tir::Buffer& buffer, const MmaTile& tile) {
    const size_t rank = buffer.shape.size();
    const int64_t* rows = rank < 2 ? nullptr : arith::AsInt(buffer.shape[rank - 2]);
    const int64_t* cols = rank < 2 ? nullptr : arith::AsInt(buffer.shape[rank - 1]);
    if (!rows || !cols || *rows % tile.rows != 0 || *cols % tile.cols != 0) {
      diagnostics_.Error(Location(block), "pass-failed",
                         fmt::format("the buffer '{}' in '{}' does not consist of tiles of {} x {} elements",
                                     buffer.name, tile.scope, tile.rows, tile.cols));
      return;
    }
    tir::BufferSpec spec = {.shape = {buffer.shape.begin(), buffer.shape.end() - 2}, .dtype = buffer.dtype};
    for (const int64_t dim : {*rows / tile.rows, *cols / tile.cols, tile.own_rows, tile.own_cols})
      spec.shape.push_back(make().Int(dim, DataType::Int(32)));
    spec.scope = "local";
    spec.axis_separators = {buffer.axis_separators.begin(), buffer.axis_separators.end()};
    const tir::Buffer* own = tir::MakeBuffer(workspace(), spec, buffer.name);
    Remap(buffer.data, own->data);
    Remap(&buffer, own);
  }

  // Maps the indices of an element of matrixC to those in the elements of a thread.
  List<const PrimExpr*> MapIndices(const Node& access, const tir::Buffer& buffer, List<const PrimExpr*> indices) {
    if (buffer.scope() != kSumMatrix || indices.size() != 2) {
      diagnostics_.Error(Location(access), "pass-failed",
                         fmt::format("an access to the matrix '{}' in '{}' cannot be distributed over threads",
                                     buffer.name, buffer.scope()));
      return indices;
    }
    const PrimExpr* i = VisitExpr(indices[0]);
    const PrimExpr* j = VisitExpr(indices[1]);
    const auto div = [&](const PrimExpr* a, int64_t b) { return make().FloorDiv(a, make().Const(b, a->dtype)); };
    const auto mod = [&](const PrimExpr* a, int64_t b) { return make().FloorMod(a, make().Const(b, a->dtype)); };
    std::vector<const PrimExpr*> mapped = {div(div(i, 8), 2), div(j, 8), mod(div(i, 8), 2), mod(mod(j, 8), 2)};
    for (const PrimExpr*& index : mapped) index = analyzer_.Simplify(index);
    return workspace().Copy(mapped);
  }

  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
};

bool NeedsTransformMmaBufferLayout(const tir::Stmt* stmt) {
  const auto* block = As<tir::Block>(stmt);
  return block ? std::ranges::any_of(block->alloc_buffers, [](const tir::Buffer* buffer) { return TileOf(*buffer); })
               : HasNoOps(stmt);
}

}  // namespace

Pass CreateTransformMmaBufferLayout(const PassOptions& options) {
  return CreateMutatorPass<MmaBufferTransformer>(options.info(), {.needs = &NeedsTransformMmaBufferLayout});
}

}  // namespace iropt
