// Makes small Relax modules for tests, well-formed or not, and lists the errors that the verifier finds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iropt/analysis/well_formed.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/module.h"
#include "iropt/op/op.h"

namespace iropt {

class GraphMaker {
 public:
  GraphMaker() : scope_(context_) {}

  static DataType Float32() { return DataType::Float(32); }
  IRContext& context() { return context_; }
  Workspace& workspace() { return workspace_; }
  Module& module() { return module_; }

  const PrimExpr* Int(int64_t value) { return context_.Int(value); }
  const TensorType* Tensor(std::vector<const PrimExpr*> dims) { return TensorType::Get(dims, Float32()); }
  const TensorType* Tensor(std::initializer_list<int64_t> dims) {
    std::vector<const PrimExpr*> exprs;
    for (int64_t dim : dims) exprs.push_back(Int(dim));
    return Tensor(exprs);
  }
  const ShapeType* Shape(std::vector<const PrimExpr*> dims) { return ShapeType::Get(dims); }
  const TupleType* TupleOf(std::vector<const Type*> fields) { return TupleType::Get(fields); }

  Var* NewVar(std::string_view name, const Type* type) { return workspace_.NewVar(name, type); }
  DataflowVar* NewLocal(std::string_view name, const Type* type) { return workspace_.NewDataflowVar(name, type); }

  const Call* CallOf(const Expr* callee, std::vector<const Expr*> args, const Type* type,
                     std::vector<const Type*> type_args = {}, const Attr* attrs = nullptr) {
    const TupleType* types = type_args.empty() ? nullptr : TupleOf(type_args);
    return workspace_.New<Call>(callee, workspace_.Copy(args), attrs, types, type);
  }
  const Call* CallOp(std::string_view op, std::vector<const Expr*> args, const Type* type) {
    return CallOf(GetOp(op), std::move(args), type);
  }
  const ExternFunc* Packed(std::string_view name) {
    return workspace_.New<ExternFunc>(name, DictAttr::Empty(), FuncType::Opaque(ObjectType::Get()));
  }
  const iropt::Tuple* MakeTuple(std::vector<const Expr*> fields) {
    std::vector<const Type*> types;
    for (const Expr* field : fields) types.push_back(field->type);
    return workspace_.New<iropt::Tuple>(workspace_.Copy(fields), TupleOf(types));
  }
  const ShapeExpr* MakeShape(std::vector<const PrimExpr*> dims) {
    return workspace_.New<ShapeExpr>(workspace_.Copy(dims), Shape(dims));
  }

  const Binding* Bind(const Var* var, const Expr* value) { return workspace_.New<VarBinding>(var, value); }
  const Binding* Cast(const Var* var, const Expr* value, const Type* type) {
    return workspace_.New<MatchCast>(var, value, type);
  }
  const BindingBlock* Block(std::vector<const Binding*> bindings) {
    return workspace_.New<BindingBlock>(workspace_.Copy(bindings));
  }
  const BindingBlock* Dataflow(std::vector<const Binding*> bindings) {
    return workspace_.New<DataflowBlock>(workspace_.Copy(bindings));
  }
  const SeqExpr* Seq(std::vector<const BindingBlock*> blocks, const Expr* body) {
    return workspace_.New<SeqExpr>(workspace_.Copy(blocks), body, body->type);
  }

  // The result has the type of the body, as far as callers can know it.
  const Function* MakeFunction(std::vector<const Var*> params, const Expr* body, bool pure = true,
                               const DictAttr* attrs = DictAttr::Empty()) {
    std::vector<const Type*> types;
    for (const Var* param : params) types.push_back(param->type);
    const Type* result = FunctionReturnType(params, body->type, nullptr, workspace_.arena());
    return workspace_.New<Function>(workspace_.Copy(params), body, result, pure, attrs,
                                    FuncType::Get(workspace_.arena(), types, result, pure));
  }
  // Adds the function; the workspace starts again, so the function must be complete.
  void Add(std::string_view name, const BaseFunc* function) {
    module_.Set(GlobalVar::Get(name), function, workspace_.Finish());
    workspace_ = Workspace();
  }
  void AddMain(std::vector<const Var*> params, std::vector<const BindingBlock*> blocks, const Expr* body,
               bool pure = true, const DictAttr* attrs = DictAttr::Empty()) {
    Add("main", MakeFunction(std::move(params), Seq(std::move(blocks), body), pure, attrs));
  }

  // The errors that the verifier reports, in order: "KIND: MESSAGE".
  std::vector<std::string> Verify(VerifyOptions options = {}) {
    DiagnosticBuffer buffer;
    DiagnosticEngine engine(&buffer);
    const bool ok = VerifyModule(module_, options, engine);
    std::vector<std::string> errors;
    for (const Diagnostic& d : buffer.diagnostics()) errors.push_back(std::string(d.kind) + ": " + d.message);
    IROPT_CHECK(ok == errors.empty());
    return errors;
  }

 private:
  IRContext context_;
  IRContext::Scope scope_;
  Workspace workspace_;
  Module module_;
};

using Errors = std::vector<std::string>;

}  // namespace iropt
