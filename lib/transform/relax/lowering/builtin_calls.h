// Calls of the builtins of TVM's virtual machine, which are packed functions, and their operands.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/op/op.h"

namespace iropt {

class BuiltinCalls {
 public:
  explicit BuiltinCalls(Workspace& workspace) : workspace_(workspace) {}

  // R.call_packed(name, args..., sinfo_args=(type,)). The name is a literal. Operands may be calls, to be normalized.
  Call* Packed(std::string_view name, std::span<const Expr* const> args, const Type* type,
               const Attr* attrs = nullptr) {
    return workspace_.New<Call>(Name(name), workspace_.Copy(args), attrs, TypeArgs(type), type);
  }
  Call* Packed(std::string_view name, std::initializer_list<const Expr*> args, const Type* type) {
    return Packed(name, std::span(args.begin(), args.size()), type);
  }
  // R.call_packed of a function without side effects that returns the type.
  Call* PurePacked(std::string_view name, std::initializer_list<const Expr*> args, const Type* type) {
    const auto* callee = workspace_.New<ExternFunc>(name, DictAttr::Empty(), FuncType::Opaque(type, /*purity=*/true));
    return workspace_.New<Call>(callee, workspace_.arena().Copy<const Expr*>(args), nullptr, nullptr, type);
  }
  // R.call_builtin_with_ctx(name, (args...,), sinfo_args=(type,)).
  Call* WithContext(std::string_view name, std::span<const Expr* const> args, const Type* type);
  Call* WithContext(std::string_view name, std::initializer_list<const Expr*> args, const Type* type) {
    return WithContext(name, std::span(args.begin(), args.size()), type);
  }
  // The call of an operator, whose type is inferred when it is normalized.
  Call* Operator(OpId op, std::initializer_list<const Expr*> args) {
    return workspace_.New<Call>(GetOp(op), workspace_.arena().Copy<const Expr*>(args), nullptr, nullptr, nullptr);
  }

  const Expr* Int(int64_t value) {
    const PrimExpr* number = IRContext::Current().Int(value);
    return workspace_.New<PrimValue>(number, PrimType::Get(number));
  }
  const Expr* DType(DataType dtype) { return workspace_.New<DataTypeImm>(dtype, ObjectType::Get()); }
  const Expr* Text(std::string_view text) {
    return workspace_.New<StringImm>(workspace_.arena().CopyString(text), ObjectType::Get());
  }
  // The type of calls that return nothing.
  static const Type* Void() { return TupleType::Get({}); }

 private:
  const Expr* Name(std::string_view name) {
    return workspace_.New<ExternFunc>(name, DictAttr::Empty(), PackedFuncType());
  }
  const TupleType* TypeArgs(const Type* type) {
    const Type* const types[] = {type};
    return TupleType::Get(workspace_.arena(), types);
  }

  Workspace& workspace_;
};

}  // namespace iropt
