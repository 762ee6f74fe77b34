#include "rule_schedule.h"

#include <algorithm>
#include <utility>

#include "iropt/ir/context.h"
#include "iropt/support/check.h"

namespace iropt::schedule {

namespace {

Value ToValue(const Name& name) { return Value{Value::Name{name}}; }

Value ToValue(const Names& names) {
  Value::List list;
  for (const Name& name : names) list.push_back(ToValue(name));
  return Value{std::move(list)};
}

Value Text(std::string_view text) { return Value{std::string(text)}; }

template <class T>
Value Numbers(const std::vector<T>& numbers) {
  Value::List list;
  for (const T& number : numbers) {
    if constexpr (std::is_same_v<T, int64_t>)
      list.push_back(Value{number});
    else
      list.push_back(number ? Value{*number} : Value{});
  }
  return Value{std::move(list)};
}

}  // namespace

RuleSchedule::RuleSchedule(Schedule& schedule, std::string_view function)
    : schedule_(schedule), function_(function), ok_(schedule.StateOf(function) != nullptr) {}

Names RuleSchedule::Call(std::string_view primitive, std::vector<Value> args) {
  if (!ok_) return {};
  const Primitive* row = FindPrimitive(primitive);
  IROPT_CHECK(row && args.size() <= row->params.size(), "a call of '{}' that does not fit its row", primitive);
  while (args.size() < row->params.size()) args.push_back(DefaultOf(row->params[args.size()]));
  auto results = schedule_.Apply(*row, std::move(args));
  if (results) return *std::move(results);
  ok_ = false;
  refusal_ = schedule_.refusal();
  return {};
}

void RuleSchedule::Restart() {
  schedule_.Restart();
  ok_ = true;
}

const PrimFunc& RuleSchedule::original() const { return *schedule_.OriginalOf(function_); }

bool RuleSchedule::Fail() {
  if (ok_) refusal_ = {"the function does not have the form that the rule expects", {}};
  return ok_ = false;
}

Name RuleSchedule::CallForOne(std::string_view primitive, std::vector<Value> args) {
  Names results = Call(primitive, std::move(args));
  return results.empty() ? Name() : std::move(results[0]);
}

bool RuleSchedule::Try(std::string_view primitive, std::vector<Value> args) {
  if (!ok_) return false;
  Call(primitive, std::move(args));
  return std::exchange(ok_, true);
}

Name RuleSchedule::GetBlock(std::string_view name) { return CallForOne("GetBlock", {Text(name), Text(function_)}); }
Names RuleSchedule::GetChildBlocks(const Name& block_or_loop) {
  return Call("GetChildBlocks", {ToValue(block_or_loop)});
}
Names RuleSchedule::GetLoops(const Name& block) { return Call("GetLoops", {ToValue(block)}); }
Names RuleSchedule::GetLoops(const Name& block, size_t count) {
  Names loops = GetLoops(block);
  if (loops.size() < count) Fail();
  loops.resize(std::max(loops.size(), count));
  return loops;
}
Names RuleSchedule::GetProducers(const Name& block) { return Call("GetProducers", {ToValue(block)}); }
Names RuleSchedule::GetConsumers(const Name& block) { return Call("GetConsumers", {ToValue(block)}); }

Names RuleSchedule::Split(const Name& loop, const Factors& factors, bool has_condition) {
  std::vector<Value> args = {ToValue(loop), Numbers(factors)};
  if (!has_condition) args.insert(args.end(), {Value{true}, Value{true}});
  Names loops = Call("Split", std::move(args));
  loops.resize(factors.size());
  return loops;
}
Names RuleSchedule::LoopPartition(const Name& loop, const Factors& factors) {
  return Call("LoopPartition", {ToValue(loop), Numbers(factors)});
}
Name RuleSchedule::Fuse(const Names& loops) { return CallForOne("Fuse", {ToValue(loops)}); }
Name RuleSchedule::FuseFrom(const Names& loops, size_t first) {
  return Fuse({loops.begin() + static_cast<std::ptrdiff_t>(std::min(first, loops.size())), loops.end()});
}
void RuleSchedule::Reorder(const Names& loops) { Call("Reorder", {ToValue(loops)}); }
Name RuleSchedule::AddUnitLoop(const Name& block_or_loop) {
  return CallForOne("AddUnitLoop", {ToValue(block_or_loop)});
}
void RuleSchedule::Bind(const Name& loop, std::string_view thread_axis) {
  Call("Bind", {ToValue(loop), Text(thread_axis)});
}
void RuleSchedule::Unroll(const Name& loop) { Call("Unroll", {ToValue(loop)}); }
void RuleSchedule::Vectorize(const Name& loop) { Call("Vectorize", {ToValue(loop)}); }
void RuleSchedule::Parallel(const Name& loop) { Call("Parallel", {ToValue(loop)}); }
void RuleSchedule::Annotate(const Name& block_or_loop, std::string_view key, int64_t value) {
  Call("Annotate", {ToValue(block_or_loop), Text(key), Value{value}});
}
void RuleSchedule::Annotate(const Name& block_or_loop, std::string_view key, const std::vector<int64_t>& values) {
  Call("Annotate", {ToValue(block_or_loop), Text(key), Numbers(values)});
}
void RuleSchedule::ComputeAt(const Name& block, const Name& loop, bool preserve_unit_loops) {
  Call("ComputeAt", {ToValue(block), ToValue(loop), Value{preserve_unit_loops}});
}
void RuleSchedule::ReverseComputeAt(const Name& block, const Name& loop, bool preserve_unit_loops) {
  Call("ReverseComputeAt", {ToValue(block), ToValue(loop), Value{preserve_unit_loops}});
}
bool RuleSchedule::TryComputeInline(const Name& block) { return Try("ComputeInline", {ToValue(block)}); }
bool RuleSchedule::TryReverseComputeInline(const Name& block) { return Try("ReverseComputeInline", {ToValue(block)}); }
void RuleSchedule::ComputeInline(const Name& block) { Call("ComputeInline", {ToValue(block)}); }
void RuleSchedule::ReverseComputeInline(const Name& block) { Call("ReverseComputeInline", {ToValue(block)}); }
Name RuleSchedule::CacheRead(const Name& block, int64_t buffer, std::string_view scope) {
  return CallForOne("CacheRead", {ToValue(block), Value{buffer}, Text(scope)});
}
Name RuleSchedule::CacheWrite(const Name& block, int64_t buffer, std::string_view scope) {
  return CallForOne("CacheWrite", {ToValue(block), Value{buffer}, Text(scope)});
}
Name RuleSchedule::ReIndex(const Name& block, int64_t buffer, bool is_write) {
  return CallForOne("ReIndex", {ToValue(block), Value{buffer}, Value{int64_t{is_write}}});
}
void RuleSchedule::TransformLayout(const Name& block, int64_t buffer, bool is_write, const IndexMapAttr* map,
                                   Padding padding) {
  std::vector<Value> args = {ToValue(block), Value{buffer}, Value{int64_t{is_write}}, Value{map}};
  if (ok_ && padding == Padding::kZero) {
    const auto regions = is_write ? Block(block).writes : Block(block).reads;
    const DataType dtype = regions[static_cast<size_t>(buffer)]->buffer->dtype;
    std::vector<const tir::Var*> params;
    for (const PrimExpr* result : map->results)
      params.push_back(IRContext::Current().NewSymVar("i" + std::to_string(params.size()), result->dtype));
    const PrimExpr* const zero[] = {state().make().Const(0, dtype)};
    args.push_back(Value{IndexMapAttr::Get(params, zero)});
  } else if (padding == Padding::kAny) {
    args.insert(args.end(), {Value{}, Value{true}});
  }
  Call("TransformLayout", std::move(args));
}
void RuleSchedule::TransformBlockLayout(const Name& block, const IndexMapAttr* map) {
  Call("TransformBlockLayout", {ToValue(block), Value{map}});
}
bool RuleSchedule::TryTransformBlockLayout(const Name& block, const IndexMapAttr* map) {
  return Try("TransformBlockLayout", {ToValue(block), Value{map}});
}
void RuleSchedule::PadEinsum(const Name& block, const std::vector<int64_t>& padding) {
  Call("PadEinsum", {ToValue(block), Numbers(padding)});
}
Name RuleSchedule::Blockize(const Name& loop) { return CallForOne("Blockize", {ToValue(loop)}); }
void RuleSchedule::Tensorize(const Name& loop, std::string_view intrinsic) {
  Call("Tensorize", {ToValue(loop), Text(intrinsic)});
}
Name RuleSchedule::DecomposeReduction(const Name& block, const Name& loop) {
  return CallForOne("DecomposeReduction", {ToValue(block), ToValue(loop)});
}
Name RuleSchedule::RFactor(const Name& loop, int64_t axis) {
  return CallForOne("RFactor", {ToValue(loop), Value{axis}});
}
void RuleSchedule::SetScope(const Name& block, int64_t buffer, std::string_view scope) {
  Call("SetScope", {ToValue(block), Value{buffer}, Text(scope)});
}
void RuleSchedule::StorageAlign(const Name& block, int64_t buffer, int64_t axis, int64_t factor, int64_t offset) {
  Call("StorageAlign", {ToValue(block), Value{buffer}, Value{axis}, Value{factor}, Value{offset}});
}

Ref* RuleSchedule::RefOf(const Name& name) const {
  const Variable* variable = schedule_.Find(name);
  IROPT_CHECK(ok_ && variable && variable->ref && variable->ref->stmt, "a rule looks at what does not exist");
  return variable->ref;
}
bool RuleSchedule::Exists(const Name& name) const {
  const Variable* variable = schedule_.Find(name);
  return variable && variable->ref && variable->ref->stmt;
}
const tir::Block& RuleSchedule::Block(const Name& block) const { return RefOf(block)->block(); }
const tir::For& RuleSchedule::Loop(const Name& loop) const { return RefOf(loop)->loop(); }

}  // namespace iropt::schedule
