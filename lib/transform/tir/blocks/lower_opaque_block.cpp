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
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/LowerOpaqueBlock.h"
#include "transform/tir/util/buffer_layout.h"
#include "transform/tir/util/constant_conditions.h"
#include "transform/tir/util/loop_lowerer.h"
#include "transform/tir/util/pragmas.h"
#include "transform/tir/util/prim_func_pass.h"
#include "transform/tir/util/storage_align.h"

namespace iropt {

namespace {

class BlockLowerer : public LoopLowerer {
 public:
  BlockLowerer(const PrimFunc& func, bool annotate, Workspace& workspace, DiagnosticEngine& diagnostics)
      : LoopLowerer(tir::kRewriteBuffers, /*keeps_unroll=*/false, workspace, diagnostics),
        annotate_(annotate),
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
    return AddPragmas(make().Int(0, DataType::Int(32)), pragmas, body, *realize);
  }

 private:
  const tir::Stmt* Allocate(const tir::Buffer& buffer, const tir::Stmt* body) {
    arith::Analyzer analyzer(make(), arith::Analyzer::SymVars::kAny);
    const std::vector<const PrimExpr*> shape =
        annotate_ ? std::vector(buffer.shape.begin(), buffer.shape.end()) : AllocationShape(buffer, analyzer);
    if (shape.size() != buffer.shape.size())
      Error(buffer, fmt::format("a stride of '{}' is less than the dimensions inside of it need", buffer.name));
    const DictAttr* annotations = DictAttr::Empty();
    if (const auto* it = aligns_.Find(buffer.data))
      annotations = annotations->With(attr::kBufferDimAlign, MakeStorageAlignAttr(*it));
    if (annotate_) {
      std::vector<const Attr*> places;
      for (const PrimExpr* place : buffer.allocated_addr) {
        const int64_t* value = arith::AsInt(place);
        places.push_back(value ? static_cast<const Attr*>(IntAttr::Get(*value)) : ExprAttr::Get(place));
      }
      annotations = annotations->With(attr::kBufferDataAlignment, IntAttr::Get(buffer.data_alignment))
                        ->With(attr::kBufferAllocatedAddr, ListAttr::Get(places));
    }
    body = workspace().New<tir::DeclBuffer>(&buffer, body);
    return workspace().New<tir::Allocate>(buffer.data, buffer.dtype, workspace().Copy(shape), True(workspace()),
                                          annotations, body);
  }

  const bool annotate_;
  const StorageAligns aligns_;
};

}  // namespace

Pass CreateLowerOpaqueBlock(const PassOptions& options) {
  return CreateMutatorPass<BlockLowerer>(options.info(), kSkipLegacy,
                                         *pass_options::LowerOpaqueBlock(options).annotate_allocations);
}

}  // namespace iropt
