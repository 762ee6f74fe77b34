#include "stmt_emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "block_parts.h"
#include "iropt/ir/assertion.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/loop_hints.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/op/assert_message.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/support/stack.h"

namespace iropt::codegen {

namespace {

// The maximum bytes of one alloca, and of all allocas of a function: small, because calls may nest deeply. Tiles of
// schedules are in local memory, and LLVM keeps them in registers as far as it has these; the biggest is one of 6 x 6
// vectors of 512 bits.
constexpr uint64_t kSmallAllocation = 4096;
constexpr uint64_t kStackBytes = 8192;
// A large number in all formats of floats.
constexpr uint8_t kStackPattern = 0x5a;

// Returns whether the statement adds to the element that it stores, or makes it a maximum or minimum.
bool Accumulates(const tir::BufferStore& store) {
  const NodeKind kind = store.value->kind;
  if (kind != NodeKind::kAdd && kind != NodeKind::kMax && kind != NodeKind::kMin) return false;
  const auto* binary = static_cast<const tir::BinaryExpr*>(store.value);
  const auto is_element = [&](const PrimExpr* operand) {
    const auto* load = As<tir::BufferLoad>(operand);
    return load && load->buffer == store.buffer && DeepEqual(load->indices, store.indices);
  };
  return is_element(binary->a) || is_element(binary->b);
}

}  // namespace

void StmtEmitter::EmitBody(const tir::Stmt* body, llvm::Value* result) {
  plan_ = ThreadPlan(body);
  result_ = result;
  Emit(body);
}

// What a statement binds ends with it: a value that is computed in a loop or a branch is not valid after it.
void StmtEmitter::Emit(const tir::Stmt* stmt) {
  const Scope::Mark outer = exprs_.scope().mark();
  WithStack([&] { EmitNode(stmt); });
  exprs_.scope().Rewind(outer);
}

void StmtEmitter::EmitNode(const tir::Stmt* stmt) {
  switch (stmt->kind) {
    case NodeKind::kLetStmt: return EmitLet(*To<tir::LetStmt>(stmt));
    case NodeKind::kAttrStmt: return EmitAttr(*To<tir::AttrStmt>(stmt));
    case NodeKind::kAssertStmt: return EmitAssert(*To<tir::AssertStmt>(stmt));
    case NodeKind::kBufferStore: {
      const auto* store = To<tir::BufferStore>(stmt);
      // A store of T.undef() has no effect.
      if (CallOf(store->value, op::kTirUndef)) return;
      exprs_.in_any_order = in_any_order_ && Accumulates(*store) ? store->value : nullptr;
      exprs_.buffers().EmitStore(*store);
      exprs_.in_any_order = nullptr;
      return;
    }
    case NodeKind::kBufferRealize: return EmitRealize(*To<tir::BufferRealize>(stmt));
    // Like calls of T.prefetch, which it would become: processors detect the accesses of compiled loops themselves.
    case NodeKind::kPrefetch: return;
    case NodeKind::kAllocate: return EmitAllocate(*To<tir::Allocate>(stmt));
    case NodeKind::kAllocateConst: return EmitAllocateConst(*To<tir::AllocateConst>(stmt));
    case NodeKind::kDeclBuffer: {
      const auto* declaration = To<tir::DeclBuffer>(stmt);
      exprs_.buffers().Declare(*declaration->buffer);
      return Emit(declaration->body);
    }
    case NodeKind::kSeqStmt:
      for (const tir::Stmt* s : To<tir::SeqStmt>(stmt)->seq) Emit(s);
      return;
    case NodeKind::kIfThenElse: return EmitIf(*To<tir::IfThenElse>(stmt));
    case NodeKind::kEvaluate: return EmitEvaluate(*To<tir::Evaluate>(stmt));
    case NodeKind::kFor: return EmitFor(*To<tir::For>(stmt));
    case NodeKind::kWhile: {
      const auto* loop = To<tir::While>(stmt);
      return frame_.CountedWhile([&] { return exprs_.EmitBool(loop->condition); }, [&] { Emit(loop->body); },
                                 LoopKind::kOfProgram);
    }
    case NodeKind::kBlockRealize: return EmitBlockRealize(*To<tir::BlockRealize>(stmt));
    case NodeKind::kBlockStmt: return EmitBlock(*To<tir::Block>(stmt), /*with_init=*/true);
    default: frame_.state().Unsupported(fmt::format("cannot compile {}", NodeKindName(stmt->kind)));
  }
}

void StmtEmitter::EmitLet(const tir::LetStmt& let) {
  exprs_.scope().Bind(let.var, exprs_.EmitTyped(let.value));
  if (let.var->dtype.is_integer()) exprs_.ranges().BindValue(let.var, let.value);
  Emit(let.body);
}

void StmtEmitter::EmitAttr(const tir::AttrStmt& attr) {
  if (tir::IsThreadKey(attr.attr_key)) {
    const auto* axis = As<tir::IterVar>(attr.node);
    if (!axis) return frame_.state().Unsupported("expected a thread axis");
    // A nested binding of the same axis keeps its value.
    if (exprs_.scope().Find(axis->var)) return Emit(attr.body);
    return EmitAxis(loops_.RangeOf(axis->var, nullptr, attr.value), axis->thread_tag, attr.body);
  }
  // These alias a buffer to another, and number threads by several variables. All other attributes are hints.
  if (IsUnknownAttribute(attr))
    return frame_.state().Unsupported(fmt::format("the attribute '{}' is not supported", attr.attr_key));
  const bool outer = in_any_order_;
  in_any_order_ = outer || attr.attr_key == attr::kAnyOrder;
  Emit(attr.body);
  in_any_order_ = outer;
}

void StmtEmitter::EmitAssert(const tir::AssertStmt& assertion) {
  llvm::Value* holds = exprs_.EmitBool(assertion.condition);
  // Braces in a message are not placeholders.
  frame_.FailIf(b().CreateNot(holds), AssertionFailure(AssertMessageText(assertion.message)));
  const IndexRanges::Assumption assumption(exprs_.ranges(), assertion.condition);
  Emit(assertion.body);
}

void StmtEmitter::EmitIf(const tir::IfThenElse& branch) {
  const auto run = [&](const tir::Stmt* stmt, bool holds) {
    const IndexRanges::Assumption assumption(exprs_.ranges(), branch.condition, holds);
    Emit(stmt);
  };
  const auto then = [&] { run(branch.then_case, true); };
  const auto otherwise = [&] { run(branch.else_case, false); };
  const FunctionRef<void()> else_case(otherwise);
  frame_.If(exprs_.EmitBool(branch.condition), then, branch.else_case ? &else_case : nullptr);
}

// Evaluates an expression for its effects. T.ret ends the function.
void StmtEmitter::EmitEvaluate(const tir::Evaluate& evaluate) {
  const bool breaks = CallOf(evaluate.value, op::kTirBreakLoop) != nullptr;
  if ((breaks || CallOf(evaluate.value, op::kTirContinueLoop)) && frame_.Jump(breaks)) return;
  const tir::Call* call = CallOf(evaluate.value, op::kTirRet);
  if (!call || call->args.size() != 1) {
    exprs_.Emit(evaluate.value);
    return;
  }
  const DataType dtype = call->args[0]->dtype;
  if (returned_.is_void()) returned_ = dtype;
  // The caller reads the 64 bits of the result in one way.
  if (dtype.is_floating() != returned_.is_floating() || dtype.is_handle() != returned_.is_handle()) {
    return frame_.state().Unsupported(
        fmt::format("a function that returns {} and {} is not supported", returned_.ToString(), dtype.ToString()));
  }
  llvm::Value* value = exprs_.EmitTyped(call->args[0]).value;
  if (dtype.is_floating()) {
    value = exprs_.arithmetic().Cast(value, dtype, DataType::Float(64));
  } else if (!dtype.is_handle()) {
    value = frame_.ToInt64(value, dtype.is_int());
  }
  if (!result_) return frame_.state().Unsupported("T.ret within a parallel loop is not supported");
  b().CreateStore(value, result_);
  frame_.Return();
}

// ---- Memory

TypedValue StmtEmitter::NewMemory(llvm::Value* count, DataType dtype, llvm::Value** mark) {
  if (!ValueTypes::IsStored(dtype)) {
    return {
        .value = frame_.Unsupported(fmt::format("cannot allocate elements of {}", dtype.ToString()), b().getPtrTy()),
        .origin = frame_.Int64(0),
        .size = frame_.Int64(0)};
  }
  const int64_t bytes = dtype.with_lanes(1).bytes() * dtype.lanes;
  TypedValue memory{
      .value = nullptr, .origin = frame_.Int64(0), .size = b().CreateMul(count, frame_.Int64(bytes)), .is_root = true};
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(memory.size);
  if (known && known->getZExtValue() <= kSmallAllocation && stack_bytes_ + known->getZExtValue() <= kStackBytes) {
    stack_bytes_ += known->getZExtValue();
    memory.value = frame_.StackSlot(b().getInt8Ty(), std::max<uint64_t>(known->getZExtValue(), 1), 64);
    if (frame_.state().fills_stack)
      b().CreateMemSet(memory.value, b().getInt8(kStackPattern), memory.size, llvm::MaybeAlign(64));
    *mark = nullptr;
  } else {
    *mark = frame_.Mark();
    memory.value = frame_.Allocate(count, bytes);
  }
  return memory;
}

void StmtEmitter::WithMemory(const tir::Var* data, llvm::Value* count, DataType dtype, FunctionRef<void()> body,
                             List<const PrimExpr*> extents) {
  if (plan_.HasCopies(data)) return memory_.WithCopies(data, count, dtype, body);
  llvm::Value* mark = nullptr;
  TypedValue memory = NewMemory(count, dtype, &mark);
  memory.extents = extents;
  memory.element_bytes = extents.empty() ? 0 : int64_t{dtype.with_lanes(1).bytes()} * dtype.lanes;
  exprs_.scope().Bind(data, std::move(memory));
  const ThreadMemoryEmitter::Mark outer = memory_.mark();
  if (IsThreadMemory(data)) memory_.AddLocal(data);
  body();
  memory_.Rewind(outer);
  if (mark) frame_.Release(mark);
}

void StmtEmitter::EmitAllocate(const tir::Allocate& allocate) {
  llvm::SmallVector<llvm::Value*, 4> extents;
  for (const PrimExpr* extent : allocate.extents) extents.push_back(exprs_.EmitInt(extent));
  llvm::Value* count = exprs_.buffers().CountElements(extents);
  WithMemory(
      allocate.buffer_var, count, allocate.dtype, [&] { Emit(allocate.body); }, allocate.extents);
}

void StmtEmitter::EmitAllocateConst(const tir::AllocateConst& allocate) {
  const auto at = std::ranges::find(constants_, allocate.data);
  if (!allocate.data || at == constants_.end())
    return frame_.state().Unsupported("AllocateConst without data is not supported");
  // LoopContext begins with the addresses of the constants.
  llvm::Value* table = b().CreateLoad(b().getPtrTy(), frame_.context());
  llvm::Value* place =
      b().CreateConstInBoundsGEP1_64(b().getPtrTy(), table, static_cast<uint64_t>(at - constants_.begin()));
  exprs_.scope().Bind(allocate.buffer_var, {.value = b().CreateLoad(b().getPtrTy(), place),
                                            .origin = frame_.Int64(0),
                                            .size = frame_.Int64(static_cast<int64_t>(allocate.data->num_bytes()))});
  Emit(allocate.body);
}

// BufferRealize: only the bounds of the buffer are allocated; indices are relative to the whole buffer. A parameter,
// which has been declared, has memory.
void StmtEmitter::EmitRealize(const tir::BufferRealize& realize) {
  const tir::Buffer& buffer = *realize.buffer;
  if (const View* view = exprs_.scope().Find(&buffer); view && view->is_declared) return Emit(realize.body);
  View view{.offset = frame_.Int64(0), .shape = {}, .strides = {}, .mins = {}, .is_inside = true, .is_declared = false};
  llvm::SmallVector<llvm::Value*, 4> extents;
  for (const tir::Range* range : realize.bounds) {
    view.mins.push_back(exprs_.EmitInt(range->min));
    extents.push_back(exprs_.EmitInt(range->extent));
    view.shape.push_back(b().CreateAdd(view.mins.back(), extents.back()));
  }
  view.strides = exprs_.buffers().CompactStrides(extents);
  for (size_t i = 0; i < extents.size(); ++i)
    view.offset = b().CreateSub(view.offset, b().CreateMul(view.mins[i], view.strides[i]));
  llvm::Value* count = exprs_.buffers().CountElements(extents);
  WithMemory(buffer.data, count, buffer.dtype, [&] {
    exprs_.scope().Declare(&buffer, view);
    Emit(realize.body);
  });
}

// ---- Blocks

void StmtEmitter::EmitBlockRealize(const tir::BlockRealize& realize) {
  frame_.If(exprs_.EmitBool(realize.predicate), [&] {
    const IndexRanges::Assumption assumption(exprs_.ranges(), realize.predicate);
    BindAxes(realize, exprs_);
    EmitBlock(*realize.block, !inits_.IsDone(*realize.block));
  });
}

void StmtEmitter::EmitBlock(const tir::Block& block, bool with_init, size_t allocated) {
  if (allocated < block.alloc_buffers.size()) {
    const tir::Buffer* buffer = block.alloc_buffers[allocated];
    llvm::SmallVector<llvm::Value*, 4> extents;
    for (const PrimExpr* extent : MemoryExtents(*buffer)) extents.push_back(exprs_.EmitInt(extent));
    return WithMemory(buffer->data, exprs_.buffers().CountElements(extents), buffer->dtype, [&] {
      DeclareAllocated(*buffer, exprs_);
      EmitBlock(block, with_init, allocated + 1);
    });
  }
  for (const tir::MatchBufferRegion* match : block.match_buffers) MatchAnew(*match, exprs_);
  if (block.init && with_init) frame_.If(IsFirstReduction(block, exprs_), [&] { Emit(block.init); });
  Emit(block.body);
}

}  // namespace iropt::codegen
