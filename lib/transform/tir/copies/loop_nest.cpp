#include "transform/tir/copies/loop_nest.h"

namespace iropt {

LoopNest LoopNestOf(const tir::Stmt* stmt) {
  LoopNest nest = {{}, stmt};
  while (const auto* loop = As<tir::For>(nest.body)) {
    nest.loops.push_back(loop);
    nest.body = loop->body;
  }
  return nest;
}

const tir::Stmt* WithLoops(std::span<const tir::For* const> loops, const tir::Stmt* body, Workspace& workspace) {
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    auto* copy = workspace.New<tir::For>(**loop);
    copy->body = body;
    body = copy;
  }
  return body;
}

const tir::For* NewLoop(std::string_view name, const PrimExpr* extent, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  return workspace.New<tir::For>(workspace.NewPrimVar(name, extent->dtype), make.Const(0, extent->dtype), extent,
                                 tir::ForKind::kSerial, nullptr, nullptr, DictAttr::Empty());
}

Result<const tir::BufferStore*> StoreIn(const tir::Stmt* body) {
  const auto* store = As<tir::BufferStore>(body);
  if (!store || store->predicate) return CopyError("its loops must contain a store and nothing else");
  return store;
}

}  // namespace iropt
