// tir.DecorateDeviceScope: marks the bodies of PrimFuncs as code that runs on a device.
//
//   @T.prim_func                  @T.prim_func
//   def main(x: T.int32):   -->   def main(x: T.int32):
//       T.evaluate(x)                 T.attr(0, "device_scope", 0)
//                                     T.evaluate(x)
//
// O(functions).
//
// Source: TVM 0.18's pass of this name.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/host/host_builder.h"

namespace iropt {

Pass CreateDecorateDeviceScope(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              Workspace& workspace = context.workspace();
                              const PrimExpr* zero = HostBuilder(workspace).Int32(0);
                              return WrapBody(func, workspace, [&](const tir::Stmt* body) {
                                return workspace.New<tir::AttrStmt>(zero, attr::kDeviceScope, zero, body);
                              });
                            });
}

}  // namespace iropt
