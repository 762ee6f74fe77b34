// tir.LowerTVMBuiltin: puts the arguments of packed calls on the stack, and allocates large memory by the runtime.
//
//   T.call_packed("add", A, 1)     -->    stack_tcode = T.tvm_stack_alloca("arg_tcode", 3)
//                                         stack_value = T.tvm_stack_alloca("arg_value", 3)
//                                         T.tvm_struct_set(stack_value, 0, 12, A)
//                                         ...
//                                         T.call_packed_lowered("add", stack_value, stack_tcode, 0, 2)
//
//   A = T.allocate([n], "float32", "global")   -->   A = T.TVMBackendAllocWorkspace(1, dev_id, n * 4, 2, 32)
//   ...                                              ...
//                                                    if T.TVMBackendFreeWorkspace(1, dev_id, A) != 0: ...
//
// Since TVM 0.21 both stacks are one, stack_ffi_any, with values of its FFI. Since 0.26 memory of the runtime is
// declared as a buffer with the call as its pointer.
//
// The stack of a function, or of the body of a parallel loop, is as large as its largest packed call needs, with the
// packed calls, arrays and shapes among its arguments. Memory on the CPU of less than 1024 bytes stays. The attributes
// device_type and device_id are removed: the device is the innermost one that they state, or that of the target. Calls
// of DMA become packed calls of the device. Only functions on the host change. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/dlpack.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/host/host_builder.h"

namespace iropt {

namespace {

constexpr int64_t kMaxStackBytes = 1024;

// The device as in the names of its functions; nothing if TVM does not know it.
std::optional<std::string_view> DeviceName(int64_t device_type) {
  switch (device_type) {
    case 1: return "cpu";
    case 2: return "cuda";
    case 3: return "cuda_host";
    case 4: return "opencl";
    case 5: return "aocl";
    case 6: return "sdaccel";
    case 7: return "vulkan";
    case 8: return "metal";
    case 9: return "vpi";
    case 10: return "rocm";
    case 11: return "rocm_host";
    case 12: return "ext_dev";
    case 13: return "cuda_managed";
    case 14: return "oneapi";
    case 15: return "webgpu";
    case 16: return "hexagon";
    default: return std::nullopt;
  }
}

// In elements of each stack.
struct StackSizes {
  int64_t shape = -1;  // -1: there are no shapes, 0: only those without dimensions
  int64_t array = 0;
  int64_t arg = 0;

  void Include(const StackSizes& other) {
    shape = std::max(shape, other.shape);
    array = std::max(array, other.array);
    arg = std::max(arg, other.arg);
  }
};

class BuiltinLowerer : public tir::StmtExprMutator {
 public:
  BuiltinLowerer(const PrimFunc& func, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        build_(workspace),
        diagnostics_(diagnostics),
        packs_for_ffi_(workspace.version() >= TextVersion::kV0_21),
        declares_memory_(workspace.version() >= TextVersion::kV0_26) {
    if (const DictAttr* target = TargetOf(func)) device_type_ = build_.Int32(DeviceTypeOf(*target));
  }

  const tir::Stmt* Lower(const tir::Stmt* body) { return InScope(body); }
  bool failed() const { return failed_; }

  // Puts the statements that a statement needs before it.
  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    std::vector<const tir::Stmt*> outer = std::exchange(before_, {});
    const tir::Stmt* visited = StmtExprMutator::VisitStmt(stmt);
    if (!before_.empty()) {
      before_.push_back(visited);
      visited = tir::MakeSeq(workspace(), before_);
    }
    before_ = std::move(outer);
    return visited;
  }

 protected:
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    const auto* call = As<tir::Call>(let->value);
    if (!call || !IsOp(call->op, op::kTirNdMemAllocWithScope)) return StmtExprMutator::VisitLetStmt(let);
    const tir::LetStmt* lowered = AllocateNd(*let, *call);
    return lowered ? StmtExprMutator::VisitLetStmt(lowered) : let;
  }
  const tir::Stmt* VisitAllocate(const tir::Allocate* old) override {
    const auto* disabled = As<IntAttr>(old->annotations->Find(attr::kDisableLowerBuiltin));
    if ((disabled && disabled->value != 0) || IsOnStack(*old) || !HasDevice(*old)) {
      return StmtExprMutator::VisitAllocate(old);
    }
    const tir::Var* pointer = declares_memory_ && Declares(*old) ? OwnPointer(*old->buffer_var) : old->buffer_var;
    return AllocateWorkspace(*To<tir::Allocate>(StmtExprMutator::VisitAllocate(old)), pointer);
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key != attr::kDeviceId && stmt->attr_key != attr::kDeviceType)
      return StmtExprMutator::VisitAttrStmt(stmt);
    const PrimExpr*& current = stmt->attr_key == attr::kDeviceId ? device_id_ : device_type_;
    const PrimExpr* outer = std::exchange(current, stmt->value);
    const tir::Stmt* body = VisitStmt(stmt->body);
    current = outer;
    return body;
  }
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (loop->for_kind != tir::ForKind::kParallel) return StmtExprMutator::VisitFor(loop);
    tir::For copy = *loop;
    copy.min = VisitExpr(loop->min);
    copy.extent = VisitExpr(loop->extent);
    copy.body = InScope(loop->body);
    return tir::CopyIfChanged(loop, copy, workspace());
  }
  const PrimExpr* VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    if (!op) return StmtExprMutator::VisitCall(call);
    switch (op->id) {
      case op::kTirTvmCallPacked: return CallPacked(*call, 0, op::kTirTvmCallPackedLowered);
      case op::kTirTvmCallCpacked: return CallPacked(*call, 0, op::kTirTvmCallCpackedLowered);
      case op::kTirTvmCallTracePacked: return CallPacked(*call, 0, op::kTirTvmCallTracePackedLowered);
      case op::kTirAnylistSetitemCallPacked: return CallPackedForList(*call, op::kTirTvmCallPackedLowered);
      case op::kTirAnylistSetitemCallCpacked: return CallPackedForList(*call, op::kTirTvmCallCpackedLowered);
      case op::kTirTvmStackMakeShape: return MakeShape(*call);
      case op::kTirTvmStackMakeArray: return MakeArray(*call);
      case op::kTirTvmContextId: return build_.NullHandle();
      case op::kTirDmaCopy: return CallDevice(*call, "dma_copy", 5);
      case op::kTirDmaWait: return CallDevice(*call, "dma_wait", 2);
      case op::kTirDmaStartGroup: return CallDevice(*call, "dma_start_group", 1);
      case op::kTirDmaEndGroup: return CallDevice(*call, "dma_end_group", 1);
      default: return StmtExprMutator::VisitCall(call);
    }
  }

 private:
  // The stacks of a function, or of the body of a parallel loop.
  struct Stacks {
    const tir::Buffer* shape;
    const tir::Var* array;
    const tir::Var* value;
    const tir::Buffer* type_code;  // unused for the FFI
    StackSizes used = {};
    StackSizes needed = {};
  };

  // The stacks are only as large as is known after the visit, so their buffers get their sizes then.
  const tir::Stmt* InScope(const tir::Stmt* body) {
    const PrimExpr*& shape_size = *workspace().arena().NewArray<const PrimExpr*>(1).data();
    const PrimExpr*& code_size = *workspace().arena().NewArray<const PrimExpr*>(1).data();
    tir::Buffer* shape = NewStack("stack_shape", DataType::Int(64), DataType::Int(64), shape_size);
    tir::Buffer* type_code = NewStack("stack_tcode", DataType::Int(32), DataType::UInt(64), code_size);
    Stacks outer = std::exchange(
        stacks_, Stacks{shape, workspace().NewPrimVar("stack_array", DataType::Handle()),
                        workspace().NewPrimVar(packs_for_ffi_ ? "stack_ffi_any" : "stack_value", DataType::Handle()),
                        type_code});
    const tir::Stmt* visited = VisitStmt(body);
    const StackSizes sizes = stacks_.needed;
    shape_size = build_.make().Int(std::max<int64_t>(sizes.shape, 0), DataType::Int(64));
    code_size = build_.make().Int(sizes.arg, DataType::UInt(64));
    StmtNest nest(build_);
    if (sizes.arg != 0 && packs_for_ffi_) {
      nest.Add<tir::LetStmt>(stacks_.value, Alloca("tvm_ffi_any", sizes.arg));
    } else if (sizes.arg != 0) {
      nest.Add<tir::LetStmt>(type_code->data, Alloca("arg_tcode", sizes.arg));
      nest.Add<tir::DeclBuffer>(type_code);
      nest.Add<tir::LetStmt>(stacks_.value, Alloca("arg_value", sizes.arg));
    }
    if (sizes.array != 0) nest.Add<tir::LetStmt>(stacks_.array, Alloca("array", sizes.array));
    if (sizes.shape != -1) {
      nest.Add<tir::LetStmt>(shape->data, Alloca("shape", sizes.shape));
      nest.Add<tir::DeclBuffer>(shape);
    }
    stacks_ = outer;
    return nest.Around(visited);
  }
  tir::Buffer* NewStack(std::string_view name, DataType dtype, DataType index, const PrimExpr*& size) {
    size = build_.make().Int(0, index);
    tir::Buffer stack = *build_.DeclBuffer(name, dtype, size);
    if (declares_memory_) {
      tir::Var* pointer = OwnPointer(*stack.data);
      pointer->pointer = tir::PointerInfo::Get(dtype, "global");
      stack.data = pointer;
    }
    stack.shape = List<const PrimExpr*>(std::span(&size, 1));
    return workspace().New<tir::Buffer>(stack);
  }
  const PrimExpr* Alloca(std::string_view what, int64_t size) const {
    return build_.Call(DataType::Handle(), op::kTirTvmStackAlloca, {build_.String(what), build_.Int32(size)});
  }

  // ---- Packed calls

  const PrimExpr* CallPacked(const tir::Call& old, uint32_t name, OpId lowered) {
    // The last operand is the resource handle of the one, and the traced value of the other.
    const bool has_resource = lowered == op::kTirTvmCallCpackedLowered && !packs_for_ffi_;
    const bool is_traced = lowered == op::kTirTvmCallTracePackedLowered;
    const uint32_t end = old.args.size() - (has_resource ? 1 : 0);
    if (old.args.size() <= name || end <= name) return StmtExprMutator::VisitCall(&old);
    const StackSizes before = stacks_.used;
    const int64_t begin = before.arg;
    const int64_t num_args = end - name - 1;
    stacks_.used.arg += num_args + 1;  // and the result
    const auto* call = static_cast<const tir::Call*>(StmtExprMutator::VisitCall(&old));
    for (int64_t i = 0; i < num_args; ++i) SetArg(call->args[name + 1 + static_cast<uint32_t>(i)], begin + i);
    // TVM does not count from the first argument.
    if (packs_for_ffi_) SetFfiValue(num_args, ffi_type::kNone, build_.make().Int(0, DataType::Int(64)));
    stacks_.needed.Include(stacks_.used);
    stacks_.used = before;
    std::vector<const PrimExpr*> args = {call->args[name], stacks_.value};
    if (!packs_for_ffi_) args.push_back(stacks_.type_code->data);
    args.push_back(build_.Int32(begin));
    args.push_back(build_.Int32(begin + num_args));
    const PrimExpr* last = call->args[call->args.size() - 1];
    if (has_resource) {
      const auto* resource = As<tir::Var>(last);
      args.push_back(resource ? build_.String(resource->name) : last);
    } else if (is_traced) {
      args.push_back(last);
    }
    return build_.Call(call->dtype, GetOp(lowered), args);
  }
  // The result becomes an element of a list.
  const PrimExpr* CallPackedForList(const tir::Call& old, OpId lowered) {
    const auto* call = As<tir::Call>(CallPacked(old, 2, lowered));
    if (!call || !IsOp(call->op, lowered)) return call;
    before_.push_back(build_.Evaluate(call));
    if (packs_for_ffi_) {
      return build_.Call(DataType::Int(32), op::kTirTVMBackendAnyListMoveFromPackedReturn,
                         {old.args[0], old.args[1], call->args[1], call->args[3]});
    }
    return build_.Call(DataType::Int(32), op::kTirTVMBackendAnyListMoveFromPackedReturn,
                       {old.args[0], old.args[1], call->args[1], call->args[2], call->args[4]});
  }
  void SetArg(const PrimExpr* arg, int64_t index) {
    const auto* call = As<tir::Call>(arg);
    if (call && IsOp(call->op, op::kTirAnylistGetitem) && call->args.size() == 2) {
      std::vector<const PrimExpr*> args = {call->args[0], call->args[1], stacks_.value};
      if (!packs_for_ffi_) args.push_back(stacks_.type_code->data);
      args.push_back(build_.Int32(index));
      before_.push_back(
          build_.Evaluate(build_.Call(DataType::Int(32), GetOp(op::kTirTVMBackendAnyListSetPackedArg), args)));
      return;
    }
    const DataType stored = ApiType(arg->dtype);
    if (stored.is_void()) {
      Fail(*arg, fmt::format("a packed function cannot take {}", arg->dtype.ToString()));
      return;
    }
    if (stored != arg->dtype) arg = workspace().New<tir::Cast>(stored, arg);
    if (packs_for_ffi_) {
      SetFfiArg(arg, index);
      return;
    }
    before_.push_back(build_.SetField(stacks_.value, index, StructField::kValueContent, arg));
    TypeCodeOfValue code = TypeCodeOfValue::kOpaqueHandle;
    if (Is<tir::StringImm>(arg)) code = TypeCodeOfValue::kStr;
    if (IsArrayAddress(arg)) code = TypeCodeOfValue::kDLTensor;
    if (stored.is_int()) code = TypeCodeOfValue::kInt;
    if (stored.is_floating()) code = TypeCodeOfValue::kFloat;
    const tir::Stmt* store = build_.Store(stacks_.type_code, index, build_.Code(code));
    if (code == TypeCodeOfValue::kOpaqueHandle) {
      const tir::Stmt* null = build_.Store(stacks_.type_code, index, build_.Code(TypeCodeOfValue::kNullptr));
      store = workspace().New<tir::IfThenElse>(build_.IsNull(arg), null, store);
    }
    before_.push_back(store);
  }
  void SetFfiArg(const PrimExpr* arg, int64_t index) {
    int64_t type = ffi_type::kOpaquePointer;
    if (arg->dtype.is_int()) type = ffi_type::kInt;
    if (arg->dtype.is_floating()) type = ffi_type::kFloat;
    if (IsArrayAddress(arg)) type = ffi_type::kDLTensor;
    if (Is<tir::StringImm>(arg)) {
      type = ffi_type::kRawString;
      if (declares_memory_) arg = build_.Call(DataType::Handle(), op::kTirReinterpret, {arg});
    }
    SetFfiValue(index, type, arg);
  }
  void SetFfiValue(int64_t index, int64_t type, const PrimExpr* value) {
    const auto set_type = [&](int64_t to) {
      return build_.SetField(stacks_.value, index, StructField::kFfiTypeIndex, build_.Int32(to));
    };
    const tir::Stmt* typed = set_type(type);
    if (type == ffi_type::kOpaquePointer) {
      typed = workspace().New<tir::IfThenElse>(build_.IsNull(value), set_type(ffi_type::kNone), typed);
    }
    before_.push_back(typed);
    if (workspace().version() >= TextVersion::kV0_22) {
      before_.push_back(build_.SetField(stacks_.value, index, StructField::kFfiZeroPadding, build_.Int32(0)));
    }
    before_.push_back(build_.SetField(stacks_.value, index, StructField::kFfiUnionValue, value));
  }
  static bool IsArrayAddress(const PrimExpr* arg) {
    const auto* call = As<tir::Call>(arg);
    return call && IsOp(call->op, op::kTirTvmStructGet) && call->args.size() == 3 &&
           arith::IsInt(call->args[2], static_cast<int64_t>(StructField::kArrAddr));
  }

  const PrimExpr* MakeShape(const tir::Call& old) {
    const int64_t begin = std::max<int64_t>(stacks_.used.shape, 0);
    stacks_.used.shape = begin + old.args.size();
    const auto* call = static_cast<const tir::Call*>(StmtExprMutator::VisitCall(&old));
    for (uint32_t i = 0; i < call->args.size(); ++i) {
      before_.push_back(build_.Store(stacks_.shape, begin + i, build_.make().Cast(DataType::Int(64), call->args[i])));
    }
    if (declares_memory_) {
      return build_.Call(DataType::Handle(), op::kTirAddressOf, {build_.Load(stacks_.shape, begin)});
    }
    tir::BufferSpec spec;
    spec.shape = {build_.Int32(begin + 1)};
    spec.dtype = DataType::Int(64);
    spec.data = stacks_.shape->data;
    const tir::Buffer* view = tir::MakeBuffer(workspace(), spec, stacks_.shape->data->name);
    return build_.Call(DataType::Handle(), op::kTirAddressOf, {build_.Load(view, begin)});
  }

  // Operands: data, shape, strides, number of dimensions, a value of the dtype, offset.
  const PrimExpr* MakeArray(const tir::Call& old) {
    const int64_t index = stacks_.used.array++;
    const auto* call = static_cast<const tir::Call*>(StmtExprMutator::VisitCall(&old));
    if (call->args.size() != 6 || !HasDevice(old)) return call;
    const arith::PrimBuilder& make = build_.make();
    const auto set = [&](StructField field, const PrimExpr* value) {
      before_.push_back(build_.SetField(stacks_.array, index, field, value));
    };
    const PrimExpr* strides = call->args[2];
    const DataType dtype = call->args[4]->dtype;
    const PrimExpr* offset = call->args[5];
    if (!arith::IsInt(offset, 0)) offset = make.Mul(offset, make.Const(dtype.bytes(), offset->dtype));
    set(StructField::kArrData, call->args[0]);
    set(StructField::kArrShape, call->args[1]);
    set(StructField::kArrStrides, arith::IsInt(strides, 0) ? build_.NullHandle() : strides);
    set(StructField::kArrNDim, call->args[3]);
    set(StructField::kArrTypeCode, make.Int(DLPackCode(dtype.code), DataType::UInt(8)));
    set(StructField::kArrTypeBits, make.Int(dtype.bits, DataType::UInt(8)));
    set(StructField::kArrTypeLanes, make.Int(dtype.lanes, DataType::UInt(16)));
    set(StructField::kArrByteOffset, make.Cast(DataType::UInt(64), offset));
    set(StructField::kArrDeviceId, make.Cast(DataType::Int(32), device_id_));
    set(StructField::kArrDeviceType, make.Cast(DataType::Int(32), device_type_));
    return build_.GetField(DataType::Handle(), stacks_.array, index, StructField::kArrAddr);
  }

  // ---- Memory and functions of devices

  bool IsOnStack(const tir::Allocate& allocate) const {
    const tir::PointerInfo* pointer = allocate.buffer_var->pointer;
    if (!device_type_ || !arith::IsInt(device_type_, kCpuDevice) || !pointer || pointer->scope != "global")
      return false;
    std::optional<int64_t> bytes = allocate.dtype.bytes();
    for (const PrimExpr* extent : allocate.extents) {
      const int64_t* value = arith::AsInt(extent);
      bytes = value && bytes ? arith::CheckedMul(*bytes, *value) : std::nullopt;
    }
    return bytes && *bytes > 0 && *bytes < kMaxStackBytes;
  }
  const tir::Stmt* ThrowIf(const PrimExpr* condition) const {
    const PrimExpr* call = build_.Call(DataType::Handle(), op::kTirTvmThrowLastError, {});
    return build_.workspace().New<tir::IfThenElse>(condition, build_.Evaluate(call), nullptr);
  }
  const PrimExpr* IsNotZero(const PrimExpr* value) const {
    return build_.make().Binary(NodeKind::kNE, value, build_.make().Const(0, value->dtype));
  }
  static bool Declares(const tir::Allocate& allocate) {
    const auto* decl = As<tir::DeclBuffer>(allocate.body);
    return decl && decl->buffer->data == allocate.buffer_var;
  }
  // That the declaration of a buffer binds; uses of the old one become it.
  tir::Var* OwnPointer(const tir::Var& old) {
    tir::Var* pointer = workspace().NewPrimVar(old.name, old.dtype, old.pointer);
    pointer->flags |= tir::Var::kBufferPointer;
    Remap(&old, pointer);
    return pointer;
  }
  const tir::Stmt* AllocateWorkspace(const tir::Allocate& allocate, const tir::Var* pointer) {
    const arith::PrimBuilder& make = build_.make();
    const PrimExpr* bytes = make.Int(allocate.dtype.bytes(), DataType::UInt(64));
    for (const PrimExpr* extent : allocate.extents) bytes = make.Mul(bytes, extent);
    const PrimExpr* type = make.Cast(DataType::Int(32), device_type_);
    const PrimExpr* id = make.Cast(DataType::Int(32), device_id_);
    StmtNest nest(build_);
    nest.Add<tir::LetStmt>(pointer, build_.Call(pointer->dtype, op::kTirTVMBackendAllocWorkspace,
                                                {type, id, bytes, build_.Int32(DLPackCode(allocate.dtype.code)),
                                                 build_.Int32(allocate.dtype.bits)}));
    const tir::Stmt* body = allocate.body;
    const auto* first = As<tir::DeclBuffer>(body);
    if (first && first->buffer->data == pointer && declares_memory_) {
      nest.Add<tir::DeclBuffer>(first->buffer);
      body = first->body;
    }
    if (workspace().version() < TextVersion::kV0_24) {
      nest.Add<tir::AttrStmt>(pointer, attr::kStorageAlignment, build_.Int32(tir::kAllocAlignment));
    }
    nest.Before(ThrowIf(build_.IsNull(pointer)));
    while (const auto* decl = As<tir::DeclBuffer>(body)) {
      nest.Add<tir::DeclBuffer>(decl->buffer);
      body = decl->body;
    }
    const PrimExpr* free = build_.Call(DataType::Int(32), op::kTirTVMBackendFreeWorkspace, {type, id, pointer});
    return nest.Around(build_.Seq({body, ThrowIf(IsNotZero(free))}));
  }
  // Null after an error. The calls are lowered next.
  const tir::LetStmt* AllocateNd(const tir::LetStmt& let, const tir::Call& call) {
    if (!let.var->pointer || call.args.empty()) {
      Fail(let, "memory of a device needs a pointer with an element type, and a scope");
      return nullptr;
    }
    const PrimExpr* allocate_name = HasDevice(let) ? MethodName(let, "alloc_nd") : nullptr;
    const PrimExpr* free_name = allocate_name ? MethodName(let, "free_nd") : nullptr;
    if (!free_name) return nullptr;
    const DataType dtype = let.var->pointer->elem;
    std::vector<const PrimExpr*> args = {allocate_name, device_type_, device_id_, build_.Int32(DLPackCode(dtype.code)),
                                         build_.Int32(dtype.bits)};
    args.insert(args.end(), call.args.begin(), call.args.end());
    const PrimExpr* free = build_.Call(DataType::Int(32), op::kTirTvmCallPacked,
                                       {free_name, device_type_, device_id_, call.args[0], let.var});
    const tir::Stmt* body = build_.Seq({ThrowIf(build_.IsNull(let.var)), let.body, ThrowIf(IsNotZero(free))});
    return workspace().New<tir::LetStmt>(let.var, build_.Call(let.var->dtype, GetOp(op::kTirTvmCallPacked), args),
                                         body);
  }
  const PrimExpr* CallDevice(const tir::Call& call, std::string_view method, uint32_t num_args) {
    const PrimExpr* name = call.args.size() < num_args ? nullptr : MethodName(call, method);
    if (!name) return &call;
    std::vector<const PrimExpr*> args = {name};
    args.insert(args.end(), call.args.begin(), call.args.begin() + num_args);
    return VisitExpr(build_.Call(DataType::Int(32), GetOp(op::kTirTvmCallPacked), args));
  }
  // Null after an error.
  const PrimExpr* MethodName(const Node& where, std::string_view method) {
    const int64_t* type = device_type_ ? arith::AsInt(device_type_) : nullptr;
    const std::optional<std::string_view> device = type ? DeviceName(*type) : std::nullopt;
    if (device) return build_.String(fmt::format("device_api.{}.{}", *device, method));
    Fail(where, fmt::format("the type of the device, on which {} runs, is not known", method));
    return nullptr;
  }
  bool HasDevice(const Node& where) {
    if (!device_type_) Fail(where, "the type of the device is not known: the attribute device_type is missing");
    if (!device_id_) Fail(where, "the number of the device is not known: the attribute device_id is missing");
    return device_type_ && device_id_;
  }
  void Fail(const Node& where, std::string message) {
    diagnostics_.Error(Location(where), "pass-failed", std::move(message));
    failed_ = true;
  }

  const HostBuilder build_;
  DiagnosticEngine& diagnostics_;
  const bool packs_for_ffi_;
  const bool declares_memory_;
  const PrimExpr* device_type_ = nullptr;  // null: not known
  const PrimExpr* device_id_ = nullptr;    // null: not known
  Stacks stacks_ = {};
  std::vector<const tir::Stmt*> before_;  // the current statement
  bool failed_ = false;
};

}  // namespace

Pass CreateLowerTVMBuiltin(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              if (!IsHostFunc(*func)) return func;
                              BuiltinLowerer lowerer(*func, context.workspace(), context.diagnostics());
                              const tir::Stmt* body = lowerer.Lower(func->body);
                              if (lowerer.failed()) return Failure{ErrorCode::PassFailed};
                              return WithBody(func, body, context.workspace());
                            });
}

}  // namespace iropt
