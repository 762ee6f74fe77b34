#include "iropt/eval/tir/thread_plan.h"

#include <algorithm>

#include "iropt/eval/tir/thread_sync.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {

bool IsUnknownAttribute(const tir::AttrStmt& attr) {
  // These alias a buffer to another, and number threads by several variables.
  return attr.attr_key == attr::kBufferBindScope || attr.attr_key == attr::kScopeId;
}

bool ThreadPlan::Synchronizes(const tir::Stmt* stmt) {
  if (!synchronizing_) synchronizing_ = FindSynchronizing(body_);
  return synchronizing_->contains(stmt);
}

bool ThreadPlan::RunsInLockstep(const tir::Stmt* stmt) {
  return Synchronizes(stmt) || Accesses().exchanging.contains(stmt);
}

const ThreadAccesses& ThreadPlan::Accesses() {
  if (!accesses_) accesses_ = FindThreadAccesses(body_);
  return *accesses_;
}

const ThreadMemory* ThreadPlan::LayoutOf(const tir::Var* data) {
  return IsThreadMemory(data) ? Accesses().memory.Find(data) : nullptr;
}

bool ThreadPlan::IsAccumulated(const tir::Var* data) { return Accesses().accumulated.contains(data); }

bool ThreadPlan::HasCopies(const tir::Var* data) {
  const ThreadMemory* layout = LayoutOf(data);
  return layout && !layout->axes.empty();
}

std::optional<ThreadReduction> ThreadReduction::Of(const tir::Call& call, const tir::CommReducer* combiner) {
  const auto* number = call.args.empty() ? nullptr : As<tir::IntImm>(call.args[0]);
  if (!number || number->value <= 0 || number->value >= int64_t{call.args.size()}) return std::nullopt;
  const auto width = static_cast<size_t>(number->value);
  if (call.args.size() < 2 * width + 2 || !combiner || combiner->result.size() != width ||
      combiner->identity_element.size() != width || combiner->lhs.size() != width || combiner->rhs.size() != width) {
    return std::nullopt;
  }
  const std::span<const PrimExpr* const> args(call.args.begin(), call.args.size());
  return ThreadReduction{combiner, args.subspan(1, width), args[1 + width], args.subspan(2 + width, width),
                         args.subspan(2 + 2 * width)};
}

bool ThreadReduction::IsOver(const tir::Var* axis) const { return std::ranges::find(axes, axis) != axes.end(); }

LockstepCall LockstepCallOf(const PrimExpr* value) {
  if (CallOf(value, op::kTirTvmThreadAllreduce)) return LockstepCall::kReduction;
  const tir::Call* sync = CallOf(value, op::kTirTvmStorageSync);
  if (!sync) return LockstepCall::kOther;
  const auto* scope = sync->args.empty() ? nullptr : As<tir::StringImm>(sync->args[0]);
  return scope && scope->value == "global" ? LockstepCall::kGridBarrier : LockstepCall::kBarrier;
}

}  // namespace iropt
