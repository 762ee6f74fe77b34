// Type inference of graph-level expressions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/expr.h"
#include "iropt/ir/module.h"

namespace iropt {

// What type rules need: the module (for the types of global functions), where to allocate (only types with a shape variable
// need it), and where errors go. A rule reports at most one error per call.
class InferContext {
 public:
  InferContext(const Module* module, Arena& arena, DiagnosticEngine* diagnostics)
      : module_(module), arena_(arena), diagnostics_(diagnostics) {}

  const Module* module() const { return module_; }
  Arena& arena() { return arena_; }
  // Reports "operator: message" at the operand (or the call where the operand has no span); returns null, so that a rule can
  // `return ctx.Error(...)`. Without an engine errors are only counted.
  const Type* Error(const Node& at, std::string message);
  bool failed() const { return failed_; }

 private:
  const Module* module_;
  Arena& arena_;
  DiagnosticEngine* diagnostics_;
  bool failed_ = false;
};

// The type of `expr`, whose operands have types: calls by the rule of the operator or the type of the callee, tuples,
// projections, conditionals, functions. Null after an error was reported.
const Type* InferType(const Expr* expr, InferContext& ctx);

// The result of calling something of type `callee` with the arguments: matches parameters, binds symbolic variables and
// substitutes them in the result type.
const Type* DeriveCallType(const FuncType* callee, const Call& call, InferContext& ctx);

// How `derived` relates to `base` (TVM's BaseCheckResult).
enum class BaseCheck : uint8_t { kFailL0, kFailL1, kFailL2, kPass };
BaseCheck TypeBaseCheck(const Type* base, const Type* derived);
inline bool IsBaseOf(const Type* base, const Type* derived) { return TypeBaseCheck(base, derived) == BaseCheck::kPass; }

// The most precise type that is a base of both (TVM's StructInfoLCA).
const Type* TypeLCA(const Type* a, const Type* b, Arena& arena);

// Printable form in TVMScript for error messages: R.Tensor((n, 4), dtype="float32").
std::string TypeToString(const Type* type);

}  // namespace iropt
