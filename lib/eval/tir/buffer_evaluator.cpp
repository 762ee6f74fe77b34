#include "buffer_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "iropt/eval/tir/thread_sync.h"
#include "iropt/ir/narrow_element.h"

namespace iropt::eval {

namespace {

// The size of an element of a buffer, which may be a vector.
uint64_t ElementBytes(DataType dtype) {
  return static_cast<uint64_t>(dtype.with_lanes(1).bytes()) * static_cast<uint64_t>(dtype.lanes);
}

// False if the product overflows.
bool RowMajor(std::span<const int64_t> shape, std::vector<int64_t>* strides) {
  strides->resize(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    (*strides)[i] = stride;
    if (shape[i] < 0 || __builtin_mul_overflow(stride, std::max<int64_t>(shape[i], 1), &stride)) return false;
  }
  return true;
}

bool Product(std::span<const int64_t> extents, int64_t* count) {
  *count = 1;
  return std::ranges::all_of(
      extents, [&](int64_t extent) { return extent >= 0 && !__builtin_mul_overflow(*count, extent, count); });
}

}  // namespace

BufferEvaluator::~BufferEvaluator() {
  for (const uint64_t address : mapped_) execution_.addresses.Unmap(address);
}

bool BufferEvaluator::Step() {
  if (execution_.work_left == 0)
    return Fail(fmt::format("takes more than {} steps", execution_.available_work), ErrorCode::Budget);
  --execution_.work_left;
  constexpr uint64_t kOften = uint64_t{1} << 16;
  if (execution_.work_left % kOften == 0 && execution_.limits.on_work) (*execution_.limits.on_work)();
  return true;
}

// Clearing memory takes time, too.
bool BufferEvaluator::StepsOfMemory(int64_t bytes) {
  constexpr int64_t kBytesOfStep = 256;
  for (int64_t i = 0; i < bytes; i += kBytesOfStep) {
    if (!Step()) return false;
  }
  return true;
}

// ---- Memory

Pointer BufferEvaluator::PointerOf(const tir::Var* data) {
  if (data->id < thread_.pointers.size() && thread_.pointers[data->id].known()) return thread_.pointers[data->id];
  // A computed pointer: the value of the variable is the address.
  const Scalar* address = env().Find(data);
  return address ? execution_.addresses.Find(static_cast<uint64_t>(address->integer)) : Pointer{};
}

void BufferEvaluator::SetPointer(const tir::Var* data, const Pointer& place) {
  if (data->id >= thread_.pointers.size()) thread_.pointers.resize(data->id + size_t{1});
  thread_.pointers[data->id] = place;
  env().Bind(data, Scalar::Int(static_cast<int64_t>(place.address), DataType::Handle()));
}

void BufferEvaluator::SetMemory(const tir::Var* data, const Memory& memory) {
  SetPointer(data, {memory, 0, execution_.addresses.Map(memory), IsThreadMemory(data) ? data : nullptr});
}

void BufferEvaluator::DropMemory(const tir::Var* data) {
  const Pointer place = std::exchange(thread_.pointers[data->id], {});
  if (place.copies) {
    DropCopies(*place.copies);
  } else {
    execution_.addresses.Unmap(place.address);
  }
  std::erase(shared_memory_, data);
  env().Unbind(data);
}

std::shared_ptr<Storage> BufferEvaluator::NewMemory(int64_t elements, DataType dtype, Memory* memory) {
  uint64_t bytes = 0;
  if (dtype.lanes < 1 || !IsStoredType(dtype.with_lanes(1)) || elements < 0) {
    Fail(fmt::format("cannot allocate {} elements of {}", elements, dtype.ToString()));
    return nullptr;
  }
  if (__builtin_mul_overflow(static_cast<uint64_t>(elements), ElementBytes(dtype), &bytes) ||
      bytes > execution_.limits.max_bytes || bytes > INT64_MAX / 2) {
    Fail(fmt::format("a buffer of {} elements is over the limit of {} bytes", elements, execution_.limits.max_bytes),
         ErrorCode::Budget);
    return nullptr;
  }
  // Recursion and threads multiply allocations, each of which is within the limit. Half of their memory marks bytes.
  static constexpr uint64_t kMaxTensors = 2;
  if ((execution_.addresses.live_bytes() + bytes) / kMaxTensors > execution_.limits.max_bytes) {
    Fail(fmt::format("all buffers together are over {} times the limit of {} bytes", kMaxTensors,
                     execution_.limits.max_bytes),
         ErrorCode::Budget);
    return nullptr;
  }
  if (!StepsOfMemory(static_cast<int64_t>(bytes))) return nullptr;
  std::shared_ptr<Storage> owned = Storage::Make(bytes, Storage::Tracking::kOn);
  *memory = {owned->data(), owned->data(), static_cast<int64_t>(bytes), owned->marks()};
  return owned;
}

bool BufferEvaluator::ReadInts(uint64_t address, int64_t count, std::vector<int64_t>* values) {
  const Pointer place = execution_.addresses.Find(address);
  if (!place.known() || count < 0) return Fail("a shape is read at an address without one");
  for (int64_t i = 0; i < count; ++i) {
    Scalar value = Scalar::Int(0);
    if (!LoadAt({place, place.origin + i * 8}, DataType::Int(64), "shape", &value)) return false;
    values->push_back(value.integer);
  }
  return true;
}

// ---- Memory of threads

bool BufferEvaluator::Allocate(const tir::Var* data, int64_t count, DataType dtype, OwnedMemory* owned) {
  if (plan_.HasCopies(data)) return AllocateCopies(data, *plan_.LayoutOf(data), count, dtype);
  Memory memory;
  owned->push_back(NewMemory(count, dtype, &memory));
  if (!owned->back()) return false;
  SetMemory(data, memory);
  if (IsBlockMemory(data)) shared_memory_.push_back(data);
  return true;
}

void NumberThread(const ExecutionState& execution, ThreadState& thread) {
  if (execution.races) thread.number = execution.races->NumberOf(thread.positions);
}

bool BufferEvaluator::ForgetSharedMemory() {
  for (const tir::Var* data : shared_memory_) {
    const Memory& memory = thread_.pointers[data->id].memory;
    if (!StepsOfMemory(memory.bytes)) return false;
    if (memory.written) std::fill_n(memory.written, memory.bytes, std::byte{0});
  }
  return true;
}

bool BufferEvaluator::CountThreads(const tir::Var* data, const ThreadMemory::Axis& axis, int64_t* count) {
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

bool BufferEvaluator::AllocateCopies(const tir::Var* data, const ThreadMemory& layout, int64_t count, DataType dtype) {
  auto copies = std::make_shared<ThreadCopies>();
  copies->layout = &layout;
  copies->data = data;
  copies->depth = thread_.positions.size();
  copies->threads.resize(layout.axes.size());
  for (size_t axis = 0; axis < layout.axes.size(); ++axis) {
    if (!CountThreads(data, layout.axes[axis], &copies->threads[axis])) return false;
  }
  for (const uint32_t axes : layout.places) {
    int64_t total = count;
    for (size_t axis = 0; axis < layout.axes.size(); ++axis) {
      if (HasAxis(axes, axis) && __builtin_mul_overflow(total, copies->threads[axis], &total))
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
  const Pointer own = copies->Find(thread_.positions);
  SetPointer(data, own.known() ? own : copies->At(copies->places.front(), 0));
  thread_.copies.push_back(std::move(copies));
  return true;
}

void BufferEvaluator::DropCopies(const ThreadCopies& copies) {
  for (const ThreadCopies::Place& place : copies.places) execution_.addresses.Unmap(place.address);
  std::erase_if(thread_.copies, [&](const std::shared_ptr<ThreadCopies>& other) { return other.get() == &copies; });
}

void BufferEvaluator::BindCopies() {
  for (const std::shared_ptr<ThreadCopies>& copies : thread_.copies) {
    const Pointer own = copies->Find(thread_.positions);
    if (!own.known()) continue;
    for (const tir::Var* data : copies->layout->pointers) {
      if (data->id < thread_.pointers.size() && thread_.pointers[data->id].copies == copies.get())
        SetPointer(data, own);
    }
  }
}

// ---- Positions of elements

bool BufferEvaluator::EvalInts(List<const PrimExpr*> exprs, std::vector<int64_t>* values) {
  values->resize(exprs.size());
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (!EvalInt(exprs[i], &(*values)[i])) return false;
  }
  return true;
}

bool BufferEvaluator::EvalExtents(List<const PrimExpr*> exprs, std::vector<int64_t>* extents, int64_t* count) {
  return EvalInts(exprs, extents) && (Product(*extents, count) || Fail("an allocation is out of range"));
}

BufferView& BufferEvaluator::ViewOf(const tir::Buffer& buffer) {
  if (buffer.id >= thread_.views.size()) thread_.views.resize(buffer.id + size_t{1});
  return thread_.views[buffer.id];
}

bool BufferEvaluator::CountElements(const tir::Buffer& buffer, int64_t* count) {
  const BufferView& view = ViewOf(buffer);
  // The first stride counts what all the others pad.
  const bool fits = view.shape.empty() || buffer.strides.empty()
                        ? Product(view.shape, count)
                        : Product(std::array{view.shape[0], view.strides[0]}, count);
  return fits || Fail("an allocation is out of range");
}

bool BufferEvaluator::Match(const PrimExpr* expr, int64_t actual, std::string_view what) {
  if (const auto* var = As<tir::Var>(expr); var && !env().Find(var)) {
    env().Bind(var, Scalar::Int(actual, var->dtype));
    return true;
  }
  int64_t expected = 0;
  if (!EvalInt(expr, &expected)) return false;
  return expected == actual || Fail(fmt::format("{} is {} where {} is expected", what, actual, expected));
}

bool BufferEvaluator::DeclareAs(const tir::Buffer& buffer, std::span<const int64_t> shape,
                                std::span<const int64_t> strides, int64_t offset) {
  if (shape.size() != buffer.shape.size() || buffer.strides.size() > strides.size())
    return Fail(fmt::format("buffer '{}' has a different rank", buffer.name));
  // Dimensions that are variables first: others may be computed from them.
  for (const bool variables : {true, false}) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (Is<tir::Var>(buffer.shape[i]) != variables) continue;
      if (!Match(buffer.shape[i], shape[i], fmt::format("dimension {} of buffer '{}'", i, buffer.name))) return false;
    }
  }
  for (size_t i = 0; i < buffer.strides.size(); ++i) {
    if (!Match(buffer.strides[i], strides[i], fmt::format("stride {} of buffer '{}'", i, buffer.name))) return false;
  }
  if (Is<tir::Var>(buffer.elem_offset) && !Match(buffer.elem_offset, offset, "the offset of a buffer")) return false;
  ViewOf(buffer) = {true, offset, {shape.begin(), shape.end()}, {strides.begin(), strides.end()}, {}};
  return true;
}

bool BufferEvaluator::ResolveView(const tir::Buffer& buffer, BufferView* view) {
  view->known = true;
  if (buffer.elem_offset && !EvalInt(buffer.elem_offset, &view->offset)) return false;
  if (!EvalInts(buffer.shape, &view->shape)) return false;
  if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size())
    return Fail(fmt::format("buffer '{}' has a different number of strides and dimensions", buffer.name));
  if (!buffer.strides.empty()) return EvalInts(buffer.strides, &view->strides);
  return RowMajor(view->shape, &view->strides) ||
         Fail(fmt::format("the shape of buffer '{}' is out of range", buffer.name));
}

bool BufferEvaluator::Declare(const tir::Buffer& buffer) {
  BufferView view;
  if (!ResolveView(buffer, &view)) return false;
  ViewOf(buffer) = std::move(view);
  return true;
}

bool BufferEvaluator::Locate(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lane, bool bounded,
                             ElementAddress* element) {
  element->pointer = PointerOf(buffer.data);
  if (!element->pointer.known() || buffer.dtype.lanes < 1 || !IsStoredType(buffer.dtype.with_lanes(1)))
    return Fail(fmt::format("buffer '{}' has no memory", buffer.name));
  // A buffer that no statement declares is a view whose shape may change from one access to the next.
  BufferView undeclared;
  // (Indices may load, but they declare nothing, so that the pointer stays valid.)
  const BufferView* view =
      buffer.id < thread_.views.size() && thread_.views[buffer.id].known ? &thread_.views[buffer.id] : &undeclared;
  if (view == &undeclared && !ResolveView(buffer, &undeclared)) return false;
  if (indices.size() != view->shape.size())
    return Fail(fmt::format("buffer '{}' is indexed with a wrong number of indices", buffer.name));
  // All lanes of a vector element have the same index.
  const int width = buffer.dtype.lanes;
  int64_t at = view->offset;
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t index = 0;
    if (!EvalInt(indices[i], &index, lane / width)) return false;
    const int64_t min = view->mins.empty() ? 0 : view->mins[i];
    if (bounded && (index < min || index >= view->shape[i]))
      return Fail(fmt::format("index {} is out of range for dimension {} of buffer '{}'", index, i, buffer.name));
    at = WrapAdd(at, WrapMul(index, view->strides[i]));
  }
  const int64_t size = static_cast<int64_t>(ElementBytes(buffer.dtype));
  element->at = WrapAdd(WrapAdd(element->pointer.origin, WrapMul(at, size)), lane % width * (size / width));
  return true;
}

// ---- Elements

bool BufferEvaluator::LoadAt(const ElementAddress& element, DataType dtype, std::string_view name, Scalar* result) {
  const Memory& memory = element.pointer.memory;
  if (element.at < 0 || element.at > memory.bytes - dtype.bytes())
    return Fail(fmt::format("an access to buffer '{}' is out of range", name));
  if (memory.written && !(execution_.facts && execution_.facts->samples_loops)) {
    const std::byte* marks = memory.written + element.at;
    if (std::any_of(marks, marks + dtype.bytes(), [](std::byte mark) { return mark == std::byte{0}; })) {
      if (execution_.facts) execution_.facts->reads_uninitialized = true;
      return Fail(fmt::format("an element of buffer '{}' is read before it is initialized", name));
    }
  }
  *result = LoadScalar(dtype, memory.data + element.at);
  return true;
}

bool BufferEvaluator::StoreAt(const ElementAddress& element, const Scalar& value, std::string_view name) {
  const Memory& memory = element.pointer.memory;
  if (element.at < 0 || element.at > memory.bytes - value.dtype.bytes())
    return Fail(fmt::format("an access to buffer '{}' is out of range", name));
  if (!memory.writable) return Fail(fmt::format("buffer '{}' is an input and must not be written", name));
  StoreScalar(value, memory.writable + element.at);
  if (memory.written) std::fill_n(memory.written + element.at, value.dtype.bytes(), std::byte{1});
  return !element.pointer.copies ||
         element.pointer.copies->Spread(element.pointer, element.at, value.dtype.bytes(), [this] { return Step(); });
}

namespace {

bool EndsAtRace(const ExecutionState& execution) {
  const RaceDetector* races = execution.races;
  return races && execution.facts->ends_at_race && !(races->race().empty() && races->unsynchronized().empty());
}

}  // namespace

bool BufferEvaluator::Load(const tir::BufferLoad& load, int lane, Scalar* result) {
  const DataType dtype = load.buffer->dtype.with_lanes(1);
  if (load.predicate) {
    bool active = false;
    if (!EvalBool(load.predicate, &active, lane)) return false;
    if (!active) return CastScalar(Scalar::Int(0), dtype, result);
  }
  ElementAddress element;
  if (!Locate(*load.buffer, load.indices, lane, /*bounded=*/true, &element)) return false;
  if (execution_.races && execution_.races->active()) NoteLoad(element, load);
  if (EndsAtRace(execution_)) return Fail("a race ends the run");
  return LoadAt(element, dtype, load.buffer->name, result);
}

bool BufferEvaluator::StoreLane(const tir::BufferStore& store, int lane, const Scalar& value) {
  bool active = true;
  if (store.predicate && !EvalBool(store.predicate, &active, lane)) return false;
  if (!active) return true;
  Scalar converted;
  if (!CastScalar(value, store.buffer->dtype.with_lanes(1), &converted)) return Fail("a value does not fit its buffer");
  ElementAddress element;
  if (!Locate(*store.buffer, store.indices, lane, /*bounded=*/true, &element)) return false;
  if (execution_.races && execution_.races->active()) NoteStore(element, store, converted);
  if (EndsAtRace(execution_)) return Fail("a race ends the run");
  return StoreAt(element, converted, store.buffer->name);
}

namespace {

uint64_t AddressOf(const Pointer& pointer, int64_t at) {
  return pointer.address - static_cast<uint64_t>(pointer.origin) + static_cast<uint64_t>(at);
}

}  // namespace

void BufferEvaluator::NoteLoad(const ElementAddress& element, const tir::BufferLoad& load) {
  const tir::Buffer& buffer = *load.buffer;
  const uint64_t address = AddressOf(element.pointer, element.at);
  execution_.races->Read({address, buffer.data, buffer.name, plan_.IsAccumulated(buffer.data), &load}, thread_.number);
}

void BufferEvaluator::NoteStore(const ElementAddress& element, const tir::BufferStore& store, const Scalar& value) {
  const tir::Buffer& buffer = *store.buffer;
  const Memory& memory = element.pointer.memory;
  const int64_t bytes = value.dtype.bytes();
  std::array<std::byte, 16> stored;
  if (element.at < 0 || element.at > memory.bytes - bytes || bytes > std::ssize(stored)) return;
  StoreScalar(value, stored.data());
  const bool has_value =
      !memory.written || std::all_of(memory.written + element.at, memory.written + element.at + bytes,
                                     [](std::byte mark) { return mark != std::byte{0}; });
  const bool changes = !has_value || !std::equal(stored.data(), stored.data() + bytes, memory.data + element.at);
  const uint64_t address = AddressOf(element.pointer, element.at);
  execution_.races->Write({address, buffer.data, buffer.name, plan_.IsAccumulated(buffer.data), &store}, thread_.number,
                          changes);
}

// T.undef() is stored: the element loses its value.
bool BufferEvaluator::ForgetLane(const tir::BufferStore& store, int lane) {
  ElementAddress element;
  if (!Locate(*store.buffer, store.indices, lane, /*bounded=*/true, &element)) return false;
  const int64_t bytes = store.buffer->dtype.with_lanes(1).bytes();
  const Memory& memory = element.pointer.memory;
  if (element.at < 0 || element.at > memory.bytes - bytes || !memory.writable)
    return Fail(fmt::format("an access to buffer '{}' is out of range", store.buffer->name));
  if (memory.written) std::fill_n(memory.written + element.at, bytes, std::byte{0});
  return !element.pointer.copies ||
         element.pointer.copies->Spread(element.pointer, element.at, bytes, [this] { return Step(); });
}

// ---- Parameters

namespace {

Memory MemoryOf(const NDArray& tensor, bool writable) {
  static constexpr std::byte kNothing{};
  Memory memory{tensor.data() ? tensor.data() : &kNothing, nullptr, static_cast<int64_t>(tensor.num_bytes()), nullptr};
  if (Storage* storage = tensor.storage().get()) {
    if (writable) memory.writable = storage->data() + tensor.storage_offset();
    if (storage->marks()) memory.written = storage->marks() + tensor.storage_offset();
  }
  return memory;
}

}  // namespace

bool BufferEvaluator::BindParam(const tir::Var* param, const NDArray& tensor, bool writable) {
  if (!param->dtype.is_handle() || param->pointer)
    return Fail(fmt::format("the argument for parameter '{}' is of the wrong kind", param->name));
  const auto map = [&](const Memory& memory) {
    mapped_.push_back(execution_.addresses.Map(memory));
    return mapped_.back();
  };
  const std::span<const int64_t> shape = tensor.shape();
  ArrayRecord array;
  array.data = map(MemoryOf(tensor, writable));
  const auto bytes = std::as_bytes(shape);
  if (!shape.empty()) array.shape_address = map({bytes.data(), nullptr, std::ssize(bytes), nullptr});
  array.shape.assign(shape.begin(), shape.end());
  array.dtype = tensor.dtype();
  mapped_.push_back(execution_.addresses.AddArray(std::move(array)));
  env().Bind(param, MakePointer(mapped_.back()));
  return true;
}

bool BufferEvaluator::BindParam(const tir::Buffer& buffer, const NDArray& tensor, bool writable) {
  if (buffer.dtype != tensor.dtype()) {
    return Fail(fmt::format("buffer '{}' is of {}, its argument of {}", buffer.name, buffer.dtype.ToString(),
                            tensor.dtype().ToString()));
  }
  std::vector<int64_t> strides;
  if (!RowMajor(tensor.shape(), &strides)) return Fail("the shape of an argument is out of range");
  SetMemory(buffer.data, MemoryOf(tensor, writable));
  return DeclareAs(buffer, tensor.shape(), strides, 0);
}

bool BufferEvaluator::BindParam(const tir::Var* param, const tir::Buffer* buffer, const Scalar& value) {
  Scalar converted = value;
  const bool fits =
      param->dtype.is_handle() ? value.dtype.is_handle() : ConvertArgument(value, param->dtype, &converted);
  if (!fits)
    return Fail(
        fmt::format("the argument for parameter '{}' is not a value of {}", param->name, param->dtype.ToString()));
  env().Bind(param, converted);
  if (!buffer) return true;
  const auto address = static_cast<uint64_t>(value.integer);
  if (const ArrayRecord* array = execution_.addresses.FindArray(address)) return BindArray(*buffer, *array);
  // The elements themselves, in the shape that the buffer declares.
  const Pointer place = execution_.addresses.Find(address);
  if (!place.known()) return Fail(fmt::format("the argument for buffer '{}' points to no memory", buffer->name));
  SetPointer(buffer->data, place);
  if (Is<tir::Var>(buffer->elem_offset) && !Match(buffer->elem_offset, 0, "the offset of a buffer")) return false;
  return Declare(*buffer);
}

bool BufferEvaluator::BindArray(const tir::Buffer& buffer, const ArrayRecord& array) {
  if (buffer.dtype != array.dtype) {
    return Fail(fmt::format("buffer '{}' is of {}, its argument of {}", buffer.name, buffer.dtype.ToString(),
                            array.dtype.ToString()));
  }
  const Pointer place = execution_.addresses.Find(array.data);
  if (!place.known()) return Fail(fmt::format("the argument for buffer '{}' points to no memory", buffer.name));
  SetPointer(buffer.data, place);
  std::vector<int64_t> strides = array.strides;
  if (strides.empty() && !RowMajor(array.shape, &strides)) return Fail("the shape of an argument is out of range");
  return DeclareAs(buffer, array.shape, strides, array.elem_offset);
}

// ---- Regions of buffers as buffers of their own

bool BufferEvaluator::MatchBuffer(const tir::MatchBufferRegion& match) {
  const tir::BufferRegion& source = *match.source;
  BufferView view = ViewOf(*source.buffer);
  if (!view.known && !ResolveView(*source.buffer, &view)) return false;
  const Pointer place = PointerOf(source.buffer->data);
  if (!place.known() || source.region.size() != view.shape.size())
    return Fail("a matched region does not fit its buffer");
  int64_t offset = view.offset;
  std::vector<int64_t> extents;
  for (size_t i = 0; i < source.region.size(); ++i) {
    int64_t min = 0;
    int64_t extent = 0;
    if (!EvalInt(source.region[i]->min, &min) || !EvalInt(source.region[i]->extent, &extent)) return false;
    if (min < 0 || extent < 0 || min > view.shape[i] || extent > view.shape[i] - min)
      return Fail("a matched region is out of range");
    offset = WrapAdd(offset, WrapMul(min, view.strides[i]));
    extents.push_back(extent);
  }
  // The matched buffer may leave out leading dimensions of extent 1.
  const size_t rank = match.buffer->shape.size();
  const size_t extra = extents.size() - std::min(rank, extents.size());
  if (rank > extents.size() ||
      std::any_of(extents.begin(), extents.begin() + static_cast<int64_t>(extra), [](int64_t e) { return e != 1; })) {
    return Fail("a matched region does not fit its buffer");
  }
  SetPointer(match.buffer->data, place);
  return DeclareAs(*match.buffer, std::span(extents).subspan(extra), std::span(view.strides).subspan(extra), offset);
}

bool BufferEvaluator::MatchBuffers(const tir::Block& block) {
  for (const tir::MatchBufferRegion* match : block.match_buffers) {
    // The variables of the match belong to this run of the block.
    for (const auto& exprs : {match->buffer->shape, match->buffer->strides}) {
      for (const PrimExpr* expr : exprs) {
        if (const auto* var = As<tir::Var>(expr)) env().Unbind(var);
      }
    }
    if (const auto* var = As<tir::Var>(match->buffer->elem_offset)) env().Unbind(var);
    if (!MatchBuffer(*match)) return false;
  }
  return true;
}

}  // namespace iropt::eval
