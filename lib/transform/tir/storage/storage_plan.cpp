#include "transform/tir/storage/storage_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/support/debug_output.h"
#include "iropt/support/lookup.h"
#include "transform/tir/storage/in_place.h"

namespace iropt {

namespace {

constexpr DebugChannel kStorageDebug("memory");

// The number of elements; 0 if it is not constant or too big.
uint64_t ConstantSize(const tir::Allocate& allocate) {
  int64_t size = 1;
  for (const PrimExpr* extent : allocate.extents) {
    const int64_t* value = arith::AsInt(extent);
    if (!value || *value < 0 || __builtin_mul_overflow(size, *value, &size)) return 0;
  }
  return static_cast<uint64_t>(size);
}

uint64_t ConstantBits(const tir::Allocate& allocate) {
  if (allocate.dtype.is_scalable()) return 0;
  uint64_t bits = 0;
  return __builtin_mul_overflow(ConstantSize(allocate), BitsOf(allocate.dtype), &bits) ? 0 : bits;
}

class StoragePlanner {
 public:
  StoragePlanner(const AccessSequence& sequence, StoragePlanOptions options) : sequence_(sequence), options_(options) {}

  AllocationPlan Plan() {
    FindLiveRanges();
    for (const AccessEvent& event : sequence_.events) {
      const auto* live = live_.Find(event.stmt);
      if (live && !event.ends()) Assign(*event.stmt, *live);
      PassScope(*event.stmt);
      if (!live || event.begins()) continue;
      for (const tir::Var* pointer : live->ends) {
        if (!taken_over_.contains(pointer)) Free(pointer);
      }
    }
    return std::move(plan_);
  }

 private:
  // The pointers that are used first, or last, in a statement.
  struct LiveRanges {
    std::vector<const tir::Var*> begins;
    std::vector<const tir::Var*> ends;
  };

  void FindLiveRanges() {
    LookupSet<const tir::Var*> seen;
    for (size_t i = sequence_.events.size(); i > 0; --i) {
      const AccessEvent& event = sequence_.events[i - 1];
      for (const tir::Var* pointer : event.touched) {
        if (seen.insert(pointer)) live_[event.stmt].ends.push_back(pointer);
      }
    }
    seen.clear();
    for (size_t i = 0; i < sequence_.events.size(); ++i) {
      if (sequence_.events[i].ends()) continue;
      const AccessEvent& event = sequence_.events[i + static_cast<size_t>(sequence_.events[i].to_pair)];
      for (const tir::Var* pointer : event.touched) {
        if (seen.insert(pointer)) live_[event.stmt].begins.push_back(pointer);
      }
    }
  }

  // Memory for the pointers that the statement uses first.
  void Assign(const tir::Stmt& stmt, const LiveRanges& live) {
    constexpr size_t kMaxTargets = 2;
    for (const tir::Var* pointer : live.begins) {
      const tir::Allocate& allocate = *sequence_.allocations.at(pointer);
      const StorageScope scope = StorageScope::Of(pointer->pointer ? pointer->pointer->scope : "");
      StorageEntry* entry = live.begins.size() <= kMaxTargets ? TakeOver(stmt, live, allocate, scope) : nullptr;
      const bool in_place = entry != nullptr;
      if (!entry) entry = Find(allocate, scope);
      if (kStorageDebug.is_on()) PrintChoice(*pointer, *entry, in_place);
      entry->allocs.push_back(&allocate);
      plan_.entry_of[pointer] = entry;
    }
  }

  static void PrintChoice(const tir::Var& pointer, const StorageEntry& entry, bool in_place) {
    if (entry.allocs.empty()) return kStorageDebug.Print(fmt::format("'{}' gets new memory", pointer.name));
    kStorageDebug.Print(fmt::format("'{}' {} the memory of '{}'", pointer.name, in_place ? "takes over" : "reuses",
                                    entry.allocs.back()->buffer_var->name));
  }

  // The memory of an operand that is used for the last time, if the statement can write its result there.
  StorageEntry* TakeOver(const tir::Stmt& stmt, const LiveRanges& live, const tir::Allocate& allocate,
                         const StorageScope& scope) {
    if (allocate.dtype.is_scalable()) return nullptr;
    std::optional<InPlaceOperands> operands;
    for (const tir::Var* source : live.ends) {
      const auto* found = plan_.entry_of.Find(source);
      if (!found || taken_over_.contains(source)) continue;
      StorageEntry* entry = *found;
      if (entry->scope != scope || entry->attach_scope != AttachScope(allocate, scope) ||
          entry->elem_type != allocate.dtype.with_lanes(1) || entry->const_nbits != ConstantBits(allocate))
        continue;
      if (!operands) operands.emplace(&stmt, allocate.buffer_var);
      if (!operands->Has(source)) continue;
      taken_over_.insert(source);
      return entry;
    }
    return nullptr;
  }

  // Threads and parallel loops have memory of their own.
  void PassScope(const tir::Stmt& stmt) {
    bool is_parallel = false;
    if (const auto* attr = As<tir::AttrStmt>(&stmt)) {
      is_parallel = tir::IsThreadKey(attr->attr_key);
    } else if (const auto* loop = As<tir::For>(&stmt)) {
      is_parallel = loop->for_kind == tir::ForKind::kParallel;
    }
    if (!is_parallel) return;
    if (scopes_.empty() || scopes_.back() != &stmt) return scopes_.push_back(&stmt);
    free_.erase(&stmt);
    scopes_.pop_back();
  }

  // Where memory is allocated: in the innermost parallel loop or launch of threads. Global memory is one thread's own
  // only in the last one of several launches in each other.
  const tir::Stmt* AttachScope(const tir::Allocate& allocate, const StorageScope& scope) const {
    if (scopes_.empty()) return nullptr;
    const tir::Stmt* around = scopes_.back();
    if (!Is<tir::AttrStmt>(around) || scope.rank != StorageRank::kGlobal) return around;
    return sequence_.launches.Lookup(allocate.buffer_var, To<tir::AttrStmt>(around));
  }

  StorageEntry* New(const tir::Allocate& allocate, const StorageScope& scope) {
    return &plan_.entries.emplace_back(StorageEntry{.attach_scope = AttachScope(allocate, scope),
                                                    .const_nbits = ConstantBits(allocate),
                                                    .scope = scope,
                                                    .elem_type = allocate.dtype.with_lanes(1)});
  }

  // Small arrays, those of one thread, and vectors of the length that the machine has become registers: their memory is
  // not shared.
  static bool IsRegister(const StorageScope& scope, DataType dtype, uint64_t const_nbits) {
    constexpr uint64_t kRegisterBits = 32;
    const bool is_small = const_nbits > 0 && const_nbits <= kRegisterBits;
    return dtype.is_scalable() ||
           (scope.tag.empty() && (scope.rank >= StorageRank::kWarp || dtype.is_handle() || is_small));
  }

  // Free memory for the allocation, or else new one.
  StorageEntry* Find(const tir::Allocate& allocate, const StorageScope& scope) {
    const uint64_t nbits = ConstantBits(allocate);
    if (!options_.reuse || allocate.extents.size() != 1 || IsRegister(scope, allocate.dtype, nbits))
      return New(allocate, scope);
    StorageEntry* entry = nbits != 0 ? TakeFree(nbits, allocate, scope) : TakeFree(allocate, scope);
    return entry ? entry : New(allocate, scope);
  }

  // The smallest memory that is big enough, or else the biggest one of this element type; in any case of similar size.
  StorageEntry* TakeFree(uint64_t nbits, const tir::Allocate& allocate, const StorageScope& scope) {
    const DataType dtype = allocate.dtype;
    constexpr uint64_t kMatchRange = 16;
    FreeMemory& free = FreeOf(allocate, scope);
    const auto take = [&](BySize::iterator it) {
      StorageEntry* entry = it->second;
      const std::pair<uint64_t, size_t> key = it->first;
      free.by_size.erase(key);
      free.of_type[entry->elem_type.raw()].by_size.erase(key);
      entry->const_nbits = std::max(nbits, entry->const_nbits);
      return entry;
    };
    FreeOfType& same_type = free.of_type[dtype.with_lanes(1).raw()];
    const bool is_vector = dtype.lanes != 1;
    if (options_.same_dtype_only && is_vector) return nullptr;
    BySize& big_enough = options_.same_dtype_only ? same_type.by_size : free.by_size;
    const auto big = big_enough.lower_bound({nbits, 0});
    if (big != big_enough.end() && big->first.first <= nbits * kMatchRange) return take(big);
    const auto small = same_type.by_size.lower_bound({nbits, 0});
    if (small == same_type.by_size.begin() || std::prev(small)->first.first < nbits / kMatchRange) return nullptr;
    return take(std::prev(small));
  }

  // The memory of unknown size that has been free for the longest time.
  StorageEntry* TakeFree(const tir::Allocate& allocate, const StorageScope& scope) {
    const DataType dtype = allocate.dtype;
    std::deque<StorageEntry*>& entries = FreeOf(allocate, scope).of_type[dtype.with_lanes(1).raw()].of_unknown_size;
    if (entries.empty() || (options_.same_dtype_only && dtype.lanes != 1)) return nullptr;
    StorageEntry* entry = entries.front();
    entries.pop_front();
    return entry;
  }

  void Free(const tir::Var* pointer) {
    StorageEntry* entry = plan_.entry_of.at(pointer);
    if (IsRegister(entry->scope, entry->allocs[0]->dtype, entry->const_nbits)) return;
    FreeMemory& free = free_[entry->attach_scope][Key(entry->scope)];
    if (entry->const_nbits == 0) return free.of_type[entry->elem_type.raw()].of_unknown_size.push_back(entry);
    const std::pair key(entry->const_nbits, num_freed_++);
    free.by_size.emplace(key, entry);
    free.of_type[entry->elem_type.raw()].by_size.emplace(key, entry);
  }

  // By size in bits; of one size, what was free first comes first.
  using BySize = std::map<std::pair<uint64_t, size_t>, StorageEntry*>;
  struct FreeOfType {
    BySize by_size;
    std::deque<StorageEntry*> of_unknown_size;
  };
  // Of one storage scope.
  struct FreeMemory {
    BySize by_size;
    LookupMap<uint32_t, FreeOfType> of_type;  // free storage by types of elements
  };
  using ScopeKey = std::tuple<StorageRank, std::string_view, std::string_view>;

  static ScopeKey Key(const StorageScope& scope) { return {scope.rank, scope.base, scope.tag}; }
  FreeMemory& FreeOf(const tir::Allocate& allocate, const StorageScope& scope) {
    return free_[AttachScope(allocate, scope)][Key(scope)];
  }

  const AccessSequence& sequence_;
  const StoragePlanOptions options_;
  AllocationPlan plan_;
  std::vector<const tir::Stmt*> scopes_;  // launches of threads and parallel loops, the outermost first
  LookupMap<const tir::Stmt*, LiveRanges> live_;
  LookupSet<const tir::Var*> taken_over_;
  // By the scope in which it is allocated.
  LookupMap<const tir::Stmt*, std::map<ScopeKey, FreeMemory>> free_;
  size_t num_freed_ = 0;
};

}  // namespace

AllocationPlan PlanStorage(const AccessSequence& sequence, StoragePlanOptions options) {
  return StoragePlanner(sequence, options).Plan();
}

}  // namespace iropt
