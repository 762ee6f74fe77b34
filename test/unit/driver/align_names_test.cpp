#include "driver/diff/align_names.h"

#include <string>

#include "../catch.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/structural.h"

namespace iropt {

namespace {

std::string MainOf(const std::string& params, const std::string& body) {
  return "@R.function\ndef main(" + params + "):\n" + body;
}

// The text of `after` with the names of `before`; the two stay equal to what they were.
std::string Aligned(const std::string& before, const std::string& after) {
  CompilerInstance compiler;
  const Result<Module> a = compiler.ParseModule(before);
  const Result<Module> b = compiler.ParseModule(after);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  const Module aligned = AlignNames(*a, *b);
  CHECK(StructuralEqual(*b, aligned));
  CHECK(compiler.Verify(aligned).ok());
  return compiler.PrintToString(aligned);
}

std::string Printed(const std::string& text) {
  CompilerInstance compiler;
  const Result<Module> module = compiler.ParseModule(text);
  REQUIRE(module.ok());
  return compiler.PrintToString(*module);
}

constexpr const char* kX = "x: R.Tensor((2,), \"float32\")";

}  // namespace

TEST_CASE("align: an inserted operator shifts no names", "[driver]") {
  const std::string before =
      MainOf(kX, "    lv = R.exp(x)\n    lv1 = R.sin(lv)\n    lv2 = R.cos(lv1)\n    return lv2\n");
  const std::string after = MainOf("p: R.Tensor((2,), \"float32\")",
                                   "    lv = R.negative(p)\n    lv1 = R.exp(lv)\n    lv2 = R.sin(lv1)\n"
                                   "    lv3 = R.cos(lv2)\n    return lv3\n");
  CHECK(Aligned(before, after) == Printed(MainOf(kX,
                                                 "    lv_1 = R.negative(x)\n    lv = R.exp(lv_1)\n    lv1 = R.sin(lv)\n"
                                                 "    lv2 = R.cos(lv1)\n    return lv2\n")));
}

TEST_CASE("align: a changed operator keeps its variable", "[driver]") {
  const std::string before = MainOf(kX, "    a = R.add(x, x)\n    b = R.exp(a)\n    return b\n");
  const std::string after = MainOf(kX, "    u = R.multiply(x, x)\n    v = R.exp(u)\n    return v\n");
  CHECK(Aligned(before, after) == Printed(MainOf(kX, "    a = R.multiply(x, x)\n    b = R.exp(a)\n    return b\n")));
}

TEST_CASE("align: another operand is a difference, not another name", "[driver]") {
  const std::string before =
      MainOf(kX, "    a = R.exp(x)\n    b = R.sin(x)\n    c = R.negative(a)\n    return (b, c)\n");
  const std::string after =
      MainOf(kX, "    a = R.exp(x)\n    b = R.sin(x)\n    c = R.negative(b)\n    return (b, c)\n");
  CHECK(Aligned(before, after) == Printed(after));
}

TEST_CASE("align: symbolic variables, branches and local functions", "[driver]") {
  const auto text = [](const std::string& n, const std::string& x, const std::string& y, const std::string& op) {
    return "@I.ir_module\nclass Module:\n    @R.function\n    def main(" + x + ": R.Tensor((\"" + n +
           "\", 2), \"float32\"), c: R.Tensor((), \"bool\")):\n        " + n +
           " = T.int64()\n        if c:\n            " + y + " = R." + op + "(" + x + ")\n            r = R.reshape(" +
           y + ", R.shape([" + n + " * 2]))\n        else:\n            r = R.reshape(" + x + ", R.shape([" + n +
           " * 2]))\n        return r\n";
  };
  CHECK(Aligned(text("n", "x", "y", "exp"), text("m", "z", "w", "sin")) == Printed(text("n", "x", "y", "sin")));
}

TEST_CASE("align: loops, buffers and blocks of PrimFuncs", "[driver]") {
  const auto text = [](const std::string& a, const std::string& b, const std::string& i, const std::string& factor) {
    return "@I.ir_module\nclass Module:\n    @T.prim_func\n    def main(" + a + ": T.Buffer((8, 8), \"float32\"), " +
           b + ": T.Buffer((8, 8), \"float32\")):\n        t_" + a + " = T.alloc_buffer((8, 8))\n        for " + i +
           ", j in T.grid(8, 8):\n            with T.block(\"b\"):\n" + "                v" + i +
           ", vj = T.axis.remap(\"SS\", [" + i + ", j])\n                t_" + a + "[v" + i + ", vj] = " + a + "[v" +
           i + ", vj] * T.float32(" + factor + ")\n                " + b + "[v" + i + ", vj] = t_" + a + "[v" + i +
           ", vj]\n";
  };
  CHECK(Aligned(text("A", "B", "i", "2"), text("X", "Y", "k", "3")) == Printed(text("A", "B", "i", "3")));
}

TEST_CASE("align: functions that only one module has stay", "[driver]") {
  const std::string before =
      "@I.ir_module\nclass Module:\n    @R.function\n    def f(a: R.Object) -> R.Object:\n        return a\n";
  const std::string after =
      "@I.ir_module\nclass Module:\n    @R.function\n    def g(b: R.Object) -> R.Object:\n        return b\n";
  CHECK(Aligned(before, after) == Printed(after));
}

}  // namespace iropt
