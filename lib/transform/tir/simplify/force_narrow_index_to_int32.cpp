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
#include <unordered_map>

#include "index_dtypes.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

constexpr DataType kTarget = DataType::Int(32);

bool IsWideInt(DataType dtype) { return dtype.is_int() && dtype.bits > 32; }

// The variables that become int32, and what replaces them.
using Int32Vars = std::unordered_map<const tir::Var*, const tir::Var*>;

class Int32Rewriter : public IndexDTypeRewriter {
 public:
  Int32Rewriter(Int32Vars& vars, Workspace& workspace) : IndexDTypeRewriter(workspace), vars_(vars) {}

  const std::string& error() const { return error_; }

  const PrimFunc* Rewrite(const PrimFunc* func) {
    PrimFunc copy = *func;
    std::vector<const tir::Buffer*> buffers;
    for (const tir::Buffer* buffer : func->param_buffers) buffers.push_back(buffer ? ParamBuffer(buffer) : nullptr);
    copy.param_buffers = workspace().Copy(buffers);
    std::vector<const tir::Var*> params;
    for (const tir::Var* param : func->params) params.push_back(Param(param));
    copy.params = workspace().Copy(params);
    copy.body = VisitStmt(func->body);
    if (copy.body == func->body && params == std::vector(func->params.begin(), func->params.end()) &&
        buffers == std::vector(func->param_buffers.begin(), func->param_buffers.end()))
      return func;
    copy.type = PrimFuncType(&copy);
    return workspace().New<PrimFunc>(copy);
  }

 protected:
  const PrimExpr* VisitVar(const tir::Var* var) override {
    const auto known = vars_.find(var);
    if (known != vars_.end()) return known->second;
    if (!in_index() || !IsWideInt(var->dtype) || !var->dtype.is_scalar()) return var;
    return vars_[var] = VarWithBits(var, kTarget.bits);
  }
  const PrimExpr* VisitIntImm(const tir::IntImm* constant) override {
    if (constant->dtype != DataType::Int(64)) return constant;
    if (constant->value > std::numeric_limits<int32_t>::max() ||
        constant->value < std::numeric_limits<int32_t>::min()) {
      Fail(fmt::format("the constant {} does not fit in int32", constant->value));
      return constant;
    }
    return make().At(constant->span()).Int(constant->value, kTarget);
  }
  // A conversion to another dtype than that of indices has a purpose.
  const PrimExpr* VisitCast(const tir::Cast* cast) override {
    if (!in_index() || !cast->dtype.is_int() || cast->dtype.bits < 32) return IndexDTypeRewriter::VisitCast(cast);
    const PrimExpr* value = VisitExpr(cast->value);
    const DataType dtype = kTarget.with_lanes(cast->dtype.lanes);
    return value->dtype == dtype ? value : make().At(cast->span()).Keep(tir::Cast(dtype, value));
  }
  // Comparisons of conditions are about indices.
  const PrimExpr* VisitBinary(const tir::BinaryExpr* expr) override {
    if (expr->kind < NodeKind::kEQ || expr->kind > NodeKind::kGE) return IndexDTypeRewriter::VisitBinary(expr);
    const auto scope = InIndex(in_condition() && expr->a->dtype.is_int() && expr->b->dtype.is_int());
    return IndexDTypeRewriter::VisitBinary(expr);
  }
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    if (const auto known = vars_.find(let->var); known != vars_.end()) Remap(let->var, known->second);
    return IndexDTypeRewriter::VisitLetStmt(let);
  }
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) RefuseWide(*buffer);
    return IndexDTypeRewriter::VisitBlock(block);
  }

 private:
  const tir::Buffer* ParamBuffer(const tir::Buffer* buffer) {
    RefuseWide(*buffer);
    return VisitBufferDef(buffer);
  }
  const tir::Var* Param(const tir::Var* param) {
    const auto scope = InIndex();
    return VisitVarDef(param);
  }
  void RefuseWide(const tir::Buffer& buffer) {
    if (IsWideInt(buffer.dtype))
      Fail(fmt::format("the elements of buffer '{}' are {}", buffer.name, buffer.dtype.ToString()));
  }
  void Fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  Int32Vars& vars_;
  std::string error_;
};

}  // namespace

Pass CreateForceNarrowIndexToInt32(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              // A variable may be used elsewhere before it is used in an index.
                              Int32Vars vars;
                              Int32Rewriter(vars, context.workspace()).VisitStmt(function->body);
                              Int32Rewriter rewriter(vars, context.workspace());
                              const PrimFunc* result = rewriter.Rewrite(function);
                              if (rewriter.error().empty()) return result;
                              return Error{ErrorCode::PassFailed, rewriter.error()};
                            });
}

}  // namespace iropt
