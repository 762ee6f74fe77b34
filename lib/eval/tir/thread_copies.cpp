#include "thread_copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "interpreter.h"

namespace iropt::eval {

Pointer ThreadCopies::At(const Place& place, int64_t index) const {
  const int64_t begin = index * bytes;
  const Memory copy{place.memory.data + begin, place.memory.writable + begin, bytes, place.memory.written + begin};
  return {copy, 0, place.address + static_cast<uint64_t>(begin), data, this};
}

Pointer ThreadCopies::Find(const ThreadPositions& positions) const {
  std::vector<int64_t> bound(threads.size());
  const uint32_t axes =
      BoundAxes(*layout, positions, depth, [&](size_t axis, const ThreadPosition& at) { bound[axis] = at.index; });
  const auto place = std::ranges::find(places, axes, &Place::axes);
  if (place == places.end()) return {};
  for (size_t axis = 0; axis < threads.size(); ++axis) {
    if (HasAxis(axes, axis) && bound[axis] >= threads[axis]) return {};
  }
  return At(*place, IndexOf(*place, bound));
}

int64_t ThreadCopies::IndexOf(const Place& place, const std::vector<int64_t>& positions) const {
  int64_t index = 0;
  for (size_t axis = 0; axis < threads.size(); ++axis) {
    if (HasAxis(place.axes, axis)) index = index * threads[axis] + positions[axis];
  }
  return index;
}

std::vector<int64_t> ThreadCopies::PositionsOf(const Place& place, int64_t index) const {
  std::vector<int64_t> positions(threads.size());
  for (size_t axis = threads.size(); axis-- > 0;) {
    if (!HasAxis(place.axes, axis)) continue;
    positions[axis] = index % threads[axis];
    index /= threads[axis];
  }
  return positions;
}

bool ThreadCopies::Spread(const Pointer& pointer, int64_t at, int64_t size, FunctionRef<bool()> step) const {
  if (places.size() == 1) return true;
  const Memory& own = pointer.memory;
  const auto is_within = [&](const Place& place) {
    return pointer.address >= place.address &&
           pointer.address < place.address + static_cast<uint64_t>(place.memory.bytes);
  };
  const auto from = std::ranges::find_if(places, is_within);
  if (from == places.end()) return true;
  const int64_t own_index = static_cast<int64_t>(pointer.address - from->address) / bytes;
  for (const Place& place : places) {
    if (place.axes == from->axes) continue;
    std::vector<int64_t> positions = PositionsOf(*from, own_index);
    // All positions on the axes that are bound there, but not here.
    Place free{.axes = place.axes & ~from->axes, .memory = {}, .address = 0, .owned = nullptr};
    int64_t total = 1;
    for (size_t axis = 0; axis < threads.size(); ++axis) {
      if (HasAxis(free.axes, axis)) total *= threads[axis];
    }
    for (int64_t i = 0; i < total; ++i) {
      if (!step()) return false;
      const std::vector<int64_t> others = PositionsOf(free, i);
      for (size_t axis = 0; axis < positions.size(); ++axis) {
        if (HasAxis(free.axes, axis)) positions[axis] = others[axis];
      }
      const Memory to = At(place, IndexOf(place, positions)).memory;
      std::copy_n(own.data + at, size, to.writable + at);
      std::copy_n(own.written + at, size, to.written + at);
    }
  }
  return true;
}

}  // namespace iropt::eval
