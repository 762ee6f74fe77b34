// Instruments that decide what runs.
#include <fmt/format.h>

#include "driver/instruments/setup.h"
#include "instrument_options/OptBisect.h"
#include "instrument_options/RewriteLimit.h"
#include "iropt/pass/bisect.h"
#include "iropt/pass/rewrite_limits.h"

namespace iropt {

namespace {

// With the number of the pass in what is printed and dumped, which counts mandatory passes, and functions only once. A
// pass over functions has begun when it asks.
void ShowBisectStep(CompilerInstance& compiler, const PassCounter& counter, const BisectStep& step, bool runs) {
  std::string line = BisectLine(step, runs);
  const bool has_begun = !step.function.empty();
  if (has_begun || runs) {
    const size_t number = has_begun ? counter.current() : counter.num_begun() + 1;
    line.insert(line.size() - 1, fmt::format(", pass {} of the run", number));
  }
  compiler.err().Append(line);
  static_cast<void>(compiler.err().Flush());
}

// Tells how many rewrites passes with limits made.
class RewriteListener : public RunListener {
 public:
  RewriteListener(std::shared_ptr<const RewriteLimits> limits, DiagnosticEngine& diagnostics)
      : limits_(std::move(limits)), diagnostics_(diagnostics) {}

  void EndInput() override {
    for (const auto& [pass, counter] : limits_->counters()) {
      const CountedRewrite last = counter->last();
      std::string message = fmt::format("pass '{}' made {} rewrite{}", pass, last.number, last.number == 1 ? "" : "s");
      if (last.number > 0) message += fmt::format(", the last one is {}", last.kind);
      if (counter->has_stopped()) message += "; the limit stopped it";
      diagnostics_.Remark(last.span, "rewrite-limit", std::move(message));
    }
  }

 private:
  std::shared_ptr<const RewriteLimits> limits_;
  DiagnosticEngine& diagnostics_;
};

// Reports what is wrong with a limit.
Result<RewriteLimit> ReadLimit(const LocatedName& text, const InstrumentSetup& setup) {
  Result<RewriteLimit> limit = ParseRewriteLimit(text.name);
  if (!limit.ok()) return setup.Refuse(text.span, limit.error().message).TakeErrorPtr();
  const PassRegistry& registry = setup.compiler().registry();
  const PassEntry* row = registry.Find(limit->pass);
  if (row == nullptr) {
    ReportUnknownPass(limit->pass, registry, text.span, setup.compiler().diagnostics());
    return Failure{ErrorCode::Usage};
  }
  if (!row->info.counts_rewrites) {
    constexpr const char* kMessage = "pass '{}' does not count its rewrites: -help-pass=NAME tells which pass does";
    return setup.Refuse(text.span, fmt::format(kMessage, limit->pass)).TakeErrorPtr();
  }
  return RewriteLimit{row->info.name, limit->limit};
}

}  // namespace

Status MakeOptBisect(const CheckedOptions& options, InstrumentSetup& setup) {
  const int64_t limit = *instrument_options::OptBisect(options).limit;
  const auto say = [&compiler = setup.compiler(), counter = setup.pipeline().selection().NumberPasses()](
                       const BisectStep& step, bool runs) { ShowBisectStep(compiler, *counter, step, runs); };
  setup.AddRenewed(std::make_shared<OptBisect>(limit, say),
                   [limit] { return std::make_shared<OptBisect>(limit, [](const BisectStep&, bool) {}); });
  return {};
}

Status MakeRewriteLimit(const CheckedOptions& options, InstrumentSetup& setup) {
  std::vector<RewriteLimit> limits;
  Status ok;
  const instrument_options::RewriteLimit given(options);
  for (const LocatedName& text : *given.limits) {
    Result<RewriteLimit> limit = ReadLimit(text, setup);
    if (limit.ok()) {
      limits.push_back(*std::move(limit));
    } else {
      ok = limit.TakeErrorPtr();
    }
  }
  if (!ok.ok() || limits.empty()) return ok;
  const auto first = std::make_shared<RewriteLimits>(limits);
  setup.AddRenewed(first, [limits] { return std::make_shared<RewriteLimits>(limits); });
  setup.Listen(std::make_shared<RewriteListener>(first, setup.compiler().diagnostics()));
  setup.pipeline().context().threads = 1;  // for numbers that do not depend on threads
  return {};
}

}  // namespace iropt
