#include "buffer_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "expr_emitter.h"
#include "symbolic_bounds.h"

namespace iropt::codegen {

// ---- Views

llvm::Value* BufferEmitter::CountElements(llvm::ArrayRef<llvm::Value*> extents) {
  llvm::IRBuilder<>& b = frame_.b();
  llvm::Value* count = frame_.Int64(1);
  for (llvm::Value* extent : extents) {
    frame_.FailIf(b.CreateICmpSLT(extent, frame_.Int64(0)), "an allocation of {} elements is out of range", extent);
    if (llvm::isa<llvm::ConstantInt>(extent) && llvm::isa<llvm::ConstantInt>(count)) {
      bool overflows = false;
      const llvm::APInt product = llvm::cast<llvm::ConstantInt>(count)->getValue().smul_ov(
          llvm::cast<llvm::ConstantInt>(extent)->getValue(), overflows);
      frame_.FailIf(b.getInt1(overflows), "an allocation is out of range");
      count = b.getInt(product);
      continue;
    }
    llvm::Value* product = b.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, count, extent);
    frame_.FailIf(b.CreateExtractValue(product, 1), "an allocation is out of range");
    count = b.CreateExtractValue(product, 0);
  }
  return count;
}

std::vector<llvm::Value*> BufferEmitter::CompactStrides(llvm::ArrayRef<llvm::Value*> shape) {
  std::vector<llvm::Value*> strides(shape.size());
  llvm::Value* stride = frame_.Int64(1);
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    if (i > 0) stride = frame_.b().CreateMul(stride, shape[i]);
  }
  return strides;
}

View BufferEmitter::ResolveView(const tir::Buffer& buffer) {
  View view;
  view.offset = buffer.elem_offset ? exprs_.EmitInt(buffer.elem_offset) : frame_.Int64(0);
  for (const PrimExpr* dim : buffer.shape) view.shape.push_back(exprs_.EmitInt(dim));
  if (buffer.strides.empty()) {
    view.strides = CompactStrides(view.shape);
  } else if (buffer.strides.size() == buffer.shape.size()) {
    for (const PrimExpr* stride : buffer.strides) view.strides.push_back(exprs_.EmitInt(stride));
  } else {
    frame_.state().Unsupported(fmt::format("the number of strides of buffer '{}' differs from its rank", buffer.name));
    view.strides = CompactStrides(view.shape);
  }
  view.is_inside = IsKnownInside(buffer, view);
  return view;
}

bool BufferEmitter::IsKnownInside(const tir::Buffer& buffer, const View& view) {
  const TypedValue* data = scope_.Find(buffer.data);
  if (!data || !data->size || !data->origin) return false;
  const auto constant = [](llvm::Value* value) { return llvm::dyn_cast<llvm::ConstantInt>(value); };
  const llvm::ConstantInt* known_size = constant(data->size);
  const int64_t size = known_size ? known_size->getSExtValue() : data->least_size;
  const llvm::ConstantInt* origin = constant(data->origin);
  const llvm::ConstantInt* offset = constant(view.offset);
  if (!origin || !offset || offset->isNegative() || origin->isNegative()) return false;
  __extension__ using Wide = __int128;
  Wide last = offset->getSExtValue();
  for (size_t i = 0; i < view.shape.size(); ++i) {
    const llvm::ConstantInt* dim = constant(view.shape[i]);
    const llvm::ConstantInt* stride = constant(view.strides[i]);
    if (!dim || !stride) return origin->isZero() && offset->isZero() && IsNoLonger(buffer, *data);
    if (stride->isNegative() || !dim->getValue().isStrictlyPositive()) return false;
    last += Wide{dim->getSExtValue() - 1} * stride->getSExtValue();
    if (last > INT32_MAX * Wide{INT32_MAX}) return false;
  }
  const Wide bytes = ElementOf(buffer).bytes() * buffer.dtype.lanes;
  return origin->getSExtValue() + (last + 1) * bytes <= size;
}

// Extents may be negative only where no index is in bounds.
bool BufferEmitter::IsNoLonger(const tir::Buffer& buffer, const TypedValue& data) {
  if (data.element_bytes == 0 || !buffer.strides.empty()) return false;
  const int64_t bytes = int64_t{ElementOf(buffer).bytes()} * buffer.dtype.lanes;
  const auto is_positive = [&](const PrimExpr* extent) { return ranges_.Of(extent).min >= 0; };
  return std::ranges::all_of(buffer.shape, is_positive) &&
         SymbolicBounds(ranges_).IsAtMost({buffer.shape, bytes}, {data.extents, data.element_bytes});
}

void BufferEmitter::Match(const PrimExpr* expr, llvm::Value* actual, std::string_view what) {
  if (const auto* var = As<tir::Var>(expr); var && !scope_.Find(var)) {
    llvm::Type* type = frame_.types().Register(var->dtype);
    llvm::Value* value = frame_.b().CreateTrunc(actual, type);
    if (type != actual->getType())
      frame_.FailIf(frame_.b().CreateICmpNE(frame_.ToInt64(value), actual),
                    fmt::format("{} is out of range for its variable", what));
    scope_.Bind(var, value);
    return;
  }
  llvm::Value* expected = exprs_.EmitInt(expr);
  frame_.FailIf(frame_.b().CreateICmpNE(expected, actual), fmt::format("{} is {{}}, expected {{}}", what), actual,
                expected);
}

void BufferEmitter::DeclareAs(const tir::Buffer& buffer, View view) {
  if (view.shape.size() != buffer.shape.size() || buffer.strides.size() > view.strides.size())
    return frame_.state().Unsupported(fmt::format("the ranks of buffer '{}' and its argument differ", buffer.name));
  // Dimensions that are variables are bound first: other dimensions may be computed from them.
  for (const bool variables : {true, false}) {
    for (size_t i = 0; i < view.shape.size(); ++i) {
      if (Is<tir::Var>(buffer.shape[i]) != variables) continue;
      Match(buffer.shape[i], view.shape[i], fmt::format("dimension {} of buffer '{}'", i, buffer.name));
    }
  }
  for (size_t i = 0; i < buffer.strides.size(); ++i)
    Match(buffer.strides[i], view.strides[i], fmt::format("stride {} of buffer '{}'", i, buffer.name));
  if (buffer.elem_offset && Is<tir::Var>(buffer.elem_offset))
    Match(buffer.elem_offset, view.offset, "the offset of a buffer");
  scope_.Declare(&buffer, std::move(view));
}

void BufferEmitter::MatchBuffer(const tir::MatchBufferRegion& match) {
  llvm::IRBuilder<>& b = frame_.b();
  const tir::BufferRegion& source = *match.source;
  const View* found = scope_.Find(source.buffer);
  const View view = found ? *found : ResolveView(*source.buffer);
  const TypedValue* data = scope_.Find(source.buffer->data);
  if (!data || source.region.size() != view.shape.size() || match.buffer->shape.size() > view.shape.size())
    return frame_.state().Unsupported("the ranks of a matched buffer and its source region are incompatible");
  // The matched buffer may omit leading dimensions of extent 1.
  const size_t extra = view.shape.size() - match.buffer->shape.size();
  View inner{.offset = view.offset, .shape = {}, .strides = {}, .mins = {}, .is_inside = view.is_inside};
  for (size_t i = 0; i < view.shape.size(); ++i) {
    const tir::Range& range = *source.region[i];
    llvm::Value* min = exprs_.EmitInt(range.min);
    llvm::Value* extent = exprs_.EmitInt(range.extent);
    const IntRange mins = ranges_.Of(range.min);
    const IntRange extents = ranges_.Of(range.extent);
    const bool known = view.is_declared && mins.min >= 0 && extents.min >= 0 && extents.max < INT32_MAX &&
                       mins.max < INT32_MAX && mins.max + extents.max <= ranges_.Of(source.buffer->shape[i]).min;
    if (frame_.state().checks && !known) {
      llvm::Value* negative =
          b.CreateOr(b.CreateICmpSLT(min, frame_.Int64(0)), b.CreateICmpSLT(extent, frame_.Int64(0)));
      llvm::Value* beyond =
          b.CreateOr(b.CreateICmpSGT(min, view.shape[i]), b.CreateICmpSGT(extent, b.CreateSub(view.shape[i], min)));
      frame_.FailIf(b.CreateOr(negative, beyond), "a matched region is out of range");
    }
    inner.offset = b.CreateAdd(inner.offset, b.CreateMul(min, view.strides[i]));
    if (i < extra) {
      frame_.FailIf(b.CreateICmpNE(extent, frame_.Int64(1)),
                    "a matched buffer omits a dimension whose extent is not 1");
    } else {
      inner.shape.push_back(extent);
      inner.strides.push_back(view.strides[i]);
    }
  }
  scope_.Bind(match.buffer->data, *data);
  DeclareAs(*match.buffer, std::move(inner));
}

// ---- Elements

void BufferEmitter::CheckIndex(const tir::Buffer& buffer, const View& view, size_t dim, const PrimExpr* index,
                               llvm::Value* value) {
  if (!frame_.state().checks) return;
  if (view.is_declared && view.mins.empty() && ranges_.IsInBounds(index, buffer.shape[dim])) return;
  llvm::IRBuilder<>& b = frame_.b();
  // One unsigned comparison also covers negative indices.
  llvm::Value* bad = view.mins.empty()
                         ? b.CreateICmpUGE(value, view.shape[dim])
                         : b.CreateOr(b.CreateICmpSLT(value, view.mins[dim]), b.CreateICmpSGE(value, view.shape[dim]));
  frame_.FailIf(bad, fmt::format("index {{}} is out of range for dimension {} of buffer '{}'", dim, buffer.name),
                value);
}

llvm::Value* BufferEmitter::Locate(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lane, bool bounded) {
  llvm::IRBuilder<>& b = frame_.b();
  const TypedValue* data = scope_.Find(buffer.data);
  if (!data || !data->value || !ValueTypes::IsStored(buffer.dtype))
    return frame_.Unsupported(fmt::format("buffer '{}' has no memory", buffer.name), b.getPtrTy());
  // The shape of a buffer without a declaration may depend on variables that change between accesses.
  const View* found = scope_.Find(&buffer);
  const View view = found ? *found : ResolveView(buffer);
  if (indices.size() != view.shape.size())
    return frame_.Unsupported(fmt::format("the number of indices of buffer '{}' differs from its rank", buffer.name),
                              b.getPtrTy());
  // All lanes of a vector element have the same index.
  const int width = buffer.dtype.lanes;
  const bool exact = bounded && view.is_inside;
  llvm::Value* at = view.offset;
  for (size_t i = 0; i < indices.size(); ++i) {
    llvm::Value* index = exprs_.EmitInt(indices[i], indices[i]->dtype.lanes == 1 ? ExprEmitter::kAll : lane / width);
    if (bounded) CheckIndex(buffer, view, i, indices[i], index);
    at = b.CreateAdd(at, b.CreateMul(index, view.strides[i], "", false, exact), "", false, exact);
  }
  const int64_t bytes = ElementOf(buffer).bytes();
  if (bounded && !view.is_inside && frame_.state().checks && data->size && data->origin) {
    llvm::Value* from = b.CreateAdd(data->origin, b.CreateMul(at, frame_.Int64(bytes * width)));
    llvm::Value* room = b.CreateSub(data->size, frame_.Int64(bytes * width));
    frame_.FailIf(b.CreateOr(b.CreateICmpSLT(from, frame_.Int64(0)), b.CreateICmpSGT(from, room)),
                  fmt::format("an access to buffer '{}' is out of range", buffer.name));
  }
  if (width > 1)
    at = b.CreateAdd(b.CreateMul(at, frame_.Int64(width)), frame_.Int64(lane == ExprEmitter::kAll ? 0 : lane % width));
  llvm::Type* element = frame_.types().Memory(ElementOf(buffer));
  return exact ? b.CreateInBoundsGEP(element, data->value, at) : b.CreateGEP(element, data->value, at);
}

llvm::Value* BufferEmitter::LoadFrom(llvm::Value* address, DataType dtype) {
  const llvm::Align align(static_cast<uint64_t>(dtype.with_lanes(1).bytes()));
  llvm::Value* stored = frame_.b().CreateAlignedLoad(frame_.types().Memory(dtype), address, align);
  return frame_.types().FromMemory(stored, dtype);
}

void BufferEmitter::StoreTo(llvm::Value* address, llvm::Value* value, DataType dtype) {
  const llvm::Align align(static_cast<uint64_t>(dtype.with_lanes(1).bytes()));
  frame_.b().CreateAlignedStore(frame_.types().ToMemory(value, dtype), address, align);
}

void BufferEmitter::StoreToCopies(const tir::Buffer& buffer, llvm::Value* address, llvm::Value* value, DataType dtype) {
  llvm::IRBuilder<>& b = frame_.b();
  StoreTo(address, value, dtype);
  const TypedValue* data = scope_.Find(buffer.data);
  if (!data || !data->copies) return;
  const OtherCopies& copies = *data->copies;
  llvm::Value* at = b.CreatePtrDiff(b.getInt8Ty(), address, copies.own);
  for (const OtherCopies::Group& group : copies.groups) {
    const std::function<void(size_t, llvm::Value*)> store = [&](size_t axis, llvm::Value* copy) {
      if (axis == group.axes.size()) return StoreTo(b.CreateGEP(b.getInt8Ty(), copy, at), value, dtype);
      llvm::Value* distance = group.axes[axis].second;
      frame_.Loop(group.axes[axis].first, LoopHint::kNone,
                  [&](llvm::Value* i) { store(axis + 1, b.CreateGEP(b.getInt8Ty(), copy, b.CreateMul(i, distance))); });
    };
    store(0, group.first);
  }
}

// Lanes are contiguous within a vector element, and if the last index is a ramp of stride 1 over a contiguous
// dimension.
bool BufferEmitter::IsContiguous(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lanes) {
  const auto scalar = [](const PrimExpr* index) { return index->dtype.lanes == 1; };
  if (indices.empty() || !std::all_of(indices.begin(), indices.end() - 1, scalar)) return false;
  if (buffer.dtype.lanes == lanes) return scalar(indices.back());
  const auto* ramp = As<tir::Ramp>(indices.back());
  const auto* stride = ramp ? As<tir::IntImm>(ramp->stride) : nullptr;
  if (!stride || stride->value != 1 || !scalar(ramp->base) || buffer.dtype.lanes != 1) return false;
  if (buffer.strides.empty() && (!scope_.Find(&buffer) || scope_.Find(&buffer)->strides.empty())) return true;
  const View* view = scope_.Find(&buffer);
  const auto* last = view ? llvm::dyn_cast<llvm::ConstantInt>(view->strides.back()) : nullptr;
  return last && last->isOne();
}

// Returns the address of the first lane. The first and last lane are checked, so all lanes are in range.
llvm::Value* BufferEmitter::LocateAll(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lanes) {
  llvm::Value* first = Locate(buffer, indices, 0, /*bounded=*/true);
  if (buffer.dtype.lanes != lanes && frame_.state().checks) Locate(buffer, indices, lanes - 1, /*bounded=*/true);
  return first;
}

llvm::Value* BufferEmitter::EmitLoad(const tir::BufferLoad& load, int lane) {
  const tir::Buffer& buffer = *load.buffer;
  const DataType element = ElementOf(buffer);
  if (load.dtype.lanes == 1) lane = lane == ExprEmitter::kAll ? 0 : lane;
  if (lane == ExprEmitter::kAll) {
    if (!load.predicate && IsContiguous(buffer, load.indices, load.dtype.lanes))
      return LoadFrom(LocateAll(buffer, load.indices, load.dtype.lanes), load.dtype);
    llvm::Value* value = llvm::PoisonValue::get(frame_.types().Register(load.dtype));
    for (int i = 0; i < load.dtype.lanes; ++i)
      value = frame_.b().CreateInsertElement(value, EmitLoad(load, i), static_cast<uint64_t>(i));
    return value;
  }
  const auto read = [&] { return LoadFrom(Locate(buffer, load.indices, lane, /*bounded=*/true), element); };
  if (!load.predicate) return read();
  const int mask_lane = load.predicate->dtype.lanes == 1 ? ExprEmitter::kAll : lane;
  return frame_.Choose(exprs_.EmitBool(load.predicate, mask_lane), read, [&]() -> llvm::Value* {
    return llvm::Constant::getNullValue(frame_.types().Register(element));
  });
}

void BufferEmitter::EmitStore(const tir::BufferStore& store) {
  const tir::Buffer& buffer = *store.buffer;
  const DataType element = ElementOf(buffer);
  const int lanes = store.value->dtype.lanes;
  if (lanes < 1) return frame_.state().Unsupported("scalable vectors cannot be stored");
  // All lanes are computed before the first store, because they may be loaded from the same buffer.
  const auto* load = As<tir::BufferLoad>(store.value);
  // Elements that nothing computes with are moved as they are.
  const bool is_move = load && ElementOf(*load->buffer) == element && !ValueTypes::IsSupported(element);
  llvm::Value* value = is_move ? EmitLoad(*load, ExprEmitter::kAll)
                               : arithmetic_.Cast(exprs_.Emit(store.value), store.value->dtype, element);
  if (lanes > 1 && !store.predicate && IsContiguous(buffer, store.indices, lanes))
    return StoreToCopies(buffer, LocateAll(buffer, store.indices, lanes), value, element.with_lanes(lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    const auto write = [&] {
      llvm::Value* part = lanes == 1 ? value : frame_.b().CreateExtractElement(value, static_cast<uint64_t>(lane));
      StoreToCopies(buffer, Locate(buffer, store.indices, lane, /*bounded=*/true), part, element);
    };
    if (!store.predicate) {
      write();
    } else {
      frame_.If(exprs_.EmitBool(store.predicate, store.predicate->dtype.lanes == 1 ? ExprEmitter::kAll : lane), write);
    }
  }
}

void BufferEmitter::StoreElement(const tir::Buffer& buffer, List<const PrimExpr*> indices, llvm::Value* value) {
  StoreToCopies(buffer, Locate(buffer, indices, 0, /*bounded=*/true), value, ElementOf(buffer));
}

}  // namespace iropt::codegen
