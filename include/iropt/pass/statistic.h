// Counters of what passes do, for ir-opt -stats and for programs.
//
//   constexpr Statistic kMerged("MergeAdds", "merged-calls", "calls of R.add that were merged");
//   ...
//   kMerged.Add(merged);
//
// A pass counts in a variable of its own and adds the sum once for each function: adding takes a lock. A sum of 0
// counts, too: it shows that the pass ran. Without a StatisticScope, adding does nothing.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

namespace iropt {

class Statistic {
 public:
  // The texts must live as long as the counts: literals. A name is lower-case words joined by '-'; the description is a
  // phrase for a table. Two with the same pass and name are the same counter.
  constexpr Statistic(std::string_view pass, std::string_view name, std::string_view description)
      : pass_(pass), name_(name), description_(description) {}

  std::string_view pass() const { return pass_; }
  std::string_view name() const { return name_; }
  std::string_view description() const { return description_; }

  // Adds to the counts of the current scope. Thread-safe.
  void Add(uint64_t n) const;

 private:
  std::string_view pass_;
  std::string_view name_;
  std::string_view description_;
};

// The values of counters. Thread-safe.
class StatisticCounts {
 public:
  struct Row {
    Statistic statistic;
    uint64_t value = 0;
  };

  void Add(const Statistic& statistic, uint64_t n);
  // The counters that were added to, in the order of their passes and names.
  std::vector<Row> Rows() const;

 private:
  struct ByName {
    bool operator()(const Statistic& a, const Statistic& b) const {
      return a.pass() != b.pass() ? a.pass() < b.pass() : a.name() < b.name();
    }
  };

  mutable std::mutex mutex_;
  std::map<Statistic, uint64_t, ByName> values_;
};

// During its lifetime, counters of this thread and of the threads of its parallel loops add to `counts`, which must
// outlive it.
class StatisticScope {
 public:
  explicit StatisticScope(StatisticCounts& counts);
  StatisticScope(const StatisticScope&) = delete;
  StatisticScope& operator=(const StatisticScope&) = delete;
  ~StatisticScope();

 private:
  StatisticCounts* outer_;
};

}  // namespace iropt
