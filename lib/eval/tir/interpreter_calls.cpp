// Calls in the interpreter: of functions of the module, and of intrinsics on pointers.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter.h"
#include "iropt/ir/dlpack.h"
#include "iropt/ir/element.h"
#include "iropt/op/op.h"
#include "scalar_intrinsics.h"
#include "scalar_ops.h"

namespace iropt::eval {

namespace {

// The limit of work bounds recursion, but frames take memory, too, and so do descriptors, which live as long as the
// frame.
constexpr int kMaxDepth = 1000;
constexpr size_t kMaxDescriptors = 1 << 16;

uint64_t AddressIn(const Scalar& pointer) { return static_cast<uint64_t>(pointer.integer); }

}  // namespace

bool Interpreter::CallFunction(const tir::Call& call, const GlobalVar& callee, Scalar* result) {
  const ModuleEntry* entry = execution_.module ? execution_.module->Find(&callee) : nullptr;
  const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
  if (!func) return Fail(fmt::format("the module has no PrimFunc '{}' to call", callee.name));
  if (func->params.size() != call.args.size())
    return Fail(
        fmt::format("'{}' has {} parameters for {} arguments", callee.name, func->params.size(), call.args.size()));
  if (execution_.depth >= kMaxDepth) return Fail("calls are nested too deep", ErrorCode::Budget);
  Interpreter inner(execution_);
  const auto run = [&] {
    for (size_t i = 0; i < call.args.size(); ++i) {
      Scalar value;
      if (!Eval(call.args[i], &value)) return false;
      if (!inner.BindParam(func->params[i], func->param_buffers[i], value)) return false;
    }
    return inner.Run(*func);
  };
  ++execution_.depth;
  const bool done = run();
  --execution_.depth;
  if (!done)
    return failed() ? false : Fail(fmt::format("in '{}': {}", callee.name, inner.error().message), inner.error().code);
  *result = inner.returned();
  const DataType dtype = call.dtype.with_lanes(1);
  return call.dtype.is_void() || dtype == result->dtype || CastScalar(inner.returned(), dtype, result) ||
         Fail(fmt::format("'{}' does not return a {}", callee.name, dtype.ToString()));
}

const Interpreter::Builtin* Interpreter::FindBuiltin(const OpInfo& op) {
  static constexpr Builtin kRows[] = {
      {OpId::kTirAddressOf, 1, &Interpreter::EvalAddressOf},
      {OpId::kTirAtomicAdd, 2, &Interpreter::EvalAtomicAdd},
      {OpId::kTirBreakLoop, 0, &Interpreter::EvalOnlyStatement},
      {OpId::kTirContinueLoop, 0, &Interpreter::EvalOnlyStatement},
      {OpId::kTirEndProfileIntrinsic, 1, &Interpreter::EvalHint},
      {OpId::kTirIsNullptr, 1, &Interpreter::EvalIsNull},
      {OpId::kTirPrefetch, kAnyArity, &Interpreter::EvalHint},
      {OpId::kTirRet, 1, &Interpreter::EvalOnlyStatement},
      {OpId::kTirStartProfileIntrinsic, 1, &Interpreter::EvalHint},
      {OpId::kTirTvmAccessPtr, 5, &Interpreter::EvalAccessPtr},
      {OpId::kTirTvmCallPacked, kAnyArity, &Interpreter::EvalCallPacked},
      {OpId::kTirTvmStackMakeArray, 6, &Interpreter::EvalMakeArray},
      {OpId::kTirTvmStackMakeShape, kAnyArity, &Interpreter::EvalMakeShape},
      {OpId::kTirTvmStorageSync, kAnyArity, &Interpreter::EvalSync},
      {OpId::kTirTvmStructGet, 3, &Interpreter::EvalStructGet},
      {OpId::kTirTvmThreadAllreduce, kAnyArity, &Interpreter::EvalOnlyStatement},
      {OpId::kTirTvmTuple, kAnyArity, &Interpreter::EvalHint},
      {OpId::kTirUndef, 0, &Interpreter::EvalUndef},
  };
  static constexpr auto kTable = RowsById(kRows);
  return RowOf(kTable, op);
}

bool Interpreter::CallBuiltin(const tir::Call& call, std::string_view name, int lane, Scalar* result) {
  const Builtin* builtin = FindBuiltin(*To<Op>(call.op)->info);
  if (!builtin || (builtin->arity != kAnyArity && call.args.size() != builtin->arity))
    return Fail(fmt::format("cannot evaluate the intrinsic {}", name));
  return (this->*builtin->run)(call, lane, result);
}

// Hints for compilers or devices, without a result.
bool Interpreter::EvalHint(const tir::Call&, int, Scalar* result) {
  return *result = Scalar::Int(0, DataType::Int(32)), true;
}

// These are run as statements (see ExecEvaluate and ExecEvaluateLockstep) and have no value for an expression.
bool Interpreter::EvalOnlyStatement(const tir::Call& call, int, Scalar*) {
  return Fail(fmt::format("{} is not allowed here", To<Op>(call.op)->name));
}

bool Interpreter::EvalUndef(const tir::Call&, int, Scalar*) { return Fail("T.undef() is used as a value"); }

bool Interpreter::EvalSync(const tir::Call&, int, Scalar* result) {
  *result = Scalar::Int(0, DataType::Int(32));
  return execution_.thread_axes == 0 || Fail("threads synchronize where they do not run in lockstep");
}

bool Interpreter::EvalIsNull(const tir::Call& call, int, Scalar* result) {
  Scalar pointer;
  if (!Eval(call.args[0], &pointer)) return false;
  return *result = Scalar::Int(AddressIn(pointer) == 0, DataType::Bool()), true;
}

bool Interpreter::EvalAddressOf(const tir::Call& call, int lane, Scalar* result) {
  const auto* load = As<tir::BufferLoad>(call.args[0]);
  if (!load) return Fail("T.address_of needs an element of a buffer");
  ElementAddress element;
  if (!Locate(*load->buffer, load->indices, lane, /*bounded=*/false, &element)) return false;
  *result = MakePointer(WrapAdd(WrapSub(element.pointer.address, static_cast<uint64_t>(element.pointer.origin)),
                                static_cast<uint64_t>(element.at)));
  return true;
}

// An element type, a pointer, an offset in elements; the other operands give the extent and the kind of the access.
bool Interpreter::EvalAccessPtr(const tir::Call& call, int, Scalar* result) {
  Scalar pointer;
  int64_t offset = 0;
  if (!Eval(call.args[1], &pointer) || !EvalInt(call.args[2], &offset)) return false;
  const DataType dtype = call.args[0]->dtype;
  const int64_t bytes = int64_t{dtype.with_lanes(1).bytes()} * std::max<int64_t>(dtype.lanes, 1);
  return *result = MakePointer(WrapAdd(AddressIn(pointer), static_cast<uint64_t>(WrapMul(offset, bytes)))), true;
}

// The old value; atomic, as only one thread runs at a time.
bool Interpreter::EvalAtomicAdd(const tir::Call& call, int, Scalar* result) {
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
bool Interpreter::MakeTensor(const ArrayRecord& array, HostValue* value) {
  const Pointer place = execution_.addresses.Find(array.data);
  const std::optional<uint64_t> bytes =
      IsElementType(array.dtype) ? ArrayBytes(array.dtype, array.shape) : std::nullopt;
  const int64_t begin = WrapAdd(place.origin, WrapMul(array.elem_offset, int64_t{array.dtype.bytes()}));
  if (!place.known() || !bytes || !array.strides.empty() || begin < 0 || begin > place.memory.bytes ||
      *bytes > static_cast<uint64_t>(place.memory.bytes - begin)) {
    return Fail("a packed function gets a tensor that is not compact or not in memory");
  }
  const Memory& memory = place.memory;
  if (!memory.writable) {
    *value = NDArray::View(array.dtype, array.shape, memory.data + begin, nullptr);
    return true;
  }
  const auto size = static_cast<size_t>(memory.bytes);
  *value = Tensor(NDArray::View(array.dtype, array.shape, Storage::Wrap(memory.writable, size, memory.written),
                                static_cast<size_t>(begin)));
  return true;
}

bool Interpreter::EvalPackedArg(const PrimExpr* arg, HostValue* value) {
  if (const auto* text = As<tir::StringImm>(arg)) return *value = text->value, true;
  Scalar scalar;
  if (!Eval(arg, &scalar)) return false;
  if (!scalar.dtype.is_handle()) return *value = scalar, true;
  const ArrayRecord* array = execution_.addresses.FindArray(AddressIn(scalar));
  return array ? MakeTensor(*array, value) : Fail("a packed function gets a pointer that is not a tensor");
}

// The name, and the arguments.
bool Interpreter::EvalCallPacked(const tir::Call& call, int, Scalar* result) {
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

bool Interpreter::EvalMakeShape(const tir::Call& call, int, Scalar* result) {
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
bool Interpreter::EvalMakeArray(const tir::Call& call, int, Scalar* result) {
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

bool Interpreter::EvalStructGet(const tir::Call& call, int, Scalar* result) {
  // The numbers of the fields of a descriptor.
  enum Field : int64_t {
    kAddress,
    kData,
    kShape,
    kStrides,
    kRank,
    kTypeCode,
    kBits,
    kLanes,
    kByteOffset,
    kDeviceId,
    kDeviceType
  };
  Scalar pointer;
  int64_t index = 0;
  int64_t field = 0;
  if (!Eval(call.args[0], &pointer) || !EvalInt(call.args[1], &index) || !EvalInt(call.args[2], &field)) return false;
  const ArrayRecord* array = execution_.addresses.FindArray(AddressIn(pointer));
  if (!array || index != 0) return Fail("a field is read of a value that is not a tensor descriptor");
  const auto number = [&](int64_t value) { return *result = Scalar::Int(value, call.dtype), true; };
  switch (field) {
    case kAddress: return *result = pointer, true;
    case kData: return *result = MakePointer(array->data), true;
    case kShape: return *result = MakePointer(array->shape_address), true;
    case kStrides: return *result = MakePointer(array->strides_address), true;
    case kRank: return number(std::ssize(array->shape));
    case kTypeCode: return number(DLPackCode(array->dtype.code));
    case kBits: return number(array->dtype.bits);
    case kLanes: return number(array->dtype.lanes);
    case kByteOffset: return number(WrapMul(array->elem_offset, int64_t{array->dtype.bytes()}));
    case kDeviceId: return number(0);
    case kDeviceType: return number(1);  // a host
    default: return Fail(fmt::format("field {} of a tensor descriptor is not known", field));
  }
}

}  // namespace iropt::eval

namespace iropt {

bool IsEvaluated(const OpInfo& intrinsic) {
  return ScalarEvaluator::IsEvaluated(intrinsic) || eval::Interpreter::FindBuiltin(intrinsic);
}

}  // namespace iropt
