#include "iropt/eval/tir/thread_memory.h"

#include <algorithm>
#include <set>

#include "iropt/eval/tir/thread_sync.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op_id.h"

namespace iropt {

namespace {

// More tags than any function has; the threads of further ones share memory.
constexpr size_t kMaxTags = 32;

bool IsInt(const PrimExpr* expr, int64_t value) {
  const auto* number = As<tir::IntImm>(expr);
  return number && number->value == value;
}

bool SameExtent(const PrimExpr* a, const PrimExpr* b) {
  const auto* x = As<tir::IntImm>(a);
  const auto* y = As<tir::IntImm>(b);
  return a == b || (x && y && x->value == y->value);
}

// Sets of axes are bit masks of the indices of their tags.
class MemoryFinder : public tir::StmtExprVisitor {
 public:
  std::unordered_map<const tir::Var*, ThreadMemory> Result() const {
    std::unordered_map<const tir::Var*, ThreadMemory> result;
    for (const auto& [data, uses] : memory_) {
      ThreadMemory layout = LayoutOf(uses);
      if (!layout.axes.empty() || !layout.shared.empty()) result.emplace(data, std::move(layout));
    }
    return result;
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
    const bool is_axis = attr->attr_key == "thread_extent" || attr->attr_key == "virtual_thread";
    const auto* axis = is_axis ? As<tir::IterVar>(attr->node) : nullptr;
    if (!axis || !IsThreadTag(axis->thread_tag)) return StmtExprVisitor::VisitAttrStmt(attr);
    VisitExpr(attr->value);
    // A nested binding of the same axis keeps its value.
    if (std::ranges::any_of(loops_, [&](const Loop& loop) { return loop.var == axis->var; }))
      return VisitStmt(attr->body);
    InAxis(axis->thread_tag, attr, axis->var, nullptr, attr->value, attr->body);
  }

  void VisitLetStmt(const tir::LetStmt* let) override {
    axes_of_[let->var] = AxesIn(let->value);
    StmtExprVisitor::VisitLetStmt(let);
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    const uint32_t reduced_before = reduced_;
    for (size_t i = 0; i < std::min(block.iter_vars.size(), realize->iter_values.size()); ++i) {
      const PrimExpr* value = realize->iter_values[i];
      VisitExpr(value);
      const tir::IterVar& axis = *block.iter_vars[i];
      axes_of_[axis.var] = AxesIn(value);
      position_of_[axis.var] = PositionIn(value);
      if (axis.iter_type == tir::IterVarType::kCommReduce) reduced_ |= AxesIn(value);
    }
    VisitExpr(realize->predicate);
    VisitBlock(realize->block);
    reduced_ = reduced_before;
  }
  // The accessed regions are not computed when a block is run.
  void VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) AddMemory(buffer->data);
    for (const tir::MatchBufferRegion* match : block->match_buffers) {
      for (const tir::Range* range : match->source->region) VisitRange(range);
      const tir::Var* source = RootOf(match->source->buffer->data);
      const auto found = memory_.find(source);
      if (found == memory_.end() || !roots_.emplace(match->buffer->data, source).second) continue;
      found->second.pointers.push_back(match->buffer->data);
    }
    if (block->init) VisitStmt(block->init);
    VisitStmt(block->body);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    Access(store->buffer->data, store->buffer, store->indices, reduced_);
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Access(load->buffer->data, load->buffer, load->indices, 0);
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitVar(const tir::Var* var) override { Access(var, nullptr, {}, 0); }
  void VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    const bool before = in_allreduce_;
    in_allreduce_ = before || (op && op->id == OpId::kTirTvmThreadAllreduce);
    StmtExprVisitor::VisitCall(call);
    in_allreduce_ = before;
  }

 private:
  // A loop that encloses the visited statement: over a thread axis, or any other one that may run more than once.
  struct Loop {
    const tir::Stmt* stmt = nullptr;
    const tir::Var* var = nullptr;  // null: not over threads
    size_t tag = 0;
    const PrimExpr* extent = nullptr;
  };
  struct AxisUse {
    const tir::Stmt* loop = nullptr;  // the outermost one of the first access
    std::vector<const PrimExpr*> extents;
    uint64_t dims = UINT64_MAX;  // those whose index is the position of the thread in all accesses
  };
  struct Uses {
    size_t depth = 0;                        // the number of loops around the allocation
    std::vector<const tir::Var*> pointers;   // see ThreadMemory
    std::set<uint32_t> places;
    std::vector<AxisUse> axes = std::vector<AxisUse>(kMaxTags);
    uint32_t repeated = 0;                   // axes that are accessed in several executions of their loops
    uint32_t accumulated = 0;                // axes over which a block reduces into the memory
    bool is_operand = false;                 // of T.tvm_thread_allreduce
    bool is_warp = false;
    const tir::Buffer* buffer = nullptr;     // that of all accesses, if `is_plain`
    bool is_plain = true;
  };

  void InLoop(Loop loop, const tir::Stmt* body) {
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
    if (!min || IsInt(min, 0)) position_of_[var] = var;
    InLoop({stmt, var, at, extent}, body);
  }

  uint32_t AxesIn(const PrimExpr* expr) const {
    uint32_t axes = 0;
    tir::ForEachVar(expr, [&](const tir::Var* var) {
      const auto found = axes_of_.find(var);
      if (found != axes_of_.end()) axes |= found->second;
    });
    return axes;
  }

  // The variable of the thread axis whose position is the value of the expression; null if it is another value.
  const tir::Var* PositionIn(const PrimExpr* expr) const {
    const auto* cast = As<tir::Cast>(expr);
    const auto found = position_of_.find(As<tir::Var>(cast ? cast->value : expr));
    return found == position_of_.end() ? nullptr : found->second;
  }

  void AddMemory(const tir::Var* data) {
    if (!IsThreadMemory(data)) return;
    Uses& uses = memory_[data];
    uses.depth = loops_.size();
    if (uses.pointers.empty()) uses.pointers.push_back(data);
    uses.is_warp = !IsLocalMemory(data);
    roots_[data] = data;
  }

  const tir::Var* RootOf(const tir::Var* data) const {
    const auto found = roots_.find(data);
    return found == roots_.end() ? nullptr : found->second;
  }

  // `buffer` is null if a pointer to the memory is taken.
  void Access(const tir::Var* data, const tir::Buffer* buffer, List<const PrimExpr*> indices, uint32_t accumulated) {
    const tir::Var* root = RootOf(data);
    if (!root) return;
    Uses& uses = memory_.at(root);
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
      if ((place >> tag & 1) != 0) uses.axes[tag].dims &= DimsOf(tag, indices);
    }
  }

  // The dimensions whose index is the position on the innermost loop over the axis.
  uint64_t DimsOf(size_t tag, List<const PrimExpr*> indices) const {
    const auto inner = std::find_if(loops_.rbegin(), loops_.rend(),
                                    [&](const Loop& loop) { return loop.var && loop.tag == tag; });
    uint64_t dims = 0;
    for (size_t i = 0; i < std::min<size_t>(indices.size(), 64); ++i) {
      if (PositionIn(indices[i]) == inner->var) dims |= uint64_t{1} << i;
    }
    return dims;
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
                             (is_bound && uses.is_plain && uses.axes[tag].dims != 0);
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
  std::unordered_map<const tir::Var*, Uses> memory_;             // by the pointer of the allocation
  std::unordered_map<const tir::Var*, const tir::Var*> roots_;   // of pointers to the memory
  std::unordered_map<const tir::Var*, uint32_t> axes_of_;        // the thread axes that a variable depends on
  std::unordered_map<const tir::Var*, const tir::Var*> position_of_;  // see PositionIn
  uint32_t reduced_ = 0;                                         // the axes over which the enclosing blocks reduce
  bool in_allreduce_ = false;
};

}  // namespace

bool ThreadMemory::IsShared(std::string_view tag) const { return std::ranges::find(shared, tag) != shared.end(); }

bool IsThreadMemory(const tir::Var* data) {
  return IsLocalMemory(data) || (data->pointer && data->pointer->scope == "warp");
}

std::unordered_map<const tir::Var*, ThreadMemory> FindThreadMemory(const tir::Stmt* body) {
  MemoryFinder finder;
  finder.VisitStmt(body);
  return finder.Result();
}

}  // namespace iropt
