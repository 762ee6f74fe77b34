#!/usr/bin/env python3
"""Checks the functions that op_builder.py makes of a small table.

  op_builder_test.py COMPILER
"""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "op_builder.py")
COMPILER = "c++"
TABLE = '''#include "iropt/op/ops/family.def"
#undef IROPT_OP
#undef IROPT_ATTRS
'''
FAMILY = '''// IROPT_OP(Comment, ...)
#define IROPT_UNARY(id, name, ...) \\
  IROPT_OP(id, name, rule, kernel, layout, kElemWise, kFollow, Args(Tensor("x")), NoAttrs __VA_OPT__(, ) __VA_ARGS__)
IROPT_ATTRS(PadAttrs, (kIntList, pad_width), (kString, mode, "a, (b", Since(kV0_19)))
IROPT_UNARY(Abs, abs)
IROPT_UNARY(Trunc, trunc, Since(kV0_21))
IROPT_OP(Pad, nn.pad, rule, kernel, layout, kOpaque, kNever, Args(Tensor("data").As("x"), Prim("value").Or(0)),
         Attrs(PadAttrs))
IROPT_OP(PadOne, nn.pad_one, rule, kernel, layout, kOpaque, kNever, Args(Tensor("data"), Tensor("size").Optional()),
         Attrs(PadAttrs, Key("relax.attrs.Pad"), With("pad_width", 1)), Since(kV0_19))
IROPT_OP(PadAll, nn.pad_all, rule, kernel, layout, kOpaque, kNever, Args(Tensor("data"), Shape("size").OrVoid()),
         Attrs(PadAttrs, With("pad_width", 1), Required("mode")))
IROPT_OP(Null, null, rule, kernel, layout, kOpaque, kNever, Args(), NoAttrs)
IROPT_OP(CallPacked, call_packed, rule, kernel, layout, kOpaque, kNever, Args(Func("func"), Rest("args")), NoAttrs, Impure,
         Types("sinfo_args"))
IROPT_OP(CallTir, call_tir, rule, kernel, layout, kOpaque, kNever,
         Args(Func("func"), Shape("ints").As("vars").Optional().Keyword()), NoAttrs, OutTypes)
IROPT_OP(CallBuiltin, call_builtin, rule, kernel, layout, kOpaque, kNever, Args(Func("func")), NoAttrs, Types("types", None))
'''


class OpBuilderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, family=FAMILY):
        table = self.path("include/iropt/op/ops.def")
        for path, text in ((table, TABLE), (self.path("include/iropt/op/ops/family.def"), family)):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return subprocess.run([sys.executable, SCRIPT, COMPILER, table, self.path("out/ops.inc"), self.path("out/ops.cpp")],
                              check=False, capture_output=True, encoding="utf-8")

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def declarations(self):
        self.assertEqual(self.make().returncode, 0)
        return [line.strip() for line in self.read("out/ops.inc").splitlines() if "//" not in line]

    def test_parameters(self):
        self.assertEqual(self.declarations(), [
            "const Call* Abs(const Expr* x);",
            "const Call* Trunc(const Expr* x);",
            "const Call* Pad(const Expr* data, const Expr* value, const PadAttrs::Values& attrs);",
            "const Call* PadOne(const Expr* data, const Expr* size = nullptr, const PadAttrs::Values& attrs = {});",
            "const Call* PadAll(const Expr* data, const PadAttrs::Values& attrs, const Expr* size = nullptr);",
            "const Call* Null();",
            "const Call* CallPacked(const Expr* func, std::span<const Expr* const> args, const TupleType* type_args);",
            "const Call* CallTir(const Expr* func, const TupleType* type_args, const Expr* ints = nullptr);",
            "const Call* CallBuiltin(const Expr* func, const TupleType* type_args = nullptr);"])

    def test_definitions(self):
        self.assertEqual(self.make().returncode, 0)
        returned = [line.strip() for line in self.read("out/ops.cpp").splitlines() if "return" in line]
        self.assertEqual(returned, [
            "return Make(OpId::kAbs, {x}, nullptr);",
            "return Make(OpId::kTrunc, {x}, nullptr);",
            "return Make(OpId::kPad, {data, value}, MakeOpAttrs(OpId::kPad, attrs));",
            "return MakeGiven(OpId::kPadOne, {data, size}, MakeOpAttrs(OpId::kPadOne, attrs));",
            "return Make(OpId::kPadAll, {data, OrVoid(size)}, MakeOpAttrs(OpId::kPadAll, attrs));",
            "return Make(OpId::kNull, {}, nullptr);",
            "return MakeRest(OpId::kCallPacked, {func}, args, nullptr, type_args);",
            "return MakeGiven(OpId::kCallTir, {func, ints}, nullptr, type_args);",
            "return Make(OpId::kCallBuiltin, {func}, nullptr, type_args);"])

    def test_only_changed_files_are_written(self):
        self.make()
        for name in ("out/ops.inc", "out/ops.cpp"):
            os.utime(self.path(name), (1, 1))
        self.make(FAMILY.replace("rule, kernel", "other_rule, kernel"))
        self.assertEqual(os.stat(self.path("out/ops.inc")).st_mtime, 1)
        self.make(FAMILY.replace("Abs", "Absolute"))
        self.assertNotEqual(os.stat(self.path("out/ops.inc")).st_mtime, 1)

    def test_names_of_other_parameters_are_refused(self):
        result = self.make(FAMILY.replace('"data").As("x")', '"attrs")'))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("an operand has the name 'attrs'", result.stderr)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    sys.exit(unittest.main())
