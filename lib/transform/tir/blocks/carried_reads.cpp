#include "transform/tir/blocks/carried_reads.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/ir/tir/written_values.h"
#include "iropt/support/lookup.h"

namespace iropt {

// The state of CarriedReads.
namespace carried_reads {

constexpr size_t kMaxAccesses = 64;

using VarSet = LookupSet<const tir::Var*>;

// A statement between the loop and an access: an inner loop, or a condition.
struct Step {
  const Node* node;
  const tir::For* loop;  // null: a condition
};

struct Access {
  bool is_store;
  std::vector<const PrimExpr*> indices;  // of variables of loops
  std::vector<Step> path;
};

// The accesses to a memory in an iteration, in the order in which they run.
struct Accesses {
  const tir::Buffer* buffer = nullptr;
  std::vector<Access> list = {};
  bool is_opaque = false;  // there are other accesses
};

class AccessFinder : public tir::StmtExprVisitor {
 public:
  AccessFinder(const tir::For& loop, std::span<const tir::For* const> outer, Workspace& workspace,
               arith::Analyzer& analyzer)
      : loop_(loop), analyzer_(analyzer), values_(workspace) {
    for (const tir::For* around : outer) analyzer_.Bind(around->loop_var, around->min, around->extent);
    VisitStmt(loop.body);
  }

  LookupMap<const tir::Var*, Accesses> found;  // by data pointer

  // Returns whether the index of an access may depend on the loop in other ways than it says.
  bool IsUnknown(const PrimExpr* index) const { return values_.UsesUnknown(index); }

 protected:
  void VisitFor(const tir::For* loop) override {
    VisitExpr(loop->min);
    VisitExpr(loop->extent);
    analyzer_.Bind(loop->loop_var, loop->min, loop->extent);
    Within({loop, loop}, *loop->body);
  }
  void VisitIfThenElse(const tir::IfThenElse* branch) override {
    VisitExpr(branch->condition);
    if (IsFirstReduction(branch->condition)) {
      VisitStmt(branch->then_case);
    } else {
      Within({branch->then_case, nullptr}, *branch->then_case);
    }
    if (branch->else_case) Within({branch->else_case, nullptr}, *branch->else_case);
  }
  void VisitWhile(const tir::While* loop) override {
    path_.push_back({loop, nullptr});
    VisitExpr(loop->condition);
    VisitStmt(loop->body);
    path_.pop_back();
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    for (const PrimExpr* value : realize->iter_values) VisitExpr(value);
    const tir::Block& block = *realize->block;
    for (uint32_t i = 0; i < block.iter_vars.size() && i < realize->iter_values.size(); ++i) {
      const PrimExpr* value = values_.Of(realize->iter_values[i]);
      values_.Bind(block.iter_vars[i]->var, realize->iter_values[i]);
      const bool begins = block.iter_vars[i]->iter_type == tir::IterVarType::kCommReduce && block.iter_vars[i]->dom &&
                          !tir::UsesVar(value, loop_.loop_var) && !IsUnknown(value);
      if (begins) first_of_[block.iter_vars[i]->var] = block.iter_vars[i]->dom->min;
    }
    for (const tir::MatchBufferRegion* match : block.match_buffers) found[match->source->buffer->data].is_opaque = true;
    const bool is_conditional = !arith::IsInt(realize->predicate, 1);
    if (is_conditional) path_.push_back({realize, nullptr});
    VisitStmt(block.body);
    if (is_conditional) path_.pop_back();
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    VisitExpr(let->value);
    if (arith::IsIndexType(let->value->dtype)) {
      values_.Bind(let->var, let->value);
    } else {
      values_.BindUnknown(let->var);
    }
    VisitStmt(let->body);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    StmtExprVisitor::VisitBufferStore(store);
    Add(*store->buffer, store->indices, /*is_store=*/true);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    StmtExprVisitor::VisitBufferLoad(load);
    Add(*load->buffer, load->indices, /*is_store=*/false);
  }
  void VisitVar(const tir::Var* var) override {
    if (var->dtype.is_handle()) found[var].is_opaque = true;
  }

 private:
  void Within(Step step, const tir::Stmt& body) {
    path_.push_back(step);
    VisitStmt(&body);
    path_.pop_back();
  }

  void Add(const tir::Buffer& buffer, List<const PrimExpr*> indices, bool is_store) {
    Accesses& accesses = found[buffer.data];
    if (!accesses.buffer) accesses.buffer = &buffer;
    accesses.is_opaque |= &buffer != accesses.buffer || accesses.list.size() == kMaxAccesses;
    if (accesses.is_opaque) return;
    Access access{is_store, {}, path_};
    for (const PrimExpr* index : indices) access.indices.push_back(values_.Of(index));
    accesses.list.push_back(std::move(access));
  }

  // Returns whether the condition says that all axes that it uses have their first values, and these are axes of a
  // reduction that the iteration runs as a whole: what is stored there is stored before all else in the reduction.
  bool IsFirstReduction(const PrimExpr* condition) const {
    if (const auto* both = As<tir::And>(condition)) return IsFirstReduction(both->a) && IsFirstReduction(both->b);
    const auto* equal = As<tir::EQ>(condition);
    const auto* var = equal ? As<tir::Var>(equal->a) : nullptr;
    const auto* first = var ? first_of_.Find(var) : nullptr;
    const int64_t* value = first ? arith::AsInt(*first) : nullptr;
    return value && arith::IsInt(equal->b, *value);
  }

  const tir::For& loop_;
  arith::Analyzer& analyzer_;
  std::vector<Step> path_;
  tir::WrittenValues values_;                             // of axes and bindings, by loop variables
  LookupMap<const tir::Var*, const PrimExpr*> first_of_;  // of axes of reductions
};

}  // namespace carried_reads

class CarriedReads::InLoop {
  using Access = carried_reads::Access;
  using Accesses = carried_reads::Accesses;
  using AccessFinder = carried_reads::AccessFinder;
  using Step = carried_reads::Step;
  using VarSet = carried_reads::VarSet;

 public:
  InLoop(const tir::For& loop, std::span<const tir::For* const> outer, Workspace& workspace)
      : loop_(loop),
        workspace_(workspace),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        finder_(loop, outer, workspace, analyzer_) {}

  bool ExistOf(const tir::Buffer& buffer) {
    if (arith::IsInt(loop_.extent, 1)) return false;
    const Accesses* found = finder_.found.Find(buffer.data);
    if (!found || found->is_opaque || found->buffer != &buffer) return false;
    accesses_ = found->list;
    if (std::ranges::none_of(accesses_, &Access::is_store) || IsDisjoint()) return false;
    for (size_t i = 0; i < accesses_.size(); ++i) {
      if (!accesses_[i].is_store && !IsWrittenBefore(i)) return true;
    }
    return false;
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  // Returns whether different iterations access different elements: in one dimension, a multiple of the loop variable
  // plus what is less than the step.
  bool IsDisjoint() {
    if (accesses_.empty()) return true;
    for (size_t dim = 0; dim < accesses_[0].indices.size(); ++dim) {
      if (IsDisjointIn(dim)) return true;
    }
    return false;
  }
  bool IsDisjointIn(size_t dim) {
    std::optional<int64_t> step;
    int64_t least = 0, most = 0;
    const PrimExpr* origin = nullptr;
    for (const Access& access : accesses_) {
      const PrimExpr* index = access.indices[dim];
      if (!index->dtype.is_scalar() || finder_.IsUnknown(index)) return false;
      const PrimExpr* rest = At(index, make().Const(0, loop_.loop_var->dtype));
      const PrimExpr* next = At(index, make().Add(loop_.loop_var, make().Const(1, loop_.loop_var->dtype)));
      const int64_t* distance = arith::AsInt(analyzer_.Simplify(make().Sub(next, index)));
      if (!distance || *distance == 0 || (step && *step != *distance)) return false;
      step = *distance;
      if (!origin) origin = rest;
      const arith::IntBound bound = analyzer_.Bound(analyzer_.Simplify(make().Sub(rest, Begin(origin))));
      if (bound.min <= -kFar || bound.max >= kFar) return false;
      least = std::min(least, bound.min);
      most = std::max(most, bound.max);
    }
    return most - least < std::abs(*step);
  }
  static constexpr int64_t kFar = int64_t{1} << 40;

  const PrimExpr* At(const PrimExpr* index, const PrimExpr* value) {
    return tir::Substitute(index, {{loop_.loop_var, value}}, workspace_);
  }
  // The expression in the first iterations of all inner loops.
  const PrimExpr* Begin(const PrimExpr* expr) {
    tir::VarValues firsts;
    for (const Access& access : accesses_) {
      for (const Step& step : access.path) {
        if (step.loop) firsts[step.loop->loop_var] = step.loop->min;
      }
    }
    return tir::Substitute(expr, firsts, workspace_);
  }

  bool IsWrittenBefore(size_t load) {
    for (size_t store = 0; store < load; ++store) {
      if (accesses_[store].is_store && Covers(accesses_[store], accesses_[load])) return true;
    }
    return false;
  }

  // Returns whether the store, which runs before, writes the element that is loaded: in any case, in some iteration of
  // the loops that are only around it.
  bool Covers(const Access& store, const Access& load) {
    size_t common = 0;
    while (common < store.path.size() && common < load.path.size() && store.path[common].node == load.path[common].node)
      ++common;
    VarSet own;
    for (size_t i = common; i < store.path.size(); ++i) {
      const tir::For* loop = store.path[i].loop;
      if (!loop) return false;
      own.insert(loop->loop_var);
    }
    if (store.indices.size() != load.indices.size()) return false;
    VarSet used;
    for (size_t dim = 0; dim < store.indices.size(); ++dim) {
      if (!CoversIn(store, store.indices[dim], load.indices[dim], own, used)) return false;
    }
    return true;
  }

  bool CoversIn(const Access& store, const PrimExpr* stored, const PrimExpr* loaded, const VarSet& own, VarSet& used) {
    if (!stored->dtype.is_scalar() || !loaded->dtype.is_scalar()) return false;
    if (!tir::UsesAnyOf(own, stored)) return analyzer_.CanProveEqual(stored, loaded);
    // The variable of one of its own loops plus what these loops do not change.
    for (const Step& step : store.path) {
      if (!step.loop || !own.contains(step.loop->loop_var) || !tir::UsesVar(stored, step.loop->loop_var)) continue;
      const tir::For& loop = *step.loop;
      const PrimExpr* offset = analyzer_.Simplify(make().Sub(stored, loop.loop_var));
      if (tir::UsesAnyOf(own, offset) || !used.insert(loop.loop_var)) return false;
      const PrimExpr* place = make().Sub(make().Sub(loaded, offset), loop.min);
      return analyzer_.CanProve(make().Binary(NodeKind::kLE, make().Const(0, place->dtype), place)) &&
             analyzer_.CanProve(make().Binary(NodeKind::kLT, place, loop.extent));
    }
    return false;
  }

  const tir::For& loop_;
  Workspace& workspace_;
  arith::Analyzer analyzer_;
  const AccessFinder finder_;
  std::span<const Access> accesses_;  // to the buffer that is looked at
};

CarriedReads::CarriedReads(Workspace& workspace) : workspace_(workspace) {}
CarriedReads::~CarriedReads() = default;

bool CarriedReads::Exist(const tir::For& loop, std::span<const tir::For* const> outer, const tir::Buffer& buffer) {
  std::unique_ptr<InLoop>& in_loop = loops_[&loop];
  if (!in_loop) in_loop = std::make_unique<InLoop>(loop, outer, workspace_);
  return in_loop->ExistOf(buffer);
}

}  // namespace iropt
