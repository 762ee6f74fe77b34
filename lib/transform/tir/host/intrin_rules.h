// How compilers compute mathematical functions.
#pragma once

#include <optional>
#include <string_view>

#include "transform/tir/host/host_builder.h"

namespace iropt {

// The rules of a kind of target.
class IntrinRules {
 public:
  // Nothing if the kind has rules that are not known here.
  static std::optional<IntrinRules> Of(std::string_view target_kind);

  // What the call becomes: a call of a function of the compiler or of a library, or arithmetic with other intrinsics.
  // Null if it stays.
  const PrimExpr* Lower(const tir::Call& call, const HostBuilder& build) const;
  // a * b + c in one step; null if the compiler cannot do that.
  const PrimExpr* MultiplyAdd(DataType dtype, const PrimExpr* a, const PrimExpr* b, const PrimExpr* c,
                              const HostBuilder& build) const;

 private:
  explicit IntrinRules(bool is_llvm) : is_llvm_(is_llvm) {}

  const bool is_llvm_;
};

}  // namespace iropt
