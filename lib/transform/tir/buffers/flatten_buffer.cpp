// tir.FlattenBuffer: gives buffers the dimensions of the memory that they lie in, which is one unless they have axis
// separators.
//
//   def main(A: T.Buffer((4, 8))):                    def main(A: T.Buffer((4, 8))):
//       B = T.decl_buffer((4, 8))                         B = T.allocate([32], "float32", "global")
//       for i, j in T.grid(4, 8):                         B_1 = T.Buffer((32,), data=B)
//           B[i, j] = A[i, j]                 -->         A_1 = T.Buffer((32,), data=A.data)
//                                                         for i, j in T.grid(4, 8):
//                                                             B_1[i * 8 + j] = A_1[i * 8 + j]
//
// The buffers of parameters stay as they are in the signature. Declarations of buffers go away. Truth values are stored
// as int8. Refuses matched buffers, see tir.LowerMatchBuffer. Functions of the older scheduler stay. O(nodes), plus the
// simplification of the indices.
//
// With the option declare_buffers, as TVM 0.26 does it, declarations stay, the flat buffers of parameters are declared
// at the beginning, and truth values are stored as such.
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/arith/mutator.h"
#include "iropt/ir/attr_keys.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/FlattenBuffer.h"
#include "transform/tir/util/buffer_layout.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

// The data pointers of buffers that have as many dimensions as their memory, which is more than one.
class FlatAllocations : public tir::StmtExprVisitor {
 public:
  static LookupSet<const tir::Var*> Of(const PrimFunc& func) {
    FlatAllocations finder;
    finder.VisitStmt(func.body);
    return std::move(finder.found_);
  }

 protected:
  void VisitBufferUse(const tir::Buffer* buffer) override {
    if (!buffer->axis_separators.empty() && buffer->shape.size() == buffer->axis_separators.size() + 1)
      found_.insert(buffer->data);
  }

 private:
  LookupSet<const tir::Var*> found_;
};

class BufferFlattener : public arith::StmtExprMutatorWithAnalyzer {
 public:
  BufferFlattener(const PrimFunc& func, bool declare, Workspace& workspace)
      : StmtExprMutatorWithAnalyzer(func, workspace),
        declare_(declare),
        context_free_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        flat_allocations_(FlatAllocations::Of(func)) {}

  // The body with the flat buffers of the parameters that it uses.
  const tir::Stmt* DeclareParams(const PrimFunc& func, const tir::Stmt* body) {
    for (size_t i = func.param_buffers.size(); declare_ && i > 0; --i) {
      const auto* flat = flat_.Find(func.param_buffers[i - 1]);
      if (flat) body = workspace().New<tir::DeclBuffer>(*flat, body);
    }
    return body;
  }

 protected:
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return Flatten(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return Flatten(buffer); }

  // The bounds of a prefetch are those of the buffer as it was.
  const tir::Stmt* VisitPrefetch(const tir::Prefetch* prefetch) override {
    std::vector<const tir::Range*> bounds;
    for (const tir::Range* range : prefetch->bounds) bounds.push_back(VisitRange(range));
    if (std::ranges::equal(bounds, prefetch->bounds)) return prefetch;
    return workspace().New<tir::Prefetch>(prefetch->buffer, workspace().Copy(bounds));
  }

  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override {
    std::vector<const PrimExpr*> first, last;
    for (const tir::Range* range : region->region) {
      first.push_back(VisitExpr(range->min));
      last.push_back(make().Sub(make().Add(range->min, range->extent), make().Const(1, range->extent->dtype)));
      last.back() = VisitExpr(last.back());
    }
    const List<const PrimExpr*> begin = FlatIndices(*region->buffer, first);
    const List<const PrimExpr*> end = FlatIndices(*region->buffer, last);
    std::vector<const tir::Range*> ranges;
    for (size_t i = 0; i < begin.size(); ++i) {
      const PrimExpr* extent = make().Sub(make().Add(end[i], make().Const(1, end[i]->dtype)), begin[i]);
      ranges.push_back(workspace().New<tir::Range>(begin[i], context_free_.Simplify(extent)));
    }
    return workspace().New<tir::BufferRegion>(Flatten(region->buffer), workspace().Copy(ranges));
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const tir::Var* pointer = allocate->buffer_var;
    const bool becomes_int8 = StoresAsInt8(allocate->dtype);
    if (becomes_int8) {
      const std::string_view scope = pointer->pointer ? pointer->pointer->scope : std::string_view();
      pointer = workspace().NewPrimVar(pointer->name, pointer->dtype, tir::PointerInfo::Get(DataType::Int(8), scope));
      Remap(allocate->buffer_var, pointer);
    }
    const List<const PrimExpr*> extents = FlatExtents(*allocate);
    tir::Allocate copy = *To<tir::Allocate>(StmtExprMutatorWithAnalyzer::VisitAllocate(allocate));
    copy.buffer_var = pointer;
    copy.extents = extents;
    if (becomes_int8) copy.dtype = DataType::Int(8);
    // The dimensions that it aligns are gone; they would be taken for those of the flat memory.
    copy.annotations = copy.annotations->Without(attr::kBufferDimAlign);
    return workspace().New<tir::Allocate>(copy);
  }

  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    return declare_ ? StmtExprMutatorWithAnalyzer::VisitDeclBuffer(decl) : VisitStmt(decl->body);
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    tir::BufferStore copy = *To<tir::BufferStore>(StmtExprMutatorWithAnalyzer::VisitBufferStore(store));
    copy.buffer = Flatten(store->buffer);
    copy.indices = FlatIndices(*store->buffer, copy.indices);
    if (StoresAsInt8(store->value->dtype)) copy.value = make().Cast(DataType::Int(8), copy.value);
    return workspace().New<tir::BufferStore>(copy);
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    tir::BufferLoad copy = *To<tir::BufferLoad>(StmtExprMutatorWithAnalyzer::VisitBufferLoad(load));
    copy.flags = 0;
    copy.buffer = Flatten(load->buffer);
    // An attribute that names the buffer as a whole.
    if (load->indices.size() != load->buffer->shape.size()) return workspace().New<tir::BufferLoad>(copy);
    copy.indices = FlatIndices(*load->buffer, copy.indices);
    const bool is_bool = StoresAsInt8(load->dtype);
    if (is_bool) copy.dtype = DataType::Int(8);
    const PrimExpr* flat = workspace().New<tir::BufferLoad>(copy);
    return is_bool ? make().Cast(DataType::Bool(), flat) : flat;
  }

 private:
  bool StoresAsInt8(DataType dtype) const { return !declare_ && dtype == DataType::Bool(); }

  List<const PrimExpr*> FlatIndices(const tir::Buffer& buffer, std::span<const PrimExpr* const> indices) {
    std::vector<const PrimExpr*> flat = ElementOffset(buffer, indices, context_free_);
    for (const PrimExpr*& index : flat) {
      index = SimplifyIndex(index);
      // TVM adds the first index to 0, and does not fold sums of vectors whose length only the machine knows.
      const bool stays =
          indices.size() == 1 && index->dtype.is_scalable() && workspace().version() >= TextVersion::kV0_27;
      if (stays) index = make().Node(NodeKind::kAdd, make().Const(0, index->dtype), index);
    }
    return workspace().Copy(flat);
  }

  // One buffer for all uses. Always another one, because the one of a parameter stays in the signature.
  const tir::Buffer* Flatten(const tir::Buffer* buffer) {
    const tir::Buffer*& flat = flat_[buffer];
    if (flat) return flat;
    const tir::Buffer* rewritten = RewriteBuffer(buffer);
    tir::Buffer copy = *rewritten;
    iropt::Flatten(copy, workspace(), make());
    if (StoresAsInt8(copy.dtype)) copy.dtype = DataType::Int(8);
    std::vector<const PrimExpr*> shape;
    for (const PrimExpr* dim : copy.shape) shape.push_back(context_free_.CanonicalSimplify(dim));
    copy.shape = workspace().Copy(shape);
    copy.layout = nullptr;  // the indices follow it now
    copy.id = workspace().NextVarId();
    flat = workspace().New<tir::Buffer>(copy);
    flat_[flat] = flat;
    return flat_[buffer];
  }

  // An allocation that is declared as a buffer of the same shape has the dimensions of its memory.
  List<const PrimExpr*> FlatExtents(const tir::Allocate& allocate) {
    const auto* decl = As<tir::DeclBuffer>(allocate.body);
    if (allocate.extents.size() == 1 && !(decl && !decl->buffer->strides.empty())) return allocate.extents;
    if (decl && decl->buffer->data == allocate.buffer_var && decl->buffer->dtype == allocate.dtype &&
        DeepEqual(allocate.extents, decl->buffer->shape)) {
      return Flatten(decl->buffer)->shape;
    }
    if (flat_allocations_.contains(allocate.buffer_var)) return allocate.extents;
    const PrimExpr* size = make().Int(1, DataType::Int(32));
    for (const PrimExpr* extent : allocate.extents) size = make().Mul(size, extent);
    return workspace().Copy(std::vector<const PrimExpr*>{size});
  }

  const bool declare_;
  arith::Analyzer context_free_;  // what it simplifies holds wherever the buffer is used
  const LookupSet<const tir::Var*> flat_allocations_;
  LookupMap<const tir::Buffer*, const tir::Buffer*> flat_;
};

}  // namespace

Pass CreateFlattenBuffer(const PassOptions& options) {
  return CreateBodyPass(options.info(), kSkipLegacy,
                        [declare = *pass_options::FlattenBuffer(options).declare_buffers](
                            const PrimFunc& func, FunctionPassContext& context) {
                          BufferFlattener flattener(func, declare, context.workspace());
                          return flattener.DeclareParams(func, flattener.VisitStmt(func.body));
                        });
}

}  // namespace iropt
