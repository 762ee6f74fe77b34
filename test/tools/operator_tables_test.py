#!/usr/bin/env python3
"""Checks what scripts/tables makes of a small table of operators.

  operator_tables_test.py COMPILER
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "tables")
COMPILER = "c++"
FOLDER = "include/iropt/op/"
TABLE = '''IROPT_OP_FAMILY(pads, "Pads")
#include "iropt/op/ops/pads.def"
IROPT_OP_FAMILY(calls, "Calls")
#include "iropt/op/ops/calls.def"
#undef IROPT_OP
#undef IROPT_ATTRS
#undef IROPT_OP_FAMILY
'''
PADS = '''// IROPT_OP(Comment, ...)
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
'''
CALLS = '''IROPT_OP(PadLike, pad_like, rule, kernel, layout, kOpaque, kNever, Args(Tensor("x"), Tensor("y")), Attrs(PadAttrs))
IROPT_OP(CallPacked, call_packed, rule, kernel, layout, kOpaque, kNever, Args(Func("func"), Rest("args")), NoAttrs, Impure,
         Types("sinfo_args"))
IROPT_OP(CallTir, call_tir, rule, kernel, layout, kOpaque, kNever,
         Args(Func("func"), Shape("ints").As("vars").Optional().Keyword()), NoAttrs, OutTypes)
IROPT_OP(CallBuiltin, call_builtin, rule, kernel, layout, kOpaque, kNever, Args(Func("func")), NoAttrs, Types("types", None))
'''


class OperatorTablesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def run_script(self, pads=PADS, calls=CALLS, table=TABLE, changed=()):
        for name, text in (("ops.def", table), ("ops/pads.def", pads), ("ops/calls.def", calls)):
            self.write(FOLDER + name, text)
        return subprocess.run([sys.executable, SCRIPT, "ops", self.path(FOLDER + "ops.def"), self.path("out"), COMPILER, *changed],
                              check=False, capture_output=True, encoding="utf-8")

    def make(self, **tables):
        result = self.run_script(**tables)
        self.assertEqual(result.returncode, 0, result.stderr)

    def read(self, name):
        with open(self.path("out/" + name), encoding="utf-8") as f:
            return f.read()

    def lines(self, name, word):
        return [line.strip() for line in self.read(name).splitlines() if word in line and "//" not in line]

    def files(self):
        return {os.path.relpath(os.path.join(folder, name), self.path("out"))
                for folder, _, names in os.walk(self.path("out")) for name in names}

    def test_files(self):
        self.make()
        self.assertEqual(self.files(), {
            "public/iropt/op/ops/all.h", "public/iropt/op/ops/table_hash.h", "op/op_rows.cpp"} | {
            name.format(family) for family in ("pads", "calls")
            for name in ("public/iropt/op/ops/{}.h", "public/iropt/infer/ops/{}.h", "op_builder/{}.cpp")})
        self.assertEqual(self.lines("public/iropt/op/ops/all.h", "include"),
                         ['#include "iropt/op/ops/pads.h"', '#include "iropt/op/ops/calls.h"'])

    def test_parameters(self):
        self.make()
        self.assertEqual(self.lines("public/iropt/infer/ops/pads.h", "OpBuilder"), [
            "const Call* Abs(OpBuilder ops, const Expr* x);",
            "const Call* Trunc(OpBuilder ops, const Expr* x);",
            "const Call* Pad(OpBuilder ops, const Expr* data, const Expr* value, const PadAttrs::Values& attrs);",
            "const Call* PadOne(OpBuilder ops, const Expr* data, const Expr* size = nullptr, const PadAttrs::Values& attrs = {});",
            "const Call* PadAll(OpBuilder ops, const Expr* data, const PadAttrs::Values& attrs, const Expr* size = nullptr);",
            "const Call* Null(OpBuilder ops);"])
        self.assertEqual(self.lines("public/iropt/infer/ops/calls.h", "OpBuilder"), [
            "const Call* PadLike(OpBuilder ops, const Expr* x, const Expr* y, const PadAttrs::Values& attrs);",
            "const Call* CallPacked(OpBuilder ops, const Expr* func, std::span<const Expr* const> args, const TupleType* type_args);",
            "const Call* CallTir(OpBuilder ops, const Expr* func, const TupleType* type_args, const Expr* ints = nullptr);",
            "const Call* CallBuiltin(OpBuilder ops, const Expr* func, const TupleType* type_args = nullptr);"])

    def test_definitions(self):
        self.make()
        self.assertEqual(self.lines("op_builder/pads.cpp", "return"), [
            "return ops.Make(op::kAbs, {x}, nullptr);",
            "return ops.Make(op::kTrunc, {x}, nullptr);",
            "return ops.Make(op::kPad, {data, value}, MakeOpAttrs(op::kPad, attrs));",
            "return ops.MakeGiven(op::kPadOne, {data}, {size}, MakeOpAttrs(op::kPadOne, attrs));",
            "return ops.Make(op::kPadAll, {data, ops.OrVoid(size)}, MakeOpAttrs(op::kPadAll, attrs));",
            "return ops.Make(op::kNull, {}, nullptr);"])
        self.assertEqual(self.lines("op_builder/calls.cpp", "return"), [
            "return ops.Make(op::kPadLike, {x, y}, MakeOpAttrs(op::kPadLike, attrs));",
            "return ops.MakeRest(op::kCallPacked, {func}, args, nullptr, type_args);",
            "return ops.MakeGiven(op::kCallTir, {func}, {ints}, nullptr, type_args);",
            "return ops.Make(op::kCallBuiltin, {func}, nullptr, type_args);"])

    def constants(self, name):
        """The initializers of a table of the rows."""
        table = re.search(rf"constexpr [\w:]+ {name}\[\] = {{\n(.*?)}};\n", self.read("op/op_rows.cpp"), re.DOTALL)
        return [line.strip().removesuffix(",") for line in table[1].splitlines()] if table else []

    def row(self, operator):
        return next(line for line in self.constants("kRows") if f'"relax.{operator}"' in line)

    def test_operands_of_rows(self):
        self.make()
        self.assertEqual(self.constants("args_Pad"), [
            '{.name = "x", .registered = "data", .kind = ArgKind::kTensor}',
            '{.name = "value", .registered = "value", .kind = ArgKind::kPrimValue}'])
        self.assertEqual(self.constants("args_PadOne")[1],
                         '{.name = "size", .registered = "size", .kind = ArgKind::kTensor, .absence = ArgAbsence::kOmitted}')
        self.assertIn(".absence = ArgAbsence::kVoid", self.constants("args_PadAll")[1])
        self.assertIn(".keyword = true", self.constants("args_CallTir")[1])
        self.assertIn(".variadic = true", self.row("call_packed"))
        self.make(pads=PADS.replace('Tensor("data").As("x")', 'Shape("data").Copies(2).Until(kV0_20)')
                  .replace('Prim("value").Or(0)', 'Prim("value").Or(-1e-5).Since(kV0_19).AttrSince(kV0_22, 1)'))
        self.assertEqual(self.constants("args_Pad"), [
            '{.name = "data", .registered = "data", .kind = ArgKind::kShape, .copies = 2, .until = kV0_20}',
            '{.name = "value", .registered = "value", .kind = ArgKind::kPrimValue, .absence = ArgAbsence::kOmitted, .since = kV0_19, '
            '.attr_since = kV0_22, .attr_place = 1}'])
        self.assertIn('{"value", OpParam::Role::kArg, 1, false, false, OpDefault::Float(-1e-5)}', self.constants("params_Pad"))

    def test_attributes_of_rows(self):
        self.make()
        self.assertEqual(self.constants("attrs_Pad"), [
            '{.name = "pad_width", .kind = AttrKind::kIntList, .fallback = {}}',
            '{.name = "mode", .kind = AttrKind::kString, .fallback = OpDefault::String("a, (b"), .since = kV0_19}'])
        self.assertIn(".fallback = OpDefault::Int(1)", self.constants("attrs_PadOne")[0])
        self.assertIn(".fallback = {}", self.constants("attrs_PadAll")[1])
        self.assertIn('.attrs_key = "relax.attrs.Pad"', self.row("nn.pad_one"))
        self.assertIn('.attrs_key = "relax.attrs.PadAttrs"', self.row("nn.pad_all"))
        self.assertIn('.attrs_key = ""', self.row("null"))
        for property_, members in (("PerAxis", ".copies = 2"), ("PerSide", ".copies = 4, .padding = true"), ("Copies(3)", ".copies = 3"),
                                   ('Renamed("width", kV0_20)', '.renamed_since = kV0_20, .renamed = "width"')):
            self.make(pads=PADS.replace("(kIntList, pad_width)", f"(kIntList, pad_width, None, {property_})")
                      .replace("Attrs(PadAttrs", "Attrs(PadAttrs, Axes(2)"), calls="")
            self.assertIn(f".fallback = OpDefault::None(), {members}}}", self.constants("attrs_Pad")[0])

    def test_properties_of_rows(self):
        self.make()
        self.assertIn(".since = kV0_21", self.row("trunc"))
        self.assertIn(".pure = false", self.row("call_packed"))
        self.assertNotIn(".pure", self.row("abs"))
        self.assertIn(".form = ScriptForm::kOutTypes", self.row("call_tir"))
        self.assertIn('{"types", OpParam::Role::kResultTypes, 0, false, false, OpDefault::None()}', self.constants("params_CallBuiltin"))
        self.assertIn('{"sinfo_args", OpParam::Role::kResultTypes, 0, false, true, {}}', self.constants("params_CallPacked"))
        self.make(pads=PADS.replace("Attrs(PadAttrs))", 'Attrs(PadAttrs), Params("value pad_width x mode"), Packed("p"), TvmLacksLayout, '
                                    'LayoutChoices(1, "AB", "CD"), Extra("e", "relax.e"), Alias("other"))', 1)
                  .replace("value pad_width x mode", "value pad_width e x mode"))
        self.assertEqual([line.split(",")[0] for line in self.constants("params_Pad")],
                         ['{"value"', '{"pad_width"', '{"e"', '{"x"', '{"mode"'])
        self.assertEqual(self.constants("arg_order_Pad"), ["1", "0"])
        self.assertEqual(self.constants("layout_axes_Pad"), ['"AB"', '"CD"'])
        for member in ('.extended = "relax.e"', '.packed = "p"', ".required_layouts = 1", ".tvm_lacks_layout = true"):
            self.assertIn(member, self.row("nn.pad"))
        self.assertIn('"other"}', self.constants("kRows"))

    def test_a_device_stands_for_two_attributes(self):
        self.make(pads=PADS.replace("Attrs(PadAttrs))", 'Attrs(PadAttrs), Device("device"))', 1))
        self.assertEqual([line.split(",")[0] for line in self.constants("params_Pad")], ['{"x"', '{"value"', '{"device"'])

    def test_rows_that_contradict_themselves_are_refused(self):
        for old, new, message in (
                ('Prim("value").Or(0)', 'Prim("value").Or(SameAs("y"))', "SameAs() names no parameter"),
                ('Prim("value").Or(0)', 'Prim("value").Or(zero)', "'zero' is not a default"),
                ('Prim("value").Or(0)', 'Prim("value").Maybe()', "there is no property 'Maybe' of operands"),
                ('Prim("value").Or(0)', 'Scaler("value")', "'Scaler(\"value\")' is not an operand"),
                ('Tensor("data").As("x")', 'Tensor("data").Optional()', "an operand that may be missing stands before one that may not"),
                ('Tensor("data").As("x")', 'Rest("data")', "only the last operand can repeat"),
                ("Attrs(PadAttrs))", 'Attrs(PadAttrs), Params("x value"))', "Params() names an unknown parameter, one twice, or not all"),
                ("Attrs(PadAttrs))", "Attrs(PadAttrs), Inpure)", "there is no property 'Inpure' of operators"),
                ("Attrs(PadAttrs))", 'Attrs(PadAttrs, With("width", 1)))', "With() names an unknown attribute"),
                ("(kIntList, pad_width)", "(kIntList, pad_width, None, PerAxis)", "the operator must say Axes()")):
            result = self.run_script(pads=PADS.replace(old, new, 1))
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(f"the operator Pad: {message}", result.stderr)

    def ids(self, family):
        return {name: int(number) for name, number in
                re.findall(r"inline constexpr OpId k(\w+)\{(\d+)\};", self.read(f"public/iropt/op/ops/{family}.h"))}

    def test_ids_of_a_family_do_not_depend_on_others(self):
        self.make()
        self.assertEqual(self.ids("pads"), {"Abs": 256, "Trunc": 257, "Pad": 258, "PadOne": 259, "PadAll": 260, "Null": 261})
        calls = {"PadLike": 512, "CallPacked": 513, "CallTir": 514, "CallBuiltin": 515}
        self.assertEqual(self.ids("calls"), calls)
        self.make(pads=PADS + "IROPT_UNARY(Neg, neg)\n")
        self.assertEqual(self.ids("pads")["Neg"], 262)
        self.assertEqual(self.ids("calls"), calls)

    def test_records_are_classes_in_the_header_of_their_family(self):
        self.make()
        self.assertIn("class PadAttrs : public op_attrs::View", self.read("public/iropt/op/ops/pads.h"))
        self.assertEqual(self.lines("public/iropt/op/ops/pads.h", "enum"), ["enum : uint32_t { pad_width, mode, kNumber };"])
        self.assertEqual(self.lines("public/iropt/op/ops/pads.h", "const { return Read"), [
            "op_attrs::Field<AttrKind::kIntList>::Type pad_width() const { return Read<AttrKind::kIntList>(Field::pad_width); }",
            "op_attrs::Field<AttrKind::kString>::Type mode() const { return Read<AttrKind::kString>(Field::mode); }"])
        self.assertNotIn("PadAttrs", self.read("public/iropt/op/ops/calls.h"))
        self.assertEqual(self.lines("public/iropt/infer/ops/calls.h", "include"), [
            '#include "iropt/infer/op_builder.h"', '#include "iropt/op/ops/pads.h"'])

    def test_only_changed_files_are_written(self):
        self.make()
        for name in self.files():
            os.utime(self.path("out/" + name), (1, 1))

        def written():
            return {name for name in self.files() if os.stat(self.path("out/" + name)).st_mtime != 1}

        self.make(pads=PADS.replace("rule, kernel", "other_rule, kernel"))
        self.assertEqual(written(), set())
        self.make(calls=CALLS.replace(" Impure,", ""))
        self.assertEqual(written(), {"op/op_rows.cpp"})
        os.utime(self.path("out/op/op_rows.cpp"), (1, 1))
        self.make(pads=PADS.replace("Abs", "Absolute"))
        self.assertEqual(written(), {"public/iropt/op/ops/pads.h", "public/iropt/infer/ops/pads.h", "op_builder/pads.cpp",
                                     "public/iropt/op/ops/table_hash.h", "op/op_rows.cpp"})

    def test_files_of_families_that_are_gone_are_removed(self):
        self.make()
        self.make(table=TABLE.replace("calls", "pads_2").replace("ops/pads_2.def", "ops/calls.def"))
        self.assertFalse([name for name in self.files() if "calls" in name])
        self.assertIn("op_builder/pads_2.cpp", self.files())

    def test_a_changed_table_in_another_folder(self):
        self.write("other/iropt/op/ops/calls.def", CALLS.replace("PadLike", "PadAs"))
        self.assertEqual(self.run_script(changed=[self.path("other")]).returncode, 0)
        self.assertIn("PadAs", self.ids("calls"))
        self.assertIn("Abs", self.ids("pads"))

    def test_names_of_other_parameters_are_refused(self):
        for name in ("attrs", "ops", "type_args"):
            result = self.run_script(pads=PADS.replace('"data").As("x")', f'"{name}")'))
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(f"an operand has the name '{name}'", result.stderr)

    def test_a_family_with_too_many_operators_is_refused(self):
        result = self.run_script(pads=PADS + "".join(f"IROPT_UNARY(Abs{i}, abs{i})\n" for i in range(251)))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("there is no number for the operator Abs250", result.stderr)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    sys.exit(unittest.main())
