#include "verifier.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/const_fold.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"
#include "operands.h"

namespace iropt {

namespace {

// Attributes that introduce the variable of a thread axis.
bool DefinesThreadAxis(std::string_view attr_key) {
  return attr_key == attr::kThreadExtent || attr_key == attr::kVirtualThread || attr_key == attr::kScopeId;
}

}  // namespace

SourceSpan TirVerifier::At(const Node& node) const {
  for (const Node* n : {&node, around_, function_}) {
    if (n && n->span().known()) return Location(*n);
  }
  return {};
}

void TirVerifier::Verify(const ModuleEntry& entry) {
  const auto& f = *To<PrimFunc>(entry.func);
  function_ = &f;
  around_ = nullptr;
  vars_.Reset(entry.storage->num_vars);
  blocks_.clear();
  VisitParams(f);
  VisitBody(f.body);
}

void TirVerifier::VisitParams(const PrimFunc& f) {
  for (const tir::Var* param : f.params) Define(param, *param);
  for (const tir::Buffer* buffer : f.param_buffers) {
    if (buffer) DefineMatched(*buffer, *buffer);
  }
  for (const tir::Buffer* buffer : f.param_buffers) {
    if (buffer) VisitBuffer(*buffer);
  }
}

// ---- Definitions

void TirVerifier::Define(const tir::Var* var, const Node& at, bool redefinable) {
  const auto* known = vars_.Find(var);
  // A thread axis is in scope until its outermost attribute ends.
  if (known && known->redefinable && known->life == Life::kVisible) return;
  if (!known || ((redefinable || known->redefinable) && known->life != Life::kFree)) {
    if (auto* slot = vars_.Define(var)) {
      slot->redefinable |= redefinable;
      return;
    }
  }
  ReportDefinition(var, at);
}

void TirVerifier::ReportDefinition(const tir::Var* var, const Node& at) {
  const auto* known = vars_.Find(var);
  if (known && known->life == Life::kFree) {
    Error(at, "undefined-variable", fmt::format("variable '{}' is used before its definition", var->name));
    vars_.Define(var);
  } else if (known) {
    auto error = Error(at, "redefined-variable", fmt::format("variable '{}' is defined more than once", var->name));
    if (var->span().known() && var->span_begin < at.span_begin) error.Note(Location(*var), "also defined here");
  } else {
    const tir::Var* holder = vars_.Holder(var);
    Error(at, "variable-id",
          holder ? fmt::format("variables '{}' and '{}' have the same number", var->name, holder->name)
                 : fmt::format("variable '{}' belongs to another function", var->name));
  }
}

void TirVerifier::DefineIterVar(const tir::IterVar& iter, const Node& at) {
  if (iter.dom) {
    const bool outer = std::exchange(in_declaration_, true);
    VisitRange(*iter.dom);
    in_declaration_ = outer;
  }
  Define(iter.var, at, iter.iter_type == tir::IterVarType::kThreadIndex);
}

void TirVerifier::DefineIfUnseen(const PrimExpr* e, const Node& at) {
  const auto* var = As<tir::Var>(e);
  if (var && vars_.life(var) != Life::kVisible && vars_.life(var) != Life::kFree) Define(var, at);
}

void TirVerifier::DefineMatched(const tir::Buffer& buffer, const Node& at) {
  DefineIfUnseen(buffer.data, at);
  for (const PrimExpr* dim : buffer.shape) DefineIfUnseen(dim, at);
  for (const PrimExpr* stride : buffer.strides) DefineIfUnseen(stride, at);
  DefineIfUnseen(buffer.elem_offset, at);
}

void TirVerifier::UseVar(const tir::Var* var, const Node& at) {
  const auto* slot = vars_.Find(var);
  const bool in_place = slot && (slot->place >= blocks_.size() || in_declaration_);
  if (slot && (slot->life == Life::kVisible || slot->life == Life::kFree) && in_place) return;
  const std::pair<const Node*, const Node*> error(&at, var);
  if (std::exchange(last_error_, error) != error) ReportUse(var, at);  // a statement may use a variable often
}

void TirVerifier::ReportUse(const tir::Var* var, const Node& at) {
  const auto* slot = vars_.Find(var);
  if (!slot) {
    if (vars_.UseFree(var)) {
      if (allow_free_vars_) return;
      Error(at, "undefined-variable", fmt::format("variable '{}' is not defined", var->name));
    } else {
      ReportDefinition(var, at);
    }
  } else if (slot->life == Life::kEnded) {
    Error(at, "undefined-variable", fmt::format("variable '{}' is used outside of its scope", var->name))
        .Note(Location(*var), "defined here");
  } else {
    Error(at, "loop-variable-in-block",
          fmt::format("loop variable '{}' is used in block '{}', which is inside the loop and has iteration variables",
                      var->name, blocks_.back()->name_hint))
        .Note(Location(*var), "the loop is here");
  }
}

// ---- Statements

void TirVerifier::VisitStmt(const tir::Stmt* stmt) {
  const Node* const outer = std::exchange(around_, stmt);
  const size_t scope = vars_.Enter();
  WithStack([&] {
    switch (stmt->kind) {
      case NodeKind::kLetStmt: {
        const auto& let = *static_cast<const tir::LetStmt*>(stmt);
        VisitExpr(let.value);
        CheckSame(let.var->dtype, let.value->dtype, let, "a variable and its value");
        Define(let.var, let);
        return VisitBody(let.body);
      }
      case NodeKind::kAttrStmt: return VisitAttrStmt(*static_cast<const tir::AttrStmt*>(stmt));
      case NodeKind::kAssertStmt: {
        const auto& assertion = *static_cast<const tir::AssertStmt*>(stmt);
        VisitExpr(assertion.condition);
        VisitExpr(assertion.message);
        CheckCondition(assertion.condition, assertion);
        return VisitBody(assertion.body);
      }
      case NodeKind::kBufferStore: {
        const auto& store = *static_cast<const tir::BufferStore*>(stmt);
        VisitExpr(store.value);
        VisitBuffer(*store.buffer);
        VisitAll(store.indices);
        if (store.predicate) VisitExpr(store.predicate);
        return CheckStore(store);
      }
      case NodeKind::kBufferRealize: return VisitBufferRealize(*static_cast<const tir::BufferRealize*>(stmt));
      case NodeKind::kPrefetch: {
        const auto& prefetch = *static_cast<const tir::Prefetch*>(stmt);
        VisitBuffer(*prefetch.buffer);
        for (const tir::Range* range : prefetch.bounds) VisitRange(*range);
        return;
      }
      case NodeKind::kAllocate: return VisitAllocate(*static_cast<const tir::Allocate*>(stmt));
      case NodeKind::kAllocateConst: {
        const auto& allocation = *static_cast<const tir::AllocateConst*>(stmt);
        VisitAll(allocation.extents);
        Define(allocation.buffer_var, allocation);
        return VisitBody(allocation.body);
      }
      case NodeKind::kDeclBuffer:
        VisitBuffer(*static_cast<const tir::DeclBuffer*>(stmt)->buffer);
        return VisitBody(static_cast<const tir::DeclBuffer*>(stmt)->body);
      case NodeKind::kSeqStmt:
        for (const tir::Stmt* s : static_cast<const tir::SeqStmt*>(stmt)->seq) VisitBody(s);
        return;
      case NodeKind::kIfThenElse: {
        const auto& branch = *static_cast<const tir::IfThenElse*>(stmt);
        VisitExpr(branch.condition);
        VisitBody(branch.then_case);
        return VisitBody(branch.else_case);
      }
      case NodeKind::kEvaluate: return VisitExpr(static_cast<const tir::Evaluate*>(stmt)->value);
      case NodeKind::kFor: return VisitFor(*static_cast<const tir::For*>(stmt));
      case NodeKind::kWhile:
        VisitExpr(static_cast<const tir::While*>(stmt)->condition);
        return VisitLoopBody(static_cast<const tir::While*>(stmt)->body, /*can_jump=*/true);
      case NodeKind::kBlockStmt: return VisitBlock(*static_cast<const tir::Block*>(stmt));
      case NodeKind::kBlockRealize: return VisitBlockRealize(*static_cast<const tir::BlockRealize*>(stmt));
      default: IROPT_UNREACHABLE("{} is not a statement", NodeKindName(stmt->kind));
    }
  });
  vars_.Leave(scope);
  around_ = outer;
}

void TirVerifier::VisitFor(const tir::For& loop) {
  VisitExpr(loop.min);
  VisitExpr(loop.extent);
  CheckSame(loop.loop_var->dtype, loop.min->dtype, loop, "a loop variable and the start of the loop");
  CheckSame(loop.loop_var->dtype, loop.extent->dtype, loop, "a loop variable and the extent of the loop");
  if (loop.step) {
    VisitExpr(loop.step);
    CheckSame(loop.loop_var->dtype, loop.step->dtype, loop, "a loop variable and the step of the loop");
  }
  Define(loop.loop_var, loop);
  // Thread axes are visible everywhere below; other loops must be bound to iteration variables.
  const bool is_thread = loop.for_kind == tir::ForKind::kThreadBinding;
  if (auto* slot = vars_.Find(loop.loop_var); slot && !is_thread) slot->place = static_cast<uint32_t>(blocks_.size());
  VisitLoopBody(loop.body, loop.for_kind == tir::ForKind::kSerial || loop.for_kind == tir::ForKind::kUnrolled);
}

// Iterations that run at the same time cannot end one another, and a block ends with its body.
void TirVerifier::VisitLoopBody(const tir::Stmt* body, bool can_jump) {
  const bool outer = std::exchange(can_jump_, can_jump);
  VisitBody(body);
  can_jump_ = outer;
}

// Pragmas of a loop name its variable and stand around the loop, or around the launch of its threads.
bool TirVerifier::IsPragmaOfLoop(const tir::AttrStmt& stmt) {
  if (!stmt.attr_key.starts_with(attr::kPragmaPrefix)) return false;
  const tir::Stmt* below = stmt.body;
  while (const auto* attr = As<tir::AttrStmt>(below)) {
    const auto* axis = DefinesThreadAxis(attr->attr_key) ? As<tir::IterVar>(attr->node) : nullptr;
    if (axis && axis->var == stmt.node) return true;
    below = attr->body;
  }
  const auto* loop = As<tir::For>(below);
  return loop && stmt.node == loop->loop_var;
}

void TirVerifier::VisitAttrStmt(const tir::AttrStmt& stmt) {
  VisitExpr(stmt.value);
  if (const auto* iter = As<tir::IterVar>(stmt.node)) {
    if (DefinesThreadAxis(stmt.attr_key)) {
      if (const DataType dtype = stmt.value->dtype; !dtype.is_integer() || !dtype.is_scalar())
        Error(stmt, "type-mismatch",
              fmt::format("the extent of a thread axis is an integer, found '{}'", dtype.ToString()));
      DefineIterVar(*iter, stmt);
      return VisitLoopBody(stmt.body, /*can_jump=*/false);
    }
  } else if (const auto* e = As<PrimExpr>(stmt.node); e && !IsPragmaOfLoop(stmt)) {
    VisitExpr(e);
  } else if (const auto* reducer = As<tir::CommReducer>(stmt.node)) {
    CheckReducer(*reducer, stmt);
  }
  VisitBody(stmt.body);
}

void TirVerifier::VisitAllocate(const tir::Allocate& stmt) {
  VisitExpr(stmt.condition);
  VisitAll(stmt.extents);
  CheckCondition(stmt.condition, stmt);
  Define(stmt.buffer_var, stmt);
  VisitBody(stmt.body);
}

void TirVerifier::VisitBufferRealize(const tir::BufferRealize& stmt) {
  VisitExpr(stmt.condition);
  for (const tir::Range* range : stmt.bounds) VisitRange(*range);
  CheckCondition(stmt.condition, stmt);
  DefineIfUnseen(stmt.buffer->data, stmt);
  VisitBuffer(*stmt.buffer);
  VisitBody(stmt.body);
}

void TirVerifier::VisitBlockRealize(const tir::BlockRealize& realize) {
  VisitAll(realize.iter_values);
  VisitExpr(realize.predicate);
  CheckCondition(realize.predicate, realize);
  if (realize.iter_values.size() != realize.block->iter_vars.size()) {
    Error(realize, "block-bindings",
          fmt::format("block '{}' has {} iteration variables and {} values for them", realize.block->name_hint,
                      realize.block->iter_vars.size(), realize.iter_values.size()));
  }
  VisitStmt(realize.block);
}

void TirVerifier::VisitBlock(const tir::Block& block) {
  const bool has_iteration = !block.iter_vars.empty();
  if (has_iteration) blocks_.push_back(&block);
  for (const tir::IterVar* iter : block.iter_vars) DefineIterVar(*iter, *iter);
  for (const tir::BufferRegion* region : block.reads) VisitRegion(*region);
  for (const tir::BufferRegion* region : block.writes) VisitRegion(*region);
  for (const tir::Buffer* buffer : block.alloc_buffers) {
    Define(buffer->data, *buffer);
    VisitBuffer(*buffer);
  }
  for (const tir::MatchBufferRegion* match : block.match_buffers) VisitRegion(*match->source);
  for (const tir::MatchBufferRegion* match : block.match_buffers) DefineMatched(*match->buffer, *match);
  VisitLoopBody(block.init, /*can_jump=*/false);
  VisitLoopBody(block.body, /*can_jump=*/false);
  if (has_iteration) blocks_.pop_back();
}

// ---- Expressions and parts

// The text of a constant that does not fit could not be read back.
void TirVerifier::CheckInt(const tir::IntImm& constant) {
  if (!constant.dtype.is_integer() || arith::FitsIn(constant.value, constant.dtype)) return;
  Error(constant, "type-mismatch",
        fmt::format("the constant {} does not fit in '{}'", constant.value, constant.dtype.ToString()));
}

void TirVerifier::VisitExpr(const PrimExpr* e) {
  switch (e->kind) {
    case NodeKind::kIntImm: return CheckInt(*static_cast<const tir::IntImm*>(e));
    case NodeKind::kFloatImm:
    case NodeKind::kPrimStringImm: return;
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: return UseVar(static_cast<const tir::Var*>(e), around_ ? *around_ : *function_);
    default: break;
  }
  WithStack([&] {
    switch (e->kind) {
      case NodeKind::kLet: {
        const auto& let = *static_cast<const tir::Let*>(e);
        VisitExpr(let.value);
        CheckSame(let.var->dtype, let.value->dtype, let, "a variable and its value");
        const size_t scope = vars_.Enter();
        Define(let.var, let);
        VisitExpr(let.body);
        return vars_.Leave(scope);
      }
      case NodeKind::kBufferLoad: {
        const auto& load = *static_cast<const tir::BufferLoad*>(e);
        VisitBuffer(*load.buffer);
        VisitAll(load.indices);
        if (load.predicate) VisitExpr(load.predicate);
        return CheckLoad(load);
      }
      case NodeKind::kProducerLoad: return VisitAll(static_cast<const tir::ProducerLoad*>(e)->indices);
      case NodeKind::kReduce: return VisitReduce(*static_cast<const tir::Reduce*>(e));
      case NodeKind::kPrimCall: return VisitCall(*static_cast<const tir::Call*>(e));
      default: ForEachOperand(*e, [&](const PrimExpr* operand) { VisitExpr(operand); }); return CheckOperands(*e);
    }
  });
}

void TirVerifier::VisitCall(const tir::Call& call) {
  if (const auto* callee = As<GlobalVar>(call.op); callee && !module_.Find(callee)) {
    Error(call, "unknown-function", fmt::format("the module has no function '{}'", callee->name));
  }
  const auto* op = As<Op>(call.op);
  if (op && IsOneOf(*op, op::kTirBreakLoop, op::kTirContinueLoop) && !can_jump_) {
    Error(call, "misplaced-jump", fmt::format("{} stands outside of a serial loop", op->info->script));
  }
  VisitAll(call.args);
}

void TirVerifier::VisitReduce(const tir::Reduce& reduce) {
  const size_t scope = vars_.Enter();
  for (const tir::IterVar* iter : reduce.axis) DefineIterVar(*iter, reduce);
  VisitAll(reduce.source);
  VisitAll(reduce.init);
  VisitExpr(reduce.condition);
  vars_.Leave(scope);
}

void TirVerifier::VisitRegion(const tir::BufferRegion& region) {
  VisitBuffer(*region.buffer);
  for (const tir::Range* range : region.region) VisitRange(*range);
  if (region.region.size() != region.buffer->shape.size()) {
    Error(region, "index-count",
          fmt::format("a region of buffer '{}' has {} ranges for {} dimensions", region.buffer->name,
                      region.region.size(), region.buffer->shape.size()));
  }
}

// Using a buffer uses the variables of its declaration.
void TirVerifier::VisitBuffer(const tir::Buffer& buffer) {
  const bool outer = std::exchange(in_declaration_, true);
  UseVar(buffer.data, around_ ? *around_ : buffer);
  VisitAll(buffer.shape);
  VisitAll(buffer.strides);
  VisitExpr(buffer.elem_offset);
  if (buffer.layout) VisitExpr(buffer.layout);
  VisitAll(buffer.allocated_addr);
  in_declaration_ = outer;
}

}  // namespace iropt
