// Sizes for the symbolic variables of a function.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

// Hints in a function about the sizes that it accepts.
struct SizeHints {
  std::vector<std::pair<const tir::Var*, int64_t>> fixed = {};  // that a match_cast compares with a number
  std::vector<std::pair<std::string_view, int64_t>> most = {};  // the greatest values, by the names of variables
  int64_t multiple = 1;                                         // of which sizes may have to be multiples
  // Dimensions that a match_cast demands of variables, -1 where it does not say a number.
  std::vector<std::pair<const Expr*, std::vector<int64_t>>> dims = {};
};

// From the match_casts of a Relax function, its attribute tir_var_upper_bound, and the scalar expressions of any
// function. Linear.
SizeHints FindSizeHints(const BaseFunc& function);

// The numbers among dimensions, and -1 for others.
std::vector<int64_t> NumbersIn(std::span<const PrimExpr* const> dims);

// Sizes of variables, and of dimensions that have no variable.
struct InputSizes {
  std::vector<int64_t> of_vars = {};
  int64_t otherwise = 0;
};

// The number of assignments that MakeSizes knows without constants.
inline constexpr size_t kNumSizeAssignments = 12;
// Those after them are rare sizes: all 1, two that no tile divides, some 0, some that 8 bits cannot count, powers of
// two, times what a dimension has to divide, one of which is twice another, then sizes near to the constants of the
// program.
inline constexpr size_t kSizesOfOne = kNumSizeAssignments;
inline constexpr size_t kOddSizes = kNumSizeAssignments + 1;
inline constexpr size_t kMoreOddSizes = kNumSizeAssignments + 2;
inline constexpr size_t kEmptySizes = kNumSizeAssignments + 3;
inline constexpr size_t kLargeSizes = kNumSizeAssignments + 4;
inline constexpr size_t kPowersOfTwo = kNumSizeAssignments + 5;
inline constexpr size_t kSizesNearConstants = kNumSizeAssignments + 6;

// Greater numbers are not tried as sizes, nor as those of tables that integers are indices of.
inline constexpr int64_t kMostSize = 8'000;

// An assignment of sizes to variables: small ones before large ones, different ones before equal ones. Those of
// `hints` take precedence.
InputSizes MakeSizes(size_t assignment, const std::vector<const tir::Var*>& vars, const SizeHints& hints,
                     std::span<const int64_t> constants = {});

}  // namespace iropt
