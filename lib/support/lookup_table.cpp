#include "iropt/support/lookup_table.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace iropt::lookup_detail {

namespace {

// The smallest multiple of the strictest alignment with so many bytes.
constexpr size_t Aligned(size_t bytes) {
  constexpr size_t kAlignment = alignof(std::max_align_t);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::byte* Allocate(size_t bytes) { return static_cast<std::byte*>(operator new(bytes)); }

}  // namespace

void Slots::Swap(Slots& other) noexcept {
  std::swap(slots_, other.slots_);
  std::swap(chunk_, other.chunk_);
  std::swap(next_, other.next_);
  std::swap(end_, other.end_);
  std::swap(free_, other.free_);
  std::swap(mask_, other.mask_);
  std::swap(size_, other.size_);
  std::swap(most_, other.most_);
}

// Many tables have few entries: the first allocation has the first slots and the entries for them.
void Slots::Grow(size_t entry_size) {
  if (slots_ != nullptr) return Resize(2 * NumSlots());
  constexpr size_t kSlotBytes = kFirstSlots * sizeof(Slot);
  constexpr size_t kHead = Aligned(sizeof(Chunk));
  static_assert(kSlotBytes % alignof(std::max_align_t) == 0);
  constexpr uint32_t kNumEntries = MostOf(kFirstSlots);
  std::byte* memory = Allocate(kHead + kSlotBytes + kNumEntries * entry_size);
  next_ = memory + kHead + kSlotBytes;
  end_ = next_ + kNumEntries * entry_size;
  chunk_ = new (memory) Chunk{nullptr, next_};
  slots_ = reinterpret_cast<Slot*>(memory + kHead);
  std::uninitialized_fill_n(slots_, kFirstSlots, Slot{nullptr, 0});
  mask_ = kFirstSlots - 1;
  most_ = kNumEntries;
}

void Slots::AddChunk(size_t entry_size) {
  const size_t bytes = (most_ - size_) * entry_size;
  std::byte* memory = Allocate(Aligned(sizeof(Chunk)) + bytes);
  next_ = memory + Aligned(sizeof(Chunk));
  end_ = next_ + bytes;
  chunk_ = new (memory) Chunk{chunk_, next_};
}

void Slots::Remove(uint32_t tag, void* entry) {
  uint32_t gap = tag & mask_;
  while (slots_[gap].entry != entry) gap = (gap + 1) & mask_;
  // What follows moves into the gap, unless that is before the place where its probe sequence begins.
  for (uint32_t i = (gap + 1) & mask_; slots_[i].entry != nullptr; i = (i + 1) & mask_) {
    const uint32_t distance = (i - slots_[i].tag) & mask_;
    if (distance < ((i - gap) & mask_)) continue;
    slots_[gap] = slots_[i];
    gap = i;
  }
  slots_[gap].entry = nullptr;
  if (--size_ == 0) {
    free_ = nullptr;
    next_ = chunk_->first;
  } else {
    free_ = new (entry) void*(free_);
  }
}

void Slots::ReserveSlots(size_t size, size_t entry_size) {
  if (size == 0) return;
  if (slots_ == nullptr) Grow(entry_size);
  const size_t needed = std::bit_ceil(size / 3 * 4 + 4);
  if (size > most_) Resize(static_cast<uint32_t>(needed));
}

void Slots::Clear() {
  if (slots_ == nullptr) return;
  std::fill_n(slots_, NumSlots(), Slot{nullptr, 0});
  // The first chunk has the first slots.
  while (NumSlots() > kFirstSlots && chunk_->previous != nullptr) {
    Chunk* older = std::exchange(chunk_->previous, chunk_->previous->previous);
    operator delete(older);
  }
  free_ = nullptr;
  next_ = chunk_->first;
  size_ = 0;
}

// The new slots have an allocation of their own.
void Slots::Resize(uint32_t num_slots) {
  auto* slots = reinterpret_cast<Slot*>(Allocate(num_slots * sizeof(Slot)));
  std::uninitialized_fill_n(slots, num_slots, Slot{nullptr, 0});
  for (const Slot& slot : *this) {
    if (slot.entry == nullptr) continue;
    uint32_t i = slot.tag & (num_slots - 1);
    while (slots[i].entry != nullptr) i = (i + 1) & (num_slots - 1);
    slots[i] = slot;
  }
  if (NumSlots() > kFirstSlots) operator delete(slots_);
  slots_ = slots;
  mask_ = num_slots - 1;
  most_ = MostOf(num_slots);
}

void Slots::FreeMemory() {
  if (NumSlots() > kFirstSlots) operator delete(slots_);
  for (Chunk* chunk = chunk_; chunk != nullptr;) operator delete(std::exchange(chunk, chunk->previous));
}

}  // namespace iropt::lookup_detail
