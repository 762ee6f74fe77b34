#include "transform/tir/vectorize/vectorizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/support/debug_output.h"
#include "transform/tir/vectorize/predicate_accesses.h"

namespace iropt {

namespace {

constexpr DebugChannel kVectorizeDebug("vectorize");

bool IsVector(const PrimExpr* e) { return e->dtype.lanes != 1; }

bool SameList(const std::vector<const PrimExpr*>& a, List<const PrimExpr*> b) { return std::ranges::equal(a, b); }

// The type of an access to the buffer with this last index.
DataType AccessType(const tir::Buffer& buffer, const PrimExpr* last) {
  const int lanes = std::abs(buffer.dtype.lanes) * std::abs(last->dtype.lanes);
  return buffer.dtype.with_lanes(buffer.dtype.is_scalable() || last->dtype.is_scalable() ? -lanes : lanes);
}

// Gives each lane its own part of memory that is allocated in the loop: element i becomes i * lanes + variable.
class LaneMemory : public tir::StmtExprMutator {
 public:
  LaneMemory(const tir::Var* pointer, const tir::Var* var, const PrimExpr* lanes, arith::Analyzer& analyzer,
             Workspace& workspace)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        pointer_(pointer),
        var_(var),
        lanes_(lanes),
        analyzer_(analyzer) {}

 protected:
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return Extend(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return Extend(buffer); }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    if (load->buffer->data != pointer_) return visited;
    tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
    copy.flags = 0;
    copy.indices = Extend(copy.indices);
    return workspace().New<tir::BufferLoad>(copy);
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    if (store->buffer->data != pointer_) return visited;
    tir::BufferStore copy = *To<tir::BufferStore>(visited);
    copy.indices = Extend(copy.indices);
    return workspace().New<tir::BufferStore>(copy);
  }

 private:
  List<const PrimExpr*> Extend(List<const PrimExpr*> indices) {
    const arith::PrimBuilder& make = analyzer_.make();
    std::vector<const PrimExpr*> result(indices.begin(), indices.end());
    if (!result.empty()) result.back() = analyzer_.Simplify(make.Add(make.Mul(result.back(), lanes_), var_));
    return workspace().Copy(result);
  }

  const tir::Buffer* Extend(const tir::Buffer* buffer) {
    if (buffer->data != pointer_ || buffer->shape.empty()) return buffer;
    if (const tir::Buffer* known = RemapOf(buffer)) return known;
    tir::Buffer copy = *buffer;
    std::vector<const PrimExpr*> shape(buffer->shape.begin(), buffer->shape.end());
    shape.back() = analyzer_.Simplify(analyzer_.make().Mul(shape.back(), lanes_));
    copy.shape = workspace().Copy(shape);
    copy.strides = {};
    copy.id = workspace().NextVarId();
    const auto* extended = workspace().New<tir::Buffer>(copy);
    Remap(buffer, extended);
    return extended;
  }

  const tir::Var* pointer_;
  const tir::Var* var_;
  const PrimExpr* lanes_;
  arith::Analyzer& analyzer_;
};

}  // namespace

Vectorizer::Vectorizer(const tir::Var* var, const PrimExpr* extent, const Options& options, Workspace& workspace,
                       DiagnosticEngine& diagnostics)
    : StmtExprMutator(workspace, tir::kRewriteBuffers),
      var_(var),
      extent_(extent),
      options_(options),
      diagnostics_(diagnostics),
      analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {
  ramp_ = make().Ramp(make().Const(0, var->dtype), make().Const(1, var->dtype), extent);
}

void Vectorizer::Error(const Node& at, const std::string& message) {
  diagnostics_.Error(Location(at), "pass-failed", message);
}

// ---- Lanes

const PrimExpr* Vectorizer::BroadcastTo(const PrimExpr* value, int lanes) {
  if (value->dtype.lanes == lanes) return value;
  const DataType dtype = value->dtype.with_lanes(lanes);
  const auto* broadcast = As<tir::Broadcast>(value);
  if (broadcast && value->dtype.is_scalable() == (lanes < 0) && lanes % value->dtype.lanes == 0) {
    value = broadcast->value;
  } else if (IsVector(value)) {
    Error(*value, fmt::format("a value of type {} is used with vectors of other lengths", value->dtype.ToString()));
    return value;
  }
  return make().Broadcast(value, make().Lanes(dtype));
}

int Vectorizer::CommonLanes(int a, int b, const Node& at) {
  if (a != 1 && b != 1 && (a < 0) != (b < 0)) Error(at, "scalable vectors are mixed with others");
  const int lanes = std::max(std::abs(a), std::abs(b));
  return a < 0 || b < 0 ? -lanes : lanes;
}

const PrimExpr* Vectorizer::Lane(const PrimExpr* vector, const PrimExpr* index) {
  const std::array<const PrimExpr*, 1> vectors = {vector};
  const std::array<const PrimExpr*, 1> indices = {index};
  return workspace().New<tir::Shuffle>(vector->dtype.with_lanes(1), make().Operands(vectors), make().Operands(indices));
}

// ---- Expressions

const PrimExpr* Vectorizer::VisitVar(const tir::Var* var) {
  if (var == var_) return ramp_;
  const auto* vector = vectors_.Find(var);
  return vector ? *vector : StmtExprMutator::VisitVar(var);
}

const PrimExpr* Vectorizer::VisitBinary(const tir::BinaryExpr* expr) {
  const PrimExpr* a = VisitExpr(expr->a);
  const PrimExpr* b = VisitExpr(expr->b);
  if (a == expr->a && b == expr->b) return expr;
  const int lanes = CommonLanes(a, b);
  return make().Node(expr->kind, BroadcastTo(a, lanes), BroadcastTo(b, lanes));
}

// a + b or a - b: a ramp and a scalar are a ramp.
const PrimExpr* Vectorizer::VisitSum(const tir::BinaryExpr& expr) {
  const PrimExpr* a = VisitExpr(expr.a);
  const PrimExpr* b = VisitExpr(expr.b);
  if (a == expr.a && b == expr.b) return &expr;
  const auto* a_ramp = As<tir::Ramp>(a);
  const auto* b_ramp = As<tir::Ramp>(b);
  if (b_ramp && !IsVector(a)) {
    const PrimExpr* zero = make().Const(0, b_ramp->stride->dtype);
    return make().Ramp(make().Binary(expr.kind, a, b_ramp->base), make().Binary(expr.kind, zero, b_ramp->stride),
                       b_ramp->lanes);
  }
  if (a_ramp && !IsVector(b)) {
    return make().Ramp(make().Binary(expr.kind, a_ramp->base, b), a_ramp->stride, a_ramp->lanes);
  }
  const int lanes = CommonLanes(a, b);
  return make().Binary(expr.kind, BroadcastTo(a, lanes), BroadcastTo(b, lanes));
}

// A ramp times a positive scalar is a ramp.
const PrimExpr* Vectorizer::VisitMul(const tir::Mul* expr) {
  const PrimExpr* a = VisitExpr(expr->a);
  const PrimExpr* b = VisitExpr(expr->b);
  if (a == expr->a && b == expr->b) return expr;
  const auto scale = [&](const PrimExpr* vector, const PrimExpr* factor) -> const PrimExpr* {
    const auto* ramp = As<tir::Ramp>(vector);
    if (!ramp || IsVector(factor) || !analyzer_.CanProveGreaterEqual(factor, 1)) return nullptr;
    return make().Ramp(make().Mul(ramp->base, factor), make().Mul(ramp->stride, factor), ramp->lanes);
  };
  if (const PrimExpr* scaled = scale(a, b)) return scaled;
  if (const PrimExpr* scaled = scale(b, a)) return scaled;
  const int lanes = CommonLanes(a, b);
  return make().Node(NodeKind::kMul, BroadcastTo(a, lanes), BroadcastTo(b, lanes));
}

const PrimExpr* Vectorizer::VisitNot(const tir::Not* expr) {
  const PrimExpr* a = VisitExpr(expr->a);
  return a == expr->a ? expr : make().Not(a);
}

// A vector of ramps: one ramp if they continue each other.
const PrimExpr* Vectorizer::VisitRamp(const tir::Ramp* expr) {
  const PrimExpr* base = VisitExpr(expr->base);
  const PrimExpr* stride = VisitExpr(expr->stride);
  if (base == expr->base && stride == expr->stride) return expr;
  const int64_t* inner = arith::AsInt(expr->lanes);
  if (base->dtype.is_scalable() || stride->dtype.is_scalable() || !inner) {
    Error(*expr, "a vector cannot be vectorized to scalable vectors, nor a scalable vector to others");
    return expr;
  }
  const auto* base_ramp = As<tir::Ramp>(base);
  if (base_ramp && !IsVector(stride)) {
    const PrimExpr* step = make().Mul(stride, make().Const(base->dtype.lanes, stride->dtype));
    if (analyzer_.CanProveEqual(base_ramp->stride, step)) {
      return make().Ramp(base_ramp->base, stride, make().Int(*inner * base->dtype.lanes, DataType::Int(32)));
    }
  }
  const int lanes = CommonLanes(base, stride);
  base = BroadcastTo(base, lanes);
  stride = BroadcastTo(stride, lanes);
  std::vector<const PrimExpr*> ramps, positions;
  for (int i = 0; i < lanes; ++i) {
    const PrimExpr* lane = make().Int(i, DataType::Int(32));
    ramps.push_back(make().Ramp(Lane(base, lane), Lane(stride, lane), expr->lanes));
  }
  const int64_t total = *inner * lanes;
  for (int64_t i = 0; i < total; ++i) positions.push_back(make().Int(i, DataType::Int(32)));
  return workspace().New<tir::Shuffle>(base->dtype.with_lanes(static_cast<int>(total)), make().Operands(ramps),
                                       make().Operands(positions));
}

const PrimExpr* Vectorizer::VisitBroadcast(const tir::Broadcast* expr) {
  const PrimExpr* value = VisitExpr(expr->value);
  if (IsVector(value)) {
    need_scalar_ = true;
    return expr;
  }
  return value == expr->value ? expr : make().Broadcast(value, expr->lanes);
}

const PrimExpr* Vectorizer::VisitSelect(const tir::Select* expr) {
  const PrimExpr* condition = VisitExpr(expr->condition);
  const PrimExpr* a = VisitExpr(expr->true_value);
  const PrimExpr* b = VisitExpr(expr->false_value);
  if (condition == expr->condition && a == expr->true_value && b == expr->false_value) return expr;
  const int lanes = CommonLanes(CommonLanes(a, b), condition->dtype.lanes, *expr);
  return workspace().New<tir::Select>(BroadcastTo(condition, lanes), BroadcastTo(a, lanes), BroadcastTo(b, lanes));
}

const PrimExpr* Vectorizer::VisitCast(const tir::Cast* expr) {
  const PrimExpr* value = VisitExpr(expr->value);
  if (value == expr->value) return expr;
  if (const auto* ramp = As<tir::Ramp>(value)) {
    if (const PrimExpr* wide = WidenRamp(*ramp, expr->dtype)) return wide;
  }
  return workspace().New<tir::Cast>(expr->dtype.with_lanes(value->dtype.lanes), value);
}

// The ramp of wider integers, which is an index that loads a vector, while a conversion of a ramp is not. Null if it
// may wrap around.
const PrimExpr* Vectorizer::WidenRamp(const tir::Ramp& ramp, DataType dtype) const {
  const int64_t* base = arith::AsInt(ramp.base);
  const int64_t* stride = arith::AsInt(ramp.stride);
  const DataType narrow = ramp.base->dtype;
  if (!base || !stride || !narrow.is_int() || !dtype.is_int() || dtype.bits < narrow.bits || ramp.dtype.lanes < 1)
    return nullptr;
  int64_t last = 0;
  if (__builtin_mul_overflow(*stride, ramp.dtype.lanes - 1, &last) || __builtin_add_overflow(last, *base, &last))
    return nullptr;
  if (narrow.bits < 64 && (last >> (narrow.bits - 1)) != (last < 0 ? -1 : 0)) return nullptr;
  return make().Ramp(make().Const(*base, dtype), make().Const(*stride, dtype), ramp.lanes);
}

const PrimExpr* Vectorizer::VisitCall(const tir::Call* call) {
  if (IsOp(call->op, op::kTirIfThenElse)) return VisitIf(*call);
  if (IsOp(call->op, op::kTirReinterpret) && call->args.size() == 1) {
    const PrimExpr* value = VisitExpr(call->args[0]);
    if (value == call->args[0]) return call;
    const std::array<const PrimExpr*, 1> args = {value};
    return workspace().New<tir::Call>(call->dtype.with_lanes(value->dtype.lanes), call->op, make().Operands(args));
  }
  const auto* op = As<Op>(call->op);
  const bool is_more = options_.all_functions && (IsOp(op, op::kTirErf) || IsOp(op, op::kTirRsqrt));
  const bool is_vectorizable = op && IntrinsicOf(op) && (IntrinsicOf(op)->vectorizable || is_more);
  return is_vectorizable && !call->dtype.is_scalable() ? VisitVectorCall(*call) : VisitScalarCall(*call);
}

// One condition for all lanes.
const PrimExpr* Vectorizer::VisitIf(const tir::Call& call) {
  const PrimExpr* condition = VisitExpr(call.args[0]);
  if (IsVector(condition)) {
    need_scalar_ = true;
    return &call;
  }
  const PrimExpr* a = VisitExpr(call.args[1]);
  const PrimExpr* b = VisitExpr(call.args[2]);
  if (condition == call.args[0] && a == call.args[1] && b == call.args[2]) return &call;
  const int lanes = CommonLanes(a, b);
  const std::array<const PrimExpr*, 3> args = {condition, BroadcastTo(a, lanes), BroadcastTo(b, lanes)};
  return workspace().New<tir::Call>(call.dtype.with_lanes(lanes), call.op, make().Operands(args));
}

const PrimExpr* Vectorizer::VisitScalarCall(const tir::Call& call) {
  std::vector<const PrimExpr*> args;
  for (const PrimExpr* arg : call.args) {
    args.push_back(VisitExpr(arg));
    if (!IsVector(args.back()) || IsVector(arg)) continue;
    need_scalar_ = true;
    return &call;
  }
  if (SameList(args, call.args)) return &call;
  return workspace().New<tir::Call>(call.dtype, call.op, make().Operands(args));
}

const PrimExpr* Vectorizer::VisitVectorCall(const tir::Call& call) {
  // The first operands of an LLVM intrinsic are its number and, before 0.22, the number of the others.
  const size_t of_intrinsic = workspace().version() >= TextVersion::kV0_22 ? 1 : 2;
  const size_t first = IsOp(call.op, op::kTirCallLlvmPureIntrin) ? of_intrinsic : 0;
  std::vector<const PrimExpr*> args;
  int lanes = 1;
  for (size_t i = 0; i < call.args.size(); ++i) {
    args.push_back(i < first ? call.args[i] : VisitExpr(call.args[i]));
    lanes = CommonLanes(lanes, args.back()->dtype.lanes, call);
  }
  for (size_t i = first; i < args.size(); ++i) args[i] = BroadcastTo(args[i], lanes);
  if (SameList(args, call.args)) return &call;
  if (lanes < 0) Error(call, "a call of an intrinsic cannot be vectorized to scalable vectors");
  return workspace().New<tir::Call>(call.dtype.with_lanes(lanes), call.op, make().Operands(args));
}

const PrimExpr* Vectorizer::VisitBufferLoad(const tir::BufferLoad* load) {
  std::vector<const PrimExpr*> indices;
  for (const PrimExpr* index : load->indices) indices.push_back(VisitExpr(index));
  if (SameList(indices, load->indices)) return load;
  if (std::any_of(indices.begin(), indices.end() - 1, IsVector))
    Error(*load, fmt::format("only the last index of '{}' can be vectorized", load->buffer->name));
  if (load->buffer->dtype.is_scalable() && indices.back()->dtype.is_scalable())
    Error(*load, fmt::format("the scalable vectors in '{}' cannot be vectorized", load->buffer->name));
  return workspace().New<tir::BufferLoad>(AccessType(*load->buffer, indices.back()), load->buffer,
                                          make().Operands(indices), load->predicate);
}

const tir::Var* Vectorizer::BoundVar(const tir::Var* var, const PrimExpr* value) {
  if (value->dtype.lanes == var->dtype.lanes) return var;
  bound_.push_back(var);
  return vectors_[var] = workspace().NewPrimVar(var->name, value->dtype);
}

const PrimExpr* Vectorizer::VisitLet(const tir::Let* let) {
  const PrimExpr* value = VisitExpr(let->value);
  const tir::Var* var = BoundVar(let->var, value);
  const PrimExpr* body = VisitExpr(let->body);
  return value == let->value && body == let->body ? let : workspace().New<tir::Let>(var, value, body);
}

// ---- Statements

const tir::Stmt* Vectorizer::VisitStmt(const tir::Stmt* stmt) {
  const size_t outer = bound_outside_;
  bound_outside_ = bound_.size();
  const tir::Stmt* visited = StmtExprMutator::VisitStmt(stmt);
  if (need_scalar_) {
    need_scalar_ = false;
    visited = Scalarize(stmt);
  }
  bound_outside_ = outer;
  return visited;
}

const tir::Stmt* Vectorizer::Scalarize(const tir::Stmt* stmt) {
  IROPT_DEBUG(kVectorizeDebug, "a statement ({}) in the loop of '{}' runs lane by lane", NodeKindName(stmt->kind),
              var_->name);
  // Variables that the statement itself binds stay scalar.
  for (; bound_.size() > bound_outside_; bound_.pop_back()) vectors_.erase(bound_.back());
  const tir::Var* lane =
      workspace().NewPrimVar(workspace().arena().CopyString(fmt::format("{}.s", var_->name)), var_->dtype);
  const auto value_of = [&](const tir::Var* var) -> const PrimExpr* {
    if (var == var_) return lane;
    const auto* vector = vectors_.Find(var);
    return !vector ? nullptr : Lane(*vector, lane);
  };
  return workspace().New<tir::For>(lane, make().Const(0, var_->dtype), extent_, tir::ForKind::kSerial,
                                   tir::Substitute(stmt, value_of, workspace()), nullptr, DictAttr::Empty());
}

const tir::Stmt* Vectorizer::VisitBufferStore(const tir::BufferStore* store) {
  std::vector<const PrimExpr*> indices;
  for (const PrimExpr* index : store->indices) indices.push_back(VisitExpr(index));
  const PrimExpr* value = VisitExpr(store->value);
  if (need_scalar_ || (SameList(indices, store->indices) && value == store->value)) return store;
  const tir::Buffer& buffer = *store->buffer;
  if (indices.empty()) {
    Error(*store, fmt::format("all lanes store to the one element of '{}'", buffer.name));
    return store;
  }
  if (buffer.dtype.is_scalable())
    Error(*store, fmt::format("the scalable vectors in '{}' cannot be vectorized", buffer.name));
  if (std::any_of(indices.begin(), indices.end() - 1, IsVector))
    Error(*store, fmt::format("only the last index of '{}' can be vectorized", buffer.name));
  const int element_lanes = std::abs(buffer.dtype.lanes);
  const int index_lanes = indices.back()->dtype.lanes;
  const int total = std::max(element_lanes * std::abs(index_lanes), std::abs(value->dtype.lanes));
  if (total % element_lanes != 0) Error(*store, fmt::format("{} lanes do not fit into '{}'", total, buffer.name));
  const int sign = index_lanes < 0 ? -1 : 1;
  indices.back() = BroadcastTo(indices.back(), sign * (total / element_lanes));
  return workspace().New<tir::BufferStore>(store->buffer, BroadcastTo(value, sign * total), make().Operands(indices),
                                           store->predicate);
}

const tir::Stmt* Vectorizer::VisitBlockRealize(const tir::BlockRealize* realize) {
  const auto depends = [&](const PrimExpr* e) { return VisitExpr(e) != e; };
  need_scalar_ |= std::ranges::any_of(realize->iter_values, depends) || depends(realize->predicate);
  return need_scalar_ ? realize : StmtExprMutator::VisitBlockRealize(realize);
}

// The region that all lanes access: a range from the first to the last of them.
const tir::BufferRegion* Vectorizer::VisitBufferRegion(const tir::BufferRegion* region) {
  std::vector<const tir::Range*> ranges;
  bool changed = false;
  for (const tir::Range* range : region->region) {
    ranges.push_back(range);
    const PrimExpr* min = VisitExpr(range->min);
    const PrimExpr* extent = VisitExpr(range->extent);
    if (min == range->min && extent == range->extent) continue;
    changed = true;
    const auto* ramp = As<tir::Ramp>(min);
    const int64_t* stride = ramp ? arith::AsInt(ramp->stride) : nullptr;
    if (!stride || *stride < 0 || IsVector(extent)) {
      need_scalar_ = true;
      return region;
    }
    const PrimExpr* lanes = make().Cast(extent->dtype, ramp->lanes);
    const PrimExpr* steps =
        make().Mul(make().Sub(lanes, make().Const(1, extent->dtype)), make().Const(*stride, extent->dtype));
    ranges.back() = workspace().New<tir::Range>(ramp->base, make().Add(steps, extent));
  }
  return changed ? workspace().New<tir::BufferRegion>(region->buffer, workspace().Copy<const tir::Range*>(ranges))
                 : region;
}

const tir::MatchBufferRegion* Vectorizer::VisitMatchBufferRegion(const tir::MatchBufferRegion* match) {
  need_scalar_ |= StmtExprMutator::VisitMatchBufferRegion(match) != match;
  return match;
}

const tir::Stmt* Vectorizer::VisitPrefetch(const tir::Prefetch* prefetch) {
  const tir::Stmt* visited = StmtExprMutator::VisitPrefetch(prefetch);
  need_scalar_ |= visited != prefetch;
  return visited;
}

const tir::Stmt* Vectorizer::VisitFor(const tir::For* loop) {
  tir::For copy = *loop;
  copy.min = VisitExpr(loop->min);
  copy.extent = VisitExpr(loop->extent);
  if (loop->step) copy.step = VisitExpr(loop->step);
  // The lanes need not leave the loop together.
  const bool jumps = HasLoopJumps(loop->body);
  if (need_scalar_ || jumps || IsVector(copy.min) || IsVector(copy.extent) || (copy.step && IsVector(copy.step))) {
    need_scalar_ = false;
    return Scalarize(loop);
  }
  copy.body = VisitStmt(loop->body);
  return tir::CopyIfChanged(loop, copy, workspace());
}

const tir::Stmt* Vectorizer::VisitIfThenElse(const tir::IfThenElse* stmt) {
  tir::IfThenElse copy = *stmt;
  copy.condition = VisitExpr(stmt->condition);
  const bool scalar_condition = need_scalar_;
  need_scalar_ = false;
  copy.then_case = VisitStmt(stmt->then_case);
  if (stmt->else_case) copy.else_case = VisitStmt(stmt->else_case);
  if (options_.predicate_accesses && IsVector(copy.condition) && !copy.else_case) {
    if (const tir::Stmt* predicated = PredicateAccesses(copy.then_case, copy.condition, workspace())) return predicated;
  }
  if (scalar_condition || IsVector(copy.condition)) return Scalarize(stmt);
  return tir::CopyIfChanged(stmt, copy, workspace());
}

const tir::Stmt* Vectorizer::VisitWhile(const tir::While* stmt) {
  Error(*stmt, "a while loop in a vectorized loop cannot be vectorized");
  return stmt;
}

const tir::Stmt* Vectorizer::VisitAssertStmt(const tir::AssertStmt* stmt) {
  if (IsVector(VisitExpr(stmt->condition))) need_scalar_ = true;
  return need_scalar_ ? stmt : StmtExprMutator::VisitAssertStmt(stmt);
}

const tir::Stmt* Vectorizer::VisitLetStmt(const tir::LetStmt* let) {
  const PrimExpr* value = VisitExpr(let->value);
  if (need_scalar_) return let;
  const tir::Var* var = BoundVar(let->var, value);
  const tir::Stmt* body = VisitStmt(let->body);
  return value == let->value && body == let->body ? let : workspace().New<tir::LetStmt>(var, value, body);
}

const tir::Stmt* Vectorizer::VisitAllocate(const tir::Allocate* allocate) {
  tir::Allocate copy = *allocate;
  copy.condition = VisitExpr(allocate->condition);
  std::vector<const PrimExpr*> extents;
  for (const PrimExpr* extent : allocate->extents) extents.push_back(VisitExpr(extent));
  if (need_scalar_ || IsVector(copy.condition) || std::ranges::any_of(extents, IsVector)) {
    need_scalar_ = false;
    return Scalarize(allocate);
  }
  if (!extents.empty()) extents.back() = make().Mul(extents.back(), extent_);
  copy.extents = workspace().Copy(extents);
  LaneMemory memory(allocate->buffer_var, var_, extent_, analyzer_, workspace());
  copy.body = VisitStmt(memory.VisitStmt(allocate->body));
  return workspace().New<tir::Allocate>(copy);
}

}  // namespace iropt
