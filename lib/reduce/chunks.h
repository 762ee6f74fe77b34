// Delta debugging: which edits can be made together.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "iropt/support/function_ref.h"

namespace iropt {

// A range of edits by number.
struct Chunk {
  size_t begin = 0;
  size_t end = 0;

  friend bool operator==(const Chunk& a, const Chunk& b) = default;
};

// Decides on candidates: the first one that is interesting, or nothing if none is. Candidate i makes the edits that
// are set in `made`, and those of chunks[i] in addition.
using FirstInteresting = FunctionRef<std::optional<size_t>(const std::vector<bool>& made, const std::vector<Chunk>&)>;

// One round of ddmin over `count` edits in chunks of `size`: each chunk that can be made in addition to those before it
// is. Returns the edits that were made. Tests at most twice as many candidates as there are chunks, apart from what
// `first` looks at ahead.
//
// Source: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002, in the form of
// llvm-reduce: without the step that keeps a single subset, because the first chunk is everything.
std::vector<bool> MakeChunks(size_t count, size_t size, FirstInteresting first);

}  // namespace iropt
