// Types of values that are not tensors of numbers, as text: "seq(tensor(float)[2,N,?])". Modules keep them so, for such
// values are objects in Relax.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/onnx/model.h"
#include "iropt/ir/relax/expr.h"

namespace iropt::onnx {

std::string ToText(const ValueType& type);
// Nullopt if the text is not such a type. Names of dimensions are views of the text.
std::optional<ValueType> TypeFromText(std::string_view text);

// Returns whether a stated type says what a type of Relax cannot, or does not: null stands for that of a parameter,
// whose symbolic dimensions have the stated names if these are identifiers.
bool SaysMoreThan(const ValueType& stated, const Type* type);
// The types of the results of a function's body.
std::vector<const Type*> ResultTypesOf(const SeqExpr& body);

}  // namespace iropt::onnx
