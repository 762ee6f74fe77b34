#include "call_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "iropt/ir/dlpack.h"
#include "iropt/ir/narrow_element.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/struct_field.h"
#include "scalar_intrinsics.h"
#include "scalar_ops.h"

namespace iropt::eval {

namespace {

// Descriptors live as long as the frame of their function.
constexpr size_t kMaxDescriptors = 1 << 16;

}  // namespace

const CallEvaluator::Builtin* CallEvaluator::FindBuiltin(const OpInfo& op) {
  static constexpr Builtin kRows[] = {
      {op::kTirAddressOf, 1, &CallEvaluator::EvalAddressOf},
      {op::kTirAtomicAdd, 2, &CallEvaluator::EvalAtomicAdd},
      {op::kTirBreakLoop, 0, &CallEvaluator::EvalOnlyStatement},
      {op::kTirContinueLoop, 0, &CallEvaluator::EvalOnlyStatement},
      {op::kTirEndProfileIntrinsic, 1, &CallEvaluator::EvalHint},
      {op::kTirIsNullptr, 1, &CallEvaluator::EvalIsNull},
      {op::kTirPrefetch, kAnyArity, &CallEvaluator::EvalHint},
      {op::kTirRet, 1, &CallEvaluator::EvalOnlyStatement},
      {op::kTirStartProfileIntrinsic, 1, &CallEvaluator::EvalHint},
      {op::kTirTvmAccessPtr, 5, &CallEvaluator::EvalAccessPtr},
      {op::kTirTvmCallPacked, kAnyArity, &CallEvaluator::EvalCallPacked},
      {op::kTirTvmStackMakeArray, 6, &CallEvaluator::EvalMakeArray},
      {op::kTirTvmStackMakeShape, kAnyArity, &CallEvaluator::EvalMakeShape},
      {op::kTirTvmStorageSync, kAnyArity, &CallEvaluator::EvalSync},
      {op::kTirTvmStructGet, 3, &CallEvaluator::EvalStructGet},
      {op::kTirTvmThreadAllreduce, kAnyArity, &CallEvaluator::EvalOnlyStatement},
      {op::kTirTvmTuple, kAnyArity, &CallEvaluator::EvalHint},
      {op::kTirUndef, 0, &CallEvaluator::EvalUndef},
  };
  static constexpr auto kTable = RowsById(kRows);
  return RowOf(kTable, op);
}

bool CallEvaluator::CallBuiltin(const tir::Call& call, std::string_view name, int lane, Scalar* result) {
  const Builtin* builtin = FindBuiltin(*To<Op>(call.op)->info);
  if (!builtin || (builtin->arity != kAnyArity && call.args.size() != builtin->arity))
    return Fail(fmt::format("cannot evaluate the intrinsic {}", name));
  return (this->*builtin->run)(call, lane, result);
}

// Hints for compilers or devices, without a result.
bool CallEvaluator::EvalHint(const tir::Call&, int, Scalar* result) {
  return *result = Scalar::Int(0, DataType::Int(32)), true;
}

// These are run as statements (see Interpreter and Lockstep) and have no value for an expression.
bool CallEvaluator::EvalOnlyStatement(const tir::Call& call, int, Scalar*) {
  return Fail(fmt::format("{} is not allowed here", To<Op>(call.op)->name));
}

bool CallEvaluator::EvalUndef(const tir::Call&, int, Scalar*) { return Fail("T.undef() is used as a value"); }

bool CallEvaluator::EvalSync(const tir::Call&, int, Scalar* result) {
  *result = Scalar::Int(0, DataType::Int(32));
  return execution_.thread_axes == 0 || Fail("threads synchronize where they do not run in lockstep");
}

bool CallEvaluator::EvalIsNull(const tir::Call& call, int, Scalar* result) {
  Scalar pointer;
  if (!Eval(call.args[0], &pointer)) return false;
  return *result = Scalar::Int(AddressIn(pointer) == 0, DataType::Bool()), true;
}

bool CallEvaluator::EvalAddressOf(const tir::Call& call, int lane, Scalar* result) {
  const auto* load = As<tir::BufferLoad>(call.args[0]);
  if (!load) return Fail("T.address_of needs an element of a buffer");
  ElementAddress element;
  if (!Locate(*load->buffer, load->indices, lane, /*bounded=*/false, &element)) return false;
  *result = MakePointer(WrapAdd(WrapSub(element.pointer.address, static_cast<uint64_t>(element.pointer.origin)),
                                static_cast<uint64_t>(element.at)));
  return true;
}

// An element type, a pointer, an offset in elements; the other operands give the extent and the kind of the access.
bool CallEvaluator::EvalAccessPtr(const tir::Call& call, int, Scalar* result) {
  Scalar pointer;
  int64_t offset = 0;
  if (!Eval(call.args[1], &pointer) || !EvalInt(call.args[2], &offset)) return false;
  const DataType dtype = call.args[0]->dtype;
  const int64_t bytes = int64_t{dtype.with_lanes(1).bytes()} * std::max<int64_t>(dtype.lanes, 1);
  return *result = MakePointer(WrapAdd(AddressIn(pointer), static_cast<uint64_t>(WrapMul(offset, bytes)))), true;
}

// The old value; atomic, as only one thread runs at a time.
bool CallEvaluator::EvalAtomicAdd(const tir::Call& call, int, Scalar* result) {
  Scalar pointer;
  Scalar value;
  Scalar sum;
  if (!Eval(call.args[0], &pointer) || !Eval(call.args[1], &value)) return false;
  const Pointer place = execution_.addresses.Find(AddressIn(pointer));
  if (!place.known()) return Fail("an atomic addition needs a pointer to memory");
  const ElementAddress element{place, place.origin};
  if (!LoadAt(element, value.dtype, "atomic", result)) return false;
  if (!ApplyScalar(kAdd, *result, value, &sum)) return Fail("the operands of an atomic addition cannot be added");
  return StoreAt(element, sum, "atomic");
}

// ---- Packed functions

// A tensor with the memory of a descriptor.
bool CallEvaluator::MakeTensor(const ArrayRecord& array, HostValue* value) {
  const Pointer place = execution_.addresses.Find(array.data);
  const std::optional<uint64_t> bytes = IsStoredType(array.dtype) ? ArrayBytes(array.dtype, array.shape) : std::nullopt;
  const int64_t begin = WrapAdd(place.origin, WrapMul(array.elem_offset, int64_t{array.dtype.bytes()}));
  if (!place.known() || !bytes || !array.strides.empty() || begin < 0 || begin > place.memory.bytes ||
      *bytes > static_cast<uint64_t>(place.memory.bytes - begin)) {
    return Fail("a packed function gets a tensor that is not compact or not in memory");
  }
  const Memory& memory = place.memory;
  if (!memory.writable) {
    // The function may keep the tensor longer than the memory exists.
    const auto copy = NDArray::Make(array.dtype, array.shape);
    if (*bytes > 0) std::memcpy(copy->mutable_data(), memory.data + begin, *bytes);
    *value = Tensor(copy);
    return true;
  }
  const auto size = static_cast<size_t>(memory.bytes);
  *value = Tensor(NDArray::View(array.dtype, array.shape, Storage::Wrap(memory.writable, size, memory.written),
                                static_cast<size_t>(begin)));
  return true;
}

bool CallEvaluator::EvalPackedArg(const PrimExpr* arg, HostValue* value) {
  if (const auto* text = As<tir::StringImm>(arg)) return *value = text->value, true;
  Scalar scalar;
  if (!Eval(arg, &scalar)) return false;
  if (!scalar.dtype.is_handle()) return *value = scalar, true;
  const ArrayRecord* array = execution_.addresses.FindArray(AddressIn(scalar));
  return array ? MakeTensor(*array, value) : Fail("a packed function gets a pointer that is not a tensor");
}

// The name, and the arguments.
bool CallEvaluator::EvalCallPacked(const tir::Call& call, int, Scalar* result) {
  const auto* name = call.args.empty() ? nullptr : As<tir::StringImm>(call.args[0]);
  if (!name) return Fail("a packed function without a name is called");
  if (!execution_.packed) return Fail(fmt::format("the packed function '{}' is called", name->value));
  std::vector<HostValue> args(call.args.size() - 1);
  for (size_t i = 0; i < args.size(); ++i) {
    if (!EvalPackedArg(call.args[i + 1], &args[i])) return false;
  }
  const Result<HostValue> returned = execution_.packed(name->value, args);
  if (!returned.ok()) return Fail(returned.error().message, returned.error().code);
  const Scalar* scalar = returned->scalar();
  *result = scalar ? *scalar : Scalar::Int(0, DataType::Int(32));
  return true;
}

// ---- Tensor descriptors

bool CallEvaluator::EvalMakeShape(const tir::Call& call, int, Scalar* result) {
  Memory memory;
  const int64_t rank = call.args.size();
  if (mapped_.size() >= kMaxDescriptors) return Fail("makes too many tensor descriptors", ErrorCode::Budget);
  owned_.push_back(NewMemory(rank, DataType::Int(64), &memory));
  if (!owned_.back()) return false;
  const uint64_t address = execution_.addresses.Map(memory);
  mapped_.push_back(address);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t dim = 0;
    if (!EvalInt(call.args[static_cast<size_t>(i)], &dim)) return false;
    if (!StoreAt({{memory, 0, address, nullptr}, i * 8}, Scalar::Int(dim), "shape")) return false;
  }
  return *result = MakePointer(address), true;
}

// Data, shape, strides (0 for none), rank, any value of the element type, offset in elements.
bool CallEvaluator::EvalMakeArray(const tir::Call& call, int, Scalar* result) {
  Scalar parts[4];
  ArrayRecord array;
  if (mapped_.size() >= kMaxDescriptors) return Fail("makes too many tensor descriptors", ErrorCode::Budget);
  for (size_t i = 0; i < 4; ++i) {
    if (!Eval(call.args[i], &parts[i])) return false;
  }
  if (!EvalInt(call.args[5], &array.elem_offset)) return false;
  array.data = AddressIn(parts[0]);
  array.shape_address = AddressIn(parts[1]);
  array.strides_address = AddressIn(parts[2]);
  array.dtype = call.args[4]->dtype;
  const int64_t rank = parts[3].integer;
  if (rank != 0 && !ReadInts(array.shape_address, rank, &array.shape)) return false;
  if (array.strides_address != 0 && !ReadInts(array.strides_address, rank, &array.strides)) return false;
  const uint64_t address = execution_.addresses.AddArray(std::move(array));
  mapped_.push_back(address);
  return *result = MakePointer(address), true;
}

bool CallEvaluator::EvalStructGet(const tir::Call& call, int, Scalar* result) {
  Scalar pointer;
  int64_t index = 0;
  int64_t field = 0;
  if (!Eval(call.args[0], &pointer) || !EvalInt(call.args[1], &index) || !EvalInt(call.args[2], &field)) return false;
  const ArrayRecord* array = execution_.addresses.FindArray(AddressIn(pointer));
  if (!array || index != 0) return Fail("a field is read of a value that is not a tensor descriptor");
  const auto number = [&](int64_t value) { return *result = Scalar::Int(value, call.dtype), true; };
  switch (StructField{field}) {
    case StructField::kArrAddr: return *result = pointer, true;
    case StructField::kArrData: return *result = MakePointer(array->data), true;
    case StructField::kArrShape: return *result = MakePointer(array->shape_address), true;
    case StructField::kArrStrides: return *result = MakePointer(array->strides_address), true;
    case StructField::kArrNDim: return number(std::ssize(array->shape));
    case StructField::kArrTypeCode: return number(DLPackCode(array->dtype.code));
    case StructField::kArrTypeBits: return number(array->dtype.bits);
    case StructField::kArrTypeLanes: return number(array->dtype.lanes);
    case StructField::kArrByteOffset: return number(WrapMul(array->elem_offset, int64_t{array->dtype.bytes()}));
    case StructField::kArrDeviceId: return number(0);
    case StructField::kArrDeviceType: return number(kCpuDevice);
    default: return Fail(fmt::format("field {} of a tensor descriptor is not known", field));
  }
}

}  // namespace iropt::eval

namespace iropt {

bool IsEvaluated(const OpInfo& intrinsic) {
  return ScalarEvaluator::IsEvaluated(intrinsic) || eval::CallEvaluator::FindBuiltin(intrinsic);
}

}  // namespace iropt
