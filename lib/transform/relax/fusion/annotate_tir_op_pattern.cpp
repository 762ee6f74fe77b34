// AnnotateTIROpPattern: adds to every PrimFunc the attribute op_pattern, by which FuseOps decides what it fuses.
//
//   @T.prim_func                                      @T.prim_func
//   def add(a: T.handle, b: T.handle):                def add(a: T.handle, b: T.handle):
//       ...                                               T.func_attr({"op_pattern": 0})
//       B[v_i] = A[v_i] + T.float32(1)        -->         ...
//                                                         B[v_i] = A[v_i] + T.float32(1)
//
// A function that has the attribute keeps it, unless it is 0: then it is found again. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include "iropt/analysis/tir/op_pattern.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

const PrimFunc* AnnotateOpPattern(const PrimFunc* function, Workspace& workspace) {
  const auto* old = As<IntAttr>(function->attrs->Find(attr::kOpPattern));
  if (old && old->value != 0) return function;
  const auto pattern = static_cast<int64_t>(AnalyzeOpPattern(*function));
  if (old && old->value == pattern) return function;
  auto* copy = workspace.New<PrimFunc>(*function);
  copy->attrs = function->attrs->With(attr::kOpPattern, IntAttr::Get(pattern));
  return copy;
}

}  // namespace

Pass CreateAnnotateTIROpPattern(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* function, FunctionPassContext& context) {
    return Result<const PrimFunc*>(AnnotateOpPattern(function, context.workspace()));
  });
}

}  // namespace iropt
