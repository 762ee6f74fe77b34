#include "transform/tir/dtypes/compute_legalizer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/map_list.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "transform/tir/dtypes/float_conversion.h"

namespace iropt {

namespace {

// The narrow allocations that may become wide: of constant size, and only read and written as buffers of narrow floats.
class WidenableAllocations : public tir::StmtExprVisitor {
 public:
  static std::vector<const tir::Allocate*> Of(const PrimFunc& func, DTypePredicate is_narrow) {
    WidenableAllocations finder(is_narrow);
    finder.VisitStmt(func.body);
    std::erase_if(finder.found_, [&](const tir::Allocate* a) { return finder.fixed_.contains(a->buffer_var); });
    return std::move(finder.found_);
  }

 protected:
  void VisitAllocate(const tir::Allocate* allocate) override {
    if (is_narrow_(allocate->dtype) && HasConstantSize(*allocate)) found_.push_back(allocate);
    StmtExprVisitor::VisitAllocate(allocate);
  }
  // A use of the pointer itself.
  void VisitVar(const tir::Var* var) override {
    if (var->dtype.is_handle()) fixed_.insert(var);
  }
  void VisitBufferUse(const tir::Buffer* buffer) override {
    if (!is_narrow_(buffer->dtype)) fixed_.insert(buffer->data);
  }
  void VisitBufferDef(const tir::Buffer* buffer) override {
    VisitBufferUse(buffer);
    StmtExprVisitor::VisitBufferDef(buffer);
  }
  void VisitMatchBufferRegion(const tir::MatchBufferRegion* match) override {
    fixed_.insert(match->source->buffer->data);
    StmtExprVisitor::VisitMatchBufferRegion(match);
  }
  void VisitCall(const tir::Call* call) override {
    const auto* load = IsOp(call->op, op::kTirAddressOf) ? As<tir::BufferLoad>(call->args[0]) : nullptr;
    if (load) fixed_.insert(load->buffer->data);
    StmtExprVisitor::VisitCall(call);
  }
  // The node of an attribute is not an access.
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    VisitExpr(stmt->value);
    VisitStmt(stmt->body);
  }

 private:
  explicit WidenableAllocations(DTypePredicate is_narrow) : is_narrow_(is_narrow) {}

  static bool HasConstantSize(const tir::Allocate& allocate) {
    for (const PrimExpr* extent : allocate.extents) {
      const int64_t* value = arith::AsInt(extent);
      if (!value || *value == 0) return false;
    }
    return true;
  }

  const DTypePredicate is_narrow_;
  std::vector<const tir::Allocate*> found_;
  LookupSet<const tir::Var*> fixed_;
};

class ComputeLegalizer : public tir::StmtExprMutator {
 public:
  ComputeLegalizer(const PrimFunc& func, const ComputePromotion& promotion, Workspace& workspace,
                   DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        promotion_(promotion),
        diagnostics_(diagnostics),
        make_(workspace) {
    for (const tir::Allocate* allocate : WidenableAllocations::Of(func, promotion.is_narrow)) Widen(*allocate);
  }

 protected:
  // ---- Memory

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    if (!widened_.contains(allocate->buffer_var)) return StmtExprMutator::VisitAllocate(allocate);
    tir::Allocate copy = *To<tir::Allocate>(StmtExprMutator::VisitAllocate(allocate));
    copy.buffer_var = To<tir::Var>(RemapOf(allocate->buffer_var));
    copy.dtype = Wide(allocate->dtype);
    return workspace().New<tir::Allocate>(copy);
  }
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return Legalize(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return Legalize(buffer); }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    if (!IsNarrow(load) || IsNarrowBuffer(*load->buffer)) return visited;
    tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
    copy.dtype = Wide(load->dtype);
    return workspace().New<tir::BufferLoad>(copy);
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    if (!IsNarrow(store->value)) return StmtExprMutator::VisitBufferStore(store);
    const size_t lets = num_lets_;
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    tir::BufferStore copy = *To<tir::BufferStore>(visited);
    copy.value = IsNarrowBuffer(*store->buffer) ? Narrow(copy.value, store->value->dtype, num_lets_ != lets)
                                                : ToWideMemory(copy.value, num_lets_ != lets);
    if (copy.value == To<tir::BufferStore>(visited)->value) return visited;
    return workspace().New<tir::BufferStore>(copy);
  }

  // ---- Variables

  const PrimExpr* VisitLet(const tir::Let* let) override {
    ++num_lets_;
    const PrimExpr* value = Operand(let->value);
    const tir::Var* var = Define(let->var, value->dtype);
    const PrimExpr* body = VisitExpr(let->body);
    return value == let->value && body == let->body ? let : workspace().New<tir::Let>(var, value, body);
  }
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    tir::LetStmt copy = *let;
    copy.value = Operand(let->value);
    copy.var = Define(let->var, copy.value->dtype);
    copy.body = VisitStmt(let->body);
    return tir::CopyIfChanged(let, copy, workspace());
  }

  // ---- Values

  const PrimExpr* VisitFloatImm(const tir::FloatImm* imm) override {
    return IsNarrow(imm) ? make_.Float(imm->value, promotion_.wide) : imm;
  }
  const PrimExpr* VisitCast(const tir::Cast* cast) override {
    const PrimExpr* value = Operand(cast->value);
    if (IsNarrow(cast)) return make_.Cast(Wide(cast->dtype), value);
    return value == cast->value ? cast : make_.Cast(cast->dtype, value);
  }
  const PrimExpr* VisitBinary(const tir::BinaryExpr* expr) override {
    const PrimExpr* a = Operand(expr->a);
    const PrimExpr* b = Operand(expr->b);
    if (a == expr->a && b == expr->b) return expr;
    const bool folds = expr->kind != NodeKind::kAnd && expr->kind != NodeKind::kOr;
    return folds ? make_.Binary(expr->kind, a, b) : make_.Node(expr->kind, a, b);
  }
  const PrimExpr* VisitSelect(const tir::Select* select) override {
    const PrimExpr* condition = VisitExpr(select->condition);
    const PrimExpr* a = Operand(select->true_value);
    const PrimExpr* b = Operand(select->false_value);
    const bool same = condition == select->condition && a == select->true_value && b == select->false_value;
    return same ? select : workspace().New<tir::Select>(condition, a, b);
  }
  const PrimExpr* VisitBroadcast(const tir::Broadcast* broadcast) override {
    const PrimExpr* value = Operand(broadcast->value);
    if (value == broadcast->value) return broadcast;
    const DataType dtype = value->dtype.with_lanes(broadcast->dtype.lanes);
    return workspace().New<tir::Broadcast>(dtype, value, broadcast->lanes);
  }
  const PrimExpr* VisitShuffle(const tir::Shuffle* shuffle) override {
    if (!IsNarrow(shuffle)) return StmtExprMutator::VisitShuffle(shuffle);
    return workspace().New<tir::Shuffle>(Wide(shuffle->dtype), Operands(shuffle->vectors), shuffle->indices);
  }
  const PrimExpr* VisitReduce(const tir::Reduce* reduce) override {
    if (IsNarrow(reduce)) diagnostics_.Error(Location(*reduce), "pass-failed", "a reduction must be lowered first");
    return reduce;
  }

  const PrimExpr* VisitCall(const tir::Call* call) override {
    if (IsCallOf(call, op::kTirAddressOf) || IsCallOf(call, op::kTirTypeAnnotation))
      return StmtExprMutator::VisitCall(call);
    if (KeepsDTypes(*call)) return VisitWithDTypes(*call);
    const List<const PrimExpr*> args = Operands(call->args);
    const DataType dtype = IsNarrow(call) ? Wide(call->dtype) : call->dtype;
    if (dtype == call->dtype && IsSameList(args, call->args)) return call;
    return workspace().New<tir::Call>(dtype, call->op, args);
  }

 private:
  bool IsNarrow(const PrimExpr* expr) const { return promotion_.is_narrow(expr->dtype); }
  bool IsNarrowBuffer(const tir::Buffer& buffer) const {
    return promotion_.is_narrow(buffer.dtype) && !widened_.contains(buffer.data);
  }
  static bool IsCallOf(const PrimExpr* expr, OpId op) {
    const auto* call = As<tir::Call>(expr);
    return call && IsOp(call->op, op);
  }
  DataType Wide(DataType dtype) const { return promotion_.wide.with_lanes(dtype.lanes); }

  // The operand of an operation, which is not narrow.
  const PrimExpr* Operand(const PrimExpr* expr) {
    const size_t lets = num_lets_;
    const PrimExpr* value = VisitExpr(expr);
    if (!IsNarrow(value) || IsCallOf(value, op::kTirTypeAnnotation)) return value;
    const auto* cast = As<tir::Cast>(value);
    if (cast && cast->value->dtype == Wide(value->dtype)) return cast->value;
    return Convert(value, Wide(value->dtype), num_lets_ != lets);
  }
  List<const PrimExpr*> Operands(List<const PrimExpr*> exprs) {
    return MapList(exprs, workspace(), [this](const PrimExpr* expr) { return Operand(expr); });
  }
  // A value in the format that it had.
  const PrimExpr* Narrow(const PrimExpr* value, DataType dtype, bool defines_vars) {
    return value->dtype == dtype || IsNarrow(value) ? value : Convert(value, dtype, defines_vars);
  }
  // A value that goes to memory that was widened. Before TVM 0.23 the conversion is left to the compiler.
  const PrimExpr* ToWideMemory(const PrimExpr* value, bool defines_vars) {
    const DataType wide = Wide(value->dtype);
    if (!IsNarrow(value) || workspace().version() < TextVersion::kV0_23) return make_.Cast(wide, value);
    return Convert(value, wide, defines_vars);
  }
  // A conversion repeats its operand, which must not define variables.
  const PrimExpr* Convert(const PrimExpr* value, DataType to, bool defines_vars) {
    if (!defines_vars) return ConvertFloat(value, to, make_);
    const tir::Var* var = workspace().NewPrimVar("value", value->dtype);
    return workspace().New<tir::Let>(var, value, ConvertFloat(var, to, make_));
  }

  void Widen(const tir::Allocate& allocate) {
    const tir::Var* var = allocate.buffer_var;
    const auto* pointer = tir::PointerInfo::Get(Wide(allocate.dtype), var->pointer ? var->pointer->scope : "global");
    Remap(var, workspace().NewPrimVar(var->name, var->dtype, pointer));
    widened_.insert(var);
  }
  const tir::Var* Define(const tir::Var* var, DataType dtype) {
    if (var->dtype == dtype) return var;
    const tir::Var* copy = workspace().NewPrimVar(var->name, dtype);
    Remap(var, copy);
    return copy;
  }

  // Returns whether the operands keep their dtypes: the result of the function, the operands of functions of the
  // module, and the operand whose bits are taken.
  static bool KeepsDTypes(const tir::Call& call) {
    return Is<GlobalVar>(call.op) || IsCallOf(&call, op::kTirReinterpret) || IsCallOf(&call, op::kTirRet);
  }
  const PrimExpr* VisitWithDTypes(const tir::Call& call) {
    const List<const PrimExpr*> args = MapList(call.args, workspace(), [this](const PrimExpr* arg) {
      const size_t lets = num_lets_;
      const PrimExpr* value = VisitExpr(arg);
      return IsNarrow(arg) ? Narrow(value, arg->dtype, num_lets_ != lets) : value;
    });
    return IsSameList(args, call.args) ? &call : workspace().New<tir::Call>(call.dtype, call.op, args);
  }

  const tir::Buffer* Legalize(const tir::Buffer* buffer) {
    if (const tir::Buffer* remapped = RemapOf(buffer)) return remapped;
    const tir::Buffer* rewritten = RewriteBuffer(buffer);
    if (!widened_.contains(buffer->data)) return rewritten;
    tir::Buffer copy = *rewritten;
    copy.dtype = Wide(buffer->dtype);
    const auto* wide = workspace().New<tir::Buffer>(copy);
    Remap(buffer, wide);
    return wide;
  }

  const ComputePromotion& promotion_;
  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  LookupSet<const tir::Var*> widened_;
  size_t num_lets_ = 0;  // Let expressions that were visited
};

}  // namespace

const PrimFunc* LegalizeCompute(const PrimFunc* func, const ComputePromotion& promotion, Workspace& workspace,
                                DiagnosticEngine& diagnostics) {
  ComputeLegalizer legalizer(*func, promotion, workspace, diagnostics);
  return WithBody(func, legalizer.VisitStmt(func->body), workspace);
}

}  // namespace iropt
