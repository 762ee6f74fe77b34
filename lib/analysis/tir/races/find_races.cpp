#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/tir/races/accesses.h"
#include "analysis/tir/races/enumerate.h"
#include "analysis/tir/races/equations.h"
#include "analysis/tir/races/query.h"
#include "analysis/tir/races/smt.h"
#include "iropt/analysis/tir/races.h"
#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

namespace {

using races::Access;
using races::Actors;
using races::Answer;
using races::Query;
using races::Reach;
using races::Solution;

// So many are tried before Z3 is asked.
constexpr size_t kFewValues = 1 << 17;

std::string_view Verb(const Access& access) { return access.kind == Access::Kind::kRead ? "reads" : "changes"; }

// "threadIdx.x = 1, i = 3"
std::string Text(const std::vector<std::pair<std::string, int64_t>>& values) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : values) texts.push_back(fmt::format("{} = {}", name, value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string_view ActorName(Actors::Kind kind) {
  switch (kind) {
    case Actors::Kind::kThreads: return "threads of a block";
    case Actors::Kind::kBlocks: return "blocks of threads";
    case Actors::Kind::kIterations: return "iterations of a loop";
    case Actors::Kind::kCopies: return "a copy under way and its thread";
  }
  return {};
}

std::string_view SingleName(Actors::Kind kind) {
  switch (kind) {
    case Actors::Kind::kThreads: return "thread";
    case Actors::Kind::kBlocks: return "block";
    case Actors::Kind::kIterations: return "iteration";
    case Actors::Kind::kCopies: return "thread";
  }
  return {};
}

class RaceFinder {
 public:
  RaceFinder(const PrimFunc& func, const RaceOptions& options, Workspace& workspace)
      : func_(func),
        options_(options),
        workspace_(workspace),
        budget_(options.max_values),
        solver_limit_(options.solver_limit) {}

  std::vector<RaceFinding> Find() {
    const auto is_block = [](const tir::Stmt* stmt) { return Is<tir::BlockRealize>(stmt); };
    const bool barriers_to_come = options_.barriers_to_come || tir::FindStmt(func_.body, is_block) != nullptr;
    for (const races::Barriers barriers : {races::Barriers::kBlock, races::Barriers::kWarp}) {
      accesses_ = CollectAccesses(func_, barriers, barriers_to_come, workspace_);
      const races::QueryBuilder builder(func_, accesses_, workspace_);
      builder_ = &builder;
      barriers_ = barriers;
      for (const races::Kernel& kernel : accesses_.kernels) CheckKernel(kernel);
      for (const auto& [loop, members] : accesses_.concurrent) {
        const std::vector<uint32_t>& path = accesses_.accesses[members.empty() ? 0 : members[0]].loops;
        if (members.empty()) continue;
        Actors actors = {.kind = Actors::Kind::kIterations, .loop = loop};
        actors.in_step.assign(path.begin(), std::ranges::find(path, loop));
        CheckPairs(ReachesOf(members), actors);
      }
    }
    return std::move(findings_);
  }

 private:
  static std::vector<Reach> ReachesOf(const std::vector<uint32_t>& accesses) {
    std::vector<Reach> reaches;
    for (const uint32_t access : accesses) reaches.push_back({access});
    return reaches;
  }

  void CheckKernel(const races::Kernel& kernel) {
    const bool is_of_warp = barriers_ == races::Barriers::kWarp;
    if (!is_of_warp) {
      for (const races::Unknown& unknown : kernel.unknown)
        AddUndecided(nullptr, unknown.at, fmt::format("whether threads race is not decided: {}", unknown.reason));
      for (const races::Divergence& divergence : kernel.divergences) CheckDivergence(divergence, kernel);
    }
    for (const races::Phase& phase : kernel.phases) {
      if (kernel.has_unknown_order) break;
      Actors threads = {.kind = Actors::Kind::kThreads, .kernel = &kernel, .in_step = phase.in_step};
      if (is_of_warp) CheckPairs(phase.reaches, threads);
      if (kernel.has_warp_barriers) threads.warps = is_of_warp ? Actors::Warps::kSame : Actors::Warps::kDifferent;
      if (!is_of_warp || kernel.has_warp_barriers) CheckPairs(phase.reaches, threads);
    }
    if (!is_of_warp) CheckCopies(kernel);
    const bool has_blocks = std::ranges::count(kernel.axes, races::Loop::Kind::kBlock, &races::Loop::kind) > 0;
    if (has_blocks && !is_of_warp) {
      CheckPairs(ReachesOf(kernel.accesses),
                 {.kind = Actors::Kind::kBlocks, .kernel = &kernel, .in_step = kernel.around});
    }
  }

  void CheckCopies(const races::Kernel& kernel) {
    if (kernel.has_unknown_order) return;
    for (const races::Phase& phase : kernel.copy_phases) {
      const Actors threads = {.kind = Actors::Kind::kThreads, .kernel = &kernel, .in_step = phase.in_step};
      CheckPairs(phase.reaches, threads, phase.num_copies);
    }
    for (const races::OwnCopy& own : kernel.own_copies) {
      const Access& copy = accesses_.accesses[own.copy.access];
      const Access& access = accesses_.accesses[own.access.access];
      const Actors actors = {.kind = Actors::Kind::kCopies, .kernel = &kernel, .in_step = own.in_step};
      if (copy.data != access.data || !IsSharedBy(copy.data, actors)) continue;
      if (copy.kind != Access::Kind::kRead)
        CheckPair(own.copy, own.access, actors);
      else if (access.kind != Access::Kind::kRead)
        CheckPair(own.access, own.copy, actors);
    }
  }

  bool IsSharedBy(const tir::Var* data, const Actors& actors) const {
    const StorageRank rank = StorageScope::Of(data->pointer ? data->pointer->scope : "").rank;
    // Memory of warps is looked at with their barriers. With these, other memory is so only for the threads of one
    // warp.
    const bool needs_warps = rank == StorageRank::kWarp || actors.warps == Actors::Warps::kSame;
    if (needs_warps != (barriers_ == races::Barriers::kWarp)) return false;
    if (rank == StorageRank::kWarp && actors.warps != Actors::Warps::kAny) return false;
    if (actors.kind == Actors::Kind::kIterations) return true;
    return rank == StorageRank::kGlobal ||
           (actors.kind != Actors::Kind::kBlocks && (rank == StorageRank::kShared || rank == StorageRank::kWarp));
  }

  // One of each pair is among the first `num_first` ones.
  void CheckPairs(const std::vector<Reach>& reaches, const Actors& actors, size_t num_first = SIZE_MAX) {
    const Reach* const end_of_first = reaches.data() + std::min(num_first, reaches.size());
    // By memory, in the order of the accesses.
    std::map<const tir::Var*, std::vector<const Reach*>> by_data;
    std::vector<const tir::Var*> order;
    for (const Reach& reach : reaches) {
      const tir::Var* data = accesses_.accesses[reach.access].data;
      if (!IsSharedBy(data, actors)) continue;
      if (by_data[data].empty()) order.push_back(data);
      by_data[data].push_back(&reach);
    }
    for (const tir::Var* data : order) {
      const std::vector<const Reach*>& list = by_data[data];
      for (size_t i = 0; i < list.size(); ++i) {
        if (accesses_.accesses[list[i]->access].kind == Access::Kind::kRead) continue;
        for (size_t j = 0; j < list.size(); ++j) {
          const bool both_change = accesses_.accesses[list[j]->access].kind != Access::Kind::kRead;
          if (both_change && j < i) continue;  // that pair was checked
          if (list[i] >= end_of_first && list[j] >= end_of_first) continue;
          if (!CheckPair(*list[i], *list[j], actors)) return;
        }
      }
    }
  }

  // Returns false if the memory needs no other check.
  bool CheckPair(const Reach& first, const Reach& second, const Actors& actors) {
    const Access& a = accesses_.accesses[first.access];
    const Access& b = accesses_.accesses[second.access];
    if (a.kind == Access::Kind::kAtomic && b.kind == Access::Kind::kAtomic) return true;
    if (a.reduction && a.reduction == b.reduction) return true;
    if (reported_[{a.data, actors.kind}]) return true;
    Query query;
    if (!builder_->Build(first, second, actors, query)) return true;
    std::string reason;
    const Answer answer = Solve(query, reason, undecided_.contains(a.data));
    if (answer.solution == Solution::kNone) return true;
    const std::string name(a.buffer ? a.buffer->name : a.data->name);
    if (answer.solution == Solution::kUnknown) {
      AddUndecided(a.data, a.at,
                   fmt::format("whether {} race on '{}' is not decided: {}", ActorName(actors.kind), name, reason),
                   b.at);
      return true;
    }
    reported_[{a.data, actors.kind}] = true;
    std::string_view between = actors.kind == Actors::Kind::kThreads ? ", without a barrier in between" : "";
    if (actors.kind == Actors::Kind::kCopies) between = ", while the copy is under way";
    const std::string where = answer.common.empty() ? "" : fmt::format(" where {}", Text(answer.common));
    findings_.push_back(
        {.kind = RaceFinding::Kind::kRace,
         .message = fmt::format("{0} race on '{1}': the {2} with {3} {4} the element that the {2} with {5} {6}{7}{8}",
                                ActorName(actors.kind), name, SingleName(actors.kind), Text(answer.first), Verb(a),
                                Text(answer.second), Verb(b), between, where),
         .at = a.at,
         .other = b.at,
         .other_message = fmt::format("the other one {} it here", Verb(b))});
    return true;
  }

  void CheckDivergence(const races::Divergence& divergence, const races::Kernel& kernel) {
    std::string reason;
    const Answer answer = Solve(builder_->Build(divergence, kernel), reason);
    if (answer.solution == Solution::kNone) return;
    if (answer.solution == Solution::kUnknown) {
      return AddUndecided(nullptr, divergence.at,
                          fmt::format("whether all threads reach the barrier in here is not decided: {}", reason));
    }
    findings_.push_back(
        {.kind = RaceFinding::Kind::kDivergentBarrier,
         .message = fmt::format("a barrier in here is not reached by all threads alike: the thread with {} and "
                                "the one with {} take different ways",
                                Text(answer.first), Text(answer.second)),
         .at = divergence.at});
  }

  // Cheap ways come first: equations, a map of the threads that takes each element once, few values, Z3, many values.
  Answer Solve(const Query& query, std::string& reason, bool is_hopeless = false) {
    if (races::HasNoSolution(query, workspace_)) return {.solution = Solution::kNone};
    if (query.is_symmetric && races::IsInjective(query.first, workspace_)) return {.solution = Solution::kNone};
    Answer answer = Enumerate(query, kFewValues, races::SolveByEnumeration);
    if (answer.solution == Solution::kUnknown) answer = Enumerate(query, kFewValues, races::SolveForSmallSizes);
    if (answer.solution == Solution::kUnknown && !is_hopeless) {
      answer = AskSolver(query, reason);
      if (answer.solution == Solution::kUnknown) answer = Enumerate(query, budget_, races::SolveByEnumeration);
    }
    if (answer.solution == Solution::kFound && !query.caveat.empty()) {
      answer.solution = Solution::kUnknown;
      reason = query.caveat;
    }
    return answer;
  }

  Answer AskSolver(const Query& query, std::string& reason) {
    reason = query.sizes.empty() ? "it has too many threads and iterations to try them all" : "it depends on sizes";
    if (solver_limit_ == 0) return {};
    Result<Answer> solved = races::SolveBySmt(query, solver_limit_);
    if (!solved.ok()) {
      reason += fmt::format(", and Z3 cannot be asked ({})", solved.error().message);
      return {};
    }
    // All questions that it does not answer take twice the work of the first one at most.
    if (solved->solution == Solution::kUnknown) {
      solver_limit_ /= 2;
      if (solved->reads_memory)
        reason = "it depends on values in memory";
      else
        reason += solved->has_other_operations ? ", and on operations on bits" : ", and Z3 does not decide it";
    }
    return std::move(*solved);
  }

  Answer Enumerate(const Query& query, size_t max_values, Answer (&solve)(const Query&, Workspace&, size_t&)) {
    const size_t allowed = std::min(budget_, max_values);
    size_t left = allowed;
    Answer answer = solve(query, workspace_, left);
    budget_ -= allowed - left;
    return answer;
  }

  void AddUndecided(const tir::Var* data, const Node* at, std::string message, const Node* other = nullptr) {
    if (data && !undecided_.insert(data)) return;
    findings_.push_back({.kind = RaceFinding::Kind::kNotDecided,
                         .message = std::move(message),
                         .at = at,
                         .other = other == at ? nullptr : other,
                         .other_message = "the other access"});
  }

  const PrimFunc& func_;
  const RaceOptions& options_;
  Workspace& workspace_;
  size_t budget_;
  uint64_t solver_limit_;
  races::Accesses accesses_;
  races::Barriers barriers_ = races::Barriers::kBlock;
  const races::QueryBuilder* builder_ = nullptr;
  std::vector<RaceFinding> findings_;
  std::map<std::pair<const tir::Var*, Actors::Kind>, bool> reported_;
  LookupSet<const tir::Var*> undecided_;
};

}  // namespace

bool HasConcurrency(const PrimFunc& func) {
  const auto is_concurrent = [](const tir::Stmt* stmt) {
    if (const auto* attr = As<tir::AttrStmt>(stmt)) return tir::ThreadAxisOf(*attr) != nullptr;
    const auto* loop = As<tir::For>(stmt);
    return loop != nullptr && loop->for_kind != tir::ForKind::kSerial && loop->for_kind != tir::ForKind::kUnrolled;
  };
  return tir::FindStmt(func.body, is_concurrent) != nullptr;
}

void ReportRaces(std::vector<RaceFinding> findings, DiagnosticEngine& diagnostics) {
  for (RaceFinding& finding : findings) {
    const SourceSpan at = Location(*finding.at);
    DiagnosticBuilder diagnostic = finding.kind == RaceFinding::Kind::kNotDecided
                                       ? diagnostics.Warning(at, "races-not-decided", std::move(finding.message))
                                       : diagnostics.Error(at, "race", std::move(finding.message));
    if (finding.other && finding.other != finding.at)
      diagnostic.Note(Location(*finding.other), std::move(finding.other_message));
  }
}

std::vector<RaceFinding> FindRaces(const PrimFunc& func, const RaceOptions& options, Workspace& workspace) {
  return RaceFinder(func, options, workspace).Find();
}

}  // namespace iropt
