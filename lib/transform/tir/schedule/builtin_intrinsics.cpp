#include "transform/tir/schedule/builtin_intrinsics.h"

#include <fmt/format.h>

#include <array>

#include "transform/tir/schedule/matrix_intrinsics.h"

namespace iropt {

namespace {

// A dot product of rows: C[i] += A[k] * B[i, k] for i below `rows` and k below 4.
struct RowDot {
  std::string_view name;
  int rows;
  std::string_view a_dtype, b_dtype, c_dtype;
  std::string_view body;  // of the implementation; {count2} and {count3} stand for numbers of arguments
};

constexpr std::array kRowDots = {
    RowDot{"dot_16x4_vnni", 16, "uint8", "int8", "int32", R"(
        A_u8x4: T.uint8x4 = A[0:4]
        A_i32: T.int32 = T.reinterpret("int32", A_u8x4)
        B_i8x64: T.int8x64 = B[0, 0:64]
        B_i32x16: T.int32x16 = T.reinterpret("int32x16", B_i8x64)
        C_i32x16: T.int32x16 = C[0:16]
        C[0:16] = T.call_llvm_pure_intrin("int32x16", "llvm.x86.avx512.vpdpbusd.512", {count3}C_i32x16, T.Broadcast(A_i32, 16), B_i32x16)
)"},
    RowDot{"dot_16x4_avx512", 16, "uint8", "int8", "int32", R"(
        A_u8x4: T.uint8x4 = A[0:4]
        A_i32: T.int32 = T.reinterpret("int32", A_u8x4)
        A_brdcst: T.int32x16 = T.Broadcast(A_i32, 16)
        A_u8x64: T.uint8x64 = T.reinterpret("uint8x64", A_brdcst)
        B_i8x64: T.int8x64 = B[0, 0:64]
        Red: T.int16x32 = T.call_llvm_pure_intrin("int16x32", "llvm.x86.avx512.pmaddubs.w.512", {count2}A_u8x64, B_i8x64)
        C[0:16] = C[0:16] + T.call_llvm_pure_intrin("int32x16", "llvm.x86.avx512.pmaddw.d.512", {count2}Red, T.Broadcast(T.int16(1), 32))
)"},
    RowDot{"dot_4x4_i8i8s32_neon", 4, "int8", "int8", "int32", R"(
        A_int8: T.int8x4 = A[0:4]
        re_int32: T.int32 = T.reinterpret("int32", A_int8)
        vec_ai32: T.int32x2 = T.Broadcast(re_int32, 2)
        vec_a: T.int8x8 = T.reinterpret("int8x8", vec_ai32)
        vec_b: T.int8x16 = B[0, 0:16]
        vec_b_low: T.int8x8 = T.vectorlow("int8x8", vec_b)
        multiply_low: T.int16x8 = T.call_llvm_pure_intrin("int16x8", "llvm.aarch64.neon.smull", {count2}vec_a, vec_b_low)
        pairwise_reduction_low: T.int32x4 = T.call_llvm_pure_intrin("int32x4", "llvm.aarch64.neon.saddlp", {count1}multiply_low)
        vec_b_high: T.int8x8 = T.vectorhigh("int8x8", vec_b)
        multiply_high: T.int16x8 = T.call_llvm_pure_intrin("int16x8", "llvm.aarch64.neon.smull", {count2}vec_a, vec_b_high)
        pairwise_reduction_high: T.int32x4 = T.call_llvm_pure_intrin("int32x4", "llvm.aarch64.neon.saddlp", {count1}multiply_high)
        C[0:4] = C[0:4] + T.call_llvm_pure_intrin("int32x4", "llvm.aarch64.neon.addp", {count2}pairwise_reduction_low, pairwise_reduction_high)
)"},
    RowDot{"dot_4x4_i8i8s32_sdot", 4, "int8", "int8", "int32", R"(
        A_i8x4: T.int8x4 = A[0:4]
        A_i32: T.int32 = T.reinterpret("int32", A_i8x4)
        vec_ai32: T.int32x4 = T.Broadcast(A_i32, 4)
        vec_a: T.int8x16 = T.reinterpret("int8x16", vec_ai32)
        vec_b: T.int8x16 = B[0, 0:16]
        vec_c: T.int32x4 = C[0:4]
        C[0:4] = T.call_llvm_pure_intrin("int32x4", "llvm.aarch64.neon.sdot", {count3}vec_c, vec_a, vec_b)
)"},
    RowDot{"dot_4x4_u8u8u32_udot", 4, "uint8", "uint8", "uint32", R"(
        A_i8x4: T.uint8x4 = A[0:4]
        A_i32: T.uint32 = T.reinterpret("uint32", A_i8x4)
        vec_ai32: T.uint32x4 = T.Broadcast(A_i32, 4)
        vec_a: T.uint8x16 = T.reinterpret("uint8x16", vec_ai32)
        vec_b: T.uint8x16 = B[0, 0:16]
        vec_c: T.uint32x4 = C[0:4]
        C[0:4] = T.call_llvm_pure_intrin("uint32x4", "llvm.aarch64.neon.udot", {count3}vec_c, vec_a, vec_b)
)"},
    RowDot{"dot_4x4_u8u8i32_hdot", 4, "uint8", "uint8", "int32", R"(
        A_i8x4: T.uint8x4 = A[0:4]
        A_i32: T.int32 = T.reinterpret("int32", A_i8x4)
        vec_ai32: T.int32x4 = T.Broadcast(A_i32, 4)
        vec_a: T.uint8x16 = T.reinterpret("uint8x16", vec_ai32)
        vec_b: T.uint8x16 = B[0, 0:16]
        vec_c: T.int32x4 = C[0:4]
        C[0:4] = T.call_llvm_pure_intrin("int32x4", "llvm.aarch64.neon.udot", {count3}vec_c, vec_a, vec_b)
)"},
};

// The same of uint8 and int8, with the rows in one dimension, so that a vector is read within its bounds:
// C[i] += A[k] * B[4 * i + k].
struct PackedDot {
  std::string_view name;
  int rows;
  std::string_view body;       // {n}, {n2} and {n4} stand for the rows and their multiples
  std::string_view intrinsic;  // of LLVM
};

constexpr std::string_view kDotOfBytes = R"(
        A_u8x4: T.uint8x4 = A[0:4]
        A_i32: T.int32 = T.reinterpret("int32", A_u8x4)
        B_i32: T.int32x{n} = T.reinterpret("int32x{n}", B[0:{n4}])
        C[0:{n}] = T.call_llvm_pure_intrin("int32x{n}", "{intrinsic}", {count3}C[0:{n}], T.Broadcast(A_i32, {n}), B_i32)
)";
// Even and odd bytes as int16, whose pairs are multiplied and added.
constexpr std::string_view kDotOfPairs = R"(
        A_u8x4: T.uint8x4 = A[0:4]
        A_i32: T.int32x{n} = T.Broadcast(T.reinterpret("int32", A_u8x4), {n})
        A_u16: T.uint16x{n2} = T.reinterpret("uint16x{n2}", A_i32)
        A_even: T.int16x{n2} = T.reinterpret("int16x{n2}", T.bitwise_and(A_u16, T.Broadcast(T.uint16(255), {n2})))
        A_odd: T.int16x{n2} = T.reinterpret("int16x{n2}", T.shift_right(A_u16, T.Broadcast(T.uint16(8), {n2})))
        B_i16: T.int16x{n2} = T.reinterpret("int16x{n2}", B[0:{n4}])
        B_even: T.int16x{n2} = T.shift_right(T.shift_left(B_i16, T.Broadcast(T.int16(8), {n2})), T.Broadcast(T.int16(8), {n2}))
        B_odd: T.int16x{n2} = T.shift_right(B_i16, T.Broadcast(T.int16(8), {n2}))
        Even: T.int32x{n} = T.call_llvm_pure_intrin("int32x{n}", "{intrinsic}", {count2}A_even, B_even)
        Odd: T.int32x{n} = T.call_llvm_pure_intrin("int32x{n}", "{intrinsic}", {count2}A_odd, B_odd)
        C[0:{n}] = C[0:{n}] + (Even + Odd)
)";
constexpr std::array kPackedDots = {
    PackedDot{"dot_4x4_vnni_packed", 4, kDotOfBytes, "llvm.x86.avx512.vpdpbusd.128"},
    PackedDot{"dot_8x4_vnni_packed", 8, kDotOfBytes, "llvm.x86.avx512.vpdpbusd.256"},
    PackedDot{"dot_16x4_vnni_packed", 16, kDotOfBytes, "llvm.x86.avx512.vpdpbusd.512"},
    PackedDot{"dot_4x4_pairs_packed", 4, kDotOfPairs, "llvm.x86.sse2.pmadd.wd"},
    PackedDot{"dot_8x4_pairs_packed", 8, kDotOfPairs, "llvm.x86.avx2.pmadd.wd"},
    PackedDot{"dot_16x4_pairs_packed", 16, kDotOfPairs, "llvm.x86.avx512.pmaddw.d.512"},
};

// A dot product of four elements: C[0] += A[k] * B[k].
struct Dot {
  std::string_view name;
  std::string_view a_dtype, b_dtype, c_dtype;
  std::string_view value;  // what is added
};

constexpr std::string_view kDp4a = R"(T.call_pure_extern("{c}", "__dp4a", A[0:4], B[0:4], T.{c}(0)))";
constexpr std::array kDots = {
    Dot{"dp4a_s8s8s32", "int8", "int8", "int32", kDp4a},
    Dot{"dp4a_u8s8s32", "uint8", "int8", "int32", kDp4a},
    Dot{"dp4a_s8u8s32", "int8", "uint8", "int32", kDp4a},
    Dot{"dp4a_u8u8u32", "uint8", "uint8", "uint32", kDp4a},
    Dot{"sdot4", "int8", "int8", "int32",
        R"(T.call_llvm_pure_intrin("int32", "llvm.amdgcn.sdot4", {count4}T.reinterpret("int32", A[0:4]), T.reinterpret("int32", B[0:4]), 0, T.bool(True)))"},
};

// The text before the functions of a module. Its imports tell the reader the version. In versions with variables that
// can be assigned, `name: dtype = value` declares one.
std::string ModuleHead(TextVersion version) {
  constexpr std::string_view kHead = R"(
# from tvm.script import ir as I
# from tvm.script import {}

@I.ir_module
class Module:
)";
  return fmt::format(kHead,
                     version > TextVersion::kV0_24 ? "tirx as T\n# from tvm.tirx.layout import Axis" : "tir as T");
}

std::string Function(std::string_view name, std::string_view kind, std::string_view params, std::string_view regions,
                     std::string_view body) {
  return fmt::format("    @T.prim_func(s_tir=True)\n    def {}_{}({}):\n        with T.block(\"root\"):\n{}{}\n", name,
                     kind, params, regions, body);
}

std::string Indent(std::string_view text) {
  std::string indented;
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented += "    ";
  }
  return indented;
}

// The number of arguments in the text of a call, as far as the version states it.
std::string Count(int count, TextVersion version) {
  return version < TextVersion::kV0_22 ? fmt::format("T.uint32({}), ", count) : std::string();
}

std::string RowDotText(const RowDot& dot, TextVersion version) {
  const std::string params = fmt::format(
      R"(A: T.Buffer((4,), "{}", offset_factor=1), B: T.Buffer(({}, 4), "{}", offset_factor=1), C: T.Buffer(({},), "{}", offset_factor=1))",
      dot.a_dtype, dot.rows, dot.b_dtype, dot.rows, dot.c_dtype);
  const std::string regions =
      fmt::format("            T.reads(C[0:{0}], A[0:4], B[0:{0}, 0:4])\n            T.writes(C[0:{0}])", dot.rows);
  const std::string loops = fmt::format(R"(
            for i in range({0}):
                for k in range(4):
                    with T.block("update"):
                        vi, vk = T.axis.remap("SR", [i, k])
                        C[vi] = C[vi] + T.Cast("{1}", A[vk]) * T.Cast("{1}", B[vi, vk])
)",
                                        dot.rows, dot.c_dtype);
  const std::string body = fmt::format(fmt::runtime(dot.body), fmt::arg("count1", Count(1, version)),
                                       fmt::arg("count2", Count(2, version)), fmt::arg("count3", Count(3, version)));
  return fmt::format("{}{}{}", ModuleHead(version), Function(dot.name, "desc", params, regions, loops),
                     Function(dot.name, "impl", params, regions, Indent(body)));
}

std::string PackedDotText(const PackedDot& dot, TextVersion version) {
  const std::string params = fmt::format(
      R"(A: T.Buffer((4,), "uint8", offset_factor=1), B: T.Buffer(({},), "int8", offset_factor=1), C: T.Buffer(({},), "int32", scope="local", offset_factor=1))",
      4 * dot.rows, dot.rows);
  const std::string regions = fmt::format(
      "            T.reads(C[0:{0}], A[0:4], B[0:{1}])\n            T.writes(C[0:{0}])", dot.rows, 4 * dot.rows);
  const std::string loops = fmt::format(R"(
            for i in range({}):
                for k in range(4):
                    with T.block("update"):
                        vi, vk = T.axis.remap("SR", [i, k])
                        C[vi] = C[vi] + T.Cast("int32", A[vk]) * T.Cast("int32", B[vi * 4 + vk])
)",
                                        dot.rows);
  const std::string body = fmt::format(fmt::runtime(dot.body), fmt::arg("n", dot.rows), fmt::arg("n2", 2 * dot.rows),
                                       fmt::arg("n4", 4 * dot.rows), fmt::arg("intrinsic", dot.intrinsic),
                                       fmt::arg("count2", Count(2, version)), fmt::arg("count3", Count(3, version)));
  return fmt::format("{}{}{}", ModuleHead(version), Function(dot.name, "desc", params, regions, loops),
                     Function(dot.name, "impl", params, regions, Indent(body)));
}

std::string DotText(const Dot& dot, TextVersion version) {
  constexpr std::string_view kBuffer = R"({}: T.Buffer(({},), "{}", scope="{}", align=4, offset_factor=1))";
  const std::string params =
      fmt::format("{}, {}, {}", fmt::format(fmt::runtime(kBuffer), "A", 4, dot.a_dtype, "shared"),
                  fmt::format(fmt::runtime(kBuffer), "B", 4, dot.b_dtype, "shared"),
                  fmt::format(fmt::runtime(kBuffer), "C", 1, dot.c_dtype, "local"));
  constexpr std::string_view kRegions = "            T.reads(C[0], A[0:4], B[0:4])\n            T.writes(C[0])";
  const std::string loop = fmt::format(R"(
            for i in range(4):
                with T.block("update"):
                    vi = T.axis.reduce(4, i)
                    C[0] = C[0] + T.Cast("{0}", A[vi]) * T.Cast("{0}", B[vi])
)",
                                       dot.c_dtype);
  const std::string value =
      fmt::format(fmt::runtime(dot.value), fmt::arg("c", dot.c_dtype), fmt::arg("count4", Count(4, version)));
  return fmt::format(
      "{}{}{}", ModuleHead(version), Function(dot.name, "desc", params, kRegions, loop),
      Function(dot.name, "impl", params, kRegions, fmt::format("\n            C[0] = C[0] + {}\n", value)));
}

}  // namespace

std::string BuiltinIntrinsicText(std::string_view name, TextVersion version) {
  for (const RowDot& dot : kRowDots) {
    if (dot.name == name) return RowDotText(dot, version);
  }
  for (const PackedDot& dot : kPackedDots) {
    if (dot.name == name) return PackedDotText(dot, version);
  }
  for (const Dot& dot : kDots) {
    if (dot.name == name) return DotText(dot, version);
  }
  const std::string matrix = MatrixIntrinsicText(name);
  return matrix.empty() ? matrix : fmt::format("{}{}", ModuleHead(version), matrix);
}

}  // namespace iropt
