// tir.LowerDeviceKernelLaunch: launches functions for other devices as kernels, with the extents of their threads.
//
//   @T.prim_func                                         @T.prim_func
//   def main(A: T.Buffer((16,))):                        def main(A: T.Buffer((16,))):
//       T.func_attr({"target": T.target("llvm")})            T.func_attr({"target": T.target("llvm")})
//       Module.kernel(A.data)                                T.call_packed("kernel", A.data, 16)
//                                                 -->
//   @T.prim_func(private=True)                           @T.prim_func
//   def kernel(A: T.handle("float32")):                  def kernel(A: T.handle("float32")):
//       T.func_attr({"target": T.target("cuda")})            T.func_attr({"calling_conv": 2,
//       "tir.kernel_launch_params": i = T.launch_thread("threadIdx.x", 16)                   ["threadIdx.x"],
//       "tir.is_global_func": True, ...})
//       ...                                                  i = T.launch_thread("threadIdx.x", 16)
//
// Calls between targets for one device become calls of external functions; those within a target stay. Every PrimFunc
// needs a target. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/host/device_split.h"
#include "transform/tir/host/func_target.h"

namespace iropt {

namespace {

constexpr std::string_view kDynamicSharedMemory = "tir.use_dyn_shared_memory";
// That a function may ask for: they state how it is launched, and are not passed. In the order of the launch.
constexpr std::string_view kLaunchFlags[] = {"tir.use_programtic_dependent_launch", "tir.use_cooperative_launch"};

// Facts about a function that its calls need.
struct KernelInfo {
  const PrimFunc* func;
  FuncStorageRef storage;
  const DictAttr* target;  // without host
  std::string_view symbol;
  std::vector<std::string_view> params;  // of the launch: threads, flags, and whether there is dynamic shared memory
  std::vector<const PrimExpr*> args;     // their values, in terms of the parameters of the function
};

using KernelInfos = LookupMap<const GlobalVar*, KernelInfo>;

class LaunchCollector : public tir::StmtExprVisitor {
 public:
  LaunchCollector(KernelInfo& info, Workspace& workspace, DiagnosticEngine& diagnostics)
      : info_(info), make_(workspace), diagnostics_(diagnostics) {}

  // False after an error.
  bool Collect() {
    VisitStmt(info_.func->body);
    for (const std::string_view param : info_.params) info_.args.push_back(extents_.at(param));
    const auto* requested = As<ListAttr>(info_.func->attrs->Find(attr::kKernelLaunchParams));
    for (const std::string_view flag : kLaunchFlags) {
      if (requested && std::ranges::count(requested->values, StrAttr::Get(flag)) != 0) info_.params.push_back(flag);
    }
    if (declared_bytes_) shared_bytes_ = declared_bytes_;
    if (shared_bytes_) {
      info_.params.push_back(kDynamicSharedMemory);  // always the last one
      info_.args.push_back(shared_bytes_);
    }
    return !failed_;
  }

  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* thread = tir::LaunchAxisOf(*stmt);
    if (thread && seen_.insert(thread->var)) {
      info_.params.push_back(thread->thread_tag);
      extents_[thread->thread_tag] = stmt->value;
    }
    if (stmt->attr_key == attr::kDynSmemBytes) declared_bytes_ = stmt->value;
    StmtExprVisitor::VisitAttrStmt(stmt);
  }
  void VisitAllocate(const tir::Allocate* allocate) override {
    const tir::PointerInfo* pointer = allocate->buffer_var->pointer;
    if (pointer && pointer->scope == "shared.dyn") {
      if (shared_bytes_) {
        diagnostics_.Error(Location(*allocate), "pass-failed",
                           "a kernel must not have several allocations of dynamic shared memory: run "
                           "tir.MergeSharedMemoryAllocations before");
        failed_ = true;
      }
      shared_bytes_ = make_.Int(1, DataType::Int(32));
      for (const PrimExpr* extent : allocate->extents) shared_bytes_ = make_.Mul(shared_bytes_, extent);
      shared_bytes_ = make_.Mul(shared_bytes_, make_.Const(allocate->dtype.bytes(), shared_bytes_->dtype));
    }
    StmtExprVisitor::VisitAllocate(allocate);
  }

 private:
  KernelInfo& info_;
  const arith::PrimBuilder make_;
  DiagnosticEngine& diagnostics_;
  LookupSet<const tir::Var*> seen_;
  LookupMap<std::string_view, const PrimExpr*> extents_;
  const PrimExpr* shared_bytes_ = nullptr;    // of the allocation
  const PrimExpr* declared_bytes_ = nullptr;  // that an attribute states
  bool failed_ = false;
};

// Functions that are called from functions with other targets, by a launch or as external ones.
struct ForeignCalls {
  LookupSet<const GlobalVar*> launched;
  LookupSet<const GlobalVar*> external;
};

class CallLowerer : public tir::StmtExprMutator {
 public:
  CallLowerer(const DictAttr* target, const KernelInfos& infos, ForeignCalls& calls, Workspace& workspace,
              DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace),
        build_(workspace),
        target_(target),
        infos_(infos),
        calls_(calls),
        diagnostics_(diagnostics) {}

  bool failed() const { return failed_; }

 protected:
  const PrimExpr* VisitCall(const tir::Call* old) override {
    const auto* call = static_cast<const tir::Call*>(StmtExprMutator::VisitCall(old));
    const auto* callee = As<GlobalVar>(call->op);
    if (!callee) return call;
    const auto* found = infos_.Find(callee);
    if (!found) return Fail(*old, fmt::format("'{}' is not a PrimFunc of the module", callee->name));
    const KernelInfo& info = *found;
    if (info.target->Without("tag") == target_->Without("tag")) return call;
    if (DeviceTypeOf(*info.target) == DeviceTypeOf(*target_)) return CallExternal(*call, *callee);
    if (info.func->params.size() != call->args.size()) {
      return Fail(*old, fmt::format("the function '{}' has {} parameters and is called with {} arguments", callee->name,
                                    info.func->params.size(), call->args.size()));
    }
    return Launch(*call, *callee, info);
  }

 private:
  const PrimExpr* CallExternal(const tir::Call& call, const GlobalVar& callee) {
    calls_.external.insert(&callee);
    std::vector<const PrimExpr*> args = {build_.String(callee.name)};
    args.insert(args.end(), call.args.begin(), call.args.end());
    return build_.Call(call.dtype, GetOp(op::kTirCallExtern), args);
  }
  const PrimExpr* Launch(const tir::Call& call, const GlobalVar& callee, const KernelInfo& info) {
    calls_.launched.insert(&callee);
    std::vector<const PrimExpr*> args = {build_.String(info.symbol)};
    args.insert(args.end(), call.args.begin(), call.args.end());
    Cloner cloner(workspace());
    for (uint32_t i = 0; i < info.func->params.size(); ++i) cloner.Map(info.func->params[i], call.args[i]);
    for (const PrimExpr* arg : info.args) args.push_back(cloner.Clone(arg));
    const DataType dtype = call.dtype.is_void() ? DataType::Int(32) : call.dtype;
    return build_.Call(dtype, GetOp(op::kTirTvmCallPacked), args);
  }
  const PrimExpr* Fail(const tir::Call& call, std::string message) {
    diagnostics_.Error(Location(call), "pass-failed", std::move(message));
    failed_ = true;
    return &call;
  }

  const HostBuilder build_;
  const DictAttr* target_;
  const KernelInfos& infos_;
  ForeignCalls& calls_;
  DiagnosticEngine& diagnostics_;
  bool failed_ = false;
};

// A kernel does not return an error code, nor state how it is launched.
class ReturnRemover : public tir::StmtExprMutator {
 public:
  ReturnRemover(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), diagnostics_(diagnostics) {}

  bool failed() const { return failed_; }

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    const auto* call = As<tir::Call>(stmt->value);
    if (!call || !IsOp(call->op, op::kTirRet)) return stmt;
    if (call->args.size() != 1 || !arith::IsInt(call->args[0], 0)) {
      diagnostics_.Error(Location(*stmt), "pass-failed", "a kernel must not return a value other than 0");
      failed_ = true;
    }
    return HostBuilder(workspace()).Nop();
  }
  // The launch states the size.
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    return stmt->attr_key == attr::kDynSmemBytes ? VisitStmt(stmt->body) : StmtExprMutator::VisitAttrStmt(stmt);
  }

 private:
  DiagnosticEngine& diagnostics_;
  bool failed_ = false;
};

// Null after an error.
const PrimFunc* MakeKernel(const PrimFunc* func, const KernelInfo& info, Workspace& workspace,
                           DiagnosticEngine& diagnostics) {
  ReturnRemover remover(workspace, diagnostics);
  auto* kernel = workspace.New<PrimFunc>(*func);
  kernel->body = remover.VisitStmt(func->body);
  kernel->ret_type = TupleType::Get({});
  std::vector<const Attr*> params;
  for (const std::string_view param : info.params) params.push_back(StrAttr::Get(param));
  kernel->attrs = func->attrs->With(attr::kIsGlobalFunc, IntAttr::Bool(true))
                      ->With(attr::kCallingConv, IntAttr::Get(2))
                      ->With(attr::kKernelLaunchParams, ListAttr::Get(params))
                      ->With(attr::kGlobalSymbol, StrAttr::Get(info.symbol));
  kernel->type = PrimFuncType(kernel);
  return remover.failed() ? nullptr : kernel;
}

const PrimFunc* MakeExternal(const PrimFunc* func, const GlobalVar& var, Workspace& workspace) {
  auto* external = workspace.New<PrimFunc>(*func);
  external->attrs = func->attrs->With(attr::kIsGlobalFunc, IntAttr::Bool(true));
  if (!GlobalSymbolOf(*func)) external->attrs = external->attrs->With(attr::kGlobalSymbol, StrAttr::Get(var.name));
  return external;
}

class KernelLowerer {
 public:
  KernelLowerer(Module module, bool runs_on_host, DiagnosticEngine& diagnostics)
      : module_(std::move(module)), runs_on_host_(runs_on_host), diagnostics_(diagnostics), workspace_(module_) {}

  Result<Module> Run() {
    for (const ModuleEntry& entry : module_.functions()) {
      if (!AddInfo(entry)) return Failure{ErrorCode::PassFailed};
    }
    if (!LowerCalls() || !ChangeCallees()) return Failure{ErrorCode::PassFailed};
    return std::move(module_);
  }

 private:
  // False after an error, here and below.
  bool AddInfo(const ModuleEntry& entry) {
    const auto* func = As<PrimFunc>(entry.func);
    if (!func) return true;
    const DictAttr* target = TargetOf(*func);
    if (!target) {
      diagnostics_.Error(Location(*func), "pass-failed",
                         fmt::format("the function '{}' has no target: run tir.BindTarget before", entry.var->name));
      return false;
    }
    const DictAttr* host = runs_on_host_ ? HostOf(*target) : nullptr;
    if (host) target = host;
    const StrAttr* symbol = GlobalSymbolOf(*func);
    KernelInfo& info = infos_[entry.var];
    info = {func, entry.storage, WithoutHost(target), symbol ? symbol->value : entry.var->name, {}, {}};
    return LaunchCollector(info, workspace_, diagnostics_).Collect();
  }
  bool LowerCalls() {
    for (size_t i = 0; i < module_.size(); ++i) {
      const ModuleEntry entry = module_.functions()[i];
      const auto* func = As<PrimFunc>(entry.func);
      if (!func) continue;
      Workspace workspace(module_, entry.storage);
      CallLowerer lowerer(infos_.at(entry.var).target, infos_, calls_, workspace, diagnostics_);
      const tir::Stmt* body = lowerer.VisitStmt(func->body);
      if (lowerer.failed()) return false;
      if (body == func->body) continue;
      const PrimFunc* made = WithBody(func, body, workspace);
      module_.SetAt(i, made, workspace.Finish());
    }
    return true;
  }
  bool ChangeCallees() {
    for (size_t i = 0; i < module_.size(); ++i) {
      const ModuleEntry entry = module_.functions()[i];
      const bool is_launched = calls_.launched.contains(entry.var);
      const bool is_external = calls_.external.contains(entry.var);
      if (!is_launched && !is_external) continue;
      const auto* func = To<PrimFunc>(entry.func);
      if (is_launched && is_external) {
        diagnostics_.Error(Location(*func), "pass-failed",
                           fmt::format("the function '{}' is called both from another device, as a kernel, and from "
                                       "another target for its own device",
                                       entry.var->name));
        return false;
      }
      Workspace workspace(module_, entry.storage);
      func = is_launched ? MakeKernel(func, infos_.at(entry.var), workspace, diagnostics_)
                         : MakeExternal(func, *entry.var, workspace);
      if (!func) return false;
      module_.SetAt(i, func, workspace.Finish());
    }
    return true;
  }

  Module module_;
  const bool runs_on_host_;  // functions whose target has a host
  DiagnosticEngine& diagnostics_;
  Workspace workspace_;  // of the values of launch parameters
  KernelInfos infos_;
  ForeignCalls calls_;
};

}  // namespace

Result<Module> LowerDeviceKernelLaunches(Module module, bool runs_on_host, DiagnosticEngine& diagnostics) {
  return KernelLowerer(std::move(module), runs_on_host, diagnostics).Run();
}

Pass CreateLowerDeviceKernelLaunch(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    return LowerDeviceKernelLaunches(std::move(module), /*runs_on_host=*/false, context.diagnostics);
  });
}

}  // namespace iropt
