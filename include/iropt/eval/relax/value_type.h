// Values and graph-level types: which type a value has, and whether it is of a type whose symbolic variables have
// values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "iropt/eval/tir/prim_func.h"
#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/ir/type.h"
#include "iropt/runtime/value.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// Values of symbolic variables, and of scalar expressions over them.
class SymbolValues {
 public:
  void Bind(const tir::Var* var, int64_t value);
  std::optional<int64_t> Find(const tir::Var* var) const;
  // Nullopt where a variable has no value, or the expression an undefined one.
  std::optional<Scalar> Eval(const PrimExpr* expr);
  std::optional<int64_t> EvalInt(const PrimExpr* expr);
  // In the order in which they were bound.
  const std::vector<std::pair<const tir::Var*, int64_t>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<const tir::Var*, int64_t>> entries_;
  std::unordered_map<const tir::Var*, size_t> index_;  // only once there are many
  std::unique_ptr<ScalarEvaluator> evaluator_;         // null until needed, and after an error
};

// Compares values with types. Variables of function types are their own, so that functions are compared by kind only.
class ValueMatcher {
 public:
  // The shape that a graph-level variable stands for; null where that is not known.
  using ShapeOf = FunctionRef<const ShapeValue*(const Expr* var)>;
  // How a dimension without a value compares.
  enum class Unknown : uint8_t { kMatches, kDiffers };

  // The values must outlive it.
  ValueMatcher(SymbolValues& symbols, Unknown unknown) : symbols_(symbols), unknown_(unknown) {}

  // Gives variables that stand alone in the type, and have no value yet, theirs.
  void Bind(const HostValue& value, const Type* type);
  // Whether the value is of the type.
  bool Matches(const HostValue& value, const Type* type, ShapeOf shape_of = NoShape);

 private:
  static const ShapeValue* NoShape(const Expr*) { return nullptr; }
  void BindDims(std::span<const int64_t> dims, List<const PrimExpr*> exprs);
  bool MatchesDims(std::span<const int64_t> dims, List<const PrimExpr*> exprs);
  bool MatchesTensor(const NDArray& tensor, const TensorType& type, ShapeOf shape_of);
  bool MatchesScalar(const Scalar& scalar, const PrimType& type);

  SymbolValues& symbols_;
  Unknown unknown_;
};

// The type of a value, as precise as can be.
const Type* TypeOfValue(const HostValue& value);
// "R.Tensor((n, 4), dtype="float32") with n = 3": the type, and the values of the variables that it mentions.
std::string DescribeType(const Type* type, const SymbolValues& symbols);

// What a call_tir fills in: its type argument is that of one tensor, or a tuple of such. Nullopt where a dimension has
// no value.
std::optional<std::vector<TensorSpec>> OutputSpecs(const TupleType* type_args, SymbolValues& symbols);

}  // namespace iropt
