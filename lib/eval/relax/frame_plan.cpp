#include "frame_plan.h"

#include <algorithm>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/support/stack.h"

namespace iropt::eval {

// Walks over the function in execution order twice: to find the last uses, and to allocate slots.
class FramePlan::Builder {
 public:
  explicit Builder(FramePlan& plan) : plan_(plan) {}

  void Build(const Function& function) {
    for (const Var* param : function.params) Note(param);
    WithStack([&] { FindUses(function.body); });
    CollectDead();
    for (const Var* var : plan_.captured_) Allocate(var);
    for (const Var* param : function.params) Allocate(param);
    WithStack([&] { AllocateIn(function.body); });
  }

 private:
  static constexpr uint32_t kNever = UINT32_MAX;  // live until the end of the call

  struct Life {
    uint32_t level = 0;      // the nesting depth of the SeqExpr that binds it
    uint32_t last = kNever;  // the number of the last binding that uses it
    const Var* var = nullptr;
  };

  Life& LifeOf(const Var* var) {
    if (lives_.empty()) plan_.first_var_ = var->id;
    if (var->id < plan_.first_var_) {
      // Grows at least twofold, so that descending ids cost no more than ascending ones.
      const size_t more =
          std::max<size_t>(plan_.first_var_ - var->id, std::min<size_t>(plan_.first_var_, lives_.size()));
      lives_.insert(lives_.begin(), more, Life());
      plan_.first_var_ -= static_cast<uint32_t>(more);
    }
    const size_t at = var->id - plan_.first_var_;
    if (at >= lives_.size()) lives_.resize(at + 1);
    return lives_[at];
  }

  // Parameters and captured variables belong to the outermost SeqExpr.
  Life& Note(const Var* var) {
    Life& life = LifeOf(var);
    life.var = var;
    return life;
  }

  void Define(const Var* var) {
    Life& life = Note(var);
    life.level = static_cast<uint32_t>(current_.size()) - 1;
    life.last = current_.back();
  }

  void Use(const Var* var) {
    Life* life = &LifeOf(var);
    if (!life->var) {
      life = &Note(var);
      plan_.captured_.push_back(var);
    }
    if (life->level < current_.size()) life->last = current_[life->level];
  }

  void FindUses(const Expr* expr) {
    const auto nested = [&](const Expr* e) { WithStack([&] { FindUses(e); }); };
    switch (expr->kind) {
      case NodeKind::kVar:
      case NodeKind::kDataflowVar: return Use(static_cast<const Var*>(expr));
      case NodeKind::kTuple:
        for (const Expr* field : To<Tuple>(expr)->fields) nested(field);
        return;
      case NodeKind::kTupleGetItem: return nested(To<TupleGetItem>(expr)->tuple);
      case NodeKind::kCall:
        nested(To<Call>(expr)->op);
        for (const Expr* arg : To<Call>(expr)->args) nested(arg);
        return ForEachShapeVar(To<Call>(expr)->type_args, [&](const Var* var) { Use(var); });
      case NodeKind::kIf:
        nested(To<If>(expr)->cond);
        nested(To<If>(expr)->true_branch);
        return nested(To<If>(expr)->false_branch);
      case NodeKind::kFunction:
        for (const Var* var : FreeVars(expr)) Use(var);
        return;
      case NodeKind::kSeqExpr: return FindUsesInSeq(*To<SeqExpr>(expr));
      default: return;
    }
  }

  void FindUsesInSeq(const SeqExpr& seq) {
    plan_.first_binding_.try_emplace(&seq, num_bindings_);
    current_.push_back(num_bindings_);
    for (const BindingBlock* block : seq.blocks) num_bindings_ += block->bindings.size();
    ++num_bindings_;
    for (const BindingBlock* block : seq.blocks) {
      for (const Binding* binding : block->bindings) {
        // A local function may call itself.
        const bool is_function = Is<Function>(ValueOf(binding));
        if (is_function) Define(binding->var);
        FindUses(ValueOf(binding));
        if (const auto* cast = As<MatchCast>(binding))
          ForEachShapeVar(cast->match_type, [&](const Var* var) { Use(var); });
        if (!is_function) Define(binding->var);
        ++current_.back();
      }
    }
    FindUses(seq.body);
    current_.pop_back();
  }

  // Sorts the variables by the binding after which they are dead (a counting sort).
  void CollectDead() {
    std::vector<uint32_t>& begin = plan_.dead_begin_;
    begin.assign(num_bindings_ + size_t{2}, 0);
    for (const Life& life : lives_) {
      if (life.var && life.last != kNever) ++begin[life.last + size_t{2}];
    }
    for (size_t i = 2; i < begin.size(); ++i) begin[i] += begin[i - 1];
    plan_.dead_.resize(begin.back());
    dead_vars_.resize(begin.back());
    for (const Life& life : lives_) {
      if (life.var && life.last != kNever) dead_vars_[begin[life.last + size_t{1}]++] = life.var;
    }
    begin.pop_back();
    plan_.slots_.resize(lives_.size());
  }

  void Allocate(const Var* var) {
    uint32_t& slot = plan_.slots_[var->id - plan_.first_var_];
    if (free_.empty()) {
      slot = static_cast<uint32_t>(plan_.num_slots_++);
    } else {
      slot = free_.back();
      free_.pop_back();
    }
  }

  void ReleaseAfter(uint32_t binding) {
    for (uint32_t i = plan_.dead_begin_[binding]; i < plan_.dead_begin_[binding + 1]; ++i) {
      plan_.dead_[i] = plan_.SlotOf(dead_vars_[i]);
      free_.push_back(plan_.dead_[i]);
    }
  }

  void AllocateIn(const Expr* expr) {
    if (const auto* branch = As<If>(expr)) {
      WithStack([&] { AllocateIn(branch->true_branch); });
      WithStack([&] { AllocateIn(branch->false_branch); });
      return;
    }
    const auto* seq = As<SeqExpr>(expr);
    if (!seq) return;
    uint32_t number = plan_.FirstBinding(*seq);
    for (const BindingBlock* block : seq->blocks) {
      for (const Binding* binding : block->bindings) {
        WithStack([&] { AllocateIn(ValueOf(binding)); });
        // The slot is allocated before those of dead variables are released, because the value is computed while they
        // are live.
        Allocate(binding->var);
        ReleaseAfter(number++);
      }
    }
    AllocateIn(seq->body);
    ReleaseAfter(number);
  }

  FramePlan& plan_;
  std::vector<Life> lives_;        // by Var::id, less first_var_
  std::vector<uint32_t> current_;  // the current binding of each enclosing SeqExpr
  uint32_t num_bindings_ = 0;
  std::vector<const Var*> dead_vars_;  // as plan_.dead_
  std::vector<uint32_t> free_;
};

FramePlan::FramePlan(const Function& function) { Builder(*this).Build(function); }

}  // namespace iropt::eval
