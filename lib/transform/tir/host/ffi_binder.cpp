#include "transform/tir/host/ffi_binder.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/dlpack.h"
#include "iropt/ir/location.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// The DLTensor in a tensor of the FFI.
constexpr int64_t kTensorOffset = 24;

// The numbers of DLPack 1.1, which is newer than those of TVM 0.18.
int64_t CodeOf(DataType dtype) {
  if (dtype.is_bool()) return 6;
  switch (dtype.code) {
    case TypeCode::kFloat8E4M3: return 10;
    case TypeCode::kFloat8E5M2: return 12;
    case TypeCode::kFloat4E2M1: return 17;
    default: return DLPackCode(dtype.code);
  }
}

}  // namespace

FfiBinder::FfiBinder(const PrimFunc& func, std::string_view symbol, const tir::Var* args, const tir::Var* num_args,
                     const HostBuilder& build, DiagnosticEngine& diagnostics)
    : func_(func),
      symbol_(symbol),
      args_(args),
      build_(build),
      diagnostics_(diagnostics),
      analyzer_(build.make()),
      bindings_(build),
      checks_(build),
      buffers_(build),
      when_calling_(Text(" when calling:\n  `")),
      signature_(Text(Signature())) {
  const auto count = static_cast<int64_t>(func.params.size());
  const Parts expected = {Text("Expected "), Text(fmt::format("{}", count)), Text(" arguments")};
  Assert(bindings_, build_.Equal(num_args, build_.Int32(count)), "TypeError", expected, {"`"});
  if (count > 0) {
    Assert(bindings_, build_.make().Not(build_.IsNull(args)), "TypeError", {Text("args pointer is NULL")}, {"`"});
  }
}

// main(A: Tensor([n, 4], float32), k: int32)
std::string FfiBinder::Signature() const {
  std::string text = symbol_ + "(";
  for (uint32_t i = 0; i < func_.params.size(); ++i) {
    if (i > 0) text += ", ";
    const tir::Buffer* buffer = func_.param_buffers[i];
    const tir::Var* param = func_.params[i];
    if (!buffer) {
      text += fmt::format("{}: {}", param->name,
                          param->dtype.is_handle() ? PointerText(param) : DTypeName(param->dtype, version()));
      continue;
    }
    text += fmt::format("{}: Tensor([", buffer->name);
    for (uint32_t k = 0; k < buffer->shape.size(); ++k) {
      const auto* var = As<tir::Var>(buffer->shape[k]);
      text += fmt::format("{}{}", k > 0 ? ", " : "", var ? std::string(var->name) : TextOf(buffer->shape[k]));
    }
    text += fmt::format("], {})", DTypeName(buffer->dtype, version()));
  }
  return text + ")";
}

std::string FfiBinder::PointerText(const tir::Var* pointer) const {
  if (version() < TextVersion::kV0_26) return "T.handle";
  std::string text;
  PrintNames names({});
  {
    OutputStream out(&text);
    PrintTarget target{nullptr, out, names, version()};
    PrimPrinter(target, ScriptDialect::kTir).PrintVarType(pointer);
  }
  return text;
}

std::string FfiBinder::TextOf(const PrimExpr* expr) const {
  std::string text;
  PrintNames names({});
  {
    OutputStream out(&text);
    ForEachPrimName(
        expr, [&](const tir::Var* var) { names.Define(var); },
        [&](const tir::Buffer* buffer) { names.Define(buffer, buffer->name); });
    PrintTarget target{nullptr, out, names, version()};
    PrimPrinter(target, ScriptDialect::kTir).Print(expr);
  }
  return text;
}

// ---- Messages

const PrimExpr* FfiBinder::Message(std::string_view kind, Parts parts,
                                   std::initializer_list<std::string_view> rest) const {
  parts.insert(parts.begin(), Text(kind));
  parts.push_back(when_calling_);
  parts.push_back(signature_);
  for (const std::string_view part : rest) parts.push_back(Text(part));
  return build_.Call(DataType::Handle(), GetOp(op::kTirAssertMessage), parts);
}

void FfiBinder::Assert(StmtNest& nest, const PrimExpr* condition, std::string_view kind, Parts parts,
                       std::initializer_list<std::string_view> rest) const {
  nest.Add<tir::AssertStmt>(condition, Message(kind, std::move(parts), rest));
}

void FfiBinder::AddNumber(Parts& parts, size_t param) const {
  parts.push_back(Text(" on argument #"));
  parts.push_back(Text(fmt::format("{}", param)));
}

std::string FfiBinder::Render(const PrimExpr* expr) {
  if (const auto* var = As<tir::Var>(expr)) {
    const auto* known = defined_at_.Find(var);
    return !known || known->empty() ? std::string(var->name) : *known;
  }
  if (const int64_t* value = arith::AsInt(expr)) return fmt::format("{}", *value);
  if (const auto* real = As<tir::FloatImm>(expr)) return fmt::format("{}", real->value);
  if (const auto* cast = As<tir::Cast>(expr)) return WithStack([&] { return Render(cast->value); });
  const auto* binary = tir::BinaryExpr::ClassOf(expr->kind) ? static_cast<const tir::BinaryExpr*>(expr) : nullptr;
  const auto joined = [&](std::string_view symbol) {
    return WithStack([&] { return fmt::format("{} {} {}", Render(binary->a), symbol, Render(binary->b)); });
  };
  const auto called = [&](std::string_view name) {
    return WithStack([&] { return fmt::format("{}({}, {})", name, Render(binary->a), Render(binary->b)); });
  };
  switch (expr->kind) {
    case NodeKind::kAdd: return joined("+");
    case NodeKind::kSub: return joined("-");
    case NodeKind::kMul: return joined("*");
    case NodeKind::kDiv: return joined("/");
    case NodeKind::kMod: return joined("%");
    case NodeKind::kFloorDiv: return called("floordiv");
    case NodeKind::kFloorMod: return called("floormod");
    case NodeKind::kMin: return called("min");
    case NodeKind::kMax: return called("max");
    default: return TextOf(expr);
  }
}

// Null if the condition always holds.
const PrimExpr* FfiBinder::Simplified(const PrimExpr* condition, const ArgPath& path) {
  const PrimExpr* simple = analyzer_.Simplify(condition);
  if (arith::IsInt(simple, 1)) return nullptr;
  if (!arith::IsInt(simple, 0)) return simple;
  diagnostics_.Error(Location(*condition), "pass-failed",
                     fmt::format("the argument {} never satisfies {}", path.text, TextOf(condition)));
  failed_ = true;
  return nullptr;
}

// ---- Parameters

void FfiBinder::BindParams(int64_t device_type, const tir::Var* device_id) {
  for (size_t i = 0; i < func_.params.size(); ++i) BindParam(i);
  // The shapes of buffers may use any parameter.
  for (uint32_t i = 0; i < func_.params.size(); ++i) {
    if (const tir::Buffer* buffer = func_.param_buffers[i]) BindTensor(*buffer, i, device_type, device_id);
  }
  CheckExpectations();
}

void FfiBinder::BindParam(size_t i) {
  const tir::Var* param = func_.params[static_cast<uint32_t>(i)];
  const tir::Buffer* buffer = func_.param_buffers[static_cast<uint32_t>(i)];
  const std::string_view name = buffer ? buffer->name : param->name;
  Workspace& workspace = build_.workspace();
  const auto* type_index = workspace.NewPrimVar(fmt::format("{}.type_index", name), DataType::Int(32));
  const auto number = static_cast<int64_t>(i);
  bindings_.Add<tir::LetStmt>(type_index,
                              build_.GetField(DataType::Int(32), args_, number, StructField::kFfiTypeIndex));
  handles_.push_back(nullptr);
  if (buffer) {
    const auto* handle = workspace.NewPrimVar(fmt::format("{}.handle", name), DataType::Handle());
    bindings_.Add<tir::LetStmt>(handle, Pointer(i, type_index, true));
    handles_.back() = handle;
  } else if (param->dtype.is_handle()) {
    const PrimExpr* value = Pointer(i, type_index, false);
    const PrimExpr* operands[] = {value};
    const auto* typed =
        workspace.New<tir::Call>(DataType::Handle(), GetOp(op::kTirReinterpret),
                                 workspace.Copy(std::span<const PrimExpr* const>(operands)), param->pointer);
    defined_at_.try_emplace(param, std::string(name));
    bindings_.Add<tir::LetStmt>(param, typed);
  } else {
    Bind(param, Scalar(i, type_index, param->dtype), {std::string(name), i});
  }
}

const PrimExpr* FfiBinder::AnyOf(const tir::Var* type_index, std::initializer_list<int64_t> values) const {
  const PrimExpr* condition = nullptr;
  for (const int64_t value : values) {
    const PrimExpr* is_value = build_.EqualInt(type_index, value);
    condition = condition ? build_.make().Binary(NodeKind::kOr, condition, is_value) : is_value;
  }
  return condition;
}

void FfiBinder::CheckTypeIndex(size_t i, const PrimExpr* condition, std::string_view expected) {
  const Parts parts = {Text("Mismatched type on argument #"), Text(fmt::format("{}", i))};
  Assert(bindings_, condition, "TypeError", parts, {"`,\n  expected ", expected});
}

// The 64 bits of an argument as a value of the dtype.
const PrimExpr* FfiBinder::Content(size_t i, DataType dtype) const {
  const PrimExpr* value = build_.GetField(ApiType(dtype), args_, static_cast<int64_t>(i), StructField::kFfiUnionValue);
  return build_.make().Cast(dtype, value);
}

const PrimExpr* FfiBinder::Pointer(size_t i, const tir::Var* type_index, bool is_tensor) {
  const arith::PrimBuilder& make = build_.make();
  const PrimExpr* is_object = make.Binary(NodeKind::kGE, type_index, build_.Int32(ffi_type::kFirstObject));
  const PrimExpr* is_plain = AnyOf(type_index, {ffi_type::kNone, ffi_type::kOpaquePointer, ffi_type::kDLTensor});
  CheckTypeIndex(i, make.Binary(NodeKind::kOr, is_plain, is_object), is_tensor ? "Tensor" : "pointer");
  const PrimExpr* value = Content(i, DataType::Handle());
  const PrimExpr* inside =
      build_.Call(DataType::Handle(), op::kTirHandleAddByteOffset, {value, build_.Int32(kTensorOffset)});
  return build_.Call(DataType::Handle(), op::kTirIfThenElse,
                     {build_.EqualInt(type_index, ffi_type::kTensor), inside, value});
}

const PrimExpr* FfiBinder::Scalar(size_t i, const tir::Var* type_index, DataType dtype) {
  const arith::PrimBuilder& make = build_.make();
  const DataType wide = DataType::Int(64);
  if (dtype.is_bool()) {
    CheckTypeIndex(i, AnyOf(type_index, {ffi_type::kBool, ffi_type::kInt}), "boolean");
    return make.Cast(dtype, Content(i, wide));
  }
  if (dtype.is_integer()) {
    CheckTypeIndex(i, AnyOf(type_index, {ffi_type::kInt, ffi_type::kBool}), "int");
    return Content(i, dtype);
  }
  CheckTypeIndex(i, AnyOf(type_index, {ffi_type::kFloat, ffi_type::kInt, ffi_type::kBool}), "float");
  return make.Select(build_.EqualInt(type_index, ffi_type::kFloat), Content(i, dtype),
                     make.Cast(dtype, Content(i, wide)));
}

bool FfiBinder::Bind(const PrimExpr* arg, const PrimExpr* value, const ArgPath& path) {
  const auto* var = As<tir::Var>(arg);
  if (!var) {
    if (const PrimExpr* condition = Simplified(build_.Equal(arg, value), path))
      expectations_.push_back({condition, path, arg});
    return false;
  }
  const auto [known, is_new] = defined_at_.try_emplace(var, path.text);
  if (is_new) {
    bindings_.Add<tir::LetStmt>(var, value);
    return true;
  }
  const PrimExpr* condition = Simplified(build_.Equal(var, value), path);
  if (!condition) return false;
  Parts parts = {Text("Mismatched "), Text(path.text)};
  AddNumber(parts, path.param);
  const bool has_other = !known.empty() && known != path.text;
  has_other ? Assert(checks_, condition, "ValueError", parts, {"`,\n  expected to match ", known})
            : Assert(checks_, condition, "ValueError", parts, {"`,\n  expected matching value"});
  return false;
}

void FfiBinder::CheckExpectations() {
  for (const Expectation& expectation : expectations_) {
    Parts parts = {Text("Invalid "), Text(expectation.path.text)};
    AddNumber(parts, expectation.path.param);
    Assert(checks_, expectation.condition, "ValueError", parts, {"`,\n  expected ", Render(expectation.expected)});
  }
}

// ---- Tensors

void FfiBinder::BindTensor(const tir::Buffer& buffer, size_t i, int64_t device_type, const tir::Var* device_id) {
  const tir::Var* handle = handles_[i];
  const std::string name(buffer.name);
  const std::string prefix = fmt::format("{}.{}", symbol_, name);
  CheckTypeIndex(i, build_.make().Not(build_.IsNull(handle)), "Tensor");
  const size_t ndim = buffer.shape.size();
  Parts parts = {Text("Mismatched "), Text(name), Text(".ndim on argument #"), Text(fmt::format("{}", i))};
  Assert(bindings_,
         build_.Equal(build_.Int32(static_cast<int64_t>(ndim)),
                      build_.GetField(DataType::Int(32), handle, 0, StructField::kArrNDim)),
         "ValueError", parts, {"`,\n  expected ", fmt::format("{}", ndim)});
  CheckDType(buffer, handle, i);

  const tir::Var* shape = Array(handle, StructField::kArrShape, prefix + "_shape");
  for (uint32_t k = 0; k < ndim && !IsPacked(buffer.dtype); ++k) {
    const PrimExpr* dim = buffer.shape[k];
    Bind(dim, build_.make().Cast(dim->dtype, Element(shape, k)), {fmt::format("{}.shape[{}]", name, k), i});
  }
  const tir::Var* strides = Array(handle, StructField::kArrStrides, prefix + "_strides");
  buffer.strides.empty() ? CheckCompact(buffer, strides, i) : BindStrides(buffer, shape, strides, {name, i});
  BindOffset(buffer, handle, {name + ".byte_offset", i});
  CheckDevice(buffer, handle, i, device_type);
  Bind(device_id, build_.GetField(DataType::Int(32), handle, 0, StructField::kArrDeviceId), {name + ".device_id", i});
  BindData(buffer, handle, i);
}

void FfiBinder::CheckDType(const tir::Buffer& buffer, const tir::Var* handle, size_t i) {
  if (IsPacked(buffer.dtype)) return;
  const auto field_is = [&](int bits, StructField field, int64_t value) {
    return build_.EqualInt(build_.GetField(DataType::UInt(bits), handle, 0, field), value);
  };
  const arith::PrimBuilder& make = build_.make();
  const PrimExpr* condition =
      make.Binary(NodeKind::kAnd, field_is(8, StructField::kArrTypeCode, CodeOf(buffer.dtype)),
                  field_is(8, StructField::kArrTypeBits, buffer.dtype.is_bool() ? 8 : buffer.dtype.bits));
  condition = make.Binary(NodeKind::kAnd, condition, field_is(16, StructField::kArrTypeLanes, buffer.dtype.lanes));
  const Parts parts = {Text("Mismatched "), Text(buffer.name), Text(".dtype on argument #"),
                       Text(fmt::format("{}", i))};
  Assert(bindings_, condition, "TypeError", parts, {"`,\n  expected ", DTypeName(buffer.dtype, version())});
}

// The pointer to an array of 64-bit integers.
const tir::Var* FfiBinder::Array(const tir::Var* handle, StructField field, const std::string& name) {
  Workspace& workspace = build_.workspace();
  const auto* pointer = tir::PointerInfo::Get(DataType::Int(64), "global");
  const auto* array = workspace.NewPrimVar(name, DataType::Handle(), pointer);
  const PrimExpr* operands[] = {handle, build_.Int32(0), build_.Int32(static_cast<int64_t>(field))};
  bindings_.Add<tir::LetStmt>(
      array, workspace.New<tir::Call>(DataType::Handle(), GetOp(op::kTirTvmStructGet),
                                      workspace.Copy(std::span<const PrimExpr* const>(operands)), pointer));
  return array;
}

const PrimExpr* FfiBinder::Element(const tir::Var* array, size_t k) const {
  return build_.GetField(DataType::Int(64), array, static_cast<int64_t>(k), StructField::kInt64Element);
}

// Either there are no strides, or they are those of the shape.
void FfiBinder::CheckCompact(const tir::Buffer& buffer, const tir::Var* strides, size_t i) {
  if (buffer.shape.empty()) return;
  const arith::PrimBuilder& make = build_.make();
  const DataType dtype = IndexType(buffer);
  const PrimExpr* stride = make.Const(1, dtype);
  const PrimExpr* compact = make.Bool(true);
  for (uint32_t k = buffer.shape.size(); k-- > 0;) {
    const PrimExpr* matches = build_.Equal(stride, make.Cast(dtype, Element(strides, k)));
    compact =
        make.Binary(NodeKind::kAnd, compact, make.Binary(NodeKind::kOr, build_.EqualInt(buffer.shape[k], 1), matches));
    stride = make.Mul(stride, buffer.shape[k]);
  }
  const Parts parts = {Text("Mismatched "), Text(buffer.name), Text(".strides on argument #"),
                       Text(fmt::format("{}", i))};
  Workspace& workspace = build_.workspace();
  const auto* check = workspace.New<tir::AssertStmt>(
      compact, Message("ValueError", parts, {"`,\n  expected to be compact array"}), build_.Nop());
  checks_.Before(workspace.New<tir::IfThenElse>(make.Not(build_.IsNull(strides)), check, nullptr));
}

void FfiBinder::BindStrides(const tir::Buffer& buffer, const tir::Var* shape, const tir::Var* strides,
                            const ArgPath& path) {
  const arith::PrimBuilder& make = build_.make();
  const PrimExpr* compact = build_.Int32(1);
  for (uint32_t k = buffer.strides.size(); k-- > 0;) {
    const DataType dtype = buffer.shape[k]->dtype;
    const PrimExpr* value = build_.IfThenElse(build_.IsNull(strides), compact, make.Cast(dtype, Element(strides, k)));
    Bind(buffer.strides[k], value, {fmt::format("{}.strides[{}]", path.text, k), path.param});
    compact = make.Mul(compact, make.Cast(dtype, Element(shape, k)));
  }
}

void FfiBinder::BindOffset(const tir::Buffer& buffer, const tir::Var* handle, const ArgPath& path) {
  const arith::PrimBuilder& make = build_.make();
  const int64_t bytes = buffer.dtype.bytes();
  const PrimExpr* byte_offset = build_.GetField(DataType::UInt(64), handle, 0, StructField::kArrByteOffset);
  if (const int64_t* constant = arith::AsInt(buffer.elem_offset)) {
    Bind(make.Int(*constant * bytes, DataType::UInt(64)), byte_offset, path);
    return;
  }
  const PrimExpr* offset = buffer.elem_offset;
  const PrimExpr* value = make.Cast(offset->dtype, make.TruncDiv(byte_offset, make.Int(bytes, DataType::UInt(64))));
  if (!Bind(offset, value, path) || buffer.offset_factor <= 1) return;
  const PrimExpr* aligned =
      Simplified(build_.EqualInt(make.TruncMod(offset, make.Const(buffer.offset_factor, offset->dtype)), 0), path);
  if (!aligned) return;
  const Parts parts = {Text("Misaligned Tensor data on argument #"), Text(fmt::format("{}", path.param))};
  Assert(bindings_, aligned, "ValueError", parts,
         {"`,\n  expected data alignment=", fmt::format("{}", buffer.offset_factor * bytes), " bytes"});
}

void FfiBinder::CheckDevice(const tir::Buffer& buffer, const tir::Var* handle, size_t i, int64_t device_type) {
  const PrimExpr* actual = build_.GetField(DataType::Int(32), handle, 0, StructField::kArrDeviceType);
  const PrimExpr* condition =
      Simplified(build_.Equal(build_.Int32(device_type), actual), {std::string(buffer.name), i});
  if (!condition) return;
  const Parts parts = {Text("Mismatched "), Text(buffer.name), Text(".device_type on argument #"),
                       Text(fmt::format("{}", i))};
  Assert(bindings_, condition, "ValueError", parts, {"`,\n  expected ", DLPackDeviceName(device_type)});
}

// Its size may depend on what the other fields define.
void FfiBinder::BindData(const tir::Buffer& buffer, const tir::Var* handle, size_t i) {
  const arith::PrimBuilder& make = build_.make();
  Workspace& workspace = build_.workspace();
  const PrimExpr* operands[] = {build_.GetField(DataType::Handle(), handle, 0, StructField::kArrData)};
  const auto* data = workspace.New<tir::Call>(DataType::Handle(), GetOp(op::kTirReinterpret),
                                              workspace.Copy(std::span<const PrimExpr* const>(operands)),
                                              tir::PointerInfo::Get(buffer.dtype, buffer.scope()));
  const PrimExpr* size = make.Const(1, IndexType(buffer));
  for (const PrimExpr* dim : buffer.shape) size = make.Mul(size, dim);
  const Parts parts = {Text(buffer.name), Text(" data pointer is NULL on argument #"), Text(fmt::format("{}", i))};
  // An array without elements may have a null pointer.
  Assert(checks_, make.Binary(NodeKind::kOr, build_.EqualInt(size, 0), make.Not(build_.IsNull(data))), "ValueError",
         parts, {"`,\n  expected non-NULL data pointer"});
  bindings_.Add<tir::AttrStmt>(&buffer, attr::kStorageAlignment, build_.Int32(buffer.data_alignment));
  buffers_.Add<tir::LetStmt>(buffer.data, data);
  buffers_.Add<tir::DeclBuffer>(&buffer);
}

}  // namespace iropt
