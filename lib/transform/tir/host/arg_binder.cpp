#include "transform/tir/host/arg_binder.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/dlpack.h"
#include "iropt/ir/location.h"

namespace iropt {

void ArgBinder::Fail(const Node& where, std::string message) {
  diagnostics_.Error(Location(where), "pass-failed", std::move(message));
  failed_ = true;
}

std::string ArgBinder::TextOf(const PrimExpr* expr) {
  std::string text;
  const size_t mark = names_.Mark();
  {
    OutputStream out(&text);
    ForEachPrimName(
        expr, [&](const tir::Var* var) { names_.Define(var); },
        [&](const tir::Buffer* buffer) { names_.Define(buffer, buffer->name); });
    PrintTarget target{nullptr, out, names_};
    PrimPrinter(target, ScriptDialect::kTir).Print(expr);
  }
  names_.Release(mark);
  return text;
}

bool ArgBinder::Bind(const PrimExpr* arg, const PrimExpr* value, const std::string& name) {
  if (arg->dtype != value->dtype) {
    Fail(*arg, fmt::format("the argument {} is {}, expected {}", name, value->dtype.ToString(), arg->dtype.ToString()));
    return false;
  }
  const auto* var = As<tir::Var>(arg);
  if (!var || !bound_.insert(var)) {
    Check(build_.Equal(arg, value), name);
    return false;
  }
  bindings_.Add<tir::LetStmt>(var, value);
  return true;
}

void ArgBinder::Check(const PrimExpr* condition, const std::string& name) {
  const PrimExpr* simplified = analyzer_.Simplify(condition);
  if (arith::IsInt(simplified, 1)) return;
  if (arith::IsInt(simplified, 0)) {
    Fail(*condition, fmt::format("the argument {} never satisfies {}", name, TextOf(condition)));
    return;
  }
  checks_.Assert(simplified, fmt::format("Argument {} has an unsatisfied constraint: {}", name, TextOf(condition)));
}

void ArgBinder::CheckDType(const tir::Buffer& buffer, const tir::Var* handle, const std::string& name) {
  if (IsPacked(buffer.dtype)) return;
  if (buffer.dtype.is_scalable()) {
    return Fail(*handle, fmt::format("the elements of buffer '{}' are {}: an argument needs vectors of known length",
                                     buffer.name, buffer.dtype.ToString()));
  }
  const auto field_is = [&](int bits, StructField field, int64_t value) {
    return build_.EqualInt(build_.GetField(DataType::UInt(bits), handle, 0, field), value);
  };
  const PrimExpr* condition =
      build_.make().Binary(NodeKind::kAnd, field_is(8, StructField::kArrTypeCode, DLPackCode(buffer.dtype.code)),
                           field_is(8, StructField::kArrTypeBits, buffer.dtype.bits));
  condition =
      build_.make().Binary(NodeKind::kAnd, condition, field_is(16, StructField::kArrTypeLanes, buffer.dtype.lanes));
  checks_.Assert(condition, fmt::format("{}.dtype is expected to be {}", name, buffer.dtype.ToString()));
}

// The buffer over an array of 64-bit integers.
const tir::Buffer* ArgBinder::LoadArray(const tir::Var* handle, StructField field, size_t size,
                                        const std::string& name) {
  const tir::Buffer* array = build_.DeclBuffer(name, DataType::Int(64), build_.Int32(static_cast<int64_t>(size)));
  bindings_.Add<tir::LetStmt>(array->data, build_.GetField(DataType::Handle(), handle, 0, field));
  bindings_.Add<tir::DeclBuffer>(array);
  return array;
}

void ArgBinder::BindDLTensor(const tir::Buffer& buffer, int64_t device_type, const tir::Var* device_id,
                             const tir::Var* handle, const std::string& name) {
  bindings_.Assert(build_.make().Not(build_.IsNull(handle)),
                   fmt::format("{} is expected to have non-NULL DLTensor* pointer", name));
  const size_t ndim = buffer.shape.size();
  bindings_.Assert(build_.Equal(build_.Int32(static_cast<int64_t>(ndim)),
                                build_.GetField(DataType::Int(32), handle, 0, StructField::kArrNDim)),
                   fmt::format("{}.ndim is expected to equal {}", name, ndim));
  CheckDType(buffer, handle, name);

  const tir::Buffer* shape = LoadArray(handle, StructField::kArrShape, ndim, name + ".shape");
  for (size_t k = 0; k < ndim && !IsPacked(buffer.dtype); ++k) {
    Bind(buffer.shape[k], LoadAs(buffer.shape[k]->dtype, shape, k), fmt::format("{}.shape[{}]", name, k));
  }
  const tir::Buffer* strides = LoadArray(handle, StructField::kArrStrides, buffer.strides.size(), name + ".strides");
  BindStrides(buffer, shape, strides, name + ".strides");
  BindOffset(buffer, handle, name);

  Bind(build_.Int32(device_type), build_.GetField(DataType::Int(32), handle, 0, StructField::kArrDeviceType),
       name + ".device_type");
  Bind(device_id, build_.GetField(DataType::Int(32), handle, 0, StructField::kArrDeviceId), name + ".device_id");
  // Its size may depend on what the other fields define.
  BindData(buffer, handle, name);
}

void ArgBinder::BindStrides(const tir::Buffer& buffer, const tir::Buffer* shape, const tir::Buffer* strides,
                            const std::string& name) {
  if (buffer.strides.empty()) return CheckCompact(buffer, strides, name);
  if (buffer.buffer_type == tir::BufferType::kAutoBroadcast) return BindBroadcastStrides(buffer, strides, name);
  const PrimExpr* compact = build_.Int32(1);
  for (size_t k = buffer.strides.size(); k-- > 0;) {
    const DataType dtype = buffer.shape[k]->dtype;
    const PrimExpr* value = build_.IfThenElse(build_.IsNull(strides->data), compact, LoadAs(dtype, strides, k));
    Bind(buffer.strides[k], value, fmt::format("{}[{}]", name, k));
    compact = build_.make().Mul(compact, LoadAs(dtype, shape, k));
  }
}

// Either there are no strides, or they are those of the shape.
void ArgBinder::CheckCompact(const tir::Buffer& buffer, const tir::Buffer* strides, const std::string& name) {
  if (buffer.shape.empty()) return;
  const arith::PrimBuilder& make = build_.make();
  const DataType dtype = IndexType(buffer);
  const PrimExpr* stride = make.Const(1, dtype);
  const PrimExpr* compact = make.Bool(true);
  for (size_t k = buffer.shape.size(); k-- > 0;) {
    const PrimExpr* matches = build_.Equal(stride, LoadAs(dtype, strides, k));
    compact =
        make.Binary(NodeKind::kAnd, compact, make.Binary(NodeKind::kOr, build_.EqualInt(buffer.shape[k], 1), matches));
    stride = make.Mul(stride, buffer.shape[k]);
  }
  Workspace& workspace = build_.workspace();
  const auto* check =
      workspace.New<tir::AssertStmt>(compact, build_.String(name + ": expected to be compact array"), build_.Nop());
  checks_.Before(workspace.New<tir::IfThenElse>(make.Not(build_.IsNull(strides->data)), check, nullptr));
}

// The stride of a dimension of one element is 0.
void ArgBinder::BindBroadcastStrides(const tir::Buffer& buffer, const tir::Buffer* strides, const std::string& name) {
  const PrimExpr* stride = build_.make().Const(1, IndexType(buffer));
  for (size_t k = buffer.shape.size(); k-- > 0;) {
    const PrimExpr* dim = buffer.shape[k];
    const PrimExpr* value = build_.IfThenElse(build_.IsNull(strides->data), stride, LoadAs(dim->dtype, strides, k));
    value = build_.IfThenElse(build_.EqualInt(dim, 1), build_.Int32(0), value);
    Bind(buffer.strides[k], value, fmt::format("{}[{}]", name, k));
    stride = analyzer_.Simplify(build_.make().Mul(stride, dim));
  }
}

void ArgBinder::BindOffset(const tir::Buffer& buffer, const tir::Var* handle, const std::string& name) {
  const arith::PrimBuilder& make = build_.make();
  const int64_t bytes = buffer.dtype.bytes();
  const PrimExpr* byte_offset = build_.GetField(DataType::UInt(64), handle, 0, StructField::kArrByteOffset);
  if (const int64_t* constant = arith::AsInt(buffer.elem_offset)) {
    Bind(make.Int(*constant * bytes, DataType::UInt(64)), byte_offset, name + ".byte_offset");
    return;
  }
  const PrimExpr* offset = buffer.elem_offset;
  const PrimExpr* value = make.Cast(offset->dtype, make.TruncDiv(byte_offset, make.Int(bytes, DataType::UInt(64))));
  const bool is_new = Bind(offset, value, name + ".elem_offset");
  if (!is_new || buffer.offset_factor <= 1) return;
  Check(build_.EqualInt(make.TruncMod(offset, make.Const(buffer.offset_factor, offset->dtype)), 0),
        name + ".elem_offset");
}

void ArgBinder::BindData(const tir::Buffer& buffer, const tir::Var* handle, const std::string& name) {
  const PrimExpr* data = build_.GetField(DataType::Handle(), handle, 0, StructField::kArrData);
  if (!Bind(buffer.data, data, name + ".data")) return;
  const arith::PrimBuilder& make = build_.make();
  const PrimExpr* size = make.Const(1, IndexType(buffer));
  for (const PrimExpr* dim : buffer.shape) size = make.Mul(size, dim);
  // An array without elements may have a null pointer.
  checks_.Assert(make.Binary(NodeKind::kOr, build_.EqualInt(size, 0), make.Not(build_.IsNull(buffer.data))),
                 name + " is expected to have non-NULL data pointer");
  bindings_.Add<tir::AttrStmt>(buffer.data, attr::kStorageAlignment, build_.Int32(buffer.data_alignment));
}

}  // namespace iropt
