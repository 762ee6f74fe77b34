#include "iropt/semantics/proof_record.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt {

std::string_view NameOf(ProofRecord::Answer answer) {
  switch (answer) {
    case ProofRecord::Answer::kProved: return "proved";
    case ProofRecord::Answer::kRefuted: return "refuted";
    case ProofRecord::Answer::kNotDecided: break;
  }
  return "not decided";
}

std::string RenderProofs(std::span<const ProofRecord> proofs) {
  std::string text;
  for (const ProofRecord& proof : proofs) {
    text += fmt::format("{:11}  {} {}", NameOf(proof.answer), proof.pass.empty() ? "all passes" : proof.pass,
                        proof.function);
    if (!proof.reason.empty()) text += fmt::format(": {}", proof.reason);
    if (proof.answer == ProofRecord::Answer::kNotDecided) text += fmt::format("; {} runs agree", proof.num_runs);
    text += '\n';
  }
  const auto count = [&](ProofRecord::Answer answer) {
    return std::ranges::count(proofs, answer, &ProofRecord::answer);
  };
  return text + fmt::format("proofs: {} of {} (refuted: {})\n", count(ProofRecord::Answer::kProved), proofs.size(),
                            count(ProofRecord::Answer::kRefuted));
}

}  // namespace iropt
