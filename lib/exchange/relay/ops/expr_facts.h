// Facts about expressions of a call.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt::relay {

// The dtypes that expansions name.
inline constexpr DataType kInt32 = DataType::Int(32);
inline constexpr DataType kInt64 = DataType::Int(64);
inline constexpr DataType kFloat32 = DataType::Float(32);

inline const Type* TypeOf(const Expr* expr) { return expr->type; }
// Null if the expression is not a tensor.
inline const TensorType* TensorOf(const Expr* expr) { return As<TensorType>(expr->type); }
DataType DTypeOf(const Expr* expr);  // void if unknown
int RankOf(const Expr* expr);        // kUnknownDim if unknown
// The dimensions, or nothing if the shape is unknown.
std::optional<std::vector<const PrimExpr*>> DimsOf(const Expr* expr);
// The dimensions if all of them are constants.
std::optional<std::vector<int64_t>> StaticDimsOf(const Expr* expr);
// The elements of a constant of integers; nothing if the expression is not one.
std::optional<std::vector<int64_t>> ConstantInts(const Expr* expr);
// The first element of a constant of integers.
std::optional<int64_t> ConstantInt(const Expr* expr);
// The first element of a constant of floats.
std::optional<double> ConstantFloat(const Expr* expr);

}  // namespace iropt::relay
