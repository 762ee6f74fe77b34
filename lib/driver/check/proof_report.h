// The answers of -prove as JSON, or as a page.
#pragma once

#include <string_view>
#include <vector>

#include "iropt/semantics/proof_record.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt {

// The begin of a page.
inline constexpr std::string_view kProofPageBegin = "<!DOCTYPE html>\n<!-- proofs of ir-opt -->\n";

// Writes {"proofs": [{"pass": ..., "function": ..., "answer": ..., ...}]}, or a page with the same and with numbers by
// pass and by reason, and commits the file.
Status WriteProofs(const std::vector<ProofRecord>& proofs, bool is_page, AtomicFile& file);

}  // namespace iropt
