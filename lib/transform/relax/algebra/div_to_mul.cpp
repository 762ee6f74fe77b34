// DivToMul: multiplies by the inverse of a constant instead of dividing by it.
//
//   y = R.divide(x, R.const(4.0, "float32"))    -->    y = R.multiply(x, R.const(0.25, "float32"))
//
// Only constants of floating-point dtypes without zeros are inverted. The result differs by a rounding unless the
// constant is a power of two. O(nodes), and the elements of the constants.
//
// Source: the pass of this name of Relay, TVM's former graph-level IR.
#include <algorithm>
#include <memory>
#include <type_traits>

#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/apply_rules.h"

namespace iropt {

namespace {

// Null if some element is zero, or has an inverse that is not finite.
std::shared_ptr<const NDArray> InverseOf(const NDArray& array) {
  if (!array.dtype().is_floating()) return nullptr;
  const std::shared_ptr<NDArray> inverse = NDArray::Make(array.dtype(), array.shape());
  bool is_finite = true;
  const bool known = DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
    std::ranges::transform(array.As<T>(), inverse->MutableAs<T>().begin(), [&](T x) {
      const auto value = static_cast<double>(Element<T>::Load(x));
      const T result = Element<T>::Store(static_cast<decltype(Element<T>::Load(x))>(1 / value));
      const auto rounded = static_cast<double>(Element<T>::Load(result));
      is_finite &= value != 0 && rounded - rounded == 0;
      return result;
    });
  });
  return known && is_finite ? inverse : nullptr;
}

RuleSet MakeDivToMulRules() {
  const Pattern x = Wildcard();
  const Pattern divisor = IsConstant();
  RuleSet rules;
  rules.Add({"divide-by-constant", IsCall(GetOp(op::kDivide), {x, divisor}),
             [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const auto* constant = To<Constant>(DefinitionOf(match[divisor], match.definitions()));
               const std::shared_ptr<const NDArray> inverse = InverseOf(*constant->data);
               if (!inverse) return nullptr;
               return op::Multiply(OpBuilder(builder), match[x], MakeConstant(inverse, builder.workspace()));
             }});
  return rules;
}

}  // namespace

Pass CreateDivToMul(const PassOptions& options) {
  return CreateRulePass(options.info(), std::make_shared<const RuleSet>(MakeDivToMulRules()));
}

}  // namespace iropt
