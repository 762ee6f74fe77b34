// tir.InjectPTXLDG32: loads elements under a condition by a predicated instruction of PTX, without a branch.
//
//   L = T.allocate([32], "float32", "local")               predicate = T.allocate([1], "bool", "local")
//   L_1 = T.Buffer((32,), data=L, scope="local")           addr = T.allocate([2], "int32", "local")
//                                                          L = T.allocate([32], "float32", "local")
//   L_1[tx] = T.if_then_else(tx < n,                 -->   addr_1[0] = tx * 2
//                            A[tx * 2], T.float32(0))      addr_1[1] = tx
//                                                          predicate_1[0] = tx < n
//                                                          L_1[addr_1[1]] = T.float32(0)
//                                                          T.ptx_ldg32(L, predicate_1[0], A[addr_1[0]], addr_1[1])
//
// The memory for addresses and the predicate is around the innermost allocation that ends first, and stores outside of
// it stay. O(nodes).
//
// Source: TVM 0.18's pass of this name. Where TVM fails or makes code that computes something else, stores stay: in
// functions without an allocation; with other elements than float32, which the instruction loads; with indices that are
// vectors, not int32, or several; of elements in other memory than global memory, or in memory that the function also
// writes, as the instruction reads it through a cache that is not coherent. If the element is what the condition
// chooses when it is false, the predicate is its negation.
#include <array>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/op_id.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/InjectPTXLDG32.h"
#include "transform/tir/util/constant_conditions.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

// The innermost allocation that ends first, and the memory that is written.
class Finder : public tir::StmtExprVisitor {
 public:
  explicit Finder(const tir::Stmt* body) { VisitStmt(body); }
  const tir::Allocate* first() const { return first_; }
  bool IsWritten(const tir::Buffer& buffer) const { return written_.contains(buffer.data); }

 protected:
  using StmtExprVisitor::VisitExpr;
  void VisitExpr(const PrimExpr*) override {}
  void VisitAllocate(const tir::Allocate* allocate) override {
    StmtExprVisitor::VisitAllocate(allocate);
    if (!first_) first_ = allocate;
  }
  void VisitBufferStore(const tir::BufferStore* store) override { written_.insert(store->buffer->data); }

 private:
  const tir::Allocate* first_ = nullptr;
  LookupSet<const tir::Var*> written_;
};

class PTXLoadInjector : public tir::StmtExprMutator {
 public:
  PTXLoadInjector(const Finder& found, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kRewriteBuffers), found_(found), make_(workspace) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    if (allocate != found_.first()) return StmtExprMutator::VisitAllocate(allocate);
    addr_ = MakeLocal("addr", DataType::Int(32), 2);
    predicate_ = MakeLocal("predicate", DataType::Bool(), 1);
    const tir::Stmt* result = StmtExprMutator::VisitAllocate(allocate);
    for (const tir::Buffer* buffer : {std::exchange(addr_, nullptr), std::exchange(predicate_, nullptr)}) {
      result = workspace().New<tir::Allocate>(buffer->data, buffer->dtype, buffer->shape, True(workspace()),
                                              DictAttr::Empty(), result);
    }
    return result;
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Call* choice = CallOf(store->value, op::kTirIfThenElse);
    if (!addr_ || !choice || choice->args.size() != 3 || !IsInt32Index(store->indices, store->predicate)) return store;
    const auto* load = As<tir::BufferLoad>(choice->args[1]);
    const bool is_first = load != nullptr;
    if (!load) load = As<tir::BufferLoad>(choice->args[2]);
    if (!load || !IsLoadable(*load) || store->buffer->dtype != DataType::Float(32)) return store;
    const PrimExpr* condition = choice->args[0];
    const PrimExpr* other = choice->args[is_first ? 2 : 1];
    if (condition->dtype != DataType::Bool()) return store;

    const PrimExpr* source = Load(addr_, Int(0));
    const PrimExpr* dest = Load(addr_, Int(1));
    const std::array args{static_cast<const PrimExpr*>(store->buffer->data), Load(predicate_, Int(0)),
                          Load(load->buffer, source), dest};
    const PrimExpr* call = workspace().New<tir::Call>(DataType::Float(32), GetOp(op::kTirPtxLdg32),
                                                      workspace().Copy(std::span<const PrimExpr* const>(args)));
    const std::array<const tir::Stmt*, 5> stmts{
        Store(addr_, Int(0), load->indices[0]), Store(addr_, Int(1), store->indices[0]),
        Store(predicate_, Int(0), is_first ? condition : make_.Not(condition)), Store(store->buffer, dest, other),
        workspace().New<tir::Evaluate>(call)};
    return MakeFlatSeq(workspace(), stmts);
  }

 private:
  static bool IsInt32Index(List<const PrimExpr*> indices, const PrimExpr* predicate) {
    return !predicate && indices.size() == 1 && indices[0]->dtype == DataType::Int(32);
  }
  bool IsLoadable(const tir::BufferLoad& load) const {
    return load.dtype == DataType::Float(32) && IsInt32Index(load.indices, load.predicate) && IsGlobal(*load.buffer) &&
           !found_.IsWritten(*load.buffer);
  }
  static bool IsGlobal(const tir::Buffer& buffer) {
    const std::string_view scope = buffer.scope();
    return scope.empty() || scope == "global";
  }

  const tir::Buffer* MakeLocal(std::string_view name, DataType dtype, int64_t size) {
    tir::BufferSpec spec;
    spec.shape = {Int(size)};
    spec.dtype = dtype;
    spec.scope = "local";
    // The pointer of a new buffer of bool would be one to int8, which T.allocate cannot say.
    spec.data = workspace().NewPrimVar(name, DataType::Handle(), tir::PointerInfo::Get(dtype, spec.scope));
    return tir::MakeBuffer(workspace(), spec, name);
  }
  const PrimExpr* Int(int64_t value) { return make_.Int(value, DataType::Int(32)); }
  const PrimExpr* Load(const tir::Buffer* buffer, const PrimExpr* index) {
    return workspace().New<tir::BufferLoad>(buffer->dtype, buffer, workspace().Copy(std::vector{index}));
  }
  const tir::Stmt* Store(const tir::Buffer* buffer, const PrimExpr* index, const PrimExpr* value) {
    return workspace().New<tir::BufferStore>(buffer, value, workspace().Copy(std::vector{index}));
  }

  const Finder& found_;
  const arith::PrimBuilder make_;
  // Null outside of the allocation.
  const tir::Buffer* addr_ = nullptr;
  const tir::Buffer* predicate_ = nullptr;
};

}  // namespace

Pass CreateInjectPTXLDG32(const PassOptions& options) {
  return CreateBodyPass(options.info(), {},
                        [enabled = *pass_options::InjectPTXLDG32(options).enable_inject_ptx_intrin](
                            const PrimFunc& func, FunctionPassContext& context) {
                          if (!enabled) return func.body;
                          const Finder found(func.body);
                          return found.first() ? PTXLoadInjector(found, context.workspace()).VisitStmt(func.body)
                                               : func.body;
                        });
}

}  // namespace iropt
