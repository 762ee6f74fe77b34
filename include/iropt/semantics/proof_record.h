// The answers of -prove: one about each function around each pass that changed it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace iropt {

struct ProofRecord {
  enum class Answer : uint8_t {
    kProved,   // it computes the same for all inputs
    kRefuted,  // a run has shown that it does not
    kNotDecided,
  };
  std::string pass;  // empty: all passes
  std::string function;
  Answer answer = Answer::kNotDecided;
  std::string reason = {};  // of what is not proved
  size_t num_runs = 0;      // that agree
  double seconds = 0;       // of the proof, without runs
  size_t num_terms = 0;
  size_t num_queries = 0;  // to Z3
};

// The name of the answer: "proved", "refuted" or "not decided".
std::string_view NameOf(ProofRecord::Answer answer);

// A line for each function and pass, and one with their numbers.
std::string RenderProofs(std::span<const ProofRecord> proofs);

}  // namespace iropt
