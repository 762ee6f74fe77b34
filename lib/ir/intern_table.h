// A concurrent set of entries that are made once and never removed, for interning. A lookup takes no lock and writes
// nothing; an insertion takes the lock of one shard of the table.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "iropt/support/arena.h"

namespace iropt {

class InternTable {
 public:
  // The entry for which equal(entry) holds among those of this hash, or null.
  template <class Equal>
  const void* Find(uint64_t hash, Equal&& equal) const {
    return FindIn(shard(hash).table.load(std::memory_order_acquire), hash, equal);
  }

  // Returns the entry that Find returns, or else one that make(arena) makes. `make` runs under the lock of a shard and
  // must not use this table.
  template <class Equal, class Make>
  const void* FindOrMake(uint64_t hash, Equal&& equal, Make&& make) {
    Shard& s = shard(hash);
    if (const void* found = FindIn(s.table.load(std::memory_order_acquire), hash, equal)) return found;
    const std::scoped_lock lock(s.mutex);
    // Another thread may have made it since.
    const Table* table = s.table.load(std::memory_order_relaxed);
    if (const void* found = FindIn(table, hash, equal)) return found;
    const void* made = make(s.arena);
    Insert(s, hash, made);
    return made;
  }

 private:
  // An entry is published by the store of its pointer; its hash is written before.
  struct Slot {
    std::atomic<uint64_t> hash = 0;
    std::atomic<const void*> entry = nullptr;
  };
  struct Table {
    explicit Table(size_t capacity) : mask(capacity - 1), slots(std::make_unique<Slot[]>(capacity)) {}
    size_t mask;
    size_t count = 0;
    std::unique_ptr<Slot[]> slots;
  };
  struct Shard {
    std::mutex mutex;
    std::atomic<Table*> table = nullptr;
    // All tables that this shard ever had, because a reader may still be in an old one; together they are at most
    // twice as big as the last.
    std::vector<std::unique_ptr<Table>> tables;
    Arena arena;
  };
  static constexpr size_t kShardBits = 3;
  static constexpr size_t kFirstCapacity = 64;

  Shard& shard(uint64_t hash) { return shards_[hash >> (64 - kShardBits)]; }
  const Shard& shard(uint64_t hash) const { return shards_[hash >> (64 - kShardBits)]; }

  template <class Equal>
  static const void* FindIn(const Table* table, uint64_t hash, Equal& equal) {
    if (table == nullptr) return nullptr;
    for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
      const Slot& slot = table->slots[i];
      const void* entry = slot.entry.load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (slot.hash.load(std::memory_order_relaxed) == hash && equal(entry)) return entry;
    }
  }

  static void Put(Table& table, uint64_t hash, const void* entry) {
    size_t i = hash & table.mask;
    while (table.slots[i].entry.load(std::memory_order_relaxed) != nullptr) i = (i + 1) & table.mask;
    table.slots[i].hash.store(hash, std::memory_order_relaxed);
    table.slots[i].entry.store(entry, std::memory_order_release);
    ++table.count;
  }

  static void Insert(Shard& s, uint64_t hash, const void* entry) {
    Table* table = s.table.load(std::memory_order_relaxed);
    // At most half full, so that a miss is fast.
    if (table == nullptr || table->count * 2 > table->mask) {
      auto bigger = std::make_unique<Table>(table ? (table->mask + 1) * 2 : kFirstCapacity);
      for (size_t i = 0; table != nullptr && i <= table->mask; ++i) {
        const Slot& slot = table->slots[i];
        const void* old = slot.entry.load(std::memory_order_relaxed);
        if (old != nullptr) Put(*bigger, slot.hash.load(std::memory_order_relaxed), old);
      }
      table = bigger.get();
      s.tables.push_back(std::move(bigger));
      s.table.store(table, std::memory_order_release);
    }
    Put(*table, hash, entry);
  }

  std::array<Shard, size_t{1} << kShardBits> shards_;
};

}  // namespace iropt
