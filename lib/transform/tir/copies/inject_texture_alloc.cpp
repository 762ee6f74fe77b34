// tir.InjectTextureAlloc: allocates images in the texture memory of Adreno GPUs by the runtime.
//
//   A = T.allocate([8, 4, 6, 4], "float32", "global.texture")    -->    A: T.handle("float32", "global.texture") =
//                                                                           T.nd_mem_alloc_with_scope("global.texture",
//                                                                               3, T.tvm_stack_make_shape(6, 4, 8),
//                                                                               128)
//
// The operands are the width, the height and the depth of the image, and the bits of a point, 64 or 128: the elements
// of the last dimension. The other dimensions are columns, from the second last one on (global.texture), the second one
// (global.texture-weight) or the third one (global.texture-nhwc); the one before is the rows, and those before it the
// depth. Other allocations stay. O(statements).
//
// Source: the pass of this name of TVM 0.26.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

bool IsTextureAllocation(const tir::Stmt* stmt) {
  const auto* allocate = As<tir::Allocate>(stmt);
  const tir::PointerInfo* pointer = allocate ? allocate->buffer_var->pointer : nullptr;
  return pointer && pointer->scope.find("texture") != std::string_view::npos;
}

// The first dimension that is a column; nothing for an unknown scope.
std::optional<size_t> FirstColumn(std::string_view scope, size_t rank) {
  if (scope == "global.texture") return rank - 2;
  if (scope == "global.texture-weight") return 1;
  if (scope == "global.texture-nhwc") return 2;
  return std::nullopt;
}

class TextureAllocInjector : public tir::StmtExprMutator {
 public:
  TextureAllocInjector(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), diagnostics_(diagnostics), make_(workspace) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    if (!IsTextureAllocation(allocate)) return StmtExprMutator::VisitAllocate(allocate);
    const std::string_view scope = allocate->buffer_var->pointer->scope;
    const size_t rank = allocate->extents.size();
    const std::optional<size_t> column = rank < 3 ? std::nullopt : FirstColumn(scope, rank);
    if (!column || *column + 1 >= rank) return Refuse(allocate, "expected a known scope, and at least 3 dimensions");
    const int64_t* channels = arith::AsInt(allocate->extents[rank - 1]);
    const int64_t bits = channels ? *channels * allocate->dtype.bits : 0;
    if (bits != 64 && bits != 128) return Refuse(allocate, "expected points of 64 or 128 bits");
    const PrimExpr* one = make_.Int(1, DataType::Int(32));
    std::array<const PrimExpr*, 3> size{one, one, one};  // width, height, depth
    for (size_t i = 0; i + 1 < rank; ++i) {
      const PrimExpr*& part = size[i >= *column ? 0 : i + 1 == *column ? 1 : 2];
      part = make_.Mul(part, allocate->extents[i]);
    }
    const PrimExpr* shape = Call(op::kTirTvmStackMakeShape, size);
    const std::array<const PrimExpr*, 4> args{workspace().New<tir::StringImm>(scope), make_.Int(3), shape,
                                              make_.Int(bits)};
    return workspace().New<tir::LetStmt>(allocate->buffer_var, Call(op::kTirNdMemAllocWithScope, args),
                                         VisitStmt(allocate->body));
  }

 private:
  const tir::Stmt* Refuse(const tir::Allocate* allocate, std::string_view why) {
    diagnostics_.Error(Location(*allocate), "pass-failed",
                       fmt::format("'{}' is not an image: {}", allocate->buffer_var->name, why));
    return allocate;
  }
  const PrimExpr* Call(OpId op, std::span<const PrimExpr* const> args) {
    return workspace().New<tir::Call>(DataType::Handle(), GetOp(op), workspace().Copy(args));
  }

  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
};

}  // namespace

Pass CreateInjectTextureAlloc(const PassOptions& options) {
  return CreateMutatorPass<TextureAllocInjector>(options.info(), {.needs = &IsTextureAllocation});
}

}  // namespace iropt
