// What TVM 0.25 added: operands that are not scalars, calls of operations on tiles and of device functions. Null after
// an error, as for all scalars.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "scalar_parser.h"

namespace iropt::text {

// Any value of Python as an operand of tir.tile_call and others that take such.
const PrimExpr* ToOperand(ScalarParser& p, const PyValue& value);
bool ToOperands(ScalarParser& p, const PyArgs& args, std::vector<const PrimExpr*>& operands);
const PrimExpr* ListOperand(ScalarParser& p, std::string_view op, std::span<const PrimExpr* const> items, Span span);
bool IsTileCall(std::string_view name);
bool IsDeviceCall(std::string_view name);
const PrimExpr* MakeTileCall(ScalarParser& p, std::string_view name, const PyArgs& args);
const PrimExpr* MakeDeviceCall(ScalarParser& p, std::string_view name, PyArgs& args);
const PrimExpr* MakeAttributedCall(ScalarParser& p, const PyArgs& args);

}  // namespace iropt::text
