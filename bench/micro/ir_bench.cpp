// The IR: verifying, comparing, copying, interning.
#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "iropt/analysis/well_formed.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/type.h"
#include "micro.h"

namespace iropt::bench {

namespace {

void Verify(benchmark::State& state, Form form) {
  Workload workload(form, state.range(0));
  for (auto _ : state) {
    const bool ok = VerifyModule(workload.module(), {.threads = 1}, workload.diagnostics());
    if (!ok) return state.SkipWithError("the workload is ill-formed");
  }
  SetItems(state);
}

void Hash(benchmark::State& state, Form form) {
  Workload workload(form, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(StructuralHash(workload.module()));
  SetItems(state);
}

// Two modules without a node in common.
void Equal(benchmark::State& state, Form form) {
  Workload workload(form, state.range(0));
  const Module other = workload.Read();
  for (auto _ : state) {
    if (!StructuralEqual(workload.module(), other)) return state.SkipWithError("the modules differ");
  }
  SetItems(state);
}

void Clone(benchmark::State& state, Form form) {
  Workload workload(form, state.range(0));
  for (auto _ : state) {
    Module copy;
    for (const ModuleEntry& entry : workload.module().functions()) {
      Workspace workspace;
      const BaseFunc* func = CloneFunction(entry.func, workspace);
      copy.Set(entry.var, func, workspace.Finish());
    }
    benchmark::DoNotOptimize(copy);
  }
  SetItems(state);
}

// The range is the number of tensor types, made in a context that has none of them, or all of them.
void InternTypes(benchmark::State& state, bool known) {
  const int64_t count = state.range(0);
  const auto make_all = [count] {
    const arith::PrimBuilder make;
    for (int64_t i = 0; i < count; ++i) {
      const std::array dims{make.Int(i), make.Int(3)};
      benchmark::DoNotOptimize(TensorType::Get(dims, DataType::Float(32)));
    }
  };
  IRContext full;
  {
    const IRContext::Scope scope(full);
    make_all();
  }
  for (auto _ : state) {
    if (known) {
      const IRContext::Scope scope(full);
      make_all();
    } else {
      IRContext empty;
      const IRContext::Scope scope(empty);
      make_all();
    }
  }
  SetItems(state);
}

void RegisterIntern(const char* name, bool known) {
  benchmark::RegisterBenchmark(name, [known](benchmark::State& state) { InternTypes(state, known); })
      ->RangeMultiplier(8)
      ->Range(1 << 10, 1 << 16)
      ->Unit(benchmark::kMicrosecond)
      ->Complexity(benchmark::oN);
}

}  // namespace

void RegisterIrBenchmarks() {
  RegisterForForms("verify", Verify);
  RegisterForForms("structural-hash", Hash);
  RegisterForForms("structural-equal", Equal);
  RegisterForForms("clone", Clone);
  RegisterIntern("intern-types/new", false);
  RegisterIntern("intern-types/known", true);
}

}  // namespace iropt::bench
