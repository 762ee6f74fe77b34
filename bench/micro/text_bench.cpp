// Text: lexing, reading, printing. Items are bindings.
#include <benchmark/benchmark.h>

#include <string>

#include "iropt/text/script/lexer.h"
#include "iropt/text/script/printer.h"
#include "micro.h"

namespace iropt::bench {

namespace {

void Lex(benchmark::State& state, Form form) {
  Workload workload(form, state.range(0));
  const auto size = static_cast<uint32_t>(workload.text().size());
  for (auto _ : state) {
    Lexer lexer(workload.text(), workload.base(), 0, size, workload.diagnostics());
    while (lexer.kind() != TokenKind::kEnd) benchmark::DoNotOptimize(lexer.Next());
  }
  state.SetBytesProcessed(state.iterations() * size);
  SetItems(state);
}

void Read(benchmark::State& state, Form form) {
  Workload workload(form, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(workload.Read());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(workload.text().size()));
  SetItems(state);
}

void Print(benchmark::State& state, Form form) {
  Workload workload(form, state.range(0));
  int64_t size = 0;
  for (auto _ : state) size = static_cast<int64_t>(ModuleToString(workload.module()).size());
  state.SetBytesProcessed(state.iterations() * size);
  SetItems(state);
}

}  // namespace

void RegisterTextBenchmarks() {
  RegisterForForms("lex", Lex);
  RegisterForForms("read", Read);
  RegisterForForms("print", Print);
}

}  // namespace iropt::bench
