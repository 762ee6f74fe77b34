#include "nest_matcher.h"

#include <algorithm>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// The body of a function without its root block.
const tir::Stmt* BodyOf(const PrimFunc& func) {
  const auto* root = As<tir::BlockRealize>(func.body);
  return root ? root->block->body : func.body;
}

class NestMatcher {
 public:
  explicit NestMatcher(const PrimFunc& pattern) : pattern_(pattern) {}

  std::optional<NestMatch> Run(const tir::Stmt* stmt) {
    if (!MatchStmt(stmt, BodyOf(pattern_))) return std::nullopt;
    NestMatch match;
    for (uint32_t i = 0; i < pattern_.params.size(); ++i) {
      if (const tir::Buffer* buffer = pattern_.param_buffers[i]) {
        const auto* found = state_.buffers.Find(buffer);
        if (!found) return std::nullopt;
        match.buffers.push_back(*found);
      } else {
        const auto* found = state_.vars.Find(pattern_.params[i]);
        if (!found) return std::nullopt;
        match.scalars.push_back(*found);
      }
    }
    return match;
  }

 private:
  // Values of the variables and buffers of the pattern.
  struct State {
    LookupMap<const tir::Var*, const PrimExpr*> vars;
    LookupMap<const tir::Buffer*, const tir::Buffer*> buffers;
  };

  static constexpr int kMaxSteps = 1 << 14;

  // ---- Statements

  bool MatchStmt(const tir::Stmt* stmt, const tir::Stmt* pattern) {
    if (stmt->kind != pattern->kind) return false;
    return WithStack([&] {
      if (const auto* loop = As<tir::For>(stmt)) return MatchFor(*loop, *static_cast<const tir::For*>(pattern));
      if (const auto* realize = As<tir::BlockRealize>(stmt))
        return MatchRealize(*realize, *static_cast<const tir::BlockRealize*>(pattern));
      const auto* store = As<tir::BufferStore>(stmt);
      return store && MatchStore(*store, *static_cast<const tir::BufferStore*>(pattern));
    });
  }

  static bool IsPlain(const tir::For& loop) {
    return loop.for_kind == tir::ForKind::kSerial && arith::IsInt(loop.min, 0) && !loop.step &&
           loop.annotations->size() == 0 && (Is<tir::For>(loop.body) || Is<tir::BlockRealize>(loop.body));
  }

  bool MatchFor(const tir::For& loop, const tir::For& pattern) {
    if (!IsPlain(loop) || !IsPlain(pattern) || !MatchExpr(loop.extent, pattern.extent)) return false;
    state_.vars[pattern.loop_var] = loop.loop_var;
    loops_.push_back(loop.loop_var);
    pattern_loops_.push_back(pattern.loop_var);
    return MatchStmt(loop.body, pattern.body);
  }

  bool MatchRealize(const tir::BlockRealize& realize, const tir::BlockRealize& pattern) {
    const auto is_trivial = [](const tir::BlockRealize& r, const std::vector<const tir::Var*>& loops) {
      return arith::IsInt(r.predicate, 1) && std::ranges::equal(r.iter_values, loops);
    };
    return is_trivial(realize, loops_) && is_trivial(pattern, pattern_loops_) &&
           MatchBlock(*realize.block, *pattern.block);
  }

  bool MatchBlock(const tir::Block& block, const tir::Block& pattern) {
    if (block.iter_vars.size() != pattern.iter_vars.size() || !IsSimple(block) || !IsSimple(pattern)) return false;
    for (uint32_t i = 0; i < block.iter_vars.size(); ++i) {
      const tir::IterVar* iter = block.iter_vars[i];
      const tir::IterVar* pattern_iter = pattern.iter_vars[i];
      if (iter->iter_type != pattern_iter->iter_type || !arith::IsInt(iter->dom->min, 0)) return false;
      if (!MatchExpr(iter->dom->extent, pattern_iter->dom->extent)) return false;
      state_.vars[pattern_iter->var] = iter->var;
    }
    if ((block.init == nullptr) != (pattern.init == nullptr)) return false;
    return (!block.init || MatchStmt(block.init, pattern.init)) && MatchStmt(block.body, pattern.body);
  }

  static bool IsSimple(const tir::Block& block) {
    return block.alloc_buffers.empty() && block.match_buffers.empty() && Is<tir::BufferStore>(block.body);
  }

  bool MatchStore(const tir::BufferStore& store, const tir::BufferStore& pattern) {
    return !store.predicate && !pattern.predicate &&
           MatchAccess(store.buffer, store.indices, pattern.buffer, pattern.indices) &&
           MatchExpr(store.value, pattern.value);
  }

  bool MatchAccess(const tir::Buffer* buffer, List<const PrimExpr*> indices, const tir::Buffer* pattern,
                   List<const PrimExpr*> pattern_indices) {
    return MatchBuffer(buffer, pattern) && MatchAll(indices, pattern_indices);
  }

  bool MatchBuffer(const tir::Buffer* buffer, const tir::Buffer* pattern) {
    if (const auto* found = state_.buffers.Find(pattern)) return *found == buffer;
    if (buffer->dtype != pattern->dtype || buffer->scope() != pattern->scope()) return false;
    if (!MatchAll(buffer->shape, pattern->shape)) return false;
    state_.buffers[pattern] = buffer;
    return true;
  }

  bool MatchAll(List<const PrimExpr*> exprs, List<const PrimExpr*> patterns) {
    return std::ranges::equal(exprs, patterns,
                              [this](const PrimExpr* e, const PrimExpr* p) { return MatchExpr(e, p); });
  }

  // ---- Expressions

  bool IsScalarParam(const PrimExpr* e) const {
    const auto* var = As<tir::Var>(e);
    const auto found = var ? std::ranges::find(pattern_.params, var) : pattern_.params.end();
    return found != pattern_.params.end() &&
           !pattern_.param_buffers[static_cast<size_t>(found - pattern_.params.begin())];
  }

  // Undoes what a failed attempt has bound.
  template <class F>
  bool Try(F&& attempt) {
    const State before = state_;
    if (attempt()) return true;
    state_ = before;
    return false;
  }

  bool BindScalar(const PrimExpr* var, const PrimExpr* value) {
    const auto [known, is_new] = state_.vars.try_emplace(static_cast<const tir::Var*>(var), value);
    return is_new || SameConstant(known, value);
  }

  static bool SameConstant(const PrimExpr* a, const PrimExpr* b) {
    if (const auto* f = As<tir::FloatImm>(a)) return Is<tir::FloatImm>(b) && f->value == To<tir::FloatImm>(b)->value;
    const int64_t* value = arith::AsInt(a);
    return a == b || (value && arith::IsInt(b, *value));
  }

  bool MatchExpr(const PrimExpr* e, const PrimExpr* pattern) {
    if (++steps_ > kMaxSteps) return false;
    return WithStack([&] {
      const bool is_sum = pattern->kind == NodeKind::kAdd;
      if (is_sum || pattern->kind == NodeKind::kMul) {
        const auto* binary = static_cast<const tir::BinaryExpr*>(pattern);
        if (MatchWithout(e, binary->a, binary->b, is_sum) || MatchWithout(e, binary->b, binary->a, is_sum)) return true;
      }
      return MatchNode(e, pattern);
    });
  }

  // Matches the rest of a sum or product, in which a scalar parameter may be missing.
  bool MatchWithout(const PrimExpr* e, const PrimExpr* scalar, const PrimExpr* rest, bool is_sum) {
    if (!IsScalarParam(scalar)) return false;
    const PrimExpr* neutral = arith::PrimBuilder().Const(is_sum ? 0 : 1, rest->dtype);
    return Try([&] { return MatchExpr(e, rest) && BindScalar(scalar, neutral); });
  }

  bool MatchNode(const PrimExpr* e, const PrimExpr* pattern) {
    if (const auto* var = As<tir::Var>(pattern)) {
      if (const auto* found = state_.vars.Find(var)) return SameConstant(*found, e);
      const bool is_constant = Is<tir::IntImm>(e) || Is<tir::FloatImm>(e);
      return (is_constant || (Is<tir::Var>(e) && !IsScalarParam(var))) && BindScalar(var, e);
    }
    const bool same_dtype = e->dtype == pattern->dtype || (e->dtype.is_int() && pattern->dtype.is_int());
    if (e->kind != pattern->kind || !same_dtype) return false;
    if (Is<tir::IntImm>(e) || Is<tir::FloatImm>(e)) return SameConstant(e, pattern);
    if (const auto* load = As<tir::BufferLoad>(e)) {
      const auto* other = static_cast<const tir::BufferLoad*>(pattern);
      return !load->predicate && !other->predicate &&
             MatchAccess(load->buffer, load->indices, other->buffer, other->indices);
    }
    if (const auto* call = As<tir::Call>(e)) {
      const auto* other = static_cast<const tir::Call*>(pattern);
      return call->op == other->op && MatchAll(call->args, other->args);
    }
    if (const auto* cast = As<tir::Cast>(e))
      return e->dtype == pattern->dtype && MatchExpr(cast->value, static_cast<const tir::Cast*>(pattern)->value);
    if (const auto* select = As<tir::Select>(e)) {
      const auto* other = static_cast<const tir::Select*>(pattern);
      return MatchExpr(select->condition, other->condition) && MatchExpr(select->true_value, other->true_value) &&
             MatchExpr(select->false_value, other->false_value);
    }
    const auto* binary = As<tir::BinaryExpr>(e);
    return binary && MatchBinary(*binary, *static_cast<const tir::BinaryExpr*>(pattern));
  }

  bool MatchBinary(const tir::BinaryExpr& e, const tir::BinaryExpr& pattern) {
    if (Try([&] { return MatchExpr(e.a, pattern.a) && MatchExpr(e.b, pattern.b); })) return true;
    const bool commutes = e.kind == NodeKind::kAdd || e.kind == NodeKind::kMul;
    return commutes && Try([&] { return MatchExpr(e.a, pattern.b) && MatchExpr(e.b, pattern.a); });
  }

  const PrimFunc& pattern_;
  State state_;
  std::vector<const tir::Var*> loops_;
  std::vector<const tir::Var*> pattern_loops_;
  int steps_ = 0;
};

}  // namespace

std::optional<NestMatch> MatchNest(const tir::Stmt* stmt, const PrimFunc& pattern) {
  return NestMatcher(pattern).Run(stmt);
}

}  // namespace iropt
