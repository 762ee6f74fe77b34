// tir.LowerVtcmAlloc: allocates memory of Hexagon's vector units by the runtime.
//
//   A = T.allocate([32, 64], "int8", "global.vtcm")    -->    A: T.handle("int8", "global.vtcm") =
//                                                                 T.nd_mem_alloc_with_scope("global.vtcm", 2,
//                                                                     T.tvm_stack_make_shape(32, 64))
//
// For all scopes that contain "global.vtcm". O(statements).
//
// Source: TVM 0.18's pass of this name.
#include <array>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

bool IsVtcmAllocation(const tir::Stmt* stmt) {
  const auto* allocate = As<tir::Allocate>(stmt);
  const tir::PointerInfo* pointer = allocate ? allocate->buffer_var->pointer : nullptr;
  return pointer && pointer->scope.find("global.vtcm") != std::string_view::npos;
}

class VtcmAllocator : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    if (!IsVtcmAllocation(allocate)) return StmtExprMutator::VisitAllocate(allocate);
    const PrimExpr* shape =
        workspace().New<tir::Call>(DataType::Handle(), GetOp(op::kTirTvmStackMakeShape), allocate->extents);
    const std::array<const PrimExpr*, 3> args{
        workspace().New<tir::StringImm>(allocate->buffer_var->pointer->scope),
        arith::PrimBuilder(workspace()).Int(static_cast<int64_t>(allocate->extents.size())), shape};
    const PrimExpr* memory = workspace().New<tir::Call>(allocate->buffer_var->dtype, GetOp(op::kTirNdMemAllocWithScope),
                                                        workspace().Copy(std::span<const PrimExpr* const>(args)));
    return workspace().New<tir::LetStmt>(allocate->buffer_var, memory, VisitStmt(allocate->body));
  }
};

}  // namespace

Pass CreateLowerVtcmAlloc(const PassOptions& options) {
  return CreateMutatorPass<VtcmAllocator>(options.info(), {.needs = &IsVtcmAllocation});
}

}  // namespace iropt
