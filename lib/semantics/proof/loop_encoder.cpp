#include "semantics/proof/loop_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/arith/side_effect.h"
#include "iropt/ir/context.h"
#include "iropt/ir/element.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/op/ops/unary.h"
#include "iropt/support/stack.h"

namespace iropt::proof {

namespace {

// Variables of loops are apart from the dimensions of tensors.
constexpr size_t kFirstLoop = 1000;

// Attributes that say how to compute, not what.
bool IsHint(std::string_view key) {
  constexpr std::string_view kHints[] = {"buffer_dim_align",    "device_scope",  "device_id",   "device_type",
                                         "double_buffer_scope", "storage_scope", "pragma_scope"};
  return key.starts_with("pragma_") || std::ranges::find(kHints, key) != std::end(kHints);
}

std::vector<const tir::Var*> WrittenIn(const tir::Stmt* body) {
  std::vector<const tir::Var*> written;
  tir::PostOrderVisit(body, [&](const Node* node) {
    const auto* store = As<tir::BufferStore>(node);
    if (store && std::ranges::find(written, store->buffer->data) == written.end())
      written.push_back(store->buffer->data);
  });
  return written;
}

}  // namespace

const tir::Var* LoopSymbols::Get(size_t param, size_t dimension) {
  const std::pair key(param, dimension);
  const auto found = std::ranges::find(vars_, key, [](const auto& entry) { return entry.first; });
  if (found != vars_.end()) return found->second;
  vars_.emplace_back(key,
                     IRContext::Current().NewSymVar(fmt::format("n{}_{}", param, dimension), DataType::Int(64), true));
  return vars_.back().second;
}

const Term* LoopEncoder::Fail(std::string reason) {
  if (obstacle_.empty()) obstacle_ = std::move(reason);
  return terms_.Number(DataType::Bool(), int64_t{0});
}

LoopEncoder::Outcome LoopEncoder::Encode(const PrimFunc& function) {
  BindParams(function);
  if (obstacle_.empty()) Visit(function.body);
  Outcome outcome;
  for (uint32_t i = 0; i < function.params.size() && obstacle_.empty(); ++i) {
    if (function.param_buffers[i] == nullptr) continue;
    const LoopMemory& memory = *memories_.Find(function.param_buffers[i]->data);
    Dims places;
    for (size_t k = 0; k < memory.dims.size(); ++k) places.push_back(indices_.Index(k, memory.dims[k]));
    std::string reason;
    const IndexSpace::NonEmpty scope(indices_, memory.dims);
    const Term* element = memories_.ElementAt(memory, places, reason);
    if (element == nullptr) Fail(std::move(reason));
    if (element != nullptr && LoopMemories::UsesUnknown(element)) Fail("it uses memory that has no value");
    if (element != nullptr) outcome.buffers.push_back(terms_.Lambda(memory.dims, element));
    outcome.shapes.push_back(memory.dims);
  }
  for (const tir::Var* data : declared_) CheckValues(*memories_.Find(data));
  if (terms_.is_full()) Fail("its terms are too long");
  outcome.failures = std::move(failures_);
  outcome.obstacle = std::move(obstacle_);
  return outcome;
}

// What is computed from elements without a value fails in a run. Elements that are not written may have none.
void LoopEncoder::CheckValues(const LoopMemory& memory) {
  Dims places;
  for (size_t k = 0; k < memory.dims.size(); ++k) places.push_back(indices_.Index(k, memory.dims[k]));
  const IndexSpace::NonEmpty scope(indices_, memory.dims);
  std::string reason;
  const Term* element = memory.writes.empty() ? nullptr : memories_.ElementAt(memory, places, reason);
  while (element && element->kind == TermKind::kSelect) {
    const bool is_first_known = !LoopMemories::UsesUnknown(element->args[0]);
    if (!is_first_known && LoopMemories::UsesUnknown(element->args[1])) break;
    element = element->args[is_first_known ? 1 : 0];
  }
  const bool is_unwritten = element && element->kind == TermKind::kRead && element->args[0] == memory.base;
  if (element && !is_unwritten && LoopMemories::UsesUnknown(element))
    MayFail("it uses memory without a value", element, {});
}

void LoopEncoder::BindParams(const PrimFunc& function) {
  for (uint32_t i = 0; i < function.params.size(); ++i) {
    const tir::Var* param = function.params[i];
    const tir::Buffer* buffer = function.param_buffers[i];
    // Not all unsigned integers of 64 bits are indices.
    const bool is_value = param->dtype.is_floating() || param->dtype == DataType::UInt(64);
    if (buffer == nullptr && param->dtype.is_integer() && !is_value) {
      // The symbols are not negative, and what is subtracted here makes the difference any number.
      const PrimExpr* symbol = indices_.make().Sub(symbols_.Get(i, SIZE_MAX), symbols_.Get(i, SIZE_MAX - 1));
      const bool is_bool = param->dtype.is_bool();
      ints_[param] = is_bool ? indices_.make().Binary(NodeKind::kNE, symbol, indices_.Int(0)) : symbol;
    } else if (buffer == nullptr && is_value) {
      values_[param] = terms_.Read(terms_.Make({.kind = TermKind::kParam, .dtype = param->dtype, .number = i}), {});
    } else if (buffer == nullptr) {
      Fail("a parameter is a pointer");
    }
    for (uint32_t k = 0; buffer && k < buffer->shape.size(); ++k) {
      const auto* size = As<tir::Var>(buffer->shape[k]);
      if (size && !ints_.contains(size)) ints_[size] = symbols_.Get(i, k);
    }
  }
  for (uint32_t i = 0; i < function.params.size() && obstacle_.empty(); ++i) {
    const tir::Buffer* buffer = function.param_buffers[i];
    if (buffer == nullptr) continue;
    if (!buffer->strides.empty() || (buffer->elem_offset && !arith::IsInt(buffer->elem_offset, 0)))
      Fail("a parameter has strides or an offset");
    Dims dims;
    for (const PrimExpr* dim : buffer->shape) {
      const PrimExpr* index = Index(dim);
      if (index == nullptr) Fail("a size is not known");
      dims.push_back(index ? indices_.Dimension(index) : indices_.Int(0));
    }
    if (!IsElementType(buffer->dtype)) Fail("a parameter of an unknown dtype");
    const Term* base = terms_.Make({.kind = TermKind::kParam, .dtype = buffer->dtype, .number = i});
    memories_.Add(buffer->data, {.dims = std::move(dims), .base = base});
  }
}

// ---- Statements

void LoopEncoder::Visit(const tir::Stmt* stmt) {
  if (!obstacle_.empty()) return;
  if (terms_.is_full()) {
    Fail("its terms are too long");
    return;
  }
  WithStack([&] {
    switch (stmt->kind) {
      case NodeKind::kSeqStmt:
        for (const tir::Stmt* part : To<tir::SeqStmt>(stmt)->seq) Visit(part);
        return;
      case NodeKind::kFor: return VisitFor(*To<tir::For>(stmt));
      case NodeKind::kAttrStmt: return VisitAttr(*To<tir::AttrStmt>(stmt));
      case NodeKind::kBlockRealize: return VisitBlock(*To<tir::BlockRealize>(stmt));
      case NodeKind::kIfThenElse: return VisitIf(*To<tir::IfThenElse>(stmt));
      case NodeKind::kLetStmt: return VisitLet(*To<tir::LetStmt>(stmt));
      case NodeKind::kBufferStore: return VisitStore(*To<tir::BufferStore>(stmt));
      case NodeKind::kDeclBuffer: return Visit(To<tir::DeclBuffer>(stmt)->body);
      case NodeKind::kAllocate: {
        const auto* allocate = To<tir::Allocate>(stmt);
        Declare(allocate->buffer_var, allocate->dtype, allocate->extents);
        return Visit(allocate->body);
      }
      case NodeKind::kEvaluate: {
        const PrimExpr* value = To<tir::Evaluate>(stmt)->value;
        const auto* call = As<tir::Call>(value);
        if (call && IsOp(call->op, op::kTirTvmStorageSync)) return;
        // What may fail does so where the value is not used.
        Encode(value);
        if (call) Fail("it has calls with effects");
        return;
      }
      default: Fail(fmt::format("it has statements of the kind {}", NodeKindName(stmt->kind)));
    }
  });
}

void LoopEncoder::Declare(const tir::Var* data, DataType dtype, List<const PrimExpr*> shape) {
  if (shared_.contains(data)) return;
  Dims dims;
  for (const PrimExpr* dim : shape) dims.push_back(Index(dim));
  if (std::ranges::find(dims, nullptr) != dims.end() || !IsElementType(ScalarType(dtype))) {
    Fail("it allocates memory of unknown size or dtype");
    return;
  }
  if (dtype.lanes != 1 && !dims.empty()) dims.back() = indices_.make().Mul(dims.back(), indices_.Int(dtype.lanes));
  for (const PrimExpr*& dim : dims) dim = indices_.Dimension(dim);
  memories_.Add(data, {.dims = std::move(dims), .base = memories_.Unknown(ScalarType(dtype))});
  if (open_loop_ == 0) declared_.push_back(data);
}

void LoopEncoder::VisitLoop(const LoopMemories::Range& loop, const std::vector<const tir::Var*>& written,
                            FunctionRef<void()> body) {
  if (const int64_t* extent = arith::AsInt(loop.extent); extent && *extent <= 0) return;
  if (arith::IsInt(loop.var, 0)) return body();
  LoopMemories::Frame frame = memories_.Enter(written);
  const PrimExpr* outside = runs_;
  const PrimExpr* has_iterations = indices_.make().Binary(NodeKind::kGT, loop.extent, indices_.Int(0));
  if (indices_.Decide(has_iterations) != true) runs_ = indices_.And(runs_, has_iterations);
  const size_t loop_outside = std::exchange(open_loop_, num_loops_);
  {
    const IndexSpace::NonEmpty scope(indices_, {loop.extent});
    body();
  }
  open_loop_ = loop_outside;
  runs_ = outside;
  if (!obstacle_.empty()) return;
  std::string conflict = memories_.Leave(std::move(frame), loop);
  if (!conflict.empty()) Fail(std::move(conflict));
}

// Memory that threads share is there before them.
void LoopEncoder::DeclareShared(const tir::IterVar* axis, const tir::Stmt* body) {
  if (axis == nullptr || !axis->thread_tag.starts_with("threadIdx")) return;
  const auto declare = [&](const tir::Var* data, DataType dtype, List<const PrimExpr*> shape) {
    const std::string_view scope = data->pointer ? data->pointer->scope : std::string_view();
    if (!scope.starts_with("shared") && scope != "warp") return;
    Declare(data, dtype, shape);
    shared_.insert(data);
  };
  tir::PostOrderVisit(body, [&](const Node* node) {
    if (const auto* allocate = As<tir::Allocate>(node))
      declare(allocate->buffer_var, allocate->dtype, allocate->extents);
    const auto* block = As<tir::Block>(node);
    for (uint32_t i = 0; block && i < block->alloc_buffers.size(); ++i) {
      const tir::Buffer* buffer = block->alloc_buffers[i];
      declare(buffer->data, buffer->dtype, buffer->shape);
    }
  });
}

void LoopEncoder::VisitFor(const tir::For& loop) {
  const PrimExpr* min = Index(loop.min);
  const PrimExpr* extent = Index(loop.extent);
  if (min == nullptr || extent == nullptr || (loop.step && !arith::IsInt(loop.step, 1))) {
    Fail("the bounds of a loop are computed from elements");
    return;
  }
  const bool is_concurrent = loop.for_kind != tir::ForKind::kSerial && loop.for_kind != tir::ForKind::kUnrolled;
  extent = indices_.Simplify(extent);
  const PrimExpr* var = indices_.Index(kFirstLoop + num_loops_++, extent);
  DeclareShared(loop.thread_binding, loop.body);
  ints_[loop.loop_var] = indices_.Simplify(indices_.make().Add(min, var));
  const bool has_threads = loop.for_kind == tir::ForKind::kThreadBinding;
  VisitLoop({var, extent, is_concurrent, has_threads}, WrittenIn(loop.body), [&] { Visit(loop.body); });
}

void LoopEncoder::VisitAttr(const tir::AttrStmt& attr) {
  const tir::IterVar* axis = tir::ThreadAxisOf(attr);
  if (axis == nullptr && !IsHint(attr.attr_key)) {
    Fail(fmt::format("it has the attribute '{}'", attr.attr_key));
    return;
  }
  if (axis == nullptr || ints_.contains(axis->var)) return Visit(attr.body);
  const PrimExpr* extent = Index(attr.value);
  if (extent == nullptr) {
    Fail("the number of threads is computed from elements");
    return;
  }
  extent = indices_.Simplify(extent);
  const PrimExpr* var = indices_.Index(kFirstLoop + num_loops_++, extent);
  ints_[axis->var] = var;
  DeclareShared(axis, attr.body);
  VisitLoop({var, extent, true, true}, WrittenIn(attr.body), [&] { Visit(attr.body); });
  // The next kernel may have the same axis.
  ints_.erase(axis->var);
}

void LoopEncoder::VisitGuarded(const PrimExpr* condition, const tir::Stmt* body) {
  const auto holds = indices_.Decide(condition);
  if (holds == false) return;
  const PrimExpr* outside = guard_;
  if (!holds) guard_ = indices_.And(guard_, condition);
  Visit(body);
  guard_ = outside;
}

void LoopEncoder::VisitBlock(const tir::BlockRealize& realize) {
  const tir::Block& block = *realize.block;
  if (!block.match_buffers.empty()) {
    Fail("it has regions that are matched to buffers");
    return;
  }
  const PrimExpr* is_first = nullptr;
  for (uint32_t i = 0; i < block.iter_vars.size(); ++i) {
    const tir::IterVar* axis = block.iter_vars[i];
    const PrimExpr* value = Index(realize.iter_values[i]);
    const PrimExpr* min = axis->dom ? Index(axis->dom->min) : nullptr;
    if (value == nullptr || (axis->iter_type == tir::IterVarType::kCommReduce && min == nullptr)) {
      Fail("the binding of a block is computed from elements");
      return;
    }
    ints_[axis->var] = value = indices_.Simplify(value);
    if (axis->iter_type == tir::IterVarType::kCommReduce)
      is_first = indices_.And(is_first, indices_.make().Binary(NodeKind::kEQ, value, min));
  }
  for (const tir::Buffer* buffer : block.alloc_buffers) Declare(buffer->data, buffer->dtype, buffer->shape);
  const PrimExpr* predicate = Index(realize.predicate);
  if (predicate == nullptr) {
    Fail("the predicate of a block is computed from elements");
    return;
  }
  const PrimExpr* outside = guard_;
  if (const auto holds = indices_.Decide(predicate); holds != true) guard_ = indices_.And(guard_, predicate);
  if (block.init) VisitGuarded(is_first ? is_first : indices_.make().Bool(true), block.init);
  Visit(block.body);
  guard_ = outside;
}

void LoopEncoder::VisitIf(const tir::IfThenElse& branch) {
  if (const PrimExpr* condition = Index(branch.condition)) {
    VisitGuarded(condition, branch.then_case);
    if (branch.else_case) VisitGuarded(indices_.make().Not(condition), branch.else_case);
    return;
  }
  const Term* condition = Encode(branch.condition);
  conditions_.push_back(condition);
  Visit(branch.then_case);
  conditions_.back() = terms_.Apply(op::kLogicalNot, nullptr, {condition}, DataType::Bool());
  if (branch.else_case) Visit(branch.else_case);
  conditions_.pop_back();
}

void LoopEncoder::VisitLet(const tir::LetStmt& let) {
  if (const PrimExpr* index = Index(let.value)) {
    ints_[let.var] = indices_.Simplify(index);
  } else if (let.var->dtype.is_handle()) {
    Fail("it computes with pointers");
  } else {
    values_[let.var] = Encode(let.value);
    lets_[let.var] = {let.value, num_stores_, open_loop_};
  }
  Visit(let.body);
}

bool LoopEncoder::IsSameElement(const PrimExpr* expr, const tir::BufferStore& store) {
  const auto* load = As<tir::BufferLoad>(expr);
  if (load == nullptr || load->buffer->data != store.buffer->data || load->predicate ||
      load->buffer->dtype != store.buffer->dtype)
    return false;
  const LoopMemory& memory = *memories_.Find(store.buffer->data);
  const std::optional<Dims> a = Places(*load->buffer, load->indices, memory);
  const std::optional<Dims> b = Places(*store.buffer, store.indices, memory);
  return a && b && indices_.AreEqual(*a, *b);
}

std::pair<OpId, const PrimExpr*> LoopEncoder::FindUpdate(const tir::BufferStore& store) {
  const PrimExpr* value = store.value;
  if (const auto* let = Is<tir::Var>(value) ? lets_.Find(To<tir::Var>(value)) : nullptr) {
    // All that it was computed from is still the same. In a loop within its own one it is that of before all
    // iterations.
    bool is_same = let->loop == open_loop_;
    tir::PostOrderVisit(let->value, [&](const Node* node) {
      const auto* load = As<tir::BufferLoad>(node);
      const size_t* last = load ? last_stores_.Find(load->buffer->data) : nullptr;
      is_same = is_same && (last == nullptr || *last <= let->num_stores);
    });
    if (is_same) value = let->value;
  }
  const auto* binary = As<tir::BinaryExpr>(value);
  if (binary == nullptr || !conditions_.empty()) return {};
  OpId op{};
  switch (binary->kind) {
    case NodeKind::kAdd: op = op::kSum; break;
    case NodeKind::kMul: op = op::kProd; break;
    case NodeKind::kMax: op = op::kMax; break;
    case NodeKind::kMin: op = op::kMin; break;
    default: return {};
  }
  if (IsSameElement(binary->a, store)) return {op, binary->b};
  // The order of extrema counts where an element is NaN.
  const bool commutes = op == op::kSum || op == op::kProd || store.buffer->dtype.is_integer();
  if (commutes && IsSameElement(binary->b, store)) return {op, binary->a};
  return {};
}

void LoopEncoder::VisitStore(const tir::BufferStore& store) {
  const int64_t lanes = store.value->dtype.lanes;
  if (store.value->dtype.is_scalable() || store.predicate) {
    Fail("it has vectors of unknown length or with a predicate");
    return;
  }
  if (lanes == 1) return VisitLane(store);
  const PrimExpr* extent = indices_.Int(lanes);
  const PrimExpr* var = indices_.Index(kFirstLoop + num_loops_++, extent);
  lane_ = {var, static_cast<int>(lanes)};
  VisitLoop({var, extent, true}, {store.buffer->data}, [&] { VisitLane(store); });
  lane_ = {};
}

void LoopEncoder::VisitLane(const tir::BufferStore& store) {
  LoopMemory* memory = memories_.Find(store.buffer->data);
  if (memory == nullptr || memory->base->dtype != store.buffer->dtype) {
    Fail("it stores to memory that is declared with another dtype, or not at all");
    return;
  }
  const auto [op, operand] = FindUpdate(store);
  const Term* value = Encode(operand ? operand : store.value);
  std::optional<Dims> at = Places(*store.buffer, store.indices, *memory);
  if (!at || !obstacle_.empty()) {
    Fail("the index of a store is computed from elements");
    return;
  }
  CheckBounds(*at, memory->dims, "store");
  CheckView(*store.buffer, store.indices, *memory, "store");
  std::string reason;
  for (size_t i = conditions_.size(); i-- > 0;) {
    const Term* before = memories_.ElementAt(*memory, *at, reason);
    if (before == nullptr) {
      Fail(std::move(reason));
      return;
    }
    value = terms_.Apply(op::kWhere, nullptr, {conditions_[i], value, before}, value->dtype);
  }
  last_stores_[store.buffer->data] = ++num_stores_;
  memory->writes.push_back({.at = *std::move(at), .guard = guard_, .value = value, .op = op});
}

}  // namespace iropt::proof
