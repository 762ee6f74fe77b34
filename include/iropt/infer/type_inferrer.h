// The type rules for mutators and builders:
//
//   OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
//   BlockBuilder builder(workspace, &inferrer);
#pragma once

#include "iropt/infer/infer.h"
#include "iropt/ir/relax/builder.h"

namespace iropt {

class OpTypeInferrer : public TypeInferrer {
 public:
  OpTypeInferrer(const Module* module, Arena& arena, DiagnosticEngine* diagnostics)
      : context_(module, arena, diagnostics) {}

  const Type* Infer(const Expr* expr) override { return InferType(expr, context_); }
  bool IsBaseOf(const Type* base, const Type* derived) override { return iropt::IsBaseOf(base, derived); }
  const Type* ReturnType(List<const Var*> params, const Type* body) override {
    return FunctionReturnType(params, body, nullptr, context_.arena());
  }
  const PrimExpr* ScalarForm(const Call& call) override { return KnownInspection(call); }

 private:
  InferContext context_;
};

}  // namespace iropt
