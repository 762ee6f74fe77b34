// Rules that lower mathematical functions for a target.
#pragma once

#include <string>
#include <string_view>

#include "transform/tir/host/host_builder.h"

namespace iropt {

// The rules of a kind of target, and the ones that all kinds share.
class IntrinRules {
 public:
  // With `fast_math`, functions that are faster and less exact, where the target has them.
  IntrinRules(std::string_view target_kind, bool fast_math) : target_kind_(target_kind), fast_math_(fast_math) {}

  // Lowers the call to a call of a function of the compiler or of a library, or arithmetic with other intrinsics. Null
  // if it stays; then `error` says why if the target cannot compute it.
  const PrimExpr* Lower(const tir::Call& call, const HostBuilder& build, std::string& error) const;
  // a * b + c in one step; null if the compiler cannot do that.
  const PrimExpr* MultiplyAdd(DataType dtype, const PrimExpr* a, const PrimExpr* b, const PrimExpr* c,
                              const HostBuilder& build, std::string& error) const;

 private:
  const std::string_view target_kind_;
  const bool fast_math_;
};

}  // namespace iropt
