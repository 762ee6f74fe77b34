// tir.NarrowDataType: computes indices in fewer bits where their values fit.
//
//   for i in range(T.int64(15)):              for i in range(15):
//       B[i + T.int64(1)] = A[i]     -->          B[i + 1] = A[i]
//
// A loop variable or axis of a block becomes narrower if all expressions that it occurs in, up to the next load or
// statement, fit; so do the constants and conversions of indices. Parameters and values that are stored keep their
// dtypes, and no dtype becomes wider. With the option narrow_offsets, the offset 0 of a buffer becomes narrower
// although its shape does not, as in TVM 0.26. O(nodes), times the nesting of operations of which one operand became
// narrower.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/index_dtypes.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/NarrowDataType.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

constexpr int kMaxBits = 64;

// The bits that an expression needs: those of the target if its values fit, or the maximum.
class NeededBits {
 public:
  NeededBits(Workspace& workspace, int target)
      : target_(target), analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

  int target() const { return target_; }
  int Of(const PrimExpr* e) {
    if (e->dtype.bits <= target_) return target_;
    const int64_t max = std::numeric_limits<int64_t>::max() >> (kMaxBits - target_);
    const arith::IntBound bound = analyzer_.Bound(e);
    return bound.max <= max && bound.min >= -max - 1 ? target_ : kMaxBits;
  }
  void Bind(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent) { analyzer_.Bind(var, min, extent); }

 private:
  const int target_;
  arith::Analyzer analyzer_;
};

// Finds the bits that each variable of a loop or block needs. An expression within another needs the bits of that one.
class VarBits : public tir::StmtExprVisitor {
 public:
  explicit VarBits(NeededBits& needed) : needed_(needed), bits_(needed.target()) {}

  // 0 if the variable is not one of a loop or block, or is not used.
  int BitsOf(const tir::Var* var) const { return bits_of_.Lookup(var, 0); }

 protected:
  void VisitExpr(const PrimExpr* expr) override {
    const int bits = expr->dtype.is_int() ? std::max(bits_, needed_.Of(expr)) : bits_;
    const arith::ScopedValue<int> scope(bits_, bits);
    StmtExprVisitor::VisitExpr(expr);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    const arith::ScopedValue<int> scope(bits_, needed_.target());
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitVar(const tir::Var* var) override {
    if (int* found = bits_of_.Find(var)) {
      *found = std::max(*found, std::min<int>(var->dtype.bits, bits_));
    }
  }
  void VisitFor(const tir::For* loop) override {
    Define(loop->loop_var, loop->min, loop->extent);
    StmtExprVisitor::VisitFor(loop);
  }
  void VisitIterVar(const tir::IterVar* iter_var) override {
    if (iter_var->dom) Define(iter_var->var, iter_var->dom->min, iter_var->dom->extent);
    StmtExprVisitor::VisitIterVar(iter_var);
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (const tir::IterVar* thread = tir::ThreadAxisOf(*stmt))
      Define(thread->var, tir_zero_.Const(0, stmt->value->dtype), stmt->value);
    StmtExprVisitor::VisitAttrStmt(stmt);
  }

 private:
  void Define(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent) {
    if (!var->dtype.is_int()) return;
    needed_.Bind(var, min, extent);
    bits_of_.try_emplace(var, 0);
  }

  const arith::PrimBuilder tir_zero_;  // makes interned constants
  NeededBits& needed_;
  int bits_;
  LookupMap<const tir::Var*, int> bits_of_;
};

class Narrower : public arith::IndexDTypeRewriter {
 public:
  Narrower(NeededBits& needed, const VarBits& vars, bool narrow_offsets, Workspace& workspace)
      : IndexDTypeRewriter(workspace, /*zero_offsets_follow=*/!narrow_offsets),
        needed_(needed),
        vars_(vars),
        bits_(needed.target()) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    const int bits = expr->dtype.is_int() ? std::max(bits_, needed_.Of(expr)) : bits_;
    const arith::ScopedValue<int> scope(bits_, bits);
    return IndexDTypeRewriter::VisitExpr(expr);
  }
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const arith::ScopedValue<int> scope(bits_, needed_.target());
    return IndexDTypeRewriter::VisitBufferLoad(load);
  }
  const PrimExpr* VisitVar(const tir::Var* var) override {
    if (const PrimExpr* known = RemapOf(var)) return known;
    const int bits = vars_.BitsOf(var);
    if (bits == 0 || bits == var->dtype.bits) return var;
    const tir::Var* narrowed = VarWithBits(var, bits);
    Remap(var, narrowed);
    return narrowed;
  }
  const PrimExpr* VisitIntImm(const tir::IntImm* constant) override {
    if (!in_index() || !constant->dtype.is_int() || bits_ >= constant->dtype.bits) return constant;
    return make().At(constant->span()).Int(constant->value, DataType::Int(bits_));
  }
  const PrimExpr* VisitCast(const tir::Cast* cast) override {
    if (!in_index() || !cast->dtype.is_int() || bits_ >= cast->dtype.bits) return IndexDTypeRewriter::VisitCast(cast);
    const PrimExpr* value = VisitExpr(cast->value);
    const DataType dtype = DataType::Int(bits_, cast->dtype.lanes);
    return value->dtype == dtype ? value : make().At(cast->span()).Keep(tir::Cast(dtype, value));
  }
  // If one operand became narrower, the other one follows, also outside of indices.
  const PrimExpr* VisitBinary(const tir::BinaryExpr* expr) override {
    const PrimExpr* a = VisitExpr(expr->a);
    const PrimExpr* b = VisitExpr(expr->b);
    if (a == expr->a && b == expr->b) return expr;
    const bool logic = Is<tir::And>(expr) || Is<tir::Or>(expr);
    if (a->dtype != b->dtype) {
      const auto scope = InIndex();
      a = VisitExpr(expr->a);
      b = VisitExpr(expr->b);
    }
    const arith::PrimBuilder at = make().At(expr->span());
    return logic ? at.Node(expr->kind, a, b) : at.Binary(expr->kind, a, b);
  }

 private:
  NeededBits& needed_;
  const VarBits& vars_;
  int bits_;
};

}  // namespace

Pass CreateNarrowDataType(const PassOptions& options) {
  const pass_options::NarrowDataType given(options);
  const int64_t bits = *given.target_bits;
  if (bits < 1 || bits > kMaxBits) options.Refuse(given.target_bits, fmt::format("must be 1 to 64, but is {}", bits));
  return CreateBodyPass(options.info(), {},
                        [target = static_cast<int>(bits), narrow_offsets = *given.narrow_offsets](
                            const PrimFunc& func, FunctionPassContext& context) {
                          NeededBits needed(context.workspace(), target);
                          VarBits vars(needed);
                          vars.VisitStmt(func.body);
                          return Narrower(needed, vars, narrow_offsets, context.workspace()).VisitStmt(func.body);
                        });
}

}  // namespace iropt
