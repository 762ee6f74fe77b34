// tir.BindTarget: states the target that each PrimFunc is compiled for.
//
//   @T.prim_func                                @T.prim_func
//   def main(A: T.handle): ...        -->       def main(A: T.handle):
//                                                   T.func_attr({"target": T.target({"kind": "cuda", ...})})
//                                                   ...
//
// A function with a global symbol gets the target, a private one the target without its host, and one that is marked as
// running on the host (tir.is_host_func) the host. A function that has a target keeps it, and gets the host if it has a
// global symbol and its target has none. Without the option `target`, it is the target of the context. O(functions).
//
// Since TVM 0.22 a target for a CPU without a host is its own host, as TVM's drivers make it, and a private function
// gets the host if functions with a global symbol call it outside of their threads. One that they call in threads, too,
// is copied: the copy `name_host` is for the host, which calls that. O(nodes).
//
// Source: TVM 0.18's pass of this name, and that of 0.22.
#include <fmt/format.h>

#include <string>

#include "iropt/ir/clone.h"
#include "iropt/ir/target.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/target_value.h"
#include "iropt/support/check.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/BindTarget.h"

namespace iropt {

namespace {

constexpr std::string_view kHost = "host";

// A target and its host, which may be missing.
struct Targets {
  const DictAttr* config;
  const DictAttr* host;
  const DictAttr* default_host;

  const DictAttr& any_host() const { return host ? *host : *default_host; }
};

const DictAttr* ConfigOf(const Attr* attr) {
  if (const auto* target = As<TargetAttr>(attr)) return target->config;
  return As<DictAttr>(attr);
}

bool IsExposed(const BaseFunc& func) { return func.attrs->Find(attr::kGlobalSymbol) != nullptr; }

const DictAttr* NewConfig(const DictAttr* config, const Targets& targets, bool exposed) {
  if (config) {
    const bool needs_host = exposed && targets.host && !config->Find(kHost);
    return needs_host ? config->With(kHost, targets.host) : config;
  }
  return exposed ? targets.config : targets.config->Without(kHost);
}

const PrimFunc* BindTarget(const PrimFunc* func, const Targets& targets, Workspace& workspace) {
  const DictAttr* old = ConfigOf(func->attrs->Find(attr::kTarget));
  const auto* is_host = As<IntAttr>(func->attrs->Find(attr::kIsHostFunc));
  const DictAttr* config = nullptr;
  if (!old && is_host && is_host->value != 0) {
    config = targets.any_host().With(kHost, &targets.any_host());
  } else {
    config = NewConfig(old, targets, IsExposed(*func));
  }
  const DictAttr* attrs = func->attrs->Without(attr::kIsHostFunc);
  if (config != old) attrs = attrs->With(attr::kTarget, TargetAttr::Get(config));
  if (attrs == func->attrs) return func;
  auto* copy = workspace.New<PrimFunc>(*func);
  copy->attrs = attrs;
  return copy;
}

// Returns whether the code in the statement runs in threads of a device.
bool StartsThreads(const tir::For& loop) { return loop.for_kind == tir::ForKind::kThreadBinding; }
bool StartsThreads(const tir::AttrStmt& stmt) {
  return stmt.attr_key == attr::kThreadExtent || stmt.attr_key == attr::kVirtualThread ||
         stmt.attr_key == attr::kDeviceEntry;
}

// The functions that are called outside of threads, and inside of them.
class CalleeCollector : public tir::StmtExprVisitor {
 public:
  LookupSet<const Expr*> of_host;
  LookupSet<const Expr*> of_device;

 protected:
  void VisitCall(const tir::Call* call) override {
    if (Is<GlobalVar>(call->op)) (in_threads_ ? of_device : of_host).insert(call->op);
    StmtExprVisitor::VisitCall(call);
  }
  void VisitFor(const tir::For* loop) override {
    const bool outer = std::exchange(in_threads_, in_threads_ || StartsThreads(*loop));
    StmtExprVisitor::VisitFor(loop);
    in_threads_ = outer;
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const bool outer = std::exchange(in_threads_, in_threads_ || StartsThreads(*stmt));
    StmtExprVisitor::VisitAttrStmt(stmt);
    in_threads_ = outer;
  }

 private:
  bool in_threads_ = false;
};

// Calls outside of threads become calls of the copies.
class CalleeReplacer : public tir::StmtExprMutator {
 public:
  using Copies = LookupMap<const Expr*, const GlobalVar*>;

  CalleeReplacer(const Copies& copies, Workspace& workspace) : StmtExprMutator(workspace), copies_(copies) {}

 protected:
  const PrimExpr* VisitCall(const tir::Call* old) override {
    const auto* call = static_cast<const tir::Call*>(StmtExprMutator::VisitCall(old));
    const auto* found = copies_.Find(call->op);
    if (!found) return call;
    auto* replaced = workspace().New<tir::Call>(*call);
    replaced->op = *found;
    return replaced;
  }
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    return StartsThreads(*loop) ? loop : StmtExprMutator::VisitFor(loop);
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    return StartsThreads(*stmt) ? stmt : StmtExprMutator::VisitAttrStmt(stmt);
  }

 private:
  const Copies& copies_;
};

class CallerTargetBinder {
 public:
  CallerTargetBinder(Module module, const Targets& targets) : module_(std::move(module)), targets_(targets) {}

  Module Run() {
    for (const ModuleEntry& entry : module_.functions()) {
      const auto* func = As<PrimFunc>(entry.func);
      if (func && IsExposed(*func) && module_.version() >= TextVersion::kV0_22) callees_.VisitStmt(func->body);
    }
    const size_t size = module_.size();
    for (size_t i = 0; i < size; ++i) Bind(i);
    for (size_t i = 0; i < size && !copies_.empty(); ++i) ReplaceCallees(i);
    return std::move(module_);
  }

 private:
  void Bind(size_t i) {
    const ModuleEntry entry = module_.functions()[i];
    const auto* func = As<PrimFunc>(entry.func);
    if (!func) return;
    const bool for_host = callees_.of_host.contains(entry.var);
    const bool for_device = callees_.of_device.contains(entry.var);
    const bool is_chosen =
        ConfigOf(func->attrs->Find(attr::kTarget)) || func->attrs->Find(attr::kIsHostFunc) || IsExposed(*func);
    Workspace workspace(module_, entry.storage);
    if (is_chosen || !for_host) {
      const PrimFunc* bound = BindTarget(func, targets_, workspace);
      if (bound != func) module_.SetAt(i, bound, workspace.Finish());
      return;
    }
    if (for_device) Copy(entry, *func);
    const DictAttr* config = for_device ? targets_.config->Without(kHost) : &targets_.any_host();
    const PrimFunc* bound = WithTarget(*func, config, workspace);
    module_.SetAt(i, bound, workspace.Finish());
  }
  void Copy(const ModuleEntry& entry, const PrimFunc& func) {
    Workspace workspace(module_);
    const BaseFunc* copy = CloneFunction(&func, workspace, {.fresh_sym_vars = true});
    const GlobalVar* var = GlobalVar::Get(module_.UniqueName(fmt::format("{}_host", entry.var->name)));
    const PrimFunc* bound = WithTarget(*To<PrimFunc>(copy), &targets_.any_host(), workspace);
    module_.Set(var, bound, workspace.Finish());
    copies_[entry.var] = var;
  }
  static const PrimFunc* WithTarget(const PrimFunc& func, const DictAttr* config, Workspace& workspace) {
    auto* copy = workspace.New<PrimFunc>(func);
    copy->attrs = func.attrs->With(attr::kTarget, TargetAttr::Get(config));
    return copy;
  }
  void ReplaceCallees(size_t i) {
    const ModuleEntry entry = module_.functions()[i];
    const auto* func = As<PrimFunc>(entry.func);
    if (!func || !IsExposed(*func)) return;
    Workspace workspace(module_, entry.storage);
    const tir::Stmt* body = CalleeReplacer(copies_, workspace).VisitStmt(func->body);
    if (body == func->body) return;
    const PrimFunc* replaced = WithBody(func, body, workspace);
    module_.SetAt(i, replaced, workspace.Finish());
  }

  Module module_;
  const Targets targets_;
  CalleeCollector callees_;
  CalleeReplacer::Copies copies_;
};

// Returns whether the code for the target can run on the host.
bool IsForHost(const DictAttr& config) {
  const auto* kind = As<StrAttr>(config.Find("kind"));
  return kind && (kind->value == "llvm" || kind->value == "c");
}

Targets TargetsOf(const TargetAttr& target, TextVersion version) {
  static constexpr auto kNoErrors = [](size_t, size_t, const std::string& message) {
    IROPT_UNREACHABLE("{}", message);
  };
  const DictAttr* config = target.config;
  if (version >= TextVersion::kV0_22 && !config->Find(kHost) && IsForHost(*config))
    config = config->With(kHost, config);
  return {config, ConfigOf(config->Find(kHost)), ParseTarget("llvm", kNoErrors)->config};
}

}  // namespace

Pass CreateBindTarget(const PassOptions& options) {
  const OptionValue option = *pass_options::BindTarget(options).target;
  const TargetAttr* given = option.is_null() ? nullptr : ReadTarget(option, options.diagnostics());
  return CreateModulePass(options.info(), [given](Module module, ModulePassContext& context) -> Result<Module> {
    const TargetAttr* target = given ? given : context.context.target;
    if (!target) {
      return Error{ErrorCode::PassFailed,
                   "tir.BindTarget needs a target: that of its option 'target', or of the context"};
    }
    const Targets targets = TargetsOf(*target, module.version());
    CallerTargetBinder binder(std::move(module), targets);
    return binder.Run();
  });
}

}  // namespace iropt
