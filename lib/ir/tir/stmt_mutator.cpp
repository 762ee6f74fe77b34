#include <algorithm>
#include <iterator>

#include "iropt/ir/substitute.h"
#include "mutator_fields.h"

namespace iropt::tir {

const Stmt* StmtExprMutator::VisitStmt(const Stmt* stmt) {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack([&] { return StmtExprMutator::VisitStmt(stmt); });
  switch (stmt->kind) {
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  case NodeKind::k##Kind:                                                                                              \
    return Visit##Class(static_cast<const Class*>(stmt));
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_STMT_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
    default: IROPT_UNREACHABLE("{} as a statement", NodeKindName(stmt->kind));
  }
}

template <class T>
bool StmtExprMutator::VisitStmtField(FieldRole role, T& value) {
  if constexpr (visit_detail::IsList<T>::value) {
    const T old = value;
    value = MapList(old, workspace(), [&](auto item) {
      VisitStmtField(role, item);
      return item;
    });
    return !IsSameList(value, old);
  } else {
    [[maybe_unused]] const T old = value;
    if constexpr (std::is_same_v<T, const Block*>) {
      value = To<Block>(VisitBlock(value));
    } else if constexpr (std::is_convertible_v<T, const Stmt*>) {
      if (value != nullptr) value = VisitStmt(value);
    } else if constexpr (std::is_same_v<T, const Buffer*>) {
      value = role == FieldRole::kDef ? VisitBufferDef(value) : VisitBufferUse(value);
    } else if constexpr (std::is_same_v<T, const BufferRegion*>) {
      value = VisitBufferRegion(value);
    } else if constexpr (std::is_same_v<T, const MatchBufferRegion*>) {
      value = VisitMatchBufferRegion(value);
    } else if constexpr (std::is_convertible_v<T, const Attr*>) {
      if (value != nullptr) value = static_cast<T>(VisitAttr(value));
    } else if constexpr (std::is_same_v<T, const Node*>) {
      value = VisitAttrNode(value);
    } else {
      return VisitField(role, value);
    }
    return value != old;
  }
}

template <class X>
const X* StmtExprMutator::VisitStmtFields(const X* node) {
  X copy = *node;
  bool changed = false;
  X::Fields()([&](auto... field) { ((changed |= VisitStmtField(field.role, copy.*(field.member))), ...); });
  return changed ? workspace().New<X>(copy) : node;
}

const Node* StmtExprMutator::VisitAttrNode(const Node* node) {
  switch (GroupOf(node->kind)) {
    case NodeGroup::kPrim: return VisitExpr(static_cast<const PrimExpr*>(node));
    case NodeGroup::kAttr: return VisitAttr(static_cast<const Attr*>(node));
    case NodeGroup::kPart:
      if (const auto* iter_var = As<IterVar>(node)) return VisitIterVar(iter_var);
      if (const auto* buffer = As<Buffer>(node)) return VisitBufferUse(buffer);
      if (const auto* reducer = As<CommReducer>(node)) return VisitCommReducer(reducer);
      [[fallthrough]];
    default: IROPT_UNREACHABLE("an attribute of {}", NodeKindName(node->kind));
  }
}

const Attr* StmtExprMutator::VisitAttr(const Attr* attr) {
  class Mapper final : public TypeMapper {
   public:
    explicit Mapper(StmtExprMutator& mutator) : mutator_(mutator) {}

   private:
    const PrimExpr* MapFuncExpr(const PrimExpr* expr) override { return mutator_.VisitExpr(expr); }
    StmtExprMutator& mutator_;
  };
  return attr->func_owned() ? Mapper(*this).Map(attr) : attr;
}

const Stmt* StmtExprMutator::VisitLetStmt(const LetStmt* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitAttrStmt(const AttrStmt* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitAssertStmt(const AssertStmt* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitBufferStore(const BufferStore* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitBufferRealize(const BufferRealize* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitPrefetch(const Prefetch* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitAllocate(const Allocate* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitAllocateConst(const AllocateConst* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitDeclBuffer(const DeclBuffer* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitIfThenElse(const IfThenElse* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitEvaluate(const Evaluate* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitFor(const For* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitWhile(const While* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitBlock(const Block* stmt) { return VisitStmtFields(stmt); }
const Stmt* StmtExprMutator::VisitBlockRealize(const BlockRealize* stmt) { return VisitStmtFields(stmt); }

// A statement that became a sequence becomes part of the one that it is in.
const Stmt* StmtExprMutator::VisitSeqStmt(const SeqStmt* stmt) {
  if (options_.drop_no_ops) return VisitAndDropNoOps(stmt);
  const SeqStmt* visited = VisitStmtFields(stmt);
  return visited == stmt ? stmt : Sequence(visited->seq);
}

const Stmt* StmtExprMutator::VisitAndDropNoOps(const SeqStmt* stmt) {
  std::vector<const Stmt*> kept;
  const Stmt* no_op = nullptr;
  bool same = true;
  for (const Stmt* inner : stmt->seq) {
    const Stmt* visited = VisitStmt(inner);
    same &= visited == inner;
    // The sequence that was made last has none.
    if (!IsLastSequence(visited) && HasNoOps(visited)) visited = MakeFlatSeq(workspace(), To<SeqStmt>(visited)->seq);
    if (!IsNoOp(visited)) {
      kept.push_back(visited);
    } else if (!no_op) {
      no_op = visited;
    }
  }
  if (same && !no_op) return stmt;
  return kept.empty() ? no_op : Sequence(kept);
}

const Buffer* StmtExprMutator::RewriteBuffer(const Buffer* buffer) {
  if (const Buffer* remapped = RemapOf(buffer)) return remapped;
  if (visited_buffers_.Find(buffer)) return buffer;
  visited_buffers_.Set(buffer, buffer);
  const Buffer* rewritten =
      RewriteBufferFields(buffer, workspace(), [this](const PrimExpr* expr) { return VisitExpr(expr); });
  if (rewritten != buffer) Remap(buffer, rewritten);
  return rewritten;
}

const Buffer* StmtExprMutator::VisitBufferUse(const Buffer* buffer) {
  return options_.rewrite_buffers ? RewriteBuffer(buffer) : ExprMutator::VisitBufferUse(buffer);
}

const Buffer* StmtExprMutator::VisitBufferDef(const Buffer* buffer) {
  return options_.rewrite_buffers ? RewriteBuffer(buffer) : buffer;
}

const BufferRegion* StmtExprMutator::VisitBufferRegion(const BufferRegion* region) { return VisitStmtFields(region); }
const MatchBufferRegion* StmtExprMutator::VisitMatchBufferRegion(const MatchBufferRegion* match) {
  return VisitStmtFields(match);
}

const PrimFunc* StmtExprMutator::VisitPrimFunc(const PrimFunc* func) {
  PrimFunc copy = *func;
  VisitField(FieldRole::kDef, copy.params);
  copy.param_buffers = MapList(func->param_buffers, workspace(), [this](const Buffer* buffer) -> const Buffer* {
    return buffer ? VisitBufferDef(buffer) : nullptr;
  });
  copy.body = VisitStmt(func->body);
  return CopyIfChanged(func, copy, workspace());
}

namespace {

bool IsSeq(const Stmt* stmt) { return Is<SeqStmt>(stmt); }

void AppendFlat(const Stmt* stmt, std::vector<const Stmt*>& flat) {
  if (!IsSeq(stmt)) {
    flat.push_back(stmt);
    return;
  }
  WithStack([&] {
    for (const Stmt* inner : To<SeqStmt>(stmt)->seq) AppendFlat(inner, flat);
  });
}

}  // namespace

const Stmt* StmtExprMutator::Sequence(std::span<const Stmt* const> stmts) {
  IROPT_CHECK(!stmts.empty(), "an empty sequence");
  if (stmts.size() == 1) return stmts[0];
  const bool grows = last_.seq && stmts.back() == last_.seq;
  std::vector<const Stmt*> flat;
  for (const Stmt* stmt : grows ? stmts.first(stmts.size() - 1) : stmts) AppendFlat(stmt, flat);
  if (!grows) {
    last_ = {.seq = nullptr, .memory = workspace().arena().Copy(std::span<const Stmt* const>(flat)), .begin = 0};
  } else {
    if (last_.begin < flat.size()) {
      const std::span<const Stmt*> old = last_.memory.subspan(last_.begin);
      const size_t room = old.size() + 2 * flat.size();
      last_.memory = workspace().arena().NewArray<const Stmt*>(room + old.size());
      std::copy(old.begin(), old.end(), last_.memory.begin() + static_cast<ptrdiff_t>(room));
      last_.begin = room;
    }
    last_.begin -= flat.size();
    std::copy(flat.begin(), flat.end(), last_.memory.begin() + static_cast<ptrdiff_t>(last_.begin));
  }
  auto* seq = workspace().New<SeqStmt>(List<const Stmt*>(last_.memory.subspan(last_.begin)));
  seq->set_span(flat[0]->span());
  last_.seq = seq;
  return seq;
}

const Stmt* MakeSeq(Workspace& workspace, std::span<const Stmt* const> stmts) {
  IROPT_CHECK(!stmts.empty(), "an empty sequence");
  if (stmts.size() == 1) return stmts[0];
  const auto make = [&](std::span<const Stmt* const> flat) {
    auto* seq = workspace.New<SeqStmt>(workspace.Copy(flat));
    seq->set_span(flat[0]->span());
    return seq;
  };
  if (std::none_of(stmts.begin(), stmts.end(), IsSeq)) return make(stmts);
  std::vector<const Stmt*> flat;
  for (const Stmt* stmt : stmts) AppendFlat(stmt, flat);
  return flat.size() == 1 ? flat[0] : make(flat);
}

const Stmt* MakeFlatSeq(Workspace& workspace, std::span<const Stmt* const> stmts) {
  const Stmt* stmt = MakeSeq(workspace, stmts);
  if (!HasNoOps(stmt)) return stmt;
  const List<const Stmt*> all = To<SeqStmt>(stmt)->seq;
  std::vector<const Stmt*> kept;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept), [](const Stmt* inner) { return !IsNoOp(inner); });
  return kept.empty() ? all[0] : MakeSeq(workspace, kept);
}

const Stmt* NoOp(Workspace& workspace) { return workspace.New<Evaluate>(workspace.New<IntImm>(DataType::Int(32), 0)); }

bool IsNoOp(const Stmt* stmt) {
  const auto* evaluate = As<Evaluate>(stmt);
  const auto* value = evaluate ? As<IntImm>(evaluate->value) : nullptr;
  return value && value->value == 0;
}

bool HasNoOps(const Stmt* stmt) {
  const auto* seq = As<SeqStmt>(stmt);
  return seq && std::any_of(seq->seq.begin(), seq->seq.end(), &IsNoOp);
}

const PrimFunc* WithBody(const PrimFunc* func, const Stmt* body, Workspace& workspace) {
  if (body == func->body) return func;
  auto* copy = workspace.New<PrimFunc>(*func);
  copy->body = body;
  return copy;
}

}  // namespace iropt::tir
