// The answers of -prove as JSON.
#pragma once

#include <vector>

#include "iropt/semantics/proof_record.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt {

// Writes {"proofs": [{"pass": ..., "function": ..., "answer": ..., ...}]}, and commits the file.
Status WriteProofs(const std::vector<ProofRecord>& proofs, AtomicFile& file);

}  // namespace iropt
