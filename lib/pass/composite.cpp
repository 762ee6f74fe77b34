// Passes that run other passes.
#include <fmt/format.h>

#include <utility>

#include "events.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/registry.h"
#include "iropt/pass/remark.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

class Composite : public Pass::Impl {
 public:
  Composite(PassInfo info, PassKind kind, std::vector<Pass> passes)
      : Impl(std::move(info), kind), passes_(std::move(passes)) {}

  std::span<const Pass> children() const override { return passes_; }

 protected:
  // Each pass that the context enables, after what it requires.
  Result<PassResult> RunInOrder(Module module, PassContext& context, DiagnosticEngine& diagnostics) const {
    PassResult total{std::move(module)};
    IROPT_RETURN_IF_ERROR(
        NotifyInstruments(context, info(), [&](PassInstrument& instrument) { return instrument.OnRound(info()); }));
    for (const Pass& pass : passes_) {
      if (!context.PassEnabled(pass.info())) {
        IROPT_RETURN_IF_ERROR(TellSkip(pass.info(), context));
        continue;
      }
      IROPT_RETURN_IF_ERROR(RunRequired(pass, total, context, diagnostics));
      IROPT_RETURN_IF_ERROR(RunOne(pass, total, context));
    }
    return total;
  }

 private:
  static Status RunOne(const Pass& pass, PassResult& total, PassContext& context) {
    IROPT_ASSIGN_OR_RETURN(PassResult result, pass(std::move(total.module), context));
    total.module = std::move(result.module);
    total.changed |= result.changed;
    return {};
  }

  static Status TellSkip(const PassInfo& info, PassContext& context) {
    const bool disabled = context.IsDisabled(info.name);
    const PassSkip skip{.reason = disabled ? PassSkip::Reason::Disabled : PassSkip::Reason::Level,
                        .level = context.opt_level};
    return NotifyInstruments(context, info,
                             [&](PassInstrument& instrument) { return instrument.OnSkippedPass(info, skip); });
  }

  static Status RunRequired(const Pass& requiring, PassResult& total, PassContext& context,
                            DiagnosticEngine& diagnostics) {
    const PassInfo& info = requiring.info();
    if (info.required.empty()) return {};
    const PassRegistry& registry = context.Registry();
    IROPT_ASSIGN_OR_RETURN(const std::vector<const PassEntry*> rows, registry.RequiredBy(info));
    for (const PassEntry* row : rows) {
      IROPT_ASSIGN_OR_RETURN(const Pass pass, registry.Create(row->info.name, {}, diagnostics));
      IROPT_RETURN_IF_ERROR(NotifyInstruments(
          context, info, [&](PassInstrument& instrument) { return instrument.OnRequiredPass(info, pass.info()); }));
      IROPT_RETURN_IF_ERROR(RunOne(pass, total, context));
    }
    return {};
  }

  std::vector<Pass> passes_;
};

// The level of a group is that of the context while the group runs: the groups inside of it, and passes that ask the
// context for the level, see it as well.
class LevelScope {
 public:
  LevelScope(PassContext& context, std::optional<int> level) : context_(context), outer_(context.opt_level) {
    context.opt_level = level.value_or(outer_);
  }
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;
  ~LevelScope() { context_.opt_level = outer_; }

 private:
  PassContext& context_;
  const int outer_;
};

class SequentialImpl : public Composite {
 public:
  SequentialImpl(PassInfo info, std::vector<Pass> passes, std::optional<int> level)
      : Composite(std::move(info), PassKind::Sequential, std::move(passes)), level_(level) {}

  Result<PassResult> Run(Module module, PassContext& context, DiagnosticEngine& diagnostics) const override {
    const LevelScope scope(context, level_);
    return RunInOrder(std::move(module), context, diagnostics);
  }

 private:
  std::optional<int> level_;
};

std::string JoinNames(std::span<const Pass> passes) {
  std::string names;
  for (const Pass& pass : passes) names += (names.empty() ? "" : ", ") + pass.info().name;
  return names;
}

class FixpointImpl : public Composite {
 public:
  FixpointImpl(std::vector<Pass> passes, int max_rounds, SourceSpan span)
      : Composite({.name = "fixpoint", .opt_level = kNoOptLevel}, PassKind::Fixpoint, std::move(passes)),
        max_rounds_(max_rounds),
        span_(span) {}

  Result<PassResult> Run(Module module, PassContext& context, DiagnosticEngine& diagnostics) const override {
    PassResult total{std::move(module)};
    for (int round = 0; round < max_rounds_; ++round) {
      IROPT_ASSIGN_OR_RETURN(PassResult result, RunInOrder(std::move(total.module), context, diagnostics));
      total.module = std::move(result.module);
      if (!result.changed) return total;
      total.changed = true;
    }
    RemarkMissed(diagnostics, "no-fixpoint", span_,
                 fmt::format("the fixpoint of {} was not reached within {} round{}", JoinNames(children()), max_rounds_,
                             max_rounds_ == 1 ? "" : "s"));
    return total;
  }

 private:
  int max_rounds_;
  SourceSpan span_;
};

class RepeatImpl : public Composite {
 public:
  RepeatImpl(std::vector<Pass> passes, int times)
      : Composite({.name = "repeat", .opt_level = kNoOptLevel}, PassKind::Repeat, std::move(passes)), times_(times) {}

  Result<PassResult> Run(Module module, PassContext& context, DiagnosticEngine& diagnostics) const override {
    PassResult total{std::move(module)};
    for (int i = 0; i < times_; ++i) {
      IROPT_ASSIGN_OR_RETURN(PassResult result, RunInOrder(std::move(total.module), context, diagnostics));
      total.module = std::move(result.module);
      total.changed |= result.changed;
    }
    return total;
  }

 private:
  int times_;
};

}  // namespace

PassInfo SequentialInfo(std::string name, int opt_level) { return {.name = std::move(name), .opt_level = opt_level}; }

Pass Sequential(std::vector<Pass> passes, PassInfo info, std::optional<int> level) {
  return Pass(std::make_shared<SequentialImpl>(std::move(info), std::move(passes), level));
}

Pass Fixpoint(std::vector<Pass> passes, int max_rounds, SourceSpan span) {
  IROPT_CHECK(max_rounds > 0, "a fixpoint of {} rounds", max_rounds);
  return Pass(std::make_shared<FixpointImpl>(std::move(passes), max_rounds, span));
}

Pass Repeat(std::vector<Pass> passes, int times) {
  IROPT_CHECK(times >= 0, "repeat {} times", times);
  return Pass(std::make_shared<RepeatImpl>(std::move(passes), times));
}

}  // namespace iropt
