// tir.LowerTIRxCleanup: applies the layouts of buffers to the indices of their elements.
//
//   A = T.alloc_buffer((512, 512), layout=T.TileLayout(T.S[(4, 128, 512):(512 @ Axis.F, 1 @ Axis.P, 1 @ Axis.F)]), ...)
//   ... A[128 * i + j, k] ...
//   -->
//   A = T.alloc_buffer((128, 2048), layout=None, ...)
//   ... A[j, 512 * i + k] ...
//
// Buffers of Trainium have a dimension of partitions and one of free elements, those in psum also one of banks; all
// others become flat. A parameter keeps its shape: the flat buffer is declared over it. A layout on threads says how
// much of the buffer a thread has; its elements cannot be accessed directly. O(nodes).
//
// With the option `trainium`, the function is one for Trainium, whatever its target is.
//
// Source: TVM 0.25's pass of this name.
#include <fmt/format.h>

#include "iropt/arith/mutator.h"
#include "iropt/ir/location.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/op/tile_layout.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/LowerTIRxCleanup.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/tiles/const_layout.h"
#include "transform/tir/tiles/lower_tirx.h"
#include "transform/tir/util/buffer_layout.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class LayoutApplier : public arith::StmtExprMutatorWithAnalyzer {
 public:
  LayoutApplier(const PrimFunc& func, const DictAttr* target, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutatorWithAnalyzer(func, workspace, {.mutator = {}}),
        is_trn_(target && KindOf(*target) == "trn"),
        diagnostics_(diagnostics),
        context_free_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

  const PrimFunc* Apply(const PrimFunc* func) {
    std::vector<const tir::Buffer*> params(func->param_buffers.begin(), func->param_buffers.end());
    std::vector<const tir::Buffer*> flat;
    for (const tir::Buffer*& param : params) {
      if (!param || !param->layout) continue;
      flat.push_back(Placed(param));
      tir::Buffer copy = *param;
      copy.layout = nullptr;
      copy.id = workspace().NextVarId();
      param = workspace().New<tir::Buffer>(copy);
    }
    const tir::Stmt* body = VisitStmt(func->body);
    for (const tir::Buffer* buffer : flat) body = workspace().New<tir::DeclBuffer>(buffer, body);
    auto* made = workspace().New<PrimFunc>(*func);
    made->param_buffers = workspace().Copy(params);
    made->body = body;
    return made;
  }

 protected:
  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const auto* decl = As<tir::DeclBuffer>(allocate->body);
    if (!decl || decl->buffer->data != allocate->buffer_var)
      return StmtExprMutatorWithAnalyzer::VisitAllocate(allocate);
    const tir::Buffer* buffer = is_trn_ && !decl->buffer->layout ? decl->buffer : Placed(decl->buffer, /*owns=*/true);
    const auto* placed = workspace().New<tir::DeclBuffer>(buffer, VisitStmt(decl->body));
    tir::Allocate copy = *allocate;
    if (buffer != decl->buffer) copy.extents = buffer->shape;
    copy.body = placed;
    return workspace().New<tir::Allocate>(copy);
  }

  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    const tir::Buffer* buffer = IsKept(*decl->buffer) ? decl->buffer : Placed(decl->buffer);
    return workspace().New<tir::DeclBuffer>(buffer, VisitStmt(decl->body));
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    tir::BufferStore copy = *To<tir::BufferStore>(StmtExprMutatorWithAnalyzer::VisitBufferStore(store));
    if (IsKept(*store->buffer)) return workspace().New<tir::BufferStore>(copy);
    copy.buffer = Placed(store->buffer);
    copy.indices = Indices(*store->buffer, copy.indices, *store);
    return workspace().New<tir::BufferStore>(copy);
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    tir::BufferLoad copy = *To<tir::BufferLoad>(StmtExprMutatorWithAnalyzer::VisitBufferLoad(load));
    if (IsKept(*load->buffer) || load->indices.size() != load->buffer->shape.size()) return load;
    copy.flags = 0;
    copy.buffer = Placed(load->buffer);
    copy.indices = Indices(*load->buffer, copy.indices, *load);
    return workspace().New<tir::BufferLoad>(copy);
  }

  // The place of an element is its index now.
  const PrimExpr* VisitCall(const tir::Call* call) override {
    const PrimExpr* visited = StmtExprMutatorWithAnalyzer::VisitCall(call);
    const tir::Call* offset = CallOf(visited, op::kTirBufferOffset);
    const auto* load = offset && !offset->args.empty() ? As<tir::BufferLoad>(offset->args[0]) : nullptr;
    return load && load->indices.size() == 1 ? load->indices[0] : visited;
  }

 private:
  // Memory of Trainium without a layout has the shape of its buffer.
  bool IsKept(const tir::Buffer& buffer) const { return is_trn_ && !buffer.layout; }

  static bool IsInPsum(const tir::Buffer& buffer) { return buffer.scope() == "trn.psum"; }

  // The buffer as it lies in memory; `owns`: it is that of its allocation.
  const tir::Buffer* Placed(const tir::Buffer* buffer, bool owns = false) {
    const tir::Buffer*& placed = placed_[buffer];
    if (placed) return placed;
    tir::Buffer copy = *buffer;
    copy.strides = {};
    copy.layout = nullptr;
    std::vector<const PrimExpr*> shape;
    const auto shard = Shard(*buffer);
    if (shard && IsTrainium(*shard)) {
      if (IsInPsum(*buffer)) shape.push_back(Dim(SpanOn(*shard, "Bank")));
      shape.push_back(Dim(SizeOn(*shard, "P")));
      shape.push_back(Dim(SpanOn(*shard, "F")));
    } else if (const PrimExpr* own = owns ? OwnElements(*buffer) : nullptr) {
      shape.push_back(own);
    } else if (buffer->shape.size() != 1 || !buffer->strides.empty()) {
      shape = FlatShape(AtItsStart(*buffer), make());
    } else {
      shape.push_back(buffer->shape[0]);
    }
    for (const PrimExpr*& dim : shape) dim = context_free_.CanonicalSimplify(VisitExpr(dim));
    copy.shape = workspace().Copy(shape);
    copy.id = workspace().NextVarId();
    placed = workspace().New<tir::Buffer>(copy);
    placed_[placed] = placed;
    return placed_[buffer];
  }

  // Nothing for a buffer whose layout is that of other memory: the default one, or one that is not constant.
  static std::optional<iropt::Shard> Shard(const tir::Buffer& buffer) {
    return CallOf(buffer.layout, op::kTirDefaultLayout) ? std::nullopt : ShardOf(buffer);
  }
  // The flat buffer begins where the buffer does.
  tir::Buffer AtItsStart(const tir::Buffer& buffer) const {
    tir::Buffer copy = buffer;
    copy.layout = nullptr;
    copy.elem_offset = make().Const(0, buffer.elem_offset->dtype);
    return copy;
  }
  const PrimExpr* Dim(int64_t extent) const { return make().Int(extent, DataType::Int(32)); }

  // Returns the number of elements that one thread has of a buffer that lies on threads: the places up to the last one.
  // Null for other buffers.
  const PrimExpr* OwnElements(const tir::Buffer& buffer) {
    const auto layout = AsTileLayout(buffer.layout);
    if (!layout || !LiesOnThreads(*layout)) return nullptr;
    const PrimExpr* span = Dim(1);
    for (const auto* iters : {&layout->shard, &layout->replica}) {
      for (const LayoutIter& iter : *iters) {
        if (IsThreadAxis(iter.axis)) continue;
        const PrimExpr* last = make().Sub(iter.extent, make().Const(1, iter.extent->dtype));
        span = make().Add(span, make().Mul(last, iter.stride));
      }
    }
    for (const LayoutIter& offset : layout->offset) {
      if (!IsThreadAxis(offset.axis)) span = make().Add(span, offset.stride);
    }
    return context_free_.Simplify(span);
  }
  static bool LiesOnThreads(const TileLayout& layout) {
    for (const auto* iters : {&layout.shard, &layout.replica, &layout.offset}) {
      for (const LayoutIter& iter : *iters) {
        if (IsThreadAxis(iter.axis)) return true;
      }
    }
    return false;
  }

  List<const PrimExpr*> Indices(const tir::Buffer& buffer, List<const PrimExpr*> indices, const Node& at) {
    std::vector<const PrimExpr*> places;
    const auto shard = Shard(buffer);
    const auto layout = shard ? std::nullopt : AsTileLayout(buffer.layout);
    if (shard && !(IsTrainium(*shard))) {
      const AxisPlaces found = PlaceOf(Canonical(*shard), indices, buffer.shape, context_free_);
      for (const auto& [axis, place] : found) {
        if (IsThreadAxis(axis)) return Refuse(buffer, "lies on threads, so that its elements are not those of one", at);
        places.push_back(place);
      }
    } else if (shard) {
      const AxisPlaces found = PlaceOf(*shard, indices, buffer.shape, context_free_);
      const auto on = [&](std::string_view axis) {
        const auto place = found.find(axis);
        return place == found.end() ? Dim(0) : place->second;
      };
      if (IsInPsum(buffer)) places.push_back(on("Bank"));
      places.push_back(on("P"));
      places.push_back(on("F"));
    } else if (layout || CallOf(buffer.layout, op::kTirComposeLayout)) {
      return Refuse(buffer, "has a layout that is not constant, or swizzled", at);
    } else {
      places = ElementOffset(AtItsStart(buffer), indices, context_free_);
    }
    for (const PrimExpr*& place : places) place = analyzer().Simplify(place);
    return workspace().Copy(places);
  }

  List<const PrimExpr*> Refuse(const tir::Buffer& buffer, std::string_view why, const Node& at) {
    diagnostics_.Error(Location(at), "pass-failed",
                       fmt::format("'{}' {}: its elements cannot be accessed directly", buffer.name, why));
    return workspace().Copy(std::vector{Dim(0)});
  }

  const bool is_trn_;
  DiagnosticEngine& diagnostics_;
  arith::Analyzer context_free_;  // what it simplifies holds wherever a buffer is used
  LookupMap<const tir::Buffer*, const tir::Buffer*> placed_;
};

}  // namespace

const PrimFunc* ApplyLayouts(const PrimFunc* func, const DictAttr* target, Workspace& workspace,
                             DiagnosticEngine& diagnostics) {
  const size_t errors = diagnostics.error_count();
  func = LayoutApplier(*func, target, workspace, diagnostics).Apply(func);
  return diagnostics.error_count() == errors ? func : nullptr;
}

Pass CreateLowerTIRxCleanup(const PassOptions& options) {
  const bool trainium = *pass_options::LowerTIRxCleanup(options).trainium;
  return CreatePrimFuncPass(options.info(), kSkipLegacy,
                            [trainium](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              const DictAttr::Entry trn[] = {{"kind", StrAttr::Get("trn")}};
                              const DictAttr* target =
                                  trainium ? DictAttr::Get(trn) : TileTargetOf(*func, context.context());
                              func = ApplyLayouts(func, target, context.workspace(), context.diagnostics());
                              if (!func) return Failure{ErrorCode::PassFailed};
                              return func;
                            });
}

}  // namespace iropt
