// The calls of PrimFuncs that calls of operators became, so that an equal call reuses the PrimFunc without making it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Of one function. Two calls are equal if they have the same operator, attributes and types, if the same operands are
// repeated, and if operands that are not tensors are the same literals. Only calls whose operands are variables that
// hold tensors, tuples of such, R.prim_value and R.shape count: the value of a constant may be part of a PrimFunc, and
// other variables are looked up.
class LegalizedCalls {
 public:
  // Key that decides the PrimFunc of a call, and the tensors among the operands in order.
  struct Signature {
    std::vector<uint64_t> words;
    std::vector<const Expr*> tensors;  // each once
    uint64_t hash = 0;
  };
  // Nothing for a call that is not remembered.
  static std::optional<Signature> SignatureOf(const Call& call);

  // The call that replaces a call of this signature; null if it is not known.
  const Call* Find(const Signature& signature, Workspace& workspace) const;
  // Remembers a call of R.call_tir that has no tensors but those of the signature.
  void Add(Signature signature, const Call& result);

 private:
  struct Entry {
    std::vector<uint64_t> words;
    const Call* result;
    std::vector<uint32_t> operands;  // numbers of tensors
  };
  LookupMultiMap<uint64_t, Entry> entries_;
};

}  // namespace iropt
