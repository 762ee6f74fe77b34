#include "transform/tir/dtypes/storage_legalizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "transform/tir/dtypes/float_conversion.h"

namespace iropt {

namespace {

// Loads and reinterpretations become integers; VisitExpr gives other operations the floats that they compute with.
class StorageLegalizer : public tir::StmtExprMutator {
 public:
  StorageLegalizer(DTypePredicate is_narrow, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        is_narrow_(is_narrow),
        diagnostics_(diagnostics),
        make_(workspace) {}

  const PrimFunc* Legalize(const PrimFunc* func) {
    const auto matched = std::ranges::find_if(func->param_buffers, [](const tir::Buffer* b) { return b != nullptr; });
    if (matched != func->param_buffers.end()) {
      diagnostics_.Error(
          Location(*func), "pass-failed",
          fmt::format("the parameter '{}' is a buffer: run tir.MakePackedAPI first, for a target with a host",
                      (*matched)->name));
      return func;
    }
    std::vector<const tir::Var*> params;
    params.reserve(func->params.size());
    for (const tir::Var* param : func->params) params.push_back(VisitVarDef(param));
    const tir::Stmt* body = VisitStmt(func->body);
    if (body == func->body && std::ranges::equal(params, func->params)) return func;
    auto* copy = workspace().New<PrimFunc>(*func);
    copy->params = workspace().Copy(params);
    copy->body = body;
    return copy;
  }

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    const PrimExpr* visited = StmtExprMutator::VisitExpr(expr);
    return is_narrow_(expr->dtype) ? Reinterpret(expr->dtype, visited, make_) : visited;
  }

 protected:
  // ---- Memory

  const tir::Var* VisitVarDef(const tir::Var* var) override {
    if (!PointsToNarrow(*var)) return var;
    const auto* pointer = tir::PointerInfo::Get(BitsDType(var->pointer->elem), var->pointer->scope);
    const tir::Var* copy = workspace().NewPrimVar(var->name, var->dtype, pointer);
    Remap(var, copy);
    return copy;
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAllocate(allocate);
    if (!is_narrow_(allocate->dtype)) return visited;
    tir::Allocate copy = *To<tir::Allocate>(visited);
    copy.dtype = BitsDType(allocate->dtype);
    return workspace().New<tir::Allocate>(copy);
  }
  // Its data stay floats, and so does the pointer.
  const tir::Stmt* VisitAllocateConst(const tir::AllocateConst* allocate) override {
    tir::AllocateConst copy = *allocate;
    copy.body = VisitStmt(allocate->body);
    return tir::CopyIfChanged(allocate, copy, workspace());
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) VisitVarDef(buffer->data);
    for (const tir::MatchBufferRegion* match : block->match_buffers) VisitVarDef(match->buffer->data);
    return StmtExprMutator::VisitBlock(block);
  }

  // A declaration may give another dtype to memory whose pointer stays.
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return LegalizeBuffer(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override {
    if (is_narrow_(buffer->dtype) && !RemapOf(buffer) && !RemapOf(buffer->data)) {
      diagnostics_.Error(Location(*buffer), "pass-failed",
                         fmt::format("the buffer '{}' has the dtype {}, but its pointer is not one to this dtype",
                                     buffer->name, buffer->dtype.ToString()));
      return buffer;
    }
    return LegalizeBuffer(buffer);
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    if (!is_narrow_(load->dtype)) return visited;
    tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
    if (is_narrow_(copy.buffer->dtype)) return visited;
    copy.dtype = BitsDType(load->dtype);
    return workspace().New<tir::BufferLoad>(copy);
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    if (!is_narrow_(store->value->dtype)) return visited;
    tir::BufferStore copy = *To<tir::BufferStore>(visited);
    if (is_narrow_(copy.buffer->dtype)) return visited;
    copy.value = Bits(store->value);
    return workspace().New<tir::BufferStore>(copy);
  }

  // ---- Values

  // A conversion that computes with the bits.
  const PrimExpr* VisitCast(const tir::Cast* cast) override {
    const DataType from = cast->value->dtype;
    if (!is_narrow_(from) || cast->dtype.code != TypeCode::kFloat) return StmtExprMutator::VisitCast(cast);
    const DataType to = DataType::Float(std::min<int>(cast->dtype.bits, 32), cast->dtype.lanes);
    return make_.Cast(cast->dtype, ConvertFloatBits(Bits(cast->value), from, to, make_));
  }

  const PrimExpr* VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirAddressOf)) return VisitAddressOf(*call);
    if (!IsOp(call->op, op::kTirReinterpret) || call->args.size() != 1) return StmtExprMutator::VisitCall(call);
    const PrimExpr* arg = call->args[0];
    const PrimExpr* value = is_narrow_(arg->dtype) ? Bits(arg) : VisitExpr(arg);
    const DataType dtype = is_narrow_(call->dtype) ? BitsDType(call->dtype) : call->dtype;
    return value == arg && dtype == call->dtype ? call : Reinterpret(dtype, value, make_);
  }

 private:
  bool PointsToNarrow(const tir::Var& var) const {
    return var.dtype.is_handle() && var.pointer && !var.pointer->nested && is_narrow_(var.pointer->elem);
  }

  // The bits of a narrow float.
  const PrimExpr* Bits(const PrimExpr* expr) {
    return Reinterpret(BitsDType(expr->dtype), StmtExprMutator::VisitExpr(expr), make_);
  }

  const PrimExpr* VisitAddressOf(const tir::Call& call) {
    const PrimExpr* load = StmtExprMutator::VisitExpr(call.args[0]);
    if (load == call.args[0]) return &call;
    return workspace().New<tir::Call>(call.dtype, call.op, workspace().Copy(std::vector<const PrimExpr*>{load}));
  }

  const tir::Buffer* LegalizeBuffer(const tir::Buffer* buffer) {
    if (const tir::Buffer* remapped = RemapOf(buffer)) return remapped;
    const tir::Buffer* rewritten = RewriteBuffer(buffer);
    if (!is_narrow_(buffer->dtype)) return rewritten;
    tir::Buffer copy = *rewritten;
    copy.dtype = BitsDType(buffer->dtype);
    if (rewritten == buffer) copy.id = workspace().NextVarId();
    const auto* legal = workspace().New<tir::Buffer>(copy);
    Remap(buffer, legal);
    return legal;
  }

  const DTypePredicate is_narrow_;
  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
};

}  // namespace

const PrimFunc* LegalizeStorage(const PrimFunc* func, DTypePredicate is_narrow, Workspace& workspace,
                                DiagnosticEngine& diagnostics) {
  return StorageLegalizer(is_narrow, workspace, diagnostics).Legalize(func);
}

}  // namespace iropt
