#include "primitive_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "index_map_tools.h"
#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/support/lookup.h"
#include "stmt_tools.h"

namespace iropt::schedule {

struct PrimitiveCall::Wanted {
  bool block;
  bool loop;
  bool mark;  // in place of a loop: at the root, or inlined
  std::string_view words;

  static Wanted Block() { return {true, false, false, "a block"}; }
  static Wanted Loop() { return {false, true, false, "a loop"}; }
  static Wanted LoopOrMark() { return {false, true, true, "a loop"}; }
  static Wanted BlockOrLoop() { return {true, true, false, "a block or loop"}; }
};

Failure PrimitiveCall::Refuse(std::string message, std::vector<const Node*> parts) {
  schedule_.refusal_ = {std::move(message), std::move(parts)};
  return Failure{ErrorCode::PassFailed};
}

Failure PrimitiveCall::RefuseKind(const Param& param, std::string_view wanted) {
  return Refuse(fmt::format("the argument '{}' of {} must be {}", param.name, instruction_.primitive->python, wanted));
}

std::optional<int64_t> PrimitiveCall::NumberOf(const Value& value) const {
  if (const auto* name = value.As<Value::Name>()) {
    const Variable* variable = schedule_.Find(name->text);
    if (!variable || variable->state) return std::nullopt;
    return variable->value;
  }
  return value.AsInt();
}

Result<const Variable*> PrimitiveCall::FindRef(const Param& param, const Value& value, const Wanted& wanted) {
  const auto* name = value.As<Value::Name>();
  if (!name) return RefuseKind(param, wanted.words);
  const Variable* variable = schedule_.Find(name->text);
  if (!variable) return Refuse(fmt::format("the random variable '{}' is not defined", name->text));
  if (!variable->ref) {
    const bool is_mark = variable->value == kComputeAtRoot || variable->value == kComputeInline;
    if (wanted.mark && is_mark) return variable;
    return RefuseKind(param, wanted.words);
  }
  if (!variable->ref->stmt)
    return Refuse(fmt::format("'{}' no longer exists: an earlier primitive has removed it", name->text));
  if (!(variable->ref->is_block() ? wanted.block : wanted.loop)) return RefuseKind(param, wanted.words);
  const bool is_changed_loop = !instruction_.primitive->is_pure && !variable->ref->is_block();
  if (is_changed_loop && HasLoopJumps(variable->ref->loop().body))
    return Refuse(fmt::format("the loop '{}' may end early: T.break_loop or T.continue_loop leaves its body",
                              variable->ref->loop().loop_var->name));
  if (state_ && state_ != variable->state)
    return Refuse(fmt::format("the blocks and loops of {} are of different functions", instruction_.primitive->python));
  state_ = variable->state;
  return variable;
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, Ref*& ref) {
  const Wanted wanted = param.kind == ParamKind::kBlock  ? Wanted::Block()
                        : param.kind == ParamKind::kLoop ? Wanted::Loop()
                                                         : Wanted::BlockOrLoop();
  IROPT_ASSIGN_OR_RETURN(const Variable* variable, FindRef(param, value, wanted));
  ref = variable->ref;
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, std::vector<Ref*>& refs) {
  const bool is_loops = param.kind == ParamKind::kLoops;
  const bool may_be_one = param.kind == ParamKind::kBlocksOrLoop;
  if (may_be_one && value.As<Value::Name>()) {
    IROPT_ASSIGN_OR_RETURN(const Variable* variable, FindRef(param, value, Wanted::BlockOrLoop()));
    refs = {variable->ref};
    return {};
  }
  const auto* list = value.As<Value::List>();
  if (!list)
    return RefuseKind(param, is_loops ? "loops" : may_be_one ? "a loop or a list of blocks" : "a list of blocks");
  for (const Value& item : *list) {
    IROPT_ASSIGN_OR_RETURN(const Variable* variable, FindRef(param, item, is_loops ? Wanted::Loop() : Wanted::Block()));
    refs.push_back(variable->ref);
  }
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, Variable& loop_or_mark) {
  IROPT_ASSIGN_OR_RETURN(const Variable* variable, FindRef(param, value, Wanted::LoopOrMark()));
  loop_or_mark = *variable;
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, Factors& factors) {
  const auto* list = value.As<Value::List>();
  if (!list) return RefuseKind(param, "a list of integers");
  for (const Value& item : *list) {
    factors.push_back(NumberOf(item));
    if (!factors.back() && !item.is_none()) return RefuseKind(param, "a list of integers");
  }
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, int64_t& number) {
  const auto found = NumberOf(value);
  if (!found) return RefuseKind(param, "an integer");
  number = *found;
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, bool& flag) {
  int64_t number = 0;
  IROPT_RETURN_IF_ERROR(ReadArg(param, value, number));
  flag = number != 0;
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, Side& side) {
  const auto number = NumberOf(value);
  if (!number || (*number != 0 && *number != 1))
    return RefuseKind(param, "0 for a buffer that is read, or 1 for one that is written");
  side = static_cast<Side>(*number);
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, std::string& text) {
  const auto* given = value.As<std::string>();
  if (!given) return RefuseKind(param, "a string");
  text = *given;
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, std::vector<int64_t>& numbers) {
  const auto* list = value.As<Value::List>();
  if (!list) return RefuseKind(param, "a list of integers");
  for (const Value& item : *list) {
    const auto number = NumberOf(item);
    if (!number) return RefuseKind(param, "a list of integers");
    numbers.push_back(*number);
  }
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, std::vector<double>& numbers) {
  const auto* list = value.As<Value::List>();
  if (!list) return RefuseKind(param, "a list of numbers");
  for (const Value& item : *list) {
    const auto* real = item.As<double>();
    if (!real && !item.AsInt()) return RefuseKind(param, "a list of numbers");
    numbers.push_back(real ? *real : static_cast<double>(*item.AsInt()));
  }
  return {};
}

Status PrimitiveCall::ReadArg(const Param& param, const Value& value, const IndexMapAttr*& map) {
  const auto* given = value.As<const IndexMapAttr*>();
  if (value.is_none() && param.kind == ParamKind::kOptionalIndexMap) return {};
  if (!given || !state_) return RefuseKind(param, "an index map");
  LookupMap<const tir::Var*, const PrimExpr*> values;
  for (const tir::Var* var : FreeVarsOf(**given)) {
    values[var] = ValueOf(*var);
    if (!values[var])
      return Refuse(
          fmt::format("the index map {} uses '{}', which is neither a number of the trace nor one variable of "
                      "the function",
                      ToPython(**given), var->name));
  }
  map = values.empty() ? *given : WithFreeVars(**given, values, state_->workspace());
  return {};
}

Status PrimitiveCall::ReadArg(const Param&, const Value& value, Value& any) {
  any = value;
  return {};
}

const PrimExpr* PrimitiveCall::ValueOf(const tir::Var& var) const {
  const Variable* variable = schedule_.Find(var.name);
  if (variable) return variable->ref ? nullptr : state_->make().Const(variable->value, var.dtype);
  const tir::Var* found = nullptr;
  const auto consider = [&](const tir::Var* candidate) {
    if (candidate->name != var.name || candidate == found || candidate->dtype.is_handle()) return true;
    const bool is_only = !found;
    found = candidate;
    return is_only;
  };
  const PrimFunc& func = *state_->func();
  for (const tir::Var* param : func.params) {
    if (!consider(param)) return nullptr;
  }
  for (const tir::Buffer* buffer : func.param_buffers) {
    if (!buffer) continue;
    for (const PrimExpr* dim : buffer->shape) {
      if (!std::ranges::all_of(VarsOf(dim), consider)) return nullptr;
    }
  }
  return found;
}

}  // namespace iropt::schedule
