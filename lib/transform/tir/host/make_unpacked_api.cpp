// tir.MakeUnpackedAPI: lets functions that other programs call take pointers to the data of their buffers, and return
// an error code.
//
//   @T.prim_func                                   @T.prim_func
//   def main(A: T.Buffer((4,))):                   def main(A: T.handle("float32", "global")) -> T.int32:
//       T.func_attr({"target": ...})                   T.func_attr({"target": <its host>})
//       A[0] = T.float32(1)                -->         T.attr("default", "device_id", 0)
//                                                      T.attr("default", "device_type", 1)
//                                                      A_1 = T.Buffer((4,), data=A)
//                                                      A_1[0] = T.float32(1)
//                                                      return 0
//
// Calls of such functions within the module return the error code, too, and pass the data of arrays that they make for
// the call. Private functions, functions with a calling convention, those that Relax functions call, and those whose
// target has no host stay. A function to change needs a target. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/location.h"
#include "iropt/ir/map_list.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/host/change_api.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/host/graph_calls.h"
#include "transform/tir/host/host_builder.h"
#include "transform/tir/util/undefined_names.h"

namespace iropt {

namespace {

// Passes the data of arrays instead of the arrays.
class UnpackedCallRewriter : public tir::StmtExprMutator {
 public:
  UnpackedCallRewriter(const GlobalVarSet& external, Workspace& workspace)
      : StmtExprMutator(workspace), external_(external) {}

 protected:
  const PrimExpr* VisitCall(const tir::Call* old) override {
    const auto* call = static_cast<const tir::Call*>(StmtExprMutator::VisitCall(old));
    const auto* callee = As<GlobalVar>(call->op);
    if (!callee || !external_.contains(callee)) return call;
    const List<const PrimExpr*> args = MapList(call->args, workspace(), [](const PrimExpr* arg) {
      const auto* array = As<tir::Call>(arg);
      const bool is_array = array && IsOp(array->op, op::kTirTvmStackMakeArray) && !array->args.empty();
      return is_array ? array->args[0] : arg;
    });
    if (call->dtype == DataType::Int(32) && IsSameList(args, call->args)) return call;
    return workspace().New<tir::Call>(DataType::Int(32), call->op, args);
  }

 private:
  const GlobalVarSet& external_;
};

const PrimFunc* NewFunc(const PrimFunc& old, const DictAttr& target, Workspace& workspace) {
  const HostBuilder build(workspace);
  std::vector<const tir::Var*> params;
  bool has_buffers = false;
  for (uint32_t i = 0; i < old.params.size(); ++i) {
    const tir::Buffer* buffer = old.param_buffers[i];
    params.push_back(buffer ? buffer->data : old.params[i]);
    has_buffers |= buffer != nullptr;
  }
  StmtNest device(build);
  if (has_buffers) {
    device.Add<tir::AttrStmt>(StrAttr::Get("default"), attr::kDeviceId, build.Int32(0));
    device.Add<tir::AttrStmt>(StrAttr::Get("default"), attr::kDeviceType, build.Int32(DeviceTypeOf(target)));
  }
  const PrimFunc* wrapped = WrapBody(&old, workspace, [&](const tir::Stmt* body) {
    return device.Around(build.Seq({body, build.Return(0)}));
  });
  auto* func = workspace.New<PrimFunc>(*wrapped);
  func->params = workspace.Copy(params);
  func->param_buffers = workspace.Copy(std::vector<const tir::Buffer*>(params.size(), nullptr));
  func->ret_type = PrimType::Get(DataType::Int(32));
  func->attrs = old.attrs->With(attr::kTarget, TargetAttr::Get(HostOf(target)));
  func->type = PrimFuncType(func);
  return func;
}

// Null after an error.
const PrimFunc* MakeUnpackedApi(const PrimFunc* func, Workspace& workspace, DiagnosticEngine& diagnostics) {
  const StrAttr* symbol = GlobalSymbolOf(*func);
  if (CallingConvOf(*func) != CallingConv::kDefault) return func;
  const DictAttr* target = TargetOf(*func);
  if (!target) {
    diagnostics.Error(Location(*func), "pass-failed",
                      fmt::format("the function '{}' has no target: run tir.BindTarget before", symbol->value));
    return nullptr;
  }
  if (!HostOf(*target)) return func;
  func = NewFunc(*func, *target, workspace);
  return CheckDefined(*func, symbol->value, diagnostics) ? func : nullptr;
}

}  // namespace

Pass CreateMakeUnpackedAPI(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    const GlobalVarSet kept = CalledByGraph(module, context);
    GlobalVarSet external;
    for (const ModuleEntry& entry : module.functions()) {
      const bool is_external = Is<PrimFunc>(entry.func) && GlobalSymbolOf(*entry.func) && !kept.contains(entry.var);
      if (is_external) external.insert(entry.var);
    }
    return ChangeApi<UnpackedCallRewriter>(std::move(module), external, context.diagnostics, MakeUnpackedApi);
  });
}

}  // namespace iropt
