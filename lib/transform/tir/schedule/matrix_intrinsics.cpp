#include "transform/tir/schedule/matrix_intrinsics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace iropt {

namespace {

// A matrix that an intrinsic takes: `name` in the text, and the names of its strides.
struct Matrix {
  std::string_view name;
  int rows, columns;
  std::string_view dtype, scope;
  std::string_view strides;
  int offset_factor;
};

std::string Param(const Matrix& matrix, bool with_strides) {
  const std::string strides =
      with_strides ? fmt::format("strides=(\"{0}1\", \"{0}0\"), ", matrix.strides) : std::string();
  return fmt::format(R"({}: T.Buffer(({}, {}), "{}", {}scope="{}", align=64, offset_factor={}))", matrix.name,
                     matrix.rows, matrix.columns, matrix.dtype, strides, matrix.scope, matrix.offset_factor);
}

std::string Region(const Matrix& matrix) {
  return fmt::format("{}[0:{}, 0:{}]", matrix.name, matrix.rows, matrix.columns);
}

// The number of the fragment among those that make up the matrix in memory.
std::string FragmentIndex(const Matrix& matrix) {
  return fmt::format(
      "{0}.elem_offset // {0}.strides[0] // {1} * ({0}.strides[0] // {2}) + {0}.elem_offset % "
      "{0}.strides[0] // {2}",
      matrix.name, matrix.rows, matrix.columns);
}

// access: 1 to read, 2 to write.
std::string Pointer(const Matrix& matrix, int access) {
  return fmt::format(
      R"(T.tvm_access_ptr(T.type_annotation("{0}"), {1}.data, {1}.elem_offset, {1}.strides[0] * {2}, {3}))",
      matrix.dtype, matrix.name, matrix.rows, access);
}

// A description by a loop nest, and an implementation by a call.
struct Pair {
  std::vector<Matrix> matrices;  // the parameters
  std::vector<Matrix> reads;
  Matrix write;
  std::vector<int> extents;  // of the loops
  std::string_view kinds, block;
  std::string statement;  // of vi, vj and vk
  std::string call;
};

std::string Render(std::string_view name, const Pair& pair) {
  std::string text;
  for (const bool is_description : {true, false}) {
    std::vector<std::string> params, reads;
    for (const Matrix& matrix : pair.matrices) params.push_back(Param(matrix, !is_description));
    for (const Matrix& matrix : pair.reads) reads.push_back(Region(matrix));
    text += fmt::format(
        "    @T.prim_func(s_tir=True)\n    def {}_{}({}):\n        with T.block(\"root\"):\n            T.reads({})\n"
        "            T.writes({})\n",
        name, is_description ? "desc" : "impl", fmt::join(params, ", "), fmt::join(reads, ", "), Region(pair.write));
    if (!is_description) {
      text += fmt::format("            {}\n", pair.call);
      continue;
    }
    const bool has_three = pair.extents.size() == 3;
    text += fmt::format(
        "            for i, j{} in T.grid({}):\n                with T.block(\"{}\"):\n"
        "                    vi, vj{} = T.axis.remap(\"{}\", [i, j{}])\n                    {}\n",
        has_three ? ", k" : "", fmt::join(pair.extents, ", "), pair.block, has_three ? ", vk" : "", pair.kinds,
        has_three ? ", k" : "", pair.statement);
  }
  return text;
}

std::vector<std::string_view> SplitName(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = name.find('_');
    parts.push_back(name.substr(0, end));
    if (end == std::string_view::npos) return parts;
    name.remove_prefix(end + 1);
  }
}

struct Dtype {
  std::string_view abbreviation, name;
};
constexpr std::array kDtypes = {Dtype{"f16", "float16"}, Dtype{"f32", "float32"}, Dtype{"bf16", "bfloat16"},
                                Dtype{"s8", "int8"},     Dtype{"s4", "int4"},     Dtype{"s32", "int32"}};

std::string_view DtypeOf(std::string_view abbreviation) {
  const auto* found = std::ranges::find(kDtypes, abbreviation, &Dtype::abbreviation);
  return found == kDtypes.end() ? std::string_view() : found->name;
}

std::string_view Zero(std::string_view dtype) {
  if (dtype == "float16") return "T.float16(0)";
  if (dtype == "float32") return "T.float32(0)";
  return dtype == "bfloat16" ? "T.bfloat16(0)" : "0";
}

// ---- WMMA

struct WmmaShape {
  int m, n, k;
};

std::optional<WmmaShape> WmmaShapeOf(std::string_view text) {
  if (text == "16x16x16") return WmmaShape{16, 16, 16};
  if (text == "8x8x32") return WmmaShape{8, 8, 32};
  return std::nullopt;
}

// The scope that the last words of the name stand for; empty if they stand for none.
std::string_view ScopeOf(const std::vector<std::string_view>& parts, size_t first, bool may_be_global) {
  if (parts.size() == first + 2 && parts[first] == "shared" && parts[first + 1] == "dyn") return "shared.dyn";
  if (parts.size() != first + 1) return {};
  if (parts[first] == "shared") return "shared";
  return may_be_global && parts[first] == "global" ? "global" : std::string_view();
}

std::string CopyStatement(bool is_transposed) {
  return is_transposed ? "C[vj, vi] = A[vi, vj]" : "C[vi, vj] = A[vi, vj]";
}

// wmma_load_SHAPE_DTYPE_{a,b}[_trans]_SCOPE
std::string WmmaLoad(std::string_view name, const std::vector<std::string_view>& parts, const WmmaShape& shape) {
  if (parts.size() < 6 || (parts[4] != "a" && parts[4] != "b")) return {};
  const bool is_b = parts[4] == "b", is_transposed = parts[5] == "trans";
  const std::string_view scope = ScopeOf(parts, is_transposed ? 6 : 5, /*may_be_global=*/false);
  const std::string_view dtype = DtypeOf(parts[3]);
  if (scope.empty() || dtype.empty()) return {};
  int rows = is_b ? shape.k : shape.m, columns = is_b ? shape.n : shape.k;
  if (is_transposed) std::swap(rows, columns);
  const Matrix a{"A", rows, columns, dtype, scope, "s", columns};
  const Matrix c{"C", rows, columns, dtype, is_b ? "wmma.matrix_b" : "wmma.matrix_a", "d", columns};
  return Render(name, {.matrices = {a, c},
                       .reads = {a},
                       .write = c,
                       .extents = {rows, columns},
                       .kinds = "SS",
                       .block = "load",
                       .statement = CopyStatement(false),
                       .call = fmt::format(R"(T.tvm_load_matrix_sync(C.data, {}, {}, {}, {}, {}, A.strides[0], "{}"))",
                                           shape.m, shape.n, shape.k, FragmentIndex(c), Pointer(a, 1),
                                           is_transposed ? "col_major" : "row_major")});
}

// wmma_fill_SHAPE_DTYPE
std::string WmmaFill(std::string_view name, const std::vector<std::string_view>& parts, const WmmaShape& shape) {
  const std::string_view dtype = parts.size() == 4 ? DtypeOf(parts[3]) : std::string_view();
  if (dtype.empty()) return {};
  const Matrix c{"C", shape.m, shape.n, dtype, "wmma.accumulator", "d", shape.n};
  return Render(name, {.matrices = {c},
                       .reads = {},
                       .write = c,
                       .extents = {shape.m, shape.n},
                       .kinds = "SS",
                       .block = "init",
                       .statement = fmt::format("C[vi, vj] = {}", Zero(dtype)),
                       .call = fmt::format("T.tvm_fill_fragment(C.data, {}, {}, {}, {}, T.float32(0))", shape.m,
                                           shape.n, shape.k, FragmentIndex(c))});
}

// wmma_store_SHAPE_DTYPE_SCOPE
std::string WmmaStore(std::string_view name, const std::vector<std::string_view>& parts, const WmmaShape& shape) {
  const std::string_view scope = ScopeOf(parts, 4, /*may_be_global=*/true);
  const std::string_view dtype = scope.empty() ? std::string_view() : DtypeOf(parts[3]);
  if (dtype.empty()) return {};
  const Matrix a{"A", shape.m, shape.n, dtype, "wmma.accumulator", "d", shape.n};
  const Matrix c{"C", shape.m, shape.n, dtype, scope, "s", shape.n};
  return Render(
      name, {.matrices = {a, c},
             .reads = {a},
             .write = c,
             .extents = {shape.m, shape.n},
             .kinds = "SS",
             .block = "store",
             .statement = CopyStatement(false),
             .call = fmt::format(R"(T.tvm_store_matrix_sync(A.data, {}, {}, {}, {}, {}, C.strides[0], "row_major"))",
                                 shape.m, shape.n, shape.k, FragmentIndex(a), Pointer(c, 2))});
}

// wmma_sync_SHAPE_{f16f16f32,...}[_trans]
std::string WmmaSync(std::string_view name, const std::vector<std::string_view>& parts, const WmmaShape& shape) {
  struct Types {
    std::string_view text, in, out;
  };
  constexpr std::array kTypes = {Types{"f16f16f32", "float16", "float32"}, Types{"f16f16f16", "float16", "float16"},
                                 Types{"s8s8s32", "int8", "int32"}, Types{"s4s4s32", "int4", "int32"}};
  const bool is_transposed = parts.size() == 5 && parts[4] == "trans";
  if (parts.size() != 4 && !is_transposed) return {};
  const auto* types = std::ranges::find(kTypes, parts[3], &Types::text);
  if (types == kTypes.end()) return {};
  const int b_rows = is_transposed ? shape.n : shape.k, b_columns = is_transposed ? shape.k : shape.n;
  const Matrix a{"A", shape.m, shape.k, types->in, "wmma.matrix_a", "a", shape.k};
  const Matrix b{"B", b_rows, b_columns, types->in, "wmma.matrix_b", "b", b_columns};
  const Matrix c{"C", shape.m, shape.n, types->out, "wmma.accumulator", "c", shape.n};
  const std::string b_value = is_transposed ? "B[vj, vk]" : "B[vk, vj]";
  const std::string product =
      types->in == types->out ? fmt::format("A[vi, vk] * {}", b_value)
                              : fmt::format(R"(T.Cast("{0}", A[vi, vk]) * T.Cast("{0}", {1}))", types->out, b_value);
  return Render(name, {.matrices = {a, b, c},
                       .reads = {c, a, b},
                       .write = c,
                       .extents = {shape.m, shape.n, shape.k},
                       .kinds = "SSR",
                       .block = "",
                       .statement = "C[vi, vj] = C[vi, vj] + " + product,
                       .call = fmt::format("T.tvm_mma_sync(C.data, {0}, A.data, {1}, B.data, {2}, C.data, {0})",
                                           FragmentIndex(c), FragmentIndex(a), FragmentIndex(b))});
}

std::string WmmaText(std::string_view name, const std::vector<std::string_view>& parts) {
  const auto shape = WmmaShapeOf(parts[2]);
  if (!shape) return {};
  if (parts[1] == "load") return WmmaLoad(name, parts, *shape);
  if (parts[1] == "fill") return WmmaFill(name, parts, *shape);
  if (parts[1] == "store") return WmmaStore(name, parts, *shape);
  return parts[1] == "sync" ? WmmaSync(name, parts, *shape) : std::string();
}

// ---- SIMD groups

constexpr int kSimd = 8;  // rows and columns

Matrix SimdMatrix(std::string_view name, std::string_view dtype, std::string_view scope, std::string_view strides) {
  return {name, kSimd, kSimd, dtype, scope, strides, 1};
}

std::string SimdFill(std::string_view name, std::string_view dtype) {
  const Matrix a = SimdMatrix("A", dtype, "metal.simdgroup", "d");
  return Render(name, {.matrices = {a},
                       .reads = {},
                       .write = a,
                       .extents = {kSimd, kSimd},
                       .kinds = "SS",
                       .block = "init",
                       .statement = fmt::format("A[vi, vj] = {}", Zero(dtype)),
                       .call = fmt::format("T.make_filled_simdgroup_matrix(A.data, {}, T.float32(0), {}, {})",
                                           FragmentIndex(a), kSimd, kSimd)});
}

std::string SimdCopy(std::string_view name, std::string_view dtype, std::string_view scope, bool is_load,
                     bool is_transposed) {
  const Matrix a = SimdMatrix("A", dtype, is_load ? scope : "metal.simdgroup", "s");
  const Matrix c = SimdMatrix("C", dtype, is_load ? "metal.simdgroup" : scope, "d");
  const Matrix &group = is_load ? c : a, &memory = is_load ? a : c;
  return Render(name, {.matrices = {a, c},
                       .reads = {a},
                       .write = c,
                       .extents = {kSimd, kSimd},
                       .kinds = "SS",
                       .block = is_load ? "load" : "store",
                       .statement = CopyStatement(is_transposed),
                       .call = fmt::format("T.simdgroup_{}({}.data, {}, {}, {}.strides[0], {}, {}, T.bool({}))",
                                           is_load ? "load" : "store", group.name, FragmentIndex(group),
                                           Pointer(memory, is_load ? 1 : 2), memory.name, kSimd, kSimd,
                                           is_transposed ? "True" : "False")});
}

std::string SimdMultiply(std::string_view name, std::string_view dtype) {
  const Matrix a = SimdMatrix("A", dtype, "metal.simdgroup", "a");
  const Matrix b = SimdMatrix("B", dtype, "metal.simdgroup", "b");
  const Matrix c = SimdMatrix("C", dtype, "metal.simdgroup", "c");
  return Render(
      name, {.matrices = {a, b, c},
             .reads = {c, a, b},
             .write = c,
             .extents = {kSimd, kSimd, kSimd},
             .kinds = "SSR",
             .block = "",
             .statement = "C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]",
             .call = fmt::format("T.simdgroup_multiply_accumulate(C.data, {0}, A.data, {1}, B.data, {2}, C.data, {0})",
                                 FragmentIndex(c), FragmentIndex(a), FragmentIndex(b))});
}

// simdgroup_{make_filled,load,store,multiply_accumulate}_8x8x8_DTYPE[_SCOPE[_trans]]
std::string SimdText(std::string_view name, const std::vector<std::string_view>& parts) {
  const auto shape = std::ranges::find(parts, "8x8x8");
  if (parts.end() - shape < 2) return {};
  const std::string_view dtype = DtypeOf(*(shape + 1));
  const std::vector<std::string_view> rest(shape + 2, parts.end());
  if (dtype.empty()) return {};
  if (parts[1] == "make" && rest.empty()) return SimdFill(name, dtype);
  if (parts[1] == "multiply" && rest.empty()) return SimdMultiply(name, dtype);
  const bool is_load = parts[1] == "load", is_transposed = rest.size() == 2 && rest[1] == "trans";
  if ((!is_load && parts[1] != "store") || (rest.size() != 1 && !is_transposed)) return {};
  if (rest[0] != "shared" && rest[0] != "global") return {};
  return SimdCopy(name, dtype, rest[0], is_load, is_transposed);
}

}  // namespace

std::string MatrixIntrinsicText(std::string_view name) {
  const std::vector<std::string_view> parts = SplitName(name);
  if (parts.size() < 4) return {};
  if (parts[0] == "wmma") return WmmaText(name, parts);
  return parts[0] == "simdgroup" ? SimdText(name, parts) : std::string();
}

}  // namespace iropt
