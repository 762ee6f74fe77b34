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

inline constexpr int64_t kOpsetOfBlocks = 21;  // of scales of blocks, and of integers of 4 bits
inline constexpr int64_t kOpsetOfAxes = 13;    // of scales along an axis

// R.call_pure_packed("onnx.<name>", inputs, R.str(key), R.prim_value(value), ...), whose type is not yet inferred, with
// the span of `like`.
const Call* MakeOnnxCall(std::string_view name, const std::vector<const Expr*>& inputs,
                         std::initializer_list<std::pair<std::string_view, int64_t>> attributes, const Type* type,
                         const Node& like, Workspace& workspace);

// A module that was read from ONNX will be written with an operator set of at least this version, and, if it
// `contributes`, with that of onnxruntime.
void RequireOpset(Module& module, int64_t version, bool contributes);

}  // namespace iropt
