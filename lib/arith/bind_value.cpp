#include "iropt/arith/bind_value.h"

#include "iropt/ir/tir/visitor.h"
#include "iropt/ir/tir/written_values.h"

namespace iropt::arith {
namespace {

// Takes a part for each node of the value and of the values that it uses, as long as there are some left.
void TakeParts(const PrimExpr* value, const Analyzer& analyzer, size_t& left) {
  tir::PostOrderVisit(value, [&](const Node* node) {
    if (left == 0) return;
    --left;
    const auto* var = As<tir::Var>(node);
    if (const PrimExpr* inner = var ? analyzer.ValueOf(var) : nullptr) TakeParts(inner, analyzer, left);
  });
}

}  // namespace

void BindValue(Analyzer& analyzer, const tir::Var* var, const PrimExpr* value) {
  size_t left = tir::WrittenValues::kMaxParts + 1;
  TakeParts(value, analyzer, left);
  if (left > 0) return analyzer.Bind(var, value);
  const IntBound bound = analyzer.Bound(value);
  const ModularSet modular = analyzer.bounds().Modular(value);
  analyzer.Unbind(var);
  analyzer.bounds().SetBound(var, bound);
  analyzer.bounds().SetModular(var, modular);
}

}  // namespace iropt::arith
