// Systems of linear equations and inequalities over the integers.
//
//   x + y == 20, x - y == 10                          x = 15, y = 5
//   x + y == 0, x in [-5, 5), y in [0, 10)     -->    x = n0, y = 0 - n0, n0 in [-9, 1), -5 <= n0
//   x + y <= 20, x - y >= 10, y >= 0                  x in [y + 10, 21 - y), y in [0, 6)
//
// Relations may have other variables than those that are solved for; these stand for unknown numbers. What cannot be
// solved, because it is not linear or its coefficients are not constants, remains as a relation. After TVM's
// arith::SolveLinearEquations and SolveLinearInequalities (src/arith/solve_linear_equation.cc and so on).
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/substitute.h"

namespace iropt::arith {

// In an order of their own, which results follow.
using VarRanges = std::vector<std::pair<const tir::Var*, tir::Range>>;
// Null if the variable has no range.
const tir::Range* FindRange(const VarRanges& ranges, const tir::Var* var);

using tir::VarValues;

struct IntConstraints {
  std::vector<const tir::Var*> variables;  // to solve for
  VarRanges ranges;                        // of these and of other variables
  std::vector<const PrimExpr*> relations;  // conditions, all of which hold
};

// A system in new variables with the same solutions: the values of the old variables follow from the new ones, and the
// other way round. Without a solution, the system is the relation False alone, and there are no values.
struct IntConstraintsTransform {
  IntConstraints dst;
  VarValues src_to_dst;
  VarValues dst_to_src;
};

// The coefficients of the variables in e == c[0] * v[0] + ... + c[n]; nothing if e is not linear in them. The
// coefficients are simplified, and may have other variables. O(nodes * variables).
std::optional<std::vector<const PrimExpr*>> DetectLinearEquation(const PrimExpr* e,
                                                                 std::span<const tir::Var* const> variables,
                                                                 Analyzer& analyzer);

// Replaces the variables by as few as the equations leave free. The ranges of the old variables become ranges of the
// new ones and, as far as these say less, relations. O((equations + variables)^3) for coefficients of a few bits.
IntConstraintsTransform SolveLinearEquations(const IntConstraints& system, Workspace& workspace);

// Bounds of a variable v: coef * v is equal to each of `equal`, at least each of `lower`, at most each of `upper`.
struct IntGroupBounds {
  int64_t coef = 1;
  std::vector<const PrimExpr*> lower;
  std::vector<const PrimExpr*> equal;  // small expressions first
  std::vector<const PrimExpr*> upper;
};

struct SolvedInequalities {
  std::vector<IntGroupBounds> bounds;      // by variable; those of one have no earlier variables
  std::vector<const PrimExpr*> relations;  // those that remain; only False if the system has no solution
};

// Eliminates one variable after the other by adding up its lower and upper bounds (Fourier and Motzkin). The cost can
// square with each variable; combinations beyond a limit are left out, so that bounds of later variables are missing.
SolvedInequalities SolveLinearInequalities(const IntConstraints& system, const PrimBuilder& make);
// The bounds and the relations as conditions.
std::vector<const PrimExpr*> AsConditions(const IntConstraints& system, const SolvedInequalities& solved,
                                          const PrimBuilder& make);

// The variables with ranges, which may depend on later variables, and the relations that do not follow from these. The
// range of a variable may be larger than what the relations allow.
IntConstraints SolveInequalitiesToRange(const IntConstraints& system, Workspace& workspace);
// Solves the system for new variables, whose ranges begin with 0. Variables for which no range is found stay.
IntConstraintsTransform SolveInequalitiesDeskewRange(const IntConstraints& system, Workspace& workspace);

}  // namespace iropt::arith
