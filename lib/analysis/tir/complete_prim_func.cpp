#include "iropt/analysis/tir/complete_prim_func.h"

#include "iropt/analysis/tir/block_access.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {
namespace {

class BlockCompleter : public tir::StmtExprVisitor {
 public:
  BlockCompleter(std::span<const tir::IncompleteBlock> blocks, Workspace& workspace) : workspace_(workspace) {
    for (const tir::IncompleteBlock& incomplete : blocks) incomplete_.try_emplace(incomplete.block, incomplete);
  }

  std::vector<OpaqueAccess> Complete(std::span<const tir::Buffer* const> param_buffers, const tir::Stmt* body) {
    for (const tir::Buffer* buffer : param_buffers) {
      if (buffer) TrackBuffer(buffer);
    }
    if (const auto* root = As<tir::BlockRealize>(body)) incomplete_.erase(root->block);
    VisitStmt(body);
    return std::move(opaque_);
  }

 protected:
  void VisitExpr(const PrimExpr*) override {}

  void VisitDeclBuffer(const tir::DeclBuffer* stmt) override {
    const size_t outside = order_.size();
    TrackBuffer(stmt->buffer);
    VisitStmt(stmt->body);
    Forget(outside);
  }

  void VisitBlock(const tir::Block* block) override {
    const size_t outside = order_.size();
    for (const tir::Buffer* buffer : block->alloc_buffers) TrackBuffer(buffer);
    for (const tir::MatchBufferRegion* match : block->match_buffers) TrackBuffer(match->buffer);
    if (block->init) VisitStmt(block->init);
    VisitStmt(block->body);
    Forget(outside);
    if (const auto* found = incomplete_.Find(block)) FillIn(*found);
  }

 private:
  void TrackBuffer(const tir::Buffer* buffer) {
    if (known_.try_emplace(buffer->data, buffer).second) order_.push_back(buffer->data);
  }
  void Forget(size_t outside) {
    for (; order_.size() > outside; order_.pop_back()) known_.erase(order_.back());
  }

  void FillIn(const tir::IncompleteBlock& incomplete) {
    const BlockAccesses found = GetBlockAccessRegion(*incomplete.block, known_, workspace_);
    if (!found.opaques.empty()) opaque_.push_back({incomplete.block, found.opaques[0]->buffer});
    if (incomplete.reads) incomplete.block->reads = workspace_.Copy(found.reads);
    if (incomplete.writes) incomplete.block->writes = workspace_.Copy(found.writes);
  }

  Workspace& workspace_;
  LookupMap<const tir::Block*, tir::IncompleteBlock> incomplete_;
  BuffersByPointer known_;              // visible at the visited statement
  std::vector<const tir::Var*> order_;  // in the order of their definition
  std::vector<OpaqueAccess> opaque_;
};

}  // namespace

std::vector<OpaqueAccess> CompleteBlocks(std::span<const tir::Buffer* const> param_buffers, const tir::Stmt* body,
                                         std::span<const tir::IncompleteBlock> blocks, Workspace& workspace) {
  if (blocks.empty()) return {};
  return BlockCompleter(blocks, workspace).Complete(param_buffers, body);
}

const PrimFunc* CompletePrimFunc(tir::FuncBuilder& builder) {
  Workspace& workspace = builder.workspace();
  const tir::Stmt* body = builder.Finish();
  const auto opaque = CompleteBlocks(builder.param_buffers(), body, builder.incomplete_blocks(), workspace);
  IROPT_CHECK(opaque.empty(), "a block passes on the pointer of '{}' without stating its accesses",
              opaque.empty() ? "" : opaque[0].buffer->name);
  const Type* ret = builder.return_type() ? builder.return_type() : TupleType::Get({});
  auto* func = workspace.New<PrimFunc>(workspace.Copy(builder.params()), workspace.Copy(builder.param_buffers()), body,
                                       ret, builder.attrs(), nullptr);
  func->type = PrimFuncType(func);
  return func;
}

}  // namespace iropt
