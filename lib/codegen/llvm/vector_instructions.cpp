#include "vector_instructions.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <bit>

namespace iropt::codegen {

namespace {

unsigned LanesOf(llvm::Value* vector) { return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements(); }

// Calls an intrinsic, whose operands may be vectors of other elements in a version of LLVM.
llvm::Value* CallIntrinsic(Frame& frame, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> args) {
  llvm::Function* callee = llvm::Intrinsic::getOrInsertDeclaration(&frame.state().module, id);
  llvm::SmallVector<llvm::Value*, 3> operands;
  for (unsigned i = 0; i < args.size(); ++i)
    operands.push_back(frame.b().CreateBitCast(args[i], callee->getFunctionType()->getParamType(i)));
  return frame.b().CreateCall(callee, operands);
}

// The intrinsic for vectors of 4, 8 or 16 lanes, if the CPU has it.
llvm::Intrinsic::ID ForLanes(unsigned lanes, unsigned most, const std::array<llvm::Intrinsic::ID, 3>& ids) {
  constexpr unsigned kFewest = 4;
  if (lanes < kFewest || lanes > most || !std::has_single_bit(lanes)) return llvm::Intrinsic::not_intrinsic;
  return ids[static_cast<size_t>(std::countr_zero(lanes / kFewest))];
}

}  // namespace

llvm::Value* EmitDotPairs(Frame& frame, llvm::Value* a, llvm::Value* b) {
  const unsigned lanes = LanesOf(a) / 2;
  const llvm::Intrinsic::ID id = ForLanes(lanes, frame.state().cpu.pair_dot_lanes,
                                          {llvm::Intrinsic::x86_sse2_pmadd_wd, llvm::Intrinsic::x86_avx2_pmadd_wd,
                                           llvm::Intrinsic::x86_avx512_pmaddw_d_512});
  if (id != llvm::Intrinsic::not_intrinsic) return CallIntrinsic(frame, id, {a, b});
  llvm::IRBuilder<>& builder = frame.b();
  llvm::Type* wide = llvm::FixedVectorType::get(builder.getInt32Ty(), 2 * lanes);
  llvm::Value* products = builder.CreateMul(builder.CreateSExt(a, wide), builder.CreateSExt(b, wide));
  llvm::SmallVector<int, 16> even;
  llvm::SmallVector<int, 16> odd;
  for (unsigned i = 0; i < lanes; ++i) {
    even.push_back(static_cast<int>(2 * i));
    odd.push_back(static_cast<int>(2 * i + 1));
  }
  return builder.CreateAdd(builder.CreateShuffleVector(products, even), builder.CreateShuffleVector(products, odd));
}

llvm::Value* EmitDotBytes(Frame& frame, llvm::Value* sum, llvm::Value* a, llvm::Value* b) {
  const unsigned lanes = LanesOf(sum);
  const llvm::Intrinsic::ID id =
      ForLanes(lanes, frame.state().cpu.byte_dot_lanes,
               {llvm::Intrinsic::x86_avx512_vpdpbusd_128, llvm::Intrinsic::x86_avx512_vpdpbusd_256,
                llvm::Intrinsic::x86_avx512_vpdpbusd_512});
  if (id != llvm::Intrinsic::not_intrinsic) return CallIntrinsic(frame, id, {sum, a, b});
  // The bytes of even and of odd places as pairs.
  llvm::IRBuilder<>& builder = frame.b();
  constexpr uint64_t kByte = 8;
  llvm::Type* pairs = llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * lanes);
  llvm::Value* unsigned_pairs = builder.CreateBitCast(a, pairs);
  llvm::Value* signed_pairs = builder.CreateBitCast(b, pairs);
  llvm::Value* even = EmitDotPairs(frame, builder.CreateAnd(unsigned_pairs, llvm::ConstantInt::get(pairs, 0xFF)),
                                   builder.CreateAShr(builder.CreateShl(signed_pairs, kByte), kByte));
  llvm::Value* odd =
      EmitDotPairs(frame, builder.CreateLShr(unsigned_pairs, kByte), builder.CreateAShr(signed_pairs, kByte));
  return builder.CreateAdd(sum, builder.CreateAdd(even, odd));
}

}  // namespace iropt::codegen
