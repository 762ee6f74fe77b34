// Passes, all of them from module to module, and the kinds that differ in how much of the module they see.
//
//   Pass pass = CreateFunctionPass({.name = "Clean", .opt_level = 1}, [](const Function* f, FunctionPassContext& ctx) {
//     return Clean(f, ctx.workspace());
//   });
//   Result<PassResult> result = pass(std::move(module));
//
// A pass that is called directly runs; whether it is enabled matters inside a Sequential only.
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
  // What a new kind of pass implements.
  class Impl {
   public:
    Impl(PassInfo info, PassKind kind) : info_(std::move(info)) { info_.kind = kind; }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    virtual ~Impl() = default;

    const PassInfo& info() const { return info_; }
    // What a pass that runs others runs, whether or not a context enables it.
    virtual std::span<const Pass> children() const { return {}; }
    // `diagnostics` is where to report.
    virtual Result<PassResult> Run(Module module, PassContext& context, DiagnosticEngine& diagnostics) const = 0;

   private:
    PassInfo info_;
  };

  explicit Pass(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {
    IROPT_CHECK(impl_ != nullptr, "a pass without an implementation");
  }

  const PassInfo& info() const { return impl_->info(); }
  std::span<const Pass> children() const { return impl_->children(); }

  // Runs the pass under the current context, or the given one, with the context's instruments around it. An
  // instrument's veto leaves the module as it is. Exceptions that the pass throws become errors.
  Result<PassResult> operator()(Module module) const { return (*this)(std::move(module), PassContext::Current()); }
  Result<PassResult> operator()(Module module, PassContext& context) const;

 private:
  Result<PassResult> RunUnwatched(Module module, PassContext& context) const;

  std::shared_ptr<const Impl> impl_;
};

// What a module pass gets beside the module.
struct ModulePassContext {
  const PassContext& context;
  DiagnosticEngine& diagnostics;

  // The result of an analysis of a function, computed unless it is at hand; see analysis.h.
  template <class A>
  std::shared_ptr<const typename A::Result> Analysis(const ModuleEntry& entry) {
    return context.analyses().Get<A>(entry);
  }
  // The same as a function of the entry, for analyses of whole modules that build on it.
  template <class A>
  auto AnalysisSource() {
    return [this](const ModuleEntry& entry) { return Analysis<A>(entry); };
  }
};

// What the passes over parts of a function get: the module as it was before the pass, where to make nodes, where to
// report. Each function has its own, so that functions can be worked on at the same time.
class FunctionPassContext {
 public:
  FunctionPassContext(const Module& module, const ModuleEntry& entry, const PassContext& context,
                      DiagnosticEngine& diagnostics)
      : module_(module), entry_(entry), context_(context), diagnostics_(diagnostics), workspace_(entry.storage) {}

  const Module& module() const { return module_; }
  const GlobalVar* var() const { return entry_.var; }
  const FuncStorageRef& storage() const { return entry_.storage; }
  const PassContext& context() const { return context_; }
  DiagnosticEngine& diagnostics() { return diagnostics_; }
  Workspace& workspace() { return workspace_; }
  // The result of an analysis of this function, computed unless it is at hand; see analysis.h.
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

// A pass says "unchanged" by returning what it was given. It fails by returning an error or by reporting one.
using ModulePassFn = std::function<Result<Module>(Module, ModulePassContext&)>;
using FunctionPassFn = std::function<Result<const Function*>(const Function*, FunctionPassContext&)>;
using DataflowBlockPassFn = std::function<Result<const DataflowBlock*>(const DataflowBlock*, FunctionPassContext&)>;
using PrimFuncPassFn = std::function<Result<const PrimFunc*>(const PrimFunc*, FunctionPassContext&)>;

// May do anything to the module, adding and deleting functions included.
Pass CreateModulePass(PassInfo info, ModulePassFn run);
// Rewrites one graph-level function at a time, several at once where the context has threads. Functions with the
// attribute SkipOptimization, and those that an external compiler takes (attribute Compiler), are left alone.
Pass CreateFunctionPass(PassInfo info, FunctionPassFn run);
// Rewrites one dataflow block at a time. The block's outputs and the symbolic variables that it defines must stay: it
// is an error if one is no longer bound.
Pass CreateDataflowBlockPass(PassInfo info, DataflowBlockPassFn run);
// Rewrites one loop-level function at a time, several at once where the context has threads.
Pass CreatePrimFuncPass(PassInfo info, PrimFuncPassFn run);

// Runs those of the passes that the context enables, in order, each after the passes that it requires. As part of
// another Sequential it is subject to its own level only where info.opt_level was set; `Sequential("name")` sets none.
PassInfo SequentialInfo(std::string name = "sequential", int opt_level = kNoOptLevel);
// With `level`, its passes are enabled at that level rather than at the context's.
Pass Sequential(std::vector<Pass> passes, PassInfo info = SequentialInfo(), std::optional<int> level = std::nullopt);
// Runs the passes as a Sequential does until a round changes nothing; says so where `max_rounds` were not enough.
Pass Fixpoint(std::vector<Pass> passes, int max_rounds, SourceSpan span = {});
// Runs the passes as a Sequential does, `times` times.
Pass Repeat(std::vector<Pass> passes, int times);

}  // namespace iropt
