// A PrimFunc pass: it gets one PrimFunc at a time, several in parallel if the context has threads. This one marks short
// loops for unrolling.
#include <iostream>

#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

constexpr const char* kModule = R"(
@T.prim_func
def scale(A: T.Buffer((128, 4), "float32"), B: T.Buffer((128, 4), "float32")):
    for i, j in T.grid(128, 4):
        B[i, j] = A[i, j] * T.float32(2)
)";

class UnrollMarker : public tir::StmtExprMutator {
 public:
  UnrollMarker(Workspace& workspace, int64_t max_extent) : StmtExprMutator(workspace), max_extent_(max_extent) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // there are no loops in expressions

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    const auto* extent = As<tir::IntImm>(loop->extent);
    if (loop->for_kind != tir::ForKind::kSerial || extent == nullptr || extent->value > max_extent_) return visited;
    tir::For marked = *visited;
    marked.for_kind = tir::ForKind::kUnrolled;
    return workspace().New<tir::For>(marked);
  }

 private:
  const int64_t max_extent_;
};

Status Run(CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(Module module, compiler.ParseModule(kModule));
  const Pass pass =
      CreatePrimFuncPass({.name = "MarkShortLoops"},
                         [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                           return UnrollMarker(context.workspace(), 8).VisitPrimFunc(function);
                         });
  IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(std::move(module)));
  std::cout << ModuleToString(result.module);
  return {};
}

int main() {
  CompilerInstance compiler;
  return compiler.Finish(Run(compiler));
}

// Prints:
//
//   # from tvm.script import tir as T
//
//   @T.prim_func
//   def scale(A: T.Buffer((128, 4), "float32"), B: T.Buffer((128, 4), "float32")):
//       for i in range(128):
//           for j in T.unroll(4):
//               B[i, j] = A[i, j] * T.float32(2.0)
