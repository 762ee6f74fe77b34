// The comparison for base checks; calls refine it to bind the variables of the parameters. Private to lib/infer.
#pragma once

#include "iropt/infer/infer.h"

namespace iropt {

// The worse of the two.
BaseCheck Combine(BaseCheck a, BaseCheck b);

class TypeMatcher {
 public:
  virtual ~TypeMatcher() = default;
  BaseCheck Match(const Type* base, const Type* derived);
  // Compares dimensions.
  static BaseCheck CompareDims(const PrimExpr* base, const PrimExpr* derived);

 protected:
  // Returns whether the result is known to be kPass without a comparison of the fields.
  virtual bool Trivial(const Type* base, const Type* derived);
  virtual BaseCheck MatchDim(const PrimExpr* base, const PrimExpr* derived);
  // `derived` has a shape.
  virtual BaseCheck MatchShapeVar(const Expr* base, const TensorType* derived);

  // Off inside the parameters of a function type, which define variables of their own.
  bool binding_ = true;

 private:
  BaseCheck MatchKinds(const Type* base, const Type* derived);
  BaseCheck MatchPrim(const PrimType* base, const PrimType* derived);
  BaseCheck MatchShape(const ShapeType* base, const ShapeType* derived);
  BaseCheck MatchTensor(const TensorType* base, const TensorType* derived);
  BaseCheck MatchDTensor(const DTensorType* base, const DTensorType* derived);
  BaseCheck MatchFunc(const FuncType* base, const FuncType* derived);
  BaseCheck MatchAll(List<const Type*> base, List<const Type*> derived);
  BaseCheck MatchDims(List<const PrimExpr*> base, List<const PrimExpr*> derived);
};

}  // namespace iropt
