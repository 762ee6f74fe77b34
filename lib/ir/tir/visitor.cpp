#include "iropt/ir/tir/visitor.h"

#include "iropt/ir/relax/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt::tir {

using visit_detail::IsList;
using visit_detail::kIsChild;

void ExprVisitor::VisitExpr(const PrimExpr* expr) {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack([&] { ExprVisitor::VisitExpr(expr); });
  switch (expr->kind) {
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  case NodeKind::k##Kind:                                                                                              \
    return Visit##Class(static_cast<const Class*>(expr));
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_PRIM_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
    default: IROPT_UNREACHABLE("{} as a scalar expression", NodeKindName(expr->kind));
  }
}

template <class T>
void ExprVisitor::VisitField(FieldRole role, const T& value) {
  if constexpr (IsList<T>::value) {
    for (const auto& item : value) VisitField(role, item);
  } else if constexpr (std::is_same_v<T, const Var*>) {
    role == FieldRole::kDef ? VisitVarDef(value) : VisitExpr(value);
  } else if constexpr (std::is_convertible_v<T, const PrimExpr*>) {
    if (value != nullptr) VisitExpr(value);
  } else if constexpr (std::is_same_v<T, const Buffer*>) {
    VisitBufferUse(value);
  } else if constexpr (std::is_same_v<T, const IterVar*>) {
    VisitIterVar(value);
  } else if constexpr (std::is_same_v<T, const Range*>) {
    if (value != nullptr) VisitRange(value);
  } else if constexpr (std::is_same_v<T, const CommReducer*>) {
    VisitCommReducer(value);
  } else if constexpr (std::is_same_v<T, const DataProducer*>) {
    VisitDataProducer(value);
  } else {
    // The callee of a call is an operator or the name of a function.
    static_assert(!kIsChild<T> || std::is_same_v<T, const Expr*>, "a field that visitors do not know");
  }
}

template <class X>
void ExprVisitor::VisitFields(const X* node) {
  ForEachField(node, [&](auto field, const auto& value) { VisitField(field.role, value); });
}

void ExprVisitor::VisitVar(const Var*) {}
void ExprVisitor::VisitSizeVar(const SizeVar* expr) { VisitVar(expr); }
void ExprVisitor::VisitIntImm(const IntImm*) {}
void ExprVisitor::VisitFloatImm(const FloatImm*) {}
void ExprVisitor::VisitStringImm(const StringImm*) {}
void ExprVisitor::VisitCast(const Cast* expr) { VisitFields(expr); }
void ExprVisitor::VisitBinary(const BinaryExpr* expr) { VisitFields(expr); }
void ExprVisitor::VisitAdd(const Add* expr) { VisitBinary(expr); }
void ExprVisitor::VisitSub(const Sub* expr) { VisitBinary(expr); }
void ExprVisitor::VisitMul(const Mul* expr) { VisitBinary(expr); }
void ExprVisitor::VisitDiv(const Div* expr) { VisitBinary(expr); }
void ExprVisitor::VisitMod(const Mod* expr) { VisitBinary(expr); }
void ExprVisitor::VisitFloorDiv(const FloorDiv* expr) { VisitBinary(expr); }
void ExprVisitor::VisitFloorMod(const FloorMod* expr) { VisitBinary(expr); }
void ExprVisitor::VisitMin(const Min* expr) { VisitBinary(expr); }
void ExprVisitor::VisitMax(const Max* expr) { VisitBinary(expr); }
void ExprVisitor::VisitEQ(const EQ* expr) { VisitBinary(expr); }
void ExprVisitor::VisitNE(const NE* expr) { VisitBinary(expr); }
void ExprVisitor::VisitLT(const LT* expr) { VisitBinary(expr); }
void ExprVisitor::VisitLE(const LE* expr) { VisitBinary(expr); }
void ExprVisitor::VisitGT(const GT* expr) { VisitBinary(expr); }
void ExprVisitor::VisitGE(const GE* expr) { VisitBinary(expr); }
void ExprVisitor::VisitAnd(const And* expr) { VisitBinary(expr); }
void ExprVisitor::VisitOr(const Or* expr) { VisitBinary(expr); }
void ExprVisitor::VisitNot(const Not* expr) { VisitFields(expr); }
void ExprVisitor::VisitSelect(const Select* expr) { VisitFields(expr); }
void ExprVisitor::VisitLet(const Let* expr) { VisitFields(expr); }
void ExprVisitor::VisitCall(const Call* expr) { VisitFields(expr); }
void ExprVisitor::VisitBufferLoad(const BufferLoad* expr) { VisitFields(expr); }
void ExprVisitor::VisitProducerLoad(const ProducerLoad* expr) { VisitFields(expr); }
void ExprVisitor::VisitRamp(const Ramp* expr) { VisitFields(expr); }
void ExprVisitor::VisitBroadcast(const Broadcast* expr) { VisitFields(expr); }
void ExprVisitor::VisitShuffle(const Shuffle* expr) { VisitFields(expr); }
void ExprVisitor::VisitReduce(const Reduce* expr) { VisitFields(expr); }
void ExprVisitor::VisitIterVar(const IterVar* iter_var) { VisitFields(iter_var); }
void ExprVisitor::VisitRange(const Range* range) { VisitFields(range); }
void ExprVisitor::VisitCommReducer(const CommReducer* reducer) { VisitFields(reducer); }

void StmtExprVisitor::VisitStmt(const Stmt* stmt) {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack([&] { StmtExprVisitor::VisitStmt(stmt); });
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
void StmtExprVisitor::VisitStmtField(FieldRole role, const T& value) {
  if constexpr (IsList<T>::value) {
    for (const auto& item : value) VisitStmtField(role, item);
  } else if constexpr (std::is_convertible_v<T, const Stmt*>) {
    if (value == nullptr) return;
    if constexpr (std::is_same_v<T, const Block*>) return VisitBlock(value);
    VisitStmt(value);
  } else if constexpr (std::is_same_v<T, const Var*>) {
    role == FieldRole::kDef ? VisitVarDef(value) : VisitExpr(value);
  } else if constexpr (std::is_convertible_v<T, const PrimExpr*>) {
    if (value != nullptr) VisitExpr(value);
  } else if constexpr (std::is_same_v<T, const Buffer*>) {
    role == FieldRole::kDef ? VisitBufferDef(value) : VisitBufferUse(value);
  } else if constexpr (std::is_same_v<T, const BufferRegion*>) {
    VisitBufferRegion(value);
  } else if constexpr (std::is_same_v<T, const MatchBufferRegion*>) {
    VisitMatchBufferRegion(value);
  } else if constexpr (std::is_same_v<T, const IterVar*>) {
    if (value != nullptr) VisitIterVar(value);
  } else if constexpr (std::is_same_v<T, const Range*>) {
    VisitRange(value);
  } else if constexpr (std::is_convertible_v<T, const Attr*>) {
    if (value != nullptr) VisitAttr(value);
  } else if constexpr (std::is_same_v<T, const Node*>) {
    VisitAttrNode(value);
  } else {
    static_assert(!kIsChild<T>, "a field that visitors do not know");
  }
}

template <class X>
void StmtExprVisitor::VisitStmtFields(const X* node) {
  ForEachField(node, [&](auto field, const auto& value) { VisitStmtField(field.role, value); });
}

void StmtExprVisitor::VisitAttrNode(const Node* node) {
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

void StmtExprVisitor::VisitAttr(const Attr* attr) {
  if (!attr->func_owned()) return;
  if (const auto* expr = As<ExprAttr>(attr)) return VisitExpr(expr->value);
  DispatchIn<NodeGroup::kAttr>(attr, [this](const auto* exact) {
    ForEachField(exact, [&](auto, const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, List<const Attr*>> || std::is_convertible_v<T, const Attr*>) {
        VisitStmtField(FieldRole::kUse, value);
      }
    });
  });
}

void StmtExprVisitor::VisitLetStmt(const LetStmt* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitAttrStmt(const AttrStmt* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitAssertStmt(const AssertStmt* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitBufferStore(const BufferStore* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitBufferRealize(const BufferRealize* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitPrefetch(const Prefetch* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitAllocate(const Allocate* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitAllocateConst(const AllocateConst* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitDeclBuffer(const DeclBuffer* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitSeqStmt(const SeqStmt* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitIfThenElse(const IfThenElse* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitEvaluate(const Evaluate* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitFor(const For* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitWhile(const While* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitBlock(const Block* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitBlockRealize(const BlockRealize* stmt) { VisitStmtFields(stmt); }
void StmtExprVisitor::VisitBufferRegion(const BufferRegion* region) { VisitStmtFields(region); }
void StmtExprVisitor::VisitMatchBufferRegion(const MatchBufferRegion* match) { VisitStmtFields(match); }

void StmtExprVisitor::VisitBufferDef(const Buffer* buffer) {
  VisitStmtField(FieldRole::kUse, buffer->shape);
  VisitStmtField(FieldRole::kUse, buffer->strides);
  VisitStmtField(FieldRole::kUse, buffer->elem_offset);
  VisitStmtField(FieldRole::kUse, buffer->layout);
  VisitStmtField(FieldRole::kUse, buffer->allocated_addr);
}

void StmtExprVisitor::VisitPrimFunc(const PrimFunc* func) {
  for (const Var* param : func->params) VisitVarDef(param);
  for (const Buffer* buffer : func->param_buffers) {
    if (buffer != nullptr) VisitBufferDef(buffer);
  }
  VisitStmt(func->body);
}

namespace {

class VarSearch final : public ExprVisitor {
 public:
  explicit VarSearch(FunctionRef<bool(const Var*)> holds) : holds_(holds) {}
  bool found() const { return found_; }

  void VisitExpr(const PrimExpr* e) override {
    if (found_ || e->kind == NodeKind::kIntImm) return;
    if (Var::ClassOf(e->kind)) {
      found_ = holds_(static_cast<const Var*>(e));
      return;
    }
    if (e->interned() && !e->has_sym_var()) return;
    if (++num_steps_ > kTreeSteps && !visited_.insert(e)) return;
    ExprVisitor::VisitExpr(e);
  }

 private:
  static constexpr size_t kTreeSteps = 512;  // most expressions have fewer nodes

  FunctionRef<bool(const Var*)> holds_;
  bool found_ = false;
  size_t num_steps_ = 0;
  LookupSet<const PrimExpr*> visited_;
};

}  // namespace

bool UsesVar(const PrimExpr* expr, FunctionRef<bool(const Var*)> holds) {
  if (Var::ClassOf(expr->kind)) return holds(static_cast<const Var*>(expr));
  if (expr->kind == NodeKind::kIntImm) return false;
  VarSearch search(holds);
  search.VisitExpr(expr);
  return search.found();
}

bool UsesVar(const PrimExpr* expr, const Var* var) {
  return UsesVar(expr, [var](const Var* used) { return used == var; });
}

void ForEachVar(const PrimExpr* expr, FunctionRef<void(const Var*)> f) {
  UsesVar(expr, [f](const Var* var) {
    f(var);
    return false;
  });
}

void PostOrderVisit(const Node* node, FunctionRef<void(const Node*)> f) {
  class Visitor final : public StmtExprVisitor {
   public:
    explicit Visitor(FunctionRef<void(const Node*)> f) : f_(f) {}
    void VisitExpr(const PrimExpr* expr) override {
      StmtExprVisitor::VisitExpr(expr);
      f_(expr);
    }
    void VisitStmt(const Stmt* stmt) override {
      StmtExprVisitor::VisitStmt(stmt);
      if (!Is<Block>(stmt)) f_(stmt);  // blocks are also reached without VisitStmt, see below
    }

   private:
    void VisitBlock(const Block* block) override {
      StmtExprVisitor::VisitBlock(block);
      f_(block);
    }
    void VisitIterVar(const IterVar* iter_var) override {
      StmtExprVisitor::VisitIterVar(iter_var);
      f_(iter_var);
    }
    void VisitBufferRegion(const BufferRegion* region) override {
      StmtExprVisitor::VisitBufferRegion(region);
      f_(region);
    }

    FunctionRef<void(const Node*)> f_;
  };
  Visitor visitor(f);
  if (Is<Stmt>(node)) {
    visitor.VisitStmt(static_cast<const Stmt*>(node));
  } else {
    visitor.VisitExpr(To<PrimExpr>(node));
  }
}

const Stmt* FindStmt(const Stmt* stmt, FunctionRef<bool(const Stmt*)> holds) {
  class Search final : public StmtExprVisitor {
   public:
    explicit Search(FunctionRef<bool(const Stmt*)> holds) : holds_(holds) {}
    const Stmt* found() const { return found_; }
    void VisitStmt(const Stmt* stmt) override {
      if (!Ends(stmt)) StmtExprVisitor::VisitStmt(stmt);
    }
    void VisitExpr(const PrimExpr*) override {}

   private:
    // Blocks are also reached without VisitStmt; nothing but statements is visited in them.
    void VisitBlock(const Block* block) override {
      if (Ends(block)) return;
      VisitStmt(block->body);
      if (block->init) VisitStmt(block->init);
    }
    void VisitAttr(const Attr*) override {}
    bool Ends(const Stmt* stmt) {
      if (!found_ && holds_(stmt)) found_ = stmt;
      return found_ != nullptr;
    }

    FunctionRef<bool(const Stmt*)> holds_;
    const Stmt* found_ = nullptr;
  };
  Search search(holds);
  search.VisitStmt(stmt);
  return search.found();
}

}  // namespace iropt::tir
