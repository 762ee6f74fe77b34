#include "iropt/eval/relax/value_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// The maximum number of variables for linear search; most functions have a few.
constexpr size_t kFewVars = 8;

const TensorType* AsTensorType(const Type* type) {
  const auto* distributed = As<DTensorType>(type);
  return distributed ? distributed->tensor : As<TensorType>(type);
}

bool RankFits(int32_t ndim, size_t rank) { return ndim == kUnknownDim || static_cast<size_t>(ndim) == rank; }

}  // namespace

// ---- SymbolValues

void SymbolValues::Bind(const tir::Var* var, int64_t value) {
  entries_.emplace_back(var, value);
  if (!index_.empty()) {
    index_.emplace(var, entries_.size() - 1);
  } else if (entries_.size() > kFewVars) {
    for (size_t i = 0; i < entries_.size(); ++i) index_.emplace(entries_[i].first, i);
  }
  if (evaluator_) evaluator_->env().Bind(var, Scalar::Int(value, var->dtype));
}

std::optional<int64_t> SymbolValues::Find(const tir::Var* var) const {
  if (!index_.empty()) {
    const auto it = index_.find(var);
    return it == index_.end() ? std::nullopt : std::optional(entries_[it->second].second);
  }
  const auto it = std::ranges::find(entries_, var, &std::pair<const tir::Var*, int64_t>::first);
  return it == entries_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Scalar> SymbolValues::Eval(const PrimExpr* expr) {
  if (const auto* imm = As<tir::IntImm>(expr)) return Scalar::Int(imm->value, imm->dtype);
  if (const auto* var = As<tir::Var>(expr)) {
    const std::optional<int64_t> value = Find(var);
    return value ? std::optional(Scalar::Int(*value, var->dtype)) : std::nullopt;
  }
  if (!evaluator_) {
    evaluator_ = std::make_unique<ScalarEvaluator>();
    for (const auto& [var, value] : entries_) evaluator_->env().Bind(var, Scalar::Int(value, var->dtype));
  }
  Scalar result;
  if (evaluator_->Eval(expr, &result)) return result;
  evaluator_.reset();  // it would return its first error again
  return std::nullopt;
}

std::optional<int64_t> SymbolValues::EvalInt(const PrimExpr* expr) {
  const std::optional<Scalar> value = Eval(expr);
  return value && !value->dtype.is_floating() ? value->ToInt() : std::nullopt;
}

// ---- ValueMatcher

void ValueMatcher::BindDims(std::span<const int64_t> dims, List<const PrimExpr*> exprs) {
  if (dims.size() != exprs.size()) return;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto* var = As<tir::Var>(exprs[i]);
    if (var && !symbols_.Find(var)) symbols_.Bind(var, dims[i]);
  }
}

void ValueMatcher::Bind(const HostValue& value, const Type* type) {
  if (!type->has_sym_var()) return;
  if (const auto* tuple_type = As<TupleType>(type)) {
    const TupleValue* tuple = value.tuple();
    if (!tuple || tuple->fields.size() != tuple_type->fields.size()) return;
    for (size_t i = 0; i < tuple->fields.size(); ++i) WithStack([&] { Bind(tuple->fields[i], tuple_type->fields[i]); });
  } else if (const TensorType* tensor_type = AsTensorType(type)) {
    if (value.tensor() && tensor_type->known) BindDims(value.tensor()->shape(), tensor_type->dims);
  } else if (const auto* shape_type = As<ShapeType>(type)) {
    if (value.shape() && shape_type->known) BindDims(*value.shape(), shape_type->values);
  } else if (const auto* prim_type = As<PrimType>(type)) {
    const auto* var = As<tir::Var>(prim_type->value);
    const std::optional<int64_t> number = value.scalar() ? value.scalar()->ToInt() : std::nullopt;
    if (var && number && !symbols_.Find(var)) symbols_.Bind(var, *number);
  }
}

bool ValueMatcher::MatchesDims(std::span<const int64_t> dims, List<const PrimExpr*> exprs) {
  return std::ranges::equal(dims, exprs.span(), [&](int64_t dim, const PrimExpr* expr) {
    const std::optional<int64_t> expected = symbols_.EvalInt(expr);
    return expected ? *expected == dim : unknown_ == Unknown::kMatches;
  });
}

bool ValueMatcher::MatchesTensor(const NDArray& tensor, const TensorType& type, ShapeOf shape_of) {
  if (!type.dtype.is_void() && type.dtype != tensor.dtype()) return false;
  if (!RankFits(type.ndim, tensor.shape().size())) return false;
  if (type.known) return MatchesDims(tensor.shape(), type.dims);
  const ShapeValue* shape = type.shape_var ? shape_of(type.shape_var) : nullptr;
  return !shape || std::ranges::equal(*shape, tensor.shape());
}

bool ValueMatcher::MatchesScalar(const Scalar& scalar, const PrimType& type) {
  if (type.dtype != scalar.dtype) return false;
  if (!type.value) return true;
  const std::optional<Scalar> expected = symbols_.Eval(type.value);
  return expected ? expected->ToDouble() == scalar.ToDouble() : unknown_ == Unknown::kMatches;
}

bool ValueMatcher::Matches(const HostValue& value, const Type* type, ShapeOf shape_of) {
  if (Is<ObjectType>(type)) return true;
  if (const auto* tuple_type = As<TupleType>(type)) {
    const TupleValue* tuple = value.tuple();
    return tuple && std::ranges::equal(tuple->fields, tuple_type->fields.span(),
                                       [&](const HostValue& field, const Type* field_type) {
                                         return WithStack([&] { return Matches(field, field_type, shape_of); });
                                       });
  }
  if (const TensorType* tensor_type = AsTensorType(type))
    return value.tensor() && MatchesTensor(*value.tensor(), *tensor_type, shape_of);
  if (const auto* shape_type = As<ShapeType>(type)) {
    const ShapeValue* shape = value.shape();
    return shape && RankFits(shape_type->ndim, shape->size()) &&
           (!shape_type->known || MatchesDims(*shape, shape_type->values));
  }
  if (const auto* prim_type = As<PrimType>(type)) return value.scalar() && MatchesScalar(*value.scalar(), *prim_type);
  return Is<FuncType>(type) && value.function();
}

// ---- Types of values

const Type* TypeOfValue(const HostValue& value) {
  if (const NDArray* tensor = value.tensor()) return TypeOfTensor(*tensor);
  if (const ShapeValue* shape = value.shape()) {
    std::vector<const PrimExpr*> dims;
    for (const int64_t dim : *shape) dims.push_back(IRContext::Current().Int(dim));
    return ShapeType::Get(dims);
  }
  if (const Scalar* scalar = value.scalar()) return PrimType::Get(scalar->dtype);
  if (const TupleValue* tuple = value.tuple()) {
    std::vector<const Type*> fields;
    for (const HostValue& field : tuple->fields) fields.push_back(WithStack([&] { return TypeOfValue(field); }));
    return TupleType::Get(fields);
  }
  const FunctionValue* function = value.function();
  if (function && function->function->type && function->bound.empty()) return function->function->type;
  return ObjectType::Get();
}

std::string DescribeType(const Type* type, const SymbolValues& symbols) {
  std::string text = TypeToString(type);
  std::vector<const tir::Var*> seen;
  ForEachScalar(type, /*in_functions=*/false, [&](const PrimExpr* expr) {
    tir::ForEachVar(expr, [&](const tir::Var* var) {
      const std::optional<int64_t> value = symbols.Find(var);
      if (!value || std::ranges::find(seen, var) != seen.end()) return;
      text += fmt::format("{}{} = {}", seen.empty() ? " with " : ", ", var->name, *value);
      seen.push_back(var);
    });
  });
  return text;
}

std::optional<std::vector<TensorSpec>> OutputSpecs(const TupleType* type_args, SymbolValues& symbols) {
  if (!type_args || type_args->fields.size() != 1) return std::nullopt;
  std::vector<TensorSpec> specs;
  const auto add = [&](const Type* type) {
    const TensorType* tensor = AsTensorType(type);
    if (!tensor || !tensor->known) return false;
    TensorSpec& spec = specs.emplace_back(TensorSpec{tensor->dtype, {}});
    return std::ranges::all_of(tensor->dims.span(), [&](const PrimExpr* dim) {
      const std::optional<int64_t> value = symbols.EvalInt(dim);
      spec.shape.push_back(value.value_or(0));
      return value.has_value();
    });
  };
  const auto* tuple = As<TupleType>(type_args->fields[0]);
  const bool known = tuple ? std::ranges::all_of(tuple->fields.span(), add) : add(type_args->fields[0]);
  return known ? std::optional(std::move(specs)) : std::nullopt;
}

}  // namespace iropt
