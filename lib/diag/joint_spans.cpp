#include "iropt/diag/joint_spans.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

namespace iropt {

namespace {

using Places = std::vector<std::pair<uint32_t, uint32_t>>;  // begins and ends

// Each list of places once. Lists stay for the rest of the process: spans do not say when they are gone.
class JointTable {
 public:
  // The place of the list; nothing if the table is full.
  std::optional<uint32_t> Add(const Places& places) {
    const std::unique_lock lock(mutex_);
    const auto found = indices_.find(places);
    if (found != indices_.end()) return found->second;
    if (lists_.size() == kMostJoints) return std::nullopt;
    const auto index = static_cast<uint32_t>(lists_.size());
    lists_.push_back(&indices_.emplace(places, index).first->first);
    return index;
  }
  Places Find(uint32_t index) const {
    const std::shared_lock lock(mutex_);
    return index < lists_.size() ? *lists_[index] : Places();
  }

 private:
  static constexpr size_t kMostJoints = UINT32_MAX - kFirstJointOffset;

  mutable std::shared_mutex mutex_;
  std::map<Places, uint32_t> indices_;
  std::deque<const Places*> lists_;
};

JointTable& Table() {
  static JointTable table;
  return table;
}

}  // namespace

SourceSpan Join(std::span<const SourceSpan> spans) {
  constexpr size_t kMostParts = 32;
  Places places;
  for (const SourceSpan span : spans) {
    if (!span.known()) continue;
    for (const SourceSpan part : PartsOf(span)) {
      const std::pair place(part.begin, part.end);
      if (std::ranges::find(places, place) == places.end() && places.size() < kMostParts) places.push_back(place);
    }
  }
  if (places.empty()) return {};
  const SourceSpan first{places.front().first, places.front().second};
  if (places.size() == 1) return first;
  const std::optional<uint32_t> index = Table().Add(places);
  if (!index) return first;
  return {kFirstJointOffset + *index, kFirstJointOffset + *index};
}

std::vector<SourceSpan> PartsOf(SourceSpan span) {
  if (!IsJoint(span)) return {span};
  std::vector<SourceSpan> parts;
  for (const auto& [begin, end] : Table().Find(span.begin - kFirstJointOffset)) parts.push_back({begin, end});
  if (parts.empty()) parts.emplace_back();
  return parts;
}

}  // namespace iropt
