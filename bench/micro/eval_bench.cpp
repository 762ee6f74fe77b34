// Folding of heavy operators, against one thread of OpenBLAS if that is installed. The range is the number of rows and
// columns of the matrices, and the height and width of the image.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/context.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/matmul.h"
#include "micro.h"

#ifdef IROPT_HAVE_OPENBLAS
#include <cblas.h>
#endif

namespace iropt::bench {

namespace {

Tensor Filled(std::vector<int64_t> shape) {
  const std::shared_ptr<NDArray> tensor = NDArray::Make(DataType::Float(32), shape);
  int64_t i = 0;
  for (float& x : tensor->MutableAs<float>()) x = static_cast<float>(i++ % 17) / 16 - 0.5f;
  return tensor;
}

#ifdef IROPT_HAVE_OPENBLAS

// Processor time of this thread, in which both sides run, so that other load does not count.
double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The time of the fastest of some runs.
double SecondsOf(const std::function<void()>& run) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 7; ++i) {
    const double start = ThreadSeconds();
    run();
    best = std::min(best, ThreadSeconds() - start);
  }
  return best;
}

// The time of OpenBLAS for the product of an (m, k) and a (k, n) matrix.
void CompareWithBlas(benchmark::State& state, const std::function<void()>& fold, int64_t m, int64_t k, int64_t n) {
  openblas_set_num_threads(1);
  const Tensor a = Filled({m, k});
  const Tensor b = Filled({k, n});
  std::vector<float> c(static_cast<size_t>(m * n));
  const double blas = SecondsOf([&] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
                static_cast<int>(k), 1.0f, a->As<float>().data(), static_cast<int>(k), b->As<float>().data(),
                static_cast<int>(n), 0.0f, c.data(), static_cast<int>(n));
  });
  state.counters["times_openblas"] = SecondsOf(fold) / blas;
}

#else

void CompareWithBlas(benchmark::State&, const std::function<void()>&, int64_t, int64_t, int64_t) {}

#endif

void Fold(benchmark::State& state, const std::function<Result<HostValue>()>& evaluate, int64_t m, int64_t k,
          int64_t n) {
  for (auto _ : state) {
    Result<HostValue> result = evaluate();
    if (!result) return state.SkipWithError(result.error().message.c_str());
    benchmark::DoNotOptimize(result);
  }
  state.SetItemsProcessed(state.iterations() * m * k * n);
  CompareWithBlas(
      state, [&] { benchmark::DoNotOptimize(evaluate()); }, m, k, n);
}

void FoldMatmul(benchmark::State& state) {
  const int64_t n = state.range(0);
  const std::vector<HostValue> args{HostValue(Filled({n, n})), HostValue(Filled({n, n}))};
  const OpInfo& op = OpInfoOf(op::kMatmul);
  const Attr* attrs = MakeOpAttrs(op::kMatmul, MatmulAttrs::Values{});
  Fold(
      state, [&] { return EvalOp(op, attrs, args); }, n, n, n);
}

// 64 channels, a window of 3 x 3, padded so that the image keeps its size. OpenBLAS computes the one product in it,
// without the unrolling of the image.
void FoldConv2d(benchmark::State& state) {
  IRContext context;
  const IRContext::Scope scope(context);
  const int64_t side = state.range(0);
  const std::vector<HostValue> args{HostValue(Filled({1, 64, side, side})), HostValue(Filled({64, 64, 3, 3}))};
  const OpInfo& op = OpInfoOf(op::kNnConv2d);
  const Attr* attrs = MakeOpAttrs(op::kNnConv2d, ConvAttrs::Values{.padding = std::vector<int64_t>{1, 1, 1, 1}});
  Fold(
      state, [&] { return EvalOp(op, attrs, args); }, 64, 64 * 9, side * side);
}

}  // namespace

void RegisterEvalBenchmarks() {
  benchmark::RegisterBenchmark("fold/matmul", FoldMatmul)->Arg(2)->Arg(1000)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("fold/conv2d", FoldConv2d)->Arg(2)->Arg(56)->Unit(benchmark::kMillisecond);
}

}  // namespace iropt::bench
