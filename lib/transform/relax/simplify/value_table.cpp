#include "value_table.h"

#include <algorithm>
#include <cstring>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/structural.h"
#include "iropt/support/hash.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

uint64_t HashPointer(const void* p) { return reinterpret_cast<uintptr_t>(p); }

// Dtype, shape, and the bytes of a small array or of the ends of a big one.
uint64_t HashArray(const NDArray& array) {
  constexpr size_t kSample = 64;
  const DataType dtype = array.dtype();
  const size_t size = array.num_bytes();
  uint64_t hash = HashBytes(&dtype, sizeof dtype);
  hash = HashCombine(hash, HashBytes(array.shape().data(), array.shape().size_bytes()));
  hash = HashCombine(hash, HashBytes(array.data(), std::min(size, kSample)));
  if (size > kSample) hash = HashCombine(hash, HashBytes(array.data() + size - kSample, kSample));
  return hash;
}

uint64_t HashScalar(const PrimExpr* e) { return e->interned() ? HashPointer(e) : static_cast<uint64_t>(e->kind); }

uint64_t HashExpr(const Expr* e);

uint64_t HashList(uint64_t hash, List<const Expr*> list) {
  for (const Expr* e : list) hash = HashCombine(hash, HashExpr(e));
  return hash;
}

// A branch from outside: comparing whole ones is left to SameExpr, or nested ones would be hashed once per level.
uint64_t HashOutline(uint64_t hash, const Expr* body) {
  const auto* seq = As<SeqExpr>(body);
  if (!seq) return hash;
  for (const BindingBlock* block : seq->blocks) hash = HashCombine(hash, block->bindings.size());
  return hash;
}

uint64_t HashCompound(const Expr* e, uint64_t hash) {
  switch (e->kind) {
    case NodeKind::kCall: {
      const auto* call = static_cast<const Call*>(e);
      hash = HashCombine(hash, HashExpr(call->op));
      if (call->attrs) hash = HashCombine(hash, call->attrs->content_hash);
      return HashList(hash, call->args);
    }
    case NodeKind::kTuple: return WithStack([&] { return HashList(hash, static_cast<const Tuple*>(e)->fields); });
    case NodeKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItem*>(e);
      return HashCombine(HashCombine(hash, static_cast<uint64_t>(item->index)), HashExpr(item->tuple));
    }
    case NodeKind::kIf: {
      const auto* branch = static_cast<const If*>(e);
      hash = HashCombine(hash, HashExpr(branch->cond));
      return HashOutline(HashOutline(hash, branch->true_branch), branch->false_branch);
    }
    case NodeKind::kFunction: {
      const auto* function = static_cast<const Function*>(e);
      return HashOutline(HashCombine(hash, function->params.size()), function->body);
    }
    default: return hash;
  }
}

uint64_t HashExpr(const Expr* e) {
  const auto kind = static_cast<uint64_t>(e->kind);
  switch (e->kind) {
    case NodeKind::kVar:
    case NodeKind::kDataflowVar:
    case NodeKind::kGlobalVar:
    case NodeKind::kOp: return HashPointer(e);
    case NodeKind::kConstant: return HashArray(*static_cast<const Constant*>(e)->data);
    case NodeKind::kExternFunc: return HashString(static_cast<const ExternFunc*>(e)->global_symbol);
    case NodeKind::kStringImm: return HashString(static_cast<const StringImm*>(e)->value);
    case NodeKind::kPrimValue: return HashCombine(kind, HashScalar(static_cast<const PrimValue*>(e)->value));
    case NodeKind::kDataTypeImm: {
      const DataType dtype = static_cast<const DataTypeImm*>(e)->value;
      return HashCombine(kind, HashBytes(&dtype, sizeof dtype));
    }
    case NodeKind::kShapeExpr: {
      uint64_t hash = kind;
      for (const PrimExpr* dim : static_cast<const ShapeExpr*>(e)->values) hash = HashCombine(hash, HashScalar(dim));
      return hash;
    }
    default: return HashCompound(e, kind);
  }
}

bool SameExpr(const Expr* a, const Expr* b);

bool SameList(List<const Expr*> a, List<const Expr*> b) { return std::ranges::equal(a, b, SameExpr); }

// The cheap checks come first: arrays of other sizes are never read.
bool SameConstant(const Constant& a, const Constant& b) {
  if (!TypeEqual(a.type, b.type)) return false;
  if (a.data == b.data) return true;
  return a.data->num_bytes() == b.data->num_bytes() && *a.data == *b.data;
}

bool SameCompound(const Expr* a, const Expr* b) {
  switch (a->kind) {
    case NodeKind::kCall: {
      const auto& x = *static_cast<const Call*>(a);
      const auto& y = *static_cast<const Call*>(b);
      return SameExpr(x.op, y.op) && SameList(x.args, y.args) && AttrEqual(x.attrs, y.attrs) &&
             TypeEqual(x.type_args, y.type_args);
    }
    case NodeKind::kTuple:
      return WithStack(
          [&] { return SameList(static_cast<const Tuple*>(a)->fields, static_cast<const Tuple*>(b)->fields); });
    case NodeKind::kTupleGetItem: {
      const auto& x = *static_cast<const TupleGetItem*>(a);
      const auto& y = *static_cast<const TupleGetItem*>(b);
      return x.index == y.index && SameExpr(x.tuple, y.tuple);
    }
    default: return StructuralEqual(a, b);
  }
}

bool SameExpr(const Expr* a, const Expr* b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case NodeKind::kVar:
    case NodeKind::kDataflowVar:
    case NodeKind::kGlobalVar:
    case NodeKind::kOp: return false;
    case NodeKind::kConstant: return SameConstant(*static_cast<const Constant*>(a), *static_cast<const Constant*>(b));
    case NodeKind::kPrimValue:
      return arith::DeepEqual(static_cast<const PrimValue*>(a)->value, static_cast<const PrimValue*>(b)->value);
    case NodeKind::kShapeExpr:
      return std::ranges::equal(static_cast<const ShapeExpr*>(a)->values, static_cast<const ShapeExpr*>(b)->values,
                                arith::DeepEqual);
    default: return SameCompound(a, b);
  }
}

}  // namespace

BoundValue BoundValueOf(const Binding* binding) {
  if (const auto* cast = As<MatchCast>(binding)) return {cast->value, cast->match_type};
  return {To<VarBinding>(binding)->value};
}

uint32_t HashOf(const BoundValue& value) {
  uint64_t hash = HashExpr(value.value);
  if (value.cast) hash = HashCombine(hash, value.cast->content_hash);
  return static_cast<uint32_t>(HashMix(hash));
}

bool SameValue(const BoundValue& a, const BoundValue& b) {
  return TypeEqual(a.cast, b.cast) && SameExpr(a.value, b.value);
}

size_t ValueTable::Find(uint32_t hash, const BoundValue& value) const {
  if (slots_.empty()) return kNone;
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask; slots_[i].index_plus_1 != 0; i = (i + 1) & mask) {
    if (slots_[i].hash != hash) continue;
    const size_t index = slots_[i].index_plus_1 - 1;
    if (SameValue(BoundValueOf(entries_[index].binding), value)) return index;
  }
  return kNone;
}

// The slot that has the entry, or the free one where it belongs.
size_t ValueTable::SlotOf(uint32_t hash, size_t index) const {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].index_plus_1 != 0 && slots_[i].index_plus_1 != index + 1) i = (i + 1) & mask;
  return i;
}

void ValueTable::Add(const Entry& entry) {
  if ((entries_.size() + 1) * 4 > slots_.size() * 3) Grow();
  slots_[SlotOf(entry.hash, entries_.size())] = {entry.hash, static_cast<uint32_t>(entries_.size() + 1)};
  entries_.push_back(entry);
}

void ValueTable::Grow() {
  slots_.assign(std::max<size_t>(slots_.size() * 2, 16), Slot{0, 0});
  // In the order of the entries, so that they can still be taken out from the last to the first.
  for (size_t i = 0; i < entries_.size(); ++i) {
    const uint32_t hash = entries_[i].hash;
    slots_[SlotOf(hash, i)] = {hash, static_cast<uint32_t>(i + 1)};
  }
}

void ValueTable::Change(size_t index, const Entry& entry) {
  if (index < scope_start_) changes_.emplace_back(index, entries_[index]);
  entries_[index] = entry;
}

ValueTable::Scope ValueTable::EnterScope() {
  const Scope outer{scope_start_, changes_.size()};
  scope_start_ = entries_.size();
  return outer;
}

void ValueTable::LeaveScope(const Scope& outer) {
  for (; changes_.size() > outer.num_changes; changes_.pop_back()) {
    entries_[changes_.back().first] = changes_.back().second;
  }
  // What was added last was put behind everything that it collided with, so freeing its slot breaks no chain.
  for (; entries_.size() > scope_start_; entries_.pop_back()) {
    slots_[SlotOf(entries_.back().hash, entries_.size() - 1)] = {0, 0};
  }
  scope_start_ = outer.num_entries;
}

}  // namespace iropt
