#include "vectorizer_guard.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "iropt/support/lookup.h"

namespace iropt::codegen {

namespace {

// Steps for a value. Far more than code without such chains needs, and less than a millisecond.
constexpr uint64_t kMostSteps = 1 << 16;

bool IsDivision(const llvm::Instruction& instruction) {
  const unsigned opcode = instruction.getOpcode();
  return opcode == llvm::Instruction::UDiv || opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::URem ||
         opcode == llvm::Instruction::SRem;
}

// Which values of a loop LLVM takes to be the same in all iterations, and the steps of its question.
class UniformValues {
 public:
  explicit UniformValues(const llvm::Loop& loop) : loop_(loop) {
    uint64_t total = 0;
    for (const llvm::BasicBlock* block : loop_.blocks()) {
      for (const llvm::Instruction& instruction : *block) {
        const Answer answer = AnswerOf(instruction);
        answers_.try_emplace(&instruction, answer);
        has_division_ = has_division_ || (answer.is_uniform && IsDivision(instruction));
        total += answer.steps;
        is_too_costly_ = total > kMostSteps;
        if (is_too_costly_) return;
      }
    }
  }

  bool is_too_costly() const { return is_too_costly_; }
  // Returns whether the value of a division is one of them.
  bool has_division() const { return has_division_; }

 private:
  struct Answer {
    bool is_uniform;  // the same in all iterations
    uint64_t steps;
  };

  Answer AnswerOf(const llvm::Instruction& instruction) const {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return {loop_.isLoopInvariant(load->getPointerOperand()), 1};
    const bool asks_operands = llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                                         llvm::SelectInst, llvm::GetElementPtrInst, llvm::FreezeInst>(instruction) ||
                               (llvm::isa<llvm::PHINode>(instruction) && instruction.getParent() != loop_.getHeader());
    if (!asks_operands) return {false, 1};
    Answer answer = {true, 1};
    for (const llvm::Value* operand : instruction.operand_values()) {
      if (loop_.isLoopInvariant(operand)) continue;
      const auto* known = answers_.Find(operand);
      if (!known) return {false, answer.steps};
      answer.steps = std::min(answer.steps + known->steps, kMostSteps + 1);
      if (!known->is_uniform) return {false, answer.steps};
    }
    return answer;
  }

  const llvm::Loop& loop_;
  LookupMap<const llvm::Value*, Answer> answers_;  // of the instructions before
  bool is_too_costly_ = false;
  bool has_division_ = false;
};

// Narrower integers than those that count what is in memory.
constexpr unsigned kNarrowBits = 32;

// Returns whether the value is a number of few bits that is increased by more than one in each iteration, and that may
// wrap around: the last bits of a sum, say.
bool IsWrappingStep(const llvm::Instruction& instruction, const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!instruction.getType()->isIntegerTy()) return false;
  const auto* extended =
      llvm::dyn_cast<llvm::SCEVIntegralCastExpr>(evolution.getSCEV(const_cast<llvm::Instruction*>(&instruction)));
  if (!extended || llvm::isa<llvm::SCEVTruncateExpr>(extended)) return false;
  const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(extended->getOperand());
  if (!steps || steps->getLoop() != &loop || !steps->isAffine()) return false;
  if (steps->getType()->getIntegerBitWidth() >= kNarrowBits) return false;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(steps->getStepRecurrence(evolution));
  return !step || !(step->getAPInt().isOne() || step->getAPInt().isAllOnes());
}

bool HasWrappingSteps(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const bool may_be_narrow =
          instruction.getOpcode() == llvm::Instruction::And || instruction.getOpcode() == llvm::Instruction::URem ||
          instruction.getOpcode() == llvm::Instruction::ZExt || instruction.getOpcode() == llvm::Instruction::SExt;
      if (may_be_narrow && IsWrappingStep(instruction, loop, evolution)) return true;
    }
  }
  return false;
}

// Computes a division of values that do not change in the loop before it. There the loop may not need it, so a division
// that would trap becomes one by 1.
void HoistDivision(llvm::Instruction& division, llvm::BasicBlock& before) {
  llvm::IRBuilder<> builder(before.getTerminator());
  llvm::Value* dividend = builder.CreateFreeze(division.getOperand(0));
  llvm::Value* divisor = builder.CreateFreeze(division.getOperand(1));
  llvm::Type* type = divisor->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Value* traps = builder.CreateICmpEQ(divisor, llvm::ConstantInt::get(type, 0));
  if (division.getOpcode() == llvm::Instruction::SDiv || division.getOpcode() == llvm::Instruction::SRem) {
    llvm::Value* is_least =
        builder.CreateICmpEQ(dividend, llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits)));
    llvm::Value* negates = builder.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type));
    traps = builder.CreateOr(traps, builder.CreateAnd(is_least, negates));
  }
  division.setOperand(0, dividend);
  division.setOperand(1, builder.CreateSelect(traps, llvm::ConstantInt::get(type, 1), divisor));
  division.dropPoisonGeneratingFlags();
  division.moveBefore(before.getTerminator()->getIterator());
}

// Returns whether the loop has no division left whose value is the same in all iterations.
bool HoistDivisions(llvm::Loop& loop, llvm::LoopInfo& loops, bool& changed) {
  llvm::BasicBlock* before = loop.getLoopPreheader();
  llvm::LoopBlocksRPO order(&loop);
  order.perform(&loops);
  std::vector<llvm::Instruction*> divisions;
  for (llvm::BasicBlock* block : order) {
    for (llvm::Instruction& instruction : *block) {
      if (IsDivision(instruction)) divisions.push_back(&instruction);
    }
  }
  for (llvm::Instruction* division : divisions) {
    const auto is_same = [&](llvm::Value* operand) { return loop.makeLoopInvariant(operand, changed); };
    if (!before || !llvm::all_of(division->operands(), is_same)) continue;
    HoistDivision(*division, *before);
    changed = true;
  }
  return !UniformValues(loop).has_division();
}

struct VectorizerGuardPass : llvm::PassInfoMixin<VectorizerGuardPass> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    bool changed = false;
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost()) continue;
      if (UniformValues(*loop).is_too_costly() || HasWrappingSteps(*loop, evolution) ||
          !HoistDivisions(*loop, loops, changed))
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

}  // namespace

void GuardVectorizer(llvm::PassBuilder& passes) {
  passes.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& manager, llvm::OptimizationLevel) { manager.addPass(VectorizerGuardPass()); });
}

}  // namespace iropt::codegen
