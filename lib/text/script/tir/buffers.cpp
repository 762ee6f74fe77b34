#include "buffers.h"

#include <fmt/format.h>

#include "iropt/arith/prim_builder.h"
#include "text/script/type_checks.h"

namespace iropt::text {

bool BufferValues::ReadStrides(const PyValue& value, tir::BufferSpec& spec, std::string_view what) {
  if (!value.is_list()) return Wrong(value, "a tuple of strides");
  const bool followorkspace_shape = what == "T.match_buffer" && !spec.shape.empty();
  for (const PyValue& item : value.items()) {
    // A name in quotes is a variable that the buffer itself introduces.
    if (item.is(PyValue::Kind::kString) && !read_quoted_) {
      tir::Var* var =
          workspace_.NewPrimVar(item.string(), followorkspace_shape ? spec.shape[0]->dtype : DataType::Int(32));
      var->set_span(item.span);
      spec.strides.push_back(var);
    } else {
      const PrimExpr* e = item.is(PyValue::Kind::kString) ? read_quoted_(item) : ToPrim(item);
      if (!e) return false;
      spec.strides.push_back(e);
    }
  }
  return true;
}

bool BufferValues::ReadDims(const PyValue& value, std::vector<const PrimExpr*>& dims) {
  if (!read_quoted_ || !value.is_list()) return ToPrims(value, dims);
  for (const PyValue& item : value.items()) {
    const PrimExpr* dim = item.is(PyValue::Kind::kString) ? read_quoted_(item) : ToPrim(item);
    if (!dim) return false;
    dims.push_back(dim);
  }
  return true;
}

// An offset in bytes.
bool BufferValues::ReadByteOffset(const PyValue& value, tir::BufferSpec& spec) {
  const PrimExpr* bytes = ToPrim(value);
  const int bits = spec.dtype.bits * spec.dtype.lanes;
  if (!bytes || bits <= 0) return bytes && Wrong(value, "no offset for a type of unknown size");
  const PrimExpr* total = ops_.Make(NodeKind::kMul, bytes, ops_.Int(8, bytes->dtype, value.span), value.span);
  spec.elem_offset =
      total ? ops_.Make(NodeKind::kFloorDiv, total, ops_.Int(bits, bytes->dtype, value.span), value.span) : nullptr;
  return spec.elem_offset != nullptr;
}

bool BufferValues::ReadBufferSpec(const PyArgs& args, std::string_view what, const PyValue** source,
                                  tir::BufferSpec& spec) {
  static constexpr std::string_view kNames[] = {
      "param",         "shape",       "dtype",           "data",   "strides",        "elem_offset", "scope", "align",
      "offset_factor", "buffer_type", "axis_separators", "layout", "allocated_addr", "byte_offset"};
  const PyValue* all[std::size(kNames)] = {};
  const size_t skip = source ? 0 : 1;
  if (!BindArguments(args, what, std::span(kNames).subspan(skip), 1, std::span(all).subspan(skip), diagnostics_))
    return false;
  const PyValue* const layout = all[11];
  for (const PyValue*& v : all) v = Given(v);
  const auto& [param, shape, dtype, data, strides, elem_offset, scope, align, offset_factor, buffer_type, separators,
               stated_layout, address, byte_offset] = all;
  if (source) *source = param;
  if (shape) {
    if (!ReadDims(*shape, spec.shape)) return false;
    for (const PrimExpr* dim : spec.shape) {
      if (!dim->dtype.is_integer())
        return Report(shape->span, "type-mismatch", "the shape of a buffer consists of integers");
    }
    WarnOfDims(spec.shape, shape->span, diagnostics_);
  } else {
    if (!param || !param->is(PyValue::Kind::kRegion)) {
      return Report(
          args.span, "missing-argument",
          fmt::format("missing argument 'shape' in call to {}; only a region such as A[0:4, 0:4] has one", what));
    }
    const tir::BufferRegion* region = param->region;
    spec.dtype = region->buffer->dtype;
    for (const tir::Range* range : region->region) spec.shape.push_back(range->extent);
  }
  if (dtype && !ToDType(*dtype, spec.dtype)) return false;
  if (dtype) WarnOfDType(spec.dtype, dtype->span, diagnostics_);
  if (data) {
    spec.data = ToVar(*data);
    if (!spec.data) return false;
    // T.handle of newer texts is a pointer to an unknown type.
    if (tir::Var* untyped = has_void_pointers_ ? KeptPointer(spec.data) : nullptr)
      untyped->pointer = tir::PointerInfo::Get(DataType::Void(), "global");
    if (!spec.data->pointer)
      return Report(data->span, "type-mismatch",
                    fmt::format("'{}' is not a pointer with a known element type", spec.data->name));
  }
  if (strides && !ReadStrides(*strides, spec, what)) return false;
  if (elem_offset && !(spec.elem_offset = ToPrim(*elem_offset))) return false;
  if (byte_offset && !ReadByteOffset(*byte_offset, spec)) return false;
  if (scope && !ToString(*scope, spec.scope)) return false;
  if (!ReadLayout(layout, args.span, spec) || !ReadAddress(address, spec)) return false;
  if ((align && !ToInteger(*align, spec.align)) || (offset_factor && !ToInteger(*offset_factor, spec.offset_factor)))
    return false;
  if (spec.align > INT32_MAX || spec.offset_factor > INT32_MAX)
    return Report(args.span, "bad-number", "the alignment is out of range");
  std::string_view type;
  if (buffer_type && !ToString(*buffer_type, type)) return false;
  if (type != "auto" && type != "default" && !type.empty()) return Wrong(*buffer_type, "\"auto\" or \"default\"");
  spec.auto_broadcast = type == "auto";
  return !separators || ToIntegers(*separators, spec.axis_separators);
}

void BufferValues::KeepPointer(tir::Var* var) {
  if (var->dtype.is_handle() && !var->pointer) untyped_pointers_.try_emplace(var, var);
}

tir::Var* BufferValues::KeptPointer(const tir::Var* var) const { return untyped_pointers_.Lookup(var); }

const PrimExpr* BufferValues::VectorLoad(const tir::Buffer* buffer, const PyArgs& args) {
  const PyValue* v[3];
  std::vector<const PrimExpr*> indices;
  if (!BindTo(args, "vload", {"begin", "dtype", "predicate"}, 1, v) || !ToPrims(*v[0], indices)) return nullptr;
  DataType dtype = buffer->dtype;
  if (Given(v[1]) && !ToDType(*v[1], dtype)) return nullptr;
  WidenIndices(buffer, dtype, indices, args.span);
  const PrimExpr* predicate = Given(v[2]) ? ToPrim(*v[2]) : nullptr;
  if (Given(v[2]) && !predicate) return nullptr;
  return MakeLoad(buffer, indices, predicate, args.span);
}

const PrimExpr* BufferValues::ElementPointer(const tir::Buffer* buffer, const PyArgs& args) {
  const PyValue* v[1];
  std::vector<const PrimExpr*> indices;
  if (!BindTo(args, "ptr_to", {"indices"}, 1, v) || !ToPrims(*v[0], indices)) return nullptr;
  const PrimExpr* element = MakeLoad(buffer, indices, nullptr, args.span);
  return element ? MakeCall("tir.address_of", DataType::Handle(), {element}, args.span) : nullptr;
}

const PrimExpr* BufferValues::AccessPointer(const tir::Buffer* buffer, const PyArgs& args) {
  const PyValue* v[5];
  if (!BindTo(args, "access_ptr", {"access_mask", "ptr_type", "content_lanes", "offset", "extent"}, 1, v))
    return nullptr;
  int64_t mask = 0;
  if (v[0]->is(PyValue::Kind::kString)) {
    for (const char c : v[0]->string()) {
      if (c != 'r' && c != 'w') return Wrong(*v[0], "\"r\", \"w\" or \"rw\"");
      mask |= c == 'r' ? 1 : 2;
    }
  } else if (!ToInteger(*v[0], mask)) {
    return nullptr;
  }
  DataType pointer = DataType::Handle();
  int64_t lanes = 1;
  if ((v[1] && !ToDType(*v[1], pointer)) || (v[2] && !ToInteger(*v[2], lanes))) return nullptr;
  if (lanes < 1 || lanes > INT16_MAX) return Wrong(*v[2], "a number of lanes");
  const Span span = args.span;
  const PrimExpr* offset = v[3] ? ToPrim(*v[3]) : ops_.Int(0, DataType::Int(32), span);
  const PrimExpr* extent = Given(v[4]) ? ToPrim(*v[4]) : nullptr;
  if (!offset || (Given(v[4]) && !extent)) return nullptr;
  if (!extent) {
    extent = ops_.Int(1, DataType::Int(32), span);
    if (!buffer->strides.empty()) {
      extent = ops_.Make(NodeKind::kMul, buffer->strides[0], buffer->shape[0], span);
    } else {
      for (const PrimExpr* dim : buffer->shape) extent = ops_.Make(NodeKind::kMul, extent, dim, span);
    }
    extent = ops_.Make(NodeKind::kSub, extent, offset, span);
    if (lanes > 1) extent = ops_.Make(NodeKind::kDiv, extent, ops_.Int(lanes, buffer->elem_offset->dtype, span), span);
  }
  const PrimExpr* start = ops_.Make(NodeKind::kAdd, buffer->elem_offset, offset, span);
  if (lanes > 1)
    start = ops_.Make(NodeKind::kDiv, buffer->elem_offset, ops_.Int(lanes, buffer->elem_offset->dtype, span), span);
  const PrimExpr* type = MakeCall("tir.type_annotation", buffer->dtype.with_lanes(static_cast<int>(lanes)), {}, span);
  return MakeCall("tir.tvm_access_ptr", pointer,
                  {type, PointerOf(buffer), start, extent, ops_.Int(mask, DataType::Int(32), span)}, span);
}

}  // namespace iropt::text
