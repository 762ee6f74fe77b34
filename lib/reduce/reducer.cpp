#include "reducer.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "iropt/pass/timing.h"
#include "iropt/support/hash.h"

namespace iropt {

Reducer::Reducer(TestCase test_case, const TestCaseMaker& maker, TestRunner& runner, Watcher watcher)
    : test_case_(std::move(test_case)),
      maker_(maker),
      runner_(runner),
      watcher_(std::move(watcher)),
      counts_(Reductions().size()) {
  seen_.insert(HashString(test_case_.text));
}

Status Reducer::Run() {
  bool changed = true;
  while (changed && !runner_.interrupted()) {
    changed = false;
    for (size_t i = 0; i < counts_.size() && !runner_.interrupted(); ++i) {
      const Stopwatch watch;
      IROPT_ASSIGN_OR_RETURN(const bool reduced, Reduce(i));
      counts_[i].seconds += watch.Read().wall_seconds;
      changed |= reduced;
    }
  }
  return {};
}

Result<bool> Reducer::Reduce(size_t reduction) {
  bool changed = false;
  size_t size = SIZE_MAX;
  while (!runner_.interrupted()) {
    watcher_(Reductions()[reduction].name, test_case_);
    Edits edits;
    static_cast<void>(Apply(Reductions()[reduction], edits));
    if (edits.size() == 0) return changed;
    size = std::min(size, edits.size());
    IROPT_ASSIGN_OR_RETURN(const bool made, MakeChunksOf(reduction, edits, size));
    changed |= made;
    if (size == 1) return changed;
    size /= 2;
  }
  return changed;
}

Result<bool> Reducer::MakeChunksOf(size_t reduction, Edits& edits, size_t size) {
  std::optional<TestCase> best;
  Status status;
  MakeChunks(edits.size(), size, [&](const std::vector<bool>& made, const std::vector<Chunk>& chunks) {
    Result<std::optional<size_t>> found = FindFirst(reduction, edits, made, chunks);
    if (!found.ok()) status = found.TakeError();
    if (!found.ok() || !*found) return std::optional<size_t>();
    ++counts_[reduction].successes;
    best = maker_.Read(*TextWith(reduction, edits, made, chunks[**found]));
    return *found;
  });
  const bool changed = best.has_value();
  if (changed) test_case_ = *std::move(best);
  if (!status.ok()) return status.TakeError();
  return changed;
}

Result<std::optional<size_t>> Reducer::FindFirst(size_t reduction, Edits& edits, const std::vector<bool>& made,
                                                 const std::vector<Chunk>& chunks) {
  ReductionCounts& counts = counts_[reduction];
  std::vector<std::pair<size_t, uint64_t>> tested;  // numbers and hashes of candidates
  std::string text;
  const auto text_of = [&](size_t i) -> const std::string* {
    ++counts.candidates;
    std::optional<std::string> candidate = TextWith(reduction, edits, made, chunks[i]);
    const uint64_t hash = HashString(candidate.value_or(std::string()));
    if (!candidate || seen_.contains(hash) || !maker_.Read(*candidate)) {
      ++counts.rejected;
      return nullptr;
    }
    tested.emplace_back(i, hash);
    text = *std::move(candidate);
    return &text;
  };
  IROPT_ASSIGN_OR_RETURN(const std::optional<size_t> found, runner_.FindFirst(chunks.size(), text_of));
  if (runner_.interrupted()) return found;
  for (const auto& [i, hash] : tested) {
    if (i <= found.value_or(i)) seen_.insert(hash);
  }
  return found;
}

std::optional<std::string> Reducer::TextWith(size_t reduction, Edits& edits, std::vector<bool> chosen,
                                             const Chunk& chunk) const {
  std::fill_n(chosen.begin() + static_cast<std::ptrdiff_t>(chunk.begin), chunk.end - chunk.begin, true);
  edits.Choose(std::move(chosen));
  const Reduced reduced = Apply(Reductions()[reduction], edits);
  return reduced.text ? reduced.text : maker_.Print(reduced.candidate);
}

Reducer::Reduced Reducer::Apply(const Reduction& reduction, Edits& edits) const {
  if (reduction.rewrite_text) return {.candidate = {}, .text = reduction.rewrite_text(test_case_.text, edits)};
  Reduced reduced{.candidate = test_case_.parts, .text = {}};
  reduction.rewrite(reduced.candidate, edits);
  return reduced;
}

}  // namespace iropt
