// tir.TextureFlatten: accesses buffers in texture memory as images of two dimensions.
//
//   A: T.Buffer((N, C, H, W, 4), scope="global.texture")
//   B[...] = A[n, c, h, w, k]    -->    B[...] = T.texture2d_load(A.data, w, (n * C + c) * H + h, k)
//
// The scope says which dimensions are the rows: all but the last two (global.texture), the first
// (global.texture-weight) or the first two (global.texture-nhwc; of three, the first). The last dimension, of 1 or 4,
// are the channels of a point. Buffers in such memory that are realized become allocations of images; the realization
// of a parameter goes away. Other buffers stay. O(nodes), plus the simplification of the indices.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

bool IsTexture(const tir::Var* data) {
  return data->pointer && data->pointer->scope.find("texture") != std::string_view::npos;
}
bool IsTexture(const tir::Buffer& buffer) { return IsTexture(buffer.data); }

// The number of leading dimensions that are the rows of the image; nullopt for an unknown scope.
std::optional<size_t> NumRowDims(std::string_view scope, size_t rank) {
  if (scope == "global.texture") return rank < 2 ? 0 : rank - 2;
  if (scope == "global.texture-weight") return 1;
  if (scope == "global.texture-nhwc") return rank == 3 ? 1 : 2;
  return std::nullopt;
}

class TextureFlattener : public tir::StmtExprMutator {
 public:
  TextureFlattener(const PrimFunc& func, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        params_(func.param_buffers.begin(), func.param_buffers.end()) {}

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* visited = To<tir::BufferLoad>(StmtExprMutator::VisitBufferLoad(load));
    if (!IsTexture(*load->buffer)) return visited;
    std::vector<const PrimExpr*> args = Position(*visited->buffer, visited->indices, *load);
    if (args.empty()) return load;
    args.push_back(visited->indices[visited->indices.size() - 1]);
    return NewCall(visited->buffer->dtype, op::kTirTexture2dLoad, args);
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const auto* visited = To<tir::BufferStore>(StmtExprMutator::VisitBufferStore(store));
    if (!IsTexture(*store->buffer)) return visited;
    std::vector<const PrimExpr*> args = Position(*visited->buffer, visited->indices, *store);
    if (args.empty()) return store;
    args.push_back(visited->value);
    return workspace().New<tir::Evaluate>(NewCall(args[0]->dtype, op::kTirTexture2dStore, args));
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* realize = stmt->attr_key == attr::kRealizeScope ? As<tir::BufferRealize>(stmt->body) : nullptr;
    if (realize && (params_.contains(realize->buffer) || IsTexture(*realize->buffer))) return VisitStmt(realize);
    if (const tir::IterVar* axis = tir::LaunchAxisOf(*stmt))
      analyzer_.Bind(axis->var, analyzer_.make().Const(0, stmt->value->dtype), stmt->value);
    return StmtExprMutator::VisitAttrStmt(stmt);
  }
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    analyzer_.Bind(loop->loop_var, loop->min, loop->extent);
    return StmtExprMutator::VisitFor(loop);
  }

  const tir::Stmt* VisitBufferRealize(const tir::BufferRealize* realize) override {
    const tir::Buffer& buffer = *realize->buffer;
    if (params_.contains(&buffer)) return VisitStmt(realize->body);
    if (!IsTexture(buffer)) return StmtExprMutator::VisitBufferRealize(realize);
    const size_t rank = realize->bounds.size();
    const std::optional<size_t> num_rows = NumRowDims(buffer.scope(), rank);
    const int64_t* channels = rank < 3 ? nullptr : arith::AsInt(realize->bounds[rank - 1]->extent);
    if (!num_rows || !channels || (*channels != 1 && *channels != 4)) {
      diagnostics_.Error(
          Location(*realize), "pass-failed",
          fmt::format("'{}' is not an image: expected a known scope, and at least 3 dimensions, the last "
                      "of 1 or 4",
                      buffer.name));
      return realize;
    }
    return Allocate(*realize, *num_rows);
  }

 private:
  const PrimExpr* NewCall(DataType dtype, OpId op, const std::vector<const PrimExpr*>& args) {
    return workspace().New<tir::Call>(dtype, GetOp(op), workspace().Copy(args));
  }

  const tir::Stmt* Allocate(const tir::BufferRealize& realize, size_t num_rows) {
    const arith::PrimBuilder& make = analyzer_.make();
    const tir::Buffer& buffer = *realize.buffer;
    const PrimExpr* width = make.Int(1, DataType::Int(32));
    const PrimExpr* height = width;
    for (size_t i = 0; i + 1 < realize.bounds.size(); ++i) {
      const PrimExpr*& size = i < num_rows ? height : width;
      size = make.Mul(size, VisitExpr(realize.bounds[i]->extent));
    }
    const PrimExpr* scope = workspace().New<tir::StringImm>(buffer.scope());
    const PrimExpr* shape = NewCall(DataType::Handle(), op::kTirTvmStackMakeShape, {width, height});
    const PrimExpr* image =
        NewCall(DataType::Handle(), op::kTirNdMemAllocWithScope, {scope, make.Int(2, DataType::Int(64)), shape});
    return workspace().New<tir::LetStmt>(buffer.data, image, VisitStmt(realize.body));
  }

  // The image, the column and the row. Empty after an error.
  std::vector<const PrimExpr*> Position(const tir::Buffer& buffer, std::span<const PrimExpr* const> indices,
                                        const Node& at) {
    const std::optional<size_t> num_rows = NumRowDims(buffer.scope(), buffer.shape.size());
    if (!num_rows || indices.empty()) {
      diagnostics_.Error(Location(at), "pass-failed",
                         fmt::format("unknown layout of images '{}' of the buffer '{}'", buffer.scope(), buffer.name));
      return {};
    }
    const size_t split = std::min(*num_rows, indices.size() - 1);
    const std::span<const PrimExpr* const> shape = buffer.shape;
    const PrimExpr* column = Offset(shape.subspan(split), indices.subspan(split, indices.size() - 1 - split));
    return {buffer.data, column, Offset(shape, indices.first(split))};
  }

  const PrimExpr* Offset(std::span<const PrimExpr* const> shape, std::span<const PrimExpr* const> indices) {
    const arith::PrimBuilder& make = analyzer_.make();
    const PrimExpr* zero = make.Int(0, DataType::Int(32));
    if (indices.empty()) return zero;
    const PrimExpr* offset = indices[0];
    for (size_t i = 1; i < indices.size(); ++i)
      offset = analyzer_.Simplify(make.Add(make.Mul(offset, shape[i]), indices[i]));
    return make.Add(zero, offset);
  }

  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;  // knows the ranges of loops and threads
  const LookupSet<const tir::Buffer*> params_;
};

// Images are realized, or defined with their scope.
bool NeedsTextureFlatten(const tir::Stmt* stmt) {
  const auto is_texture = [](const auto* buffer) { return IsTexture(*buffer); };
  if (const auto* block = As<tir::Block>(stmt))
    return std::ranges::any_of(block->alloc_buffers, is_texture) ||
           std::ranges::any_of(block->match_buffers, is_texture, &tir::MatchBufferRegion::buffer);
  if (const auto* allocate = As<tir::Allocate>(stmt)) return IsTexture(allocate->buffer_var);
  if (const auto* let = As<tir::LetStmt>(stmt)) return IsTexture(let->var);
  if (const auto* decl = As<tir::DeclBuffer>(stmt)) return IsTexture(*decl->buffer);
  return Is<tir::BufferRealize>(stmt) || HasNoOps(stmt);
}

}  // namespace

Pass CreateTextureFlatten(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    const auto is_texture = [](const tir::Buffer* buffer) { return buffer && IsTexture(*buffer); };
    const bool has_images = std::ranges::any_of(func.params, [](const tir::Var* param) { return IsTexture(param); }) ||
                            std::ranges::any_of(func.param_buffers, is_texture);
    if (!has_images && !tir::FindStmt(func.body, NeedsTextureFlatten)) return func.body;
    return TextureFlattener(func, context.workspace(), context.diagnostics()).VisitStmt(func.body);
  });
}

}  // namespace iropt
