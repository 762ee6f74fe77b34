#include "analysis/tir/races/program.h"

#include <algorithm>
#include <utility>

#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::races {

class Program::Compiler : public tir::ExprFunctor<std::optional<uint32_t>(const PrimExpr*)> {
 public:
  Compiler(const Slots& slots, std::vector<Step>& steps) : slots_(slots), steps_(steps) {}

 protected:
  using Result = std::optional<uint32_t>;

  Result VisitDefault(const PrimExpr* expr) override {
    const auto* binary = expr->kind >= NodeKind::kAdd && expr->kind <= NodeKind::kOr
                             ? static_cast<const tir::BinaryExpr*>(expr)
                             : nullptr;
    if (!binary || !IsInteger(binary->a->dtype)) return {};
    return Add2(Op::kBinary, binary->kind, binary->a, binary->b);
  }
  Result VisitVar(const tir::Var* var) override {
    const uint32_t* slot = slots_.Find(var);
    return slot ? Add({.op = Op::kSlot, .a = *slot}) : Result();
  }
  Result VisitSizeVar(const tir::SizeVar* var) override { return VisitVar(var); }
  Result VisitIntImm(const tir::IntImm* imm) override { return Add({.op = Op::kConst, .value = imm->value}); }
  Result VisitCast(const tir::Cast* cast) override {
    // As everywhere in proofs, indices do not overflow.
    return IsInteger(cast->dtype) && IsInteger(cast->value->dtype) && cast->dtype.bits >= 32 ? VisitExpr(cast->value)
                                                                                             : Result();
  }
  Result VisitNot(const tir::Not* expr) override {
    const Result a = VisitExpr(expr->a);
    return a ? Add({.op = Op::kNot, .a = *a}) : a;
  }
  Result VisitSelect(const tir::Select* expr) override {
    return Add3(expr->condition, expr->true_value, expr->false_value);
  }
  Result VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirLikely) || IsOp(call->op, op::kTirTvmThreadInvariant)) return VisitExpr(call->args[0]);
    if (IsOp(call->op, op::kTirIfThenElse)) return Add3(call->args[0], call->args[1], call->args[2]);
    static constexpr std::pair<OpId, Op> kOps[] = {{op::kTirShiftRight, Op::kShiftRight},
                                                   {op::kTirShiftLeft, Op::kShiftLeft},
                                                   {op::kTirBitwiseAnd, Op::kAnd},
                                                   {op::kTirBitwiseOr, Op::kOr},
                                                   {op::kTirBitwiseXor, Op::kXor}};
    for (const auto& [id, op] : kOps) {
      if (IsOp(call->op, id)) return Add2(op, NodeKind::kAdd, call->args[0], call->args[1]);
    }
    return {};
  }

 private:
  static bool IsInteger(DataType dtype) { return dtype.is_scalar() && dtype.is_integer(); }

  uint32_t Add(const Step& step) {
    steps_.push_back(step);
    return static_cast<uint32_t>(steps_.size() - 1);
  }
  Result Add2(Op op, NodeKind kind, const PrimExpr* x, const PrimExpr* y) {
    const Result a = VisitExpr(x);
    const Result b = a ? VisitExpr(y) : a;
    return b ? Add({.op = op, .kind = kind, .a = *a, .b = *b}) : b;
  }
  Result Add3(const PrimExpr* x, const PrimExpr* y, const PrimExpr* z) {
    const Result a = VisitExpr(x);
    const Result b = a ? VisitExpr(y) : a;
    const Result c = b ? VisitExpr(z) : b;
    return c ? Add({.op = Op::kSelect, .a = *a, .b = *b, .c = *c}) : c;
  }

  const Slots& slots_;
  std::vector<Step>& steps_;
};

std::optional<Program> Program::Of(const PrimExpr* expr, const Slots& slots) {
  Program program;
  if (!Compiler(slots, program.steps_).VisitExpr(expr)) return {};
  return program;
}

namespace {

// Without undefined behaviour where numbers are big.
int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }
int64_t FloorDivide(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? 0 : Wrapped(0 - static_cast<uint64_t>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
int64_t TruncDivide(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? 0 : Wrapped(0 - static_cast<uint64_t>(a));
  return a / b;
}

}  // namespace

int64_t Program::Binary(NodeKind kind, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  switch (kind) {
    case NodeKind::kAdd: return Wrapped(x + y);
    case NodeKind::kSub: return Wrapped(x - y);
    case NodeKind::kMul: return Wrapped(x * y);
    case NodeKind::kDiv: return TruncDivide(a, b);
    case NodeKind::kMod: return Wrapped(x - static_cast<uint64_t>(TruncDivide(a, b)) * y);
    case NodeKind::kFloorDiv: return FloorDivide(a, b);
    case NodeKind::kFloorMod: return b == 0 ? 0 : Wrapped(x - static_cast<uint64_t>(FloorDivide(a, b)) * y);
    case NodeKind::kMin: return std::min(a, b);
    case NodeKind::kMax: return std::max(a, b);
    case NodeKind::kEQ: return a == b;
    case NodeKind::kNE: return a != b;
    case NodeKind::kLT: return a < b;
    case NodeKind::kLE: return a <= b;
    case NodeKind::kGT: return a > b;
    case NodeKind::kGE: return a >= b;
    case NodeKind::kAnd: return a != 0 && b != 0;
    case NodeKind::kOr: return a != 0 || b != 0;
    default: IROPT_UNREACHABLE("{} as an operation", NodeKindName(kind));
  }
}

int64_t Program::Run(std::span<const int64_t> values, std::vector<int64_t>& scratch) const {
  scratch.resize(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const int64_t a = step.op >= Op::kBinary ? scratch[step.a] : 0;
    const int64_t b = step.op >= Op::kBinary ? scratch[step.b] : 0;
    const bool is_shift = b >= 0 && b < 64;
    switch (step.op) {
      case Op::kConst: scratch[i] = step.value; break;
      case Op::kSlot: scratch[i] = values[step.a]; break;
      case Op::kBinary: scratch[i] = Binary(step.kind, a, b); break;
      case Op::kNot: scratch[i] = a == 0; break;
      case Op::kSelect: scratch[i] = a != 0 ? b : scratch[step.c]; break;
      case Op::kShiftRight: scratch[i] = is_shift ? a >> b : 0; break;
      case Op::kShiftLeft: scratch[i] = is_shift ? Wrapped(static_cast<uint64_t>(a) << b) : 0; break;
      case Op::kAnd: scratch[i] = a & b; break;
      case Op::kOr: scratch[i] = a | b; break;
      case Op::kXor: scratch[i] = a ^ b; break;
    }
  }
  return scratch.back();
}

}  // namespace iropt::races
