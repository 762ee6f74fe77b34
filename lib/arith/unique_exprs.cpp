#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"
#include "simplifier.h"

namespace iropt::arith {

size_t Analyzer::Memo::PartsHash::operator()(const Parts& parts) const {
  uint64_t hash = HashCombine(static_cast<uint64_t>(parts.kind), static_cast<uint64_t>(parts.dtype.code) << 32 |
                                                                     static_cast<uint64_t>(parts.dtype.bits) << 16 |
                                                                     static_cast<uint16_t>(parts.dtype.lanes));
  for (const PrimExpr* operand : parts.operands) hash = HashCombine(hash, reinterpret_cast<uintptr_t>(operand));
  return HashCombine(hash, static_cast<uint64_t>(parts.value));
}

// Nothing for leaves. Loads, expressions that bind variables and calls of other functions are leaves as well: each is
// the same only as itself.
std::optional<Analyzer::Memo::Parts> Analyzer::Memo::PartsOf(const PrimExpr* e) {
  const auto made_of = [&](const PrimExpr* a, const PrimExpr* b = nullptr, const PrimExpr* c = nullptr) {
    return Parts{.kind = e->kind, .dtype = e->dtype, .operands = {a, b, c}, .value = 0};
  };
  if (const auto* constant = As<tir::IntImm>(e))
    return Parts{.kind = e->kind, .dtype = e->dtype, .operands = {}, .value = constant->value};
  if (const auto* binary = As<tir::BinaryExpr>(e)) return made_of(Unique(binary->a), Unique(binary->b));
  if (const auto* negation = As<tir::Not>(e)) return made_of(Unique(negation->a));
  if (const auto* cast = As<tir::Cast>(e)) return made_of(Unique(cast->value));
  if (const auto* select = As<tir::Select>(e))
    return made_of(Unique(select->condition), Unique(select->true_value), Unique(select->false_value));
  const auto* call = As<tir::Call>(e);
  if (call && IsOp(call->op, op::kTirIfThenElse))
    return made_of(Unique(call->args[0]), Unique(call->args[1]), Unique(call->args[2]));
  return std::nullopt;
}

const PrimExpr* Analyzer::Memo::Unique(const PrimExpr* e) {
  if (const auto* known = unique_.Find(e)) return *known;
  const std::optional<Parts> parts = WithStack([&] { return PartsOf(e); });
  const PrimExpr* unique = parts ? by_parts_.try_emplace(*parts, e).first : e;
  unique_.try_emplace(e, unique);
  return unique;
}

}  // namespace iropt::arith
