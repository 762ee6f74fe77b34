// Passes, which all map a module to a module, and the kinds of passes by the unit that they run on.
//
//   Pass pass = CreateFunctionPass({.name = "Clean", .opt_level = 1}, [](const Function* f, FunctionPassContext& ctx) {
//     return Clean(f, ctx.workspace());
//   });
//   Result<PassResult> result = pass(std::move(module));
//
// A pass that is called directly runs; only a Sequential checks whether it is enabled.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass_info.h"
#include "iropt/support/check.h"
#include "iropt/support/result.h"

namespace iropt {

struct PassResult {
  Module module;
  bool changed = false;
};

// A handle to an immutable pass; copies refer to the same one.
class Pass {
 public:
  // The implementation of a kind of pass.
  class Impl {
   public:
    Impl(PassInfo info, PassKind kind) : info_(std::move(info)) { info_.kind = kind; }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    virtual ~Impl() = default;

    const PassInfo& info() const { return info_; }
    // The children of a composite pass, whether or not a context enables them.
    virtual std::span<const Pass> children() const { return {}; }
    // Errors are reported to `diagnostics`.
    virtual Result<PassResult> Run(Module module, PassContext& context, DiagnosticEngine& diagnostics) const = 0;

   private:
    PassInfo info_;
  };

  explicit Pass(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {
    IROPT_CHECK(impl_ != nullptr, "a pass without an implementation");
  }

  const PassInfo& info() const { return impl_->info(); }
  std::span<const Pass> children() const { return impl_->children(); }

  // Runs the pass under the current context, or the given one, with the context's instruments around it. After an
  // instrument's veto the module stays unchanged. Exceptions of the pass become errors.
  Result<PassResult> operator()(Module module) const { return (*this)(std::move(module), PassContext::Current()); }
  Result<PassResult> operator()(Module module, PassContext& context) const;

 private:
  Result<PassResult> RunWithoutInstruments(Module module, PassContext& context) const;

  std::shared_ptr<const Impl> impl_;
};

// The context of a module pass.
struct ModulePassContext {
  const PassContext& context;
  DiagnosticEngine& diagnostics;

  // The result of an analysis of a function, computed unless it is cached; see analysis.h.
  template <class A>
  std::shared_ptr<const typename A::Result> Analysis(const ModuleEntry& entry) {
    return context.analyses().Get<A>(entry);
  }
  // Returns a function from an entry to the analysis of its function, for analyses of whole modules that use it.
  template <class A>
  auto AnalysisSource() {
    return [this](const ModuleEntry& entry) { return Analysis<A>(entry); };
  }
};

// The context of passes over functions and their parts: the module before the pass, a workspace for new nodes,
// diagnostics. Each function has its own, so that functions can be processed in parallel.
class FunctionPassContext {
 public:
  FunctionPassContext(const Module& module, const ModuleEntry& entry, const PassContext& context,
                      DiagnosticEngine& diagnostics)
      : module_(module),
        entry_(entry),
        context_(context),
        diagnostics_(diagnostics),
        workspace_(module, entry.storage) {}

  const Module& module() const { return module_; }
  const GlobalVar* var() const { return entry_.var; }
  const FuncStorageRef& storage() const { return entry_.storage; }
  const PassContext& context() const { return context_; }
  DiagnosticEngine& diagnostics() { return diagnostics_; }
  Workspace& workspace() { return workspace_; }
  // The result of an analysis of this function, computed unless it is cached; see analysis.h.
  template <class A>
  std::shared_ptr<const typename A::Result> Analysis() {
    return context_.analyses().Get<A>(entry_);
  }

 private:
  const Module& module_;
  const ModuleEntry& entry_;
  const PassContext& context_;
  DiagnosticEngine& diagnostics_;
  Workspace workspace_;
};

// A pass that returns its input has not changed it. It fails by returning an error or by reporting one.
using ModulePassFn = std::function<Result<Module>(Module, ModulePassContext&)>;
using FunctionPassFn = std::function<Result<const Function*>(const Function*, FunctionPassContext&)>;
using DataflowBlockPassFn = std::function<Result<const DataflowBlock*>(const DataflowBlock*, FunctionPassContext&)>;
using PrimFuncPassFn = std::function<Result<const PrimFunc*>(const PrimFunc*, FunctionPassContext&)>;

// May change the whole module, including adding and deleting functions.
Pass CreateModulePass(const PassInfo& info, ModulePassFn run);
// Rewrites one Relax function at a time, several in parallel if the context has threads. Functions with the attribute
// SkipOptimization, and those for an external compiler (attribute Compiler), are skipped.
Pass CreateFunctionPass(const PassInfo& info, FunctionPassFn run);
// Makes a pass over functions that share something computed from the module: `prepare` is called once for each run.
Pass CreateFunctionPass(const PassInfo& info, std::function<FunctionPassFn(const Module&)> prepare);
// Rewrites one dataflow block at a time. The block's outputs and the symbolic variables that it defines must stay: it
// is an error if one is no longer bound.
Pass CreateDataflowBlockPass(const PassInfo& info, DataflowBlockPassFn run);
// Rewrites one PrimFunc at a time, several in parallel if the context has threads.
Pass CreatePrimFuncPass(const PassInfo& info, PrimFuncPassFn run);

// Runs those of the passes that the context enables, in order, each after the passes that it requires. As part of
// another Sequential it is subject to its own level only if info.opt_level was set; `Sequential("name")` sets none.
PassInfo SequentialInfo(std::string name = "sequential", int opt_level = kNoOptLevel);
// With `level`, its passes are enabled at that level instead of the context's.
Pass Sequential(std::vector<Pass> passes, PassInfo info = SequentialInfo(), std::optional<int> level = std::nullopt);
// Runs the passes as a Sequential does until a round changes nothing; reports a remark if `max_rounds` were not enough.
Pass Fixpoint(std::vector<Pass> passes, int max_rounds, SourceSpan span = {});
// Runs the passes as a Sequential does, `times` times.
Pass Repeat(std::vector<Pass> passes, int times);

}  // namespace iropt
