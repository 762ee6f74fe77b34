// tir.LowerIntrin: replaces what processors do not compute in one step by what the compiler of the target provides.
//
//   B[i] = T.exp(A[i])              -->    B[i] = T.call_llvm_pure_intrin("float32", "llvm.exp", T.uint32(1), A[i])
//   B[i] = A[i] * x + y             -->    B[i] = T.call_llvm_pure_intrin("float32", "llvm.fmuladd", T.uint32(3), ...)
//   C[i // 4] = i % n               -->    C[T.shift_right(i, 2)] = T.truncmod(i, n)
//
// Quotients and remainders of divisors that are powers of two become shifts and masks; others are rounded towards zero,
// as processors do it, with a correction unless the operands are known not to be negative. The rules for mathematical
// functions are those of the kind of target, and the ones that all kinds share; with tir.enable_fast_math also the less
// exact ones that CUDA has. A function needs a target.
// Results may differ in the last digits, and at the ends of the range: 1 / (1 + exp(-x)) is 0 where sigmoid is tiny.
// O(nodes), and operands that a correction uses twice are copied.
//
// With the option newer_calls, as in TVM 0.26, T.tvm_access_ptr becomes the address of an element, and calls of LLVM's
// functions do not say how many operands choose the function.
//
// Source: TVM 0.18's pass of this name; the functions of CUDA, and quotients of numbers that may be negative, are those
// of TVM 0.26.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "configs/tir.enable_fast_math.h"
#include "iropt/arith/mutator.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/LowerIntrin.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/host/host_builder.h"
#include "transform/tir/host/intrin_rules.h"

namespace iropt {

namespace {

using arith::BitOp;

// The exponent of a constant that is a power of two.
std::optional<int> Log2(const PrimExpr* e) {
  const int64_t* value = arith::AsInt(e);
  if (!value || *value <= 0 || (*value & (*value - 1)) != 0) return std::nullopt;
  return __builtin_ctzll(static_cast<uint64_t>(*value));
}

// broadcast(cast(x)) as cast(broadcast(x)) if the cast is to a wider integer, or to twice the bits: processors multiply
// narrow vectors to wider ones.
const PrimExpr* CastBroadcast(const PrimExpr* e, Workspace& workspace) {
  const auto* broadcast = As<tir::Broadcast>(e);
  const auto* cast = broadcast ? As<tir::Cast>(broadcast->value) : nullptr;
  if (!cast) return e;
  const DataType to = cast->dtype;
  const DataType from = cast->value->dtype;
  const bool widens = to.bits == from.bits * 2 || (to.is_integer() && from.is_integer() && to.bits > from.bits);
  if (!widens) return e;
  const auto* narrow = workspace.New<tir::Broadcast>(from.with_lanes(e->dtype.lanes), cast->value, broadcast->lanes);
  return workspace.New<tir::Cast>(e->dtype, narrow);
}

// Removes the number of operands that choose the function from calls of LLVM's functions. The operands of the call that
// became these calls stay.
class SignatureRemover : public tir::ExprMutator {
 public:
  SignatureRemover(std::span<const PrimExpr* const> kept, Workspace& workspace) : ExprMutator(workspace), kept_(kept) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    return std::ranges::find(kept_, expr) != kept_.end() ? expr : ExprMutator::VisitExpr(expr);
  }

 protected:
  const PrimExpr* VisitCall(const tir::Call* call) override {
    const auto* visited = To<tir::Call>(ExprMutator::VisitCall(call));
    const bool is_llvm = IsOp(call->op, op::kTirCallLlvmPureIntrin) || IsOp(call->op, op::kTirCallLlvmIntrin);
    if (!is_llvm || visited->args.size() < 2) return visited;
    std::vector<const PrimExpr*> args(visited->args.begin(), visited->args.end());
    args.erase(args.begin() + 1);
    return workspace().New<tir::Call>(visited->dtype, visited->op, workspace().Copy(args));
  }

 private:
  const std::span<const PrimExpr* const> kept_;
};

// Gives each use of an operand after the first one variables of its own, where the operand binds some.
class OperandCopier : public tir::ExprMutator {
 public:
  OperandCopier(std::span<const PrimExpr* const> operands, Workspace& workspace)
      : ExprMutator(workspace), operands_(operands) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    if (std::ranges::find(operands_, expr) == operands_.end()) return ExprMutator::VisitExpr(expr);
    return used_.insert(expr) ? expr : CopyExpr(expr, workspace());
  }

 private:
  const std::span<const PrimExpr* const> operands_;
  LookupSet<const PrimExpr*> used_;
};

class IntrinLowerer : public arith::StmtExprMutatorWithAnalyzer {
 public:
  // The sizes of buffers are not known to be positive here. `params` has them.
  IntrinLowerer(const PrimFunc& func_without_buffers, List<const tir::Buffer*> params, const IntrinRules& rules,
                bool newer_calls, Workspace& workspace)
      : StmtExprMutatorWithAnalyzer(func_without_buffers, workspace),
        build_(workspace),
        rules_(rules),
        newer_calls_(newer_calls) {
    for (const tir::Buffer* buffer : params) {
      if (buffer) buffer_of_.try_emplace(buffer->data, buffer);
    }
  }

  // Buffers that an expression in the statement needs are declared around it.
  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    const size_t outer = declared_.size();
    const tir::Stmt* visited = StmtExprMutatorWithAnalyzer::VisitStmt(stmt);
    for (; declared_.size() > outer; declared_.pop_back()) {
      visited = workspace().New<tir::DeclBuffer>(declared_.back(), visited);
    }
    return visited;
  }

  // The message about the first call that the target cannot compute; empty if it computes all.
  const std::string& error() const { return error_; }
  Span error_span() const { return error_span_; }

 protected:
  const PrimExpr* VisitCall(const tir::Call* call) override {
    if (newer_calls_) {
      if (const PrimExpr* address = AddressOf(*call)) return VisitExpr(address);
    }
    std::string error;
    const PrimExpr* lowered = rules_.Lower(*call, build_, error);
    NoteError(std::move(error), *call);
    if (!lowered) return StmtExprMutatorWithAnalyzer::VisitCall(call);
    const PrimExpr* copied = OperandCopier(call->args.span(), workspace()).VisitExpr(lowered);
    return VisitExpr(WithoutSignatures(copied, call->args));
  }
  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    buffer_of_.try_emplace(decl->buffer->data, decl->buffer);
    return StmtExprMutatorWithAnalyzer::VisitDeclBuffer(decl);
  }

  const PrimExpr* VisitAdd(const tir::Add* add) override {
    if (const auto* product = As<tir::Mul>(add->b)) return MultiplyAdd(*add, *product, add->a);
    if (const auto* product = As<tir::Mul>(add->a)) return MultiplyAdd(*add, *product, add->b);
    return StmtExprMutatorWithAnalyzer::VisitAdd(add);
  }

  const PrimExpr* VisitFloorDiv(const tir::FloorDiv* old) override {
    const auto* div = As<tir::FloorDiv>(StmtExprMutatorWithAnalyzer::VisitFloorDiv(old));
    const PrimExpr* a = div->a;
    const PrimExpr* b = div->b;
    if (const std::optional<int> shift = Log2(b)) {
      return make().Bitwise(BitOp::kShiftRight, a, make().Const(*shift, div->dtype));
    }
    if (!analyzer().CanProveGreaterEqual(b, 0)) return DivideBySigned(a, b);
    if (analyzer().CanProveGreaterEqual(a, 0) || analyzer().CanProveGreaterEqual(old, 0)) {
      return make().TruncDiv(a, b);
    }
    if (const std::optional<int64_t> quotients = QuotientsToAdd(a, b)) {
      return make().Sub(make().TruncDiv(ShiftedNumerator(a, b, *quotients), b), Const(*quotients, div->dtype));
    }
    const PrimExpr* quotient = make().TruncDiv(a, b);
    const PrimExpr* remainder = make().TruncMod(Again(a), Again(b));
    if (arith::IsIndexType(div->dtype)) return make().Add(quotient, SignMask(remainder));  // -1 if negative
    return Select(IsNotNegative(remainder), quotient, make().Sub(Again(quotient), Const(1, div->dtype)));
  }

  const PrimExpr* VisitFloorMod(const tir::FloorMod* old) override {
    const auto* mod = As<tir::FloorMod>(StmtExprMutatorWithAnalyzer::VisitFloorMod(old));
    const PrimExpr* a = mod->a;
    const PrimExpr* b = mod->b;
    if (const std::optional<int> shift = Log2(b)) {
      return make().Bitwise(BitOp::kAnd, a, Const((int64_t{1} << *shift) - 1, mod->dtype));
    }
    if (!analyzer().CanProveGreaterEqual(b, 0)) return RemainderOfSigned(a, b);
    if (analyzer().CanProveGreaterEqual(a, 0)) return make().TruncMod(a, b);
    if (const std::optional<int64_t> quotients = QuotientsToAdd(a, b)) {
      return make().TruncMod(ShiftedNumerator(a, b, *quotients), b);
    }
    const PrimExpr* remainder = make().TruncMod(a, b);
    if (arith::IsIndexType(mod->dtype)) {
      const PrimExpr* mask = SignMask(Again(remainder));
      return make().Add(remainder, make().Bitwise(BitOp::kAnd, Again(b), mask));
    }
    return Select(IsNotNegative(remainder), Again(remainder), make().Add(Again(remainder), Again(b)));
  }

  // max(x // y, c) with c >= 0 does not depend on how negative quotients are rounded.
  const PrimExpr* VisitMax(const tir::Max* max) override {
    const auto* div = As<tir::FloorDiv>(max->a);
    const int64_t* c = arith::AsInt(max->b);
    if (!div || !c || *c < 0 || !analyzer().CanProveGreaterEqual(div->b, 0))
      return StmtExprMutatorWithAnalyzer::VisitMax(max);
    return make().Max(VisitExpr(make().TruncDiv(div->a, div->b)), max->b);
  }
  // Neither does x % y == 0.
  const PrimExpr* VisitEQ(const tir::EQ* eq) override {
    const PrimExpr* truncated = CompareTruncated(*eq);
    return truncated ? VisitExpr(truncated) : StmtExprMutatorWithAnalyzer::VisitEQ(eq);
  }
  const PrimExpr* VisitNE(const tir::NE* ne) override {
    const PrimExpr* truncated = CompareTruncated(*ne);
    return truncated ? VisitExpr(truncated) : StmtExprMutatorWithAnalyzer::VisitNE(ne);
  }

 private:
  const PrimExpr* WithoutSignatures(const PrimExpr* lowered, std::span<const PrimExpr* const> operands) {
    return newer_calls_ ? SignatureRemover(operands, workspace()).VisitExpr(lowered) : lowered;
  }

  // Returns the address that an access pointer stands for; null for other calls. Nested access pointers add their
  // offsets.
  const PrimExpr* AddressOf(const tir::Call& call) {
    const tir::Call* access = &call;
    if (!IsOp(access->op, op::kTirTvmAccessPtr) || access->args.size() != 5) return nullptr;
    const DataType dtype = access->args[0]->dtype;
    const PrimExpr* offset = access->args[2];
    while (const tir::Call* inner = CallOf(access->args[1], op::kTirTvmAccessPtr)) {
      if (inner->args.size() != 5 || inner->args[0]->dtype != dtype) return nullptr;
      offset = make().Add(make().Cast(offset->dtype, inner->args[2]), offset);
      access = inner;
    }
    const auto* pointer = As<tir::Var>(access->args[1]);
    if (!pointer) return nullptr;
    const PrimExpr* lanes = Const(dtype.lanes, offset->dtype);
    const PrimExpr* begin = make().Mul(offset, lanes);
    const tir::Buffer* buffer = ScalarsAt(pointer, dtype.with_lanes(1), make().Add(begin, lanes));
    const PrimExpr* index = dtype.lanes == 1 ? begin : make().Ramp(begin, Const(1, begin->dtype), make().Lanes(dtype));
    const PrimExpr* element = workspace().New<tir::BufferLoad>(dtype, buffer, workspace().Copy(std::vector{index}));
    return build_.Call(DataType::Handle(), op::kTirAddressOf, {element});
  }
  // A buffer of one dimension over the pointer: one that exists, or a new one that is declared around the statement.
  const tir::Buffer* ScalarsAt(const tir::Var* pointer, DataType dtype, const PrimExpr* extent) {
    const auto* known = buffer_of_.Find(pointer);
    if (known && (*known)->dtype == dtype && (*known)->shape.size() == 1) {
      return *known;
    }
    tir::BufferSpec spec;
    spec.shape = {extent};
    spec.dtype = dtype;
    spec.data = pointer;
    const std::string_view name = workspace().arena().CopyString(fmt::format("{}_access", pointer->name));
    declared_.push_back(tir::MakeBuffer(workspace(), spec, name));
    return declared_.back();
  }

  const PrimExpr* MultiplyAdd(const tir::Add& add, const tir::Mul& product, const PrimExpr* other) {
    const PrimExpr* a = CastBroadcast(product.a, workspace());
    const PrimExpr* b = CastBroadcast(product.b, workspace());
    std::string error;
    if (const PrimExpr* call = rules_.MultiplyAdd(add.dtype, a, b, other, build_, error)) {
      const std::array<const PrimExpr*, 3> operands{a, b, other};
      return VisitExpr(WithoutSignatures(call, operands));
    }
    NoteError(std::move(error), add);
    if (a == product.a && b == product.b) return StmtExprMutatorWithAnalyzer::VisitAdd(&add);
    const PrimExpr* visited = VisitExpr(workspace().New<tir::Mul>(a, b));
    return workspace().New<tir::Add>(visited, VisitExpr(other));
  }
  // Null if the comparison is another one.
  const PrimExpr* CompareTruncated(const tir::BinaryExpr& compare) const {
    const auto* mod = As<tir::FloorMod>(compare.a);
    if (!mod || !arith::IsInt(compare.b, 0)) return nullptr;
    return make().Binary(compare.kind, make().TruncMod(mod->a, mod->b), compare.b);
  }

  // A number c such that a + b * c is not negative and fits, for a constant b, if there is one. Then a // b is
  // (a + b * c) / b - c, and a % b is the remainder of a + b * c.
  std::optional<int64_t> QuotientsToAdd(const PrimExpr* a, const PrimExpr* b) {
    const int64_t* divisor = arith::AsInt(b);
    if (!divisor || *divisor <= 0) return std::nullopt;
    const arith::IntBound bound = analyzer().Bound(a);
    const DataType dtype = a->dtype.with_lanes(1);
    const int64_t most = dtype.bits >= 64 ? INT64_MAX : (int64_t{1} << (dtype.bits - (dtype.is_int() ? 1 : 0))) - 1;
    if (bound.min >= 0 || *divisor - 1 > most + bound.min) return std::nullopt;
    const int64_t quotients = (*divisor - 1 - bound.min) / *divisor;
    if (quotients > most / *divisor || bound.max > most - *divisor * quotients) return std::nullopt;
    return quotients;
  }
  const PrimExpr* ShiftedNumerator(const PrimExpr* a, const PrimExpr* b, int64_t quotients) const {
    return make().Add(a, Const(*arith::AsInt(b) * quotients, a->dtype));
  }

  // Nothing is known about the sign of the divisor.
  const PrimExpr* DivideBySigned(const PrimExpr* a, const PrimExpr* b) {
    const tir::Var* remainder = workspace().NewPrimVar("rmod", a->dtype);
    const tir::Var* quotient = workspace().NewPrimVar("rdiv", a->dtype);
    const PrimExpr* value = Select(HasSignOf(remainder, Again(b)), quotient, make().Sub(quotient, Const(1, a->dtype)));
    value = workspace().New<tir::Let>(quotient, make().TruncDiv(a, b), value);
    return workspace().New<tir::Let>(remainder, make().TruncMod(Again(a), Again(b)), value);
  }
  const PrimExpr* RemainderOfSigned(const PrimExpr* a, const PrimExpr* b) {
    const tir::Var* remainder = workspace().NewPrimVar("rmod", a->dtype);
    const PrimExpr* value = Select(HasSignOf(remainder, Again(b)), remainder, make().Add(remainder, Again(b)));
    return workspace().New<tir::Let>(remainder, make().TruncMod(a, b), value);
  }
  const PrimExpr* HasSignOf(const tir::Var* remainder, const PrimExpr* b) {
    const PrimExpr* zero = Const(0, b->dtype);
    const PrimExpr* positive =
        make().Binary(NodeKind::kAnd, IsNotNegative(b), make().Binary(NodeKind::kGE, remainder, zero));
    const PrimExpr* negative = make().Binary(NodeKind::kAnd, make().Binary(NodeKind::kLT, Again(b), zero),
                                             make().Binary(NodeKind::kLE, remainder, zero));
    return make().Binary(NodeKind::kOr, positive, negative);
  }

  const PrimExpr* Const(int64_t value, DataType dtype) const { return make().Const(value, dtype); }
  const PrimExpr* Select(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) const {
    return make().Keep(tir::Select(condition, a, b));
  }
  const PrimExpr* IsNotNegative(const PrimExpr* e) const { return make().Binary(NodeKind::kGE, e, Const(0, e->dtype)); }
  // All bits are the sign.
  const PrimExpr* SignMask(const PrimExpr* e) const {
    return make().Bitwise(BitOp::kShiftRight, e, Const(e->dtype.bits - 1, e->dtype));
  }
  const PrimExpr* Again(const PrimExpr* e) { return CopyExpr(e, workspace()); }

  void NoteError(std::string error, const Node& node) {
    if (error.empty() || !error_.empty()) return;
    error_ = std::move(error);
    error_span_ = node.span();
  }

  const HostBuilder build_;
  const IntrinRules& rules_;
  const bool newer_calls_;
  LookupMap<const tir::Var*, const tir::Buffer*> buffer_of_;  // by pointers
  std::vector<const tir::Buffer*> declared_;                  // by the statements around here
  std::string error_;
  Span error_span_;
};

}  // namespace

Pass CreateLowerIntrin(const PassOptions& options) {
  return CreatePrimFuncPass(
      options.info(),
      [newer_calls = *pass_options::LowerIntrin(options).newer_calls](
          const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        const DictAttr* target = TargetOf(*func);
        const auto fail = [&](Span span, std::string message) {
          context.diagnostics().Error(Location(span), "pass-failed", std::move(message));
          return Failure{ErrorCode::PassFailed};
        };
        if (!target) return fail(func->span(), "the function has no target: run tir.BindTarget before");
        const IntrinRules rules(KindOf(*target), context.context().Config(config::tir::enable_fast_math));
        PrimFunc without_buffers = *func;
        without_buffers.param_buffers = {};
        IntrinLowerer lowerer(without_buffers, func->param_buffers, rules, newer_calls, context.workspace());
        const tir::Stmt* body = lowerer.VisitStmt(func->body);
        if (!lowerer.error().empty()) {
          return fail(lowerer.error_span().known() ? lowerer.error_span() : func->span(), lowerer.error());
        }
        return WithBody(func, body, context.workspace());
      });
}

}  // namespace iropt
