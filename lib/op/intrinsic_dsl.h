// The functions and constants that rows of intrinsics.def call. Everything is evaluated at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "iropt/op/intrinsics.h"

namespace iropt::intrinsic_dsl {

// The constants are words of the rows. NOLINTBEGIN(readability-identifier-naming)

inline constexpr int8_t Variadic = -1;

struct ResultWord {
  ResultDtype rule;
  DataType dtype;
  constexpr ResultWord(ResultDtype r) : rule(r) {}                           // NOLINT: rows leave it out
  constexpr ResultWord(DataType d) : rule(ResultDtype::kFixed), dtype(d) {}  // NOLINT: rows leave it out
};
constexpr ResultDtype OfOperand(int i) { return i == 0 ? ResultDtype::kOperand0 : ResultDtype::kOperand1; }
inline constexpr ResultDtype BoolLanes = ResultDtype::kBoolLanes;
inline constexpr ResultDtype Given = ResultDtype::kGiven;

struct IntrinsicRow {
  IntrinsicInfo info;
  std::string_view script;
  std::string_view alias;
  std::array<int32_t, 3> defaults{};
  size_t num_defaults = 0;
};

struct VectorizableWord {
  constexpr void Apply(IntrinsicRow& row) const { row.info.vectorizable = true; }
};
inline constexpr VectorizableWord Vectorizable;
struct PacksBuffersWord {
  constexpr void Apply(IntrinsicRow& row) const { row.info.packs_buffers = true; }
};
inline constexpr PacksBuffersWord PacksBuffers;
struct Match {
  int from;
  explicit constexpr Match(int i) : from(i) {}
  constexpr void Apply(IntrinsicRow& row) const {
    row.info.match_dtypes = true;
    row.info.match_from = static_cast<uint8_t>(from);
  }
};
struct Script {
  std::string_view name;
  explicit constexpr Script(std::string_view n) : name(n) {}
  constexpr void Apply(IntrinsicRow& row) const { row.script = name; }
};
struct Alias {
  std::string_view name;
  explicit constexpr Alias(std::string_view n) : name(n) {}
  constexpr void Apply(IntrinsicRow& row) const { row.alias = name; }
};
template <size_t N>
struct DefaultsWord {
  std::array<int32_t, N> values;
  constexpr void Apply(IntrinsicRow& row) const {
    for (const int32_t v : values) row.defaults[row.num_defaults++] = v;
  }
};
template <class... Values>
constexpr DefaultsWord<sizeof...(Values)> Defaults(Values... values) {
  return {{values...}};
}

template <class... Property>
constexpr IntrinsicRow MakeIntrinsic(std::string_view script, int8_t num_args, CallEffect effect, DtypePrint print,
                                     ResultWord result, Property... property) {
  IntrinsicRow row;
  row.script = script;
  row.info.num_args = num_args;
  row.info.effect = effect;
  row.info.dtype_print = print;
  row.info.result = result.rule;
  row.info.dtype = result.dtype;
  (property.Apply(row), ...);
  return row;
}

// NOLINTEND(readability-identifier-naming)

}  // namespace iropt::intrinsic_dsl
