// Generates code for calls of intrinsics on vectors, pointers and tensor descriptors, of packed functions, and of
// functions of the module.
#pragma once

#include <string_view>

#include "arithmetic.h"
#include "iropt/op/named_functions.h"
#include "iropt/op/op_id.h"
#include "scope.h"

namespace iropt::codegen {

class BufferEmitter;
class ExprEmitter;

// Looks up the generated functions of callees.
class FunctionTable {
 public:
  virtual ~FunctionTable() = default;
  // Null if the module has no such PrimFunc.
  virtual const PrimFunc* Find(const GlobalVar& var) = 0;
  virtual llvm::Function* Declare(const PrimFunc& func) = 0;
};

class CallEmitter {
 public:
  CallEmitter(ExprEmitter& exprs, BufferEmitter& buffers, Frame& frame, FunctionTable& functions,
              Arithmetic& arithmetic, Scope& scope)
      : exprs_(exprs),
        buffers_(buffers),
        frame_(frame),
        functions_(functions),
        arithmetic_(arithmetic),
        scope_(scope) {}

  llvm::Value* EmitCall(const tir::Call& call, int lane);
  TypedValue EmitTyped(const PrimExpr* expr);

 private:
  llvm::Value* EmitLaneCall(const tir::Call& call, OpId id, int lane, bool* known);
  llvm::Value* EmitDotProduct(const tir::Call& call);
  llvm::Value* EmitInstruction(const tir::Call& call, NamedInstruction named, int lane);
  llvm::Value* EmitReinterpret(const tir::Call& call, int lane);
  TypedValue EmitBuiltin(const tir::Call& call, OpId id);
  TypedValue EmitAddressOf(const tir::Call& call);
  TypedValue EmitAccessPtr(const tir::Call& call);
  TypedValue EmitMakeShape(const tir::Call& call);
  TypedValue EmitMakeArray(const tir::Call& call);
  TypedValue EmitStructGet(const tir::Call& call);
  llvm::Value* EmitAtomicAdd(const tir::Call& call);
  llvm::Value* ExchangeSum(llvm::Value* address, DataType dtype, llvm::Value* value);
  llvm::Value* EmitPacked(const tir::Call& call);
  llvm::Value* CallFunction(const tir::Call& call, const GlobalVar& callee);
  struct Callee;
  void BindCallee(Callee& callee, const tir::Call& call);
  void MatchDescriptor(const tir::Buffer& buffer, TypedValue& arg);
  TypedValue Advance(TypedValue pointer, llvm::Value* bytes);
  TypedValue UnsupportedCall(const tir::Call& call, std::string_view what);

  ExprEmitter& exprs_;
  BufferEmitter& buffers_;
  Frame& frame_;
  FunctionTable& functions_;
  Arithmetic& arithmetic_;
  Scope& scope_;
};

}  // namespace iropt::codegen
