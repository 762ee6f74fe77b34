#include "vectorizer_guard.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>
#include <cstdint>

#include "iropt/support/lookup.h"

namespace iropt::codegen {

namespace {

// Steps for a value. Far more than code without such chains needs, and less than a millisecond.
constexpr uint64_t kMostSteps = 1 << 16;

// The steps of LLVM's question for the values of a loop.
class StepCounter {
 public:
  explicit StepCounter(const llvm::Loop& loop) : loop_(loop) {}

  bool IsTooCostly() {
    uint64_t total = 0;
    for (const llvm::BasicBlock* block : loop_.blocks()) {
      for (const llvm::Instruction& instruction : *block) {
        const Answer answer = AnswerOf(instruction);
        answers_.try_emplace(&instruction, answer);
        total += answer.steps;
        if (total > kMostSteps) return true;
      }
    }
    return false;
  }

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

struct VectorizerGuardPass : llvm::PassInfoMixin<VectorizerGuardPass> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
      if (loop->isInnermost() && (StepCounter(*loop).IsTooCostly() || HasWrappingSteps(*loop, evolution)))
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
    }
    return llvm::PreservedAnalyses::all();
  }
};

}  // namespace

void GuardVectorizer(llvm::PassBuilder& passes) {
  passes.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& manager, llvm::OptimizationLevel) { manager.addPass(VectorizerGuardPass()); });
}

}  // namespace iropt::codegen
