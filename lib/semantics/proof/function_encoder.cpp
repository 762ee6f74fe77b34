#include "semantics/proof/function_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/analysis/tir/written_params.h"
#include "iropt/arith/side_effect.h"
#include "iropt/eval/evaluator.h"
#include "iropt/ir/element.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op.h"
#include "iropt/op/op_groups.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/call.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/device.h"
#include "iropt/op/ops/dropout.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/slice.h"
#include "iropt/runtime/value.h"
#include "iropt/support/stack.h"

namespace iropt::proof {

namespace {

constexpr size_t kDeepestInlined = 16;
constexpr size_t kMostInlined = 2048;
// Constants that are computed here, in bytes and in elementary operations.
constexpr size_t kMostBytes = size_t{1} << 26;
constexpr uint64_t kMostWork = uint64_t{1} << 26;

// Returns whether the result is a value of the operands. Operators on memory and of the virtual machine have no kernel.
bool IsFunctional(const Op& op) {
  if (HasKernel(*op.info) || op.info->row == OpInfo::kNoRow) return true;
  return IsOneOf(op, op::kCallTir, op::kCallTirWithGrad, op::kCallDpsPacked, op::kCallPurePacked, op::kPrint,
                 op::kAssertOp, op::kNullValue, op::kToVdevice, op::kHintOnDevice, op::kBuiltinStopLiftParams);
}

// The tensor or the scalar, if it is one number.
std::optional<HostValue> UniformValue(const Value& value) {
  if (value.term->kind != TermKind::kNumber || !IsElementType(value.dtype())) return std::nullopt;
  if (value.kind == Value::Kind::kScalar) return HostValue(*ScalarOf(*Filled(*value.term, {})));
  std::vector<int64_t> shape;
  int64_t bytes = value.dtype().bytes();
  for (const PrimExpr* dim : value.dims) {
    const int64_t* number = arith::AsInt(dim);
    if (number == nullptr || __builtin_mul_overflow(bytes, std::max<int64_t>(*number, 1), &bytes)) return std::nullopt;
    shape.push_back(*number);
  }
  if (bytes > static_cast<int64_t>(kMostBytes)) return std::nullopt;
  return HostValue(Filled(*value.term, shape));
}

// Returns whether all symbolic variables of a type have values.
bool HasSizes(const Type* type, const SymVarMap& sizes) {
  bool has_all = true;
  const auto check = [&](List<const PrimExpr*> dims) {
    for (const PrimExpr* dim : dims) {
      tir::ForEachVar(dim, [&](const tir::Var* var) { has_all = has_all && sizes.Find(var) != nullptr; });
    }
  };
  if (const auto* tensor = As<TensorType>(type)) check(tensor->dims);
  if (const auto* shape = As<ShapeType>(type)) check(shape->values);
  if (const auto* tuple = As<TupleType>(type)) {
    for (const Type* field : tuple->fields) has_all = has_all && HasSizes(field, sizes);
  }
  return has_all;
}

// Returns whether a function does nothing but to write to parameters behind the first ones.
bool OnlyComputes(const PrimFunc& function, size_t num_inputs) {
  const std::vector<bool> written = WrittenParams(function);
  for (size_t i = 0; i < std::min(num_inputs, written.size()); ++i) {
    if (written[i]) return false;
  }
  bool only_computes = true;
  tir::PostOrderVisit(function.body, [&](const Node* node) {
    if (Is<tir::AssertStmt>(node)) only_computes = false;
    const auto* evaluate = As<tir::Evaluate>(node);
    if (evaluate && arith::SideEffect(evaluate->value) > CallEffect::kReadState) only_computes = false;
    const auto* call = As<tir::Call>(node);
    if (call && arith::SideEffect(call) > CallEffect::kReadState) only_computes = false;
  });
  return only_computes;
}

}  // namespace

Value FunctionEncoder::Fail(std::string reason) {
  if (obstacle_.empty()) obstacle_ = std::move(reason);
  return {.kind = Value::Kind::kOther, .term = Text("failure")};
}

const Term* FunctionEncoder::Text(std::string text) {
  return terms_.Make({.kind = TermKind::kText, .text = std::move(text)});
}

const PrimExpr* FunctionEncoder::Dim(const PrimExpr* dim, Frame& frame) {
  if (!frame.sizes->empty()) dim = SubstituteSymVars(dim, *frame.sizes);
  return indices_.Dimension(indices_.Wide(dim));
}

bool FunctionEncoder::ReadDims(const TensorType& type, Frame& frame, Dims& dims) {
  if (!type.known || type.dtype.is_void()) return false;
  for (const PrimExpr* dim : type.dims) dims.push_back(Dim(dim, frame));
  return true;
}

const Term* FunctionEncoder::TypeTerm(const Type* type, Frame& frame) {
  if (const auto* tensor = As<TensorType>(type)) {
    Term term{.kind = TermKind::kShape, .dtype = tensor->dtype, .number = tensor->ndim};
    if (tensor->known) {
      for (const PrimExpr* dim : tensor->dims) term.indices.push_back(Dim(dim, frame));
    } else {
      term.text = "unknown";
    }
    return terms_.Make(std::move(term));
  }
  if (const auto* tuple = As<TupleType>(type)) {
    Term term{.kind = TermKind::kTuple};
    for (const Type* field : tuple->fields) term.args.push_back(TypeTerm(field, frame));
    return terms_.Make(std::move(term));
  }
  if (const auto* shape = As<ShapeType>(type)) {
    Term term{.kind = TermKind::kShape, .number = shape->ndim, .text = shape->known ? "shape" : "unknown shape"};
    for (const PrimExpr* dim : shape->values) term.indices.push_back(Dim(dim, frame));
    return terms_.Make(std::move(term));
  }
  return Text(type ? std::string(NodeKindName(type->kind)) : "no type");
}

Value FunctionEncoder::Leaf(const Term* base, const Type* type, Frame& frame) {
  if (const auto* tuple = As<TupleType>(type)) {
    Value value{.kind = Value::Kind::kTuple};
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      const Term* part =
          terms_.Make({.kind = TermKind::kResult, .number = static_cast<int64_t>(i), .args = {base}, .text = "part"});
      value.fields.push_back(Leaf(part, tuple->fields[static_cast<uint32_t>(i)], frame));
    }
    return value;
  }
  if (const auto* tensor = As<TensorType>(type)) {
    Dims dims;
    if (tensor->dtype.is_void()) return {.kind = Value::Kind::kOther, .term = base};
    Term typed = *base;
    typed.dtype = tensor->dtype;
    if (!ReadDims(*tensor, frame, dims)) return unranked_.Tensor(terms_.Make(std::move(typed)));
    return ops_.Tensor(terms_.Read(terms_.Make(std::move(typed)), ops_.Places(dims)), dims);
  }
  if (const auto* shape = As<ShapeType>(type); shape && shape->known) {
    Value value{.kind = Value::Kind::kShape};
    for (const PrimExpr* dim : shape->values) value.dims.push_back(Dim(dim, frame));
    return value;
  }
  if (const auto* prim = As<PrimType>(type); prim && prim->value) {
    const PrimExpr* number = frame.sizes->empty() ? prim->value : SubstituteSymVars(prim->value, *frame.sizes);
    return {.kind = Value::Kind::kScalar, .term = terms_.Index(number)};
  }
  return {.kind = Value::Kind::kOther, .term = base};
}

const Term* FunctionEncoder::Close(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kTensor: return terms_.Lambda(value.dims, value.term);
    case Value::Kind::kUnranked: return unranked_.Close(value);
    case Value::Kind::kShape: return terms_.Make({.kind = TermKind::kShape, .indices = value.dims, .text = "shape"});
    case Value::Kind::kTuple: {
      Term term{.kind = TermKind::kTuple, .text = "tuple"};
      for (const Value& field : value.fields) term.args.push_back(Close(field));
      return terms_.Make(std::move(term));
    }
    case Value::Kind::kScalar:
    case Value::Kind::kOther: break;
  }
  return value.term;
}

FunctionEncoder::Outcome FunctionEncoder::Encode(const Function& function, const SymVarMap& sizes,
                                                 const Params& params) {
  Frame frame{.sizes = &sizes};
  std::vector<const Var*> constant_params;
  for (size_t i = 0; i < function.params.size(); ++i) {
    const Var* param = function.params[static_cast<uint32_t>(i)];
    const size_t number = params.numbers[i];
    const auto constant = std::ranges::find(params.constants, number, [](const auto& entry) { return entry.first; });
    const Term* base = terms_.Make({.kind = TermKind::kParam, .number = static_cast<int64_t>(number)});
    const bool is_constant = constant != params.constants.end();
    if (is_constant) constant_params.push_back(param);
    frame.values[param] = is_constant ? OfArray(constant->second) : Leaf(base, param->type, frame);
  }
  const Value result = EncodeBody(function, frame, constant_params);
  if (terms_.is_full()) Fail("its terms are too long");
  return {.result = Close(result), .effects = effects_, .failures = failures_, .obstacle = obstacle_};
}

Value FunctionEncoder::EncodeBody(const Function& function, Frame& frame, std::span<const Var* const> constant_params) {
  frame.inference_calls = FindInferenceCalls(function, mode_, constant_params);
  Value result = Encode(function.body, frame);
  if (obstacle_.empty()) Check(function.ret_type, result, frame);
  return result;
}

Value FunctionEncoder::Encode(const Expr* expr, Frame& frame) {
  if (!obstacle_.empty()) return Fail({});
  if (terms_.is_full()) return Fail("its terms are too long");
  switch (expr->kind) {
    case NodeKind::kVar:
    case NodeKind::kDataflowVar: {
      const Value* value = frame.values.Find(To<Var>(expr));
      return value ? *value : Fail("it uses a value of a function around it");
    }
    case NodeKind::kConstant: return EncodeConstant(*To<Constant>(expr));
    case NodeKind::kTuple: {
      Value value{.kind = Value::Kind::kTuple};
      for (const Expr* field : To<Tuple>(expr)->fields) value.fields.push_back(Encode(field, frame));
      return value;
    }
    case NodeKind::kTupleGetItem: {
      const auto* item = To<TupleGetItem>(expr);
      const Value tuple = Encode(item->tuple, frame);
      const auto index = static_cast<size_t>(item->index);
      if (tuple.kind == Value::Kind::kTuple && index < tuple.fields.size()) return tuple.fields[index];
      if (tuple.kind != Value::Kind::kOther) return Fail("an item of what is not a tuple");
      const Term* part =
          terms_.Make({.kind = TermKind::kResult, .number = item->index, .args = {tuple.term}, .text = "part"});
      return Leaf(part, item->type, frame);
    }
    case NodeKind::kShapeExpr: {
      Value value{.kind = Value::Kind::kShape};
      for (const PrimExpr* dim : To<ShapeExpr>(expr)->values) value.dims.push_back(Dim(dim, frame));
      return value;
    }
    case NodeKind::kPrimValue: {
      const PrimExpr* number = To<PrimValue>(expr)->value;
      if (const auto* real = As<tir::FloatImm>(number)) {
        const Term* term = terms_.Number(real->dtype, real->value);
        return term ? Value{.kind = Value::Kind::kScalar, .term = term} : Fail("a scalar of an unknown dtype");
      }
      if (!number->dtype.is_integer()) return Fail("a scalar that is not an integer");
      if (!frame.sizes->empty()) number = SubstituteSymVars(number, *frame.sizes);
      return {.kind = Value::Kind::kScalar, .term = terms_.Index(number)};
    }
    case NodeKind::kStringImm: return {.term = Text(fmt::format("string {}", To<StringImm>(expr)->value))};
    case NodeKind::kDataTypeImm:
      return {.term = Text(fmt::format("dtype {}", To<DataTypeImm>(expr)->value.ToString()))};
    case NodeKind::kExternFunc: return {.term = Text(fmt::format("extern {}", To<ExternFunc>(expr)->global_symbol))};
    case NodeKind::kSeqExpr: return EncodeSeq(*To<SeqExpr>(expr), frame);
    case NodeKind::kIf: return EncodeIf(*To<If>(expr), frame);
    case NodeKind::kCall: return WithStack([&] { return EncodeCall(*To<Call>(expr), frame); });
    default: return Fail("it has functions as values");
  }
}

Value FunctionEncoder::EncodeSeq(const SeqExpr& seq, Frame& frame) {
  for (const BindingBlock* block : seq.blocks) {
    for (const Binding* binding : block->bindings) {
      Value value =
          Is<MatchCast>(binding) ? EncodeMatchCast(*To<MatchCast>(binding), frame) : Encode(ValueOf(binding), frame);
      if (!obstacle_.empty()) return value;
      frame.values[binding->var] = std::move(value);
    }
  }
  return Encode(seq.body, frame);
}

// A check that may fail is an effect. In a function that is called several times, the sizes that it defines may differ.
Value FunctionEncoder::EncodeMatchCast(const MatchCast& cast, Frame& frame) {
  Value value = Encode(cast.value, frame);
  if (TypeEqual(cast.value->type, cast.match_type) || !obstacle_.empty()) return value;
  if (!inlined_.empty()) return Fail("a function that it calls has R.match_cast");
  const Term* closed = Close(value);
  const Term* type = TypeTerm(cast.match_type, frame);
  effects_.push_back(terms_.Make({.kind = TermKind::kResult, .args = {closed, type}, .text = "match_cast"}));
  const auto* tensor = As<TensorType>(cast.match_type);
  Dims dims;
  if (value.is_tensor() && tensor && ReadDims(*tensor, frame, dims) && dims.size() == value.dims.size())
    return ops_.Tensor(terms_.At(value.term, value.dims, ops_.Places(dims)), dims);
  if (value.kind == Value::Kind::kOther || value.kind == Value::Kind::kUnranked)
    return Leaf(closed, cast.match_type, frame);
  return value;
}

// Effects of a branch are those under its condition.
Value FunctionEncoder::EncodeBranch(const Expr* branch, const Term* condition, std::string text, Frame& frame) {
  const Term* taken = terms_.Make({.kind = TermKind::kTuple, .args = {condition}, .text = std::move(text)});
  const size_t num_effects = effects_.size();
  failures_.Enter(taken);
  Value result = Encode(branch, frame);
  failures_.Leave();
  for (size_t i = num_effects; i < effects_.size(); ++i)
    effects_[i] = terms_.Make({.kind = TermKind::kResult, .args = {taken, effects_[i]}, .text = "branch"});
  return result;
}

Value FunctionEncoder::EncodeIf(const If& branch, Frame& frame) {
  const Value condition = Encode(branch.cond, frame);
  const Term* chooses = Close(condition);
  const Value a = EncodeBranch(branch.true_branch, chooses, "then", frame);
  const Value b = EncodeBranch(branch.false_branch, chooses, "else", frame);
  if (!obstacle_.empty()) return Fail({});
  const bool is_simple = condition.is_tensor() && condition.dims.empty();
  if (is_simple && a.is_tensor() && b.is_tensor() && a.dims == b.dims && a.dtype() == b.dtype())
    return ops_.Tensor(terms_.Apply(op::kWhere, nullptr, {condition.term, a.term, b.term}, a.dtype()), a.dims);
  const Term* chosen = terms_.Make({.kind = TermKind::kResult, .args = {chooses, Close(a), Close(b)}, .text = "if"});
  return Leaf(chosen, branch.type, frame);
}

Value FunctionEncoder::OfArray(const std::shared_ptr<const NDArray>& array) {
  Dims dims;
  for (const int64_t dim : array->shape()) dims.push_back(indices_.Int(dim));
  if (!IsElementType(array->dtype())) return Fail("a constant of an unknown dtype");
  const Term* uniform = terms_.UniformOf(*array);
  Value value = ops_.Tensor(uniform ? uniform : terms_.Read(terms_.Array(array), ops_.Places(dims)), dims);
  value.array = array;
  return value;
}

Value FunctionEncoder::EncodeConstant(const Constant& constant) { return OfArray(constant.data->shared_from_this()); }

std::optional<Value> FunctionEncoder::EvaluateConstants(const OpCall& call) {
  const OpInfo& info = OpInfoOf(call.op);
  if (!info.pure || !HasKernel(info) || call.args.empty() || call.op == op::kNnDropout || call.op == op::kNnBatchNorm)
    return std::nullopt;
  std::vector<HostValue> values;
  const auto append = [&](const Value& value, auto& self) -> std::optional<HostValue> {
    if (value.array) return HostValue(value.array);
    if (value.is_tensor() || value.kind == Value::Kind::kScalar) return UniformValue(value);
    if (value.kind == Value::Kind::kShape) {
      ShapeValue shape;
      for (const PrimExpr* dim : value.dims) {
        const int64_t* number = arith::AsInt(dim);
        if (number == nullptr) return std::nullopt;
        shape.push_back(*number);
      }
      return HostValue(std::move(shape));
    }
    if (value.kind != Value::Kind::kTuple) return std::nullopt;
    TupleValue tuple;
    for (const Value& field : value.fields) {
      auto part = self(field, self);
      if (!part) return std::nullopt;
      tuple.fields.push_back(*std::move(part));
    }
    return HostValue(std::move(tuple));
  };
  bool has_tensor = false;
  for (const Value& arg : call.args) {
    auto value = append(arg, append);
    if (!value) return std::nullopt;
    has_tensor = has_tensor || arg.is_tensor() || arg.kind == Value::Kind::kTuple;
    values.push_back(*std::move(value));
  }
  if (!has_tensor) return std::nullopt;
  const Result<HostValue> result = EvalOp(info, call.attrs, values, {.max_bytes = kMostBytes, .max_work = kMostWork});
  const auto* tensor = result.ok() ? std::get_if<iropt::Tensor>(&result->state) : nullptr;
  if (tensor == nullptr) return std::nullopt;
  // As terms, sums keep how great their errors may be.
  const bool is_sum = call.op == op::kAdd || call.op == op::kSubtract;
  if (is_sum && terms_.laws().reals && (*tensor)->dtype().is_floating()) return std::nullopt;
  return OfArray(*tensor);
}

Value FunctionEncoder::EncodeCall(const Call& call, Frame& frame) {
  if (const auto* op = As<Op>(call.op)) return EncodeOpCall(call, *op, frame);
  if (const auto* var = As<GlobalVar>(call.op)) {
    const ModuleEntry* entry = module_.Find(var);
    const auto* callee = entry ? As<Function>(entry->func) : nullptr;
    return callee ? EncodeInlined(*callee, *var, call, frame) : Fail("it calls a function that is not of Relax");
  }
  const auto* callee = As<ExternFunc>(call.op);
  if (callee == nullptr) return Fail("it calls a function that is a value");
  if (IsImpureCall(&call, &module_))
    return Fail(fmt::format("it calls '{}', which may have effects", callee->global_symbol));
  std::vector<Value> args;
  for (const Expr* arg : call.args) args.push_back(Encode(arg, frame));
  return Unknown(call, nullptr, fmt::format("extern {}", callee->global_symbol), args, frame);
}

Value FunctionEncoder::Unknown(const Call& call, const Op* op, std::string text, const std::vector<Value>& args,
                               Frame& frame) {
  Term term{.kind = TermKind::kResult, .text = std::move(text)};
  if (op) term.op = op->id;
  term.attrs = call.attrs && !frame.sizes->empty() ? SubstituteSymVars(call.attrs, *frame.sizes) : call.attrs;
  for (const Value& arg : args) term.args.push_back(Close(arg));
  if (call.type_args) {
    for (const Type* type : call.type_args->fields) term.args.push_back(TypeTerm(type, frame));
  }
  const Term* result = terms_.Make(std::move(term));
  failures_.Add(result);
  return Leaf(result, call.type, frame);
}

Value FunctionEncoder::EncodeOpCall(const Call& call, const Op& op, Frame& frame) {
  const OpInfo& info = *op.info;
  if (!IsFunctional(op)) return Fail(fmt::format("it uses {}", info.script));
  OpCall known{.op = op.id, .attrs = call.attrs};
  std::string text;
  bool has_effect = op.id == op::kPrint || op.id == op::kAssertOp;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Expr* arg = call.args[static_cast<uint32_t>(i)];
    const auto* var = As<GlobalVar>(arg);
    if (var == nullptr) {
      known.args.push_back(Encode(arg, frame));
      continue;
    }
    const ModuleEntry* entry = module_.Find(var);
    const auto* loops = entry ? As<PrimFunc>(entry->func) : nullptr;
    if (!IsCallTir(op.id) || i != 0 || loops == nullptr) return Fail("it passes a function");
    const auto* inputs = As<Tuple>(call.args[1]);
    if (!OnlyComputes(*loops, inputs ? inputs->fields.size() : 1))
      return Fail(fmt::format("the loops of '{}' may have effects", var->name));
    text = names_.Of(*loops, var->name);
    if (!names_.difference().empty()) return Fail(names_.difference());
  }
  if (!obstacle_.empty()) return Fail({});
  if (!info.pure && !has_effect) return Fail(fmt::format("{} may have effects", info.script));
  if (op.id == op::kNnDropout || op.id == op::kNnBatchNorm) {
    const bool is_inference = frame.inference_calls.contains(&call);
    text = is_inference ? "inference" : "training";
    known.is_inference = is_inference;
    if (auto value = ops_.Encode(known)) return *std::move(value);
    has_effect = op.id == op::kNnDropout && !is_inference;
  }
  if (has_effect) {
    text += fmt::format("effect {}", effects_.size());
    Value result = Unknown(call, &op, text, known.args, frame);
    Term effect{.kind = TermKind::kResult, .op = op.id, .attrs = call.attrs, .text = text};
    for (const Value& arg : known.args) effect.args.push_back(Close(arg));
    effects_.push_back(terms_.Make(std::move(effect)));
    return result;
  }
  if (text.empty()) {
    if (auto constant = EvaluateConstants(known)) return *std::move(constant);
    const auto* tensor = As<TensorType>(call.type);
    const bool has_shape = tensor && ReadDims(*tensor, frame, known.dims);
    if (tensor) known.dtype = tensor->dtype;
    // The dimensions of a dynamic slice are not in its type.
    const bool is_unranked = tensor && !has_shape && op.id != op::kDynamicStridedSlice;
    if (tensor || Is<TupleType>(call.type)) {
      if (auto value = is_unranked ? unranked_.Encode(known) : ops_.Encode(known)) {
        for (const Term* failure : FailuresOf(known, *value, terms_)) failures_.Add(failure);
        return *std::move(value);
      }
    }
  }
  return Unknown(call, &op, std::move(text), known.args, frame);
}

bool FunctionEncoder::Bind(const Type* type, const Value& value, SymVarMap& sizes) {
  const auto bind = [&](List<const PrimExpr*> dims, const Dims& values) {
    if (dims.size() != values.size()) return false;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto* var = As<tir::Var>(dims[static_cast<uint32_t>(i)]);
      if (var && !sizes.Find(var)) sizes.Set(var, values[i]);
    }
    return true;
  };
  if (const auto* tensor = As<TensorType>(type); tensor && tensor->known)
    return value.is_tensor() && bind(tensor->dims, value.dims);
  if (const auto* shape = As<ShapeType>(type); shape && shape->known)
    return value.kind == Value::Kind::kShape && bind(shape->values, value.dims);
  if (const auto* tuple = As<TupleType>(type)) {
    if (value.kind != Value::Kind::kTuple || value.fields.size() != tuple->fields.size()) return false;
    for (size_t i = 0; i < value.fields.size(); ++i) {
      if (!Bind(tuple->fields[static_cast<uint32_t>(i)], value.fields[i], sizes)) return false;
    }
    return true;
  }
  return !Is<PrimType>(type);
}

void FunctionEncoder::Check(const Type* type, const Value& value, Frame& frame) {
  const auto check = [&](List<const PrimExpr*> dims, const Dims& values) {
    if (dims.size() != values.size()) return false;
    for (size_t i = 0; i < values.size(); ++i) {
      const PrimExpr* dim = Dim(dims[static_cast<uint32_t>(i)], frame);
      if (!indices_.IsEqual(dim, values[i]))
        failures_.Add(terms_.Make({.kind = TermKind::kShape, .indices = {dim, values[i]}, .text = "declared"}));
    }
    return true;
  };
  bool is_checked = false;
  if (const auto* tensor = As<TensorType>(type)) {
    const bool is_ranked = tensor->ndim == kUnknownDim || static_cast<size_t>(tensor->ndim) == value.dims.size();
    const bool has_dtype = tensor->dtype.is_void() || tensor->dtype == value.dtype();
    is_checked = value.is_tensor() && is_ranked && has_dtype && (!tensor->known || check(tensor->dims, value.dims));
    is_checked |= value.kind == Value::Kind::kUnranked && has_dtype && !tensor->known && tensor->ndim == kUnknownDim;
  } else if (const auto* shape = As<ShapeType>(type)) {
    const bool is_ranked = shape->ndim == kUnknownDim || static_cast<size_t>(shape->ndim) == value.dims.size();
    is_checked = value.kind == Value::Kind::kShape && is_ranked && (!shape->known || check(shape->values, value.dims));
  } else if (const auto* tuple = As<TupleType>(type)) {
    is_checked = value.kind == Value::Kind::kTuple && value.fields.size() == tuple->fields.size();
    for (uint32_t i = 0; is_checked && i < tuple->fields.size(); ++i) Check(tuple->fields[i], value.fields[i], frame);
  } else {
    is_checked = type == nullptr || !Is<PrimType>(type) || value.kind == Value::Kind::kScalar;
  }
  if (is_checked) return;
  failures_.Add(
      terms_.Make({.kind = TermKind::kResult, .args = {Close(value), TypeTerm(type, frame)}, .text = "declared"}));
}

Value FunctionEncoder::EncodeInlined(const Function& callee, const GlobalVar& var, const Call& call, Frame& frame) {
  if (std::ranges::find(inlined_, &var) != inlined_.end() || inlined_.size() >= kDeepestInlined)
    return Fail("it calls itself");
  SymVarMap sizes;
  Frame inner{.sizes = &sizes};
  if (call.args.size() != callee.params.size()) return Fail("a call with other parameters");
  std::vector<const Term*> args;
  for (uint32_t i = 0; i < call.args.size(); ++i) {
    Value value = Encode(call.args[i], frame);
    if (!obstacle_.empty()) return value;
    if (!Bind(callee.params[i]->type, value, sizes)) return Fail("the sizes of a called function are not known");
    args.push_back(Close(value));
    inner.values[callee.params[i]] = std::move(value);
  }
  std::pair key(&callee, std::move(args));
  auto known = known_calls_.find(key);
  if (known == known_calls_.end()) {
    for (const Var* param : callee.params) {
      if (!HasSizes(param->type, sizes)) return Fail("the sizes of a called function are not known");
    }
    if (++num_inlined_ > kMostInlined) return Fail("it calls too many functions");
    FailureSet outside = std::exchange(failures_, {});
    for (const Var* param : callee.params) Check(param->type, *inner.values.Find(param), inner);
    const size_t num_effects = effects_.size();
    inlined_.push_back(&var);
    Value result = EncodeBody(callee, inner);
    inlined_.pop_back();
    FailureSet inside = std::exchange(failures_, std::move(outside));
    if (!obstacle_.empty() || effects_.size() != num_effects) {
      failures_.AddAll(inside);
      return result;
    }
    known = known_calls_.emplace(std::move(key), Inlined{std::move(result), std::move(inside)}).first;
  }
  failures_.AddAll(known->second.failures);
  return known->second.result;
}

}  // namespace iropt::proof
