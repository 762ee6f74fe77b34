// Arithmetic, conversions and intrinsics over the dtypes.
#include "codegen_test_util.h"

namespace iropt::codegen {

namespace {

const std::vector<std::string> kFloats = {"float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"};
const std::vector<std::string> kInts = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};

void CheckExpression(const std::string& dtype, const std::string& result, const std::string& expression,
                     double tolerance = -1) {
  CheckSame(Func(fmt::format("A: T.Buffer((37,), \"{0}\"), B: T.Buffer((37,), \"{0}\"), out: T.Buffer((37,), \"{1}\")",
                             dtype, result),
                 fmt::format("for i in range(37):\n    out[i] = {}", expression)),
            {}, "main", tolerance);
}

}  // namespace

TEST_CASE("floats of every format are computed as the interpreter does") {
  for (const std::string& dtype : kFloats) {
    for (const char* expression :
         {"A[i] + B[i]", "A[i] - B[i]", "A[i] * B[i]", "A[i] / B[i]", "T.max(A[i], B[i])", "T.min(A[i], B[i])"})
      CheckExpression(dtype, dtype, expression, 0);
    for (const char* expression :
         {"A[i] < B[i]", "A[i] <= B[i]", "A[i] > B[i]", "A[i] >= B[i]", "A[i] == B[i]", "A[i] != B[i]"})
      CheckExpression(dtype, "bool", expression);
    CheckExpression(dtype, dtype, "T.Select(A[i] < B[i], A[i], B[i] * A[i])", 0);
  }
}

TEST_CASE("processors without conversions of float16 compute the same") {
  const std::string text =
      Func("A: T.Buffer((37,), \"float16\"), B: T.Buffer((37,), \"float64\"), out: T.Buffer((37,), \"float16\")",
           "for i in range(37):\n    out[i] = A[i] * A[i] + T.Cast(\"float16\", B[i] * T.float64(0.0001)) / A[i]");
  const Module module = Parse(text);
  const auto* func = To<PrimFunc>(module.Find("main")->func);
  const CallSpec call = MakeCall(*func, {});
  const auto expected = Interpret(module, *func, call);
  const auto actual = RunCompiled(*CompilerWith({.cpu = "x86-64"}), module, "main", call);
  REQUIRE(expected.ok());
  REQUIRE(actual.ok());
  CHECK(Difference(*(*expected)[0], *(*actual)[0], 0) == "");
}

TEST_CASE("integers wrap around and divide as the interpreter does") {
  for (const std::string& dtype : kInts) {
    const std::string nonzero = fmt::format("T.Select(B[i] == T.Cast(\"{0}\", 0), T.Cast(\"{0}\", 3), B[i])", dtype);
    for (const char* expression :
         {"A[i] + B[i]", "A[i] - B[i]", "A[i] * B[i] * A[i] * B[i]", "T.max(A[i], B[i])", "T.min(A[i], B[i])",
          "T.bitwise_and(A[i], B[i])", "T.bitwise_or(A[i], B[i])", "T.bitwise_xor(A[i], B[i])", "T.bitwise_not(A[i])"})
      CheckExpression(dtype, dtype, expression);
    for (const char* op : {"T.floordiv", "T.floormod", "T.truncdiv", "T.truncmod"}) {
      CheckExpression(dtype, dtype, fmt::format("{}(A[i], {})", op, nonzero));
      CheckExpression(dtype, dtype, fmt::format("{}(A[i], T.Cast(\"{}\", 4))", op, dtype));
    }
    CheckExpression(dtype, dtype, fmt::format("T.shift_right(A[i], T.Cast(\"{}\", 3))", dtype));
    CheckExpression(dtype, dtype, fmt::format("T.shift_left(A[i], T.Cast(\"{}\", 5))", dtype));
    CheckExpression(dtype, dtype, "T.popcount(A[i])");
    CheckExpression(dtype, "int32", "T.clz(A[i])");
    CheckExpression(dtype, "bool", "A[i] < B[i] or A[i] == T.Cast(\"" + dtype + "\", 7)");
  }
}

TEST_CASE("the least integer divided by -1 is itself") {
  CheckSame(Func("A: T.Buffer((4,), \"int32\"), out: T.Buffer((4,), \"int32\")",
                 R"(for i in range(4):
    out[i] = T.truncdiv(T.min_value("int32"), A[i] - A[i] - 1) + T.floormod(T.min_value("int32"), A[i] - A[i] - 1))"));
}

TEST_CASE("conversions between all dtypes round as the interpreter does") {
  std::vector<std::string> all = kFloats;
  all.insert(all.end(), kInts.begin(), kInts.end());
  all.push_back("bool");
  for (const std::string& from : all) {
    for (const std::string& to : all) {
      // A negative number has no unsigned value.
      const bool positive = to.starts_with("uint") && !from.starts_with("uint") && from != "bool";
      CheckExpression(
          from, to,
          fmt::format("T.Cast(\"{}\", {})", to, positive ? "T.max(A[i], T.Cast(\"" + from + "\", 0))" : "A[i]"), 0);
    }
  }
}

TEST_CASE("large integers round to narrow floats once") {
  for (const std::string to : {"float16", "bfloat16", "float32"}) {
    CheckSame(Func(fmt::format("A: T.Buffer((37,), \"int64\"), out: T.Buffer((37,), \"{}\")", to),
                   fmt::format("for i in range(37):\n    out[i] = T.Cast(\"{}\", T.shift_left(A[i], T.int64(52)) + "
                               "T.shift_left(A[i], T.int64(44)) + T.int64(1))",
                               to)),
              {}, "main", 0);
  }
}

TEST_CASE("mathematical functions are those of the C library") {
  for (const std::string dtype : {"float64", "float32", "float16", "bfloat16"}) {
    for (const char* name : {"exp", "exp2", "exp10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "asinh",
                             "erf", "sigmoid", "floor", "ceil", "round", "trunc", "nearbyint", "fabs"})
      CheckExpression(dtype, dtype, fmt::format("T.{}(A[i])", name));
    for (const char* name : {"log", "log2", "log10", "log1p", "sqrt", "rsqrt", "acosh"})
      CheckExpression(dtype, dtype, fmt::format("T.{}(T.fabs(A[i]) + T.{}(1))", name, dtype));
    for (const char* name : {"asin", "acos", "atanh"})
      CheckExpression(dtype, dtype, fmt::format("T.{}(A[i] / T.{}(4))", name, dtype));
    for (const char* name : {"atan2", "copysign", "hypot", "fmod"})
      CheckExpression(dtype, dtype, fmt::format("T.{}(A[i], B[i])", name));
    CheckExpression(dtype, dtype, "T.pow(T.fabs(A[i]), B[i])");
    CheckExpression(dtype, "bool", "T.isnan(A[i] / (A[i] - A[i]))");
    CheckExpression(dtype, dtype, "T.ldexp(A[i], i % 7 - 3)");
  }
  CheckExpression("float32", "float32", "T.nextafter(A[i], B[i])", 0);
  CheckExpression("float32", "float32", "T.fma(A[i], B[i], A[i])", 0);
}

TEST_CASE("integer powers, fixed-point products and bits are compiled") {
  CheckExpression("int32", "int32", "T.pow(A[i], T.abs(B[i]))");
  CheckExpression("int32", "int32", "T.q_multiply_shift(A[i] * 1000, B[i] * 100000, 31, 3)");
  CheckExpression("int32", "int32",
                  "T.q_multiply_shift_per_axis(A[i] * 1000, B[i] * 100000, 1, 2, 31, T.bool(True), T.bool(True))");
  CheckExpression("float32", "uint32", "T.reinterpret(\"uint32\", A[i])");
  CheckExpression("uint32", "float32", "T.reinterpret(\"float32\", A[i])");
  CheckExpression("float16", "int16", "T.reinterpret(\"int16\", A[i])");
  CheckExpression("int32", "uint64", "T.large_uint_imm(T.uint32(5), T.uint32(7))");
}

TEST_CASE("the least integer divided by the constant -1 wraps around") {
  for (const std::string dtype : {"int8", "int16", "int32", "int64"}) {
    for (const char* function : {"T.Div", "T.Mod", "T.FloorDiv", "T.FloorMod"}) {
      CheckExpression(dtype, dtype, fmt::format("B[i] * {}(T.min_value(\"{}\"), T.{}(-1))", function, dtype, dtype));
      CheckExpression(dtype, dtype, fmt::format("{}(A[i] * T.min_value(\"{}\"), T.{}(-1))", function, dtype, dtype));
    }
  }
}

TEST_CASE("integers of odd widths wrap around at their own") {
  CheckExpression("int32", "int32", "T.Cast(\"int32\", T.Cast(\"int4\", A[i] * 3) + T.Cast(\"int4\", B[i]))");
}

TEST_CASE("vectors are compiled") {
  for (const std::string dtype : {"float32", "int32", "float16", "bool"}) {
    const auto check = [&](const std::string& body) {
      CheckSame(Func(
          fmt::format("A: T.Buffer((64,), \"{0}\"), B: T.Buffer((64,), \"{0}\"), out: T.Buffer((64,), \"{0}\")", dtype),
          body));
    };
    check("for i in range(8):\n    out[i * 8:i * 8 + 8] = A[i * 8:i * 8 + 8]");
    check("for i in range(8):\n    out[T.Ramp(i, 8, 8)] = A[T.Ramp(i * 8, 1, 8)]");
    check("for i in range(8):\n    out[T.Ramp(i * 8, 1, 8)] = T.Broadcast(B[i], 8)");
    check("for i in range(16):\n    out[T.Ramp(i * 4, 1, 4)] = T.Shuffle([A[T.Ramp(i * 4, 1, 4)]], [3, 1, 2, 0])");
    if (dtype == "bool") continue;
    check(
        "for i in range(8):\n    out[i * 8:i * 8 + 8] = A[i * 8:i * 8 + 8] * B[i * 8:i * 8 + 8] + A[T.Ramp(63 - i * 8, "
        "-1, 8)]");
    check(
        "for i in range(8):\n    out[i * 8:i * 8 + 8] = T.Select(A[i * 8:i * 8 + 8] < B[i * 8:i * 8 + 8], A[i * 8:i * "
        "8 + 8], B[i * 8:i * 8 + 8])");
  }
  CheckSame(Func("A: T.Buffer((16,), \"float32x4\"), out: T.Buffer((64,), \"float32\")",
                 "for i in range(16):\n    out[T.Ramp(i * 4, 1, 4)] = A[i] * T.Broadcast(T.float32(2), 4)"));
  CheckSame(
      Func("A: T.Buffer((64,), \"float32\"), out: T.Buffer((64,), \"float32\")",
           "for i in range(8):\n    out[i * 8:i * 8 + 8] = T.exp(A[i * 8:i * 8 + 8]) + T.tanh(A[i * 8:i * 8 + 8])"));
  CheckSame(Func("A: T.Buffer((64,), \"int8\"), B: T.Buffer((64,), \"int8\"), out: T.Buffer((16,), \"int32\")",
                 "for i in range(16):\n    out[i] = T.dp4a(A[i * 4:i * 4 + 4], B[i * 4:i * 4 + 4], i)"));
}

}  // namespace iropt::codegen
