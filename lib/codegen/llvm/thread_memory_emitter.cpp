#include "thread_memory_emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr_emitter.h"

namespace iropt::codegen {

llvm::Value* ThreadMemoryEmitter::CountThreads(const tir::Var* data, const ThreadMemory::Axis& axis,
                                               FunctionRef<llvm::Value*(const PrimExpr*)> eval) {
  llvm::Value* count = exprs_.frame().Int64(0);
  for (const PrimExpr* expr : axis.extents) {
    if (!IsKnownExtent(expr, [&](const tir::Var* var) { return exprs_.scope().Find(var) != nullptr; })) {
      exprs_.frame().state().Unsupported(fmt::format(
          "the number of threads of {} is not known where '{}' is allocated for each of them", axis.tag, data->name));
      return count;
    }
    count = exprs_.frame().b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, eval(expr));
  }
  return count;
}

ThreadMemoryEmitter::CopiesRef ThreadMemoryEmitter::MakeCopies(const tir::Var* data, llvm::Value* count, DataType dtype,
                                                               FunctionRef<llvm::Value*(const PrimExpr*)> eval) {
  auto copies = std::make_shared<ThreadCopies>();
  copies->layout = plan_.LayoutOf(data);
  copies->data = data;
  copies->depth = places_.size();
  const int64_t bytes = int64_t{dtype.with_lanes(1).bytes()} * dtype.lanes;
  copies->size = exprs_.frame().b().CreateMul(count, exprs_.frame().Int64(bytes));
  for (const ThreadMemory::Axis& axis : copies->layout->axes) copies->threads.push_back(CountThreads(data, axis, eval));
  for (const uint32_t axes : copies->layout->places) {
    llvm::SmallVector<llvm::Value*, 4> factors = {count, exprs_.frame().Int64(bytes)};
    llvm::Value* total = exprs_.frame().Int64(1);
    for (size_t axis = 0; axis < copies->threads.size(); ++axis) {
      if (!HasAxis(axes, axis)) continue;
      factors.push_back(copies->threads[axis]);
      total = exprs_.frame().b().CreateMul(total, copies->threads[axis]);
    }
    exprs_.buffers().CountElements(factors);
    copies->counts.push_back(total);
  }
  return copies;
}

void ThreadMemoryEmitter::WithCopies(const tir::Var* data, llvm::Value* count, DataType dtype,
                                     FunctionRef<void()> body) {
  if (!ValueTypes::IsStored(dtype))
    return exprs_.frame().state().Unsupported(fmt::format("cannot allocate elements of {}", dtype.ToString()));
  const CopiesRef copies = MakeCopies(data, count, dtype, [&](const PrimExpr* expr) { return exprs_.EmitInt(expr); });
  llvm::Value* mark = exprs_.frame().Mark();
  for (llvm::Value* number : copies->counts)
    copies->memory.push_back(exprs_.frame().Allocate(exprs_.frame().b().CreateMul(number, copies->size), 1));
  copies_.push_back(copies);
  BindCopies(*copies, /*is_new=*/true);
  body();
  copies_.pop_back();
  exprs_.frame().Release(mark);
}

void ThreadMemoryEmitter::BindCopies(const ThreadCopies& copies, bool is_new) {
  const size_t axes = copies.threads.size();
  std::vector<llvm::Value*> bound(axes);
  const uint32_t place =
      BoundAxes(*copies.layout, places_, copies.depth, [&](size_t axis, const ThreadPlace& position) {
        const LoopRange& range = position.range;
        // Threads beyond those that have a copy do not access the memory.
        bound[axis] = exprs_.frame().b().CreateBinaryIntrinsic(
            llvm::Intrinsic::umin, exprs_.frame().b().CreateSub(exprs_.EmitInt(range.var), range.min),
            exprs_.frame().b().CreateSub(copies.threads[axis], exprs_.frame().Int64(1)));
      });
  const std::vector<uint32_t>& places = copies.layout->places;
  const auto at = static_cast<size_t>(std::ranges::find(places, place) - places.begin());
  // Memory that is not accessed here keeps its value from outside; a new one needs any.
  if (at == places.size() && !is_new) return;
  auto others = std::make_shared<OtherCopies>();
  others->data = copies.data;
  for (size_t i = 0; i < places.size(); ++i) {
    llvm::Value* index = exprs_.frame().Int64(0);
    llvm::Value* distance = copies.size;
    OtherCopies::Group group{};
    for (size_t axis = axes; axis-- > 0;) {
      if (!HasAxis(places[i], axis)) continue;
      if (bound[axis]) {
        index = exprs_.frame().b().CreateAdd(index, exprs_.frame().b().CreateMul(bound[axis], distance));
      } else {
        group.axes.emplace_back(copies.threads[axis], distance);
      }
      distance = exprs_.frame().b().CreateMul(distance, copies.threads[axis]);
    }
    group.first = exprs_.frame().b().CreateGEP(exprs_.frame().b().getInt8Ty(), copies.memory[i], index);
    if (i == at || (at == places.size() && i == 0)) {
      others->own = group.first;
    } else {
      others->groups.push_back(std::move(group));
    }
  }
  const TypedValue own{
      .value = others->own, .origin = exprs_.frame().Int64(0), .size = copies.size, .array = nullptr, .copies = others};
  for (const tir::Var* data : copies.layout->pointers) {
    const TypedValue* now = exprs_.scope().Find(data);
    const bool is_match = now && now->copies && now->copies->data == copies.data;
    if (data == copies.data || is_match) exprs_.scope().Bind(data, own);
  }
}

const ThreadPlace* ThreadMemoryEmitter::FindPlace(std::string_view tag) const {
  const auto found =
      std::find_if(places_.rbegin(), places_.rend(), [&](const ThreadPlace& place) { return place.tag == tag; });
  return found == places_.rend() || tag == "vthread" ? nullptr : &*found;
}

const ThreadPlace* ThreadMemoryEmitter::FindPlace(const tir::Var* var) const {
  const auto found = std::ranges::find(places_, var, [](const ThreadPlace& place) { return place.range.var; });
  return found == places_.end() ? nullptr : &*found;
}

void ThreadMemoryEmitter::BindCopies(size_t count) {
  for (size_t i = 0; i < count; ++i) BindCopies(*copies_[i], /*is_new=*/false);
}

}  // namespace iropt::codegen
