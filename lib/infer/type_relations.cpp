// Relations of types: base checks and least common ancestors.
#include <algorithm>
#include <vector>

#include "iropt/support/stack.h"
#include "type_matcher.h"
#include "type_util.h"

namespace iropt {

// ---- Base checks

BaseCheck Combine(BaseCheck a, BaseCheck b) { return std::min(a, b); }

BaseCheck TypeMatcher::Match(const Type* base, const Type* derived) {
  if (Trivial(base, derived)) return BaseCheck::kPass;
  return WithStack([&] { return MatchKinds(base, derived); });
}

BaseCheck TypeMatcher::MatchKinds(const Type* base, const Type* derived) {
  if (base->kind == NodeKind::kObjectType) return BaseCheck::kPass;
  if (base->kind != derived->kind)
    return derived->kind == NodeKind::kObjectType ? BaseCheck::kFailL1 : BaseCheck::kFailL0;
  switch (base->kind) {
    case NodeKind::kPrimType:
      return MatchPrim(static_cast<const PrimType*>(base), static_cast<const PrimType*>(derived));
    case NodeKind::kShapeType:
      return MatchShape(static_cast<const ShapeType*>(base), static_cast<const ShapeType*>(derived));
    case NodeKind::kTensorType:
      return MatchTensor(static_cast<const TensorType*>(base), static_cast<const TensorType*>(derived));
    case NodeKind::kDTensorType:
      return MatchDTensor(static_cast<const DTensorType*>(base), static_cast<const DTensorType*>(derived));
    case NodeKind::kTupleType:
      return MatchAll(static_cast<const TupleType*>(base)->fields, static_cast<const TupleType*>(derived)->fields);
    case NodeKind::kFuncType:
      return MatchFunc(static_cast<const FuncType*>(base), static_cast<const FuncType*>(derived));
    default: IROPT_UNREACHABLE("not a type");
  }
}

BaseCheck TypeMatcher::MatchPrim(const PrimType* base, const PrimType* derived) {
  if (base->dtype != derived->dtype) return BaseCheck::kFailL0;
  if (!base->value) return BaseCheck::kPass;
  return derived->value ? MatchDim(base->value, derived->value) : BaseCheck::kFailL2;
}

BaseCheck TypeMatcher::MatchShape(const ShapeType* base, const ShapeType* derived) {
  if (base->ndim == kUnknownDim) return BaseCheck::kPass;
  if (base->ndim != derived->ndim) return derived->ndim == kUnknownDim ? BaseCheck::kFailL1 : BaseCheck::kFailL0;
  if (!base->known) return BaseCheck::kPass;
  return derived->known ? MatchDims(base->values, derived->values) : BaseCheck::kFailL2;
}

namespace {

BaseCheck MatchDevices(const VDeviceAttr* base, const VDeviceAttr* derived) {
  if (!base || base == derived) return BaseCheck::kPass;
  if (!derived || (base->target && !derived->target)) return BaseCheck::kFailL1;
  return base->target && derived->target ? BaseCheck::kFailL0 : BaseCheck::kPass;
}

}  // namespace

BaseCheck TypeMatcher::MatchTensor(const TensorType* base, const TensorType* derived) {
  if (!base->dtype.is_void() && base->dtype != derived->dtype)
    return derived->dtype.is_void() ? BaseCheck::kFailL1 : BaseCheck::kFailL0;
  if (base->ndim != kUnknownDim && base->ndim != derived->ndim) {
    return derived->ndim == kUnknownDim ? BaseCheck::kFailL1 : BaseCheck::kFailL0;
  }
  const BaseCheck devices = MatchDevices(base->vdevice, derived->vdevice);
  if (devices != BaseCheck::kPass || !base->has_shape()) return devices;
  if (!derived->has_shape()) return BaseCheck::kFailL2;
  if (base->shape_var) return MatchShapeVar(base->shape_var, derived);
  return derived->known ? MatchDims(base->dims, derived->dims) : BaseCheck::kFailL2;
}

BaseCheck TypeMatcher::MatchDTensor(const DTensorType* base, const DTensorType* derived) {
  const bool same = base->device_mesh == derived->device_mesh && base->placement == derived->placement;
  return Combine(Match(base->tensor, derived->tensor), same ? BaseCheck::kPass : BaseCheck::kFailL1);
}

BaseCheck TypeMatcher::MatchAll(List<const Type*> base, List<const Type*> derived) {
  if (base.size() != derived.size()) return BaseCheck::kFailL0;
  BaseCheck result = BaseCheck::kPass;
  for (uint32_t i = 0; i < base.size() && result != BaseCheck::kFailL0; ++i)
    result = Combine(result, Match(base[i], derived[i]));
  return result;
}

BaseCheck TypeMatcher::MatchDims(List<const PrimExpr*> base, List<const PrimExpr*> derived) {
  if (base.size() != derived.size()) return BaseCheck::kFailL0;
  BaseCheck result = BaseCheck::kPass;
  for (uint32_t i = 0; i < base.size() && result != BaseCheck::kFailL0; ++i)
    result = Combine(result, MatchDim(base[i], derived[i]));
  return result;
}

BaseCheck TypeMatcher::MatchFunc(const FuncType* base, const FuncType* derived) {
  // A pure function may be used if an impure one is expected.
  if (base->purity && !derived->purity) return BaseCheck::kFailL0;
  if (base->opaque) {
    if (base->derive_func.empty()) return Match(base->ret, derived->ret);
    return base->derive_func == derived->derive_func ? BaseCheck::kPass : BaseCheck::kFailL2;
  }
  if (derived->opaque) return BaseCheck::kFailL2;
  // The parameters of each define symbolic variables of their own, so they are compared structurally.
  if (FuncTypeAlphaEqual(base, derived)) return BaseCheck::kPass;
  const bool outer = std::exchange(binding_, false);
  BaseCheck params = MatchAll(base->params, derived->params);
  binding_ = outer;
  if (params == BaseCheck::kFailL1) params = BaseCheck::kFailL2;
  return Combine(params, Match(base->ret, derived->ret));
}

bool TypeMatcher::Trivial(const Type* base, const Type* derived) { return base == derived; }

BaseCheck TypeMatcher::CompareDims(const PrimExpr* base, const PrimExpr* derived) {
  if (base == derived) return BaseCheck::kPass;
  const int64_t* a = arith::AsInt(base);
  const int64_t* b = arith::AsInt(derived);
  if (a && b) return *a == *b ? BaseCheck::kPass : BaseCheck::kFailL0;
  // The variables are not known to be sizes here.
  arith::Analyzer analyzer({}, arith::Analyzer::SymVars::kAny);
  return analyzer.CanProveEqual(base, derived) ? BaseCheck::kPass : BaseCheck::kFailL2;
}

BaseCheck TypeMatcher::MatchDim(const PrimExpr* base, const PrimExpr* derived) { return CompareDims(base, derived); }

BaseCheck TypeMatcher::MatchShapeVar(const Expr* base, const TensorType* derived) {
  return base == derived->shape_var ? BaseCheck::kPass : BaseCheck::kFailL2;
}

BaseCheck TypeBaseCheck(const Type* base, const Type* derived) {
  if (base == derived) return BaseCheck::kPass;
  TypeMatcher matcher;
  return matcher.Match(base, derived);
}

// ---- Equality of function types

namespace {

class AlphaMatcher {
 public:
  bool Equal(const Type* a, const Type* b) {
    if (a->kind != b->kind) return false;
    if (a == b && !a->has_sym_var()) return true;
    return WithStack([&] { return EqualKinds(a, b); });
  }

 private:
  bool EqualKinds(const Type* a, const Type* b) {
    switch (a->kind) {
      case NodeKind::kPrimType: {
        const auto* x = static_cast<const PrimType*>(a);
        const auto* y = static_cast<const PrimType*>(b);
        if (x->dtype != y->dtype || !x->value != !y->value) return false;
        return !x->value || EqualDim(x->value, y->value);
      }
      case NodeKind::kShapeType: {
        const auto* x = static_cast<const ShapeType*>(a);
        const auto* y = static_cast<const ShapeType*>(b);
        return x->ndim == y->ndim && x->known == y->known && EqualDims(x->values, y->values);
      }
      case NodeKind::kTensorType: {
        const auto* x = static_cast<const TensorType*>(a);
        const auto* y = static_cast<const TensorType*>(b);
        return x->dtype == y->dtype && x->ndim == y->ndim && x->known == y->known && x->vdevice == y->vdevice &&
               x->shape_var == y->shape_var && EqualDims(x->dims, y->dims);
      }
      case NodeKind::kDTensorType: {
        const auto* x = static_cast<const DTensorType*>(a);
        const auto* y = static_cast<const DTensorType*>(b);
        return x->device_mesh == y->device_mesh && x->placement == y->placement && Equal(x->tensor, y->tensor);
      }
      case NodeKind::kTupleType:
        return EqualAll(static_cast<const TupleType*>(a)->fields, static_cast<const TupleType*>(b)->fields);
      case NodeKind::kFuncType: return EqualFunc(static_cast<const FuncType*>(a), static_cast<const FuncType*>(b));
      default: return a == b;
    }
  }
  bool EqualFunc(const FuncType* a, const FuncType* b) {
    if (a->opaque != b->opaque || a->purity != b->purity || a->derive_func != b->derive_func) return false;
    const bool outer = std::exchange(defining_, true);
    const bool params = EqualAll(a->params, b->params);
    defining_ = outer;
    return params && Equal(a->ret, b->ret);
  }
  bool EqualAll(List<const Type*> a, List<const Type*> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const Type* x, const Type* y) { return Equal(x, y); });
  }
  bool EqualDims(List<const PrimExpr*> a, List<const PrimExpr*> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const PrimExpr* x, const PrimExpr* y) { return EqualDim(x, y); });
  }
  bool EqualDim(const PrimExpr* a, const PrimExpr* b) {
    const auto* x = As<tir::Var>(a);
    const auto* y = As<tir::Var>(b);
    if (x && y) return EqualVars(x, y);
    if (a->kind != b->kind || a->dtype != b->dtype) return false;
    const auto* p = As<tir::BinaryExpr>(a);
    const auto* q = As<tir::BinaryExpr>(b);
    if (p) return WithStack([&] { return EqualDim(p->a, q->a) && EqualDim(p->b, q->b); });
    if (const auto* cast = As<tir::Cast>(a)) return EqualDim(cast->value, static_cast<const tir::Cast*>(b)->value);
    return a == b;
  }
  bool EqualVars(const tir::Var* a, const tir::Var* b) {
    for (const auto& [x, y] : pairs_) {
      if (x == a || y == b) return x == a && y == b;
    }
    if (!defining_ || a->dtype != b->dtype) return a == b;
    pairs_.push_back({a, b});
    return true;
  }

  bool defining_ = false;
  std::vector<std::pair<const tir::Var*, const tir::Var*>> pairs_;
};

}  // namespace

bool FuncTypeAlphaEqual(const FuncType* a, const FuncType* b) { return a == b || AlphaMatcher().Equal(a, b); }

// ---- Least common ancestor

namespace {

class LcaFinder {
 public:
  explicit LcaFinder(Arena& arena) : arena_(arena) {}

  const Type* Find(const Type* a, const Type* b) {
    if (a == b) return a;
    if (a->kind != b->kind) return ObjectType::Get();
    return WithStack([&] { return FindKinds(a, b); });
  }

 private:
  const Type* FindKinds(const Type* a, const Type* b) {
    switch (a->kind) {
      case NodeKind::kPrimType: {
        const auto* x = static_cast<const PrimType*>(a);
        const auto* y = static_cast<const PrimType*>(b);
        if (x->dtype != y->dtype) return ObjectType::Get();
        return x->value && y->value && DimsEqual(x->value, y->value) ? x : PrimType::Get(x->dtype);
      }
      case NodeKind::kShapeType: {
        const auto* x = static_cast<const ShapeType*>(a);
        const auto* y = static_cast<const ShapeType*>(b);
        if (x->ndim != y->ndim) return ShapeType::Get();
        return x->known && y->known && DimsEqual(x->values, y->values) ? x : ShapeType::Get(x->ndim);
      }
      case NodeKind::kTensorType:
        return FindTensor(static_cast<const TensorType*>(a), static_cast<const TensorType*>(b));
      case NodeKind::kTupleType: {
        const auto* x = static_cast<const TupleType*>(a);
        const auto* y = static_cast<const TupleType*>(b);
        if (x->fields.size() != y->fields.size()) return ObjectType::Get();
        return TupleType::Get(arena_, FindAll(x->fields, y->fields));
      }
      case NodeKind::kFuncType: return FindFunc(static_cast<const FuncType*>(a), static_cast<const FuncType*>(b));
      default: return ObjectType::Get();
    }
  }
  const Type* FindTensor(const TensorType* a, const TensorType* b) {
    const DataType dtype = a->dtype == b->dtype ? a->dtype : DataType::Void();
    const VDeviceAttr* vdevice = a->vdevice == b->vdevice ? a->vdevice : nullptr;
    const bool same_shape =
        (a->known && b->known && DimsEqual(a->dims, b->dims)) || (a->shape_var && a->shape_var == b->shape_var);
    if (!same_shape) return TensorType::Get(a->ndim == b->ndim ? a->ndim : kUnknownDim, dtype, vdevice);
    if (a->known) return TensorType::Get(a->dims, dtype, vdevice);
    return TensorType::WithShapeVar(arena_, a->shape_var, dtype, vdevice);
  }
  const Type* FindFunc(const FuncType* a, const FuncType* b) {
    const bool purity = a->purity && b->purity;
    if (a->opaque && !a->derive_func.empty()) {
      return a->derive_func == b->derive_func ? a : FuncType::Opaque(ObjectType::Get(), purity);
    }
    if (a->opaque || b->opaque) return FuncType::Opaque(Find(a->ret, b->ret), purity);
    if (FuncTypeAlphaEqual(a, b)) return a;
    const Type* ret = Find(a->ret, b->ret);
    if (a->params.size() != b->params.size()) return FuncType::Opaque(ret, purity);
    return FuncType::Get(arena_, FindAll(a->params, b->params), ret, purity);
  }
  std::vector<const Type*> FindAll(List<const Type*> a, List<const Type*> b) {
    std::vector<const Type*> result;
    for (uint32_t i = 0; i < a.size(); ++i) result.push_back(Find(a[i], b[i]));
    return result;
  }
  bool DimsEqual(const PrimExpr* a, const PrimExpr* b) { return TypeMatcher::CompareDims(a, b) == BaseCheck::kPass; }
  bool DimsEqual(List<const PrimExpr*> a, List<const PrimExpr*> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const PrimExpr* x, const PrimExpr* y) { return DimsEqual(x, y); });
  }

  Arena& arena_;
};

}  // namespace

const Type* TypeLCA(const Type* a, const Type* b, Arena& arena) { return LcaFinder(arena).Find(a, b); }

}  // namespace iropt
