// Types of runtime values, and checks of values against types with symbolic variables.
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
  // Nullopt if a variable has no value, or the result is undefined.
  std::optional<Scalar> Eval(const PrimExpr* expr);
  std::optional<int64_t> EvalInt(const PrimExpr* expr);
  // In the order of binding.
  const std::vector<std::pair<const tir::Var*, int64_t>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<const tir::Var*, int64_t>> entries_;
  std::unordered_map<const tir::Var*, size_t> index_;  // only once there are many
  std::unique_ptr<ScalarEvaluator> evaluator_;         // null until needed, and after an error
};

// Checks values against types. Functions match every function type.
class ValueMatcher {
 public:
  // Returns the value of a Relax variable that is a shape; null if unknown.
  using ShapeOf = FunctionRef<const ShapeValue*(const Expr* var)>;
  // The result of comparing with a dimension that has no value.
  enum class Unknown : uint8_t { kMatches, kDiffers };

  // `symbols` must outlive the matcher.
  ValueMatcher(SymbolValues& symbols, Unknown unknown) : symbols_(symbols), unknown_(unknown) {}

  // Binds symbolic variables that are a whole dimension of the type and have no value yet.
  void Bind(const HostValue& value, const Type* type);
  // Returns whether the value has the type.
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

// The most precise type of a value.
const Type* TypeOfValue(const HostValue& value);
// "R.Tensor((n, 4), dtype="float32") with n = 3": the type, and the values of its symbolic variables.
std::string DescribeType(const Type* type, const SymbolValues& symbols);

// The dtypes and shapes of the outputs of a call_tir with these type arguments: a tensor, or a tuple of tensors.
// Nullopt if a dimension has no value.
std::optional<std::vector<TensorSpec>> OutputSpecs(const TupleType* type_args, SymbolValues& symbols);

}  // namespace iropt
