// Copies of local memory: those of the threads whose loops are inside of its allocation. See thread_memory.h.
#include <fmt/format.h>

#include <algorithm>

#include "stmt_emitter.h"

namespace iropt::codegen {

// As in the interpreter: the copies for a set of bound axes are one after the other, the last axis varies fastest.
struct StmtEmitter::ThreadCopies {
  const ThreadMemory* layout = nullptr;
  const tir::Var* data = nullptr;
  size_t depth = 0;                   // the number of thread axes around the allocation
  llvm::Value* size = nullptr;        // of a copy, in bytes
  std::vector<llvm::Value*> threads;  // by axis
  std::vector<llvm::Value*> counts;   // of copies, by place
  std::vector<llvm::Value*> memory;   // by place; for the current thread if threads in lockstep have allocated it
};

llvm::Value* StmtEmitter::CountThreads(const tir::Var* data, const ThreadMemory::Axis& axis,
                                       FunctionRef<llvm::Value*(const PrimExpr*)> eval) {
  llvm::Value* count = frame_.Int64(0);
  for (const PrimExpr* expr : axis.extents) {
    if (!IsKnownExtent(expr, [&](const tir::Var* var) { return exprs_.scope().Find(var) != nullptr; })) {
      frame_.state().Unsupported(fmt::format(
          "the number of threads of {} is not known where '{}' is allocated for each of them", axis.tag, data->name));
      return count;
    }
    count = b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, eval(expr));
  }
  return count;
}

std::shared_ptr<StmtEmitter::ThreadCopies> StmtEmitter::MakeCopies(const tir::Var* data, llvm::Value* count,
                                                                   DataType dtype,
                                                                   FunctionRef<llvm::Value*(const PrimExpr*)> eval) {
  auto copies = std::make_shared<ThreadCopies>();
  copies->layout = plan_.LayoutOf(data);
  copies->data = data;
  copies->depth = positions_.size();
  const int64_t bytes = int64_t{dtype.with_lanes(1).bytes()} * dtype.lanes;
  copies->size = b().CreateMul(count, frame_.Int64(bytes));
  for (const ThreadMemory::Axis& axis : copies->layout->axes) copies->threads.push_back(CountThreads(data, axis, eval));
  for (const uint32_t axes : copies->layout->places) {
    llvm::SmallVector<llvm::Value*, 4> factors = {count, frame_.Int64(bytes)};
    llvm::Value* total = frame_.Int64(1);
    for (size_t axis = 0; axis < copies->threads.size(); ++axis) {
      if (!HasAxis(axes, axis)) continue;
      factors.push_back(copies->threads[axis]);
      total = b().CreateMul(total, copies->threads[axis]);
    }
    exprs_.buffers().CountElements(factors);
    copies->counts.push_back(total);
  }
  return copies;
}

void StmtEmitter::WithCopies(const tir::Var* data, llvm::Value* count, DataType dtype, FunctionRef<void()> body) {
  if (!ValueTypes::IsElement(dtype))
    return frame_.state().Unsupported(fmt::format("cannot allocate elements of {}", dtype.ToString()));
  const std::shared_ptr<ThreadCopies> copies =
      MakeCopies(data, count, dtype, [&](const PrimExpr* expr) { return exprs_.EmitInt(expr); });
  llvm::Value* mark = frame_.Mark();
  for (llvm::Value* number : copies->counts)
    copies->memory.push_back(frame_.Allocate(b().CreateMul(number, copies->size), 1));
  copies_.push_back(copies);
  BindCopies(copies, /*is_new=*/true);
  body();
  copies_.pop_back();
  frame_.Release(mark);
}

// Each thread in lockstep has the copies for the threads of the axes inside of the allocation.
void StmtEmitter::AllocateCopiesLockstep(const tir::Var* data, llvm::Value* count, DataType dtype) {
  const std::shared_ptr<ThreadCopies> copies =
      MakeCopies(data, count, dtype, [&](const PrimExpr* expr) { return EmitUniform(expr); });
  std::vector<std::pair<llvm::Value*, llvm::Value*>> parts;  // memory of all threads, bytes of a thread
  for (llvm::Value* number : copies->counts) {
    llvm::Value* bytes = b().CreateMul(number, copies->size);
    parts.emplace_back(AllocateOwn(bytes), bytes);
  }
  copies_.push_back(copies);
  BindForEach([this, copies, parts, axes = threads_.size()] {
    copies->memory.clear();
    for (const auto& [memory, bytes] : parts)
      copies->memory.push_back(b().CreateGEP(b().getInt8Ty(), memory, b().CreateMul(ThreadIndex(axes), bytes)));
    BindCopies(copies, /*is_new=*/true);
  });
}

void StmtEmitter::BindCopies(const std::shared_ptr<ThreadCopies>& copies, bool is_new) {
  const size_t axes = copies->threads.size();
  std::vector<llvm::Value*> bound(axes);
  const uint32_t place =
      BoundAxes(*copies->layout, positions_, copies->depth, [&](size_t axis, const ThreadPlace& position) {
        const LoopRange& range = position.range;
        // Threads beyond those that have a copy do not access the memory.
        bound[axis] =
            b().CreateBinaryIntrinsic(llvm::Intrinsic::umin, b().CreateSub(exprs_.EmitInt(range.var), range.min),
                                      b().CreateSub(copies->threads[axis], frame_.Int64(1)));
      });
  const std::vector<uint32_t>& places = copies->layout->places;
  const auto at = static_cast<size_t>(std::ranges::find(places, place) - places.begin());
  // Memory that is not accessed here keeps its value from outside; a new one needs any.
  if (at == places.size() && !is_new) return;
  auto others = std::make_shared<OtherCopies>();
  others->data = copies->data;
  for (size_t i = 0; i < places.size(); ++i) {
    llvm::Value* index = frame_.Int64(0);
    llvm::Value* distance = copies->size;
    OtherCopies::Group group{};
    for (size_t axis = axes; axis-- > 0;) {
      if (!HasAxis(places[i], axis)) continue;
      if (bound[axis]) {
        index = b().CreateAdd(index, b().CreateMul(bound[axis], distance));
      } else {
        group.axes.emplace_back(copies->threads[axis], distance);
      }
      distance = b().CreateMul(distance, copies->threads[axis]);
    }
    group.first = b().CreateGEP(b().getInt8Ty(), copies->memory[i], index);
    if (i == at || (at == places.size() && i == 0)) {
      others->own = group.first;
    } else {
      others->groups.push_back(std::move(group));
    }
  }
  const TypedValue own{
      .value = others->own, .origin = frame_.Int64(0), .size = copies->size, .array = nullptr, .copies = others};
  for (const tir::Var* data : copies->layout->pointers) {
    const TypedValue* now = exprs_.scope().Find(data);
    const bool is_match = now && now->copies && now->copies->data == copies->data;
    if (data == copies->data || is_match) exprs_.scope().Bind(data, own);
  }
}

const StmtEmitter::ThreadPlace* StmtEmitter::FindPlace(std::string_view tag) const {
  const auto found =
      std::find_if(positions_.rbegin(), positions_.rend(), [&](const ThreadPlace& place) { return place.tag == tag; });
  return found == positions_.rend() || tag == "vthread" ? nullptr : &*found;
}

void StmtEmitter::BindAllCopies() {
  for (const std::shared_ptr<ThreadCopies>& copies : copies_) BindCopies(copies, /*is_new=*/false);
}

}  // namespace iropt::codegen
