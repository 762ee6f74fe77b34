#include "memory.h"

namespace iropt::eval {

uint64_t AddressSpace::Map(const Memory& memory) {
  static constexpr uint64_t kGap = 64;  // so that the end of one piece is not the beginning of another
  const uint64_t address = next_;
  next_ += (static_cast<uint64_t>(memory.bytes) / kGap + 2) * kGap;
  pieces_.emplace(address, memory);
  live_bytes_ += static_cast<uint64_t>(memory.bytes);
  return address;
}

void AddressSpace::Unmap(uint64_t address) {
  const auto it = pieces_.find(address);
  if (it == pieces_.end()) return;
  live_bytes_ -= static_cast<uint64_t>(it->second.bytes);
  pieces_.erase(it);
  arrays_.erase(address);
}

Pointer AddressSpace::Find(uint64_t address) const {
  auto it = pieces_.upper_bound(address);
  if (it == pieces_.begin()) return {};
  --it;
  const uint64_t origin = address - it->first;
  if (origin > static_cast<uint64_t>(it->second.bytes)) return {};
  return {it->second, static_cast<int64_t>(origin), address, nullptr};
}

uint64_t AddressSpace::AddArray(ArrayRecord&& array) {
  const uint64_t address = Map({});
  arrays_.try_emplace(address, std::move(array));
  return address;
}

const ArrayRecord* AddressSpace::FindArray(uint64_t address) const { return arrays_.Find(address); }

}  // namespace iropt::eval
