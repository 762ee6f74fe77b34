// The search for the smallest test case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chunks.h"
#include "iropt/support/lookup.h"
#include "reductions.h"
#include "test_case.h"
#include "test_runner.h"

namespace iropt {

// Counts of one reduction.
struct ReductionCounts {
  size_t candidates = 0;
  size_t rejected = 0;   // ill-formed, or the same as one before
  size_t successes = 0;  // became the test case
  double seconds = 0;
};

class Reducer {
 public:
  // Called before each round of tests with the name of the reduction and the test case.
  using Watcher = std::function<void(std::string_view reduction, const TestCase& test_case)>;

  // Both must outlive it. The test case is interesting.
  Reducer(TestCase test_case, const TestCaseMaker& maker, TestRunner& runner, Watcher watcher);

  // Makes edits until none is possible any more, or until an interrupt.
  Status Run();

  const TestCase& test_case() const { return test_case_; }
  // By index in Reductions().
  const std::vector<ReductionCounts>& counts() const { return counts_; }

 private:
  // Result of a reduction of the test case: a candidate, or the text.
  struct Reduced {
    Candidate candidate = {};
    std::optional<std::string> text = {};
  };

  // Both return whether the test case changed. `size` is that of chunks of edits.
  Result<bool> Reduce(size_t reduction);
  Result<bool> MakeChunksOf(size_t reduction, Edits& edits, size_t size);
  // See FirstInteresting.
  Result<std::optional<size_t>> FindFirst(size_t reduction, Edits& edits, const std::vector<bool>& made,
                                          const std::vector<Chunk>& chunks);
  // The text with the chosen edits and those of the chunk; nothing if it is ill-formed.
  std::optional<std::string> TextWith(size_t reduction, Edits& edits, std::vector<bool> chosen,
                                      const Chunk& chunk) const;
  Reduced Apply(const Reduction& reduction, Edits& edits) const;

  TestCase test_case_;
  const TestCaseMaker& maker_;
  TestRunner& runner_;
  const Watcher watcher_;
  std::vector<ReductionCounts> counts_;
  LookupSet<uint64_t> seen_;  // hashes of texts that are the test case's or not interesting
};

}  // namespace iropt
