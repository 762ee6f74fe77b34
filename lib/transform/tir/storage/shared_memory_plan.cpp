#include "transform/tir/storage/shared_memory_plan.h"

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <vector>

#include "iropt/ir/tir/builder.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

using Allocations = std::unordered_map<const tir::Var*, const tir::Allocate*>;
using Layer = std::vector<const tir::Var*>;

// Memory for several allocations. Those of a layer lie one after the other; another layer is used at other times:
//
//   | A: 4096 bytes | B: 4096 bytes |     layers = {{A, B}, {C}}
//   |        C: 8192 bytes          |
struct SharedEntry {
  uint64_t const_nbits = 0;  // the size; 0 if it is not constant
  std::vector<Layer> layers = {};
};

// The allocations whose use begins, and ends, at a statement.
struct LiveEvent {
  Layer begins;
  Layer ends;
};

class SharedMemoryPlanner {
 public:
  SharedMemoryPlanner(const AccessSequence& sequence, const Allocations& wanted, const arith::PrimBuilder& make)
      : sequence_(sequence), wanted_(wanted), make_(make) {}

  SharedMemoryPlan Plan() {
    FindLiveRanges();
    for (const AccessEvent& event : sequence_.events) Visit(event);
    return Place();
  }

 private:
  void FindLiveRanges() {
    const std::vector<AccessEvent>& events = sequence_.events;
    LookupSet<const tir::Var*> seen;
    const auto is_new = [&](const tir::Var* var) { return wanted_.contains(var) && seen.insert(var); };
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      for (const tir::Var* var : event->touched) {
        if (is_new(var)) live_[event->stmt].ends.push_back(var);
      }
    }
    seen.clear();
    for (size_t i = 0; i < events.size(); ++i) {
      if (events[i].ends()) continue;
      const AccessEvent& end = events[i + static_cast<size_t>(events[i].to_pair)];
      for (const tir::Var* var : end.touched) {
        if (is_new(var)) live_[end.stmt].begins.push_back(var);
      }
    }
  }

  void Visit(const AccessEvent& event) {
    const auto* found = live_.Find(event.stmt);
    if (!found) return;
    const LiveEvent& live = *found;
    // The buffers that a statement reads and writes are in use together: threads run it at different times.
    if (!event.ends()) {
      for (const tir::Var* var : live.begins) entry_of_[var] = Find(var);
    }
    if (event.begins()) return;
    for (const tir::Var* var : live.ends) Free(entry_of_.at(var));
  }

  static uint64_t ConstBits(const tir::Allocate& allocate) {
    uint64_t nbits = static_cast<uint64_t>(allocate.dtype.bits) * static_cast<uint64_t>(allocate.dtype.lanes);
    for (const PrimExpr* extent : allocate.extents) {
      const int64_t* size = arith::AsInt(extent);
      if (!size || *size < 0 || __builtin_mul_overflow(nbits, static_cast<uint64_t>(*size), &nbits)) return 0;
    }
    return nbits;
  }
  // Small arrays go to registers.
  static bool IsSmall(uint64_t nbits) { return nbits > 0 && nbits <= 32; }

  SharedEntry* New(const tir::Var* var, uint64_t nbits) {
    entries_.push_back({nbits, {{var}}});
    return &entries_.back();
  }

  SharedEntry* Find(const tir::Var* var) {
    constexpr uint64_t kMatchRange = 16;
    const uint64_t nbits = ConstBits(*wanted_.at(var));
    if (IsSmall(nbits)) return New(var, nbits);
    if (nbits == 0) return FindOfUnknownSize(var);
    const auto big = free_.lower_bound(nbits);
    if (big != free_.end() && big->first <= nbits * kMatchRange) {
      SharedEntry* entry = big->second;
      free_.erase(big);
      entry->layers.push_back({var});
      return entry;
    }
    return JoinSmaller(var, nbits, big);
  }

  // Memory of smaller sizes, from the greatest one on, until it is enough.
  SharedEntry* JoinSmaller(const tir::Var* var, uint64_t nbits, std::multimap<uint64_t, SharedEntry*>::iterator end) {
    auto begin = end;
    uint64_t found = 0;
    std::vector<Layer> layers;
    while (begin != free_.begin() && found < nbits) {
      --begin;
      const SharedEntry& smaller = *begin->second;
      found += smaller.const_nbits;
      if (smaller.layers.size() > layers.size()) layers.resize(smaller.layers.size());
      for (size_t i = 0; i < smaller.layers.size(); ++i) {
        layers[i].insert(layers[i].end(), smaller.layers[i].begin(), smaller.layers[i].end());
      }
    }
    if (found == 0) return New(var, nbits);
    free_.erase(begin, end);
    layers.push_back({var});
    entries_.push_back({std::max(nbits, found), std::move(layers)});
    return &entries_.back();
  }

  // The size of the memory that it takes over may be another one, so it has a layer of its own.
  SharedEntry* FindOfUnknownSize(const tir::Var* var) {
    if (free_of_unknown_size_.empty()) return New(var, 0);
    SharedEntry* entry = free_of_unknown_size_.front();
    free_of_unknown_size_.pop_front();
    entry->layers.push_back({var});
    return entry;
  }

  void Free(SharedEntry* entry) {
    if (IsSmall(entry->const_nbits)) {
      small_.push_back(entry);
    } else if (entry->const_nbits != 0) {
      free_.emplace(entry->const_nbits, entry);
    } else {
      free_of_unknown_size_.push_back(entry);
    }
  }

  // All entries are free at the end.
  SharedMemoryPlan Place() {
    std::vector<const SharedEntry*> entries;
    for (const auto& [nbits, entry] : free_) entries.push_back(entry);
    entries.insert(entries.end(), free_of_unknown_size_.begin(), free_of_unknown_size_.end());
    entries.insert(entries.end(), small_.begin(), small_.end());
    SharedMemoryPlan plan{make_.Int(0, DataType::Int(32)), {}};
    for (const SharedEntry* entry : entries) {
      const PrimExpr* size = make_.Int(0, DataType::Int(32));
      for (const Layer& layer : entry->layers) size = make_.Max(size, PlaceLayer(layer, plan));
      plan.bytes = make_.Add(plan.bytes, size);
    }
    return plan;
  }

  // The size of the layer.
  const PrimExpr* PlaceLayer(const Layer& layer, SharedMemoryPlan& plan) const {
    const PrimExpr* size = make_.Int(0, DataType::Int(32));
    for (const tir::Var* var : layer) {
      const tir::Allocate& allocate = *wanted_.at(var);
      const int64_t element = allocate.dtype.bytes();
      const PrimExpr* align = make_.Int(std::max<int64_t>(element, tir::kAllocAlignment), DataType::Int(32));
      const PrimExpr* rest = make_.FloorMod(make_.Add(plan.bytes, size), align);
      size = make_.Add(size, make_.FloorMod(make_.Sub(align, rest), align));
      plan.offsets[var] = make_.Add(plan.bytes, size);
      size = make_.Add(size, make_.Mul(allocate.extents[0], make_.Const(element, allocate.extents[0]->dtype)));
    }
    return size;
  }

  const AccessSequence& sequence_;
  const Allocations& wanted_;
  const arith::PrimBuilder& make_;
  LookupMap<const tir::Stmt*, LiveEvent> live_;
  std::deque<SharedEntry> entries_;
  LookupMap<const tir::Var*, SharedEntry*> entry_of_;
  std::multimap<uint64_t, SharedEntry*> free_;  // by size
  std::list<SharedEntry*> free_of_unknown_size_;
  std::vector<SharedEntry*> small_;  // no longer in use
};

}  // namespace

SharedMemoryPlan PlanSharedMemory(const AccessSequence& sequence, const Allocations& wanted,
                                  const arith::PrimBuilder& make) {
  return SharedMemoryPlanner(sequence, wanted, make).Plan();
}

}  // namespace iropt
