// The message of an assertion: a string, or a call of tir.assert_message with the kind of the error and parts of it.
#pragma once

#include <string>

#include "iropt/ir/tir/expr.h"

namespace iropt {

// The text of the message, without the kind of the error; "no message" for other expressions.
std::string AssertMessageText(const PrimExpr* message);

}  // namespace iropt
