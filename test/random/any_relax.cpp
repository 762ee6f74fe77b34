#include "any_relax.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "types.h"

namespace iropt::generate {

namespace {

using Texts = std::vector<std::string>;

// What bindings of any function may be; operands are the parameters of each function:
//   x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool"), o: R.Object, s: R.Shape(["n", "m"]),
//   t: R.Tuple(R.Tensor((2,), "int32"), R.Object), i: R.Prim("int64")
constexpr std::string_view kPure[] = {
    "R.prim_value(T.bool(True))",
    "R.prim_value(T.float64(0.5))",
    "R.prim_value(T.int32(-2147483648))",
    "R.prim_value(9223372036854775807)",
    "R.prim_value(T.uint8(255))",
    "R.prim_value(n == m + 1)",
    "R.prim_value(T.if_then_else(n > 4, m * 2, T.min(n, m)))",
    "R.prim_value(T.Cast(\"float32\", n) * T.float32(0.5))",
    "R.prim_value((n + 3) // 4 * 4 - n % 2)",
    "R.str(\"a \\\"quoted\\\" word\\n\")",
    "R.str(\"\")",
    "R.dtype(\"float16\")",
    "R.dtype(\"int4x8\")",
    "R.shape([])",
    "R.shape([n, 0, m * 2 + 1, T.max(n, m) - 1])",
    "R.ExternFunc(\"lib.function\")",
    "()",
    "(x,)",
    "(x, (t, R.tuple(), (c,)), R.const(1, \"int32\"))",
    "t[0]",
    "(x, t)[1][1]",
    "R.const(1.5, \"float32\")",
    "R.const(\"nan\", \"float32\")",
    "R.const(\"-inf\", \"float64\")",
    "R.const(True, \"bool\")",
    "R.const([[1, 2, 3], [4, 5, 6]], \"int64\")",
    "R.const([0.5, 0.25], \"float16\")",
    "R.const([], \"float32\")",
    "R.call_pure_packed(\"f\", x, o, s, R.str(\"mode\"), R.dtype(\"int8\"), R.prim_value(3), sinfo_args=(R.Object,))",
    "R.call_pure_packed(\"f\", sinfo_args=(R.Tensor((n, 4), \"float32\"),))",
    "R.call_dps_packed(\"f\", (x, c), out_sinfo=R.Tensor((n, m), \"int8\"))",
    "R.call_dps_packed(\"f\", x, out_sinfo=[R.Tensor((2,), \"int8\"), R.Tensor((n,), \"float32\")])",
    "R.call_tir(cls.loops, (x,), out_sinfo=R.Tensor((n, 4), \"float32\"))",
    "R.call_tir(cls.loops, (x,), out_sinfo=R.Tensor((n, 4), dtype=\"float32\", vdevice=\"llvm\"))",
    "R.match_cast(o, R.Tensor((n, m), \"float32\"))",
    "R.match_cast(o, R.Tensor(ndim=3))",
    "R.match_cast(o, R.Tuple(R.Shape(ndim=2), R.Prim(\"int32\"), R.Object))",
    "R.match_cast(i, R.Prim(value=n))",
    "R.reshape(x, R.shape([4, n]))",
    "R.full(R.shape([n, 2]), R.const(0, \"int32\"), dtype=\"int32\")",
    "R.strided_slice(x, (R.prim_value(0),), (R.prim_value(0),), (R.prim_value(1),))",
    "R.nn.softmax(x, axis=-1)",
    "R.nn.pad(x, (0, 1, 0, 1))",
    "R.sum(x, axis=[0], keepdims=True)",
    "R.astype(x, dtype=\"float16\")",
    "R.concat((x, x), axis=1)",
    "R.split(x, indices_or_sections=[1, 3], axis=1)",
    "R.split(x, indices_or_sections=2, axis=1)",
    "R.nn.dropout(x, rate=0.5)",
    "R.take(x, R.const([0, 1], \"int64\"), axis=1)",
    "R.topk(x, k=2, axis=1)",
    "R.arange(R.prim_value(0), R.prim_value(n), R.prim_value(1), dtype=\"int64\")",
    "R.shape_of(x)",
    "R.hint_on_device(x, R.device(1, 0))",
    "R.to_vdevice(x, dst_vdevice=\"llvm\")",
    "R.null_value()",
    "R.memory.alloc_storage(R.shape([128]), R.prim_value(0), R.str(\"global\"), R.dtype(\"uint8\"))",
    "R.builtin.alloc_tensor(R.shape([n, 4]), R.dtype(\"float32\"), R.prim_value(0), R.str(\"global\"))",
    "R.invoke_pure_closure(o, (x,), sinfo_args=(R.Object,))",
    "R.make_closure(cls.helper, (x,))",
    "cls.helper(x)",
    "cls.extern"};

// The same for functions that are not pure.
constexpr std::string_view kImpure[] = {
    "R.call_packed(\"g\", x, sinfo_args=(R.Object,))",
    "R.print(x, c, format=\"{} {}\")",
    "R.assert_op(c, x, format=\"wrong: {}\")",
    "R.call_inplace_packed(\"g\", x, inplace_indices=[0], sinfo_args=(R.Tensor((n, 4), \"float32\"),))",
    "R.call_builtin_with_ctx(\"vm.builtin.f\", (x, R.prim_value(1)), sinfo_args=(R.Object,))",
    "R.invoke_closure(o, (x,), sinfo_args=(R.Object,))",
    "cls.loud(x)"};

class RelaxWriter {
 public:
  explicit RelaxWriter(Choices& choices) : choices_(choices) {}

  std::string Write() {
    const std::string attrs = choices_.OneIn(3) ? fmt::format("    I.module_attrs({})\n", Dict(2)) : "";
    text_ = fmt::format(
        "@I.ir_module\nclass Module:\n    I.module_global_infos({{\"vdevice\": [I.vdevice(\"llvm\")]}})\n{}"
        "    extern = R.ExternFunc(\"lib.extern\")\n\n"
        "    @T.prim_func(private=True)\n    def loops(a: T.handle, b: T.handle):\n        n = T.int64()\n"
        "        A = T.match_buffer(a, (n, T.int64(4)))\n        B = T.match_buffer(b, (n, T.int64(4)))\n"
        "        for i, j in T.grid(n, T.int64(4)):\n            with T.block(\"b\"):\n"
        "                vi, vj = T.axis.remap(\"SS\", [i, j])\n                B[vi, vj] = A[vi, vj]\n\n"
        "    @R.function(private=True)\n    def helper(x: R.Tensor((\"n\", 4), \"float32\")) -> R.Tensor((\"n\", 4), "
        "\"float32\"):\n        return x\n\n"
        "    @R.function(private=True, pure=False)\n    def loud(x: R.Tensor((\"n\", 4), \"float32\")) -> R.Tuple:\n"
        "        y = R.print(x, format=\"{{}}\")\n        return y\n\n",
        attrs);
    for (int i = 1 + choices_.Below(2); i > 0; --i) WriteFunction();
    return text_;
  }

 private:
  void Line(const std::string& text) {
    text_ += fmt::format("{}{}\n", std::string(static_cast<size_t>(indent_) * 4, ' '), text);
  }
  // Names repeat, so that the printer must make them different.
  std::string Name() { return fmt::format("{}{}", choices_.OneIn(4) ? "lv" : "v", choices_.Below(9)); }

  std::string Dim() {
    static constexpr std::string_view kDims[] = {"1", "4", "n", "m", "n * 2", "m + n", "0", "n // 2"};
    return std::string(choices_.Pick(kDims));
  }
  std::string Dims() {
    Texts dims;
    for (int i = choices_.Below(4); i > 0; --i) dims.push_back(Dim());
    return fmt::format("({}{})", Join(dims), dims.size() == 1 ? "," : "");
  }
  // In the body of a function, where n and m are defined.
  std::string TypeOf(int depth) {
    static constexpr std::string_view kLeaves[] = {"R.Object",
                                                   "R.Tensor",
                                                   "R.Tensor(ndim=2)",
                                                   "R.Tensor(dtype=\"int8\")",
                                                   "R.Shape",
                                                   "R.Shape(ndim=3)",
                                                   "R.Shape([n, 4])",
                                                   "R.Prim(\"bool\")",
                                                   "R.Prim(\"float16\")",
                                                   "R.Tuple",
                                                   "R.Prim(value=n)",
                                                   "R.Callable",
                                                   "R.Tensor(ndim=0)",
                                                   "R.Shape([])",
                                                   "R.Tuple()",
                                                   "R.Callable(ret=R.Tensor, purity=True)",
                                                   "R.Callable(derive_func=\"lib.derive\")",
                                                   "R.Tensor((2,), \"float32\", \"llvm\")"};
    if (depth <= 0 || choices_.OneIn(3)) return std::string(choices_.Pick(kLeaves));
    if (choices_.OneIn(3)) {
      static constexpr std::string_view kDtypes[] = {"float32", "int64", "bool", "bfloat16", "e4m3_float8"};
      return fmt::format("R.Tensor({}, \"{}\")", Dims(), choices_.Pick(kDtypes));
    }
    Texts fields;
    for (int i = choices_.Below(3); i > 0; --i) fields.push_back(TypeOf(depth - 1));
    if (choices_.OneIn(2)) return fmt::format("R.Tuple({})", Join(fields));
    return fmt::format("R.Callable(({}{}), {}, {})", Join(fields), fields.size() == 1 ? "," : "", TypeOf(depth - 1),
                       choices_.OneIn(2) ? "True" : "False");
  }

  std::string Value(int depth) {
    static constexpr std::string_view kLeaves[] = {"1",
                                                   "-5",
                                                   "True",
                                                   "\"text\"",
                                                   "None",
                                                   "0.5",
                                                   "T.int32(3)",
                                                   "T.int64(3)",
                                                   "T.bool(True)",
                                                   "T.float32(2)",
                                                   "T.uint8(3)",
                                                   "1e30",
                                                   "\"\\\\ \\\"\\n\"",
                                                   "[]",
                                                   "{}",
                                                   "T.int8(-3)"};
    if (depth <= 0 || choices_.OneIn(2)) return std::string(choices_.Pick(kLeaves));
    if (choices_.OneIn(2)) return Dict(depth - 1);
    Texts items;
    for (int i = choices_.Below(3); i > 0; --i) items.push_back(Value(depth - 1));
    return fmt::format("[{}]", Join(items));
  }
  std::string Dict(int depth) {
    static constexpr std::string_view kKeys[] = {"num_input", "a", "with space", "relax.x", "b"};
    Texts entries;
    for (const std::string_view key : kKeys) {
      if (choices_.OneIn(3)) entries.push_back(fmt::format("\"{}\": {}", key, key == kKeys[0] ? "1" : Value(depth)));
    }
    return fmt::format("{{{}}}", Join(entries));
  }

  void WriteFunction() {
    const bool is_pure = !choices_.OneIn(3);
    Texts more;
    for (int i = choices_.Below(3); i > 0; --i) more.push_back(fmt::format("u{}: {}", i, ParamType()));
    const std::string extra = more.empty() ? "" : ", " + Join(more);
    const bool is_private = choices_.OneIn(3);
    text_ += fmt::format(
        "    @R.function{}\n    def f{}(x: R.Tensor((\"n\", 4), \"float32\"), c: R.Tensor((), \"bool\"), o: R.Object, "
        "s: R.Shape([\"n\", \"m\"]), t: R.Tuple(R.Tensor((2,), \"int32\"), R.Object), i: R.Prim(\"int64\"){}):\n",
        is_private ? (is_pure ? "(private=True)" : "(private=True, pure=False)")
        : is_pure  ? ""
                   : "(pure=False)",
        num_functions_++, extra);
    indent_ = 2;
    Line("n = T.int64()");
    Line("m = T.int64()");
    if (choices_.OneIn(3)) Line(fmt::format("R.func_attr({})", Dict(2)));
    Line("cls = Module");
    values_ = {"x", "o"};
    WriteBindings(is_pure, 2);
    Texts results = {Result()};
    for (int i = choices_.Below(3); i > 0; --i) results.push_back(Result());
    Line(fmt::format("return {}", Join(results)));
    text_ += '\n';
  }

  // Where the dimensions are names in quotes.
  std::string ParamType() {
    static constexpr std::string_view kTypes[] = {
        "R.Tensor((\"n\", \"k\"), \"float32\")",
        "R.Tensor((\"n * 2\", 4))",
        "R.Prim(value=\"q\")",
        "R.Shape([\"k\", 4, \"n\"])",
        "R.Tuple(R.Tensor((\"w\",), \"int8\"), R.Shape([\"w\"]))",
        "R.Callable((R.Tensor((\"z\",), \"float32\"),), R.Tensor((\"z\",), \"float32\"), True)",
        "R.Callable(derive_func=\"lib.derive\")",
        "R.Callable(ret=R.Object, purity=True)",
        "R.Tuple",
        "R.Tuple()",
        "R.Prim(\"float32\")",
        "R.Tensor(ndim=5)",
        "R.Tensor((), \"float32\", \"llvm\")"};
    return std::string(choices_.Pick(kTypes));
  }

  const std::string& Result() { return choices_.Pick(values_); }

  void WriteBindings(bool is_pure, int depth) {
    for (int i = 1 + choices_.Below(5); i > 0; --i) {
      switch (depth > 0 ? choices_.Below(8) : 7) {
        case 0: WriteIf(is_pure, depth); break;
        case 1: WriteNested(depth); break;
        case 2: WriteDataflow(); break;
        default: WriteBinding(is_pure); break;
      }
    }
  }

  void WriteBinding(bool is_pure) {
    const std::string name = Name();
    if (!is_pure && choices_.OneIn(3)) {
      Line(fmt::format("{} = {}", name, choices_.Pick(kImpure)));
    } else if (choices_.OneIn(4)) {
      const std::string type = TypeOf(2);
      Line(fmt::format("{} = R.call_pure_packed(\"h\", {}, sinfo_args=({},))", name, Result(), type));
    } else {
      Line(fmt::format("{} = {}", name, choices_.OneIn(8) ? Result() : std::string(choices_.Pick(kPure))));
    }
    if (std::ranges::find(values_, name) == values_.end()) values_.push_back(name);
  }

  void WriteDataflow() {
    Line("with R.dataflow():");
    ++indent_;
    const Texts outer = values_;
    for (int i = 1 + choices_.Below(3); i > 0; --i) WriteBinding(true);
    const std::string output = fmt::format("out{}", num_outputs_++);
    Line(fmt::format("{} = {}", output, Result()));
    Line(fmt::format("R.output({})", output));
    --indent_;
    values_ = outer;
    values_.push_back(output);
  }

  void WriteIf(bool is_pure, int depth) {
    const std::string name = fmt::format("r{}", num_outputs_++);
    const Texts outer = values_;
    for (const char* head : {"if c:", "else:"}) {
      Line(head);
      ++indent_;
      WriteBindings(is_pure, depth - 1);
      Line(fmt::format("{} = {}", name, Result()));
      --indent_;
      values_ = outer;
    }
    values_.push_back(name);
  }

  void WriteNested(int depth) {
    const std::string name = fmt::format("g{}", num_outputs_++);
    Line("@R.function");
    Line(fmt::format("def {}(a: R.Tensor((n, 4), \"float32\"), b: R.Shape([n, m])) -> R.Object:", name));
    ++indent_;
    const Texts outer = values_;
    values_.emplace_back("a");
    WriteBindings(true, depth - 1);
    Line(fmt::format("return {}", Result()));
    --indent_;
    values_ = outer;
    values_.push_back(name);
    Line(fmt::format("{}_x = {}(x, s)", name, name));
    values_.push_back(name + "_x");
  }

  Choices& choices_;
  std::string text_;
  int indent_ = 1;
  int num_functions_ = 0;
  int num_outputs_ = 0;
  Texts values_;  // names in scope
};

}  // namespace

std::string AnyRelaxModule(Choices& choices) { return RelaxWriter(choices).Write(); }

}  // namespace iropt::generate
