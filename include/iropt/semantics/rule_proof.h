// Proofs of rewriting rules: that the replacement computes what the pattern does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/pass/pass_info.h"
#include "iropt/semantics/options.h"
#include "iropt/semantics/proof_record.h"

namespace iropt {

// The floats for which a rule was proved, from all to some.
enum class FloatLaws : uint8_t {
  kBits,      // the result is the same in every bit
  kRounding,  // it may be rounded in another way
  kFinite,    // there are no infinities and NaNs
};

struct RuleProof {
  ProofRecord::Answer answer = ProofRecord::Answer::kNotDecided;
  FloatLaws laws = FloatLaws::kBits;             // that the proof needs
  size_t num_proved = 0;                         // types of the variables for which there is a proof
  size_t num_types = 0;                          // that were tried, and to which the rule applies
  bool is_of_any_rank = false;                   // a proof that does not depend on ranks was found as well
  std::string types = {};                        // of a refutation, or of the first that was not proved
  std::string reason = {};                       // of what is not proved
  std::vector<std::string> counterexample = {};  // the difference and the inputs, of a run
};

// Proves a rule for all sizes of the types of its variables. A dtype that is not known stands for eight of them, a rank
// that is not known for those from 0 to 4, and a shape for equal ones and some that are broadcast; elementwise rules
// are proved for tensors of unknown rank, too. What the rule
// changes on purpose, and ProofOptions::reals, say which laws the proof may need; a rule that is not proved is run.
RuleProof ProveRule(const Function& rule, std::string_view name, std::span<const PassChange> changes,
                    const SemanticCheckOptions& options);

std::string_view DescribeLaws(FloatLaws laws);

}  // namespace iropt
