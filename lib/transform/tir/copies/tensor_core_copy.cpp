#include "transform/tir/copies/tensor_core_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "transform/tir/copies/cache_stage.h"
#include "transform/tir/copies/coalesced_access.h"
#include "transform/tir/copies/loop_nest.h"
#include "transform/tir/util/constant_conditions.h"

namespace iropt {

namespace {

constexpr int64_t kWmmaTile = 16;
constexpr int64_t kMmaTile = 8;
// Of shared memory that is accessed in tiles.
constexpr int64_t kTilePadding = 8;
constexpr std::string_view kMatrixA = "wmma.matrix_a";
constexpr std::string_view kMatrixB = "wmma.matrix_b";
constexpr std::string_view kMatrixC = "m16n8k8.matrixC";

// Access masks of T.tvm_access_ptr.
constexpr int64_t kReads = 1;
constexpr int64_t kWrites = 2;

class TileCopier {
 public:
  // A tile has tile x tile elements.
  TileCopier(int64_t tile, Workspace& workspace)
      : tile_(tile), workspace_(workspace), analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

  // The nest with its two innermost loops split into two over the tiles and two in a tile.
  Result<LoopNest> TileLoops(const tir::Stmt* stmt);
  // A block for each tile, in which the loops in the tile are replaced.
  Result<const tir::Stmt*> Load(const LoopNest& nest);
  Result<const tir::Stmt*> Store(const LoopNest& nest, std::string_view scope);

 private:
  // The part of a buffer that is one tile.
  struct Tile {
    const tir::BufferRegion* region;
    bool transposed;  // the inner loop runs through the outer one of the dimensions
  };

  const arith::PrimBuilder& make() const { return analyzer_.make(); }
  const PrimExpr* Int(int64_t value) const { return make().Int(value, DataType::Int(32)); }
  const PrimExpr* Call(DataType dtype, OpId op, std::initializer_list<const PrimExpr*> args) {
    return workspace_.New<tir::Call>(dtype, GetOp(op), workspace_.Copy(std::span(args.begin(), args.size())));
  }

  Result<Tile> TileOf(const LoopNest& nest, const tir::Buffer& buffer, List<const PrimExpr*> indices);
  bool IsAt(const PrimExpr* index, const tir::Range& range, const tir::Var* var) {
    return analyzer_.CanProveEqual(index, make().Add(range.min, var));
  }
  // Also checks that the tile can be matched to it.
  Result<const tir::Buffer*> MatchTile(const Tile& tile, std::string_view name, DataType dtype, bool strided);
  Status CheckOrder(const Tile& source, const Tile& target) const;
  const tir::Stmt* MakeBlock(const LoopNest& nest, std::string_view name, const Tile& source, const tir::Buffer* src,
                             const Tile& target, const tir::Buffer* tgt, const tir::Stmt* body);
  // An instruction that moves a tile between a fragment and memory.
  const tir::Stmt* Synchronize(OpId op, const tir::Buffer& fragment, const tir::Buffer& memory, int64_t access,
                               std::string_view layout);
  const tir::Stmt* StoreByThreads(const tir::Buffer& src, const tir::Buffer& tgt);

  const int64_t tile_;
  Workspace& workspace_;
  arith::Analyzer analyzer_;
};

Result<LoopNest> TileCopier::TileLoops(const tir::Stmt* stmt) {
  LoopNest nest = LoopNestOf(stmt);
  if (nest.loops.size() < 2) return CopyError("it must contain a nest of two loops or more");
  const std::array<const tir::For*, 2> split = {nest.loops[nest.loops.size() - 2], nest.loops.back()};
  nest.loops.resize(nest.loops.size() - 2);
  tir::VarValues values;
  std::vector<const tir::For*> inner;
  for (const tir::For* loop : split) {
    const DataType dtype = loop->loop_var->dtype;
    const PrimExpr* size = make().Const(tile_, dtype);
    const PrimExpr* extent = make().Cast(dtype, loop->extent);
    if (!analyzer_.CanProveEqual(make().FloorMod(extent, size), make().Const(0, dtype))) {
      return CopyError(
          fmt::format("the extent of the loop '{}' must be a multiple of {}", loop->loop_var->name, tile_));
    }
    nest.loops.push_back(NewLoop(fmt::format("{}_0", loop->loop_var->name), make().FloorDiv(extent, size), workspace_));
    inner.push_back(NewLoop(fmt::format("{}_1", loop->loop_var->name), size, workspace_));
    const PrimExpr* begin = make().Mul(nest.loops.back()->loop_var, size);
    values[loop->loop_var] = make().Add(loop->min, make().Add(begin, inner.back()->loop_var));
  }
  nest.loops.insert(nest.loops.end(), inner.begin(), inner.end());
  nest.body = tir::Substitute(nest.body, values, workspace_);
  return nest;
}

Result<TileCopier::Tile> TileCopier::TileOf(const LoopNest& nest, const tir::Buffer& buffer,
                                            List<const PrimExpr*> indices) {
  const tir::For& outer = *nest.loops[nest.loops.size() - 2];
  const tir::For& inner = *nest.loops.back();
  const arith::VarDomains domains = {{outer.loop_var, arith::IntervalSet::FromRange(outer.min, outer.extent, make())},
                                     {inner.loop_var, arith::IntervalSet::FromRange(inner.min, inner.extent, make())}};
  std::vector<const tir::Range*> ranges;
  bool is_tile = indices.size() >= 2;
  for (size_t i = 0; i < indices.size(); ++i) {
    const tir::Range whole(make().Const(0, buffer.shape[i]->dtype), buffer.shape[i]);
    const tir::Range range = arith::CoverRange(arith::EvalSet(indices[i], domains, analyzer_), whole, analyzer_);
    is_tile = is_tile && arith::IsInt(range.extent, i + 2 < indices.size() ? 1 : tile_);
    ranges.push_back(workspace_.New<tir::Range>(range));
  }
  const size_t last = indices.size() - 1;
  const auto is_at = [&](const tir::For& row, const tir::For& col) {
    return is_tile && IsAt(indices[last - 1], *ranges[last - 1], row.loop_var) &&
           IsAt(indices[last], *ranges[last], col.loop_var);
  };
  const bool straight = is_at(outer, inner);
  if (!straight && !is_at(inner, outer)) {
    return CopyError(
        fmt::format("its two innermost loops must run through {0} x {0} elements of the two innermost "
                    "dimensions of '{1}'",
                    tile_, buffer.name));
  }
  return Tile{workspace_.New<tir::BufferRegion>(&buffer, workspace_.Copy(ranges)), !straight};
}

Status TileCopier::CheckOrder(const Tile& source, const Tile& target) const {
  const bool is_free = target.region->buffer->scope() == kMatrixB;
  if (is_free || source.transposed == target.transposed) return {};
  return CopyError("it must not transpose the matrix");
}

Result<const tir::Buffer*> TileCopier::MatchTile(const Tile& tile, std::string_view name, DataType dtype,
                                                 bool strided) {
  const tir::Buffer& source = *tile.region->buffer;
  if (source.dtype != dtype) {
    return CopyError(fmt::format("the elements of '{}' must be {} instead of {}", source.name, dtype.ToString(),
                                 source.dtype.ToString()));
  }
  if (source.data_alignment % tir::kAllocAlignment != 0)
    return CopyError(fmt::format("'{}' must be aligned to {} bytes", source.name, tir::kAllocAlignment));
  if (source.buffer_type != tir::BufferType::kDefault)
    return CopyError(fmt::format("'{}' must not be broadcast", source.name));
  tir::BufferSpec spec = {.shape = {Int(tile_), Int(tile_)}, .dtype = dtype};
  spec.scope = source.scope();
  spec.offset_factor = tile_;
  if (strided) {
    for (const std::string_view stride : {"s1", "s0"})
      spec.strides.push_back(workspace_.NewPrimVar(stride, DataType::Int(32)));
  }
  return tir::MakeBuffer(workspace_, spec, name);
}

const tir::Stmt* TileCopier::MakeBlock(const LoopNest& nest, std::string_view name, const Tile& source,
                                       const tir::Buffer* src, const Tile& target, const tir::Buffer* tgt,
                                       const tir::Stmt* body) {
  const std::array<const tir::BufferRegion*, 1> reads = {source.region};
  const std::array<const tir::BufferRegion*, 1> writes = {target.region};
  const std::array<const tir::MatchBufferRegion*, 2> matches = {
      workspace_.New<tir::MatchBufferRegion>(src, source.region),
      workspace_.New<tir::MatchBufferRegion>(tgt, target.region)};
  const auto* block = workspace_.New<tir::Block>(
      List<const tir::IterVar*>(), workspace_.Copy(std::span<const tir::BufferRegion* const>(reads)),
      workspace_.Copy(std::span<const tir::BufferRegion* const>(writes)), name, List<const tir::Buffer*>(),
      workspace_.Copy(std::span<const tir::MatchBufferRegion* const>(matches)), DictAttr::Empty(), nullptr, body);
  const auto* realize = workspace_.New<tir::BlockRealize>(List<const PrimExpr*>(), True(workspace_), block);
  return WithLoops(std::span(nest.loops).first(nest.loops.size() - 2), realize, workspace_);
}

const tir::Stmt* TileCopier::Synchronize(OpId op, const tir::Buffer& fragment, const tir::Buffer& memory,
                                         int64_t access, std::string_view layout) {
  const PrimExpr* size = Int(tile_);
  const PrimExpr* elements = Int(tile_ * tile_);
  const PrimExpr* offset = fragment.elem_offset;
  // The number of the tile in the matrix.
  const PrimExpr* index =
      make().Add(make().FloorDiv(offset, elements), make().FloorDiv(make().FloorMod(offset, elements), size));
  const PrimExpr* stride = memory.strides[0];
  const PrimExpr* pointer = Call(DataType::Handle(), op::kTirTvmAccessPtr,
                                 {Call(memory.dtype, op::kTirTypeAnnotation, {}), memory.data, memory.elem_offset,
                                  make().Mul(stride, size), Int(access)});
  return workspace_.New<tir::Evaluate>(
      Call(DataType::Handle(), op,
           {fragment.data, size, size, size, index, pointer, stride, workspace_.New<tir::StringImm>(layout)}));
}

// The layout of a tile of m16n8k8: a thread has two neighboring elements of one of the 8 rows.
const tir::Stmt* TileCopier::StoreByThreads(const tir::Buffer& src, const tir::Buffer& tgt) {
  const PrimExpr* num_threads = Int(kThreadsOfWarp);
  const tir::Var* tx = workspace_.NewPrimVar("tx", DataType::Int(32));
  const tir::Var* vec = workspace_.NewPrimVar("vec", DataType::Int(32));
  const PrimExpr* col = make().Add(make().Mul(make().FloorMod(tx, Int(4)), Int(2)), vec);
  const std::array<const PrimExpr*, 2> indices = {make().FloorDiv(tx, Int(4)), col};
  const List<const PrimExpr*> list = workspace_.Copy(std::span<const PrimExpr* const>(indices));
  const PrimExpr* load = workspace_.New<tir::BufferLoad>(src.dtype, &src, list);
  const tir::Stmt* store = workspace_.New<tir::BufferStore>(&tgt, load, list);
  const tir::Stmt* loop =
      workspace_.New<tir::For>(vec, Int(0), Int(2), tir::ForKind::kVectorized, store, nullptr, DictAttr::Empty());
  const auto* axis = workspace_.New<tir::IterVar>(workspace_.New<tir::Range>(Int(0), num_threads), tx,
                                                  tir::IterVarType::kThreadIndex, kThreadTags[0]);
  return workspace_.New<tir::AttrStmt>(axis, attr::kThreadExtent, num_threads, loop);
}

Result<const tir::Stmt*> TileCopier::Load(const LoopNest& nest) {
  IROPT_ASSIGN_OR_RETURN(const tir::BufferStore* store, StoreIn(nest.body));
  const auto* load = As<tir::BufferLoad>(store->value);
  if (!load) return CopyError("it must store what it loads");
  IROPT_ASSIGN_OR_RETURN(const Tile source, TileOf(nest, *load->buffer, load->indices));
  IROPT_ASSIGN_OR_RETURN(const Tile target, TileOf(nest, *store->buffer, store->indices));
  IROPT_RETURN_IF_ERROR(CheckOrder(source, target));
  const DataType dtype = DataType::Float(16);
  IROPT_ASSIGN_OR_RETURN(const tir::Buffer* src, MatchTile(source, "src", dtype, true));
  IROPT_ASSIGN_OR_RETURN(const tir::Buffer* tgt, MatchTile(target, "tgt", dtype, false));
  const std::string_view layout = store->buffer->scope() == kMatrixA ? "row_major" : "col_major";
  return MakeBlock(nest, "wmma_load", source, src, target, tgt,
                   Synchronize(op::kTirTvmLoadMatrixSync, *tgt, *src, kReads, layout));
}

Result<const tir::Stmt*> TileCopier::Store(const LoopNest& nest, std::string_view scope) {
  IROPT_ASSIGN_OR_RETURN(const tir::BufferStore* store, StoreIn(nest.body));
  const auto* load = As<tir::BufferLoad>(store->value);
  if (!load || load->buffer->scope() != scope)
    return CopyError(fmt::format("it must store what it loads from '{}'", scope));
  IROPT_ASSIGN_OR_RETURN(const Tile source, TileOf(nest, *load->buffer, load->indices));
  IROPT_ASSIGN_OR_RETURN(const Tile target, TileOf(nest, *store->buffer, store->indices));
  IROPT_RETURN_IF_ERROR(CheckOrder(source, target));
  const DataType dtype = load->buffer->dtype;
  IROPT_ASSIGN_OR_RETURN(const tir::Buffer* src, MatchTile(source, "src", dtype, false));
  IROPT_ASSIGN_OR_RETURN(const tir::Buffer* tgt, MatchTile(target, "tgt", dtype, true));
  if (scope == kMatrixC) return MakeBlock(nest, "mma_store", source, src, target, tgt, StoreByThreads(*src, *tgt));
  return MakeBlock(nest, "wmma_store", source, src, target, tgt,
                   Synchronize(op::kTirTvmStoreMatrixSync, *src, *tgt, kWrites, "row_major"));
}

Result<const tir::Stmt*> StoreToGlobal(const tir::Stmt* stmt, std::string_view scope, int64_t tile,
                                       const BlockCopy& copy, CopyBuffers& buffers, Workspace& workspace) {
  TileCopier copier(tile, workspace);
  IROPT_ASSIGN_OR_RETURN(const LoopNest nest, copier.TileLoops(stmt));
  const size_t num_outer = nest.loops.size() - 3;  // one row of tiles is in shared memory at a time
  IROPT_ASSIGN_OR_RETURN(const SharedStage stage,
                         StageInSharedMemory(nest, num_outer, scope, copy, buffers, workspace));
  buffers.paddings.push_back({buffers.allocs.back(), kTilePadding});
  IROPT_ASSIGN_OR_RETURN(const tir::Stmt* fill, copier.Store(LoopNestOf(stage.fill), scope));
  IROPT_ASSIGN_OR_RETURN(const tir::Stmt* drain, CoalesceAccess(stage.drain, copy, workspace));
  const std::array<const tir::Stmt*, 2> stages = {fill, drain};
  return WithLoops(std::span(nest.loops).first(num_outer), tir::MakeSeq(workspace, stages), workspace);
}

}  // namespace

Result<const tir::Stmt*> LoadMatrix(const tir::Stmt* nest, const BlockCopy& copy, CopyBuffers& buffers,
                                    Workspace& workspace) {
  TileCopier copier(kWmmaTile, workspace);
  IROPT_ASSIGN_OR_RETURN(const LoopNest tiled, copier.TileLoops(nest));
  buffers.paddings.push_back({copy.read->buffer, kTilePadding});
  return copier.Load(tiled);
}

Result<const tir::Stmt*> StoreMatrix(const tir::Stmt* nest, const BlockCopy& copy, CopyBuffers& buffers,
                                     Workspace& workspace) {
  TileCopier copier(kWmmaTile, workspace);
  IROPT_ASSIGN_OR_RETURN(const LoopNest tiled, copier.TileLoops(nest));
  buffers.paddings.push_back({copy.write->buffer, kTilePadding});
  return copier.Store(tiled, kAccumulator);
}

Result<const tir::Stmt*> StoreMatrixToGlobal(const tir::Stmt* nest, const BlockCopy& copy, CopyBuffers& buffers,
                                             Workspace& workspace) {
  return StoreToGlobal(nest, kAccumulator, kWmmaTile, copy, buffers, workspace);
}

Result<const tir::Stmt*> StoreMmaToGlobal(const tir::Stmt* nest, const BlockCopy& copy, CopyBuffers& buffers,
                                          Workspace& workspace) {
  return StoreToGlobal(nest, kMatrixC, kMmaTile, copy, buffers, workspace);
}

}  // namespace iropt
