#include "iropt/ir/tir/mutator.h"

#include "iropt/ir/substitute.h"
#include "mutator_fields.h"

namespace iropt::tir {

const PrimExpr* ExprMutator::VisitExpr(const PrimExpr* expr) {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack([&] { return ExprMutator::VisitExpr(expr); });
  switch (expr->kind) {
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  case NodeKind::k##Kind:                                                                                              \
    return Visit##Class(static_cast<const Class*>(expr));
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_PRIM_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
    default: IROPT_UNREACHABLE("{} as a scalar expression", NodeKindName(expr->kind));
  }
}

const PrimExpr* ExprMutator::VisitVar(const Var* expr) {
  const PrimExpr* remapped = RemapOf(expr);
  return remapped ? remapped : expr;
}
const PrimExpr* ExprMutator::VisitSizeVar(const SizeVar* expr) { return VisitVar(expr); }
const PrimExpr* ExprMutator::VisitIntImm(const IntImm* expr) { return expr; }
const PrimExpr* ExprMutator::VisitFloatImm(const FloatImm* expr) { return expr; }
const PrimExpr* ExprMutator::VisitStringImm(const StringImm* expr) { return expr; }
const PrimExpr* ExprMutator::VisitCast(const Cast* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitBinary(const BinaryExpr* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitAdd(const Add* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitSub(const Sub* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitMul(const Mul* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitDiv(const Div* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitMod(const Mod* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitFloorDiv(const FloorDiv* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitFloorMod(const FloorMod* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitMin(const Min* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitMax(const Max* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitEQ(const EQ* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitNE(const NE* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitLT(const LT* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitLE(const LE* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitGT(const GT* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitGE(const GE* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitAnd(const And* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitOr(const Or* expr) { return VisitBinary(expr); }
const PrimExpr* ExprMutator::VisitNot(const Not* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitSelect(const Select* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitLet(const Let* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitCall(const Call* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitBufferLoad(const BufferLoad* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitProducerLoad(const ProducerLoad* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitRamp(const Ramp* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitBroadcast(const Broadcast* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitShuffle(const Shuffle* expr) { return VisitFields(expr); }
const PrimExpr* ExprMutator::VisitReduce(const Reduce* expr) { return VisitFields(expr); }

const IterVar* ExprMutator::VisitIterVar(const IterVar* iter_var) { return VisitFields(iter_var); }
const Range* ExprMutator::VisitRange(const Range* range) { return VisitFields(range); }
const CommReducer* ExprMutator::VisitCommReducer(const CommReducer* reducer) { return VisitFields(reducer); }
const DataProducer* ExprMutator::VisitDataProducer(const DataProducer* producer) { return producer; }

const Buffer* ExprMutator::VisitBufferUse(const Buffer* buffer) {
  const Buffer* remapped = RemapOf(buffer);
  return remapped ? remapped : buffer;
}

void ExprMutator::Remap(const Var* from, const PrimExpr* to) {
  if (from->context_owned()) {
    sym_var_remap_[from] = to;
    return;
  }
  remap_.Set(from, to);
}

void ExprMutator::Remap(const Buffer* from, const Buffer* to) { remap_.Set(from, to); }

const PrimExpr* ExprMutator::RemapOf(const Var* var) const {
  if (var->context_owned()) {
    const auto found = sym_var_remap_.find(var);
    return found == sym_var_remap_.end() ? nullptr : found->second;
  }
  return As<PrimExpr>(remap_.Find(var));
}

const Buffer* ExprMutator::RemapOf(const Buffer* buffer) const { return As<Buffer>(remap_.Find(buffer)); }

}  // namespace iropt::tir
