#include "byte_divisions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace iropt::codegen {

namespace {

bool IsByteDivision(const llvm::Instruction& instruction) {
  return instruction.isIntDivRem() && instruction.getType()->isVectorTy() &&
         instruction.getType()->getScalarSizeInBits() <= 8;
}

void Widen(llvm::BinaryOperator& division) {
  llvm::IRBuilder<> builder(&division);
  const auto opcode = division.getOpcode();
  const bool is_signed = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
  llvm::Type* wide = division.getType()->getWithNewBitWidth(16);
  const auto extend = [&](llvm::Value* value) {
    return is_signed ? builder.CreateSExt(value, wide) : builder.CreateZExt(value, wide);
  };
  llvm::Value* result = builder.CreateBinOp(opcode, extend(division.getOperand(0)), extend(division.getOperand(1)));
  division.replaceAllUsesWith(builder.CreateTrunc(result, division.getType()));
  division.eraseFromParent();
}

}  // namespace

void WidenByteDivisions(llvm::Module& module) {
  std::vector<llvm::BinaryOperator*> found;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (IsByteDivision(instruction)) found.push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
    }
  }
  for (llvm::BinaryOperator* division : found) Widen(*division);
}

}  // namespace iropt::codegen
