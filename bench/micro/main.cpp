// Micro benchmarks of the library. See docs/performance.md for their use.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "micro.h"

namespace iropt::bench {

namespace {

constexpr int64_t kSmallest = 1 << 10;
constexpr int64_t kBiggest = 1 << 16;
constexpr int kFactor = 8;

}  // namespace

void RegisterForForms(const std::string& name, const FormBenchmark& run) {
  for (const Form form : kForms) {
    const auto run_form = [run, form](benchmark::State& state) { run(state, form); };
    benchmark::RegisterBenchmark(fmt::format("{}/{}", name, FormName(form)).c_str(), run_form)
        ->RangeMultiplier(kFactor)
        ->Range(kSmallest, kBiggest)
        ->Unit(benchmark::kMicrosecond)
        ->Complexity(benchmark::oN);
  }
}

void SetItems(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetComplexityN(state.range(0));
}

}  // namespace iropt::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  iropt::bench::RegisterTextBenchmarks();
  iropt::bench::RegisterIrBenchmarks();
  iropt::bench::RegisterArithBenchmarks();
  iropt::bench::RegisterEvalBenchmarks();
  iropt::bench::RegisterPassBenchmarks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
