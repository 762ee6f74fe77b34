// Statements: loops of every kind, blocks at every stage, memory, symbolic shapes.
#include "codegen_test_util.h"
#include "iropt/eval/tir/thread_memory.h"

namespace iropt::codegen {

TEST_CASE("a matrix product with a reduction block is compiled") {
  CheckSame(
      Func("A: T.Buffer((7, 9), \"float32\"), B: T.Buffer((9, 5), \"float32\"), out: T.Buffer((7, 5), \"float32\")",
           R"(for i, j, k in T.grid(7, 5, 9):
    with T.block("C"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            out[vi, vj] = T.float32(0)
        out[vi, vj] = out[vi, vj] + A[vi, vk] * B[vk, vj])"));
}

TEST_CASE("a reduction whose loop is not innermost is initialized once") {
  CheckSame(
      Func("A: T.Buffer((7, 8), \"float32\"), B: T.Buffer((8, 5), \"float32\"), out: T.Buffer((7, 5), \"float32\")",
           R"(for i, k0, j, k1 in T.grid(7, 2, 5, 4):
    with T.block("C"):
        vi = T.axis.spatial(7, i)
        vj = T.axis.spatial(5, j)
        vk = T.axis.reduce(8, k0 * 4 + k1)
        with T.init():
            out[vi, vj] = T.float32(1)
        out[vi, vj] = out[vi, vj] + A[vi, vk] * B[vk, vj])"));
}

TEST_CASE("a split reduction with a predicate is initialized in its first active iteration") {
  CheckSame(Func("A: T.Buffer((7, 10), \"float32\"), out: T.Buffer((7,), \"float32\")",
                 R"(for i0, i1, k0, k1 in T.grid(2, 4, 3, 4):
    with T.block("C"):
        vi = T.axis.spatial(7, i0 * 4 + i1)
        vk = T.axis.reduce(10, k0 * 4 + k1)
        T.where(i0 * 4 + i1 < 7 and k0 * 4 + k1 < 10)
        with T.init():
            out[vi] = T.float32(0)
        out[vi] = T.max(out[vi], A[vi, vk]))"));
}

TEST_CASE("a reduction that runs backwards is initialized at its first value, which comes last") {
  CheckSame(Func("A: T.Buffer((8,), \"int32\"), out: T.Buffer((1,), \"int32\")",
                 R"(out[0] = 100
for k in range(8):
    with T.block("C"):
        vi = T.axis.spatial(1, 0)
        vk = T.axis.reduce(8, 7 - k)
        with T.init():
            out[vi] = 5
        out[vi] = out[vi] + A[vk])"));
}

TEST_CASE("loops of every kind compute the same") {
  for (const char* kind : {"T.serial(40)", "T.parallel(40)", "T.vectorized(40)", "T.unroll(40)", "T.serial(3, 37)"}) {
    CheckSame(Func("A: T.Buffer((40,), \"float32\"), out: T.Buffer((40,), \"float32\")",
                   fmt::format("for i in range(40):\n    out[i] = T.float32(0)\nfor i in {}:\n    out[i] = A[i] * "
                               "T.float32(2) + T.float32(1)",
                               kind)));
  }
}

TEST_CASE("large parallel loops are shared by threads") {
  const std::string text = Func("A: T.Buffer((600, 500), \"float32\"), out: T.Buffer((600, 500), \"float32\")",
                                R"(for i in T.parallel(600):
    tmp = T.allocate([500], "float32", "global")
    t = T.Buffer((500,), data=tmp)
    for j in range(500):
        t[j] = T.exp(A[i, j])
    for j in range(500):
        out[i, j] = t[499 - j])");
  CheckSame(text);
}

TEST_CASE("parallel loops that share what they write run in order") {
  CheckSame(Func("A: T.Buffer((20000,), \"int32\"), out: T.Buffer((1,), \"int32\")",
                 R"(out[0] = 0
for i in T.parallel(20000):
    out[0] = out[0] * 3 + A[i])"));
}

TEST_CASE("atomic additions of parallel loops are all counted") {
  CheckSame(Func("A: T.Buffer((50000,), \"int32\"), out: T.Buffer((4,), \"int32\")",
                 R"(for i in range(4):
    out[i] = 0
for i in T.parallel(50000):
    T.evaluate(T.call_intrin("int32", "tir.atomic_add", T.address_of(out[T.abs(A[i]) % 4]), A[i])))"));
}

TEST_CASE("the error of a parallel loop is that of its first iteration that fails") {
  const std::string message = CheckFails(Func("A: T.Buffer((60000,), \"int32\"), out: T.Buffer((60000,), \"int32\")",
                                              R"(for i in T.parallel(60000):
    assert i < 40000, "too far"
    out[i] = A[i] // (i - 70000) + T.if_then_else(i > 50000, A[i + 60000], 0))"));
  CHECK(message.find("too far") != std::string::npos);
}

TEST_CASE("allocations, views and regions of buffers are compiled") {
  CheckSame(Func("A: T.Buffer((8, 8), \"float32\"), out: T.Buffer((8, 8), \"float32\")",
                 R"(with T.block("root"):
    B = T.alloc_buffer((8, 8))
    big = T.alloc_buffer((64, 64))
    for i, j in T.grid(8, 8):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]
            big[vi * 8, vj] = A[vi, vj]
    for i, j in T.grid(4, 4):
        with T.block("match"):
            vi, vj = T.axis.remap("SS", [i, j])
            s0 = T.int32()
            s1 = T.int32()
            C = T.match_buffer(B[vi * 2:vi * 2 + 2, vj * 2:vj * 2 + 2], (2, 2), strides=[s0, s1], offset_factor=1)
            for a, b in T.grid(2, 2):
                out[vi * 2 + a, vj * 2 + b] = C[a, b] + big[vi * 16 + a * 8, vj * 2 + b])"));
  CheckSame(Func("A: T.Buffer((64,), \"float32\"), out: T.Buffer((64,), \"float32\")",
                 R"(tmp = T.allocate([64], "float32", "global")
flat = T.decl_buffer((64,), data=tmp)
square = T.decl_buffer((8, 8), data=tmp)
shifted = T.decl_buffer((7, 8), data=tmp, elem_offset=8)
for i in range(64):
    flat[i] = A[i]
for i, j in T.grid(7, 8):
    out[i * 8 + j] = square[i, j] + shifted[i, j]
for j in range(8):
    out[56 + j] = flat[j])"));
}

TEST_CASE("symbolic shapes are taken from the tensors") {
  const std::string text = Func("a: T.handle, o: T.handle", R"(n = T.int64()
m = T.int64()
A = T.match_buffer(a, (n, m))
out = T.match_buffer(o, (m, n * 2))
for i, j in T.grid(m, n * 2):
    with T.block("b"):
        vi, vj = T.axis.remap("SS", [i, j])
        out[vi, vj] = A[vj // 2, vi] + T.Cast("float32", vj))");
  const Module module = Parse(text);
  CallSpec call;
  call.inputs.emplace_back(RandomTensor(DataType::Float(32), {6, 3}, 1));
  call.outputs.push_back({DataType::Float(32), {3, 12}});
  const auto expected = Interpret(module, *To<PrimFunc>(module.Find("main")->func), call);
  REQUIRE(expected.ok());
  const auto actual = RunCompiled(SharedCompiler(), module, "main", call);
  REQUIRE(actual.ok());
  const std::string difference = Difference(*(*expected)[0], *(*actual)[0], 0);
  INFO(difference);
  CHECK(difference.empty());
  call.outputs[0].shape = {3, 11};
  const auto wrong = RunCompiled(SharedCompiler(), module, "main", call);
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message == "main: dimension 1 of buffer 'out' is 11, expected 12");
}

TEST_CASE("conditions, while loops and returns are compiled") {
  CheckSame(Func("A: T.Buffer((16,), \"int32\"), out: T.Buffer((16,), \"int32\"), n: T.int64", R"(for i in range(16):
    if A[i] > 0 and A[i % 4] != 3:
        out[i] = A[i]
    else:
        out[i] = -A[i]
i = T.decl_buffer((1,), "int32", scope="local")
i[0] = 0
while i[0] < 5:
    out[i[0]] = i[0] * 7
    i[0] = i[0] + 1
if n > 2:
    T.evaluate(T.ret(0))
out[0] = 99)"));
}

TEST_CASE("threads without synchronization run sequentially") {
  CheckSame(Func("A: T.Buffer((64,), \"float32\"), out: T.Buffer((64,), \"float32\")",
                 R"(for bx in T.thread_binding(4, thread="blockIdx.x"):
    for tx in T.thread_binding(16, thread="threadIdx.x"):
        out[bx * 16 + tx] = A[bx * 16 + tx] * T.float32(3))"));
  CheckSame(Func("A: T.Buffer((64,), \"float32\"), out: T.Buffer((64,), \"float32\")",
                 R"(tx = T.launch_thread("threadIdx.x", 64)
out[tx] = A[63 - tx])"));
}

TEST_CASE("threads that synchronize run in lockstep") {
  CheckSame(Func("A: T.Buffer((64,), \"float32\"), out: T.Buffer((64,), \"float32\")",
                 R"(bx = T.launch_thread("blockIdx.x", 2)
shared = T.allocate([32], "float32", "shared")
own = T.allocate([2], "float32", "local")
tx = T.launch_thread("threadIdx.x", 32)
s = T.Buffer((32,), data=shared, scope="shared")
l = T.Buffer((2,), data=own, scope="local")
l[0] = A[bx * 32 + tx]
s[tx] = l[0] * T.float32(2)
for k in range(3):
    T.tvm_storage_sync("shared")
    l[1] = s[(tx + k + 1) % 32]
    T.tvm_storage_sync("shared")
    s[tx] = l[1] + l[0]
out[bx * 32 + tx] = s[tx] + T.Cast("float32", tx))"));
}

TEST_CASE("threads keep their local memory from one loop to the next") {
  // A store outside of the loops goes to all copies, vectors included. The parallel loop runs sequentially.
  CheckSame(Func("A: T.Buffer((8, 16), \"float16\"), out: T.Buffer((8, 16), \"float16\")",
                 R"(with T.block("root"):
    L = T.alloc_buffer((40,), "float16", scope="local")
    for i in T.parallel(8):
        L[T.Ramp(i, 2, 4)] = T.Broadcast(T.Cast("float16", i), 4)
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            for k in T.vectorized(4):
                L[i + k * 2] = L[i + k * 2] * A[i, tx]
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            out[i, tx] = L[i] + L[i + 6])"));
  // A loop over threads that may not run, before another access.
  CheckSame(Func("A: T.Buffer((4,), \"int32\"), out: T.Buffer((4,), \"int32\")",
                 R"(with T.block("root"):
    L = T.alloc_buffer((1,), "int32", scope="local")
    L[0] = 1
    for k in range(A[0]):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            L[0] = L[0] + A[tx]
    L[0] = L[0] + 1
    for tx in T.thread_binding(4, thread="threadIdx.x"):
        out[tx] = L[0])"));
  // Large copies, for three axes of which not all are bound everywhere.
  CheckSame(Func("A: T.Buffer((3, 4, 5), \"int8\"), out: T.Buffer((3, 4, 5), \"int8\")",
                 R"(with T.block("root"):
    L = T.alloc_buffer((2000,), "int8", scope="local")
    for tz in T.thread_binding(3, thread="threadIdx.z"):
        L[tz + 1000] = A[tz, 0, 0]
    for ty in T.thread_binding(4, thread="threadIdx.y"):
        L[ty] = A[0, ty, 0]
    for tz in T.thread_binding(3, thread="threadIdx.z"):
        for tx in T.thread_binding(5, thread="threadIdx.x"):
            for ty in T.thread_binding(4, thread="threadIdx.y"):
                L[1999] = L[tz + 1000] + L[ty] * A[tz, ty, tx]
    for tx in T.thread_binding(5, thread="threadIdx.x"):
        for ty in T.thread_binding(4, thread="threadIdx.y"):
            for tz in T.thread_binding(3, thread="threadIdx.z"):
                out[tz, ty, tx] = L[1999])"));
}

namespace {

std::unordered_map<std::string, ThreadMemory> LayoutsOf(const Module& module) {
  std::unordered_map<std::string, ThreadMemory> layouts;
  FindThreadAccesses(To<PrimFunc>(module.functions().front().func)->body)
      .memory.ForEachInAnyOrder(
          [&](const tir::Var* data, const ThreadMemory& layout) { layouts.emplace(data->name, layout); });
  return layouts;
}

}  // namespace

TEST_CASE("local memory has copies only where threads need them") {
  const Module module = Parse(Func("A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64, 64), \"float32\")", R"(
with T.block("root"):
    once = T.alloc_buffer((1,), scope="local")
    twice = T.alloc_buffer((1,), scope="local")
    repeated = T.alloc_buffer((1,), scope="local")
    split = T.alloc_buffer((64, 64), scope="local")
    total = T.alloc_buffer((64,), scope="local")
    shifted = T.alloc_buffer((64,), scope="local")
    for bx in T.thread_binding(2, thread="blockIdx.x"):
        for ty in T.thread_binding(32, thread="threadIdx.y"):
            for tx in T.thread_binding(8, thread="threadIdx.x"):
                once[0] = A[bx, tx]
                twice[0] = once[0]
                for ko in range(8):
                    with T.block("sum"):
                        vi = T.axis.spatial(64, bx * 32 + ty)
                        vk = T.axis.reduce(64, ko * 8 + tx)
                        with T.init():
                            total[vi] = T.float32(0)
                        total[vi] = total[vi] + A[vi, vk]
        for k in range(3):
            for ty in T.thread_binding(32, thread="threadIdx.y"):
                for tx in T.thread_binding(8, thread="threadIdx.x"):
                    repeated[0] = A[k, tx]
                    B[ty, tx] = twice[0] + repeated[0] + total[bx * 32 + ty]
                    for j in range(2):
                        split[bx * 32 + ty, k * 16 + tx * 2 + j] = A[ty, tx]
                        shifted[ty * 2 + j + 1] = A[ty, tx])"));
  const std::unordered_map<std::string, ThreadMemory> layouts = LayoutsOf(module);
  CHECK(!layouts.contains("once"));
  REQUIRE(layouts.contains("twice"));
  const ThreadMemory& twice = layouts.at("twice");
  REQUIRE(twice.axes.size() == 2);
  CHECK(twice.axes[0].tag == "threadIdx.y");
  CHECK(twice.axes[0].extents.size() == 1);
  CHECK(twice.places == std::vector<uint32_t>{3});
  CHECK(twice.shared.empty());
  CHECK(layouts.at("repeated").axes.size() == 2);
  CHECK(layouts.at("split").axes.empty());
  CHECK(layouts.at("split").IsShared("threadIdx.x"));
  CHECK(layouts.at("split").IsShared("threadIdx.y"));
  CHECK(layouts.at("total").axes.empty());
  CHECK(layouts.at("total").IsShared("threadIdx.x"));
  CHECK(layouts.at("total").IsShared("threadIdx.y"));
  CHECK(layouts.at("shifted").axes.size() == 2);
}

TEST_CASE("the memory of buffers with strides includes the padding") {
  CheckSame(Func("A: T.Buffer((8, 8), \"float32\"), out: T.Buffer((8, 8), \"float32\")",
                 R"(with T.block("root"):
    B = T.alloc_buffer((8, 8), strides=(9, 1))
    for i, j in T.grid(8, 8):
        with T.block("transpose"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj, vi] = A[vi, vj]
    for i, j in T.grid(8, 8):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            out[vi, vj] = B[vi, vj])"));
  CheckSame(Func("A: T.Buffer((8, 8), \"float32\"), out: T.Buffer((8, 8), \"float32\")",
                 R"(for tx in T.thread_binding(8, thread="threadIdx.x"):
    with T.block("tile"):
        T.reads(A[0:8, 0:8])
        T.writes(out[0:8, 0:8])
        S = T.alloc_buffer((8, 8), strides=(9, 1), scope="shared")
        for j in range(8):
            S[tx, j] = A[tx, j]
        T.tvm_storage_sync("shared")
        for j in range(8):
            out[tx, j] = S[j, tx])"));
}

TEST_CASE("reductions over threads are compiled") {
  CheckSame(Func("A: T.Buffer((4, 32), \"float32\"), out: T.Buffer((4,), \"float32\")",
                 R"(ty = T.launch_thread("threadIdx.y", 4)
own = T.allocate([1], "float32", "local")
tx = T.launch_thread("threadIdx.x", 32)
l = T.Buffer((1,), data=own, scope="local")
with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", T.reinterpret("handle", T.uint64(0))):
    T.tvm_thread_allreduce(T.uint32(1), A[ty, tx], T.bool(True), l[0], tx)
if tx == 0:
    out[ty] = l[0])"));
}

TEST_CASE("functions of the module are called") {
  const std::string inner = Func("x: T.int32, y: T.int32", "T.evaluate(T.ret(x * 10 + y))", "inner", " -> T.int32");
  const std::string fill = Func("p: T.handle, v: T.float32", R"(P = T.match_buffer(p, (4,))
for i in range(4):
    P[i] = v + T.Cast("float32", i))",
                                "fill");
  CheckSame(inner + fill +
            Func("A: T.Buffer((4,), \"int32\"), out: T.Buffer((4,), \"int32\"), out_2: T.Buffer((8,), \"float32\")",
                 R"(for i in range(4):
    out[i] = Module.inner(A[i], i)
Module.fill(T.tvm_access_ptr(T.type_annotation("float32"), out_2.data, 0, 4, 2), T.float32(5))
Module.fill(T.address_of(out_2[4]), T.float32(7)))"));
}

}  // namespace iropt::codegen
