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
// Source: TVM 0.18's pass of this name.
#include <string>

#include "iropt/ir/target.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/target_value.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

constexpr std::string_view kHost = "host";
constexpr std::string_view kTarget = "target";
constexpr std::string_view kHostFunc = "tir.is_host_func";

// A target and its host, which may be missing.
struct Targets {
  const DictAttr* config;
  const DictAttr* host;
  const DictAttr* default_host;
};

const DictAttr* ConfigOf(const Attr* attr) {
  if (const auto* target = As<TargetAttr>(attr)) return target->config;
  return As<DictAttr>(attr);
}

const DictAttr* NewConfig(const DictAttr* config, const Targets& targets, bool exposed) {
  if (config) {
    const bool needs_host = exposed && targets.host && !config->Find(kHost);
    return needs_host ? config->With(kHost, targets.host) : config;
  }
  return exposed ? targets.config : targets.config->Without(kHost);
}

const PrimFunc* BindTarget(const PrimFunc* func, const Targets& targets, Workspace& workspace) {
  const DictAttr* old = ConfigOf(func->attrs->Find(kTarget));
  const auto* is_host = As<IntAttr>(func->attrs->Find(kHostFunc));
  const DictAttr* config = nullptr;
  if (!old && is_host && is_host->value != 0) {
    const DictAttr* host = targets.host ? targets.host : targets.default_host;
    config = host->With(kHost, host);
  } else {
    config = NewConfig(old, targets, func->attrs->Find("global_symbol") != nullptr);
  }
  const DictAttr* attrs = func->attrs->Without(kHostFunc);
  if (config != old) attrs = attrs->With(kTarget, TargetAttr::Get(config));
  if (attrs == func->attrs) return func;
  auto* copy = workspace.New<PrimFunc>(*func);
  copy->attrs = attrs;
  return copy;
}

Targets TargetsOf(const TargetAttr& target) {
  static constexpr auto kNoErrors = [](size_t, size_t, const std::string& message) {
    IROPT_UNREACHABLE("{}", message);
  };
  return {target.config, ConfigOf(target.config->Find(kHost)), ParseTarget("llvm", kNoErrors)->config};
}

}  // namespace

Pass CreateBindTarget(const PassOptions& options) {
  const OptionValue& option = options.Json(kTarget);
  const TargetAttr* given = option.is_null() ? nullptr : ReadTarget(option, options.diagnostics());
  return CreatePrimFuncPass(
      options.info(), [given](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        const TargetAttr* target = given ? given : context.context().target;
        if (target) return BindTarget(func, TargetsOf(*target), context.workspace());
        return Error{ErrorCode::PassFailed,
                     "tir.BindTarget needs a target: that of its option 'target', or of the context"};
      });
}

}  // namespace iropt
