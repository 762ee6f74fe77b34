// tir.InjectPermutedLayout: permutes the columns of shared memory so that threads of a warp use different banks.
//
//   T.block_attr({"permuted_layout": 1})              -->
//   S[i, j] = A[i, j]                                       S[i, T.bitwise_xor(j // 8, i % 8) * 8 + j % 8] = A[i, j]
//
// In blocks with this attribute, which is removed, groups of 8 elements of a row change places: group g of row r
// becomes group g ^ (r % 8) if the rows are multiples of 64 elements, and g ^ (r % 8 // 2) if they are multiples of 32.
// The offsets of T.ptx_ldmatrix and T.mma_store change likewise. Other rows, and pointers of another form, are an
// error. O(nodes), plus the simplification of the indices.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/mutator.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/constant_conditions.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

constexpr std::string_view kPermutedLayout = "permuted_layout";
constexpr int64_t kGroup = 8;

bool IsPermuted(const tir::Block& block) {
  const Attr* value = block.annotations->Find(kPermutedLayout);
  // Text is the older form of the attribute.
  if (const auto* text = As<StrAttr>(value)) return !text->value.empty();
  const auto* flag = As<IntAttr>(value);
  return flag && flag->value != 0;
}

class PermutedLayoutInjector : public arith::StmtExprMutatorWithAnalyzer {
 public:
  PermutedLayoutInjector(const PrimFunc& func, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutatorWithAnalyzer(func, workspace), diagnostics_(diagnostics) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) buffers_.try_emplace(buffer->data, buffer);
    }
  }

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) buffers_.try_emplace(buffer->data, buffer);
    for (const tir::MatchBufferRegion* match : block->match_buffers)
      buffers_.try_emplace(match->buffer->data, match->buffer);
    if (!IsPermuted(*block)) return StmtExprMutatorWithAnalyzer::VisitBlock(block);
    const bool outer = std::exchange(permute_, true);
    tir::Block copy = *To<tir::Block>(StmtExprMutatorWithAnalyzer::VisitBlock(block));
    permute_ = outer;
    copy.annotations = copy.annotations->Without(kPermutedLayout);
    return workspace().New<tir::Block>(copy);
  }

  // Regions are those before the permutation.
  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override {
    const bool outer = std::exchange(permute_, false);
    const tir::BufferRegion* visited = StmtExprMutatorWithAnalyzer::VisitBufferRegion(region);
    permute_ = outer;
    return visited;
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const auto* visited = To<tir::BufferStore>(StmtExprMutatorWithAnalyzer::VisitBufferStore(store));
    if (!IsPermutedBuffer(*visited->buffer)) return visited;
    auto* copy = workspace().New<tir::BufferStore>(*visited);
    copy->indices = PermuteIndices(*store, *visited->buffer, visited->indices);
    return copy;
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* visited = To<tir::BufferLoad>(StmtExprMutatorWithAnalyzer::VisitBufferLoad(load));
    if (!IsPermutedBuffer(*visited->buffer)) return visited;
    auto* copy = workspace().New<tir::BufferLoad>(*visited);
    copy->indices = PermuteIndices(*load, *visited->buffer, visited->indices);
    return copy;
  }

  const PrimExpr* VisitCall(const tir::Call* call) override {
    const PrimExpr* visited = StmtExprMutatorWithAnalyzer::VisitCall(call);
    const auto* access = As<tir::Call>(visited);
    if (!permute_ || !access) return visited;
    if (IsOp(access->op, op::kTirPtxLdmatrix) && access->args.size() > 6) return PermutePointer(*access, 5, 6);
    if (IsOp(access->op, op::kTirMmaStore) && access->args.size() > 2) return PermutePointer(*access, 2, 0);
    return visited;
  }

 private:
  using Position = std::pair<const PrimExpr*, const PrimExpr*>;

  int64_t Error(const Node& at, const std::string& message) {
    diagnostics_.Error(Location(at), "pass-failed", message);
    return 0;
  }
  const PrimExpr* Like(int64_t value, const PrimExpr* expr) const { return make().Const(value, expr->dtype); }

  bool IsPermutedBuffer(const tir::Buffer& buffer) const {
    return permute_ && buffer.shape.size() >= 2 && StorageScope::Of(buffer.scope()).rank == StorageRank::kShared;
  }

  // The elements of a row; 0 after an error.
  int64_t RowSize(const Node& at, const tir::Buffer& buffer) {
    const size_t rank = buffer.shape.size();
    const int64_t* rows = rank < 2 ? nullptr : arith::AsInt(buffer.shape[rank - 2]);
    const int64_t* cols = rank < 2 ? nullptr : arith::AsInt(buffer.shape[rank - 1]);
    if (cols && *cols > 0 && *cols % 64 == 0) return *cols;
    if (cols && *cols > 0 && *cols % 32 == 0 && rows && *rows % 2 == 0) return *cols;
    return Error(at, fmt::format("the layout of '{}' cannot be permuted: its rows must be multiples of 64 elements, or "
                                 "an even number of rows multiples of 32",
                                 buffer.name));
  }

  // The new column.
  const PrimExpr* Permute(const PrimExpr* row, const PrimExpr* col, int64_t row_size) {
    const PrimExpr* key = make().FloorMod(row, Like(8, row));
    if (row_size % 64 != 0) key = make().FloorDiv(key, Like(2, key));
    const PrimExpr* group = make().FloorDiv(col, Like(kGroup, col));
    group = make().Mul(make().Bitwise(arith::BitOp::kXor, group, key), Like(kGroup, col));
    return analyzer().Simplify(make().Add(group, make().FloorMod(col, Like(kGroup, col))));
  }

  List<const PrimExpr*> PermuteIndices(const Node& at, const tir::Buffer& buffer, List<const PrimExpr*> indices) {
    const int64_t row_size = RowSize(at, buffer);
    if (row_size == 0) return indices;
    std::vector<const PrimExpr*> permuted(indices.begin(), indices.end());
    permuted.back() = Permute(indices[indices.size() - 2], indices.back(), row_size);
    return workspace().Copy(permuted);
  }

  // The call with another offset in the pointer at `pointer`. The operand at `offset`, unless that is 0, is added to it
  // and becomes 0.
  const PrimExpr* PermutePointer(const tir::Call& call, size_t pointer, size_t offset) {
    const auto* access = As<tir::Call>(call.args[pointer]);
    const bool fits = access && IsOp(access->op, op::kTirTvmAccessPtr) && access->args.size() == 5;
    const auto* buffer = fits ? buffers_.Find(As<tir::Var>(access->args[1])) : nullptr;
    if (!buffer) {
      Error(call, "a permuted layout needs pointers of the form T.tvm_access_ptr of a known buffer");
      return &call;
    }
    const int64_t row_size = RowSize(call, **buffer);
    if (row_size == 0) return &call;
    const PrimExpr* position = access->args[2];
    if (offset != 0) position = make().Add(position, call.args[offset]);
    const PrimExpr* row = make().FloorDiv(position, Like(row_size, position));
    const PrimExpr* col = Permute(row, make().FloorMod(position, Like(row_size, position)), row_size);
    std::vector<const PrimExpr*> pointer_args(access->args.begin(), access->args.end());
    pointer_args[2] = analyzer().Simplify(make().Add(make().Mul(row, Like(row_size, row)), col));
    std::vector<const PrimExpr*> args(call.args.begin(), call.args.end());
    args[pointer] = workspace().New<tir::Call>(access->dtype, access->op, workspace().Copy(pointer_args));
    if (offset != 0) args[offset] = Like(0, call.args[offset]);
    return workspace().New<tir::Call>(call.dtype, call.op, workspace().Copy(args));
  }

  DiagnosticEngine& diagnostics_;
  LookupMap<const tir::Var*, const tir::Buffer*> buffers_;
  bool permute_ = false;
};

bool NeedsInjectPermutedLayout(const tir::Stmt* stmt) {
  const auto* block = As<tir::Block>(stmt);
  return block ? IsPermuted(*block) : HasNoOps(stmt) || HasConstantCondition(stmt);
}

}  // namespace

Pass CreateInjectPermutedLayout(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    if (!tir::FindStmt(func.body, NeedsInjectPermutedLayout) && !HasConstantSelection(func.body)) return func.body;
    return PermutedLayoutInjector(func, context.workspace(), context.diagnostics()).VisitStmt(func.body);
  });
}

}  // namespace iropt
