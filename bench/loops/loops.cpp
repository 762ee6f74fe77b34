// Compares compiled PrimFuncs with the same loop nests in C, which clang compiled with -O3 -march=native.
//
//   iropt_loops [--runs=N] [--no-checks]
//
// The two versions run alternately. Prints for each loop nest the median times and their ratio. Exits with 1 if results
// differ.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "iropt/codegen/loop_compiler.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/text/script/parser.h"
#include "nests.h"

namespace {

using namespace iropt;
using codegen::LoopArg;
using codegen::LoopTensor;

const char* const kModule = R"(
from tvm.script import ir as I
from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def matrix_product(A: T.Buffer((256, 256), "float32"), B: T.Buffer((256, 256), "float32"), C: T.Buffer((256, 256), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i, k, j in T.grid(256, 256, 256):
            with T.block("C"):
                vi, vk, vj = T.axis.remap("SRS", [i, k, j])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @T.prim_func
    def matrix_product_by_dots(A: T.Buffer((256, 256), "float32"), B: T.Buffer((256, 256), "float32"), C: T.Buffer((256, 256), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i, j, k in T.grid(256, 256, 256):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]

    @T.prim_func
    def convolution(X: T.Buffer((32, 58, 58), "float32"), W: T.Buffer((32, 32, 3, 3), "float32"), Y: T.Buffer((32, 56, 56), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for f, i, j, c, di, dj in T.grid(32, 56, 56, 32, 3, 3):
            with T.block("Y"):
                vf, vi, vj, vc, vdi, vdj = T.axis.remap("SSSRRR", [f, i, j, c, di, dj])
                with T.init():
                    Y[vf, vi, vj] = T.float32(0)
                Y[vf, vi, vj] = Y[vf, vi, vj] + X[vc, vi + vdi, vj + vdj] * W[vf, vc, vdi, vdj]

    @T.prim_func
    def depthwise_convolution(X: T.Buffer((128, 58, 58), "float32"), W: T.Buffer((128, 3, 3), "float32"), Y: T.Buffer((128, 56, 56), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for c, i, j, di, dj in T.grid(128, 56, 56, 3, 3):
            with T.block("Y"):
                vc, vi, vj, vdi, vdj = T.axis.remap("SSSRR", [c, i, j, di, dj])
                with T.init():
                    Y[vc, vi, vj] = T.float32(0)
                Y[vc, vi, vj] = Y[vc, vi, vj] + X[vc, vi + vdi, vj + vdj] * W[vc, vdi, vdj]

    @T.prim_func
    def softmax(X: T.Buffer((512, 512), "float32"), Y: T.Buffer((512, 512), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        most = T.alloc_buffer((512,))
        total = T.alloc_buffer((512,))
        for i in range(512):
            for j in range(512):
                with T.block("most"):
                    vi, vj = T.axis.remap("SR", [i, j])
                    with T.init():
                        most[vi] = T.min_value("float32")
                    most[vi] = T.max(most[vi], X[vi, vj])
            for j in range(512):
                with T.block("exp"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = T.exp(X[vi, vj] - most[vi])
            for j in range(512):
                with T.block("total"):
                    vi, vj = T.axis.remap("SR", [i, j])
                    with T.init():
                        total[vi] = T.float32(0)
                    total[vi] = total[vi] + Y[vi, vj]
            for j in range(512):
                with T.block("divide"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = Y[vi, vj] / total[vi]

    @T.prim_func
    def layer_norm(X: T.Buffer((512, 512), "float32"), S: T.Buffer((512,), "float32"), B: T.Buffer((512,), "float32"), Y: T.Buffer((512, 512), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        total = T.alloc_buffer((512,))
        squares = T.alloc_buffer((512,))
        for i, j in T.grid(512, 512):
            with T.block("sums"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    total[vi] = T.float32(0)
                    squares[vi] = T.float32(0)
                total[vi] = total[vi] + X[vi, vj]
                squares[vi] = squares[vi] + X[vi, vj] * X[vi, vj]
        for i, j in T.grid(512, 512):
            with T.block("normalize"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = (X[vi, vj] - total[vi] * T.float32(1.0 / 512)) * T.rsqrt(squares[vi] * T.float32(1.0 / 512) - total[vi] * T.float32(1.0 / 512) * (total[vi] * T.float32(1.0 / 512)) + T.float32(1e-05)) * S[vj] + B[vj]

    @T.prim_func
    def transposition(X: T.Buffer((1024, 1024), "float32"), Y: T.Buffer((1024, 1024), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i, j in T.grid(1024, 1024):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vj, vi]

    @T.prim_func
    def total(X: T.Buffer((1048576,), "float32"), Y: T.Buffer((1,), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i in range(1048576):
            with T.block("Y"):
                vo = T.axis.spatial(1, 0)
                vi = T.axis.reduce(1048576, i)
                with T.init():
                    Y[vo] = T.float32(0)
                Y[vo] = Y[vo] + X[vi]

    @T.prim_func
    def elementwise(X: T.Buffer((1048576,), "float32"), Z: T.Buffer((1048576,), "float32"), Y: T.Buffer((1048576,), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i in range(1048576):
            with T.block("Y"):
                vi = T.axis.spatial(1048576, i)
                Y[vi] = T.max(X[vi] * Z[vi] + T.float32(1), T.float32(0))
)";

struct Nest {
  const char* name;
  std::vector<std::vector<int64_t>> shapes;  // the last is the output
  std::function<void(const std::vector<float*>&)> in_c;
};

std::vector<Nest> Nests() {
  using Data = const std::vector<float*>&;
  return {
      {"matrix_product", {{256, 256}, {256, 256}, {256, 256}}, [](Data d) { MatrixProduct(d[0], d[1], d[2]); }},
      {"matrix_product_by_dots",
       {{256, 256}, {256, 256}, {256, 256}},
       [](Data d) { MatrixProductByDots(d[0], d[1], d[2]); }},
      {"convolution", {{32, 58, 58}, {32, 32, 3, 3}, {32, 56, 56}}, [](Data d) { Convolution(d[0], d[1], d[2]); }},
      {"depthwise_convolution",
       {{128, 58, 58}, {128, 3, 3}, {128, 56, 56}},
       [](Data d) { DepthwiseConvolution(d[0], d[1], d[2]); }},
      {"softmax", {{512, 512}, {512, 512}}, [](Data d) { Softmax(d[0], d[1]); }},
      {"layer_norm", {{512, 512}, {512}, {512}, {512, 512}}, [](Data d) { LayerNorm(d[0], d[1], d[2], d[3]); }},
      {"transposition", {{1024, 1024}, {1024, 1024}}, [](Data d) { Transposition(d[0], d[1]); }},
      {"total", {{1048576}, {1}}, [](Data d) { Sum(d[0], d[1]); }},
      {"elementwise", {{1048576}, {1048576}, {1048576}}, [](Data d) { Elementwise(d[0], d[1], d[2]); }},
  };
}

double Milliseconds(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Random input tensors, and one output tensor per version.
struct Tensors {
  explicit Tensors(const Nest& nest) {
    uint32_t state = 1;
    for (const auto& shape : nest.shapes) {
      size_t count = 1;
      for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
      data.emplace_back(count);
      for (float& x : data.back()) x = static_cast<float>((state = state * 1664525u + 1013904223u) >> 16) / 65536.0f;
    }
    data.emplace_back(data.back().size());
    for (size_t i = 0; i < nest.shapes.size(); ++i) {
      LoopTensor tensor{.data = data[i].data(),
                        .ndim = static_cast<int32_t>(nest.shapes[i].size()),
                        .code = 2,
                        .bits = 32,
                        .shape = nest.shapes[i].data()};
      tensors.push_back(tensor);
      in_c.push_back(data[i].data());
    }
    in_c.back() = data.back().data();
    for (const LoopTensor& tensor : tensors) args.push_back(LoopArg::Tensor(&tensor));
  }
  bool Agree() const {
    const auto& compiled = data[data.size() - 2];
    for (size_t i = 0; i < compiled.size(); ++i) {
      if (std::abs(compiled[i] - data.back()[i]) > 1e-3f * std::max(1.0f, std::abs(data.back()[i]))) return false;
    }
    return true;
  }
  std::vector<std::vector<float>> data;
  std::vector<LoopTensor> tensors;
  std::vector<LoopArg> args;
  std::vector<float*> in_c;
};

// Measures a loop nest and prints a row. Returns false if it does not compile or the results differ.
bool Compare(codegen::LoopCompiler& compiler, const Module& module, const Nest& nest, int runs) {
  Tensors tensors(nest);
  Result<codegen::CompiledFunctionRef> function = Error{ErrorCode::Internal, {}};
  const double compile = Milliseconds([&] { function = compiler.Compile(module, *GlobalVar::Get(nest.name)); });
  if (!function) return fmt::print("{}: {}\n", nest.name, function.error().message), false;
  std::vector<double> compiled;
  std::vector<double> in_c;
  for (int i = 0; i < runs; ++i) {
    bool done = false;
    compiled.push_back(Milliseconds([&] { done = (*function)->Call(tensors.args, {.threads = 1}).ok(); }));
    in_c.push_back(Milliseconds([&] { nest.in_c(tensors.in_c); }));
    if (!done) return fmt::print("{}: failed\n", nest.name), false;
  }
  const double a = Median(compiled);
  const double b = Median(in_c);
  fmt::print("{:24} {:10.3f} {:10.3f} {:8.2f} {:10.1f}\n", nest.name, a, b, a / b, compile);
  return tensors.Agree() || (fmt::print("{}: the results differ\n", nest.name), false);
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 21;
  codegen::LoopCompilerOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg.starts_with("--runs=")) runs = std::max(1, std::atoi(argv[i] + 7));
    if (arg == "--no-checks") options.bounds_checks = false;
  }
  DiagnosticBuffer diagnostics;
  DiagnosticEngine engine(&diagnostics);
  const std::optional<Module> module = ParseModule(kModule, 1, {}, engine);
  auto compiler = codegen::LoopCompiler::Load(options);
  if (!module || !compiler) {
    for (const Diagnostic& d : diagnostics.diagnostics()) fmt::print("{}\n", d.message);
    fmt::print("{}\n", compiler ? "the module does not parse" : compiler.error().message);
    return 1;
  }
  fmt::print("{:24} {:>10} {:>10} {:>8} {:>10}\n", "median milliseconds", "compiled", "in C", "ratio", "to compile");
  bool all = true;
  for (const Nest& nest : Nests()) all = Compare(**compiler, *module, nest, runs) && all;
  return all ? 0 : 1;
}
