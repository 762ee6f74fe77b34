#include "iropt/arith/linear_equation.h"

#include <algorithm>
#include <utility>

#include "iropt/ir/tir/visitor.h"
#include "iropt/support/stack.h"

namespace iropt::arith {

namespace {

// Coefficients of variables, null for 0, and the rest.
struct LinearForm {
  std::vector<const PrimExpr*> coefs;
  const PrimExpr* rest;

  bool is_constant() const {
    return std::ranges::all_of(coefs, [](const PrimExpr* coef) { return coef == nullptr; });
  }
};

class LinearReader {
 public:
  LinearReader(std::span<const tir::Var* const> variables, const PrimBuilder& make)
      : variables_(variables), make_(make) {}

  std::optional<LinearForm> Read(const PrimExpr* e) {
    return WithStack([&]() -> std::optional<LinearForm> {
      const auto* binary = As<tir::BinaryExpr>(e);
      switch (e->kind) {
        case NodeKind::kPrimVar:
        case NodeKind::kSizeVar: return OfVariable(static_cast<const tir::Var*>(e));
        case NodeKind::kAdd:
        case NodeKind::kSub: return Combine(e->kind, Read(binary->a), Read(binary->b));
        case NodeKind::kMul: return Multiply(Read(binary->a), Read(binary->b));
        default: return UsesVariable(e) ? std::nullopt : std::optional(Constant(e));
      }
    });
  }

 private:
  LinearForm Constant(const PrimExpr* e) const { return {std::vector<const PrimExpr*>(variables_.size(), nullptr), e}; }

  LinearForm OfVariable(const tir::Var* var) const {
    const auto found = std::ranges::find(variables_, var);
    if (found == variables_.end()) return Constant(var);
    LinearForm form = Constant(make_.Const(0, var->dtype));
    form.coefs[static_cast<size_t>(found - variables_.begin())] = make_.Const(1, var->dtype);
    return form;
  }

  bool UsesVariable(const PrimExpr* e) const {
    return tir::UsesVar(e, [&](const tir::Var* var) { return std::ranges::find(variables_, var) != variables_.end(); });
  }

  std::optional<LinearForm> Combine(NodeKind kind, std::optional<LinearForm> a, const std::optional<LinearForm>& b) {
    if (!a || !b) return std::nullopt;
    for (size_t i = 0; i < a->coefs.size(); ++i) {
      if (!b->coefs[i]) continue;
      const PrimExpr* left = a->coefs[i] ? a->coefs[i] : make_.Const(0, b->coefs[i]->dtype);
      a->coefs[i] = make_.Binary(kind, left, b->coefs[i]);
    }
    a->rest = make_.Binary(kind, a->rest, b->rest);
    return a;
  }

  std::optional<LinearForm> Multiply(std::optional<LinearForm> a, std::optional<LinearForm> b) {
    if (!a || !b) return std::nullopt;
    if (a->is_constant()) std::swap(a, b);
    if (!b->is_constant()) return std::nullopt;
    for (const PrimExpr*& coef : a->coefs) coef = coef ? make_.Mul(coef, b->rest) : nullptr;
    a->rest = make_.Mul(a->rest, b->rest);
    return a;
  }

  std::span<const tir::Var* const> variables_;
  const PrimBuilder& make_;
};

}  // namespace

std::optional<std::vector<const PrimExpr*>> DetectLinearEquation(const PrimExpr* e,
                                                                 std::span<const tir::Var* const> variables,
                                                                 Analyzer& analyzer) {
  std::optional<LinearForm> form = LinearReader(variables, analyzer.make()).Read(e);
  if (!form) return std::nullopt;
  std::vector<const PrimExpr*> coefs;
  for (size_t i = 0; i < variables.size(); ++i) {
    const PrimExpr* coef = form->coefs[i];
    coefs.push_back(coef ? analyzer.Simplify(coef) : analyzer.make().Const(0, variables[i]->dtype));
  }
  coefs.push_back(analyzer.Simplify(form->rest));
  return coefs;
}

}  // namespace iropt::arith
