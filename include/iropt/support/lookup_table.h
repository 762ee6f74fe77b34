// The table under LookupMap and LookupSet (lookup.h): open addressing with linear probing over entries that never move.
//
// A slot holds bits of the hash next to the address of its entry, so that a lookup touches an entry only if it is
// almost surely the right one. Entries lie in chunks, each about twice as big as the one before: adding one takes no
// allocation of its own, and none of the old ones moves. A removal closes the gap in its probe sequence, so that there
// are not tombstones. The tables of libraries either move their entries or allocate each of them.
//
// Source: Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithms L and R.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace iropt::lookup_detail {

// The slots and the memory of the entries, whatever their type is. It neither makes nor destroys entries.
class Slots {
 public:
  struct Slot {
    void* entry;  // null in an empty slot
    uint32_t tag;
  };

  Slots() = default;
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  ~Slots() {
    if (slots_ != nullptr) FreeMemory();
  }
  void Swap(Slots& other) noexcept;

  uint32_t size() const { return size_; }
  const Slot* begin() const { return slots_; }
  const Slot* end() const { return slots_ + NumSlots(); }

  // Spreads the hash, which may be the number or address itself.
  static uint32_t TagOf(size_t hash) { return static_cast<uint32_t>((uint64_t{hash} * 0x9e3779b97f4a7c15) >> 32); }
  // The entry with the tag for which is_key(entry) holds, or null. O(1) for good hashes.
  template <class F>
  void* Find(uint32_t tag, F&& is_key) const {
    if (size_ == 0) return nullptr;
    for (uint32_t i = tag & mask_; slots_[i].entry != nullptr; i = (i + 1) & mask_) {
      if (slots_[i].tag == tag && is_key(slots_[i].entry)) return slots_[i].entry;
    }
    return nullptr;
  }

  // Memory for an entry, which Add adds when it was made. The size is that of all entries, a multiple of that of an
  // address. O(1) amortized.
  void* Reserve(size_t entry_size) {
    if (size_ == most_) Grow(entry_size);
    if (free_ != nullptr) return std::exchange(free_, *static_cast<void**>(free_));
    if (next_ == end_) AddChunk(entry_size);
    return std::exchange(next_, next_ + entry_size);
  }
  void Add(uint32_t tag, void* entry) {
    uint32_t i = tag & mask_;
    while (slots_[i].entry != nullptr) i = (i + 1) & mask_;
    slots_[i] = {entry, tag};
    ++size_;
  }
  // Removes an entry that was destroyed.
  void Remove(uint32_t tag, void* entry);
  // Makes room for so many entries in the slots.
  void ReserveSlots(size_t size, size_t entry_size);
  // Removes all entries, and keeps the slots and the biggest chunk. O(slots).
  void Clear();

 private:
  struct Chunk {
    Chunk* previous;
    std::byte* first;  // entry
  };
  // Three of four slots are used at most.
  static constexpr uint32_t kFirstSlots = 8;
  static constexpr uint32_t MostOf(uint32_t num_slots) { return num_slots / 4 * 3; }

  uint32_t NumSlots() const { return slots_ == nullptr ? 0 : mask_ + 1; }
  void Grow(size_t entry_size);
  void Resize(uint32_t num_slots);
  void AddChunk(size_t entry_size);
  void FreeMemory();

  Slot* slots_ = nullptr;
  Chunk* chunk_ = nullptr;     // the newest
  std::byte* next_ = nullptr;  // what is left of it
  std::byte* end_ = nullptr;
  void* free_ = nullptr;  // the place of a removed entry, which has the address of the next
  uint32_t mask_ = 0;
  uint32_t size_ = 0;
  uint32_t most_ = 0;  // entries that the slots have room for
};

// Key is the type of keys, Entry what is stored for one, and KeyOf()(entry) its key.
template <class Key, class Entry, class KeyOf, class Hash, class Equal>
class Table {
 public:
  Table() = default;
  Table(const Hash& hash, const Equal& equal) : hash_(hash), equal_(equal) {}
  Table(const Table& other) : hash_(other.hash_), equal_(other.equal_) {
    slots_.ReserveSlots(other.size(), kSize);
    for (const Slots::Slot& slot : other.slots_) {
      if (slot.entry != nullptr) Emplace(slot.tag, EntryAt(slot.entry));
    }
  }
  Table(Table&& other) noexcept : hash_(std::move(other.hash_)), equal_(std::move(other.equal_)) {
    slots_.Swap(other.slots_);
  }
  Table& operator=(Table other) noexcept {
    std::swap(hash_, other.hash_);
    std::swap(equal_, other.equal_);
    slots_.Swap(other.slots_);
    return *this;
  }
  ~Table() { DestroyAll(); }

  size_t size() const { return slots_.size(); }
  Entry* Find(const Key& key) const { return slots_.size() == 0 ? nullptr : Find(Slots::TagOf(hash_(key)), key); }
  // The entry of the key, made of the arguments unless there is one, and whether it is new.
  template <class... Args>
  std::pair<Entry*, bool> TryEmplace(const Key& key, Args&&... args) {
    const uint32_t tag = Slots::TagOf(hash_(key));
    if (Entry* entry = Find(tag, key)) return {entry, false};
    return {Emplace(tag, std::forward<Args>(args)...), true};
  }
  bool Erase(const Key& key) {
    const uint32_t tag = Slots::TagOf(hash_(key));
    Entry* entry = Find(tag, key);
    if (entry == nullptr) return false;
    Erase(tag, entry);
    return true;
  }
  template <class F>
  void EraseIf(F&& holds) {
    std::vector<Slots::Slot> erased;
    for (const Slots::Slot& slot : slots_) {
      if (slot.entry != nullptr && holds(EntryAt(slot.entry))) erased.push_back(slot);
    }
    for (const Slots::Slot& slot : erased) Erase(slot.tag, &EntryAt(slot.entry));
  }
  void Clear() {
    DestroyAll();
    slots_.Clear();
  }
  void Reserve(size_t size) { slots_.ReserveSlots(size, kSize); }

  // Calls f(entry) for all entries, up to the first for which it returns false.
  template <class F>
  bool AllOf(F&& f) const {
    for (const Slots::Slot& slot : slots_) {
      if (slot.entry != nullptr && !f(EntryAt(slot.entry))) return false;
    }
    return true;
  }

 private:
  // The places of removed entries hold addresses.
  static constexpr size_t kEntry = sizeof(Entry);  // NOLINT(bugprone-sizeof-expression): keys of sets may be addresses
  static constexpr size_t kSize = (kEntry + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);

  static Entry& EntryAt(void* place) { return *std::launder(static_cast<Entry*>(place)); }
  Entry* Find(uint32_t tag, const Key& key) const {
    void* place = slots_.Find(tag, [&](void* entry) { return equal_(KeyOf()(EntryAt(entry)), key); });
    return place == nullptr ? nullptr : &EntryAt(place);
  }
  // If the entry cannot be made, its place is not used until the table is cleared.
  template <class... Args>
  Entry* Emplace(uint32_t tag, Args&&... args) {
    auto* entry = new (slots_.Reserve(kSize)) Entry(std::forward<Args>(args)...);
    slots_.Add(tag, entry);
    return entry;
  }
  void Erase(uint32_t tag, Entry* entry) {
    entry->~Entry();
    slots_.Remove(tag, entry);
  }
  void DestroyAll() {
    if constexpr (!std::is_trivially_destructible_v<Entry>) AllOf([](Entry& entry) { return entry.~Entry(), true; });
  }

  static_assert(alignof(Entry) <= alignof(std::max_align_t));

  Slots slots_;
  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Equal equal_;
};

}  // namespace iropt::lookup_detail
