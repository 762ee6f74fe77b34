// The LLVM function that is being generated: control flow, memory of its own, and how it fails.
//
// Each generated function takes the context of the call first and returns 0, or 1 where it failed.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>
#include <string_view>

#include "iropt/support/function_ref.h"
#include "value_types.h"

namespace iropt::codegen {

// How a loop is meant to be compiled.
enum class LoopHint : uint8_t { kNone, kVectorize, kUnroll };

// What all functions of one LLVM module share.
struct ModuleState {
  llvm::Module& module;
  bool has_half = false;
  bool checks = true;
  int loop_depth = 0;
  int deepest_loop = 0;
  std::optional<std::string> unsupported = std::nullopt;  // the first thing that cannot be compiled

  // Records what cannot be compiled. Generating goes on with values that mean nothing.
  void Unsupported(std::string message) {
    if (!unsupported) unsupported = std::move(message);
  }
};

class Frame {
 public:
  // Messages begin with `prefix`.
  Frame(ModuleState& state, llvm::Function* function, std::string prefix);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  ModuleState& state() { return state_; }
  llvm::IRBuilder<>& b() { return builder_; }
  ValueTypes& types() { return types_; }
  llvm::Function* function() { return function_; }
  llvm::Value* context() { return function_->getArg(0); }
  const std::string& prefix() const { return prefix_; }
  // A value of the type that means nothing, after Unsupported.
  llvm::Value* Unsupported(std::string_view message, llvm::Type* type);

  llvm::ConstantInt* Int64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  // An integer of any width as one of 64 bits.
  llvm::Value* ToInt64(llvm::Value* value, bool is_signed = true);

  // ---- Failing. The message may have {} for up to two integers.
  void FailIf(llvm::Value* condition, std::string_view message, llvm::Value* x = nullptr, llvm::Value* y = nullptr);
  // Fails where something that was called has failed: a status that is not 0.
  void FailWith(llvm::Value* status);
  // Ends the function successfully; what follows is not reached.
  void Return();
  // Ends the last block.
  void Finish();

  // ---- Memory
  // On the stack of the function, made once however often the code is reached.
  llvm::Value* StackSlot(llvm::Type* type, uint64_t count = 1, uint64_t align = 8);
  // From the runtime, until the function ends at the latest.
  llvm::Value* Allocate(llvm::Value* count, int64_t element_bytes);
  // Frees what was allocated since the mark.
  llvm::Value* Mark();
  void Release(llvm::Value* mark);

  // ---- Control flow
  // body(i) for i = 0 ... extent - 1, in order.
  void Loop(llvm::Value* extent, LoopHint hint, FunctionRef<void(llvm::Value*)> body);
  void While(FunctionRef<llvm::Value*()> condition, FunctionRef<void()> body);
  // `otherwise` may be empty.
  void If(llvm::Value* condition, FunctionRef<void()> then, const FunctionRef<void()>* otherwise = nullptr);
  // One of two values, of which only the chosen one is computed.
  llvm::Value* Choose(llvm::Value* condition, FunctionRef<llvm::Value*()> yes, FunctionRef<llvm::Value*()> no);

  // Calls a function of the runtime, see LoopRuntime.
  llvm::Value* CallRuntime(std::string_view symbol, llvm::Type* result, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* GlobalString(std::string_view text);

 private:
  llvm::BasicBlock* NewBlock(const char* name);
  void JumpTo(llvm::BasicBlock* block);

  ModuleState& state_;
  llvm::Function* function_;
  std::string prefix_;
  llvm::IRBuilder<> builder_;
  ValueTypes types_;
  llvm::BasicBlock* entry_;             // for allocas
  llvm::BasicBlock* failed_ = nullptr;  // returns 1
  llvm::Value* first_mark_ = nullptr;   // of what was allocated when the function began; made when it is needed
};

}  // namespace iropt::codegen
