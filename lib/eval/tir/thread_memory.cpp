#include "iropt/eval/tir/thread_memory.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "iropt/eval/tir/thread_sync.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// More tags than any function has; the threads of further ones share memory.
constexpr size_t kMaxTags = 32;

bool IsInt(const PrimExpr* expr, int64_t value) {
  const auto* number = As<tir::IntImm>(expr);
  return number && number->value == value;
}

// A sum of variables of loops times constants.
struct LinearIndex {
  bool known = false;
  int64_t constant = 0;
  std::vector<std::pair<const tir::Var*, int64_t>> terms;  // each variable once

  static constexpr int64_t kMax = int64_t{1} << 40;  // larger numbers are not known, so that sums do not overflow
  static constexpr size_t kMaxTerms = 32;

  static LinearIndex Of(const tir::Var* var) { return {true, 0, {{var, 1}}}; }
  static LinearIndex Of(int64_t value) { return {std::abs(value) < kMax, value, {}}; }
  int64_t FactorOf(const tir::Var* var) const {
    for (const auto& [term, factor] : terms) {
      if (term == var) return factor;
    }
    return 0;
  }
  LinearIndex Times(int64_t factor) const {
    LinearIndex result = *this;
    const auto scale = [&](int64_t& value) {
      result.known = result.known && !__builtin_mul_overflow(value, factor, &value) && value > -kMax && value < kMax;
    };
    scale(result.constant);
    for (auto& [var, own] : result.terms) scale(own);
    return result;
  }
  LinearIndex Plus(const LinearIndex& other) const {
    if (!known || !other.known || terms.size() + other.terms.size() > kMaxTerms) return {};
    LinearIndex result = *this;
    result.constant += other.constant;
    for (const auto& [var, factor] : other.terms) {
      const auto same = [v = var](const auto& term) { return term.first == v; };
      const auto own = std::ranges::find_if(result.terms, same);
      if (own == result.terms.end()) {
        result.terms.emplace_back(var, factor);
      } else {
        own->second += factor;
      }
    }
    for (const auto& [var, factor] : result.terms) result.known = result.known && factor > -kMax && factor < kMax;
    result.known = result.known && result.constant > -kMax && result.constant < kMax;
    return result;
  }
};

bool SameExtent(const PrimExpr* a, const PrimExpr* b) {
  const auto* x = As<tir::IntImm>(a);
  const auto* y = As<tir::IntImm>(b);
  return a == b || (x && y && x->value == y->value);
}

// Sets of axes are bit masks of the indices of their tags.
class MemoryFinder : public tir::StmtExprVisitor {
 public:
  ThreadAccesses Result() const {
    ThreadAccesses result;
    memory_.ForEachInAnyOrder([&](const tir::Var* data, const Uses& uses) {
      if (uses.accumulated != 0) {
        result.accumulated.insert(data);
        for (const tir::Var* pointer : uses.pointers) result.accumulated.insert(pointer);
      }
      if (!IsThreadMemory(data) || IsBlockMemory(data)) AddExchanges(uses, result.exchanging);
      if (!IsThreadMemory(data)) return;
      ThreadMemory layout = LayoutOf(uses);
      if (!layout.axes.empty() || !layout.shared.empty()) result.memory.try_emplace(data, std::move(layout));
    });
    return result;
  }

  void VisitStmt(const tir::Stmt* stmt) override {
    path_.push_back(stmt);
    StmtExprVisitor::VisitStmt(stmt);
    path_.pop_back();
  }

 protected:
  void VisitAllocate(const tir::Allocate* allocate) override {
    AddMemory(allocate->buffer_var);
    StmtExprVisitor::VisitAllocate(allocate);
  }
  void VisitBufferRealize(const tir::BufferRealize* realize) override {
    AddMemory(realize->buffer->data);
    StmtExprVisitor::VisitBufferRealize(realize);
  }

  void VisitFor(const tir::For* loop) override {
    VisitExpr(loop->min);
    VisitExpr(loop->extent);
    index_of_[loop->loop_var] = LinearIndex::Of(loop->loop_var);
    AddRange(loop->loop_var, loop->min, loop->extent);
    const std::string_view tag = loop->thread_binding ? loop->thread_binding->thread_tag : std::string_view();
    if (IsThreadTag(tag)) return InAxis(tag, loop, loop->loop_var, loop->min, loop->extent, loop->body);
    if (loop->thread_binding || IsInt(loop->extent, 1)) return VisitStmt(loop->body);
    InLoop({}, loop->body);
  }
  void VisitWhile(const tir::While* loop) override {
    loops_.emplace_back();
    StmtExprVisitor::VisitWhile(loop);
    loops_.pop_back();
  }
  void VisitAttrStmt(const tir::AttrStmt* attr) override {
    const tir::IterVar* axis = tir::ThreadAxisOf(*attr);
    if (!axis) return StmtExprVisitor::VisitAttrStmt(attr);
    VisitExpr(attr->value);
    if (!IsThreadTag(axis->thread_tag)) {
      index_of_[axis->var] = LinearIndex::Of(axis->var);
      AddRange(axis->var, nullptr, attr->value);
      return VisitStmt(attr->body);
    }
    // A nested binding of the same axis keeps its value.
    if (std::ranges::any_of(loops_, [&](const Loop& loop) { return loop.var == axis->var; }))
      return VisitStmt(attr->body);
    InAxis(axis->thread_tag, attr, axis->var, nullptr, attr->value, attr->body);
  }

  void VisitLetStmt(const tir::LetStmt* let) override {
    if (let->var->dtype.is_handle()) {
      if (const tir::Var* target = TargetOf(let->value)) roots_[let->var] = RootOf(target);
    }
    axes_of_[let->var] = AxesIn(let->value);
    index_of_[let->var] = IndexOf(let->value);
    StmtExprVisitor::VisitLetStmt(let);
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    const uint32_t reduced_before = reduced_;
    const tir::Block* accumulating_before = accumulating_;
    for (size_t i = 0; i < std::min(block.iter_vars.size(), realize->iter_values.size()); ++i) {
      const PrimExpr* value = realize->iter_values[i];
      VisitExpr(value);
      const tir::IterVar& axis = *block.iter_vars[i];
      axes_of_[axis.var] = AxesIn(value);
      index_of_[axis.var] = IndexOf(value);
      if (axis.iter_type == tir::IterVarType::kCommReduce) reduced_ |= AxesIn(value);
    }
    if (reduced_ != reduced_before) accumulating_ = &block;
    VisitExpr(realize->predicate);
    VisitBlock(realize->block);
    reduced_ = reduced_before;
    accumulating_ = accumulating_before;
  }
  // The accessed regions are not computed when a block is run.
  void VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) AddMemory(buffer->data);
    for (const tir::MatchBufferRegion* match : block->match_buffers) {
      for (const tir::Range* range : match->source->region) VisitRange(range);
      AddPointer(match->buffer->data, RootOf(match->source->buffer->data));
    }
    if (block->init) VisitStmt(block->init);
    VisitStmt(block->body);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    Access(store->buffer->data, store->buffer, store->indices, reduced_, /*stores=*/true);
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Access(load->buffer->data, load->buffer, load->indices, 0, in_address_);
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitVar(const tir::Var* var) override {
    if (var->dtype.is_handle()) Access(var, nullptr, {}, 0, /*stores=*/true);
  }
  void VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    const bool before = in_allreduce_;
    const bool address_before = in_address_;
    in_allreduce_ = before || (op && op->id == op::kTirTvmThreadAllreduce);
    in_address_ = op && op->id == op::kTirAddressOf;
    StmtExprVisitor::VisitCall(call);
    in_allreduce_ = before;
    in_address_ = address_before;
  }

 private:
  // A loop that encloses the visited statement: over a thread axis, or any other one that may run more than once.
  struct Loop {
    const tir::Stmt* stmt = nullptr;
    const tir::Var* var = nullptr;  // null: not over threads
    size_t tag = 0;
    const PrimExpr* extent = nullptr;
    bool from_zero = false;  // the variable is the position
    size_t depth = 0;        // of the statement in the path
  };
  // A dimension whose index i belongs to the thread i / size % count, or i / size if `count` is 0, which is unknown.
  // The size is 0 if threads may use the same elements.
  struct Split {
    int64_t size = 0;
    int64_t count = 0;
    bool operator==(const Split&) const = default;
  };
  struct AxisUse {
    const tir::Stmt* loop = nullptr;  // the outermost one of the first access
    std::vector<const PrimExpr*> extents;
    std::vector<Split> splits;  // by dimension, the same in all accesses
  };
  // A place where threads access memory.
  struct Site {
    std::vector<const tir::Stmt*> path;        // from the outermost loop over threads to the statement that accesses
    const tir::Block* accumulating = nullptr;  // the innermost block around it that reduces over threads
    bool stores = false;
  };
  struct Uses {
    size_t depth = 0;                       // the number of loops around the allocation
    std::vector<const tir::Var*> pointers;  // see ThreadMemory
    std::set<uint32_t> places;
    std::vector<AxisUse> axes = std::vector<AxisUse>(kMaxTags);
    uint32_t repeated = 0;     // axes that are accessed in several executions of their loops
    uint32_t accumulated = 0;  // axes over which a block reduces into the memory
    bool is_operand = false;   // of T.tvm_thread_allreduce
    bool is_warp = false;
    const tir::Buffer* buffer = nullptr;  // that of all accesses, if `is_plain`
    bool is_plain = true;
    bool is_of_thread = false;  // a thread has allocated it for itself
    std::vector<Site> sites;    // in the order of the text
  };

  void InLoop(Loop loop, const tir::Stmt* body) {
    loop.depth = path_.size() - 1;
    loops_.push_back(loop);
    VisitStmt(body);
    loops_.pop_back();
  }

  void InAxis(std::string_view tag, const tir::Stmt* stmt, const tir::Var* var, const PrimExpr* min,
              const PrimExpr* extent, const tir::Stmt* body) {
    auto at = static_cast<size_t>(std::ranges::find(tags_, tag) - tags_.begin());
    if (at == kMaxTags) return InLoop({}, body);
    if (at == tags_.size()) tags_.push_back(tag);
    axes_of_[var] = uint32_t{1} << at;
    index_of_[var] = LinearIndex::Of(var);
    AddRange(var, min, extent);
    InLoop({stmt, var, at, extent, !min || IsInt(min, 0)}, body);
  }

  uint32_t AxesIn(const PrimExpr* expr) const {
    uint32_t axes = 0;
    tir::ForEachVar(expr, [&](const tir::Var* var) {
      const auto* found = axes_of_.Find(var);
      if (found) axes |= *found;
    });
    return axes;
  }

  LinearIndex IndexOf(const PrimExpr* expr) const {
    return WithStack([&] { return LinearParts(expr); });
  }

  LinearIndex LinearParts(const PrimExpr* expr) const {
    if (const auto* cast = As<tir::Cast>(expr)) return IndexOf(cast->value);
    if (const auto* number = As<tir::IntImm>(expr)) return LinearIndex::Of(number->value);
    if (const auto* var = As<tir::Var>(expr)) {
      const auto* found = index_of_.Find(var);
      return found ? *found : LinearIndex{};
    }
    const auto* binary = tir::BinaryExpr::ClassOf(expr->kind) ? static_cast<const tir::BinaryExpr*>(expr) : nullptr;
    if (expr->kind == NodeKind::kAdd) return IndexOf(binary->a).Plus(IndexOf(binary->b));
    if (expr->kind == NodeKind::kSub) return IndexOf(binary->a).Plus(IndexOf(binary->b).Times(-1));
    const auto* factor = expr->kind == NodeKind::kMul ? As<tir::IntImm>(binary->b) : nullptr;
    return factor ? IndexOf(binary->a).Times(factor->value) : LinearIndex{};
  }

  // `min` is null for 0.
  void AddRange(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent) {
    const auto* first = min ? As<tir::IntImm>(min) : nullptr;
    const auto* count = As<tir::IntImm>(extent);
    const int64_t begin = first ? first->value : 0;
    const bool known = (!min || first) && count && count->value > 0 && count->value < LinearIndex::kMax &&
                       begin > -LinearIndex::kMax && begin < LinearIndex::kMax;
    range_of_.erase(var);
    if (known) range_of_[var] = {begin, begin + count->value - 1};
  }

  void AddMemory(const tir::Var* data) {
    Uses& uses = memory_[data];
    // All threads of a block are around shared memory, wherever it is allocated.
    uses.depth = IsThreadMemory(data) || !IsBlockMemory(data) ? loops_.size() : 0;
    if (uses.pointers.empty()) uses.pointers.push_back(data);
    uses.is_warp = IsThreadMemory(data) && !IsLocalMemory(data);
    uses.is_of_thread =
        !IsBlockMemory(data) && std::ranges::any_of(loops_, [](const Loop& loop) { return loop.var != nullptr; });
    roots_[data] = data;
  }

  void AddPointer(const tir::Var* data, const tir::Var* root) {
    if (roots_.try_emplace(data, root).second) memory_[root].pointers.push_back(data);
  }

  // The pointer from which an expression computes another one; null if there is none.
  static const tir::Var* TargetOf(const PrimExpr* expr) {
    const tir::Var* target = nullptr;
    tir::PostOrderVisit(expr, [&](const Node* node) {
      const auto* var = As<tir::Var>(node);
      if (var && var->dtype.is_handle()) target = var;
      if (const auto* load = As<tir::BufferLoad>(node)) target = load->buffer->data;
    });
    return target;
  }

  // Memory that the function does not allocate begins at the pointer.
  const tir::Var* RootOf(const tir::Var* data) const {
    const tir::Var* const* root = roots_.Find(data);
    return root ? *root : data;
  }

  // `buffer` is null if a pointer to the memory is taken.
  void Access(const tir::Var* data, const tir::Buffer* buffer, List<const PrimExpr*> indices, uint32_t accumulated,
              bool stores) {
    Uses& uses = memory_[RootOf(data)];
    uses.accumulated |= accumulated;
    uses.is_operand = uses.is_operand || in_allreduce_;
    uses.is_plain = uses.is_plain && buffer && buffer->strides.empty() && (!uses.buffer || uses.buffer == buffer);
    uses.buffer = buffer;
    uint32_t place = 0;
    bool repeats = false;
    for (size_t i = std::min(uses.depth, loops_.size()); i < loops_.size(); ++i) {
      const Loop& loop = loops_[i];
      repeats = repeats || !loop.var;
      if (!loop.var) continue;
      const uint32_t bit = uint32_t{1} << loop.tag;
      AxisUse& axis = uses.axes[loop.tag];
      const bool is_outermost = (place & bit) == 0;
      if (is_outermost && (repeats || (axis.loop && axis.loop != loop.stmt))) uses.repeated |= bit;
      if (is_outermost && !axis.loop) axis.loop = loop.stmt;
      if (std::ranges::none_of(axis.extents, [&](const PrimExpr* e) { return SameExtent(e, loop.extent); }))
        axis.extents.push_back(loop.extent);
      place |= bit;
    }
    uses.places.insert(place);
    for (size_t tag = 0; tag < tags_.size(); ++tag) {
      if ((place >> tag & 1) != 0) AddSplits(tag, indices, uses.axes[tag]);
    }
    const auto outermost = std::ranges::find_if(loops_, [](const Loop& loop) { return loop.var != nullptr; });
    if (outermost == loops_.end()) return;
    uses.sites.push_back(
        {{path_.begin() + static_cast<int64_t>(outermost->depth), path_.end()}, accumulating_, stores});
  }

  // Returns whether each thread accesses elements of its own.
  bool IsSplitByThreads(const Uses& uses) const {
    if (!uses.is_plain || uses.places.size() != 1 || uses.places.contains(0)) return false;
    for (size_t tag = 0; tag < tags_.size(); ++tag) {
      if ((*uses.places.begin() >> tag & 1) != 0 && !IsSplit(uses.axes[tag])) return false;
    }
    return true;
  }

  // Adds the statements around two accesses, one of them a store, of threads that may access the same element. What a
  // block accumulates over threads does not depend on their order.
  void AddExchanges(const Uses& uses, LookupSet<const tir::Stmt*>& exchanging) const {
    if (uses.is_of_thread || IsSplitByThreads(uses)) return;
    // Any two accesses in a statement are neighbors, or have neighbors between them.
    for (size_t i = 1; i < uses.sites.size(); ++i) {
      const Site& a = uses.sites[i - 1];
      const Site& b = uses.sites[i];
      if ((!a.stores && !b.stores) || (a.accumulating && a.accumulating == b.accumulating)) continue;
      const auto end = std::ranges::mismatch(a.path, b.path).in1;
      std::for_each(a.path.begin(), end, [&](const tir::Stmt* stmt) {
        if (stmt->kind != NodeKind::kBufferStore && stmt->kind != NodeKind::kEvaluate) exchanging.insert(stmt);
      });
    }
  }

  // Splits an index that belongs to the thread at the position `axis`: it is the sum of the position times a size,
  // something less than that, and multiples of what all threads together have.
  Split SplitOf(const Loop& axis, const PrimExpr* expr) const {
    const LinearIndex index = IndexOf(expr);
    const int64_t size = index.known ? index.FactorOf(axis.var) : 0;
    const auto* threads = range_of_.Find(axis.var);
    if (size <= 0 || !axis.from_zero) return {};
    const int64_t count = threads ? threads->second + 1 : 0;
    __extension__ using Wide = __int128;
    Wide low = index.constant;
    Wide high = index.constant;
    for (const auto& [var, factor] : index.terms) {
      if (var == axis.var || (count != 0 && Wide{factor} % (Wide{size} * count) == 0)) continue;
      const auto* range = range_of_.Find(var);
      if (!range) return {};
      const auto& [first, last] = *range;
      low += Wide{factor} * (factor > 0 ? first : last);
      high += Wide{factor} * (factor > 0 ? last : first);
    }
    return low >= 0 && high < size ? Split{size, count} : Split{};
  }

  void AddSplits(size_t tag, List<const PrimExpr*> indices, AxisUse& axis) const {
    const auto inner =
        std::find_if(loops_.rbegin(), loops_.rend(), [&](const Loop& loop) { return loop.var && loop.tag == tag; });
    const bool is_first = axis.splits.empty();
    axis.splits.resize(std::max<size_t>(indices.size(), 1));
    for (size_t i = 0; i < indices.size(); ++i) {
      const Split split = SplitOf(*inner, indices[i]);
      axis.splits[i] = is_first || axis.splits[i] == split ? split : Split{};
    }
  }

  static bool IsSplit(const AxisUse& axis) {
    return std::ranges::any_of(axis.splits, [](const Split& split) { return split.size != 0; });
  }

  ThreadMemory LayoutOf(const Uses& uses) const {
    ThreadMemory layout;
    uint32_t copied = 0;
    uint32_t repeated = uses.repeated;
    for (size_t tag = 0; tag < tags_.size(); ++tag) {
      const uint32_t bit = uint32_t{1} << tag;
      const bool is_bound = std::ranges::any_of(uses.places, [&](uint32_t place) { return (place & bit) != 0; });
      const bool is_accumulated = (uses.accumulated & bit) != 0 && !uses.is_operand;
      const bool is_shared = is_accumulated || (uses.is_warp && tags_[tag] == "threadIdx.x") ||
                             (is_bound && uses.is_plain && IsSplit(uses.axes[tag]));
      if (is_shared) layout.shared.push_back(tags_[tag]);
      if (!is_bound || is_shared) continue;
      copied |= bit;
      if (std::ranges::any_of(uses.places, [&](uint32_t place) { return (place & bit) == 0; })) repeated |= bit;
    }
    if ((copied & repeated) == 0) return layout;
    std::set<uint32_t> places;
    for (const uint32_t place : uses.places) {
      uint32_t bound = 0;
      size_t index = 0;
      for (size_t tag = 0; tag < tags_.size(); ++tag) {
        if ((copied >> tag & 1) == 0) continue;
        bound |= (place >> tag & 1) << index++;
      }
      places.insert(bound);
    }
    for (size_t tag = 0; tag < tags_.size(); ++tag) {
      if ((copied >> tag & 1) != 0) layout.axes.push_back({tags_[tag], uses.axes[tag].extents});
    }
    layout.places.assign(places.begin(), places.end());
    layout.pointers = uses.pointers;
    return layout;
  }

  std::vector<Loop> loops_;
  std::vector<std::string_view> tags_;
  LookupMap<const tir::Var*, Uses> memory_;                           // by the pointer of the allocation
  LookupMap<const tir::Var*, const tir::Var*> roots_;                 // of pointers to the memory
  LookupMap<const tir::Var*, uint32_t> axes_of_;                      // the thread axes that a variable depends on
  LookupMap<const tir::Var*, LinearIndex> index_of_;                  // the values of variables
  LookupMap<const tir::Var*, std::pair<int64_t, int64_t>> range_of_;  // from the first value to the last
  uint32_t reduced_ = 0;                                              // the axes over which the enclosing blocks reduce
  const tir::Block* accumulating_ = nullptr;                          // the innermost of these blocks
  std::vector<const tir::Stmt*> path_;                                // to the visited statement
  bool in_allreduce_ = false;
  bool in_address_ = false;
};

}  // namespace

bool ThreadMemory::IsShared(std::string_view tag) const { return std::ranges::find(shared, tag) != shared.end(); }

bool IsThreadMemory(const tir::Var* data) {
  return IsLocalMemory(data) || (data->pointer && data->pointer->scope == "warp");
}

bool IsKnownExtent(const PrimExpr* extent, FunctionRef<bool(const tir::Var*)> is_bound) {
  bool known = true;
  tir::PostOrderVisit(extent, [&](const Node* node) {
    const auto* var = As<tir::Var>(node);
    const auto* call = As<tir::Call>(node);
    const auto* op = call ? As<Op>(call->op) : nullptr;
    const bool changes = node->kind == NodeKind::kBufferLoad || (call && (!op || EffectOf(op) > CallEffect::kPure));
    known = known && !changes && (!var || is_bound(var));
  });
  return known;
}

bool IsBlockMemory(const tir::Var* data) {
  return data->pointer && (data->pointer->scope.starts_with("shared") || data->pointer->scope == "warp");
}

ThreadAccesses FindThreadAccesses(const tir::Stmt* body) {
  MemoryFinder finder;
  finder.VisitStmt(body);
  return finder.Result();
}

}  // namespace iropt
