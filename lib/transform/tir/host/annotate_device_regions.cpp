// tir.AnnotateDeviceRegions: states the target of the parts of a function that run on the device.
//
//   T.func_attr({"target": T.target("cuda", host="llvm")})      T.func_attr({"target": T.target("cuda", host="llvm")})
//   i = T.launch_thread("threadIdx.x", 16)               -->    T.attr(T.target("cuda"), "target", 0)
//   A[i] = T.float32(0)                                         i = T.launch_thread("threadIdx.x", 16)
//                                                               A[i] = T.float32(0)
//
// These parts begin at the outermost thread_extent, pipeline_exec_scope or device_scope. Parts that state a target, and
// functions whose target has no host, stay. A function needs a target. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/host/device_split.h"
#include "transform/tir/host/func_target.h"

namespace iropt {

namespace {

class RegionAnnotator : public tir::StmtExprMutator {
 public:
  RegionAnnotator(const DictAttr* target, Workspace& workspace) : StmtExprMutator(workspace), target_(target) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key == attr::kTarget) return stmt;
    const bool is_device = stmt->attr_key == attr::kThreadExtent || stmt->attr_key == attr::kPipelineExecScope ||
                           stmt->attr_key == attr::kDeviceScope;
    if (!is_device) return StmtExprMutator::VisitAttrStmt(stmt);
    return workspace().New<tir::AttrStmt>(TargetAttr::Get(target_), attr::kTarget, HostBuilder(workspace()).Int32(0),
                                          stmt);
  }

 private:
  const DictAttr* target_;
};

}  // namespace

const PrimFunc* AnnotateDeviceRegions(const PrimFunc* func, Workspace& workspace, DiagnosticEngine& diagnostics) {
  const DictAttr* target = TargetOf(*func);
  if (!target) {
    diagnostics.Error(Location(*func), "pass-failed", "the function has no target: run tir.BindTarget before");
    return nullptr;
  }
  if (!HostOf(*target)) return func;
  RegionAnnotator annotator(WithoutHost(target), workspace);
  return WithBody(func, annotator.VisitStmt(func->body), workspace);
}

Pass CreateAnnotateDeviceRegions(const PassOptions& options) {
  return CreatePrimFuncPass(
      options.info(), [](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        const PrimFunc* annotated = AnnotateDeviceRegions(func, context.workspace(), context.diagnostics());
        if (!annotated) return Failure{ErrorCode::PassFailed};
        return annotated;
      });
}

}  // namespace iropt
