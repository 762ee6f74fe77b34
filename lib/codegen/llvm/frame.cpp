#include "frame.h"

#include <fmt/format.h>
#include <llvm/IR/MDBuilder.h>

#include <utility>

#include "iropt/support/check.h"

namespace iropt::codegen {

Frame::Frame(ModuleState& state, llvm::Function* function, std::string prefix)
    : state_(state),
      function_(function),
      prefix_(std::move(prefix)),
      builder_(function->getContext()),
      types_(builder_, state.cpu.has_half),
      entry_(llvm::BasicBlock::Create(function->getContext(), "entry", function)) {
  builder_.SetInsertPoint(NewBlock("body"));
}

llvm::Value* Frame::Unsupported(std::string_view message, llvm::Type* type) {
  state_.Unsupported(prefix_ + std::string(message));
  return type->isVoidTy() ? nullptr : llvm::Constant::getNullValue(type);
}

llvm::BasicBlock* Frame::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(function_->getContext(), name, function_);
}

void Frame::JumpTo(llvm::BasicBlock* block) {
  builder_.CreateBr(block);
  builder_.SetInsertPoint(block);
}

llvm::Value* Frame::ToInt64(llvm::Value* value, bool is_signed) {
  if (value->getType()->isIntegerTy(1)) is_signed = false;
  llvm::Type* type = ValueTypes::LanesLike(builder_.getInt64Ty(), value->getType());
  return is_signed ? builder_.CreateSExt(value, type) : builder_.CreateZExt(value, type);
}

// ---- Failing

void Frame::FailIf(llvm::Value* condition, std::string_view message, llvm::Value* x, llvm::Value* y) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition); known && known->isZero()) return;
  llvm::BasicBlock* fail = NewBlock("fail");
  llvm::BasicBlock* next = NewBlock("next");
  llvm::MDNode* unlikely = llvm::MDBuilder(builder_.getContext()).createUnlikelyBranchWeights();
  builder_.CreateCondBr(condition, fail, next, unlikely);
  builder_.SetInsertPoint(fail);
  llvm::Value* zero = Int64(0);
  llvm::Value* numbers = builder_.getInt32((x ? 1 : 0) + (y ? 1 : 0));
  CallRuntime(
      "iropt_fail", builder_.getVoidTy(),
      {context(), GlobalString(prefix_ + std::string(message)), numbers, x ? ToInt64(x) : zero, y ? ToInt64(y) : zero});
  if (!failed_) failed_ = NewBlock("failed");
  builder_.CreateBr(failed_);
  builder_.SetInsertPoint(next);
}

void Frame::FailWith(llvm::Value* status) {
  llvm::BasicBlock* next = NewBlock("next");
  if (!failed_) failed_ = NewBlock("failed");
  llvm::MDNode* unlikely = llvm::MDBuilder(builder_.getContext()).createUnlikelyBranchWeights();
  builder_.CreateCondBr(builder_.CreateICmpNE(status, llvm::Constant::getNullValue(status->getType())), failed_, next,
                        unlikely);
  builder_.SetInsertPoint(next);
}

void Frame::Return() {
  if (first_mark_) FreeSince(first_mark_);
  builder_.CreateRet(builder_.getInt32(0));
  builder_.SetInsertPoint(NewBlock("after_return"));
}

void Frame::Finish() {
  builder_.CreateRet(builder_.getInt32(0));
  if (failed_) {
    builder_.SetInsertPoint(failed_);
    builder_.CreateRet(builder_.getInt32(1));
  }
  // The entry block collects allocas, so it is terminated last.
  builder_.SetInsertPoint(entry_);
  builder_.CreateBr(&*std::next(function_->begin()));
}

// ---- Memory

llvm::Value* Frame::StackSlot(llvm::Type* type, uint64_t count, uint64_t align) {
  const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(entry_);
  llvm::AllocaInst* slot = builder_.CreateAlloca(type, count == 1 ? nullptr : builder_.getInt64(count));
  slot->setAlignment(llvm::Align(align));
  return slot;
}

llvm::Value* Frame::Allocate(llvm::Value* count, int64_t element_bytes) {
  llvm::Value* memory = CallRuntime("iropt_allocate", builder_.getPtrTy(), {context(), count, Int64(element_bytes)});
  auto* call = llvm::cast<llvm::CallInst>(memory);
  call->addRetAttr(llvm::Attribute::NoAlias);
  call->addRetAttr(llvm::Attribute::getWithAlignment(builder_.getContext(), llvm::Align(64)));
  FailWith(builder_.CreateIsNull(memory));
  return memory;
}

llvm::Value* Frame::Mark() {
  if (!first_mark_) {
    const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(entry_);
    first_mark_ = CallRuntime("iropt_mark", builder_.getInt64Ty(), {context()});
  }
  return marks_.emplace_back(CallRuntime("iropt_mark", builder_.getInt64Ty(), {context()}));
}

void Frame::Release(llvm::Value* mark) {
  IROPT_CHECK(!marks_.empty() && marks_.back() == mark);
  marks_.pop_back();
  FreeSince(mark);
}

void Frame::FreeSince(llvm::Value* mark) { CallRuntime("iropt_release", builder_.getVoidTy(), {context(), mark}); }

// ---- Control flow

namespace {

llvm::MDNode* LoopId(llvm::LLVMContext& context, LoopHint hint) {
  llvm::SmallVector<llvm::Metadata*, 3> parts = {nullptr};
  const auto add = [&](const char* name) {
    parts.push_back(llvm::MDNode::get(context, llvm::MDString::get(context, name)));
  };
  // Loops are not forced to vectorize, because llvm.loop.vectorize.enable permits LLVM to reorder floating-point sums.
  // They are only kept from being unrolled first.
  if (hint == LoopHint::kVectorize) add("llvm.loop.unroll.disable");
  if (hint == LoopHint::kUnroll) add("llvm.loop.unroll.full");
  add("llvm.loop.mustprogress");
  llvm::MDNode* id = llvm::MDNode::getDistinct(context, parts);
  id->replaceOperandWith(0, id);
  return id;
}

}  // namespace

bool Frame::Jump(bool ends_loop) {
  if (!exits_) return false;
  if (marks_.size() > exits_->num_marks) FreeSince(marks_[exits_->num_marks]);
  llvm::BasicBlock*& target = ends_loop ? exits_->end : exits_->next;
  if (!target) target = NewBlock(ends_loop ? "end" : "next");
  builder_.CreateBr(target);
  builder_.SetInsertPoint(NewBlock("after_jump"));
  return true;
}

void Frame::EmitBody(FunctionRef<void()> body, LoopExits& exits, LoopKind kind) {
  LoopExits* outer = std::exchange(exits_, kind == LoopKind::kOfProgram ? &exits : nullptr);
  body();
  exits_ = outer;
  if (exits.next) JumpTo(exits.next);
}

void Frame::Loop(llvm::Value* extent, LoopHint hint, FunctionRef<void(llvm::Value*)> body, LoopKind kind) {
  llvm::Type* type = extent->getType();
  llvm::Value* zero = llvm::ConstantInt::get(type, 0);
  LoopExits exits{.next = nullptr, .end = nullptr, .num_marks = marks_.size()};
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(extent); known && known->getSExtValue() == 1) {
    EmitBody([&] { body(zero); }, exits, kind);
    if (exits.end) JumpTo(exits.end);
    return;
  }
  llvm::BasicBlock* header = NewBlock("loop");
  llvm::BasicBlock* end = exits.end = NewBlock("end");
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpSGT(extent, zero), header, end);
  builder_.SetInsertPoint(header);
  llvm::PHINode* i = builder_.CreatePHI(type, 2, "i");
  i->addIncoming(zero, before);
  state_.deepest_loop = std::max(state_.deepest_loop, ++state_.loop_depth);
  EmitBody([&] { body(i); }, exits, kind);
  --state_.loop_depth;
  llvm::Value* next = builder_.CreateAdd(i, llvm::ConstantInt::get(type, 1), "", /*HasNUW=*/true, /*HasNSW=*/true);
  i->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst* latch = builder_.CreateCondBr(builder_.CreateICmpSLT(next, extent), header, end);
  latch->setMetadata(llvm::LLVMContext::MD_loop, LoopId(builder_.getContext(), hint));
  builder_.SetInsertPoint(end);
}

void Frame::While(FunctionRef<llvm::Value*()> condition, FunctionRef<void()> body, LoopKind kind) {
  llvm::BasicBlock* header = NewBlock("while");
  llvm::BasicBlock* inside = NewBlock("do");
  llvm::BasicBlock* end = NewBlock("end");
  LoopExits exits{.next = nullptr, .end = end, .num_marks = marks_.size()};
  JumpTo(header);
  builder_.CreateCondBr(condition(), inside, end);
  builder_.SetInsertPoint(inside);
  EmitBody(body, exits, kind);
  builder_.CreateBr(header);
  builder_.SetInsertPoint(end);
}

void Frame::CountedWhile(FunctionRef<llvm::Value*()> condition, FunctionRef<void()> body, LoopKind kind) {
  // So many that the counter costs little, and the calls nothing.
  constexpr int64_t kIterationsPerCall = 1 << 16;
  llvm::Value* counter = StackSlot(builder_.getInt64Ty());
  builder_.CreateStore(Int64(kIterationsPerCall), counter);
  const auto counted = [&] {
    llvm::Value* left = builder_.CreateSub(builder_.CreateLoad(builder_.getInt64Ty(), counter), Int64(1));
    builder_.CreateStore(left, counter);
    If(builder_.CreateICmpEQ(left, Int64(0)), [&] {
      builder_.CreateStore(Int64(kIterationsPerCall), counter);
      FailWith(CallRuntime("iropt_iterate", builder_.getInt32Ty(), {context(), Int64(kIterationsPerCall)}));
    });
    body();
  };
  While(condition, counted, kind);
}

void Frame::If(llvm::Value* condition, FunctionRef<void()> then, const FunctionRef<void()>* otherwise) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (!known->isZero()) {
      then();
    } else if (otherwise) {
      (*otherwise)();
    }
    return;
  }
  llvm::BasicBlock* yes = NewBlock("then");
  llvm::BasicBlock* end = NewBlock("end");
  llvm::BasicBlock* no = otherwise ? NewBlock("else") : end;
  builder_.CreateCondBr(condition, yes, no);
  builder_.SetInsertPoint(yes);
  then();
  builder_.CreateBr(end);
  if (otherwise) {
    builder_.SetInsertPoint(no);
    (*otherwise)();
    builder_.CreateBr(end);
  }
  builder_.SetInsertPoint(end);
}

llvm::Value* Frame::Choose(llvm::Value* condition, FunctionRef<llvm::Value*()> yes, FunctionRef<llvm::Value*()> no) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) return known->isZero() ? no() : yes();
  llvm::BasicBlock* then = NewBlock("then");
  llvm::BasicBlock* otherwise = NewBlock("else");
  llvm::BasicBlock* end = NewBlock("end");
  builder_.CreateCondBr(condition, then, otherwise);
  builder_.SetInsertPoint(then);
  llvm::Value* a = yes();
  llvm::BasicBlock* after_a = builder_.GetInsertBlock();
  builder_.CreateBr(end);
  builder_.SetInsertPoint(otherwise);
  llvm::Value* b = no();
  llvm::BasicBlock* after_b = builder_.GetInsertBlock();
  JumpTo(end);
  llvm::PHINode* value = builder_.CreatePHI(a->getType(), 2);
  value->addIncoming(a, after_a);
  value->addIncoming(b, after_b);
  return value;
}

// ---- The runtime

llvm::Value* Frame::CallRuntime(std::string_view symbol, llvm::Type* result, llvm::ArrayRef<llvm::Value*> args) {
  llvm::SmallVector<llvm::Type*, 6> types;
  for (llvm::Value* arg : args) types.push_back(arg->getType());
  llvm::FunctionCallee callee =
      state_.module.getOrInsertFunction(symbol, llvm::FunctionType::get(result, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  if (symbol == "iropt_fail") function->addFnAttr(llvm::Attribute::Cold);
  return builder_.CreateCall(callee, args);
}

llvm::Value* Frame::GlobalString(std::string_view text) { return builder_.CreateGlobalString(text, "text"); }

}  // namespace iropt::codegen
