// Indices within symbolic sizes: what is proved needs no checks, and what is not in range still fails.
#include "codegen_test_util.h"

namespace iropt::codegen {

namespace {

// Numbers of checks of indices in the code of the function.
size_t CountChecks(const std::string& functions) {
  const Module module = Parse(functions);
  const Result<std::string> code = SharedCompiler().EmitLlvm(module, *GlobalVar::Get("main"), /*optimized=*/false);
  INFO(functions << (code.ok() ? "" : code.error().message));
  REQUIRE(code.ok());
  size_t count = 0;
  for (const std::string_view part : {"out of range for dimension", "an access to buffer"}) {
    for (size_t at = code->find(part); at != std::string::npos; at = code->find(part, at + 1)) ++count;
  }
  return count;
}

// Statements on an input (2, n, 12) and an output (n, n, 3), both of them flattened.
std::string Flat(std::string_view body) {
  return Func("a: T.handle, o: T.handle", fmt::format(R"(n = T.int64()
A = T.match_buffer(a, (T.int64(2), n, T.int64(12)), "int32")
out = T.match_buffer(o, (n, n, T.int64(3)), "int32")
A1 = T.Buffer((n * T.int64(24),), "int32", data=A.data)
out1 = T.Buffer((n * n * T.int64(3),), "int32", data=out.data)
for i in range(n * n * T.int64(3)):
    out1[i] = 0
{})",
                                                      body));
}

void CheckProved(std::string_view body) {
  CHECK(CountChecks(Flat(body)) == 0);
  for (const int64_t n : {0, 1, 3, 4, 5, 8, 13}) CheckSame(Flat(body), {{"n", n}});
}

void CheckRefused(std::string_view body, int64_t n) {
  CHECK(CountChecks(Flat(body)) > 0);
  CheckFails(Flat(body), {{"n", n}});
}

}  // namespace

TEST_CASE("indices of rows and columns of unknown numbers need no checks", "[codegen]") {
  CheckProved(R"(for i in range(n):
    for j in range(T.int64(12)):
        out1[i * n] = out1[i * n] + A1[i * T.int64(12) + j])");
  CheckProved(R"(for f in range(n * T.int64(3)):
    for j in range(n):
        out1[f * n + j] = A1[n * T.int64(12) + j * T.int64(12)])");
  CheckRefused(R"(for i in range(n):
    for j in range(T.int64(13)):
        out1[i * n] = A1[n * T.int64(12) + i * T.int64(12) + j])",
               4);
  CheckRefused(R"(for f in range(n * T.int64(3)):
    for j in range(n):
        out1[f * n + j + T.int64(1)] = 1)",
               3);
  CheckRefused(R"(for i in range(n):
    out1[i * T.int64(2)] = A1[i * T.int64(12) - T.int64(1)])",
               5);
}

TEST_CASE("sizes may be sums of a parameter and a number", "[codegen]") {
  const auto function = [](std::string_view place) {
    return Func("a: T.handle, o: T.handle, past: T.int64",
                fmt::format(R"(A = T.match_buffer(a, (T.int64(4), past + T.int64(1)), "int32")
out = T.match_buffer(o, (past + T.int64(1), T.int64(4)), "int32")
A1 = T.Buffer((past * T.int64(4) + T.int64(4),), "int32", data=A.data)
out1 = T.Buffer((past * T.int64(4) + T.int64(4),), "int32", data=out.data)
for i in range(past + T.int64(1)):
    for j in range(T.int64(4)):
        out1[i * T.int64(4) + j] = A1[{}])",
                            place));
  };
  const std::string good = function("j * (past + T.int64(1)) + i");
  CHECK(CountChecks(good) == 0);
  CheckSame(good, {{"past", 4}});
  const std::string bad = function("j * (past + T.int64(1)) + i + past // T.int64(4)");
  CHECK(CountChecks(bad) > 0);
  CheckFails(bad, {{"past", 4}});
}

TEST_CASE("tiles of unknown numbers of rows need no checks", "[codegen]") {
  CheckProved(R"(for t in range(n // T.int64(4)):
    base: T.int64 = t * T.int64(4)
    for j in range(n):
        out1[(base + T.int64(3)) * n + j] = A1[base * T.int64(12) + T.int64(47)]
for t in range((n % T.int64(4) + T.int64(3)) // T.int64(4)):
    if n // T.int64(4) * T.int64(4) + t * T.int64(4) + T.int64(1) < n:
        for j in range(n):
            out1[(n // T.int64(4) * T.int64(4) + t * T.int64(4) + T.int64(1)) * n + j] = 7)");
  CheckProved(R"(for t in range((n + T.int64(3)) // T.int64(4)):
    for r in range(T.int64(4)):
        if t * T.int64(4) + r < n:
            out1[n * (t * T.int64(4) + r)] = A1[(t * T.int64(4) + r) * T.int64(12) + T.int64(11)])");
  CheckRefused(R"(for t in range((n + T.int64(3)) // T.int64(4)):
    for r in range(T.int64(4)):
        if t * T.int64(4) + r <= n:
            out1[n * n * T.int64(2) + n * (t * T.int64(4) + r)] = 5)",
               3);
  CheckRefused(R"(for t in range((n + T.int64(3)) // T.int64(4)):
    out1[n * n * T.int64(2) + t * T.int64(4) * n + n * T.int64(3)] = 5)",
               5);
}

TEST_CASE("memory of unknown size is as big as it is allocated", "[codegen]") {
  CheckProved(R"(tmp = T.allocate([n * T.int64(3)], "int32", "global")
t1 = T.Buffer((n * T.int64(3),), "int32", data=tmp)
t2 = T.Buffer((n,), "int32", data=tmp)
for f in range(n * T.int64(3)):
    t1[f] = A1[f * T.int64(8)]
for f in range(n):
    out1[f * n] = t2[f])");
  CheckRefused(R"(tmp = T.allocate([n * T.int64(3)], "int32", "global")
t1 = T.Buffer((n * T.int64(4),), "int32", data=tmp)
for f in range(n * T.int64(4)):
    t1[f] = 1
    out1[T.int64(0)] = t1[f])",
               2);
}

TEST_CASE("memory of a loop that runs has an element", "[codegen]") {
  CheckProved(R"(for i in range(n):
    tmp = T.allocate([T.min(n, T.int64(1))], "int32", "local")
    t1 = T.Buffer((T.min(n, T.int64(1)),), "int32", data=tmp)
    t1[0] = A1[i]
    out1[i] = t1[0])");
  CheckRefused(R"(tmp = T.allocate([T.min(n, T.int64(1))], "int32", "local")
t1 = T.Buffer((T.min(n, T.int64(1)),), "int32", data=tmp)
t1[0] = 1
for i in range(n):
    out1[i] = t1[0])",
               0);
}

TEST_CASE("sizes of bytes have no bound below the greatest number", "[codegen]") {
  for (const char* dtype : {"int8", "uint8", "int16", "float64"}) {
    const std::string text = Func("a: T.handle, o: T.handle", fmt::format(R"(n = T.int64()
m = T.int64()
A = T.match_buffer(a, (n, m), "{0}")
out = T.match_buffer(o, (n, m), "{0}")
for i in range(n):
    for j in range(m):
        out[i, j] = A[T.max(T.min(i + T.int64(1), n) - T.int64(1), T.int64(0)), T.min(j, T.max(m - T.int64(2), T.int64(0)))])",
                                                                          dtype));
    for (const int64_t n : {0, 1, 4}) CheckSame(text, {{"n", n}, {"m", 3}});
  }
}

TEST_CASE("indices that wrap around are not taken for those in range", "[codegen]") {
  CheckRefused(R"(for i in range(n):
    out1[i * T.int64(4294967296) * T.int64(4294967296) // T.int64(4294967296) // T.int64(4294967296) * n - i * n] = 1)",
               3);
  const std::string narrow = Func("a: T.handle, o: T.handle", R"(n = T.int32()
A = T.match_buffer(a, (n,), "int32")
out = T.match_buffer(o, (n,), "int32")
view = T.Buffer((n * 65536 * 65536 * 4,), "int32", data=out.data)
for i in range(n):
    out[i] = A[i]
    view[n * 65536 * 65536 * 4 + i * 2] = 1)");
  CHECK(CountChecks(narrow) > 0);
  CheckFails(narrow, {{"n", 4}});
}

TEST_CASE("sizes whose product is out of range are refused, even without elements", "[codegen]") {
  const Module module = Parse(Func("a: T.handle", R"(m = T.int64()
n = T.int64()
A = T.match_buffer(a, (m, n), "int32")
for i in range(m):
    A[i, 0] = 1)"));
  const auto function = SharedCompiler().Compile(module, *GlobalVar::Get("main"));
  REQUIRE(function.ok());
  const int64_t shape[] = {0, int64_t{1} << 62};
  int32_t data = 0;
  LoopTensor a{.data = &data, .ndim = 2, .code = 0, .bits = 32, .shape = shape};
  const LoopArg args[] = {LoopArg::Tensor(&a)};
  const Status status = (*function)->Call(args);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message == "main: 4611686018427387904 elements of a dimension of buffer 'A' are out of range");
}

TEST_CASE("random indices of unknown sizes fail where they are out of range", "[codegen]") {
  std::mt19937 random(7);
  const auto pick = [&](std::initializer_list<const char*> list) { return list.begin()[random() % list.size()]; };
  size_t failed = 0, passed = 0;
  for (int program = 0; program < 80; ++program) {
    const char* const rows = pick({"n", "n // T.int64(3)", "(n + T.int64(2)) // T.int64(3)", "n * T.int64(3)",
                                   "T.int64(3)", "n - n // T.int64(2)", "n // T.int64(3) + T.int64(1)"});
    const char* const columns = pick({"n", "T.int64(12)", "T.int64(4)", "n // T.int64(2)", "T.min(n, T.int64(3))"});
    const char* const condition = pick({"i < n", "i * T.int64(3) + j < n", "j < n", "i * n + j < n * n",
                                        "i * T.int64(3) + T.int64(2) <= n", "n > T.int64(2)"});
    const char* const place =
        pick({"i * n + j", "j * n + i", "i * T.int64(12) + j", "i * T.int64(3) + j", "(i * T.int64(3) + j) * n + j",
              "(i * T.int64(3) + T.int64(1)) * n + j", "n * n * T.int64(3) - i * n - j - T.int64(1)",
              "i % T.int64(4) * n + j", "(n - n % T.int64(-4)) // T.int64(4) * i + j", "i // T.int64(3) * n + j"});
    const std::string body =
        fmt::format("for i in range({}):\n    for j in range({}):\n        if {}:\n            {} = {}", rows, columns,
                    condition, fmt::format("out1[{}]", place),
                    random() % 2 == 0 ? "A1[j * T.int64(12) + i % T.int64(12)]" : "A1[i * T.int64(2) + j]");
    for (const int64_t n : {0, 1, 2, 3, 4, 7}) {
      const Module module = Parse(Flat(body));
      const auto* func = To<PrimFunc>(module.Find("main")->func);
      const CallSpec call = MakeCall(*func, {{"n", n}});
      const Result<std::vector<Tensor>> expected = Interpret(module, *func, call);
      const Result<std::vector<Tensor>> actual = RunCompiled(SharedCompiler(), module, "main", call);
      INFO(Flat(body) << "n = " << n << (expected.ok() ? "" : expected.error().message));
      REQUIRE(expected.ok() == actual.ok());
      ++(expected.ok() ? passed : failed);
      if (expected.ok()) REQUIRE(Difference(*(*expected)[0], *(*actual)[0], 0).empty());
    }
  }
  CHECK(failed > 20);
  CHECK(passed > 200);
}

}  // namespace iropt::codegen
