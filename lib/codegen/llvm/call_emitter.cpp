#include "call_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "expr_emitter.h"
#include "iropt/codegen/loop_compiler.h"
#include "iropt/ir/dlpack.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/struct_field.h"
#include "signature.h"
#include "vector_instructions.h"

namespace iropt::codegen {

namespace {

bool IsPacked(OpId id) {
  return id == op::kTirTvmCallPacked || id == op::kTirTvmCallCpacked || id == op::kTirTvmCallPackedLowered ||
         id == op::kTirTvmCallCpackedLowered;
}

}  // namespace

TypedValue CallEmitter::UnsupportedCall(const tir::Call& call, std::string_view what) {
  llvm::Type* type = call.dtype.is_void() ? frame_.b().getInt32Ty() : frame_.types().Register(call.dtype);
  return {.value = frame_.Unsupported(fmt::format("{} {}", To<Op>(call.op)->name, what), type)};
}

llvm::Value* CallEmitter::EmitCall(const tir::Call& call, int lane) {
  if (const auto* callee = As<GlobalVar>(call.op)) return CallFunction(call, *callee);
  OpId id = To<Op>(call.op)->id;
  bool known = false;
  llvm::Value* value = EmitLaneCall(call, id, lane, &known);
  if (known) return value;
  if (const NamedInstruction named = FindVectorInstruction(call); named.instruction != VectorInstruction::kNone)
    return EmitInstruction(call, named, lane);
  std::span<const PrimExpr* const> operands(call.args);
  if (const NamedIntrinsic named = FindNamedIntrinsic(call); named.op) {
    id = To<Op>(named.op->op)->id;
    operands = operands.subspan(named.first_operand, named.num_operands());
  }
  if (!Arithmetic::IsIntrinsic(id, operands.size())) return EmitBuiltin(call, id).value;
  llvm::SmallVector<llvm::Value*, 4> args;
  llvm::SmallVector<DataType, 4> dtypes;
  for (const PrimExpr* arg : operands) {
    args.push_back(exprs_.Emit(arg, arg->dtype.lanes == 1 ? ExprEmitter::kAll : lane));
    dtypes.push_back(arg->dtype.with_lanes(1));
  }
  value = arithmetic_.Intrinsic(id, call.dtype.with_lanes(1), args, dtypes);
  if (value || lane != ExprEmitter::kAll) return value;
  // Scalar-only intrinsics are computed lane by lane.
  llvm::Value* vector = llvm::PoisonValue::get(frame_.types().Register(call.dtype));
  for (int i = 0; i < call.dtype.lanes; ++i) {
    llvm::SmallVector<llvm::Value*, 4> parts;
    for (llvm::Value* arg : args)
      parts.push_back(arg->getType()->isVectorTy() ? frame_.b().CreateExtractElement(arg, static_cast<uint64_t>(i))
                                                   : arg);
    vector = frame_.b().CreateInsertElement(vector, arithmetic_.Intrinsic(id, call.dtype.with_lanes(1), parts, dtypes),
                                            static_cast<uint64_t>(i));
  }
  return vector;
}

// Intrinsics with lazy operands, and those that split and concatenate vectors.
llvm::Value* CallEmitter::EmitLaneCall(const tir::Call& call, OpId id, int lane, bool* known) {
  *known = true;
  const auto is = [&](OpId wanted, size_t arity) { return id == wanted && call.args.size() == arity; };
  if (is(op::kTirIfThenElse, 3)) return exprs_.EmitChoice(call.args[0], call.args[1], call.args[2], lane);
  if (is(op::kTirLikely, 1) || is(op::kTirTvmThreadInvariant, 1) || is(op::kTirVectorlow, 1) ||
      is(op::kTirIgnoreLoopPartition, 1) || is(op::kTirAttributedCall, 2))
    return exprs_.Emit(call.args[0], lane);
  if (is(op::kTirAssume, 1)) {
    llvm::Value* holds = exprs_.EmitBool(call.args[0]);
    if (frame_.state().checks) frame_.FailIf(frame_.b().CreateNot(holds), "an assumption (T.assume) does not hold");
    return frame_.b().getTrue();
  }
  if (is(op::kTirVectorhigh, 1)) return exprs_.Emit(call.args[0], lane + call.args[0]->dtype.lanes / 2);
  if (is(op::kTirVectorcombine, 2)) {
    const int first = call.args[0]->dtype.lanes;
    const PrimExpr* part = lane < first ? call.args[0] : call.args[1];
    return exprs_.Emit(part, part->dtype.lanes == 1 ? ExprEmitter::kAll : lane < first ? lane : lane - first);
  }
  if (is(op::kTirGetActiveLaneMask, 2)) {
    llvm::Value* at = frame_.b().CreateAdd(exprs_.EmitInt(call.args[0]), frame_.Int64(std::max(lane, 0)));
    return frame_.b().CreateICmpSLT(at, exprs_.EmitInt(call.args[1]));
  }
  if (is(op::kTirDp4a, 3)) return EmitDotProduct(call);
  if (is(op::kTirReinterpret, 1)) return EmitReinterpret(call, lane);
  *known = false;
  return nullptr;
}

// The dot product of four lanes, added to an accumulator.
llvm::Value* CallEmitter::EmitDotProduct(const tir::Call& call) {
  llvm::Value* sum = exprs_.EmitInt(call.args[2]);
  for (int lane = 0; lane < 4; ++lane) {
    llvm::Value* product = frame_.b().CreateMul(exprs_.EmitInt(call.args[0], lane), exprs_.EmitInt(call.args[1], lane));
    sum = frame_.b().CreateAdd(sum, product);
  }
  return frame_.b().CreateTrunc(sum, frame_.types().Register(call.dtype));
}

llvm::Value* CallEmitter::EmitInstruction(const tir::Call& call, NamedInstruction named, int lane) {
  const auto operand = [&](uint32_t i) { return exprs_.Emit(call.args[named.first_operand + i]); };
  llvm::Value* value = named.instruction == VectorInstruction::kDotPairs
                           ? EmitDotPairs(frame_, operand(0), operand(1))
                           : EmitDotBytes(frame_, operand(0), operand(1), operand(2));
  return lane == ExprEmitter::kAll ? value : frame_.b().CreateExtractElement(value, static_cast<uint64_t>(lane));
}

// T.reinterpret, also to another number of lanes.
llvm::Value* CallEmitter::EmitReinterpret(const tir::Call& call, int lane) {
  const PrimExpr* arg = call.args[0];
  const DataType from = arg->dtype.with_lanes(1);
  const DataType to = call.dtype.with_lanes(1);
  if (from.is_handle() || to.is_handle()) return EmitTyped(&call).value;
  if (arg->dtype.lanes == call.dtype.lanes)
    return arithmetic_.Intrinsic(op::kTirReinterpret, to, {exprs_.Emit(arg, lane)}, {from});
  const bool fits = ValueTypes::IsElement(from) && ValueTypes::IsElement(to) &&
                    from.bytes() * arg->dtype.lanes == to.bytes() * call.dtype.lanes;
  if (!fits) return UnsupportedCall(call, "reinterprets a vector as one of another size").value;
  llvm::Value* stored = frame_.types().ToMemory(exprs_.Emit(arg), from);
  llvm::Value* value =
      frame_.types().FromMemory(frame_.b().CreateBitCast(stored, frame_.types().Memory(call.dtype)), to);
  return lane == ExprEmitter::kAll || call.dtype.lanes == 1
             ? value
             : frame_.b().CreateExtractElement(value, static_cast<uint64_t>(lane));
}

// ---- Pointers

TypedValue CallEmitter::EmitTyped(const PrimExpr* expr) {
  if (!expr->dtype.is_handle()) return {.value = exprs_.Emit(expr)};
  if (const auto* var = As<tir::Var>(expr)) {
    if (const TypedValue* value = scope_.Find(var)) return *value;
  }
  const auto* call = As<tir::Call>(expr);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  if (op && op->id == op::kTirReinterpret && call->args.size() == 1) {
    const PrimExpr* arg = call->args[0];
    if (arg->dtype.is_handle()) return EmitTyped(arg);
    // A pointer made from an integer has no allocation that may be accessed.
    return {.value = frame_.b().CreateIntToPtr(exprs_.EmitInt(arg), frame_.b().getPtrTy()),
            .origin = frame_.Int64(0),
            .size = frame_.Int64(0)};
  }
  if (op) return EmitBuiltin(*call, op->id);
  return {.value = exprs_.Emit(expr), .origin = frame_.Int64(0), .size = frame_.Int64(0)};
}

TypedValue CallEmitter::Advance(TypedValue pointer, llvm::Value* bytes) {
  pointer.value = frame_.b().CreateGEP(frame_.b().getInt8Ty(), pointer.value, bytes);
  if (pointer.origin) pointer.origin = frame_.b().CreateAdd(pointer.origin, bytes);
  pointer.is_root = false;
  pointer.array = nullptr;
  // What is behind the pointer is less than the whole memory.
  pointer.extents = {};
  pointer.element_bytes = 0;
  return pointer;
}

TypedValue CallEmitter::EmitAddressOf(const tir::Call& call) {
  const auto* load = As<tir::BufferLoad>(call.args[0]);
  if (!load) return UnsupportedCall(call, "requires an element of a buffer");
  const TypedValue* data = scope_.Find(load->buffer->data);
  llvm::Value* address = buffers_.Locate(*load->buffer, load->indices, 0, /*bounded=*/false);
  TypedValue pointer{.value = address};
  if (data && data->origin) {
    llvm::Value* bytes = frame_.b().CreateSub(frame_.b().CreatePtrToInt(address, frame_.b().getInt64Ty()),
                                              frame_.b().CreatePtrToInt(data->value, frame_.b().getInt64Ty()));
    pointer.origin = frame_.b().CreateAdd(data->origin, bytes);
    pointer.size = data->size;
  }
  return pointer;
}

// T.tvm_access_ptr(element type, pointer, offset in elements, extent, access mode).
TypedValue CallEmitter::EmitAccessPtr(const tir::Call& call) {
  const DataType dtype = call.args[0]->dtype;
  const int64_t bytes = int64_t{dtype.with_lanes(1).bytes()} * std::max<int64_t>(dtype.lanes, 1);
  return Advance(EmitTyped(call.args[1]), frame_.b().CreateMul(exprs_.EmitInt(call.args[2]), frame_.Int64(bytes)));
}

// ---- Descriptors

TypedValue CallEmitter::EmitMakeShape(const tir::Call& call) {
  auto array = std::make_shared<ArrayValue>();
  const uint64_t rank = call.args.size();
  llvm::Value* memory = frame_.StackSlot(frame_.b().getInt64Ty(), std::max<uint64_t>(rank, 1));
  for (size_t i = 0; i < rank; ++i) {
    array->shape.push_back(exprs_.EmitInt(call.args[i]));
    frame_.b().CreateStore(array->shape.back(),
                           frame_.b().CreateConstInBoundsGEP1_64(frame_.b().getInt64Ty(), memory, i));
  }
  return {.value = memory,
          .origin = frame_.Int64(0),
          .size = frame_.Int64(static_cast<int64_t>(8 * rank)),
          .array = std::move(array)};
}

// T.tvm_stack_make_array(data, shape, strides or 0, rank, a value of the element type, offset in elements).
TypedValue CallEmitter::EmitMakeArray(const tir::Call& call) {
  llvm::IRBuilder<>& b = frame_.b();
  auto array = std::make_shared<ArrayValue>();
  array->data = EmitTyped(call.args[0]);
  const TypedValue shape = EmitTyped(call.args[1]);
  const auto* rank = As<tir::IntImm>(call.args[3]);
  const bool has_strides = !Is<tir::IntImm>(call.args[2]);
  const TypedValue strides = has_strides ? EmitTyped(call.args[2]) : TypedValue{};
  array->elem_offset = exprs_.EmitInt(call.args[5]);
  array->dtype = call.args[4]->dtype;
  const auto fits = [&](const TypedValue& ints) {
    return ints.array && rank && ints.array->shape.size() == static_cast<size_t>(rank->value);
  };
  if (!rank || (rank->value != 0 && !fits(shape)) || (has_strides && !fits(strides)))
    return UnsupportedCall(call, "requires a shape made by T.tvm_stack_make_shape");
  if (shape.array) array->shape = shape.array->shape;
  if (has_strides) array->strides = strides.array->shape;
  llvm::Value* memory = frame_.StackSlot(b.getInt64Ty(), sizeof(LoopTensor) / 8);
  const auto set = [&](size_t at, llvm::Value* value) {
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), memory, at));
  };
  llvm::Value* null = llvm::ConstantPointerNull::get(b.getPtrTy());
  set(offsetof(LoopTensor, data), array->data.value);
  set(offsetof(LoopTensor, device_type), b.getInt32(1));
  set(offsetof(LoopTensor, device_id), b.getInt32(0));
  set(offsetof(LoopTensor, ndim), b.getInt32(static_cast<uint32_t>(rank->value)));
  set(offsetof(LoopTensor, code), b.getInt8(static_cast<uint8_t>(DLPackCode(array->dtype.code))));
  set(offsetof(LoopTensor, bits), b.getInt8(array->dtype.bits));
  set(offsetof(LoopTensor, lanes), b.getInt16(static_cast<uint16_t>(array->dtype.lanes)));
  set(offsetof(LoopTensor, shape), shape.array ? shape.value : null);
  set(offsetof(LoopTensor, strides), has_strides ? strides.value : null);
  set(offsetof(LoopTensor, byte_offset), b.CreateMul(array->elem_offset, frame_.Int64(array->dtype.bytes())));
  return {.value = memory, .origin = frame_.Int64(0), .size = frame_.Int64(0), .array = std::move(array)};
}

TypedValue CallEmitter::EmitStructGet(const tir::Call& call) {
  TypedValue pointer = EmitTyped(call.args[0]);
  const auto* index = As<tir::IntImm>(call.args[1]);
  const auto* field = As<tir::IntImm>(call.args[2]);
  if (!pointer.array || !pointer.array->data.value || !index || index->value != 0 || !field)
    return UnsupportedCall(call, "requires a tensor descriptor made by T.tvm_stack_make_array");
  const ArrayValue& array = *pointer.array;
  const auto number = [&](llvm::Value* value) -> TypedValue {
    return {.value = arithmetic_.Cast(value, DataType::Int(64), call.dtype)};
  };
  const auto ints = [&](const std::vector<llvm::Value*>& values, size_t at) -> TypedValue {
    auto shape = std::make_shared<ArrayValue>();
    shape->shape = values;
    llvm::Value* place = frame_.b().CreateConstInBoundsGEP1_64(frame_.b().getInt8Ty(), pointer.value, at);
    return {.value = frame_.b().CreateLoad(frame_.b().getPtrTy(), place),
            .origin = frame_.Int64(0),
            .size = frame_.Int64(static_cast<int64_t>(8 * values.size())),
            .array = std::move(shape)};
  };
  switch (StructField{field->value}) {
    case StructField::kArrAddr: return pointer;
    case StructField::kArrData: return array.data;
    case StructField::kArrShape: return ints(array.shape, offsetof(LoopTensor, shape));
    case StructField::kArrStrides: return ints(array.strides, offsetof(LoopTensor, strides));
    case StructField::kArrNDim: return number(frame_.Int64(std::ssize(array.shape)));
    case StructField::kArrTypeCode: return number(frame_.Int64(DLPackCode(array.dtype.code)));
    case StructField::kArrTypeBits: return number(frame_.Int64(array.dtype.bits));
    case StructField::kArrTypeLanes: return number(frame_.Int64(array.dtype.lanes));
    case StructField::kArrByteOffset:
      return number(frame_.b().CreateMul(array.elem_offset, frame_.Int64(array.dtype.bytes())));
    case StructField::kArrDeviceId: return number(frame_.Int64(0));
    case StructField::kArrDeviceType: return number(frame_.Int64(kCpuDevice));
    default: return UnsupportedCall(call, fmt::format("reads the unknown field {}", field->value));
  }
}

// ---- Other builtins

TypedValue CallEmitter::EmitBuiltin(const tir::Call& call, OpId id) {
  const auto is = [&](OpId wanted, size_t arity) { return id == wanted && call.args.size() == arity; };
  const auto nothing = [&]() -> TypedValue {
    return {.value = call.dtype.is_void() ? frame_.b().getInt32(0)
                                          : llvm::Constant::getNullValue(frame_.types().Register(call.dtype))};
  };
  if (is(op::kTirAddressOf, 1)) return EmitAddressOf(call);
  if (is(op::kTirTvmAccessPtr, 5)) return EmitAccessPtr(call);
  if (is(op::kTirAtomicAdd, 2)) return {.value = EmitAtomicAdd(call)};
  if (is(op::kTirIsNullptr, 1)) return {.value = frame_.b().CreateIsNull(EmitTyped(call.args[0]).value)};
  if (is(op::kTirTvmStructGet, 3)) return EmitStructGet(call);
  if (is(op::kTirTvmStackMakeArray, 6)) return EmitMakeArray(call);
  if (id == op::kTirTvmStackMakeShape) return EmitMakeShape(call);
  if (IsPacked(id)) return {.value = EmitPacked(call)};
  if (id == op::kTirTvmStorageSync) {
    if (exprs_.thread_axes != 0)
      return UnsupportedCall(call,
                             "cannot synchronize threads here: the threads of an enclosing axis run sequentially");
    return nothing();
  }
  // Hints for compilers and devices, without effect here.
  if (id == op::kTirPrefetch || id == op::kTirTvmTuple || is(op::kTirStartProfileIntrinsic, 1) ||
      is(op::kTirEndProfileIntrinsic, 1)) {
    return nothing();
  }
  return UnsupportedCall(call, "cannot be compiled for the host");
}

llvm::Value* CallEmitter::EmitAtomicAdd(const tir::Call& call) {
  llvm::IRBuilder<>& b = frame_.b();
  const TypedValue pointer = EmitTyped(call.args[0]);
  const DataType dtype = call.args[1]->dtype;
  llvm::Value* value = exprs_.Emit(call.args[1]);
  if (!ValueTypes::IsElement(dtype) || dtype.lanes != 1 || dtype.is_bool())
    return UnsupportedCall(call, "does not support this dtype").value;
  if (frame_.state().checks && pointer.size && pointer.origin) {
    llvm::Value* room = b.CreateSub(pointer.size, frame_.Int64(dtype.bytes()));
    frame_.FailIf(b.CreateOr(b.CreateICmpSLT(pointer.origin, frame_.Int64(0)), b.CreateICmpSGT(pointer.origin, room)),
                  "an atomic addition is out of range");
  }
  if (dtype.is_floating() && dtype.bits < 32) return ExchangeSum(pointer.value, dtype, value);
  return b.CreateAtomicRMW(dtype.is_floating() ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add, pointer.value,
                           value, llvm::MaybeAlign(), llvm::AtomicOrdering::SequentiallyConsistent);
}

// A compare-and-swap loop, for formats without an atomic addition.
llvm::Value* CallEmitter::ExchangeSum(llvm::Value* address, DataType dtype, llvm::Value* value) {
  llvm::IRBuilder<>& b = frame_.b();
  llvm::Type* word = b.getIntNTy(dtype.bits);
  llvm::Type* stored = frame_.types().Memory(dtype);
  llvm::Value* before = frame_.StackSlot(word);
  llvm::Value* failed = frame_.StackSlot(b.getInt1Ty());
  b.CreateStore(b.CreateAlignedLoad(word, address, llvm::Align(static_cast<uint64_t>(dtype.bytes()))), before);
  b.CreateStore(b.getTrue(), failed);
  const auto old = [&] {
    return frame_.types().FromMemory(b.CreateBitCast(b.CreateLoad(word, before), stored), dtype);
  };
  frame_.While([&] { return b.CreateLoad(b.getInt1Ty(), failed); },
               [&] {
                 llvm::Value* expected = b.CreateLoad(word, before);
                 llvm::Value* sum = arithmetic_.Binary(NodeKind::kAdd, dtype, old(), value);
                 llvm::Value* wanted = b.CreateBitCast(frame_.types().ToMemory(sum, dtype), word);
                 const auto order = llvm::AtomicOrdering::SequentiallyConsistent;
                 llvm::Value* pair = b.CreateAtomicCmpXchg(address, expected, wanted, llvm::MaybeAlign(), order, order);
                 llvm::Value* done = b.CreateExtractValue(pair, 1);
                 b.CreateStore(b.CreateSelect(done, expected, b.CreateExtractValue(pair, 0)), before);
                 b.CreateStore(b.CreateNot(done), failed);
               });
  return old();
}

// T.call_packed(name, arguments...). Each argument becomes a LoopArg.
llvm::Value* CallEmitter::EmitPacked(const tir::Call& call) {
  llvm::IRBuilder<>& b = frame_.b();
  const auto* name = call.args.empty() ? nullptr : As<tir::StringImm>(call.args[0]);
  if (!name) return UnsupportedCall(call, "requires the name of a packed function").value;
  const size_t count = call.args.size() - 1;
  llvm::Value* args = frame_.StackSlot(b.getInt64Ty(), 2 * std::max<size_t>(count, 1));
  llvm::Value* result = frame_.StackSlot(b.getInt64Ty(), 2);
  const auto set = [&](llvm::Value* memory, size_t at, LoopArg::Kind kind, llvm::Value* value) {
    b.CreateStore(frame_.Int64(static_cast<int64_t>(kind)),
                  b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), memory, 2 * at));
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), memory, 2 * at + 1));
  };
  for (size_t i = 0; i < count; ++i) {
    const PrimExpr* arg = call.args[i + 1];
    const TypedValue value = EmitTyped(arg);
    if (Is<tir::StringImm>(arg)) {
      set(args, i, LoopArg::Kind::kString, value.value);
    } else if (arg->dtype.is_handle()) {
      const bool tensor = value.array && value.array->data.value;
      set(args, i, tensor ? LoopArg::Kind::kTensor : LoopArg::Kind::kPointer, value.value);
    } else if (arg->dtype.is_floating()) {
      set(args, i, LoopArg::Kind::kFloat, arithmetic_.Cast(value.value, arg->dtype, DataType::Float(64)));
    } else {
      set(args, i, LoopArg::Kind::kInt, frame_.ToInt64(value.value, arg->dtype.is_int()));
    }
  }
  set(result, 0, LoopArg::Kind::kNone, frame_.Int64(0));
  frame_.FailWith(frame_.CallRuntime(
      "iropt_packed", b.getInt32Ty(),
      {frame_.context(), frame_.GlobalString(name->value), args, b.getInt32(static_cast<uint32_t>(count)), result}));
  llvm::Value* payload = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), result, 1);
  if (call.dtype.is_void()) return b.getInt32(0);
  if (call.dtype.is_handle()) return b.CreateLoad(b.getPtrTy(), payload);
  const DataType carried = call.dtype.is_floating() ? DataType::Float(64) : DataType::Int(64);
  return arithmetic_.Cast(b.CreateLoad(frame_.types().Register(carried), payload), carried, call.dtype);
}

// ---- Functions of the module

struct CallEmitter::Callee {
  const PrimFunc& func;
  Signature signature;
  std::vector<TypedValue> args;  // by parameter
  explicit Callee(const PrimFunc& f) : func(f), signature(f) {}
};

llvm::Value* CallEmitter::CallFunction(const tir::Call& call, const GlobalVar& var) {
  llvm::IRBuilder<>& b = frame_.b();
  llvm::Type* type = call.dtype.is_void() ? b.getInt32Ty() : frame_.types().Register(call.dtype);
  const PrimFunc* func = functions_.Find(var);
  if (!func || func->params.size() != call.args.size())
    return frame_.Unsupported(
        fmt::format("a call of '{}' has {} arguments, which do not match its parameters", var.name, call.args.size()),
        type);
  Callee callee(*func);
  for (const PrimExpr* arg : call.args) callee.args.push_back(EmitTyped(arg));
  llvm::Value* result = frame_.StackSlot(b.getInt64Ty());
  b.CreateStore(frame_.Int64(0), result);
  const Scope outer = scope_;
  BindCallee(callee, call);
  llvm::SmallVector<llvm::Value*, 16> words = {frame_.context()};
  for (size_t i = 0; i < callee.args.size(); ++i) {
    words.push_back(callee.args[i].value);
    if (callee.signature.params[i].is_pointer()) words.push_back(callee.args[i].size);
  }
  for (const tir::Var* symbol : callee.signature.symbols) {
    const TypedValue* value = scope_.Find(symbol);  // null only after an error
    words.push_back(value ? value->value : llvm::Constant::getNullValue(frame_.types().Register(symbol->dtype)));
  }
  scope_ = outer;
  words.push_back(result);
  frame_.FailWith(frame_.CallRuntime("iropt_nest", b.getInt32Ty(), {frame_.context(), b.getInt32(1)}));
  frame_.FailWith(b.CreateCall(functions_.Declare(*func), words));
  frame_.CallRuntime("iropt_nest", b.getInt32Ty(), {frame_.context(), b.getInt32(static_cast<uint32_t>(-1))});
  const DataType returned = callee.signature.result;
  if (call.dtype.is_void() || returned.is_void()) return llvm::Constant::getNullValue(type);
  const DataType carried = returned.is_floating() ? DataType::Float(64) : DataType::Int(64);
  return arithmetic_.Cast(b.CreateLoad(frame_.types().Register(carried), result), carried, call.dtype);
}

// Binds the parameters of the callee, and the symbolic variables of its buffers, in the current scope.
void CallEmitter::BindCallee(Callee& callee, const tir::Call& call) {
  llvm::IRBuilder<>& b = frame_.b();
  for (const tir::Var* symbol : callee.signature.symbols) scope_.Unbind(symbol);
  for (size_t i = 0; i < callee.args.size(); ++i) {
    const Signature::Param& param = callee.signature.params[i];
    TypedValue& arg = callee.args[i];
    if (param.is_pointer() != call.args[i]->dtype.is_handle())
      return frame_.state().Unsupported(
          fmt::format("the argument for parameter '{}' has a wrong dtype", param.var->name));
    if (!param.is_pointer()) {
      arg.value = arithmetic_.Cast(arg.value, call.args[i]->dtype, param.var->dtype);
      scope_.Bind(param.var, arg.value);
    } else if (!param.buffer) {
      arg.size = arg.size && arg.origin ? b.CreateSub(arg.size, arg.origin) : frame_.Int64(0);
      scope_.Bind(param.var, arg);
    }
  }
  for (size_t i = 0; i < callee.args.size(); ++i) {
    if (const tir::Buffer* buffer = callee.signature.params[i].buffer) MatchDescriptor(*buffer, callee.args[i]);
  }
}

// The argument is a tensor descriptor, or a pointer to elements in the shape that the buffer declares.
void CallEmitter::MatchDescriptor(const tir::Buffer& buffer, TypedValue& arg) {
  llvm::IRBuilder<>& b = frame_.b();
  View view;
  if (const std::shared_ptr<const ArrayValue> array = arg.array; array && array->data.value) {
    if (array->dtype != buffer.dtype) {
      frame_.FailIf(b.getTrue(), fmt::format("buffer '{}' has dtype {}, but its argument has {}", buffer.name,
                                             buffer.dtype.ToString(), array->dtype.ToString()));
    }
    view.shape = array->shape;
    view.strides = array->strides.empty() ? buffers_.CompactStrides(array->shape) : array->strides;
    view.offset = frame_.Int64(0);
    arg = Advance(array->data, b.CreateMul(array->elem_offset, frame_.Int64(array->dtype.bytes())));
    const std::vector<llvm::Value*> compact = buffers_.CompactStrides(array->shape);
    for (size_t i = 0; buffer.strides.empty() && i < compact.size(); ++i) {
      llvm::Value* apart = b.CreateICmpNE(compact[i], view.strides[i]);
      frame_.FailIf(b.CreateAnd(apart, b.CreateICmpNE(view.shape[i], frame_.Int64(1))),
                    fmt::format("buffer '{}' requires a compact tensor", buffer.name));
    }
    buffers_.DeclareAs(buffer, view);
  } else {
    if (buffer.elem_offset && Is<tir::Var>(buffer.elem_offset))
      buffers_.Match(buffer.elem_offset, frame_.Int64(0), "the offset of a buffer");
    view = buffers_.ResolveView(buffer);
    arg = Advance(
        arg, b.CreateMul(view.offset, frame_.Int64(BufferEmitter::ElementOf(buffer).bytes() * buffer.dtype.lanes)));
  }
  arg.size = arg.size && arg.origin ? b.CreateSub(arg.size, arg.origin) : frame_.Int64(0);
  // The callee assumes that all elements are within the allocation.
  llvm::Value* last = frame_.Int64(1);
  for (size_t i = 0; i < view.shape.size(); ++i) {
    frame_.FailIf(b.CreateICmpSLT(view.strides[i], frame_.Int64(0)), "a stride of an argument is negative");
    last = b.CreateAdd(last, b.CreateMul(b.CreateSub(view.shape[i], frame_.Int64(1)), view.strides[i]));
  }
  llvm::Value* bytes = b.CreateMul(last, frame_.Int64(BufferEmitter::ElementOf(buffer).bytes() * buffer.dtype.lanes));
  llvm::Value* count = buffers_.CountElements(view.shape);
  llvm::Value* some = b.CreateICmpSGT(count, frame_.Int64(0));
  if (frame_.state().checks)
    frame_.FailIf(b.CreateAnd(some, b.CreateICmpSGT(bytes, arg.size)),
                  fmt::format("the memory of the argument for buffer '{}' is too small", buffer.name));
}

}  // namespace iropt::codegen
