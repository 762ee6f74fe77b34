// Operators of ONNX that Relax does not have: calls as the reader of ONNX makes them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"

namespace iropt {

// R.call_pure_packed("onnx.<name>", inputs, R.str(key), R.prim_value(value), ...), whose type is not yet inferred, with
// the span of `like`.
const Call* MakeOnnxCall(std::string_view name, const std::vector<const Expr*>& inputs,
                         std::initializer_list<std::pair<std::string_view, int64_t>> attributes, const Type* type,
                         const Node& like, Workspace& workspace);

}  // namespace iropt
