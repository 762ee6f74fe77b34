// The verifier's checks of calls. The rules of call_tir and its variants are those of their type rules: the callee
// takes the operands, then the outputs, then the entries of the shape operand.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/tir/stmt.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/op_groups.h"
#include "iropt/op/ops/call_tir.h"
#include "verifier.h"

namespace iropt {

namespace {

// The outputs of a call that returns one tensor or a tuple of them.
std::span<const Type* const> OutputsOf(const Type* const& type) {
  const auto* tuple = As<TupleType>(type);
  return tuple ? tuple->fields.span() : std::span(&type, 1);
}

// Returns whether operands and outputs have exactly the types of the parameters: the usual case, which needs no
// matching.
bool MatchesExactly(const FuncType& callee, const Call& call, const Type* const& given) {
  const auto& args = *static_cast<const Tuple*>(call.args[1]);
  const size_t num_args = args.fields.size();
  if (callee.flags != 0 || call.attrs || call.args.size() != 2 || num_args >= callee.params.size()) return false;
  for (size_t i = 0; i < num_args; ++i) {
    if (args.fields[i]->type != callee.params[i]) return false;
  }
  const std::span<const Type* const> outputs = callee.params.span().subspan(num_args);
  return (given->kind == NodeKind::kTupleType) == (outputs.size() > 1) && std::ranges::equal(outputs, OutputsOf(given));
}

// What is wrong with a call of call_tir; empty if nothing is.
std::string FormProblem(const Call& call, const Type* type_of_callee, const Module& module) {
  const auto problem = [&](std::string_view text) { return fmt::format("'{}' {}", CalleeName(call), text); };
  if (call.args.size() != 2 && call.args.size() != 3)
    return problem("takes a function, a tuple of operands and possibly a shape");
  const auto* callee = As<FuncType>(type_of_callee);
  const auto* name = As<GlobalVar>(call.args[0]);
  const ModuleEntry* entry = name ? module.Find(name) : nullptr;
  if (!name || !callee || callee->opaque || (entry && !Is<PrimFunc>(entry->func)))
    return problem("takes a PrimFunc of the module");
  if (!Is<Tuple>(call.args[1])) return problem("must have its operands written as a tuple");
  if (!call.type_args || call.type_args->fields.size() != 1) return problem("has no result type");
  return {};
}

std::string InplaceOperandProblem(const Type* output, const Type* input, size_t index) {
  const auto* out = As<TensorType>(output);
  const auto* in = As<TensorType>(input);
  const bool fits =
      out && in && out->has_shape() && in->has_shape() && !out->dtype.is_void() && in->dtype == out->dtype;
  // The shapes are compared as types, which compares dimensions symbolically.
  if (fits && (in == out || TypeBaseCheck(out, in) == BaseCheck::kPass)) return {};
  return fmt::format("output {} of type {} cannot be written to an operand of type {}", index, TypeToString(output),
                     TypeToString(input));
}

std::string InplaceProblem(const Call& call, const Module& module) {
  const auto& args = *To<Tuple>(call.args[1]);
  const IntList indices = InplaceAttrs(call).inplace_indices();
  const std::span<const Type* const> outputs = OutputsOf(call.type_args->fields[0]);
  if (indices.size() != outputs.size()) return "there must be one in-place index for each output";
  std::vector<bool> taken(args.fields.size(), false);
  bool any = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int64_t index = indices[i];
    if (index < -1 || index >= static_cast<int64_t>(args.fields.size())) {
      return fmt::format("in-place index {} is not one of the {} operands, nor -1", index, args.fields.size());
    }
    if (index == -1) continue;
    if (taken[index]) return fmt::format("in-place index {} appears more than once", index);
    taken[index] = any = true;
    std::string problem = InplaceOperandProblem(outputs[i], TypeOfExpr(args.fields[index], &module), i);
    if (!problem.empty()) return problem;
  }
  return any ? "" : "no output of 'R.call_tir_inplace' is written in place";
}

std::string SignatureProblem(const Call& call, const Type* type_of_callee, InferContext& infer) {
  const Type* const given = call.type_args->fields[0];
  if (MatchesExactly(*To<FuncType>(type_of_callee), call, given)) return {};
  const Type* expected = DeriveCallTirOutput(call, infer);
  if (!expected || IsBaseOf(expected, given)) return {};
  return fmt::format("the result type {} does not fit the outputs {} of '{}'", TypeToString(given),
                     TypeToString(expected), To<GlobalVar>(call.args[0])->name);
}

}  // namespace

void RelaxVerifier::VisitCall(const Call& call) {
  const auto* op = As<Op>(call.op);
  bool typed = op || VisitLeaf(call.op, call, "callee");
  for (const Expr* arg : call.args) typed &= VisitLeaf(arg, call, "argument");
  if (call.type_args) UseType(call.type_args, call);
  typed &= CheckType(call.type, call);
  if (op && !op->info->attrs_key.empty()) CheckAttributes(call, *op->info);
  if (check_types_ && typed) CheckPurity(call);
  const size_t errors = diagnostics_.error_count();
  if (op && IsInspection(op->id)) {
    CheckInspection(call);
  } else if (op && IsCallTir(op->id) && typed) {
    CheckCallTir(call, op->id == op::kCallTirInplace);
  }
  if (check_types_ && typed && diagnostics_.error_count() == errors) CheckCallType(call);
}

void RelaxVerifier::CheckAttributes(const Call& call, const OpInfo& op) {
  const auto* record = As<ObjectAttr>(call.attrs);
  if (record && record->type_key == op.attrs_key && record->values.size() == op.attrs.size()) return;
  Error(call, "wrong-attributes",
        fmt::format("a call of {} has {} where it needs the attributes {}", op.script,
                    record ? record->type_key : std::string_view("no attributes"), op.attrs_key));
}

void RelaxVerifier::CheckPurity(const Call& call) {
  if (!state_.pure && state_.dataflow_block == 0) return;
  const auto* op = As<Op>(call.op);
  if (op ? op->info->pure : !IsImpureCall(&call, &module_)) return;
  if (state_.dataflow_block != 0) {
    Error(call, "impure-call",
          fmt::format("'{}' has side effects, which are not allowed in a dataflow block", CalleeName(call)));
  } else {
    Error(call, "impure-call",
          fmt::format("'{}' has side effects, which are not allowed in a pure function", CalleeName(call)))
        .Note(Location(*state_.pure), fmt::format("the function is pure and has no attribute '{}'", attr::kForcePure));
  }
}

// A declared type may be more general than the inferred one, or not comparable, but must not contradict it.
void RelaxVerifier::CheckCallType(const Call& call) {
  const Type* inferred = InferType(&call, infer_);
  if (!inferred || inferred == call.type) return;
  if (TypeBaseCheck(call.type, inferred) != BaseCheck::kFailL0) return;
  Error(call, "contradictory-type",
        fmt::format("the result of '{}' has type {}, not {}", CalleeName(call), TypeToString(inferred),
                    TypeToString(call.type)));
}

void RelaxVerifier::CheckInspection(const Call& call) {
  const auto* type = As<PrimType>(call.type);
  if (!type || !type->value) return;
  Error(call, "not-in-normal-form",
        fmt::format("'{}' with a known result must be written as that value", CalleeName(call)));
}

void RelaxVerifier::CheckCallTir(const Call& call, bool inplace) {
  const Type* callee = call.args.empty() ? nullptr : TypeOfExpr(call.args[0], &module_);
  std::string problem = FormProblem(call, callee, module_);
  if (problem.empty() && inplace) problem = InplaceProblem(call, module_);
  if (problem.empty()) problem = SignatureProblem(call, callee, infer_);
  if (!problem.empty()) Error(call, "call-tir", std::move(problem));
}

}  // namespace iropt
