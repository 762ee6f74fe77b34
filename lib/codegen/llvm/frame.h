// An LLVM function under construction: control flow, local memory and error handling.
//
// The first parameter of each generated function is the context of the call. It returns 0, or 1 after an error.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/function_ref.h"
#include "value_types.h"

namespace iropt::codegen {

// The optimization hint of a loop.
enum class LoopHint : uint8_t { kNone, kVectorize, kUnroll };

// Whether a loop is one of the program, which T.break_loop and T.continue_loop may leave.
enum class LoopKind : uint8_t { kOfProgram, kOther };

// Instructions of the CPU.
struct CpuFeatures {
  bool has_half = false;  // conversions of float16
  // The lanes of the widest vectors of int32 that instructions add products of bytes, or of pairs of int16, to.
  unsigned byte_dot_lanes = 0;
  unsigned pair_dot_lanes = 0;
};

// State shared by all functions of an LLVM module.
struct ModuleState {
  llvm::Module& module;
  CpuFeatures cpu = {};
  bool checks = true;
  bool fills_stack = false;
  int loop_depth = 0;
  int deepest_loop = 0;
  std::optional<std::string> unsupported = std::nullopt;  // the first thing that cannot be compiled

  // Records something that cannot be compiled. Code generation continues with zeros.
  void Unsupported(std::string message) {
    if (!unsupported) unsupported = std::move(message);
  }
};

class Frame {
 public:
  // `prefix` is prepended to messages.
  Frame(ModuleState& state, llvm::Function* function, std::string prefix);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  ModuleState& state() { return state_; }
  llvm::IRBuilder<>& b() { return builder_; }
  ValueTypes& types() { return types_; }
  llvm::Function* function() { return function_; }
  llvm::Value* context() { return function_->getArg(0); }
  const std::string& prefix() const { return prefix_; }
  // Records a message as LlvmState::Unsupported does, and returns a zero of the type.
  llvm::Value* Unsupported(std::string_view message, llvm::Type* type);

  llvm::ConstantInt* Int64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  // Converts an integer of any width to 64 bits.
  llvm::Value* ToInt64(llvm::Value* value, bool is_signed = true);

  // ---- Errors. A message may have {} for up to two integers.
  void FailIf(llvm::Value* condition, std::string_view message, llvm::Value* x = nullptr, llvm::Value* y = nullptr);
  // Fails if the status that a callee returned is not 0.
  void FailWith(llvm::Value* status);
  // Returns successfully. Code emitted after it is unreachable.
  void Return();
  // Terminates the last basic block.
  void Finish();

  // ---- Memory
  // An alloca in the entry block.
  llvm::Value* StackSlot(llvm::Type* type, uint64_t count = 1, uint64_t align = 8);
  // Memory from the runtime, which is freed at the end of the function at the latest.
  llvm::Value* Allocate(llvm::Value* count, int64_t element_bytes);
  // Frees all memory that was allocated since the mark, which is the last one that is not released.
  llvm::Value* Mark();
  void Release(llvm::Value* mark);

  // ---- Control flow
  // A loop: body(i) for i = 0 ... extent - 1.
  void Loop(llvm::Value* extent, LoopHint hint, FunctionRef<void(llvm::Value*)> body, LoopKind kind = LoopKind::kOther);
  void While(FunctionRef<llvm::Value*()> condition, FunctionRef<void()> body, LoopKind kind = LoopKind::kOther);
  // Makes a while loop that may be endless: its iterations are counted.
  void CountedWhile(FunctionRef<llvm::Value*()> condition, FunctionRef<void()> body, LoopKind kind = LoopKind::kOther);
  // Ends the innermost loop, or only its iteration. Code emitted after it is unreachable. False if the loop is not one
  // of the program.
  bool Jump(bool ends_loop);
  // A conditional; `otherwise` may be empty.
  void If(llvm::Value* condition, FunctionRef<void()> then, const FunctionRef<void()>* otherwise = nullptr);
  // A conditional value. Only the chosen operand is computed.
  llvm::Value* Choose(llvm::Value* condition, FunctionRef<llvm::Value*()> yes, FunctionRef<llvm::Value*()> no);

  // Calls a runtime function, see LoopRuntime.
  llvm::Value* CallRuntime(std::string_view symbol, llvm::Type* result, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* GlobalString(std::string_view text);

 private:
  // Where jumps out of the body of a loop go. The blocks are made when they are needed.
  struct LoopExits {
    llvm::BasicBlock* next;  // the end of the iteration
    llvm::BasicBlock* end;
    size_t num_marks;  // that are outside of the loop
  };

  llvm::BasicBlock* NewBlock(const char* name);
  // Emits the body, and the end of the iteration if something jumps there.
  void EmitBody(FunctionRef<void()> body, LoopExits& exits, LoopKind kind);
  void FreeSince(llvm::Value* mark);
  void JumpTo(llvm::BasicBlock* block);

  ModuleState& state_;
  llvm::Function* function_;
  std::string prefix_;
  llvm::IRBuilder<> builder_;
  ValueTypes types_;
  llvm::BasicBlock* entry_;             // for allocas
  llvm::BasicBlock* failed_ = nullptr;  // returns 1
  llvm::Value* first_mark_ = nullptr;   // taken at function entry; null until needed
  std::vector<llvm::Value*> marks_;     // not released yet
  LoopExits* exits_ = nullptr;          // of the innermost loop if it is one of the program
};

}  // namespace iropt::codegen
