#include "tir_access.h"

#include <algorithm>
#include <unordered_map>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/substitute.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt::text {
namespace {

// All integers from min to max; a null end is unbounded.
struct Interval {
  const PrimExpr* min = nullptr;
  const PrimExpr* max = nullptr;
  bool bounded() const { return min && max; }
  bool single() const { return min && min == max; }
};

using Region = std::vector<Interval>;

class AccessFinder : public tir::StmtExprVisitor {
 public:
  AccessFinder(const BuffersByPointer& known, Workspace& ws)
      : known_(known), ws_(ws), make_(ws.arena()), analyzer_(make_, arith::Analyzer::SymVars::kAny) {}

  BlockAccesses Find(const tir::Block& block) {
    for (const tir::MatchBufferRegion* match : block.match_buffers) {
      if (known_.contains(match->source->buffer->data)) matches_.push_back(match);
    }
    if (block.init) VisitStmt(block.init);
    VisitStmt(block.body);
    BlockAccesses result;
    Collect(writes_, nullptr, result.writes);
    Collect(reads_, block.init ? &writes_ : nullptr, result.reads);
    result.opaque = opaque_;
    return result;
  }

 protected:
  using tir::StmtExprVisitor::VisitExpr;

  void VisitFor(const tir::For* loop) override {
    VisitExpr(loop->min);
    VisitExpr(loop->extent);
    const PrimExpr* last = make_.Sub(make_.Add(loop->min, loop->extent), make_.Const(1, loop->min->dtype));
    domains_[loop->loop_var] = {loop->min, last};
    VisitStmt(loop->body);
    domains_.erase(loop->loop_var);
  }

  void VisitLetStmt(const tir::LetStmt* let) override {
    lets_[let->var] = let->value;
    VisitExpr(let->value);
    VisitStmt(let->body);
    lets_.erase(let->var);
  }

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Add(reads_, load->buffer, Eval(load->indices));
    tir::StmtExprVisitor::VisitBufferLoad(load);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    Add(writes_, store->buffer, Eval(store->indices));
    tir::StmtExprVisitor::VisitBufferStore(store);
  }

  void VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    if (!op || op->name != "tir.tvm_access_ptr" || call->args.size() != 5) return tir::StmtExprVisitor::VisitCall(call);
    const tir::Buffer* buffer = BufferOf(call->args[1]);
    const int64_t* mask = arith::AsInt(call->args[4]);
    if (!buffer || !mask) return;
    if ((*mask & 3) == 3) opaque_ = buffer;
    if (*mask & 1) Add(reads_, buffer, Region(buffer->shape.size()));
    if (*mask & 2) Add(writes_, buffer, Region(buffer->shape.size()));
  }

  void VisitVar(const tir::Var* var) override {
    if (const tir::Buffer* buffer = BufferOf(var)) opaque_ = buffer;
  }

  // A block inside stands for what it says of itself.
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    std::unordered_map<const tir::Var*, const PrimExpr*> values;
    for (uint32_t i = 0; i < realize->iter_values.size(); ++i)
      values[realize->block->iter_vars[i]->var] = realize->iter_values[i];
    const auto eval = [&](const tir::BufferRegion* region) {
      Region result;
      for (const tir::Range* range : region->region) {
        const auto value = [&](const tir::Var* v) -> const PrimExpr* {
          const auto it = values.find(v);
          return it == values.end() ? v : it->second;
        };
        const PrimExpr* min = arith::MapVars(range->min, value, make_);
        const PrimExpr* extent = arith::MapVars(range->extent, value, make_);
        const Interval first = EvalExpr(min);
        const Interval last =
            arith::IsInt(extent, 1) ? first : EvalExpr(make_.Sub(make_.Add(min, extent), make_.Const(1, min->dtype)));
        result.push_back({first.min, last.max});
      }
      return result;
    };
    for (const tir::BufferRegion* region : realize->block->reads) Add(reads_, region->buffer, eval(region));
    for (const tir::BufferRegion* region : realize->block->writes) Add(writes_, region->buffer, eval(region));
  }

 private:
  struct Access {
    const tir::Buffer* buffer;
    Region region;
  };

  const tir::Buffer* BufferOf(const PrimExpr* pointer) const {
    if (!tir::Var::ClassOf(pointer->kind) || !pointer->dtype.is_handle()) return nullptr;
    for (const tir::MatchBufferRegion* match : matches_) {
      if (match->buffer->data == pointer) return match->buffer;
    }
    const auto it = known_.find(static_cast<const tir::Var*>(pointer));
    return it == known_.end() ? nullptr : it->second;
  }

  void Add(std::vector<Access>& list, const tir::Buffer* buffer, Region region) {
    for (const tir::MatchBufferRegion* match : matches_) {
      if (match->buffer->data != buffer->data) continue;
      region = OfSource(*match, region);
      buffer = match->source->buffer;
    }
    if (!known_.contains(buffer->data)) return;
    for (Access& known : list) {
      if (known.buffer != buffer) continue;
      for (size_t i = 0; i < region.size() && i < known.region.size(); ++i)
        known.region[i] = Union(known.region[i], region[i]);
      return;
    }
    list.push_back({buffer, std::move(region)});
  }

  // All of lo, lo + 1, ..., lo + extent - 1.
  Interval FromExtent(const PrimExpr* lo, const PrimExpr* extent) {
    if (arith::IsInt(extent, 1)) return {lo, lo};
    return {lo, make_.Sub(make_.Add(lo, extent), make_.Const(1, lo->dtype))};
  }

  // What a region of a buffer that stands for a part of another one is of that. The part has leading dimensions of
  // one element that the buffer may lack.
  Region OfSource(const tir::MatchBufferRegion& match, const Region& region) {
    const List<const tir::Range*> source = match.source->region;
    const List<const PrimExpr*> shape = match.buffer->shape;
    const bool fits = region.size() <= source.size() && region.size() == shape.size();
    const size_t offset = fits ? source.size() - region.size() : source.size();
    Region result;
    for (size_t i = 0; i < source.size(); ++i) {
      if (i < offset) {
        result.push_back(FromExtent(source[i]->min, source[i]->extent));
        continue;
      }
      const Interval& part = region[i - offset];
      if (!part.bounded()) {
        result.push_back(FromExtent(source[i]->min, shape[i - offset]));
      } else {
        const PrimExpr* lo = make_.Add(source[i]->min, part.min);
        result.push_back({lo, part.single() ? lo : make_.Add(source[i]->min, part.max)});
      }
    }
    return result;
  }

  Interval Union(Interval a, Interval b) {
    if (!a.bounded() || !b.bounded()) return {};
    if (a.single() && b.single() && arith::DeepEqual(a.min, b.min)) return a;
    return {analyzer_.Simplify(make_.Min(a.min, b.min)), analyzer_.Simplify(make_.Max(a.max, b.max))};
  }

  Region Eval(List<const PrimExpr*> indices) {
    Region region;
    for (const PrimExpr* index : indices) {
      const auto value = [&](const tir::Var* v) -> const PrimExpr* {
        const auto it = lets_.find(v);
        return it == lets_.end() ? v : it->second;
      };
      region.push_back(EvalExpr(arith::MapVars(index, value, make_)));
    }
    return region;
  }

  bool DependsOnLoops(const PrimExpr* e) const {
    bool found = false;
    if (!domains_.empty()) arith::ForEachVar(e, [&](const tir::Var* v) { found |= domains_.contains(v); });
    return found;
  }

  Interval EvalExpr(const PrimExpr* e) {
    return WithStack([&] { return EvalNode(e); });
  }
  Interval EvalNode(const PrimExpr* e);
  Interval EvalProduct(Interval a, const PrimExpr* factor);
  Interval EvalQuotient(const tir::BinaryExpr* e);

  void Collect(const std::vector<Access>& list, const std::vector<Access>* without,
               std::vector<const tir::BufferRegion*>& out);

  const BuffersByPointer& known_;
  Workspace& ws_;
  arith::PrimBuilder make_;
  arith::Analyzer analyzer_;
  std::vector<Access> reads_, writes_;
  std::vector<const tir::MatchBufferRegion*> matches_;
  std::unordered_map<const tir::Var*, Interval> domains_;  // looked up, never iterated
  std::unordered_map<const tir::Var*, const PrimExpr*> lets_;
  const tir::Buffer* opaque_ = nullptr;
};

Interval AccessFinder::EvalProduct(Interval a, const PrimExpr* factor) {
  const int64_t* value = arith::AsInt(factor);
  if (!value || !a.bounded()) return {};
  if (*value < 0) std::swap(a.min, a.max);
  return {make_.Mul(a.min, factor), make_.Mul(a.max, factor)};
}

// Division and remainder by a positive constant.
Interval AccessFinder::EvalQuotient(const tir::BinaryExpr* e) {
  const int64_t* divisor = arith::AsInt(e->b);
  if (!divisor || *divisor <= 0) return {};
  const Interval a = EvalExpr(e->a);
  if (e->kind == NodeKind::kFloorMod || e->kind == NodeKind::kMod) {
    if (a.bounded() && e->kind == NodeKind::kFloorMod) {
      const PrimExpr* low = make_.FloorDiv(a.min, e->b);
      if (analyzer_.CanProveEqual(low, make_.FloorDiv(a.max, e->b))) {
        const PrimExpr* offset = make_.Mul(low, e->b);
        return {make_.Sub(a.min, offset), make_.Sub(a.max, offset)};
      }
    }
    const PrimExpr* most = make_.Sub(e->b, make_.Const(1, e->b->dtype));
    return {e->kind == NodeKind::kMod ? make_.Sub(make_.Const(0, e->b->dtype), most) : make_.Const(0, e->b->dtype),
            most};
  }
  if (!a.bounded()) return {};
  return {make_.Binary(e->kind, a.min, e->b), make_.Binary(e->kind, a.max, e->b)};
}

Interval AccessFinder::EvalNode(const PrimExpr* e) {
  if (const auto* ramp = As<tir::Ramp>(e)) {
    const Interval base = EvalExpr(ramp->base);
    const int64_t* stride = arith::AsInt(ramp->stride);
    if (!base.bounded() || !stride || *stride <= 0) return {};
    const PrimExpr* steps = make_.Sub(ramp->lanes, make_.Const(1, ramp->lanes->dtype));
    return {base.min, make_.Add(base.max, make_.Mul(ramp->stride, steps))};
  }
  if (const auto* broadcast = As<tir::Broadcast>(e)) return EvalExpr(broadcast->value);
  if (!DependsOnLoops(e)) return {e, e};
  if (const auto* var = As<tir::Var>(e)) {
    // The bounds of an inner loop may depend on outer ones.
    const Interval domain = domains_.at(var);
    return {EvalExpr(domain.min).min, EvalExpr(domain.max).max};
  }
  if (const auto* cast = As<tir::Cast>(e)) {
    const Interval a = EvalExpr(cast->value);
    return a.bounded() ? Interval{make_.Cast(e->dtype, a.min), make_.Cast(e->dtype, a.max)} : Interval{};
  }
  if (const auto* select = As<tir::Select>(e))
    return Union(EvalExpr(select->true_value), EvalExpr(select->false_value));
  const auto* binary = As<tir::BinaryExpr>(e);
  if (!binary) return {};
  switch (e->kind) {
    case NodeKind::kDiv:
    case NodeKind::kFloorDiv:
    case NodeKind::kMod:
    case NodeKind::kFloorMod: return EvalQuotient(binary);
    case NodeKind::kMul:
      if (arith::AsInt(binary->a)) return EvalProduct(EvalExpr(binary->b), binary->a);
      return EvalProduct(EvalExpr(binary->a), binary->b);
    default: break;
  }
  const Interval a = EvalExpr(binary->a);
  const Interval b = EvalExpr(binary->b);
  if (!a.bounded() || !b.bounded()) return {};
  switch (e->kind) {
    case NodeKind::kAdd: return {make_.Add(a.min, b.min), make_.Add(a.max, b.max)};
    case NodeKind::kSub: return {make_.Sub(a.min, b.max), make_.Sub(a.max, b.min)};
    case NodeKind::kMin: return {make_.Min(a.min, b.min), make_.Min(a.max, b.max)};
    case NodeKind::kMax: return {make_.Max(a.min, b.min), make_.Max(a.max, b.max)};
    default: return {};
  }
}

void AccessFinder::Collect(const std::vector<Access>& list, const std::vector<Access>* without,
                           std::vector<const tir::BufferRegion*>& out) {
  for (const Access& access : list) {
    const auto same = [&](const Access& other) { return other.buffer == access.buffer; };
    if (without && std::any_of(without->begin(), without->end(), same)) continue;
    std::vector<const tir::Range*> ranges;
    for (size_t i = 0; i < access.region.size(); ++i) {
      const Interval& range = access.region[i];
      if (!range.bounded()) {
        const PrimExpr* dim = access.buffer->shape[i];
        ranges.push_back(ws_.New<tir::Range>(make_.Const(0, dim->dtype), dim));
      } else if (range.single() || analyzer_.CanProveEqual(range.min, range.max)) {
        ranges.push_back(ws_.New<tir::Range>(range.min, make_.Const(1, range.min->dtype)));
      } else {
        const PrimExpr* one = make_.Const(1, range.max->dtype);
        const PrimExpr* extent = analyzer_.Simplify(make_.Sub(make_.Add(range.max, one), range.min));
        ranges.push_back(ws_.New<tir::Range>(analyzer_.Simplify(range.min), extent));
      }
    }
    out.push_back(ws_.New<tir::BufferRegion>(access.buffer, ws_.Copy(ranges)));
  }
}

}  // namespace

BlockAccesses FindBlockAccesses(const tir::Block& block, const BuffersByPointer& known, Workspace& workspace) {
  return AccessFinder(known, workspace).Find(block);
}

}  // namespace iropt::text
