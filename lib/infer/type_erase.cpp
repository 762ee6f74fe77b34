// Erases from a type the variables that are not in scope.
#include "iropt/arith/analyzer.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/substitute.h"
#include "iropt/support/stack.h"

namespace iropt {
namespace {

// Dimensions with values for their variables.
class DimEraser final : public TypeMapper {
 public:
  explicit DimEraser(FunctionRef<const PrimExpr*(const tir::Var*)> value_of) : value_of_(value_of) {}
  // Returns whether a variable had no value.
  bool undefined() const { return undefined_; }

 private:
  const PrimExpr* MapSymVar(const tir::Var* var) override {
    const PrimExpr* value = value_of_(var);
    if (!value) undefined_ = true;
    if (!value) return var;
    return value->kind == NodeKind::kIntImm ? arith::PrimBuilder().Cast(DataType::Int(64), value) : value;
  }

  FunctionRef<const PrimExpr*(const tir::Var*)> value_of_;
  bool undefined_ = false;
};

class Eraser {
 public:
  Eraser(FunctionRef<const PrimExpr*(const tir::Var*)> value_of, FunctionRef<const Expr*(const Expr*)> shape_of,
         Arena& arena)
      : value_of_(value_of), shape_of_(shape_of), arena_(arena) {}

  const Type* Erase(const Type* type) {
    if (!type->has_sym_var() && !type->has_shape_var()) return type;
    return WithStack([&] { return EraseKinds(type); });
  }

 private:
  const Type* EraseKinds(const Type* type) {
    switch (type->kind) {
      case NodeKind::kPrimType: {
        const auto* prim = static_cast<const PrimType*>(type);
        const PrimExpr* value = EraseDim(prim->value);
        return value ? PrimType::Get(value) : PrimType::Get(prim->dtype);
      }
      case NodeKind::kShapeType: {
        const auto* shape = static_cast<const ShapeType*>(type);
        std::vector<const PrimExpr*> values;
        return EraseDims(shape->values, values) ? ShapeType::Get(values) : ShapeType::Get(shape->ndim);
      }
      case NodeKind::kTensorType: return EraseTensor(static_cast<const TensorType*>(type));
      case NodeKind::kDTensorType: {
        const auto* dtensor = static_cast<const DTensorType*>(type);
        return DTensorType::Get(EraseTensor(dtensor->tensor), dtensor->device_mesh, dtensor->placement);
      }
      case NodeKind::kTupleType: {
        std::vector<const Type*> fields;
        for (const Type* field : static_cast<const TupleType*>(type)->fields) fields.push_back(Erase(field));
        return TupleType::Get(arena_, fields);
      }
      // The variables of a function type are defined by its parameters.
      default: return type;
    }
  }

  const TensorType* EraseTensor(const TensorType* tensor) {
    if (tensor->known) {
      std::vector<const PrimExpr*> dims;
      if (EraseDims(tensor->dims, dims)) return TensorType::Get(dims, tensor->dtype, tensor->vdevice);
    } else if (tensor->shape_var) {
      const Expr* shape = shape_of_(tensor->shape_var);
      if (const auto* literal = As<ShapeExpr>(shape))
        return TensorType::Get(literal->values, tensor->dtype, tensor->vdevice);
      if (shape) return TensorType::WithShapeVar(arena_, shape, tensor->dtype, tensor->vdevice);
    }
    return TensorType::Get(tensor->ndim, tensor->dtype, tensor->vdevice);
  }

  bool EraseDims(List<const PrimExpr*> dims, std::vector<const PrimExpr*>& out) {
    for (const PrimExpr* dim : dims) {
      out.push_back(EraseDim(dim));
      if (!out.back()) return false;
    }
    return true;
  }

  // Null if a variable has no value.
  const PrimExpr* EraseDim(const PrimExpr* dim) {
    DimEraser eraser(value_of_);
    const PrimExpr* mapped = eraser.Map(dim);
    if (eraser.undefined()) return nullptr;
    if (mapped == dim) return dim;
    arith::Analyzer analyzer({}, arith::Analyzer::SymVars::kAny);
    return analyzer.Simplify(mapped);
  }

  FunctionRef<const PrimExpr*(const tir::Var*)> value_of_;
  FunctionRef<const Expr*(const Expr*)> shape_of_;
  Arena& arena_;
};

}  // namespace

const Type* EraseToWellDefined(const Type* type, FunctionRef<const PrimExpr*(const tir::Var*)> value_of,
                               FunctionRef<const Expr*(const Expr*)> shape_of, Arena& arena) {
  return Eraser(value_of, shape_of, arena).Erase(type);
}

namespace {

void ForEachVarDim(std::span<const PrimExpr* const> dims, FunctionRef<void(const tir::Var*)> f) {
  for (const PrimExpr* dim : dims) {
    if (const auto* var = As<tir::Var>(dim)) f(var);
  }
}

}  // namespace

void ForEachDefinedSymVar(const Type* type, FunctionRef<void(const tir::Var*)> f) {
  switch (type->kind) {
    case NodeKind::kPrimType: {
      const auto* prim = static_cast<const PrimType*>(type);
      if (prim->value) ForEachVarDim(std::span(&prim->value, 1), f);
      return;
    }
    case NodeKind::kShapeType: return ForEachVarDim(static_cast<const ShapeType*>(type)->values, f);
    case NodeKind::kTensorType: return ForEachVarDim(static_cast<const TensorType*>(type)->dims, f);
    case NodeKind::kDTensorType: return ForEachVarDim(static_cast<const DTensorType*>(type)->tensor->dims, f);
    case NodeKind::kTupleType:
      for (const Type* field : static_cast<const TupleType*>(type)->fields)
        WithStack([&] { ForEachDefinedSymVar(field, f); });
      return;
    default: return;
  }
}

}  // namespace iropt
