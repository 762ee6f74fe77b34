// tir.ForceNarrowIndexToInt32: computes all indices in int32, without asking whether their values fit.
//
//   def f(A: T.Buffer((T.int64(4),), "float32"), n: T.int64):       def f(A: T.Buffer((4,), "float32"), n: T.int32):
//       for i in range(T.int64(4)):                           -->       for i in range(4):
//           A[i + n] = T.float32(0)                                         A[i + n] = T.float32(0)
//
// Shapes of buffers, scalar parameters, and all variables that occur in an index, a bound of a loop or an axis of a
// block change, and every constant of int64. A function with an int64 buffer, which would need wide values, is an
// error, and so is a constant that int32 does not hold. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <limits>
#include <string>

#include "iropt/arith/index_dtypes.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

constexpr DataType kTarget = DataType::Int(32);

bool IsWideInt(DataType dtype) { return dtype.is_int() && dtype.bits > 32; }

class Int32Rewriter : public arith::IndexDTypeNormalizer {
 public:
  Int32Rewriter(Vars& vars, Workspace& workspace) : IndexDTypeNormalizer(kTarget, vars, workspace) {}

  const std::string& error() const { return error_; }

 protected:
  const PrimExpr* VisitIntImm(const tir::IntImm* constant) override {
    if (constant->dtype != DataType::Int(64)) return constant;
    if (constant->value > std::numeric_limits<int32_t>::max() ||
        constant->value < std::numeric_limits<int32_t>::min()) {
      Fail(fmt::format("the constant {} does not fit in int32", constant->value));
      return constant;
    }
    return make().At(constant->span()).Int(constant->value, kTarget);
  }
  void CheckBuffer(const tir::Buffer& buffer) override {
    if (IsWideInt(buffer.dtype))
      Fail(fmt::format("the elements of buffer '{}' are {}", buffer.name, buffer.dtype.ToString()));
  }

 private:
  void Fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  std::string error_;
};

}  // namespace

Pass CreateForceNarrowIndexToInt32(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              Int32Rewriter::Vars vars;
                              Int32Rewriter(vars, context.workspace()).FindVars(function->body);
                              Int32Rewriter rewriter(vars, context.workspace());
                              const PrimFunc* result = rewriter.Rewrite(function);
                              if (!rewriter.error().empty()) return Error{ErrorCode::PassFailed, rewriter.error()};
                              if (result == function) return result;
                              PrimFunc typed = *result;
                              typed.type = PrimFuncType(result);
                              return context.workspace().New<PrimFunc>(typed);
                            });
}

}  // namespace iropt
