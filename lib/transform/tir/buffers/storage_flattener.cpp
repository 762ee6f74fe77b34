#include "transform/tir/buffers/storage_flattener.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/buffer_layout.h"
#include "transform/tir/util/storage_align.h"

namespace iropt {

namespace {

// The alignment of small allocations is at most their size in bytes.
int32_t AlignmentOf(DataType dtype, std::span<const PrimExpr* const> shape) {
  int64_t bytes = dtype.bits * int64_t{dtype.lanes} / 8;
  for (const PrimExpr* dim : shape) {
    const int64_t* size = arith::AsInt(dim);
    if (!size || *size == 0) return tir::kAllocAlignment;
    bytes = std::min<int64_t>(bytes * std::min<int64_t>(*size, tir::kAllocAlignment), tir::kAllocAlignment);
  }
  int32_t align = tir::kAllocAlignment;
  while (align > bytes && align > 1) align /= 2;
  return align;
}

// The memory that the threads of an axis share by default.
std::string_view ScopeInside(std::string_view thread_tag) {
  return thread_tag.starts_with("blockIdx") ? "shared" : "local";
}

class StorageFlattener : public tir::StmtExprMutator {
 public:
  StorageFlattener(const PrimFunc& func, const StorageFlattenOptions& options, Workspace& workspace,
                   DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        offset_analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        cache_line_size_(options.cache_line_size),
        create_bounds_(options.create_bound_attribute) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) params_.insert(buffer);
    }
  }

 protected:
  // ---- Definitions

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    diagnostics_.Error(Location(*block), "pass-failed",
                       "a function of the older scheduler (from_legacy_te_schedule) has no blocks");
    return block;
  }

  const tir::Stmt* VisitBufferRealize(const tir::BufferRealize* realize) override {
    if (params_.contains(realize->buffer)) return CheckRealizedParam(*realize);
    const tir::Buffer* whole = RealizedBuffer(*realize);
    std::vector<const PrimExpr*> mins;
    for (const tir::Range* range : realize->bounds) mins.push_back(VisitExpr(range->min));
    const tir::Buffer* flat = FlatBuffer(*whole);
    entries_[realize->buffer] = {whole, flat, std::move(mins)};
    const tir::Stmt* body = VisitStmt(realize->body);
    entries_[realize->buffer].is_open = false;
    // Inside of the allocation, which defines the pointer.
    if (create_bounds_ && HasBounds(*whole)) body = WithBound(*whole, whole->dtype, body);
    const PrimExpr* always = make().Const(1, DataType::Make(TypeCode::kUInt, 1, flat->dtype.lanes));
    return workspace().New<tir::Allocate>(flat->data, flat->dtype, flat->shape, always, DictAttr::Empty(), body);
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAllocate(allocate);
    const List<const PrimExpr*> extents = FlatExtents(To<tir::Allocate>(visited)->extents);
    return WithExtents(To<tir::Allocate>(visited), extents);
  }
  const tir::Stmt* VisitAllocateConst(const tir::AllocateConst* allocate) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAllocateConst(allocate);
    const List<const PrimExpr*> extents = FlatExtents(To<tir::AllocateConst>(visited)->extents);
    return WithExtents(To<tir::AllocateConst>(visited), extents);
  }
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return EntryOf(buffer).flat; }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return EntryOf(buffer).flat; }

  // ---- Accesses

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    if (!CheckAccess(*load->buffer, load->predicate, *load)) return load;
    const tir::BufferLoad* visited = To<tir::BufferLoad>(StmtExprMutator::VisitBufferLoad(load));
    const Entry& entry = EntryOf(load->buffer);
    if (create_bounds_ && HasBounds(*entry.whole)) accessed_.push_back(entry.whole);
    tir::BufferLoad copy = *visited;
    copy.flags = 0;
    copy.indices = FlatIndices(entry, visited->indices);
    const bool is_bool = load->dtype == DataType::Bool();
    if (is_bool) copy.dtype = DataType::Int(8);
    const PrimExpr* flat = workspace().New<tir::BufferLoad>(copy);
    return is_bool ? workspace().New<tir::Cast>(DataType::Bool(), flat) : flat;
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    if (!CheckAccess(*store->buffer, store->predicate, *store)) return store;
    accessed_.clear();
    tir::BufferStore copy = *To<tir::BufferStore>(StmtExprMutator::VisitBufferStore(store));
    const Entry& entry = EntryOf(store->buffer);
    copy.indices = FlatIndices(entry, copy.indices);
    if (store->value->dtype == DataType::Bool()) copy.value = workspace().New<tir::Cast>(DataType::Int(8), copy.value);
    const tir::Stmt* flat = workspace().New<tir::BufferStore>(copy);
    if (create_bounds_ && HasBounds(*entry.whole)) accessed_.push_back(entry.whole);
    for (const tir::Buffer* buffer : accessed_) flat = WithBound(*buffer, entry.whole->dtype, flat);
    accessed_.clear();
    return flat;
  }

  const tir::Stmt* VisitPrefetch(const tir::Prefetch* prefetch) override {
    const tir::Buffer& buffer = *prefetch->buffer;
    if (!CheckAccess(buffer, nullptr, *prefetch)) return prefetch;
    const size_t rank = EntryOf(&buffer).whole->shape.size();
    if (rank == 0 || prefetch->bounds.size() != rank) {
      diagnostics_.Error(Location(*prefetch), "pass-failed",
                         fmt::format("invalid prefetch of '{}': {} bounds for {} dimensions", buffer.name,
                                     prefetch->bounds.size(), rank));
      return prefetch;
    }
    return VisitStmt(PrefetchLines(*prefetch));
  }

  // ---- Attributes and conditions

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* buffer = As<tir::Buffer>(stmt->node);
    if (buffer) return VisitBufferAttr(*buffer, *stmt);
    const auto* axis = As<tir::IterVar>(stmt->node);
    if (!axis || stmt->attr_key != attr::kThreadExtent) return StmtExprMutator::VisitAttrStmt(stmt);
    analyzer_.Bind(axis->var, make().Const(0, stmt->value->dtype), stmt->value);
    const std::string_view outer = std::exchange(default_scope_, ScopeInside(axis->thread_tag));
    const tir::Stmt* visited = StmtExprMutator::VisitAttrStmt(stmt);
    default_scope_ = outer;
    return visited;
  }
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    analyzer_.Bind(loop->loop_var, loop->min, loop->extent);
    return StmtExprMutator::VisitFor(loop);
  }
  const tir::Stmt* VisitAssertStmt(const tir::AssertStmt* stmt) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAssertStmt(stmt);
    const auto* assertion = To<tir::AssertStmt>(visited);
    return arith::IsInt(analyzer_.Simplify(assertion->condition), 1) ? assertion->body : visited;
  }

 private:
  struct Entry {
    const tir::Buffer* whole;           // with the dimensions that are accessed
    const tir::Buffer* flat;            // with those of the memory
    std::vector<const PrimExpr*> mins;  // the first index that is realized; empty: 0
    bool is_open = true;                // accesses are inside the statement that realizes it
  };

  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  const tir::Stmt* VisitBufferAttr(const tir::Buffer& buffer, const tir::AttrStmt& stmt) {
    if (stmt.attr_key == attr::kBufferDimAlign) {
      if (!AddAlign(buffer, stmt.value))
        diagnostics_.Error(Location(stmt), "pass-failed",
                           "invalid alignment: expected T.tvm_tuple(axis, factor, offset)");
      return VisitStmt(stmt.body);
    }
    if (stmt.attr_key == attr::kRealizeScope && Is<tir::BufferRealize>(stmt.body)) return VisitStmt(stmt.body);
    // The buffer may be realized below.
    const tir::Stmt* body = VisitStmt(stmt.body);
    const tir::Buffer* flat = EntryOf(&buffer).flat;
    const Node* node = flat;
    if (stmt.attr_key == attr::kDoubleBufferScope) node = flat->data;
    const PrimExpr* value = VisitExpr(stmt.value);
    if (node == &buffer && value == stmt.value && body == stmt.body) return &stmt;
    return workspace().New<tir::AttrStmt>(node, stmt.attr_key, value, body);
  }

  bool AddAlign(const tir::Buffer& buffer, const PrimExpr* value) {
    const auto* tuple = As<tir::Call>(value);
    if (!tuple || tuple->args.size() != 3) return false;
    int64_t fields[3];
    for (uint32_t i = 0; i < 3; ++i) {
      const int64_t* field = arith::AsInt(tuple->args[i]);
      if (!field) return false;
      fields[i] = *field;
    }
    if (fields[0] < 0 || static_cast<size_t>(fields[0]) >= buffer.shape.size() || fields[1] < 0) return false;
    aligns_[&buffer].push_back({fields[0], fields[1], fields[2]});
    return true;
  }

  // ---- Buffers

  const tir::Stmt* CheckRealizedParam(const tir::BufferRealize& realize) {
    const tir::Buffer& buffer = *realize.buffer;
    const tir::Stmt* body = VisitStmt(realize.body);
    for (size_t i = 0; i < realize.bounds.size(); ++i) {
      const PrimExpr* extent = VisitExpr(realize.bounds[i]->extent);
      const bool fits = i < buffer.shape.size();
      const PrimExpr* equal =
          fits ? analyzer_.Simplify(make().Binary(NodeKind::kEQ, buffer.shape[i], extent)) : make().Bool(false);
      const std::string message =
          fmt::format("dimension {} of the parameter '{}' is not realized as a whole", i, buffer.name);
      if (arith::IsInt(equal, 0)) diagnostics_.Error(Location(realize), "pass-failed", message);
      if (arith::AsInt(equal)) continue;
      const std::string_view text = workspace().arena().CopyString(message);
      body = workspace().New<tir::AssertStmt>(equal, workspace().New<tir::StringImm>(text), body);
    }
    return body;
  }

  const tir::Buffer* RealizedBuffer(const tir::BufferRealize& realize) {
    tir::Buffer copy = *realize.buffer;
    const tir::Var* data = copy.data;
    const bool has_scope = data->pointer && !data->pointer->scope.empty();
    const bool is_bool = copy.dtype == DataType::Bool();
    if (!has_scope || is_bool) {
      const DataType stored = is_bool ? DataType::Int(8) : copy.dtype;
      const auto* pointer = tir::PointerInfo::Get(stored, has_scope ? data->pointer->scope : default_scope_);
      copy.data = workspace().NewPrimVar(data->name, data->dtype, pointer);
      Remap(data, copy.data);
    }
    std::vector<const PrimExpr*> shape;
    for (const tir::Range* range : realize.bounds) shape.push_back(VisitExpr(range->extent));
    copy.shape = workspace().Copy(shape);
    if (copy.strides.empty()) copy.strides = Strides(copy.shape, aligns_[realize.buffer]);
    copy.elem_offset = make().Int(0, DataType::Int(32));
    copy.data_alignment = AlignmentOf(copy.dtype, shape);
    copy.offset_factor = 1;
    copy.buffer_type = tir::BufferType::kDefault;
    copy.id = workspace().NextVarId();
    return workspace().New<tir::Buffer>(copy);
  }

  // Empty if nothing is aligned.
  List<const PrimExpr*> Strides(std::span<const PrimExpr* const> shape, std::span<const StorageAlign> aligns) {
    if (aligns.empty() || shape.empty()) return {};
    std::vector<const PrimExpr*> strides(shape.size());
    const PrimExpr* stride = make().Const(1, shape[0]->dtype);
    for (size_t dim = shape.size(); dim-- > 0;) {
      for (const StorageAlign& align : aligns) {
        if (static_cast<size_t>(align.dim) != dim || align.factor == 0) continue;
        const PrimExpr* factor = make().Const(align.factor, stride->dtype);
        const PrimExpr* offset = make().Const(align.offset, stride->dtype);
        const PrimExpr* missing = make().Sub(make().Add(factor, offset), make().FloorMod(stride, factor));
        stride = analyzer_.Simplify(make().Add(stride, make().FloorMod(missing, factor)));
      }
      strides[dim] = stride;
      stride = make().Mul(stride, shape[dim]);
    }
    return workspace().Copy(strides);
  }

  // Returns a buffer with the dimensions of its memory: the same one if it has them already.
  const tir::Buffer* FlatBuffer(const tir::Buffer& buffer) {
    const bool is_flat = buffer.strides.empty() && buffer.shape.size() == buffer.axis_separators.size() + 1;
    if (is_flat && arith::IsInt(buffer.elem_offset, 0) && buffer.dtype != DataType::Bool()) return &buffer;
    tir::Buffer copy = buffer;
    Flatten(copy, workspace(), make());
    if (copy.dtype == DataType::Bool()) copy.dtype = DataType::Int(8);
    copy.id = workspace().NextVarId();
    return workspace().New<tir::Buffer>(copy);
  }

  // A buffer that is not realized has an entry from its first use on.
  const Entry& EntryOf(const tir::Buffer* buffer) {
    const auto [entry, is_new] = entries_.try_emplace(buffer);
    if (!is_new) return entry;
    const tir::Buffer* whole = buffer;
    if (const PrimExpr* data = RemapOf(buffer->data)) {
      tir::Buffer copy = *buffer;
      copy.data = To<tir::Var>(data);
      copy.id = workspace().NextVarId();
      whole = workspace().New<tir::Buffer>(copy);
    }
    return entries_[buffer] = {whole, FlatBuffer(*whole), {}};
  }

  // ---- Indices

  bool CheckAccess(const tir::Buffer& buffer, const PrimExpr* predicate, const Node& at) {
    const char* problem = nullptr;
    if (predicate) problem = "has a predicate";
    if (!EntryOf(&buffer).is_open) problem = "is outside of the statement that realizes it";
    if (problem)
      diagnostics_.Error(Location(at), "pass-failed", fmt::format("the access to '{}' {}", buffer.name, problem));
    return !problem;
  }

  List<const PrimExpr*> FlatIndices(const Entry& entry, std::span<const PrimExpr* const> indices) {
    std::vector<const PrimExpr*> shifted;
    const size_t rank = entry.mins.empty() ? indices.size() : entry.mins.size();
    // Leading dimensions may be left out.
    for (size_t i = indices.size(); i < rank; ++i) shifted.push_back(make().Int(0, DataType::Int(32)));
    const size_t first = shifted.size();
    for (size_t i = 0; i < indices.size(); ++i)
      shifted.push_back(entry.mins.empty() ? indices[i] : make().Sub(indices[i], entry.mins[first + i]));
    return workspace().Copy(ElementOffset(*entry.whole, shifted, offset_analyzer_));
  }

  List<const PrimExpr*> FlatExtents(List<const PrimExpr*> extents) {
    if (extents.size() == 1) return extents;
    const PrimExpr* size = make().Int(1, DataType::Int(32));
    for (const PrimExpr* extent : extents) size = make().Mul(size, extent);
    return workspace().Copy(std::vector<const PrimExpr*>{size});
  }
  template <class T>
  const T* WithExtents(const T* allocate, List<const PrimExpr*> extents) {
    if (std::ranges::equal(extents, allocate->extents)) return allocate;
    T copy = *allocate;
    copy.extents = extents;
    return workspace().New<T>(copy);
  }

  // ---- Prefetches

  // Loops over the dimensions before those that together fit into a cache line, and in steps of lines over the last of
  // them.
  const tir::Stmt* PrefetchLines(const tir::Prefetch& prefetch) {
    const tir::Buffer& buffer = *prefetch.buffer;
    const List<const PrimExpr*> shape = EntryOf(&buffer).whole->shape;
    const int64_t line = std::max<int64_t>(cache_line_size_ / ((buffer.dtype.bits + 7) / 8), 1);
    int64_t block = 1;
    size_t last = shape.size() - 1;
    for (; last > 0; --last) {
      const int64_t* size = arith::AsInt(shape[last]);
      if (!size || *size <= 0 || *size > line / block) break;
      block *= *size;
    }
    std::vector<const tir::Var*> vars;
    std::vector<const PrimExpr*> indices;
    for (size_t dim = shape.size(); dim-- > 0;) {
      const tir::Range& range = *prefetch.bounds[dim];
      const PrimExpr* index = range.min;
      if (dim <= last) {
        const std::string name = fmt::format("prefetch.{}.{}", buffer.name, dim);
        vars.push_back(workspace().NewPrimVar(workspace().arena().CopyString(name), range.min->dtype));
        const PrimExpr* var = vars.back();
        index = dim < last ? make().Add(var, index)
                           : make().Add(index, make().Mul(make().Const(line / block, var->dtype), var));
      }
      indices.push_back(index);
    }
    const tir::Stmt* body = PrefetchAt(buffer, indices);
    for (size_t dim = last + 1; dim-- > 0;) {
      const PrimExpr* extent = prefetch.bounds[dim]->extent;
      if (dim == last) {
        const PrimExpr* one = make().Const(1, extent->dtype);
        const PrimExpr* stride = make().Const(line / block, extent->dtype);
        extent = make().Add(make().Binary(NodeKind::kDiv, make().Sub(extent, one), stride), one);
      }
      const tir::Var* var = vars[dim];
      body = workspace().New<tir::For>(var, make().Const(0, var->dtype), make().Cast(var->dtype, extent),
                                       tir::ForKind::kSerial, body, nullptr, DictAttr::Empty());
    }
    return body;
  }

  // T.prefetch(T.address_of(buffer[indices]), 0, 3, 1): to be read, of much use later, data.
  const tir::Stmt* PrefetchAt(const tir::Buffer& buffer, const std::vector<const PrimExpr*>& indices) {
    const PrimExpr* load = workspace().New<tir::BufferLoad>(buffer.dtype, &buffer, workspace().Copy(indices));
    std::vector<const PrimExpr*> operands = {workspace().New<tir::Call>(
        DataType::Handle(), GetOp(op::kTirAddressOf), workspace().Copy(std::vector<const PrimExpr*>{load}))};
    for (const int64_t hint : {0, 3, 1}) operands.push_back(make().Int(hint, DataType::Int(32)));
    return workspace().New<tir::Evaluate>(
        workspace().New<tir::Call>(buffer.dtype, GetOp(op::kTirPrefetch), workspace().Copy(operands)));
  }

  // ---- Bounds

  static bool HasBounds(const tir::Buffer& buffer) {
    return !buffer.shape.empty() && std::ranges::all_of(buffer.shape, [](const PrimExpr* dim) {
      const int64_t* size = arith::AsInt(dim);
      return dim->dtype.is_scalar() && (!size || *size >= 0);
    });
  }
  // `dtype` is that of the store, also for the buffers that it loads.
  const tir::Stmt* WithBound(const tir::Buffer& buffer, DataType dtype, const tir::Stmt* body) {
    const PrimExpr* bound = nullptr;
    for (const PrimExpr* dim : buffer.shape) {
      const PrimExpr* lanes = make().Const(dtype.lanes, bound ? bound->dtype : dim->dtype);
      if (lanes->dtype != dim->dtype) dim = make().Cast(lanes->dtype, dim);
      const PrimExpr* size = make().Node(NodeKind::kMul, lanes, dim);
      bound = bound ? make().Node(NodeKind::kMul, bound, size) : size;
    }
    const std::vector<const PrimExpr*> bounds = {bound};
    const auto* tuple =
        workspace().New<tir::Call>(DataType::Handle(), GetOp(op::kTirTvmTuple), workspace().Copy(bounds));
    return workspace().New<tir::AttrStmt>(buffer.data, attr::kBufferBound, tuple, body);
  }

  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;         // knows the ranges of loops and threads
  arith::Analyzer offset_analyzer_;  // knows nothing
  const int64_t cache_line_size_;
  const bool create_bounds_;
  std::string_view default_scope_ = "global";
  std::vector<const tir::Buffer*> accessed_;  // by the current store
  LookupSet<const tir::Buffer*> params_;
  LookupMap<const tir::Buffer*, Entry> entries_;
  LookupMap<const tir::Buffer*, std::vector<StorageAlign>> aligns_;
};

}  // namespace

const PrimFunc* FlattenStorage(const PrimFunc* func, const StorageFlattenOptions& options, Workspace& workspace,
                               DiagnosticEngine& diagnostics) {
  StorageFlattener flattener(*func, options, workspace, diagnostics);
  return WithBody(func, flattener.VisitStmt(func->body), workspace);
}

}  // namespace iropt
