#include "iropt/pass/statistic.h"

#include "iropt/support/inherited.h"

namespace iropt {

using CurrentCounts = Inherited<StatisticCounts>;

void Statistic::Add(uint64_t n) const {
  if (StatisticCounts* counts = CurrentCounts::Current()) counts->Add(*this, n);
}

void StatisticCounts::Add(const Statistic& statistic, uint64_t n) {
  const std::scoped_lock lock(mutex_);
  values_[statistic] += n;
}

std::vector<StatisticCounts::Row> StatisticCounts::Rows() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Row> rows;
  for (const auto& [statistic, value] : values_) rows.push_back({statistic, value});
  return rows;
}

StatisticScope::StatisticScope(StatisticCounts& counts) : outer_(CurrentCounts::Exchange(&counts)) {}

StatisticScope::~StatisticScope() { CurrentCounts::Restore(outer_); }

}  // namespace iropt
