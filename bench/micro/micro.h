// Shared parts of the groups of benchmarks. Benchmarks are registered in main, not by static constructors, so that
// their order is that of the groups.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "workload.h"

namespace iropt::bench {

using FormBenchmark = std::function<void(benchmark::State&, Form)>;

// Registers "<name>/<form>/<bindings>" for all forms and several sizes, each form with its complexity.
void RegisterForForms(const std::string& name, const FormBenchmark& run);

// To be called at the end of a benchmark of FormBenchmark: sets the number of items, which are bindings, and the
// argument of the complexity.
void SetItems(benchmark::State& state);

void RegisterTextBenchmarks();
void RegisterIrBenchmarks();
void RegisterArithBenchmarks();
void RegisterEvalBenchmarks();
void RegisterPassBenchmarks();

}  // namespace iropt::bench
