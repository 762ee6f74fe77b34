// tir.StorageRewrite: lets allocations share memory if their uses do not overlap, and moves them to the start of the
// function, or of the launch of threads or parallel loop that they are in.
//
//   A = T.allocate([16], "float32", "global")         A = T.allocate([16], "float32", "global")
//   B = T.allocate([16], "float32", "global")         C = T.allocate([16], "float32", "global")
//   C = T.allocate([16], "float32", "global")         for i in range(16):
//   for i in range(16):                                   A[i] = X[i] + T.float32(1)
//       A[i] = X[i] + T.float32(1)              -->   for i in range(16):
//   for i in range(16):                                   A_1[i] = A[i] * T.float32(2)
//       B[i] = A[i] * T.float32(2)                    for i in range(16):
//   for i in range(16):                                   C[i] = A_1[15 - i]
//       C[i] = B[15 - i]
//
// A result may take over the memory of an operand that is used for the last time. Special memory of one kind
// ("global:tag") becomes one allocation. Small arrays and those of one thread stay separate. Memory that is only
// accessed as vectors becomes memory of vectors. Allocations that are not used go away; those whose size is
// computed in the function stay where they are. Refuses vectorized loops, see tir.VectorizeLoop. O(n log n) in the
// number of nodes.
//
// Source: TVM 0.18's pass of this name. Unlike it, a result does not take over memory in a loop that computes it again
// and again.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/tir.merge_static_smem.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/storage/access_sequence.h"
#include "transform/tir/storage/pointer_value_type.h"
#include "transform/tir/storage/storage_plan.h"
#include "transform/tir/util/constant_conditions.h"

namespace iropt {

namespace {

bool SameAllocation(const tir::Allocate& a, const tir::Allocate& b) {
  return a.dtype == b.dtype && DeepEqual(a.extents, b.extents);
}

class StorageRewriter : public tir::StmtExprMutator {
 public:
  StorageRewriter(const AllocationPlan& plan, const AccessSequence& sequence, Workspace& workspace,
                  DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        diagnostics_(diagnostics),
        plan_(plan),
        sequence_(sequence),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {
    MakeAllocations();
  }

  const tir::Stmt* Rewrite(const tir::Stmt* body) { return Attach(nullptr, VisitStmt(body)); }

 protected:
  const PrimExpr* VisitVar(const tir::Var* var) override { return Pointer(var); }
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return MoveBuffer(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return MoveBuffer(buffer); }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    if (sequence_.fixed.contains(allocate)) return StmtExprMutator::VisitAllocate(allocate);
    if (!PlaceOf(allocate->buffer_var)) unused_.insert(allocate->buffer_var);
    return VisitStmt(allocate->body);
  }

  // The own pointer of a buffer that is declared over an allocation becomes that of the allocation.
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    const tir::Var* source = SourceOfPointer(*let);
    const Place* place = source ? PlaceOf(source) : nullptr;
    if (source && unused_.contains(source)) {
      unused_.insert(let->var);
      return VisitStmt(let->body);
    }
    if (!place) return StmtExprMutator::VisitLetStmt(let);
    places_of_aliases_[let->var] = *place;
    return VisitStmt(let->body);
  }

  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    const bool has_own_pointer = (decl->buffer->data->flags & tir::Var::kBufferPointer) != 0;
    if (hoisted_.contains(decl->buffer) || unused_.contains(decl->buffer->data) ||
        (!has_own_pointer && !sequence_.accessed.contains(decl->buffer)))
      return VisitStmt(decl->body);
    return StmtExprMutator::VisitDeclBuffer(decl);
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    if (!IsShifted(*store->buffer)) return visited;
    tir::BufferStore copy = *To<tir::BufferStore>(visited);
    copy.indices = MoveIndices(copy.indices, *store->buffer);
    return workspace().New<tir::BufferStore>(copy);
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    if (!IsShifted(*load->buffer)) return visited;
    tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
    copy.flags = 0;
    copy.indices = MoveIndices(copy.indices, *load->buffer);
    return workspace().New<tir::BufferLoad>(copy);
  }

  const PrimExpr* VisitCall(const tir::Call* call) override {
    const bool is_access = IsOp(call->op, op::kTirTvmAccessPtr) && call->args.size() == 5;
    const auto* pointer = is_access ? As<tir::Var>(call->args[1]) : nullptr;
    const PrimExpr* visited = StmtExprMutator::VisitCall(call);
    const uint64_t offset = pointer ? OffsetOf(pointer) : 0;
    if (offset == 0) return visited;
    const auto* access = To<tir::Call>(visited);
    std::vector<const PrimExpr*> args(access->args.begin(), access->args.end());
    const DataType dtype = args[0]->dtype;
    args[2] = Shift(args[2], offset, BitsOf(dtype));
    return workspace().New<tir::Call>(access->dtype, access->op, workspace().Copy(args));
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAttrStmt(stmt);
    if (!attached_.contains(stmt)) return visited;
    tir::AttrStmt copy = *To<tir::AttrStmt>(visited);
    copy.body = Attach(stmt, copy.body);
    return workspace().New<tir::AttrStmt>(copy);
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    if (!attached_.contains(loop)) return visited;
    tir::For copy = *To<tir::For>(visited);
    copy.body = Attach(loop, copy.body);
    return workspace().New<tir::For>(copy);
  }

 private:
  // An allocation without its body, and perhaps the declaration of its buffer.
  struct NewAllocation {
    const tir::Allocate* allocate;
    const tir::Buffer* declared = nullptr;
  };
  // Place of a storage entry in the new allocations.
  struct Place {
    const tir::Var* pointer = nullptr;
    uint64_t offset_bits = 0;  // in special memory
  };

  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  void MakeAllocations() {
    // Special memory, by where it is allocated and its kind.
    using Special = std::map<std::pair<std::string_view, std::string_view>, std::vector<const StorageEntry*>>;
    LookupMap<const tir::Stmt*, Special> special;
    const auto alike = [&](const StorageEntry& entry) -> std::vector<const StorageEntry*>& {
      return special[entry.attach_scope][{entry.scope.base, entry.scope.tag}];
    };
    for (const StorageEntry& entry : plan_.entries) {
      if (entry.is_special()) alike(entry).push_back(&entry);
    }
    // In the order of the plan, so that new nodes are made in the same order in every run.
    for (const StorageEntry& entry : plan_.entries) {
      if (places_.contains(&entry)) continue;
      std::vector<const StorageEntry*> parts = {&entry};
      if (entry.is_special()) parts = alike(entry);
      places_[&entry] = {.pointer = entry.allocs[0]->buffer_var};
      attached_[entry.attach_scope].push_back(parts.size() > 1 ? MakeSpecial(parts) : MakeShared(entry));
    }
  }

  // One allocation for all allocations of the entry.
  NewAllocation MakeShared(const StorageEntry& entry) {
    const tir::Allocate& first = *entry.allocs[0];
    DataType dtype = first.dtype;
    for (const tir::Allocate* alloc : entry.allocs) {
      if (alloc->dtype.lanes > dtype.lanes) dtype = alloc->dtype;
    }
    if (std::ranges::all_of(entry.allocs, [&](const tir::Allocate* a) { return SameAllocation(first, *a); })) {
      NewAllocation made{.allocate = NewAllocate(first.buffer_var, dtype, first.extents, first.condition)};
      if (const auto* decl = As<tir::DeclBuffer>(first.body); decl && decl->buffer->data == first.buffer_var) {
        made.declared = MoveBuffer(decl->buffer);
        hoisted_.insert(decl->buffer);
      }
      return made;
    }
    const PrimExpr* bits = nullptr;
    for (const tir::Allocate* alloc : entry.allocs) {
      const PrimExpr* size = SizeInBits(*alloc);
      bits = bits ? make().Max(bits, size) : size;
    }
    const PrimExpr* width = make().Const(static_cast<int64_t>(dtype.bits) * dtype.lanes, bits->dtype);
    const PrimExpr* rest = make().FloorMod(bits, width);
    const PrimExpr* count = make().FloorDiv(bits, width);
    if (!analyzer_.CanProveEqual(rest, make().Const(0, rest->dtype)))
      count = make().Add(count, make().Const(1, DataType::Int(32)));
    return Merged(first.buffer_var, dtype, analyzer_.Simplify(count));
  }

  const PrimExpr* SizeInBits(const tir::Allocate& alloc) {
    const int64_t width = static_cast<int64_t>(alloc.dtype.bits) * alloc.dtype.lanes;
    const PrimExpr* size = alloc.extents[0];
    for (uint32_t i = 1; i < alloc.extents.size(); ++i) size = make().Mul(size, alloc.extents[i]);
    const int64_t* value = arith::AsInt(size);
    if (value && *value > std::numeric_limits<int32_t>::max() / width) size = make().Int(*value);
    return make().Mul(size, make().Const(width, size->dtype));
  }

  // One allocation for several entries of special memory, one after the other.
  NewAllocation MakeSpecial(const std::vector<const StorageEntry*>& parts) {
    const StorageEntry& first = *parts[0];
    const tir::Allocate& alloc = *first.allocs[0];
    // Offsets are whole elements of each of them.
    uint64_t align = 32;
    for (const StorageEntry* part : parts) {
      for (const tir::Allocate* a : part->allocs) align = std::lcm(align, BitsOf(a->dtype));
    }
    uint64_t total = 0;
    for (const StorageEntry* part : parts) {
      if (part->const_nbits == 0) {
        diagnostics_.Error(
            Location(*part->allocs[0]), "pass-failed",
            fmt::format("the size of '{}' in special memory must be constant", part->allocs[0]->buffer_var->name));
      }
      places_[part] = {.pointer = alloc.buffer_var, .offset_bits = total};
      total += (part->const_nbits + align - 1) / align * align;
    }
    const uint64_t width = BitsOf(first.elem_type);
    const auto count = static_cast<int64_t>((total + width - 1) / width);
    return Merged(alloc.buffer_var, first.elem_type, make().Const(count, alloc.extents[0]->dtype));
  }

  // Memory for several buffers. Since TVM 0.24 it is a buffer itself.
  NewAllocation Merged(const tir::Var* pointer, DataType dtype, const PrimExpr* count) {
    NewAllocation made = {.allocate =
                              NewAllocate(pointer, dtype, workspace().Copy(std::vector{count}), True(workspace()))};
    if (workspace().version() >= TextVersion::kV0_24) {
      const tir::BufferSpec spec = {.shape = {count}, .dtype = dtype, .data = pointer};
      made.declared = tir::MakeBuffer(workspace(), spec, pointer->name);
    }
    return made;
  }

  const tir::Allocate* NewAllocate(const tir::Var* pointer, DataType dtype, List<const PrimExpr*> extents,
                                   const PrimExpr* condition) {
    return workspace().New<tir::Allocate>(pointer, dtype, extents, condition, DictAttr::Empty(), nullptr);
  }

  // The body with the allocations of the scope around it.
  const tir::Stmt* Attach(const tir::Stmt* scope, const tir::Stmt* body) {
    const auto* found = attached_.Find(scope);
    if (!found) return body;
    for (auto it = found->rbegin(); it != found->rend(); ++it) {
      if (it->declared) body = workspace().New<tir::DeclBuffer>(it->declared, body);
      tir::Allocate copy = *it->allocate;
      copy.body = body;
      body = workspace().New<tir::Allocate>(copy);
    }
    return body;
  }

  const Place* PlaceOf(const tir::Var* pointer) const {
    if (const auto* alias = places_of_aliases_.Find(pointer)) return alias;
    const auto* entry = plan_.entry_of.Find(pointer);
    if (!entry) return nullptr;
    return places_.Find(*entry);
  }
  const tir::Var* Pointer(const tir::Var* pointer) const {
    const Place* place = PlaceOf(pointer);
    return place ? place->pointer : pointer;
  }
  uint64_t OffsetOf(const tir::Var* pointer) const {
    const Place* place = PlaceOf(pointer);
    return place ? place->offset_bits : 0;
  }

  // Returns whether the indices count from the start of memory that the buffer shares with others. Other buffers than
  // those of one dimension get an offset.
  bool IsShifted(const tir::Buffer& buffer) const {
    return OffsetOf(buffer.data) != 0 && buffer.shape.size() == 1 && buffer.strides.empty();
  }

  // The buffer in the new memory, with its name.
  const tir::Buffer* MoveBuffer(const tir::Buffer* buffer) {
    if (const tir::Buffer* known = RemapOf(buffer)) return known;
    const tir::Buffer* rewritten = RewriteBuffer(buffer);
    const Place* place = PlaceOf(buffer->data);
    if (!place || (rewritten->name == place->pointer->name && place->offset_bits == 0)) return rewritten;
    tir::Buffer copy = *rewritten;
    copy.name = place->pointer->name;
    copy.layout = nullptr;
    if (IsShifted(*buffer)) {
      copy.shape = MoveIndices(copy.shape, *buffer);
    } else if (place->offset_bits != 0) {
      copy.elem_offset = Shift(copy.elem_offset, place->offset_bits, BitsOf(buffer->dtype));
    }
    copy.id = workspace().NextVarId();
    const auto* moved = workspace().New<tir::Buffer>(copy);
    Remap(buffer, moved);
    return moved;
  }

  List<const PrimExpr*> MoveIndices(List<const PrimExpr*> indices, const tir::Buffer& buffer) {
    std::vector<const PrimExpr*> moved(indices.begin(), indices.end());
    moved.back() = Shift(moved.back(), OffsetOf(buffer.data), BitsOf(buffer.dtype));
    return workspace().Copy(moved);
  }
  const PrimExpr* Shift(const PrimExpr* index, uint64_t offset_bits, uint64_t width) const {
    const auto elements = static_cast<int64_t>(offset_bits / width);
    return make().Add(make().Const(elements, index->dtype), index);
  }

  DiagnosticEngine& diagnostics_;
  const AllocationPlan& plan_;
  const AccessSequence& sequence_;
  arith::Analyzer analyzer_;
  LookupMap<const StorageEntry*, Place> places_;
  LookupMap<const tir::Var*, Place> places_of_aliases_;
  LookupMap<const tir::Stmt*, std::vector<NewAllocation>> attached_;
  LookupSet<const tir::Var*> unused_;  // pointers to allocations that nothing accesses
  LookupSet<const tir::Buffer*> hoisted_;
};

std::string_view TargetKind(const PrimFunc& func) {
  const auto* target = As<TargetAttr>(func.attrs->Find(attr::kTarget));
  const auto* kind = target ? As<StrAttr>(target->config->Find("kind")) : nullptr;
  return kind ? kind->value : std::string_view();
}

const PrimFunc* RewriteStorage(const PrimFunc* func, bool reuse, Workspace& workspace, DiagnosticEngine& diagnostics) {
  const std::string_view target = TargetKind(*func);
  const AccessSequence sequence = FindAccesses(func->body, diagnostics);
  const AllocationPlan plan =
      PlanStorage(sequence, {.reuse = reuse, .same_dtype_only = target == "vulkan" || target == "webgpu"});
  StorageRewriter rewriter(plan, sequence, workspace, diagnostics);
  func = WithBody(func, rewriter.Rewrite(func->body), workspace);
  const PointerRewrite which = {.buffer_params = false,
                                .pointer_params = false,
                                .allocations = true,
                                .constants = false,
                                .lets = true,
                                .scalar_reads = false};
  return RewritePointerValueTypes(func, which, workspace);
}

}  // namespace

Pass CreateStorageRewrite(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    const bool merge = context.context().Config(config::tir::merge_static_smem);
    return Result<const PrimFunc*>(RewriteStorage(func, !merge, context.workspace(), context.diagnostics()));
  });
}

}  // namespace iropt
