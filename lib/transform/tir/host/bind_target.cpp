// tir.BindTarget: states the target that each PrimFunc is compiled for.
//
//   @T.prim_func                                @T.prim_func
//   def main(A: T.handle): ...        -->       def main(A: T.handle):
//                                                   T.func_attr({"target": T.target({"kind": "cuda", ...})})
//                                                   ...
//
// A function with a global symbol gets the target, a private one the target without its host, and one that is marked as
// running on the host (tir.is_host_func) the host. A function that has a target keeps it, and gets the host if it has a
// global symbol and its target has none. `target` is written as in T.target(...). O(functions).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <string>

#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

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

// Features that a target supports are truth values, which the text form writes as 0 and 1.
const DictAttr* WithFeatures(const DictAttr* config) {
  const DictAttr* result = config;
  for (uint32_t i = 0; config && i < config->size(); ++i) {
    const auto* value = As<IntAttr>(config->values[i]);
    if (value && config->keys[i].starts_with("supports_"))
      result = result->With(config->keys[i], IntAttr::Bool(value->value != 0));
  }
  return result;
}

// Null after the option was refused, and without a reader.
const DictAttr* ReadTarget(const PassOptions& options, std::string_view text, const OptionValue& option) {
  if (!options.reader()) return nullptr;
  const bool is_call = text.starts_with("T.target(");
  const std::string call = is_call ? std::string(text) : fmt::format("T.target(\"{}\")", text);
  Workspace workspace;
  return WithFeatures(
      ConfigOf(options.reader()->ReadAttr(call, {Module(), workspace, options.diagnostics(), option.span()})));
}

Targets ReadTargets(const PassOptions& options) {
  const OptionValue& option = options.Json(kTarget);
  const std::string* text = option.as_string();
  if (!text) {
    options.Refuse(kTarget, "must be a target in a string, such as \"llvm -mcpu=skylake\" or \"T.target(...)\"");
    return {};
  }
  const DictAttr* config = ReadTarget(options, *text, option);
  if (!config) return {};
  return {config, ConfigOf(config->Find(kHost)), ReadTarget(options, "llvm", option)};
}

}  // namespace

Pass CreateBindTarget(const PassOptions& options) {
  return CreatePrimFuncPass(
      options.info(),
      [targets = ReadTargets(options)](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        if (!targets.config) return Error{ErrorCode::PassFailed, "the registry has no reader"};
        return BindTarget(func, targets, context.workspace());
      });
}

}  // namespace iropt
