// tir.InstrumentProfileIntrinsics: measures functions and loops, by calls before and after them.
//
//   for i in range(8):                         for i in range(8):
//       for j in range(8):                         T.start_profile_intrinsic(3)
//           B[i, j] = A[i, j]          -->         for j in range(8):
//       for j in range(8):                             B[i, j] = A[i, j]
//           C[i, j] = B[i, j]                      T.end_profile_intrinsic(3)
//                                                  ...
//
// Each function and each loop gets a number, in the order of names and of the text. The depth of a loop is that in its
// nest, its height that of the loops below it; loops within blocks within loops are not seen. tir.instr_siblings: only
// loops that have siblings are measured, else those up to a depth of tir.lwp_max_depth; always of a height of
// at least tir.lwp_min_height. Loops within parallel ones are not measured. The numbers begin after those that the
// module has already or, with tir.reset_start_id, at 0. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "configs/tir.instr_siblings.h"
#include "configs/tir.instrument_lwp.h"
#include "configs/tir.lwp_disable_func_prof.h"
#include "configs/tir.lwp_max_depth.h"
#include "configs/tir.lwp_min_height.h"
#include "configs/tir.reset_start_id.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/pass/context.h"
#include "iropt/pass/option_value.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "transform/tir/host/host_builder.h"

namespace iropt {

namespace {

struct ProfileOptions {
  int64_t max_depth;
  int64_t min_height;
  bool siblings;
  bool functions;
};

struct LoopInfo {
  int32_t id = 0;
  int64_t depth = 0;
  int64_t height = 0;
  bool has_siblings = false;
  bool is_in_parallel = false;
};

using LoopInfos = LookupMap<const tir::For*, LoopInfo>;

class LoopNumberer : public tir::StmtExprVisitor {
 public:
  explicit LoopNumberer(int32_t& next_id) : next_id_(next_id) {}

  LoopInfos loops;

  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitFor(const tir::For* loop) override {
    LoopInfo& info = loops[loop];
    info.id = next_id_++;
    const int64_t height = HeightBelow(loop->body, 0, false);
    loops[loop].height = height;
  }

 private:
  // Numbers the loop, which is not outermost; returns the height of what it contains.
  int64_t AddLoop(const tir::For* loop, int64_t parent_depth, bool is_in_parallel) {
    LoopInfo& info = loops[loop];
    info.id = next_id_++;
    info.depth = parent_depth + 1;
    info.is_in_parallel = is_in_parallel;
    return HeightBelow(loop->body, parent_depth + 1, is_in_parallel || loop->for_kind == tir::ForKind::kParallel);
  }

  // 0 if there are no loops.
  int64_t HeightBelow(const tir::Stmt* stmt, int64_t depth, bool is_in_parallel) {
    return WithStack([&]() -> int64_t {
      if (const auto* seq = As<tir::SeqStmt>(stmt)) return HeightOfSeq(*seq, depth, is_in_parallel);
      if (const auto* branch = As<tir::IfThenElse>(stmt)) {
        const int64_t height = HeightBelow(branch->then_case, depth, is_in_parallel);
        return branch->else_case ? std::max(height, HeightBelow(branch->else_case, depth, is_in_parallel)) : height;
      }
      if (const auto* loop = As<tir::For>(stmt)) {
        const int64_t height = AddLoop(loop, depth, is_in_parallel);
        loops[loop].height = height;
        return height + 1;
      }
      if (const auto* let = As<tir::LetStmt>(stmt)) return HeightBelow(let->body, depth, is_in_parallel);
      if (const auto* attr = As<tir::AttrStmt>(stmt)) return HeightBelow(attr->body, depth, is_in_parallel);
      if (const auto* allocate = As<tir::Allocate>(stmt)) return HeightBelow(allocate->body, depth, is_in_parallel);
      return 0;
    });
  }

  // A loop counts as at least as high as the loops before it.
  int64_t HeightOfSeq(const tir::SeqStmt& seq, int64_t depth, bool is_in_parallel) {
    std::vector<const tir::For*> siblings;
    int64_t height = 0;
    for (const tir::Stmt* stmt : seq.seq) {
      const auto* loop = As<tir::For>(stmt);
      if (!loop) continue;
      height = std::max(height, AddLoop(loop, depth, is_in_parallel));
      loops[loop].height = height;
      siblings.push_back(loop);
    }
    if (siblings.size() > 1) {
      for (const tir::For* loop : siblings) loops[loop].has_siblings = true;
    }
    return siblings.empty() ? 0 : height + 1;
  }

  int32_t& next_id_;
};

class LoopInstrumenter : public tir::StmtExprMutator {
 public:
  LoopInstrumenter(const LoopInfos& loops, const ProfileOptions& options, Workspace& workspace)
      : StmtExprMutator(workspace), build_(workspace), loops_(loops), options_(options) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* Measure(int32_t id, const tir::Stmt* stmt) const {
    const PrimExpr* number = build_.Int32(id);
    const auto call = [&](OpId op) { return build_.Evaluate(build_.Call(DataType::Handle(), op, {number})); };
    return build_.Seq({call(op::kTirStartProfileIntrinsic), stmt, call(op::kTirEndProfileIntrinsic)});
  }

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    const auto* found = loops_.Find(loop);
    return found && IsMeasured(*found) ? Measure(found->id, visited) : visited;
  }

 private:
  bool IsMeasured(const LoopInfo& info) const {
    if (info.is_in_parallel || info.height < options_.min_height) return false;
    return options_.siblings ? info.has_siblings : info.depth <= options_.max_depth;
  }

  const HostBuilder build_;
  const LoopInfos& loops_;
  const ProfileOptions& options_;
};

const PrimFunc* Instrument(const PrimFunc* func, const ProfileOptions& options, int32_t& next_id,
                           Workspace& workspace) {
  const int32_t func_id = next_id++;
  LoopNumberer numberer(next_id);
  numberer.VisitStmt(func->body);
  LoopInstrumenter instrumenter(numberer.loops, options, workspace);
  const PrimFunc* result = WithBody(func, instrumenter.VisitStmt(func->body), workspace);
  if (!options.functions) return result;
  return WrapBody(result, workspace, [&](const tir::Stmt* body) { return instrumenter.Measure(func_id, body); });
}

// The indices of the functions, by name.
std::vector<size_t> SortedByName(const Module& module) {
  std::vector<size_t> order(module.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return module.functions()[i].var->name; });
  return order;
}

// The number after those of all measurements in the module.
int32_t FirstNumber(const Module& module) {
  int64_t next = 0;
  for (const ModuleEntry& entry : module.functions()) {
    const auto* func = As<PrimFunc>(entry.func);
    if (!func) continue;
    tir::PostOrderVisit(func->body, [&](const Node* node) {
      const auto* call = As<tir::Call>(node);
      if (!call || !IsOp(call->op, op::kTirStartProfileIntrinsic) || call->args.size() != 1) return;
      if (const int64_t* id = arith::AsInt(call->args[0])) next = std::max(next, *id + 1);
    });
  }
  return static_cast<int32_t>(next);
}

bool IsOff(const OptionValue& option) {
  const bool* value = option.as_bool();
  const int64_t* number = option.as_int();
  return (value && !*value) || (number && *number == 0);
}

}  // namespace

Pass CreateInstrumentProfileIntrinsics(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    const PassContext& passes = context.context;
    if (IsOff(passes.Config(config::tir::instrument_lwp))) return module;
    const ProfileOptions profile{.max_depth = passes.Config(config::tir::lwp_max_depth),
                                 .min_height = passes.Config(config::tir::lwp_min_height),
                                 .siblings = passes.Config(config::tir::instr_siblings),
                                 .functions = !passes.Config(config::tir::lwp_disable_func_prof)};
    int32_t next_id = passes.Config(config::tir::reset_start_id) ? 0 : FirstNumber(module);
    for (const size_t i : SortedByName(module)) {
      const ModuleEntry entry = module.functions()[i];
      const auto* old = As<PrimFunc>(entry.func);
      if (!old) continue;
      Workspace workspace(module, entry.storage);
      const PrimFunc* func = Instrument(old, profile, next_id, workspace);
      if (func != old) module.SetAt(i, func, workspace.Finish());
    }
    return module;
  });
}

}  // namespace iropt
