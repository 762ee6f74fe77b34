// Nodes as a hover shows them.
#pragma once

#include <string>
#include <string_view>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"

namespace iropt::lsp {

// T.Buffer((16, n), "float32")
std::string DescribeBuffer(const tir::Buffer& buffer);
// "x: R.Tensor((n, 4), dtype="float32")"; empty if nothing is known of the node.
std::string DescribeNode(std::string_view name, const Node* node);
// The values that a scalar takes, as loops, blocks and bindings of the function say: "0 <= i < 128"; empty if they are
// unknown.
std::string DescribeBounds(const tir::Var* var, const BaseFunc* func);

}  // namespace iropt::lsp
