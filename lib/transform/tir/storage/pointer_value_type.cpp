#include "transform/tir/storage/pointer_value_type.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "iropt/arith/bounds.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

DataType Stored(DataType dtype) {
  return dtype.with_lanes(1) == DataType::Bool() ? DataType::Int(8, dtype.lanes) : dtype;
}

void Insert(std::vector<DataType>& set, DataType item) {
  if (std::ranges::find(set, item) == set.end()) set.push_back(item);
}

// The residue class of the index; the base is at least 0.
arith::ModularSet ModularOf(const PrimExpr* index) {
  return arith::BoundAnalyzer(/*sym_vars_nonnegative=*/false).Modular(index);
}

bool IsMultiple(const PrimExpr* index, int64_t of) {
  const arith::ModularSet set = ModularOf(index);
  return set.coeff % of == 0 && set.base % of == 0;
}

// base, base + 1, ... with a constant number of lanes; null if the index is something else.
const tir::Ramp* AsUnitRamp(const PrimExpr* index) {
  const auto* ramp = As<tir::Ramp>(index);
  return ramp && arith::IsInt(ramp->stride, 1) && arith::AsInt(ramp->lanes) ? ramp : nullptr;
}

// Memory that a pointer refers to, and the types of its accesses.
struct Memory {
  DataType elem_type;
  const PrimExpr* extent = nullptr;  // of the last dimension; null: unknown
  bool may_change = false;
  std::vector<DataType> elements = {};  // the types of what is accessed, without lanes
  std::vector<DataType> vectors = {};   // two at most of the types of vectors, which stand for all others
  int64_t period = 0;                   // positions of scalars that are read are equal modulo this; 0: constant

  // The type of elements that fits all accesses.
  DataType PreferredType() const {
    if (elements.size() != 1) return elem_type;
    int lanes = elem_type.lanes;
    if (lanes == 1 && vectors.size() == 1) {
      const int used = vectors[0].lanes;
      if (period % used != 0) return elem_type;
      if (!extent || IsMultiple(extent, used)) lanes = used;
    }
    return elements[0].with_lanes(lanes);
  }
};

using Memories = std::unordered_map<const tir::Var*, Memory>;

class AccessCollector : public tir::StmtExprVisitor {
 public:
  AccessCollector(const PrimFunc& func, const PointerRewrite& which) : which_(which) {
    for (size_t i = 0; i < func.params.size(); ++i) {
      const tir::Var* param = func.params[i];
      if (const tir::Buffer* buffer = func.param_buffers[i]) {
        // Callers pass booleans, which are stored as integers of 8 bits but are not such.
        Declare(buffer->data, buffer->dtype, buffer->shape.empty() ? nullptr : buffer->shape.back(),
                which.buffer_params && buffer->dtype.with_lanes(1) != DataType::Bool());
      } else if (param->pointer && !param->pointer->elem.is_void()) {
        Declare(param, param->pointer->elem, nullptr, which.pointer_params);
      }
    }
    VisitStmt(func.body);
  }

  Memories memories;

 protected:
  using StmtExprVisitor::VisitExpr;

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Access(load->dtype, *load->buffer, load->indices, /*is_load=*/true);
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    Access(store->value->dtype, *store->buffer, store->indices, /*is_load=*/false);
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirTvmAccessPtr) && call->args.size() == 5) {
      const std::array<const PrimExpr*, 1> index = {call->args[2]};
      if (const auto* pointer = As<tir::Var>(call->args[1])) Access(call->args[0]->dtype, pointer, index, false);
    } else if (IsOp(call->op, op::kTirAddressOf) && call->args.size() == 1) {
      if (const auto* load = As<tir::BufferLoad>(call->args[0]))
        Access(load->dtype, load->buffer->data, load->indices, /*is_load=*/false);
    }
    StmtExprVisitor::VisitCall(call);
  }
  void VisitAllocate(const tir::Allocate* allocate) override {
    const PrimExpr* extent = allocate->extents.empty() ? nullptr : allocate->extents.back();
    Declare(allocate->buffer_var, allocate->dtype, extent, which_.allocations);
    StmtExprVisitor::VisitAllocate(allocate);
  }
  void VisitAllocateConst(const tir::AllocateConst* allocate) override {
    const PrimExpr* extent = allocate->extents.empty() ? nullptr : allocate->extents.back();
    Declare(allocate->buffer_var, allocate->dtype, extent, which_.constants);
    StmtExprVisitor::VisitAllocateConst(allocate);
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    DeclareLet(let->var);
    StmtExprVisitor::VisitLetStmt(let);
  }
  void VisitLet(const tir::Let* let) override {
    DeclareLet(let->var);
    StmtExprVisitor::VisitLet(let);
  }

 private:
  void DeclareLet(const tir::Var* var) {
    if (var->dtype.is_handle() && var->pointer) Declare(var, var->pointer->elem, nullptr, which_.lets);
  }
  void Declare(const tir::Var* pointer, DataType dtype, const PrimExpr* extent, bool may_change) {
    memories[pointer] = {.elem_type = Stored(dtype), .extent = extent, .may_change = may_change};
  }

  void Access(DataType value, const tir::Buffer& buffer, std::span<const PrimExpr* const> indices, bool is_load) {
    Access(value, buffer.data, indices, is_load);
    // Offsets and strides count elements.
    const auto found = memories.find(buffer.data);
    if (found == memories.end() || (buffer.strides.empty() && arith::IsInt(buffer.elem_offset, 0))) return;
    found->second.may_change = false;
  }
  void Access(DataType value, const tir::Var* pointer, std::span<const PrimExpr* const> indices, bool is_load) {
    const auto found = memories.find(pointer);
    if (found == memories.end() || value.is_scalable()) return;
    Memory& memory = found->second;
    value = Stored(value);
    const PrimExpr* last = indices.empty() ? nullptr : indices.back();
    if ((last ? last->dtype.lanes : 1) * memory.elem_type.lanes != value.lanes)
      memory.elem_type = memory.elem_type.with_lanes(1);
    int lanes = memory.elem_type.lanes;
    if (const tir::Ramp* ramp = last ? AsUnitRamp(last) : nullptr) {
      const int64_t used = *arith::AsInt(ramp->lanes);
      if (IsMultiple(ramp->base, used)) lanes = static_cast<int>(used);
    }
    Insert(memory.elements, value.with_lanes(1));
    if (which_.scalar_reads && is_load && last && last->dtype.is_scalar()) {
      memory.period = std::gcd(memory.period, ModularOf(last).coeff);
      return;
    }
    if (memory.vectors.size() < 2) Insert(memory.vectors, value.with_lanes(lanes));
  }

  const PointerRewrite& which_;
};

class PointerRewriter : public tir::StmtExprMutator {
 public:
  PointerRewriter(const Memories& memories, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kRewriteBuffers), make_(workspace) {
    // Each pointer becomes another one by itself: the order does not matter.
    for (const auto& [pointer, memory] : memories) {
      const DataType preferred = memory.PreferredType();
      if (!memory.may_change || preferred == memory.elem_type) continue;
      changes_[pointer] = {.elem_type = preferred, .factor = preferred.lanes / memory.elem_type.lanes};
    }
  }

  bool changes() const { return !changes_.empty(); }

 protected:
  const tir::Var* VisitVarDef(const tir::Var* var) override { return Pointer(var); }
  const PrimExpr* VisitVar(const tir::Var* var) override { return Pointer(var); }
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return Vectors(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return Vectors(buffer); }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    const Change* change = Find(load->buffer->data);
    if (!change) return visited;
    tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
    const PrimExpr* last = copy.indices.back();
    copy.flags = 0;
    copy.indices = VectorIndices(copy.indices, *change);
    copy.dtype = copy.buffer->dtype.with_lanes(copy.buffer->dtype.lanes * copy.indices.back()->dtype.lanes);
    const PrimExpr* vector = workspace().New<tir::BufferLoad>(copy);
    if (!last->dtype.is_scalar() || change->factor <= 1) return vector;
    const int64_t position = ModularOf(last).base % change->factor;
    const std::array<const PrimExpr*, 1> vectors = {vector};
    const std::array<const PrimExpr*, 1> positions = {make_.Int(position, DataType::Int(32))};
    return workspace().New<tir::Shuffle>(copy.dtype.with_lanes(1), make_.Operands(vectors), make_.Operands(positions));
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    const Change* change = Find(store->buffer->data);
    if (!change) return visited;
    tir::BufferStore copy = *To<tir::BufferStore>(visited);
    copy.indices = VectorIndices(copy.indices, *change);
    return workspace().New<tir::BufferStore>(copy);
  }

  const PrimExpr* VisitCall(const tir::Call* call) override {
    const auto* pointer =
        IsOp(call->op, op::kTirTvmAccessPtr) && call->args.size() == 5 ? As<tir::Var>(call->args[1]) : nullptr;
    const Change* change = pointer ? Find(pointer) : nullptr;
    if (!change) return StmtExprMutator::VisitCall(call);
    const auto divide = [&](const PrimExpr* e) { return DivideBy(VisitExpr(e), change->factor); };
    const auto* type =
        workspace().New<tir::Call>(change->elem_type, GetOp(op::kTirTypeAnnotation), List<const PrimExpr*>());
    const std::array<const PrimExpr*, 5> args = {type, Pointer(pointer), divide(call->args[2]), divide(call->args[3]),
                                                 VisitExpr(call->args[4])};
    return workspace().New<tir::Call>(change->elem_type, call->op, make_.Operands(args));
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAllocate(allocate);
    const Change* change = Find(allocate->buffer_var);
    if (!change) return visited;
    tir::Allocate copy = *To<tir::Allocate>(visited);
    copy.dtype = change->elem_type;
    copy.extents = DivideLast(copy.extents, change->factor);
    return workspace().New<tir::Allocate>(copy);
  }

  const tir::Stmt* VisitAllocateConst(const tir::AllocateConst* allocate) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAllocateConst(allocate);
    const Change* change = Find(allocate->buffer_var);
    if (!change) return visited;
    tir::AllocateConst copy = *To<tir::AllocateConst>(visited);
    copy.dtype = change->elem_type;
    copy.extents = DivideLast(copy.extents, change->factor);
    return workspace().New<tir::AllocateConst>(copy);
  }

 private:
  struct Change {
    DataType elem_type;
    int factor = 1;  // old elements in a new one
    const tir::Var* pointer = nullptr;
  };

  const Change* Find(const tir::Var* pointer) const { return changes_.Find(pointer); }

  const tir::Var* Pointer(const tir::Var* var) {
    Change* found = changes_.Find(var);
    if (!found) return var;
    Change& change = *found;
    if (!change.pointer) {
      const std::string_view scope = var->pointer ? var->pointer->scope : std::string_view();
      change.pointer = workspace().NewPrimVar(var->name, var->dtype, tir::PointerInfo::Get(change.elem_type, scope));
    }
    return change.pointer;
  }

  const tir::Buffer* Vectors(const tir::Buffer* buffer) {
    const Change* change = Find(buffer->data);
    const tir::Buffer* rewritten = RewriteBuffer(buffer);
    if (!change || rewritten->dtype == change->elem_type) return rewritten;
    tir::Buffer copy = *rewritten;
    copy.dtype = change->elem_type;
    copy.shape = DivideLast(copy.shape, change->factor);
    copy.layout = nullptr;
    copy.id = workspace().NextVarId();
    const auto* vectors = workspace().New<tir::Buffer>(copy);
    Remap(buffer, vectors);
    return vectors;
  }

  const PrimExpr* DivideBy(const PrimExpr* value, int factor) const {
    return make_.TruncDiv(value, make_.Const(factor, value->dtype));
  }

  List<const PrimExpr*> DivideLast(List<const PrimExpr*> exprs, int factor) const {
    std::vector<const PrimExpr*> result(exprs.begin(), exprs.end());
    if (!result.empty()) result.back() = DivideBy(result.back(), factor);
    return make_.Operands(result);
  }

  List<const PrimExpr*> VectorIndices(List<const PrimExpr*> indices, const Change& change) const {
    std::vector<const PrimExpr*> result(indices.begin(), indices.end());
    const PrimExpr* last = result.back();
    if (const tir::Ramp* ramp = AsUnitRamp(last)) {
      const auto lanes = static_cast<int>(*arith::AsInt(ramp->lanes));
      const PrimExpr* index = DivideBy(ramp->base, lanes);
      if (lanes != change.factor) {
        const int vectors = lanes / change.factor;
        index = make_.Ramp(make_.Mul(index, make_.Const(vectors, index->dtype)), ramp->stride,
                           make_.Int(vectors, DataType::Int(32)));
      }
      result.back() = index;
    } else if (last->dtype.is_scalar() && change.factor > 1) {
      result.back() = DivideBy(last, change.factor);
    }
    return make_.Operands(result);
  }

  const arith::PrimBuilder make_;
  LookupMap<const tir::Var*, Change> changes_;
};

}  // namespace

const PrimFunc* RewritePointerValueTypes(const PrimFunc* func, const PointerRewrite& which, Workspace& workspace) {
  const AccessCollector collector(*func, which);
  PointerRewriter rewriter(collector.memories, workspace);
  return rewriter.changes() ? rewriter.VisitPrimFunc(func) : func;
}

}  // namespace iropt
