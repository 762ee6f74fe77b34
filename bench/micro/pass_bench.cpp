// Every pass of passes.def on a generated module, on one thread. Items are bindings of the module before the pass.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "iropt/pass/context.h"
#include "iropt/pass/registry.h"
#include "iropt/support/check.h"
#include "iropt/transform/passes.h"
#include "micro.h"

namespace iropt::bench {

namespace {

PassContext MakeContext(const PassRegistry& registry, Workload& workload) {
  PassContext context;
  context.registry = &registry;
  context.diagnostics = &workload.diagnostics();
  context.printer = [](const Module&, const std::string&) { return Status(); };  // PrintIR asks for one
  return context;
}

// Returns whether the pass accepts its options, and modules of all forms.
bool Runs(const Pass& pass, const PassRegistry& registry) {
  return std::ranges::all_of(kForms, [&](Form form) {
    Workload workload(form, 16);
    PassContext context = MakeContext(registry, workload);
    return pass(workload.module(), context).ok();
  });
}

void RunPass(benchmark::State& state, Form form, const Pass& pass, const PassRegistry& registry) {
  Workload workload(form, state.range(0));
  PassContext context = MakeContext(registry, workload);
  for (auto _ : state) {
    Result<PassResult> result = pass(workload.module(), context);
    if (!result.ok()) {
      state.SkipWithError("the pass failed");
      break;
    }
    benchmark::DoNotOptimize(result->module);
  }
  SetItems(state);
}

}  // namespace

void RegisterPassBenchmarks() {
  const auto registry = std::make_shared<PassRegistry>();
  const Status registered = RegisterAllPasses(*registry);
  IROPT_CHECK(registered.ok(), "{}", registered.error().message);
  for (const auto& [name, row] : registry->passes()) {
    DiagnosticBuffer buffer;
    DiagnosticEngine diagnostics(&buffer);
    Result<Pass> pass = registry->Create(name, {}, diagnostics);
    // Passes that need options are left out.
    if (!pass.ok() || !Runs(*pass, *registry)) continue;
    const auto run = [registry, pass = *pass](benchmark::State& state, Form form) {
      RunPass(state, form, pass, *registry);
    };
    RegisterForForms(fmt::format("pass/{}", name), run);
  }
}

}  // namespace iropt::bench
