#include "driver/check/proof_report.h"

#include <nlohmann/json.hpp>

namespace iropt {

Status WriteProofs(const std::vector<ProofRecord>& proofs, AtomicFile& file) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ProofRecord& proof : proofs) {
    nlohmann::ordered_json row = {{"pass", proof.pass}, {"function", proof.function}, {"answer", NameOf(proof.answer)}};
    if (!proof.reason.empty()) row["reason"] = proof.reason;
    row["runs"] = proof.num_runs;
    row["seconds"] = proof.seconds;
    row["terms"] = proof.num_terms;
    row["queries"] = proof.num_queries;
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json report = {{"proofs", std::move(rows)}};
  file.stream().Append(report.dump() + "\n");
  return file.Commit();
}

}  // namespace iropt
