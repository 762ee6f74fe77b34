// The memory scopes of tensors on GPUs that can keep them in textures: Adreno, with OpenCL.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"

namespace iropt {

inline constexpr std::string_view kPlainScope = "global";

// The sizes that a texture must be smaller than.
struct TextureLimits {
  explicit TextureLimits(const DictAttr& target);
  int64_t spatial;
  int64_t depth;
};

// The operands of a call; of call_tir those of the PrimFunc.
std::span<const Expr* const> ScopedOperands(const Call& call);

// Memory scopes of the operands and results of the calls of a function.
class TextureScopes {
 public:
  struct CallScopes {
    const Call* call;
    const Var* var;  // that it is bound to
    // Of the result: of the different scopes that its uses want, the one that was asked for last.
    std::string_view result = kPlainScope;
    // One for each of ScopedOperands; empty for other operands than tensors.
    std::vector<std::string_view> operands = {};
  };

  TextureScopes(const Module& module, const Function& function, const TextureLimits& limits);

  // The calls of operators and PrimFuncs on tensors of known shape, in the order of the program.
  const std::vector<CallScopes>& calls() const { return calls_; }
  // Null if it is not one of these.
  const CallScopes* Find(const Call* call) const;
  // The scope that the first use of the variable wants; empty if there is none.
  std::string_view First(const Var* var) const;

 private:
  class Collector;

  std::vector<CallScopes> calls_;
  LookupMap<const Call*, size_t> by_call_;
  LookupMap<const Var*, std::vector<std::string_view>> wanted_;  // each scope once, in the order of the uses
};

}  // namespace iropt
