// What must fail, and how: with a message, and never with a signal.
#include "codegen/backend.h"
#include "codegen/call_state.h"
#include "codegen_test_util.h"
#include "iropt/support/shared_object.h"

namespace iropt::codegen {

namespace {

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("indices out of range fail with the place") {
  CHECK(CheckFails(Func(kParams, "for i in range(8):\n    out[i] = A[i + 1]")) ==
        "main: index 8 is out of range for dimension 0 of buffer 'A'");
  CHECK(CheckFails(Func(kParams, "for i in range(9):\n    out[i] = 1")) ==
        "main: index 8 is out of range for dimension 0 of buffer 'out'");
  CHECK(CheckFails(Func(kParams, "for i in range(8):\n    out[i] = A[A[i] * 1000]")).starts_with("main: index "));
  CHECK(CheckFails(Func(kParams, "for i in range(2):\n    out[i * 8:i * 8 + 8] = A[0:8]")) ==
        "main: index 8 is out of range for dimension 0 of buffer 'out'");
}

TEST_CASE("an index that overflows is not taken for one in bounds") {
  // (i * 2^31 * 2) // 2^32 is i for a mathematician, but 0 where products wrap around.
  CheckFails(Func(kParams, "for i in range(8):\n    out[i] = A[(i * 65536 * 65536) // 65536 // 65536 - i - 1]"));
}

TEST_CASE("an extent that changes after the buffer was declared proves nothing") {
  CheckFails(Func(kParams, R"(for i in range(8):
    out[i] = 4
view = T.alloc_buffer((out[0],), "int32")
out[0] = 8
for i in range(out[0]):
    view[i] = 1)"));
}

TEST_CASE("views that are larger than their memory fail where they are accessed beyond it") {
  const std::string text = Func(kParams, R"(tmp = T.allocate([4], "int32", "global")
view = T.decl_buffer((8,), "int32", data=tmp)
for i in range(8):
    view[i] = A[i]
for i in range(8):
    out[i] = 0)");
  CHECK(CheckFails(text) == "main: an access to buffer 'view' is out of range");
  CHECK(Contains(CheckFails(Func(kParams, R"(p: T.handle("int32") = T.address_of(A[6])
view = T.Buffer((4,), "int32", data=p)
for i in range(8):
    out[i] = view[i % 4])")),
                 "out of range"));
}

TEST_CASE("undefined arithmetic fails") {
  CHECK(Contains(CheckFails(Func(kParams, "for i in range(8):\n    out[i] = A[i] // (i - 4)")), "divisor"));
  CHECK(Contains(CheckFails(Func(kParams, "for i in range(8):\n    out[i] = T.shift_left(A[i], i * 8)")), "shifted"));
  CHECK(Contains(CheckFails(Func(kParams, "for i in range(8):\n    out[i] = T.pow(A[i], i - 4)")), "negative power"));
}

TEST_CASE("assertions fail with their message") {
  CHECK(CheckFails(Func(kParams, "assert A[0] > 1000, \"not {} enough\"\nfor i in range(8):\n    out[i] = 0")) ==
        "main: assertion failed: not {} enough");
}

TEST_CASE("allocations that are too large fail") {
  CHECK(Contains(CheckFails(Func("A: T.Buffer((8,), \"int32\"), out: T.Buffer((8,), \"int32\"), n: T.int64",
                                 R"(tmp = T.allocate([n * 1000000], "int32", "global")
view = T.decl_buffer((8,), "int32", data=tmp)
for i in range(8):
    view[i] = A[i]
    out[i] = view[i])"),
                            {{"n", 1000000000}}),
                 "exceeds the limit"));
}

TEST_CASE("endless recursion fails") {
  const std::string inner = Func("x: T.int32", "T.evaluate(T.ret(Module.inner(x + 1) + 1))", "inner", " -> T.int32");
  CHECK(Contains(CheckFails(inner + Func(kParams, "for i in range(8):\n    out[i] = Module.inner(i)")),
                 "nested too deep"));
}

TEST_CASE("arguments are checked against the parameters") {
  const Module module = Parse(Func(kParams, "for i in range(8):\n    out[i] = A[i]"));
  CallSpec call;
  call.inputs.emplace_back(RandomTensor(DataType::Int(64), {8}, 1));
  call.outputs.push_back({DataType::Int(32), {8}});
  const auto run = [&] {
    const auto result = RunCompiled(SharedCompiler(), module, "main", call);
    REQUIRE_FALSE(result.ok());
    return result.error().message;
  };
  CHECK(Contains(run(), "main: buffer 'A' has dtype int32"));
  call.inputs[0] = HostValue(RandomTensor(DataType::Int(32), {7}, 1));
  CHECK(run() == "main: dimension 0 of buffer 'A' is 7, expected 8");
  call.inputs[0] = HostValue(RandomTensor(DataType::Int(32), {2, 4}, 1));
  CHECK(run() == "main: buffer 'A' has 1 dimensions, but its argument has 2");
  call.inputs.clear();
  CHECK(run() == "main: expected 2 arguments, got 1");
  call.inputs.emplace_back(Scalar::Int(1));
  CHECK(run() == "main: buffer 'A' requires a tensor");
}

TEST_CASE("a tensor with strides requires a buffer with strides") {
  const Module module = Parse(Func("a: T.handle, o: T.handle", R"(s = T.int64()
A = T.match_buffer(a, (4,), "int32", strides=[s])
out = T.match_buffer(o, (4,), "int32")
for i in range(4):
    out[i] = A[i])"));
  const auto function = SharedCompiler().Compile(module, *GlobalVar::Get("main"));
  REQUIRE(function.ok());
  std::vector<int32_t> data = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::vector<int32_t> out(12, -1);
  const int64_t shape[] = {4};
  const int64_t stride[] = {3};
  LoopTensor a{
      .data = data.data(), .ndim = 1, .code = 0, .bits = 32, .shape = shape, .strides = stride, .byte_offset = 4};
  LoopTensor o{.data = out.data(), .ndim = 1, .code = 0, .bits = 32, .shape = shape};
  const LoopArg args[] = {LoopArg::Tensor(&a), LoopArg::Tensor(&o)};
  REQUIRE((*function)->Call(args).ok());
  CHECK(std::vector<int32_t>(out.begin(), out.begin() + 4) == std::vector<int32_t>{1, 4, 7, 10});
  const int64_t far[] = {INT64_MAX};
  a.strides = far;
  CHECK((*function)->Call(args).error().message == "main: the strides of the argument for buffer 'A' are out of range");
  a.strides = stride;
  o.strides = stride;
  const Status refused = (*function)->Call(args);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message == "main: buffer 'out' requires a compact tensor");
}

// What a call of the function with the arguments fails with.
std::string CallError(const std::string& text, std::span<const LoopArg> args, const LoopCallOptions& options = {}) {
  const auto function = SharedCompiler().Compile(Parse(text), *GlobalVar::Get("main"));
  REQUIRE(function.ok());
  const Status called = (*function)->Call(args, options);
  REQUIRE_FALSE(called.ok());
  return called.error().message;
}

TEST_CASE("descriptors of tensors are checked against the buffers") {
  const std::string text =
      Func("a: T.handle", "m = T.int32()\nA = T.match_buffer(a, (m,), \"int8\")\nT.evaluate(A[0])");
  int64_t shape[] = {int64_t{1} << 33};
  LoopTensor tensor{.ndim = 1, .code = 0, .bits = 8, .shape = shape};
  const LoopArg args[] = {LoopArg::Tensor(&tensor)};
  CHECK(CallError(text, args) == "main: 8589934592 is out of range for variable 'm'");
  tensor.bits = 16;
  CHECK(CallError(text, args) ==
        "main: buffer 'A' has dtype int8, but its argument has type code 0, 16 bits and 1 lanes");
  shape[0] = int64_t{1} << 62;
  tensor.bits = 32;
  CHECK(CallError(Func("A: T.Buffer((4611686018427387904,), \"int32\")", "T.evaluate(A[0])"), args) ==
        "main: the argument for buffer 'A' is out of range");
}

TEST_CASE("a pointer is the argument for a pointer") {
  const LoopArg args[] = {LoopArg::Int(1)};
  CHECK(CallError(Func("p: T.handle(\"int32\")", "T.evaluate(0)"), args) == "main: parameter 'p' requires a pointer");
}

TEST_CASE("a number fits the dtype of its parameter") {
  const LoopArg args[] = {LoopArg::Int(300)};
  CHECK(CallError(Func("n: T.int8", "T.evaluate(n)"), args) ==
        "main: parameter 'n' requires a number that its dtype can represent");
}

TEST_CASE("a tuple is not an argument") {
  CallSpec call;
  call.inputs.emplace_back(TupleValue{});
  const auto result = RunCompiled(SharedCompiler(), Parse(Func("n: T.int32", "T.evaluate(n)")), "main", call);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message == "argument 0 is neither a tensor nor a scalar");
}

TEST_CASE("endless loops end at their limit") {
  const LoopArg args[] = {LoopArg::Int(0)};
  const std::string text = Func("n: T.int32", R"(tmp = T.allocate([1], "int32", "global")
view = T.decl_buffer((1,), "int32", data=tmp)
view[0] = n
while view[0] < 1:
    view[0] = n)");
  CHECK(CallError(text, args, {.max_iterations = 1000000}) == "main: while loops take more than 1000000 iterations");
}

TEST_CASE("a compiler that cannot be loaded says why") {
  const auto error = [](LoopCompilerOptions options) {
    const auto compiler = LoopCompiler::Load(std::move(options));
    REQUIRE_FALSE(compiler.ok());
    return compiler.error().message;
  };
  CHECK(Contains(error({.library = "/none.so"}), "cannot load the PrimFunc compiler: /none.so"));
  CHECK(Contains(error({.library = "libm.so.6"}), "cannot load the PrimFunc compiler: libm.so.6 does not have "));
}

TEST_CASE("a compiler of another version is refused") {
  const Result<void*> library = OpenSharedObject("libiropt_codegen_llvm.so");
  REQUIRE(library.ok());
  const auto factory = reinterpret_cast<BackendFactory>(FindSymbol(*library, kBackendFactory));
  REQUIRE(factory != nullptr);
  std::string problem;
  CHECK(factory(kBackendVersion + 1, "", &RuntimeFunctions(), &problem) == nullptr);
  CHECK(problem == fmt::format("it has version {}, expected {}", kBackendVersion, kBackendVersion + 1));
}

TEST_CASE("the error for an unsupported intrinsic names it") {
  const Module module = Parse(Func(kParams, "for i in range(8):\n    out[i] = A[i]\nT.evaluate(T.ptx_wait_group(0))"));
  const auto function = SharedCompiler().Compile(module, *GlobalVar::Get("main"));
  REQUIRE_FALSE(function.ok());
  CHECK(function.error().message == "main: tir.ptx_wait_group cannot be compiled for the host");
}

TEST_CASE("inputs are not modified") {
  const Module module = Parse(Func(kParams, "for i in range(8):\n    A[i] = 77\n    out[i] = A[i]"));
  CallSpec call;
  const Tensor input = RandomTensor(DataType::Int(32), {8}, 1);
  call.inputs.emplace_back(input);
  call.outputs.push_back({DataType::Int(32), {8}});
  const Tensor before = RandomTensor(DataType::Int(32), {8}, 1);
  const auto result = RunCompiled(SharedCompiler(), module, "main", call);
  REQUIRE(result.ok());
  CHECK(*input == *before);
  CHECK((*result)[0]->As<int32_t>()[3] == 77);
}

TEST_CASE("packed functions are called through the hook") {
  const Module module = Parse(Func(kParams, R"(T.call_packed("test.twice", A, out, 3, T.float32(1.5), "text"))"));
  CallSpec call;
  call.inputs.emplace_back(RandomTensor(DataType::Int(32), {8}, 1));
  call.outputs.push_back({DataType::Int(32), {8}});
  const auto missing = RunCompiled(SharedCompiler(), module, "main", call);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message ==
        "main: cannot call the packed function 'test.twice': the caller provides no packed functions");
  std::string seen;
  const PackedFunction twice = [&](std::string_view name, std::span<const LoopArg> args, LoopArg*) -> Status {
    seen = fmt::format("{} {} {} {} {}", name, args.size(), args[2].integer, args[3].real, args[4].string);
    const auto* from = static_cast<const int32_t*>(args[0].tensor->data);
    for (int i = 0; i < args[0].tensor->shape[0]; ++i) static_cast<int32_t*>(args[1].tensor->data)[i] = 2 * from[i];
    return {};
  };
  const auto done = RunCompiled(SharedCompiler(), module, "main", call, {.packed = &twice});
  REQUIRE(done.ok());
  CHECK(seen == "test.twice 5 3 1.5 text");
  CHECK((*done)[0]->As<int32_t>()[5] == 2 * call.inputs[0].tensor()->As<int32_t>()[5]);
}

}  // namespace iropt::codegen
