// Module passes and the passes over parts of a module.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dataflow_blocks.h"
#include "events.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/remark.h"
#include "iropt/pass/skip.h"
#include "iropt/support/check.h"
#include "iropt/support/crash.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/parallel.h"

namespace iropt {

namespace {

// Below this size of the IR, starting threads costs more than they save.
constexpr size_t kBytesWorthThreads = 256 * 1024;

int ThreadsFor(const Module& module, const PassContext& context) {
  if (context.threads <= 1) return 1;
  size_t bytes = 0;
  for (const ModuleEntry& entry : module.functions()) {
    bytes += entry.storage->bytes();
    if (bytes >= kBytesWorthThreads) return context.threads;
  }
  return 1;
}

void InheritContextInThreads() {
  static const bool registered = [] {
    RegisterThreadInherit(
        {[]() -> void* {
           PassContext* context = pass_detail::ExchangeCurrentContext(nullptr);
           pass_detail::ExchangeCurrentContext(context);
           return context;
         },
         [](void* context) { pass_detail::ExchangeCurrentContext(static_cast<PassContext*>(context)); }});
    return true;
  }();
  static_cast<void>(registered);
}

// The result for one function.
struct FunctionResult {
  size_t index = 0;  // in the module
  const BaseFunc* func = nullptr;
  FuncStorageRef storage;
  std::optional<Error> error;
  DiagnosticBuffer diagnostics;
};

using RewriteFn = FunctionRef<Result<const BaseFunc*>(const BaseFunc*, FunctionPassContext&)>;

std::string DescribeFunction(const ModuleEntry& entry, const PassInfo& info) {
  return fmt::format("function '{}' of pass '{}'", entry.var->name, info.name);
}

// The instruments around the functions of one pass. They are called by one thread at a time.
class FunctionInstrumentation {
 public:
  FunctionInstrumentation(const PassContext& context, const PassInfo& info)
      : info_(info), instruments_(context.instruments) {}

  // Runs `rewrite`, which returns the new function and does not throw, between the calls of the instruments.
  Result<const BaseFunc*> Run(const ModuleEntry& entry, const DiagnosticEngine& diagnostics,
                              FunctionRef<Result<const BaseFunc*>()> rewrite) {
    if (instruments_.empty()) return rewrite();
    InstrumentScope scope(instruments_);
    if (Status begun = Begin(scope, entry); !begun.ok()) {
      static_cast<void>(End(scope, entry, *entry.func, PassOutcome::Failed));
      return begun.TakeError();
    }
    Result<const BaseFunc*> made = rewrite();
    if (!made.ok() || diagnostics.error_count() != 0) {
      static_cast<void>(End(scope, entry, *entry.func, PassOutcome::Failed));
      return made;
    }
    const PassOutcome outcome = *made == entry.func ? PassOutcome::Unchanged : PassOutcome::Changed;
    IROPT_RETURN_IF_ERROR(End(scope, entry, **made, outcome));
    return made;
  }

 private:
  Status Begin(InstrumentScope& scope, const ModuleEntry& entry) {
    const std::scoped_lock lock(mutex_);
    return scope.Begin(
        [&] { return DescribeFunction(entry, info_); },
        [&](PassInstrument& instrument) { return instrument.RunBeforeFunction(*entry.var, *entry.func, info_); });
  }

  Status End(InstrumentScope& scope, const ModuleEntry& entry, const BaseFunc& function, PassOutcome outcome) {
    const std::scoped_lock lock(mutex_);
    const auto hook = [&](PassInstrument& instrument, PassOutcome reported) {
      return instrument.RunAfterFunction(*entry.var, function, info_, reported);
    };
    return scope.End(
        outcome, [&] { return DescribeFunction(entry, info_); }, hook);
  }

  const PassInfo& info_;
  const InstrumentList instruments_;
  std::mutex mutex_;
};

void RewriteOne(const Module& module, const PassContext& context, FunctionInstrumentation& instrumentation,
                RewriteFn rewrite, FunctionResult& slot) {
  // One more than is shown, so that the limit is detected when the diagnostics of all functions are merged.
  DiagnosticEngine diagnostics(&slot.diagnostics, DiagnosticEngine::kDefaultMaxErrors + 1);
  const ModuleEntry& entry = module.functions()[slot.index];
  const CrashNote note("rewriting function", entry.var->name);
  const RemarkFunction in_function(entry.var->name);
  const auto describe = [&] { return fmt::format("the run on function '{}'", entry.var->name); };
  const auto run = [&]() -> Result<const BaseFunc*> {
    FunctionPassContext function_context(module, entry, context, diagnostics);
    IROPT_ASSIGN_OR_RETURN(slot.func, rewrite(entry.func, function_context));
    if (slot.func == nullptr && diagnostics.has_errors()) return Failure{ErrorCode::PassFailed};
    if (slot.func == nullptr) return Error{ErrorCode::PassFailed, fmt::format("{} returned no function", describe())};
    if (slot.func != entry.func) slot.storage = function_context.workspace().Finish();
    return slot.func;
  };
  Result<const BaseFunc*> made =
      instrumentation.Run(entry, diagnostics, [&] { return CatchExceptions(describe, run); });
  if (!made.ok()) slot.error = made.TakeError();
}

// In the order of the functions. An error that several of them report at the same location, an option of the pass, is
// shown once.
void ReportAll(std::vector<FunctionResult>& slots, DiagnosticEngine& diagnostics) {
  std::set<std::tuple<uint32_t, uint32_t, std::string>> seen;
  for (const FunctionResult& slot : slots) {
    for (const Diagnostic& diagnostic : slot.diagnostics.diagnostics()) {
      const SourceSpan span = diagnostic.span;
      const bool repeated = span.known() && !seen.emplace(span.begin, span.end, diagnostic.message).second;
      if (!repeated) diagnostics.Report(diagnostic);
    }
  }
}

// Rewrites the functions at `slots`, several at a time, and puts the results in place in the order of the module.
Result<PassResult> RewriteFunctions(Module module, PassContext& context, const PassInfo& info,
                                    DiagnosticEngine& diagnostics, std::vector<FunctionResult> slots,
                                    RewriteFn rewrite) {
  InheritContextInThreads();
  const int threads = info.is_serial ? 1 : ThreadsFor(module, context);
  FunctionInstrumentation instrumentation(context, info);
  ParallelFor(slots.size(), threads,
              [&](size_t i) { RewriteOne(module, context, instrumentation, rewrite, slots[i]); });
  ReportAll(slots, diagnostics);
  std::optional<Error> error;
  for (FunctionResult& slot : slots) {
    if (slot.error && !error) error = std::move(slot.error);
  }
  if (error) return *std::move(error);
  PassResult result{std::move(module)};
  for (FunctionResult& slot : slots) {
    if (slot.storage == nullptr) continue;
    result.module.SetAt(slot.index, slot.func, std::move(slot.storage));
    result.changed = true;
  }
  if (result.changed) CompactStorage(result.module, threads);
  return result;
}

// The attribute because of which a pass skips a function; empty if there is none.
template <class F>
using SkipFn = std::string_view (*)(const F&);

// Why an instrument vetoes the function; empty if none does. Every instrument is asked, also after a veto.
Result<std::string> FindVeto(const ModuleEntry& entry, const PassContext& context, const PassInfo& info) {
  std::string reason;
  if (context.instruments.empty() || context.IsRequired(info.name)) return reason;
  const InstrumentList instruments = context.instruments;
  for (const std::shared_ptr<PassInstrument>& instrument : instruments) {
    const auto ask = [&]() -> Result<bool> { return instrument->ShouldRunOnFunction(*entry.var, *entry.func, info); };
    const auto describe = [&] { return DescribeFunction(entry, info); };
    IROPT_ASSIGN_OR_RETURN(const bool answer, CallInstrument(*instrument, describe, ask));
    if (answer || !reason.empty()) continue;
    reason = instrument->VetoReason();
    if (reason.empty()) reason = fmt::format("vetoed by instrument '{}'", instrument->name());
  }
  return reason;
}

template <class F>
Result<std::vector<FunctionResult>> Select(const Module& module, SkipFn<F> skip, const PassContext& context,
                                           const PassInfo& info) {
  std::vector<FunctionResult> slots;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry& entry = module.functions()[i];
    const F* func = As<F>(entry.func);
    if (func == nullptr) continue;
    std::string reason(skip(*func));
    if (reason.empty()) {
      IROPT_ASSIGN_OR_RETURN(reason, FindVeto(entry, context, info));
    }
    if (reason.empty()) {
      slots.emplace_back().index = i;
      continue;
    }
    IROPT_RETURN_IF_ERROR(NotifyInstruments(context, info, [&](PassInstrument& instrument) {
      return instrument.OnSkippedFunction(*entry.var, reason, info);
    }));
  }
  return slots;
}

template <class F>
std::string_view SkipsNone(const F&) {
  return {};
}

template <class F>
using RewriteFnOf = std::function<Result<const F*>(const F*, FunctionPassContext&)>;

template <class F>
class FunctionPassImpl : public Pass::Impl {
 public:
  using PrepareFn = std::function<RewriteFnOf<F>(const Module&)>;

  FunctionPassImpl(PassInfo info, PassKind kind, RewriteFnOf<F> rewrite, SkipFn<F> skip)
      : FunctionPassImpl(
            std::move(info), kind, [rewrite = std::move(rewrite)](const Module&) { return rewrite; }, skip) {}
  FunctionPassImpl(PassInfo info, PassKind kind, PrepareFn prepare, SkipFn<F> skip)
      : Impl(std::move(info), kind), prepare_(std::move(prepare)), skip_(skip) {}

  Result<PassResult> Run(Module module, PassContext& context, DiagnosticEngine& diagnostics) const override {
    IROPT_ASSIGN_OR_RETURN(std::vector<FunctionResult> slots, Select<F>(module, skip_, context, info()));
    const RewriteFnOf<F> prepared = prepare_(module);
    const auto rewrite = [&](const BaseFunc* func, FunctionPassContext& inner) -> Result<const BaseFunc*> {
      if constexpr (std::is_same_v<F, PrimFunc>) {
        if (!CheckRequiredProperties(info(), *To<F>(func), context, inner.diagnostics())) {
          return Failure{ErrorCode::PassFailed};
        }
      }
      IROPT_ASSIGN_OR_RETURN(const F* rewritten, prepared(To<F>(func), inner));
      return static_cast<const BaseFunc*>(rewritten);
    };
    return RewriteFunctions(std::move(module), context, info(), diagnostics, std::move(slots), rewrite);
  }

 private:
  PrepareFn prepare_;
  SkipFn<F> skip_;
};

// Returns whether both have the same function, attribute and info pointers.
bool AreIdentical(const Module& a, const Module& b) {
  const auto same_entry = [](const ModuleEntry& x, const ModuleEntry& y) { return x.var == y.var && x.func == y.func; };
  return std::ranges::equal(a.functions(), b.functions(), same_entry) && a.attrs() == b.attrs() &&
         a.global_infos() == b.global_infos() && a.name() == b.name();
}

class ModulePassImpl : public Pass::Impl {
 public:
  ModulePassImpl(PassInfo info, ModulePassFn run) : Impl(std::move(info), PassKind::Module), run_(std::move(run)) {}

  Result<PassResult> Run(Module module, PassContext& context, DiagnosticEngine& diagnostics) const override {
    // Also keeps the old functions alive: a new one at the address of a freed one would look the same.
    std::optional<Module> before = module;
    ModulePassContext inner{context, diagnostics};
    if (!HasRequiredProperties(module, context, diagnostics)) return Failure{ErrorCode::PassFailed};
    IROPT_ASSIGN_OR_RETURN(Module after, run_(std::move(module), inner));
    const bool changed = !AreIdentical(*before, after);
    before.reset();
    if (changed) Compact(after, context);
    return PassResult{std::move(after), changed};
  }

 private:
  bool HasRequiredProperties(const Module& module, const PassContext& context, DiagnosticEngine& diagnostics) const {
    bool all_hold = true;
    for (const ModuleEntry& entry : module.functions()) {
      const auto* func = As<PrimFunc>(entry.func);
      if (func != nullptr) all_hold &= CheckRequiredProperties(info(), *func, context, diagnostics);
    }
    return all_hold;
  }

  // Analyses that the pass computed for its new functions are valid for their copies.
  static void Compact(Module& module, const PassContext& context) {
    const AnalysisManager::Preserved found = context.analyses().PreserveAcrossCloning(module);
    CompactStorage(module, ThreadsFor(module, context));
    context.analyses().TransferPreserved(module, found);
  }

  ModulePassFn run_;
};

}  // namespace

std::string_view SkipsOptimization(const Function& function) {
  if (function.attrs->Find(attr::kCompiler) != nullptr) return attr::kCompiler;
  const auto* skip = As<IntAttr>(function.attrs->Find(attr::kSkipOptimization));
  return skip != nullptr && skip->value != 0 ? attr::kSkipOptimization : std::string_view();
}

Pass CreateModulePass(const PassInfo& info, ModulePassFn run) {
  return Pass(std::make_shared<ModulePassImpl>(info, std::move(run)));
}

Pass CreateFunctionPass(const PassInfo& info, FunctionPassFn run) {
  return Pass(
      std::make_shared<FunctionPassImpl<Function>>(info, PassKind::Function, std::move(run), SkipsOptimization));
}

Pass CreateFunctionPass(const PassInfo& info, std::function<FunctionPassFn(const Module&)> prepare) {
  return Pass(
      std::make_shared<FunctionPassImpl<Function>>(info, PassKind::Function, std::move(prepare), SkipsOptimization));
}

Pass CreateDataflowBlockPass(const PassInfo& info, DataflowBlockPassFn run) {
  auto rewrite = [run = std::move(run)](const Function* function, FunctionPassContext& context) {
    return RewriteDataflowBlocks(function, run, context);
  };
  return Pass(std::make_shared<FunctionPassImpl<Function>>(info, PassKind::DataflowBlock, std::move(rewrite),
                                                           SkipsNone<Function>));
}

Pass CreatePrimFuncPass(const PassInfo& info, PrimFuncPassFn run) {
  return Pass(
      std::make_shared<FunctionPassImpl<PrimFunc>>(info, PassKind::PrimFunc, std::move(run), SkipsNone<PrimFunc>));
}

}  // namespace iropt
