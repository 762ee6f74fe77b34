#include "thread_copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "interpreter.h"

namespace iropt::eval {

namespace {

bool Contains(uint32_t axes, size_t axis) { return (axes >> axis & 1) != 0; }

}  // namespace

Pointer ThreadCopies::At(const Place& place, int64_t index) const {
  const int64_t begin = index * bytes;
  const Memory copy{place.memory.data + begin, place.memory.writable + begin, bytes, place.memory.written + begin};
  return {copy, 0, place.address + static_cast<uint64_t>(begin), data, this};
}

Pointer ThreadCopies::Find(const ThreadPositions& positions) const {
  std::vector<int64_t> bound(threads.size());
  uint32_t axes = 0;
  // An inner loop over the same axis hides the outer one.
  for (size_t i = depth; i < positions.size(); ++i) {
    const auto same = [&](const ThreadMemory::Axis& axis) { return axis.tag == positions[i].tag; };
    const auto axis = static_cast<size_t>(std::ranges::find_if(layout->axes, same) - layout->axes.begin());
    if (axis == threads.size()) continue;
    axes |= uint32_t{1} << axis;
    bound[axis] = positions[i].index;
  }
  const auto place = std::ranges::find(places, axes, &Place::axes);
  if (place == places.end()) return {};
  for (size_t axis = 0; axis < threads.size(); ++axis) {
    if (Contains(axes, axis) && bound[axis] >= threads[axis]) return {};
  }
  return At(*place, IndexOf(*place, bound));
}

int64_t ThreadCopies::IndexOf(const Place& place, const std::vector<int64_t>& positions) const {
  int64_t index = 0;
  for (size_t axis = 0; axis < threads.size(); ++axis) {
    if (Contains(place.axes, axis)) index = index * threads[axis] + positions[axis];
  }
  return index;
}

std::vector<int64_t> ThreadCopies::PositionsOf(const Place& place, int64_t index) const {
  std::vector<int64_t> positions(threads.size());
  for (size_t axis = threads.size(); axis-- > 0;) {
    if (!Contains(place.axes, axis)) continue;
    positions[axis] = index % threads[axis];
    index /= threads[axis];
  }
  return positions;
}

const ThreadMemory* Interpreter::LayoutOf(const tir::Var* data) {
  if (!thread_memory_known_) thread_memory_ = FindThreadMemory(body_);
  thread_memory_known_ = true;
  const auto found = thread_memory_.find(data);
  return found == thread_memory_.end() ? nullptr : &found->second;
}

bool Interpreter::Allocate(const tir::Var* data, int64_t count, DataType dtype, OwnedMemory* owned) {
  const ThreadMemory* layout = IsThreadMemory(data) ? LayoutOf(data) : nullptr;
  if (layout && !layout->axes.empty()) return AllocateCopies(data, *layout, count, dtype);
  Memory memory;
  owned->push_back(NewMemory(count, dtype, &memory));
  if (!owned->back()) return false;
  SetMemory(data, memory);
  return true;
}

bool Interpreter::CountThreads(const tir::Var* data, const ThreadMemory::Axis& axis, int64_t* count) {
  *count = 0;
  for (const PrimExpr* expr : axis.extents) {
    if (!IsKnownExtent(expr, [&](const tir::Var* var) { return env().Find(var) != nullptr; })) {
      return Fail(fmt::format("the number of threads of {} is not known where '{}' is allocated for each of them",
                              axis.tag, data->name));
    }
    int64_t extent = 0;
    if (!EvalInt(expr, &extent)) return false;
    *count = std::max(*count, extent);
  }
  return true;
}

bool Interpreter::AllocateCopies(const tir::Var* data, const ThreadMemory& layout, int64_t count, DataType dtype) {
  auto copies = std::make_shared<ThreadCopies>();
  copies->layout = &layout;
  copies->data = data;
  copies->depth = positions_.size();
  copies->threads.resize(layout.axes.size());
  for (size_t axis = 0; axis < layout.axes.size(); ++axis) {
    if (!CountThreads(data, layout.axes[axis], &copies->threads[axis])) return false;
  }
  for (const uint32_t axes : layout.places) {
    int64_t total = count;
    for (size_t axis = 0; axis < layout.axes.size(); ++axis) {
      if (Contains(axes, axis) && __builtin_mul_overflow(total, copies->threads[axis], &total))
        return Fail("an allocation is out of range");
    }
    ThreadCopies::Place place{.axes = axes, .memory = {}, .address = 0, .owned = nullptr};
    place.owned = NewMemory(total, dtype, &place.memory);
    if (!place.owned) return false;
    place.address = execution_.addresses.Map(place.memory);
    copies->places.push_back(std::move(place));
  }
  // NewMemory has checked that this does not overflow.
  copies->bytes = count * dtype.with_lanes(1).bytes() * dtype.lanes;
  const Pointer own = copies->Find(positions_);
  SetPointer(data, own.known() ? own : copies->At(copies->places.front(), 0));
  copies_.push_back(std::move(copies));
  return true;
}

void Interpreter::DropCopies(const ThreadCopies& copies) {
  for (const ThreadCopies::Place& place : copies.places) execution_.addresses.Unmap(place.address);
  std::erase_if(copies_, [&](const std::shared_ptr<ThreadCopies>& other) { return other.get() == &copies; });
}

void Interpreter::BindCopies() {
  for (const std::shared_ptr<ThreadCopies>& copies : copies_) {
    const Pointer own = copies->Find(positions_);
    if (!own.known()) continue;
    for (const tir::Var* data : copies->layout->pointers) {
      if (data->id < pointers_.size() && pointers_[data->id].copies == copies.get()) SetPointer(data, own);
    }
  }
}

bool Interpreter::StoreToCopies(const ElementAddress& element, int64_t bytes) {
  const ThreadCopies& copies = *element.pointer.copies;
  if (copies.places.size() == 1) return true;
  const Memory& own = element.pointer.memory;
  const auto is_within = [&](const ThreadCopies::Place& place) {
    const uint64_t address = element.pointer.address;
    return address >= place.address && address < place.address + static_cast<uint64_t>(place.memory.bytes);
  };
  const auto from = std::ranges::find_if(copies.places, is_within);
  if (from == copies.places.end()) return true;
  const int64_t own_index = static_cast<int64_t>(element.pointer.address - from->address) / copies.bytes;
  for (const ThreadCopies::Place& place : copies.places) {
    if (place.axes == from->axes) continue;
    std::vector<int64_t> positions = copies.PositionsOf(*from, own_index);
    // All positions on the axes that are bound there, but not here.
    ThreadCopies::Place free{.axes = place.axes & ~from->axes, .memory = {}, .address = 0, .owned = nullptr};
    int64_t total = 1;
    for (size_t axis = 0; axis < copies.threads.size(); ++axis) {
      if (Contains(free.axes, axis)) total *= copies.threads[axis];
    }
    for (int64_t i = 0; i < total; ++i) {
      if (!Step()) return false;
      const std::vector<int64_t> others = copies.PositionsOf(free, i);
      for (size_t axis = 0; axis < positions.size(); ++axis) {
        if (Contains(free.axes, axis)) positions[axis] = others[axis];
      }
      const Memory to = copies.At(place, copies.IndexOf(place, positions)).memory;
      std::copy_n(own.data + element.at, bytes, to.writable + element.at);
      std::copy_n(own.written + element.at, bytes, to.written + element.at);
    }
  }
  return true;
}

}  // namespace iropt::eval
