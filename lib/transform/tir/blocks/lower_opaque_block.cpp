// tir.LowerOpaqueBlock: removes the blocks, so that the function cannot be scheduled any more.
//
//   for tx in T.thread_binding(32, thread="threadIdx.x"):     tx = T.launch_thread("threadIdx.x", 32)
//       for i in range(1):                                    B = T.decl_buffer((16,))
//           with T.block(""):                          -->    if tx < 16:
//               T.where(tx < 16)                                  B[tx] = A[0, tx]
//               B = T.alloc_buffer((16,))
//               B[tx] = A[i, tx]
//
// Predicates become conditionals, buffers of blocks allocations, loops over threads attributes, and loops that run once
// and have no annotations go away. Annotations pragma_* become attributes; other annotations of blocks are dropped,
// those of loops stay. Refuses blocks with axes, see tir.ConvertBlocksToOpaque. Functions of the older scheduler stay.
// O(nodes).
//
// With the option annotate_allocations, allocations have the shape of their buffers and state the alignment, as TVM
// 0.26 does it.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/buffer_layout.h"
#include "transform/tir/util/loop_pass.h"
#include "transform/tir/util/pragmas.h"
#include "transform/tir/util/storage_align.h"

namespace iropt {

namespace {

class BlockLowerer : public tir::StmtExprMutator {
 public:
  BlockLowerer(const PrimFunc& func, bool annotate, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        annotate_(annotate),
        diagnostics_(diagnostics),
        make_(workspace.arena()),
        aligns_(CollectStorageAligns(func.body)) {}

 protected:
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    const PrimExpr* predicate = VisitExpr(realize->predicate);
    std::vector<const tir::Buffer*> buffers;
    for (const tir::Buffer* buffer : block.alloc_buffers) buffers.push_back(VisitBufferDef(buffer));
    const tir::Stmt* body = VisitStmt(block.body);
    if (!arith::IsInt(predicate, 1)) body = workspace().New<tir::IfThenElse>(predicate, body, nullptr);
    for (auto it = buffers.rbegin(); it != buffers.rend(); ++it) body = Allocate(**it, body);
    std::vector<DictAttr::Entry> pragmas;
    SplitPragmas(block.annotations, /*keeps_unroll=*/false, pragmas);
    return AddPragmas(make_.Int(0, DataType::Int(32)), pragmas, body, *realize);
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    tir::For copy = *loop;
    copy.min = VisitExpr(loop->min);
    copy.extent = VisitExpr(loop->extent);
    const bool runs_once = arith::IsInt(copy.extent, 1) && loop->annotations->size() == 0;
    if (runs_once) Remap(loop->loop_var, make_.Cast(loop->loop_var->dtype, copy.min));
    copy.body = VisitStmt(loop->body);
    std::vector<DictAttr::Entry> pragmas;
    const DictAttr* annotations = SplitPragmas(loop->annotations, /*keeps_unroll=*/false, pragmas);
    const tir::Stmt* lowered = nullptr;
    if (loop->for_kind == tir::ForKind::kThreadBinding) {
      lowered = LaunchThread(copy, workspace());
    } else if (runs_once) {
      return copy.body;
    } else {
      copy.annotations = annotations;
      const bool same = copy.min == loop->min && copy.extent == loop->extent && copy.body == loop->body &&
                        copy.annotations == loop->annotations;
      lowered = same ? loop : workspace().New<tir::For>(copy);
    }
    return AddPragmas(loop->loop_var, pragmas, lowered, *loop);
  }

 private:
  void Error(const Node& at, const std::string& message) { diagnostics_.Error(Location(at), "pass-failed", message); }

  const tir::Stmt* Allocate(const tir::Buffer& buffer, const tir::Stmt* body) {
    arith::Analyzer analyzer(make_, arith::Analyzer::SymVars::kAny);
    const std::vector<const PrimExpr*> shape =
        annotate_ ? std::vector(buffer.shape.begin(), buffer.shape.end()) : AllocationShape(buffer, analyzer);
    if (shape.size() != buffer.shape.size())
      Error(buffer, fmt::format("a stride of '{}' is not a multiple of the next one", buffer.name));
    const DictAttr* annotations = DictAttr::Empty();
    if (const auto it = aligns_.find(buffer.data); it != aligns_.end())
      annotations = annotations->With(attr::kBufferDimAlign, MakeStorageAlignAttr(it->second));
    if (annotate_) {
      std::vector<const Attr*> places;
      for (const PrimExpr* place : buffer.allocated_addr) {
        const int64_t* value = arith::AsInt(place);
        places.push_back(value ? static_cast<const Attr*>(IntAttr::Get(*value)) : ExprAttr::Get(place));
      }
      annotations = annotations->With("buffer_data_alignment", IntAttr::Get(buffer.data_alignment))
                        ->With("buffer_allocated_addr", ListAttr::Get(places));
    }
    body = workspace().New<tir::DeclBuffer>(&buffer, body);
    return workspace().New<tir::Allocate>(buffer.data, buffer.dtype, workspace().Copy(shape), True(workspace()),
                                          annotations, body);
  }

  // The statement with the pragmas as attributes of the node around it, the first key outermost.
  const tir::Stmt* AddPragmas(const PrimExpr* node, const std::vector<DictAttr::Entry>& pragmas, const tir::Stmt* stmt,
                              const Node& at) {
    for (size_t i = pragmas.size(); i-- > 0;) {
      const PrimExpr* value = PragmaValue(VisitAttr(pragmas[i].second), workspace());
      if (value) {
        stmt = workspace().New<tir::AttrStmt>(node, pragmas[i].first, value, stmt);
      } else {
        Error(at, fmt::format("the annotation '{}' is neither a number nor a string", pragmas[i].first));
      }
    }
    return stmt;
  }

  const bool annotate_;
  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  const StorageAligns aligns_;
};

}  // namespace

Pass CreateLowerOpaqueBlock(const PassOptions& options) {
  const bool annotate = options.Bool("annotate_allocations");
  return CreateLoopPass(options.info(), [annotate](const PrimFunc* func, FunctionPassContext& context) {
    BlockLowerer lowerer(*func, annotate, context.workspace(), context.diagnostics());
    return Result<const PrimFunc*>(WithBody(func, lowerer.VisitStmt(func->body), context.workspace()));
  });
}

}  // namespace iropt
