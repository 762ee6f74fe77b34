#include "iropt/op/assert_message.h"

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"

namespace iropt {

std::string AssertMessageText(const PrimExpr* message) {
  if (const auto* text = As<tir::StringImm>(message)) return std::string(text->value);
  const tir::Call* call = CallOf(message, op::kTirAssertMessage);
  if (!call || call->args.empty()) return "no message";
  std::string result;
  for (const PrimExpr* part : call->args.span().subspan(1)) {
    const auto* text = As<tir::StringImm>(part);
    if (text) result += text->value;
  }
  return result;
}

}  // namespace iropt
