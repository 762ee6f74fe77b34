// The simplifier: proofs that two shapes are equal, as reshapes and concatenations ask for. The range is the number of
// terms in each of the two dimensions.
#include <benchmark/benchmark.h>

#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "micro.h"

namespace iropt::bench {

namespace {

using DimPair = std::pair<const PrimExpr*, const PrimExpr*>;
using Symbols = std::vector<const PrimExpr*>;

// n0 + 2 * n1 + 3 * n2 + ..., from the front and from the back: sizes of concatenations.
DimPair Sums(const Symbols& n) {
  const arith::PrimBuilder make;
  DimPair dims{make.Int(0), make.Int(0)};
  for (size_t i = 0; i < n.size(); ++i) {
    const size_t j = n.size() - 1 - i;
    dims.first = make.Add(dims.first, make.Mul(n[i], make.Int(static_cast<int64_t>(i) + 1)));
    dims.second = make.Add(dims.second, make.Mul(make.Int(static_cast<int64_t>(j) + 1), n[j]));
  }
  return dims;
}

// 64 * (n0 + 2 * n1 + ...) and 64 * n0 + 128 * n1 + ...: numbers of elements.
DimPair Multiples(const Symbols& n) {
  const arith::PrimBuilder make;
  DimPair dims{make.Int(0), make.Int(0)};
  for (size_t i = 0; i < n.size(); ++i) {
    const auto factor = static_cast<int64_t>(i) + 1;
    dims.first = make.Add(dims.first, make.Mul(n[i], make.Int(factor)));
    dims.second = make.Add(dims.second, make.Mul(n[i], make.Int(64 * factor)));
  }
  return {make.Mul(dims.first, make.Int(64)), dims.second};
}

// (8 * n0 + 8 * n1 + ...) // 8 and n0 + n1 + ...: sizes of strided slices.
DimPair Quotients(const Symbols& n) {
  const arith::PrimBuilder make;
  DimPair dims{make.Int(0), make.Int(0)};
  for (const PrimExpr* symbol : n) {
    dims.first = make.Add(dims.first, make.Mul(symbol, make.Int(8)));
    dims.second = make.Add(dims.second, symbol);
  }
  return {make.FloorDiv(dims.first, make.Int(8)), dims.second};
}

void Prove(benchmark::State& state, DimPair (*make_dims)(const Symbols&)) {
  IRContext context;
  const IRContext::Scope scope(context);
  Symbols symbols;
  for (int64_t i = 0; i < state.range(0); ++i) symbols.push_back(context.NewSymVar("n"));
  const auto [a, b] = make_dims(symbols);
  for (auto _ : state) {
    if (!arith::ProveEqual(a, b)) return state.SkipWithError("not proved");
  }
  state.SetComplexityN(state.range(0));
}

void RegisterProof(const char* name, DimPair (*make_dims)(const Symbols&)) {
  benchmark::RegisterBenchmark(name, [make_dims](benchmark::State& state) { Prove(state, make_dims); })
      ->RangeMultiplier(2)
      ->Range(2, 32)
      ->Unit(benchmark::kMicrosecond)
      ->Complexity();
}

}  // namespace

void RegisterArithBenchmarks() {
  RegisterProof("prove-equal/sums", Sums);
  RegisterProof("prove-equal/multiples", Multiples);
  RegisterProof("prove-equal/quotients", Quotients);
}

}  // namespace iropt::bench
