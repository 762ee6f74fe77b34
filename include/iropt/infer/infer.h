// Type inference of Relax expressions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// The context of type rules: the module (for the types of global functions), an arena (only types with a shape variable
// need it), and the engine for errors. A rule reports at most one error per call.
class InferContext {
 public:
  InferContext(const Module* module, Arena& arena, DiagnosticEngine* diagnostics)
      : module_(module), arena_(arena), diagnostics_(diagnostics) {}

  const Module* module() const { return module_; }
  Arena& arena() { return arena_; }
  // Report an error at a node: the call, or one of its operands (whose location is used if known), and return null, so
  // that a rule can `return ctx.Error(...)`. The message of a call is preceded by the name of the callee. Without an
  // engine errors are only counted.
  const Type* Error(const Node& at, std::string message);
  const Type* Error(const Call& call, std::string message);
  const Type* Error(const Call& call, size_t operand, std::string message);
  bool failed() const { return failed_; }

  // Tells which symbolic variables are in scope at the expression. The type of a conditional mentions no others. By
  // default, variables that a branch defines by match_cast count as local to the branch, unless the previous type of
  // the conditional mentions them.
  void set_scope(std::function<bool(const tir::Var*)> defined) { defined_ = std::move(defined); }
  const std::function<bool(const tir::Var*)>& scope() const { return defined_; }

 private:
  const Type* Report(Span span, DiagId kind, std::string message);

  const Module* module_;
  Arena& arena_;
  DiagnosticEngine* diagnostics_;
  bool failed_ = false;
  std::function<bool(const tir::Var*)> defined_;
};

// The type of `expr`, whose operands have types: calls by the rule of the operator or the type of the callee, tuples,
// projections, conditionals, functions. Null after an error was reported.
const Type* InferType(const Expr* expr, InferContext& ctx);

// The current type of an expression; for a global function, the one in the module. Null if it has none yet.
const Type* TypeOfExpr(const Expr* expr, const Module* module);

std::vector<const Type*> TypesOf(std::span<const Expr* const> operands, const Module& module);
std::vector<const Type*> TypesOf(std::span<const Var* const> params);

// The result of calling something of type `callee` with the arguments: matches parameters, binds symbolic variables and
// substitutes them in the result type. Unbound variables are erased from the result.
const Type* DeriveCallType(const FuncType* callee, const Call& call, InferContext& ctx);

// The output type of call_tir and its variants as far as the callee's signature and the arguments determine it, for
// comparison with the explicit type: null if they do not (without an error), or after an error was reported.
const Type* DeriveCallTirOutput(const Call& call, InferContext& ctx);

// The relation of `derived` to `base` (TVM's BaseCheckResult): impossible, possible with a check of the type, possible
// with a check of dimensions, certain.
enum class BaseCheck : uint8_t { kFailL0, kFailL1, kFailL2, kPass };
BaseCheck TypeBaseCheck(const Type* base, const Type* derived);
inline bool IsBaseOf(const Type* base, const Type* derived) { return TypeBaseCheck(base, derived) == BaseCheck::kPass; }

// The most precise type that is a base of both (TVM's StructInfoLCA).
const Type* TypeLCA(const Type* a, const Type* b, Arena& arena);

// The type with everything that depends on a variable without a value replaced by the next more general type: a shape
// by its rank, a scalar by its dtype. `value_of` gives the value of a symbolic variable (the variable itself if it
// stays), `shape_of` the ShapeExpr or variable that replaces a Relax shape variable; null if there is none.
const Type* EraseToWellDefined(const Type* type, FunctionRef<const PrimExpr*(const tir::Var*)> value_of,
                               FunctionRef<const Expr*(const Expr*)> shape_of, Arena& arena);

// The result type of a function with these parameters: the type of the body if it is more precise than the annotation
// (or there is none), without the symbolic variables that the parameters do not define; else the annotation.
const Type* FunctionReturnType(std::span<const Var* const> params, const Type* body, const Type* annotated,
                               Arena& arena);

// The result of an operator that inspects a tensor (R.inspect...) if the type of the call, which must be there,
// determines it; else null. Such a call is written as the value.
const PrimExpr* KnownInspection(const Call& call);

// Calls `f` for each symbolic variable that a parameter (or a match_cast) of the type defines: those that are a whole
// dimension or value. Function types define no variables outside.
void ForEachDefinedSymVar(const Type* type, FunctionRef<void(const tir::Var*)> f);

// Name of the derivation of packed functions, whose result types the call gives (FuncType::derive_func).
inline constexpr std::string_view kDeriveByTypeArgs = "tvm.relax.struct_info.infer_by_sinfo_args";
// The type of packed functions.
inline const FuncType* PackedFuncType() { return FuncType::Opaque(ObjectType::Get(), false, kDeriveByTypeArgs); }
// Returns whether the type, which may be null, is that one. O(1) for types of other kinds, which are most.
bool IsPackedFuncType(const Type* type);

// Equality up to the names of the symbolic variables that a function type's parameters define.
bool FuncTypeAlphaEqual(const FuncType* a, const FuncType* b);

// The name of the callee in a script: "R.add", "main"; "a function" for an expression without a name.
std::string CalleeName(const Call& call);

// Printable form in TVMScript for messages: R.Tensor((n, 4), dtype="float32").
std::string TypeToString(const Type* type);
std::string DimToString(const PrimExpr* dim);
std::string DimsToString(std::span<const PrimExpr* const> dims);

}  // namespace iropt
