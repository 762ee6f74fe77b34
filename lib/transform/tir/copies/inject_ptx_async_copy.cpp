// tir.InjectPTXAsyncCopy: copies from global to shared memory asynchronously, by an instruction of PTX.
//
//   with T.attr(0, "async_scope", 1):
//       S[i * 4:i * 4 + 4] = A[i * 4:i * 4 + 4]       -->    T.ptx_cp_async("float32", S, i * 4, A.data, i * 4, 16)
//
// In the attribute async_scope, which goes away: stores to shared memory of what is loaded from global memory, 4, 8 or
// 16 bytes, as one element or as a vector of elements next to each other. If a T.if_then_else loads it or else stores
// zeros, the instruction gets the condition. Memory that was merged (uint8, see tir.MergeSharedMemoryAllocations) is
// addressed in bytes. Other stores stay. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

bool IsAsyncScope(const tir::Stmt* stmt) {
  const auto* attr = As<tir::AttrStmt>(stmt);
  return attr && attr->attr_key == attr::kAsyncScope;
}

// Returns the index of the first element of a vector of elements next to each other; null for other vectors. After
// memory was merged, its position is added to it.
const PrimExpr* VectorBegin(const PrimExpr* index, const arith::PrimBuilder& make) {
  if (const auto* ramp = As<tir::Ramp>(index)) return arith::IsInt(ramp->stride, 1) ? ramp->base : nullptr;
  const auto* sum = As<tir::Add>(index);
  const auto* ramp = sum ? As<tir::Ramp>(sum->a) : nullptr;
  const auto* offset = sum ? As<tir::Broadcast>(sum->b) : nullptr;
  if (!ramp || !offset || !arith::IsInt(ramp->stride, 1)) return nullptr;
  return make.Keep(tir::Add(ramp->base, offset->value));
}

bool IsFloatZero(const PrimExpr* value) {
  if (const auto* broadcast = As<tir::Broadcast>(value)) value = broadcast->value;
  const auto* number = As<tir::FloatImm>(value);
  return number && number->value == 0;
}

class AsyncCopyInjector : public tir::StmtExprMutator {
 public:
  AsyncCopyInjector(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), diagnostics_(diagnostics), make_(workspace) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* attr) override {
    if (!IsAsyncScope(attr)) return StmtExprMutator::VisitAttrStmt(attr);
    if (in_async_scope_) {
      diagnostics_.Error(Location(*attr), "pass-failed", "an async_scope must not be in another one");
      return attr;
    }
    in_async_scope_ = true;
    const tir::Stmt* body = VisitStmt(attr->body);
    in_async_scope_ = false;
    return body;
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const std::string_view scope = store->buffer->scope();
    if (!in_async_scope_ || store->predicate || (scope != "shared" && scope != "shared.dyn")) return store;
    const PrimExpr* value = store->value;
    const PrimExpr* condition = nullptr;
    const tir::Call* choice = CallOf(value, op::kTirIfThenElse);
    if (choice && choice->args.size() == 3 && IsFloatZero(choice->args[2])) {
      condition = choice->args[0];
      value = choice->args[1];
    }
    const auto* load = As<tir::BufferLoad>(value);
    const tir::Stmt* copy = load ? MakeCopy(*load, *store, condition) : nullptr;
    return copy ? copy : store;
  }

 private:
  // Null if the instruction cannot do it.
  const tir::Stmt* MakeCopy(const tir::BufferLoad& load, const tir::BufferStore& store, const PrimExpr* condition) {
    const bool is_flat = load.indices.size() == 1 && store.indices.size() == 1 && !load.predicate;
    if (load.buffer->scope() != "global" || !is_flat) return nullptr;
    const PrimExpr* from = load.indices[0];
    const PrimExpr* to = store.indices[0];
    const int64_t bytes = from->dtype.lanes * load.buffer->dtype.bytes();
    if (from->dtype.lanes != to->dtype.lanes || (bytes != 4 && bytes != 8 && bytes != 16)) return nullptr;
    const int64_t factor = AddressFactor(*load.buffer, *store.buffer);
    if (from->dtype.lanes != 1) {
      from = VectorBegin(from, make_);
      to = VectorBegin(to, make_);
    }
    if (!from || !to || factor == 0) return nullptr;
    std::vector<const PrimExpr*> args{store.buffer->data, make_.Mul(to, make_.Const(factor, to->dtype)),
                                      load.buffer->data, from, make_.Int(bytes, DataType::Int(32))};
    if (condition) args.push_back(condition);
    return workspace().New<tir::Evaluate>(
        workspace().New<tir::Call>(store.buffer->dtype, GetOp(op::kTirPtxCpAsync), workspace().Copy(args)));
  }

  // By which a position in the destination is multiplied: memory that was merged has bytes as elements. 0: the
  // instruction cannot convert.
  static int64_t AddressFactor(const tir::Buffer& from, const tir::Buffer& to) {
    const tir::PointerInfo* source = from.data->pointer;
    const tir::PointerInfo* dest = to.data->pointer;
    if (!source || !dest) return 0;
    if (source->elem == dest->elem) return 1;
    return to.scope() == "shared.dyn" && dest->elem == DataType::UInt(8) ? source->elem.bytes() : 0;
  }

  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  bool in_async_scope_ = false;
};

}  // namespace

Pass CreateInjectPTXAsyncCopy(const PassOptions& options) {
  return CreateMutatorPass<AsyncCopyInjector>(options.info(), {.needs = &IsAsyncScope});
}

}  // namespace iropt
