#include "iropt/arith/index_dtypes.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "iropt/ir/map_list.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"

namespace iropt::arith {

const tir::Var* IndexDTypeRewriter::VarWithBits(const tir::Var* var, int bits) {
  const DataType dtype = DataType::Make(var->dtype.code, bits, var->dtype.lanes);
  if (!var->is_size_var()) return workspace().NewPrimVar(var->name, dtype, var->pointer);
  return workspace().New<tir::SizeVar>(var->name, dtype, workspace().NextVarId());
}

void IndexDTypeRewriter::MatchBits(const PrimExpr*& a, const PrimExpr*& b) const {
  const DataType dtype = DataType::Make(a->dtype.code, std::max(a->dtype.bits, b->dtype.bits), a->dtype.lanes);
  a = make_.Cast(dtype, a);
  b = make_.Cast(dtype, b);
}

List<const PrimExpr*> IndexDTypeRewriter::VisitIndices(List<const PrimExpr*> indices) {
  const auto scope = InIndex();
  return MapList(indices, workspace(), [this](const PrimExpr* index) { return VisitExpr(index); });
}

const PrimExpr* IndexDTypeRewriter::VisitCondition(const PrimExpr* condition) {
  const ScopedValue<bool> scope(in_condition_, true);
  return VisitExpr(condition);
}

// ---- Expressions

const PrimExpr* IndexDTypeRewriter::VisitBinary(const tir::BinaryExpr* expr) {
  const PrimExpr* a = VisitExpr(expr->a);
  const PrimExpr* b = VisitExpr(expr->b);
  if (a == expr->a && b == expr->b) return expr;
  if (Is<tir::And>(expr) || Is<tir::Or>(expr)) return make_.At(expr->span()).Node(expr->kind, a, b);
  return make_.At(expr->span()).Binary(expr->kind, a, b);
}

const PrimExpr* IndexDTypeRewriter::VisitSelect(const tir::Select* select) {
  const PrimExpr* condition = VisitCondition(select->condition);
  const PrimExpr* on_true = VisitExpr(select->true_value);
  const PrimExpr* on_false = VisitExpr(select->false_value);
  if (condition == select->condition && on_true == select->true_value && on_false == select->false_value) return select;
  MatchBits(on_true, on_false);
  return make_.At(select->span()).Keep(tir::Select(condition, on_true, on_false));
}

const PrimExpr* IndexDTypeRewriter::VisitRamp(const tir::Ramp* ramp) {
  const PrimExpr* base = VisitExpr(ramp->base);
  const PrimExpr* stride = VisitExpr(ramp->stride);
  if (base == ramp->base && stride == ramp->stride) return ramp;
  MatchBits(base, stride);
  return make_.At(ramp->span()).Keep(tir::Ramp(base->dtype.with_lanes(ramp->dtype.lanes), base, stride, ramp->lanes));
}

const PrimExpr* IndexDTypeRewriter::VisitBroadcast(const tir::Broadcast* broadcast) {
  const PrimExpr* value = VisitExpr(broadcast->value);
  if (value == broadcast->value) return broadcast;
  const DataType dtype = value->dtype.with_lanes(broadcast->dtype.lanes);
  return make_.At(broadcast->span()).Keep(tir::Broadcast(dtype, value, broadcast->lanes));
}

std::pair<const tir::Var*, const PrimExpr*> IndexDTypeRewriter::VisitBinding(const tir::Var* var,
                                                                             const PrimExpr* value) {
  if (const tir::Var* decided = DecidedVar(var)) {
    const auto scope = InIndex();
    Remap(var, decided);
    return {decided, make_.Cast(decided->dtype, VisitExpr(value))};
  }
  value = VisitExpr(value);
  const bool stays = value->dtype == var->dtype;
  const tir::Var* bound = stays ? var : workspace().NewPrimVar(var->name, value->dtype, var->pointer);
  // Copies of a binding need not have values of one dtype.
  if (!stays || RemapOf(var)) Remap(var, bound);
  return {bound, value};
}

const PrimExpr* IndexDTypeRewriter::VisitLet(const tir::Let* let) {
  const auto [var, value] = VisitBinding(let->var, let->value);
  const PrimExpr* body = VisitExpr(let->body);
  if (var == let->var && value == let->value && body == let->body) return let;
  return make_.At(let->span()).Keep(tir::Let(var, value, body));
}

namespace {

std::optional<BitOp> BitOpOf(const tir::Call& call) {
  const auto* op = As<Op>(call.op);
  switch (op ? op->id : op::kTirIfThenElse) {
    case op::kTirShiftLeft: return BitOp::kShiftLeft;
    case op::kTirShiftRight: return BitOp::kShiftRight;
    case op::kTirBitwiseAnd: return BitOp::kAnd;
    case op::kTirBitwiseOr: return BitOp::kOr;
    case op::kTirBitwiseXor: return BitOp::kXor;
    default: return std::nullopt;
  }
}

}  // namespace

// The variables of a reducer keep their dtypes, which are those of the values that it combines.
const tir::CommReducer* IndexDTypeRewriter::VisitCommReducer(const tir::CommReducer* reducer) {
  tir::CommReducer copy = *reducer;
  const auto visit = [this](List<const PrimExpr*> values) {
    return MapList(values, workspace(), [this](const PrimExpr* value) { return VisitKeepingDType(value); });
  };
  copy.result = visit(reducer->result);
  copy.identity_element = visit(reducer->identity_element);
  const bool same = copy.result.begin() == reducer->result.begin() &&
                    copy.identity_element.begin() == reducer->identity_element.begin();
  return same ? reducer : workspace().New<tir::CommReducer>(copy);
}

const PrimExpr* IndexDTypeRewriter::VisitKeepingDType(const PrimExpr* value) {
  return make_.Cast(value->dtype, VisitExpr(value));
}

const PrimExpr* IndexDTypeRewriter::VisitCall(const tir::Call* call) {
  const bool selects = IsOp(call->op, op::kTirIfThenElse);
  // Values that threads combine have the dtype of the reducer. Their number comes first, and the threads last.
  const int64_t* combined = IsOp(call->op, op::kTirTvmThreadAllreduce) ? AsInt(call->args[0]) : nullptr;
  std::vector<const PrimExpr*> args;
  bool changed = false;
  for (const PrimExpr* arg : call->args) {
    const bool is_combined = combined && !args.empty() && static_cast<int64_t>(args.size()) <= *combined;
    args.push_back(is_combined               ? VisitKeepingDType(arg)
                   : selects && args.empty() ? VisitCondition(arg)
                                             : VisitExpr(arg));
    changed |= args.back() != arg;
  }
  if (!changed) return call;
  const arith::PrimBuilder make = make_.At(call->span());
  DataType dtype = call->dtype;
  if (selects) {
    if (const int64_t* known = arith::AsInt(args[0])) return *known ? args[1] : args[2];
    make.Match(args[1], args[2]);
    dtype = args[1]->dtype;
  } else if (const auto bit_op = BitOpOf(*call)) {
    return make.Bitwise(*bit_op, args[0], args[1]);
  } else if (IsOp(call->op, op::kTirPow)) {
    make.Match(args[0], args[1]);
    dtype = args[0]->dtype;
  } else if (IsOp(call->op, op::kTirPopcount) && dtype == call->args[0]->dtype) {
    // A negative number has as many bits as its dtype gives it.
    const PrimExpr* value = make.Cast(dtype, args[0]);
    return make.Cast(args[0]->dtype, make.Keep(tir::Call(dtype, call->op, workspace().Copy(std::vector{value}))));
  } else if (args.size() == 1 && dtype == call->args[0]->dtype && !IsOp(call->op, op::kTirClz)) {
    dtype = args[0]->dtype;
  }
  const PrimExpr* result = make.Keep(tir::Call(dtype, call->op, workspace().Copy(args)));
  if (!IsOp(call->op, op::kTirClz)) return result;
  // Leading zeros are those of the dtype.
  const int bits = args[0]->dtype.bits;
  const int former_bits = call->args[0]->dtype.bits;
  if (bits == former_bits) return result;
  return make.Add(make.Sub(result, make.Const(bits, dtype)), make.Const(former_bits, dtype));
}

const PrimExpr* IndexDTypeRewriter::VisitBufferLoad(const tir::BufferLoad* load) {
  tir::BufferLoad copy = *load;
  copy.buffer = VisitBufferUse(load->buffer);
  copy.indices = VisitIndices(load->indices);
  if (load->predicate) copy.predicate = VisitExpr(load->predicate);
  if (copy.buffer == load->buffer && copy.indices.begin() == load->indices.begin() && copy.predicate == load->predicate)
    return load;
  copy.flags = 0;
  return make_.At(load->span()).Keep(copy);
}

const tir::IterVar* IndexDTypeRewriter::VisitIterVar(const tir::IterVar* iter_var) {
  const auto scope = InIndex();
  const tir::Var* var = VisitVarDef(iter_var->var);
  const tir::Range* dom = iter_var->dom;
  if (dom) {
    const PrimExpr* min = make_.Cast(var->dtype, VisitExpr(dom->min));
    const PrimExpr* extent = make_.Cast(var->dtype, VisitExpr(dom->extent));
    if (min != dom->min || extent != dom->extent) dom = workspace().New<tir::Range>(min, extent);
  }
  if (var == iter_var->var && dom == iter_var->dom) return iter_var;
  return workspace().New<tir::IterVar>(dom, var, iter_var->iter_type, iter_var->thread_tag);
}

// ---- Statements

const tir::Stmt* IndexDTypeRewriter::VisitLetStmt(const tir::LetStmt* let) {
  tir::LetStmt copy = *let;
  std::tie(copy.var, copy.value) = VisitBinding(let->var, let->value);
  copy.body = VisitStmt(let->body);
  return tir::CopyIfChanged(let, copy, workspace());
}

const tir::Stmt* IndexDTypeRewriter::VisitAttrStmt(const tir::AttrStmt* stmt) {
  const tir::IterVar* thread = tir::ThreadAxisOf(*stmt);
  if (!thread) return StmtExprMutator::VisitAttrStmt(stmt);
  tir::AttrStmt copy = *stmt;
  {
    const auto scope = InIndex();
    const tir::IterVar* iter_var = VisitIterVar(thread);
    copy.node = iter_var;
    copy.value = make_.Cast(iter_var->var->dtype, VisitExpr(stmt->value));
  }
  copy.body = VisitStmt(stmt->body);
  return tir::CopyIfChanged(stmt, copy, workspace());
}

const tir::Stmt* IndexDTypeRewriter::VisitAllocate(const tir::Allocate* stmt) {
  tir::Allocate copy = *stmt;
  copy.extents = VisitIndices(stmt->extents);
  {
    const auto scope = InIndex();
    copy.condition = VisitExpr(stmt->condition);
  }
  copy.body = VisitStmt(stmt->body);
  return tir::CopyIfChanged(stmt, copy, workspace());
}

const tir::Stmt* IndexDTypeRewriter::VisitBufferStore(const tir::BufferStore* store) {
  tir::BufferStore copy = *store;
  copy.buffer = VisitBufferUse(store->buffer);
  copy.value = VisitExpr(store->value);
  if (copy.value->dtype.is_scalar() && copy.buffer->dtype.is_scalar())
    copy.value = make_.Cast(copy.buffer->dtype, copy.value);
  copy.indices = VisitIndices(store->indices);
  if (store->predicate) copy.predicate = VisitExpr(store->predicate);
  return tir::CopyIfChanged(store, copy, workspace());
}

const tir::Stmt* IndexDTypeRewriter::VisitIfThenElse(const tir::IfThenElse* branch) {
  tir::IfThenElse copy = *branch;
  copy.condition = VisitCondition(branch->condition);
  copy.then_case = VisitStmt(branch->then_case);
  if (branch->else_case) copy.else_case = VisitStmt(branch->else_case);
  return tir::CopyIfChanged(branch, copy, workspace());
}

const tir::Stmt* IndexDTypeRewriter::VisitFor(const tir::For* loop) {
  tir::For copy = *loop;
  {
    const auto scope = InIndex();
    copy.loop_var = VisitVarDef(loop->loop_var);
    const DataType dtype = copy.loop_var->dtype;
    copy.min = make_.Cast(dtype, VisitExpr(loop->min));
    copy.extent = make_.Cast(dtype, VisitExpr(loop->extent));
    if (loop->step) copy.step = make_.Cast(dtype, VisitExpr(loop->step));
    if (loop->thread_binding) copy.thread_binding = VisitIterVar(loop->thread_binding);
    if (copy.thread_binding && copy.thread_binding->var->dtype != dtype) {
      tir::IterVar thread = *copy.thread_binding;
      thread.var = workspace().NewPrimVar(thread.var->name, dtype);
      copy.thread_binding = workspace().New<tir::IterVar>(thread);
    }
  }
  copy.annotations = static_cast<const DictAttr*>(VisitAttr(loop->annotations));
  copy.body = VisitStmt(loop->body);
  const bool stays = copy.loop_var == loop->loop_var && copy.body == loop->body && copy.step == loop->step &&
                     copy.annotations == loop->annotations;
  if (stays && DeepEqual(copy.min, loop->min) && DeepEqual(copy.extent, loop->extent)) return loop;
  return workspace().New<tir::For>(copy);
}

const tir::Stmt* IndexDTypeRewriter::VisitBlockRealize(const tir::BlockRealize* realize) {
  tir::BlockRealize copy = *realize;
  copy.predicate = VisitCondition(realize->predicate);
  copy.iter_values = VisitIndices(realize->iter_values);
  copy.block = To<tir::Block>(VisitStmt(realize->block));
  std::vector<const PrimExpr*> values;
  bool matches = true;
  for (uint32_t i = 0; i < copy.iter_values.size(); ++i) {
    values.push_back(make_.Cast(copy.block->iter_vars[i]->var->dtype, copy.iter_values[i]));
    matches &= values.back() == copy.iter_values[i];
  }
  if (!matches) copy.iter_values = workspace().Copy(values);
  return tir::CopyIfChanged(realize, copy, workspace());
}

const tir::Buffer* IndexDTypeRewriter::VisitBufferDef(const tir::Buffer* buffer) {
  if (const tir::Buffer* known = RemapOf(buffer)) return known;
  tir::Buffer copy = *buffer;
  copy.shape = VisitIndices(buffer->shape);
  copy.strides = VisitIndices(buffer->strides);
  if (buffer->elem_offset) {
    const auto scope = InIndex();
    copy.elem_offset = VisitExpr(buffer->elem_offset);
    if (zero_offsets_follow_ && arith::IsInt(copy.elem_offset, 0)) {
      // A buffer without dimensions has the offset that its text stands for.
      copy.elem_offset = make_.Cast(copy.shape.empty() ? DataType::Int(32) : copy.shape[0]->dtype, copy.elem_offset);
    }
  }
  if (copy.shape.begin() == buffer->shape.begin() && copy.strides.begin() == buffer->strides.begin() &&
      copy.elem_offset == buffer->elem_offset)
    return buffer;
  copy.id = workspace().NextVarId();
  const auto* changed = workspace().New<tir::Buffer>(copy);
  Remap(buffer, changed);
  return changed;
}

bool IndexDTypeRewriter::AnyVarReplaced(List<const PrimExpr*> exprs) {
  const auto scope = InIndex(false);
  const auto is_replaced = [this](const tir::Var* var) { return VisitVar(var) != var; };
  return std::ranges::any_of(exprs, [&](const PrimExpr* expr) { return tir::UsesVar(expr, is_replaced); });
}

const tir::Buffer* IndexDTypeRewriter::VisitBufferUse(const tir::Buffer* buffer) {
  if (const tir::Buffer* known = RemapOf(buffer)) return known;
  const bool follows = AnyVarReplaced(buffer->shape) || AnyVarReplaced(buffer->strides) ||
                       (buffer->elem_offset && AnyVarReplaced({&buffer->elem_offset, 1}));
  return follows ? VisitBufferDef(buffer) : buffer;
}

const tir::BufferRegion* IndexDTypeRewriter::VisitBufferRegion(const tir::BufferRegion* region) {
  const auto scope = InIndex();
  const tir::BufferRegion* visited = StmtExprMutator::VisitBufferRegion(region);
  // The text has no dtype for the extent of one element: it is that of the index.
  const auto fits = [](const tir::Range* range) { return range->min->dtype == range->extent->dtype; };
  if (visited == region || std::ranges::all_of(visited->region, fits)) return visited;
  std::vector<const tir::Range*> ranges;
  for (const tir::Range* range : visited->region) {
    if (!fits(range)) range = workspace().New<tir::Range>(range->min, make_.Cast(range->min->dtype, range->extent));
    ranges.push_back(range);
  }
  return workspace().New<tir::BufferRegion>(visited->buffer, workspace().Copy(ranges));
}

// ---- Normalization

void IndexDTypeNormalizer::FindVars(const tir::Stmt* body) {
  const ScopedValue<bool> scope(finds_, true);
  VisitStmt(body);
}

const PrimFunc* IndexDTypeNormalizer::Rewrite(const PrimFunc* func) {
  PrimFunc copy = *func;
  std::vector<const tir::Buffer*> buffers;
  for (const tir::Buffer* buffer : func->param_buffers) {
    if (buffer) CheckBuffer(*buffer);
    buffers.push_back(buffer ? VisitBufferDef(buffer) : nullptr);
  }
  copy.param_buffers = workspace().Copy(buffers);
  std::vector<const tir::Var*> params;
  for (const tir::Var* param : func->params) {
    const auto scope = InIndex();
    params.push_back(VisitVarDef(param));
  }
  copy.params = workspace().Copy(params);
  copy.body = VisitStmt(func->body);
  if (copy.body == func->body && params == std::vector(func->params.begin(), func->params.end()) &&
      buffers == std::vector(func->param_buffers.begin(), func->param_buffers.end()))
    return func;
  return workspace().New<PrimFunc>(copy);
}

const PrimExpr* IndexDTypeNormalizer::VisitVar(const tir::Var* var) {
  // A variable that is bound to a value of another dtype than before.
  if (const PrimExpr* replaced = RemapOf(var)) return replaced;
  if (const auto* known = vars_.Find(var)) return *known;
  if (!in_index() || !IsOther(var->dtype) || !var->dtype.is_scalar()) return var;
  return vars_[var] = VarWithBits(var, target_.bits);
}

const PrimExpr* IndexDTypeNormalizer::VisitIntImm(const tir::IntImm* constant) {
  if (!in_index() || !IsOther(constant->dtype)) return constant;
  return make().At(constant->span()).Int(constant->value, target_);
}

// A conversion to another dtype than that of indices has a purpose. One that converts unsigned numbers or floats
// decides the value, which must not wrap earlier or later than it did.
const PrimExpr* IndexDTypeNormalizer::VisitCast(const tir::Cast* cast) {
  if (!in_index() || !cast->dtype.is_int() || cast->dtype.bits < 32) return IndexDTypeRewriter::VisitCast(cast);
  const DataType dtype = target_.with_lanes(cast->dtype.lanes);
  const DataType from = cast->value->dtype;
  const bool decides = from.is_floating() ? in_condition() : from.is_uint() && from.bits >= 32;
  if (decides && cast->dtype.bits > dtype.bits) return IndexDTypeRewriter::VisitCast(cast);
  if (decides) return make().At(cast->span()).Cast(dtype, IndexDTypeRewriter::VisitCast(cast));
  const PrimExpr* value = VisitExpr(cast->value);
  return value->dtype == dtype ? value : make().At(cast->span()).Keep(tir::Cast(dtype, value));
}

// Comparisons of conditions are about indices.
const PrimExpr* IndexDTypeNormalizer::VisitBinary(const tir::BinaryExpr* expr) {
  if (expr->kind < NodeKind::kEQ || expr->kind > NodeKind::kGE) return IndexDTypeRewriter::VisitBinary(expr);
  const auto scope = InIndex(in_condition() && expr->a->dtype.is_int() && expr->b->dtype.is_int());
  return IndexDTypeRewriter::VisitBinary(expr);
}

// A value is part of an index if its variable is, which the body tells.
const PrimExpr* IndexDTypeNormalizer::VisitLet(const tir::Let* let) {
  if (!finds_) return IndexDTypeRewriter::VisitLet(let);
  VisitExpr(let->body);
  const auto scope = InIndex(in_index() || vars_.contains(let->var));
  VisitExpr(let->value);
  return let;
}

const tir::Stmt* IndexDTypeNormalizer::VisitLetStmt(const tir::LetStmt* let) {
  if (!finds_) return IndexDTypeRewriter::VisitLetStmt(let);
  VisitStmt(let->body);
  const auto scope = InIndex(vars_.contains(let->var));
  VisitExpr(let->value);
  return let;
}

const tir::Stmt* IndexDTypeNormalizer::VisitBlock(const tir::Block* block) {
  for (const tir::Buffer* buffer : block->alloc_buffers) CheckBuffer(*buffer);
  return IndexDTypeRewriter::VisitBlock(block);
}

}  // namespace iropt::arith
