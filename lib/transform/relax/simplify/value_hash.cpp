#include "value_hash.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/structural.h"
#include "iropt/support/hash.h"
#include "iropt/transform/relax/simplify/fold_constant.h"

namespace iropt {

namespace {

uint64_t HashPointer(const void* p) { return reinterpret_cast<uintptr_t>(p); }

// Returns whether the array is in a file and too big to be read only to be compared.
bool IsTooBigToRead(const NDArray& array) {
  return array.source() && !array.source()->hash && array.num_bytes() > FoldOptions().max_file_bytes;
}

// Dtype, shape, and the bytes of a small array or of the ends of a big one. An array in a file whose hash is known is
// not read; if another one that is not in a file is equal, both are kept. So they are if they are in files and big.
uint64_t HashArray(const NDArray& array) {
  if (array.source() && array.source()->hash) return array.Hash();
  if (IsTooBigToRead(array)) return HashPointer(array.data());
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

// The hash of an operand in a branch or a local function. Variables that are bound there are equal to others, and so
// are scalars with symbolic variables that are defined there.
uint64_t HashInner(const Expr* e, std::span<const Var* const> bound) {
  if (const auto* var = As<Var>(e)) {
    const auto found = std::ranges::find(bound, var);
    return found == bound.end() ? HashPointer(var) : static_cast<uint64_t>(found - bound.begin());
  }
  const bool is_plain = Is<Constant>(e) || Is<Op>(e) || Is<GlobalVar>(e);
  return is_plain ? HashExpr(e) : static_cast<uint64_t>(e->kind);
}

// A hash of a branch or a local function by its beginning: SameValue compares it as a whole, and what is nested in it
// would be hashed once per level.
uint64_t HashOutline(uint64_t hash, const Expr* body, List<const Var*> params = {}) {
  constexpr size_t kMostVars = 16;
  const auto* seq = As<SeqExpr>(body);
  if (!seq) return hash;
  std::vector<const Var*> bound(params.begin(), params.end());
  for (const BindingBlock* block : seq->blocks) hash = HashCombine(hash, block->bindings.size());
  for (const BindingBlock* block : seq->blocks) {
    for (const Binding* binding : block->bindings) {
      if (bound.size() > kMostVars) return hash;
      const Expr* value = BoundValueOf(binding).value;
      hash = HashCombine(hash, HashInner(value, bound));
      if (const auto* call = As<Call>(value)) {
        hash = HashCombine(hash, HashInner(call->op, bound));
        for (const Expr* arg : call->args) hash = HashCombine(hash, HashInner(arg, bound));
      }
      bound.push_back(binding->var);
    }
  }
  return HashCombine(hash, HashInner(seq->body, bound));
}

uint64_t HashCompound(const Expr* e, uint64_t hash) {
  switch (e->kind) {
    case NodeKind::kCall: {
      const auto* call = static_cast<const Call*>(e);
      hash = HashCombine(hash, HashExpr(call->op));
      if (call->attrs) hash = HashCombine(hash, call->attrs->content_hash);
      return HashList(hash, call->args);
    }
    case NodeKind::kTuple:
      ForEachLeaf(e, [&](const Expr* leaf) { hash = HashCombine(hash, HashExpr(leaf)); });
      return hash;
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
      return HashOutline(HashCombine(hash, function->params.size()), function->body, function->params);
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

// The cheap checks come first: arrays of other sizes are never read.
bool SameConstant(const Constant& a, const Constant& b) {
  if (!TypeEqual(a.type, b.type)) return false;
  if (a.data == b.data) return true;
  if (IsTooBigToRead(*a.data) || IsTooBigToRead(*b.data)) return a.data->data() == b.data->data();
  return a.data->num_bytes() == b.data->num_bytes() && *a.data == *b.data;
}

}  // namespace

BoundValue BoundValueOf(const Binding* binding) {
  if (const auto* cast = As<MatchCast>(binding)) return {cast->value, cast->match_type};
  return {To<VarBinding>(binding)->value};
}

uint32_t HashOf(const BoundValue& value) {
  uint64_t hash = HashExpr(value.value);
  // Types are interned, but for those that refer to Relax variables.
  if (value.cast)
    hash = HashCombine(hash, value.cast->has_shape_var() ? value.cast->content_hash : HashPointer(value.cast));
  return static_cast<uint32_t>(HashMix(hash));
}

bool SameValue(const BoundValue& a, const BoundValue& b) {
  return TypeEqual(a.cast, b.cast) && StructuralEqual(a.value, b.value, {.same_constants = SameConstant});
}

}  // namespace iropt
