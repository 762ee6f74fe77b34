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

// The operation is chosen once for all runs.
void Program::Binary(NodeKind kind, const int64_t* a, const int64_t* b, size_t num_runs, int64_t* to) {
  const auto each = [&](auto&& compute) {
    for (size_t i = 0; i < num_runs; ++i) to[i] = compute(a[i], b[i]);
  };
  const auto remainder = [](int64_t x, int64_t y, int64_t quotient) {
    return Wrapped(static_cast<uint64_t>(x) - static_cast<uint64_t>(quotient) * static_cast<uint64_t>(y));
  };
  using U = uint64_t;
  switch (kind) {
    case NodeKind::kAdd: return each([](int64_t x, int64_t y) { return Wrapped(U(x) + U(y)); });
    case NodeKind::kSub: return each([](int64_t x, int64_t y) { return Wrapped(U(x) - U(y)); });
    case NodeKind::kMul: return each([](int64_t x, int64_t y) { return Wrapped(U(x) * U(y)); });
    case NodeKind::kDiv: return each(TruncDivide);
    case NodeKind::kMod: return each([&](int64_t x, int64_t y) { return remainder(x, y, TruncDivide(x, y)); });
    case NodeKind::kFloorDiv: return each(FloorDivide);
    case NodeKind::kFloorMod:
      return each([&](int64_t x, int64_t y) { return y == 0 ? 0 : remainder(x, y, FloorDivide(x, y)); });
    case NodeKind::kMin: return each([](int64_t x, int64_t y) { return std::min(x, y); });
    case NodeKind::kMax: return each([](int64_t x, int64_t y) { return std::max(x, y); });
    case NodeKind::kEQ: return each([](int64_t x, int64_t y) { return x == y; });
    case NodeKind::kNE: return each([](int64_t x, int64_t y) { return x != y; });
    case NodeKind::kLT: return each([](int64_t x, int64_t y) { return x < y; });
    case NodeKind::kLE: return each([](int64_t x, int64_t y) { return x <= y; });
    case NodeKind::kGT: return each([](int64_t x, int64_t y) { return x > y; });
    case NodeKind::kGE: return each([](int64_t x, int64_t y) { return x >= y; });
    case NodeKind::kAnd: return each([](int64_t x, int64_t y) { return x != 0 && y != 0; });
    case NodeKind::kOr: return each([](int64_t x, int64_t y) { return x != 0 || y != 0; });
    default: IROPT_UNREACHABLE("{} as an operation", NodeKindName(kind));
  }
}

std::span<const int64_t> Program::Run(const Columns& values, size_t num_runs, Columns& scratch) const {
  scratch.resize(std::max(scratch.size(), steps_.size()));
  const auto is_shift = [](int64_t by) { return by >= 0 && by < 64; };
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    int64_t* to = scratch[s].data();
    const bool has_operands = step.op >= Op::kBinary;
    const int64_t* a = has_operands ? scratch[step.a].data() : nullptr;
    const int64_t* b = has_operands ? scratch[step.b].data() : nullptr;
    const auto each = [&](auto&& compute) {
      for (size_t i = 0; i < num_runs; ++i) to[i] = compute(i);
    };
    switch (step.op) {
      case Op::kConst: std::fill_n(to, num_runs, step.value); break;
      case Op::kSlot: std::copy_n(values[step.a].data(), num_runs, to); break;
      case Op::kBinary: Binary(step.kind, a, b, num_runs, to); break;
      case Op::kNot: each([&](size_t i) { return a[i] == 0; }); break;
      case Op::kSelect: each([&, c = scratch[step.c].data()](size_t i) { return a[i] != 0 ? b[i] : c[i]; }); break;
      case Op::kShiftRight: each([&](size_t i) { return is_shift(b[i]) ? a[i] >> b[i] : 0; }); break;
      case Op::kShiftLeft:
        each([&](size_t i) { return is_shift(b[i]) ? Wrapped(static_cast<uint64_t>(a[i]) << b[i]) : 0; });
        break;
      case Op::kAnd: each([&](size_t i) { return a[i] & b[i]; }); break;
      case Op::kOr: each([&](size_t i) { return a[i] | b[i]; }); break;
      case Op::kXor: each([&](size_t i) { return a[i] ^ b[i]; }); break;
    }
  }
  return std::span(scratch[steps_.size() - 1]).first(num_runs);
}

}  // namespace iropt::races
