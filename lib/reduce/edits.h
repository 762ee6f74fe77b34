// The edits that a reduction can make in a test case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"

namespace iropt {

// A walk asks at each place that it could change whether to do so. The first walk over a test case changes nothing and
// numbers the places; later ones change those that were chosen. Places have the same numbers whatever is chosen.
class Edits {
 public:
  // Returns whether to make an edit. `site` is a node of the test case; several edits of one differ in `alternative`.
  bool Take(const void* site, int64_t alternative = 0) {
    if (!choosing_) numbers_.try_emplace({site, alternative}, numbers_.size());
    if (!choosing_) return false;
    const auto* found = numbers_.Find({site, alternative});
    return found && chosen_[*found];
  }

  size_t size() const { return numbers_.size(); }
  // Ends the first walk. chosen[i] says whether the walks from now on make edit i.
  void Choose(std::vector<bool> chosen) {
    chosen_ = std::move(chosen);
    choosing_ = true;
  }

 private:
  using Key = std::pair<const void*, int64_t>;
  struct Hash {
    size_t operator()(const Key& key) const {
      return HashCombine(std::hash<const void*>()(key.first), static_cast<uint64_t>(key.second));
    }
  };

  LookupMap<Key, size_t, Hash> numbers_;
  std::vector<bool> chosen_;
  bool choosing_ = false;
};

}  // namespace iropt
