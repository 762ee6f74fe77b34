// Running loop-level functions by the interpreter and compiled, to compare what they compute.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <random>

#include "catch.h"
#include "iropt/codegen/loop_compiler.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/ir/element.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/text/script/parser.h"

namespace iropt::codegen {

// Parameters for Func.
inline const char* const kParams = "A: T.Buffer((8,), \"int32\"), out: T.Buffer((8,), \"int32\")";

inline Module Parse(std::string_view body) {
  const std::string text = fmt::format(
      "from tvm.script import ir as I\nfrom tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n{}", body);
  DiagnosticBuffer diagnostics;
  DiagnosticEngine engine(&diagnostics);
  std::optional<Module> module = ParseModule(text, 1, {}, engine);
  std::string messages;
  for (const Diagnostic& d : diagnostics.diagnostics()) messages += d.message + "\n";
  INFO(messages << text);
  REQUIRE(module.has_value());
  return *std::move(module);
}

// A function of the statements, with buffers as "A: T.Buffer((4,), \"float32\")".
inline std::string Func(std::string_view params, std::string_view body, std::string_view name = "main",
                        std::string_view returns = "") {
  std::string text =
      fmt::format("    @T.prim_func\n    def {}({}){}:\n        T.func_attr({{\"tir.noalias\": T.bool(True)}})\n", name,
                  params, returns);
  size_t begin = 0;
  while (begin < body.size()) {
    const size_t end = std::min(body.find('\n', begin), body.size());
    if (end > begin) text += fmt::format("        {}\n", body.substr(begin, end - begin));
    begin = end + 1;
  }
  return text + "\n";
}

inline std::shared_ptr<LoopCompiler> CompilerWith(LoopCompilerOptions options) {
  Result<std::shared_ptr<LoopCompiler>> compiler = LoopCompiler::Load(std::move(options));
  INFO((compiler.ok() ? "" : compiler.error().message));
  REQUIRE(compiler.ok());
  return *std::move(compiler);
}

inline LoopCompiler& SharedCompiler() {
  static const std::shared_ptr<LoopCompiler> compiler = CompilerWith({});
  return *compiler;
}

// Numbers that all dtypes can hold, and some that lie between what narrow formats can.
inline Tensor RandomTensor(DataType dtype, std::vector<int64_t> shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::shared_ptr<NDArray> tensor = NDArray::Make(dtype, std::move(shape));
  DispatchElement(dtype, [&]<class E>(std::type_identity<E>) {
    for (E& element : tensor->MutableAs<E>()) {
      if constexpr (std::is_same_v<E, BoolByte>) {
        element = Element<E>::Store(random() % 2 == 0);
      } else if constexpr (std::is_integral_v<E>) {
        element = static_cast<E>(random() % 23) - (std::is_signed_v<E> ? E{11} : E{0});
      } else {
        element = E(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 333.0f);
      }
    }
  });
  return tensor;
}

// Where two tensors differ: nothing, or the first place. Floats may differ by `tolerance` times their size.
inline std::string Difference(const NDArray& expected, const NDArray& actual, double tolerance) {
  std::string found;
  DispatchElement(expected.dtype(), [&]<class E>(std::type_identity<E>) {
    for (size_t i = 0; i < expected.As<E>().size() && found.empty(); ++i) {
      const auto a = static_cast<double>(Element<E>::Load(expected.As<E>()[i]));
      const auto b = static_cast<double>(Element<E>::Load(actual.As<E>()[i]));
      const bool same =
          a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(a));
      if (!same) found = fmt::format("element {}: interpreted {}, compiled {}", i, a, b);
    }
  });
  return found;
}

inline double ToleranceOf(DataType dtype) {
  if (!dtype.is_floating()) return 0;
  if (dtype.bits == 64) return 1e-12;
  return dtype.bits == 32 ? 2e-5 : dtype.bits == 16 ? 1.0 / 64 : 0.26;
}

// The inputs, outputs and numbers of a call: buffers whose names begin with "out" are outputs, and come last but for
// the numbers.
struct CallSpec {
  std::vector<HostValue> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<int64_t> tir_vars;
};

inline CallSpec MakeCall(const PrimFunc& func, const std::map<std::string, int64_t, std::less<>>& symbols,
                         uint32_t seed = 1) {
  CallSpec call;
  for (size_t i = 0; i < func.params.size(); ++i) {
    const tir::Buffer* buffer = func.param_buffers[i];
    if (!buffer) {
      const auto symbol = symbols.find(func.params[i]->name);
      call.tir_vars.push_back(symbol == symbols.end() ? 3 : symbol->second);
      continue;
    }
    std::vector<int64_t> shape;
    for (const PrimExpr* dim : buffer->shape) {
      const auto* constant = As<tir::IntImm>(dim);
      const auto* var = As<tir::Var>(dim);
      const auto symbol = var ? symbols.find(var->name) : symbols.end();
      shape.push_back(constant ? constant->value : symbol == symbols.end() ? 5 : symbol->second);
    }
    if (buffer->name.starts_with("out")) {
      call.outputs.push_back({buffer->dtype, std::move(shape)});
    } else {
      call.inputs.emplace_back(RandomTensor(buffer->dtype, std::move(shape), seed + static_cast<uint32_t>(i)));
    }
  }
  return call;
}

inline Result<std::vector<Tensor>> Interpret(const Module& module, const PrimFunc& func, const CallSpec& call) {
  std::vector<TensorSpec> outputs;
  for (const OutputSpec& output : call.outputs) outputs.push_back({output.dtype, output.shape});
  return EvalPrimFunc(func, call.inputs, outputs, call.tir_vars, {.max_bytes = size_t{1} << 30}, &module);
}

inline Result<std::vector<Tensor>> RunCompiled(LoopCompiler& compiler, const Module& module, std::string_view name,
                                               const CallSpec& call, const LoopCallOptions& options = {}) {
  Result<CompiledFunctionRef> function = compiler.Compile(module, *GlobalVar::Get(name));
  if (!function) return function.TakeError();
  return CallWithValues(**function, call.inputs, call.outputs, call.tir_vars, options);
}

// Both ways of running must give the same outputs.
inline void CheckSame(std::string_view functions, const std::map<std::string, int64_t, std::less<>>& symbols = {},
                      std::string_view name = "main", double tolerance = -1) {
  const Module module = Parse(functions);
  const auto* func = To<PrimFunc>(module.Find(name)->func);
  const CallSpec call = MakeCall(*func, symbols);
  const Result<std::vector<Tensor>> expected = Interpret(module, *func, call);
  INFO(functions << (expected.ok() ? "" : expected.error().message));
  REQUIRE(expected.ok());
  const Result<std::vector<Tensor>> actual = RunCompiled(SharedCompiler(), module, name, call);
  INFO((actual.ok() ? "" : actual.error().message));
  REQUIRE(actual.ok());
  for (size_t i = 0; i < expected->size(); ++i) {
    const NDArray& output = *(*expected)[i];
    CHECK(Difference(output, *(*actual)[i], tolerance < 0 ? ToleranceOf(output.dtype()) : tolerance) == "");
  }
}

// Both ways must fail; returns the message of the compiled code.
inline std::string CheckFails(std::string_view functions,
                              const std::map<std::string, int64_t, std::less<>>& symbols = {}) {
  const Module module = Parse(functions);
  const auto* func = To<PrimFunc>(module.Find("main")->func);
  const CallSpec call = MakeCall(*func, symbols);
  const Result<std::vector<Tensor>> expected = Interpret(module, *func, call);
  INFO(functions);
  CHECK_FALSE(expected.ok());
  const Result<std::vector<Tensor>> actual = RunCompiled(SharedCompiler(), module, "main", call);
  REQUIRE_FALSE(actual.ok());
  return actual.error().message;
}

}  // namespace iropt::codegen
