#include "transform/tir/tiles/scope_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/op_id.h"

namespace iropt {

namespace {

// The hash of a text in libstdc++ where addresses have 64 bits: MurmurHash64A.
uint64_t LibstdcxxHash(std::string_view text) {
  constexpr uint64_t kSeed = 0xc70f6907, kFactor = 0xc6a4a7935bd1e995;
  constexpr size_t kWord = sizeof(uint64_t);
  const auto mix = [](uint64_t value) { return value ^ (value >> 47); };
  uint64_t hash = kSeed ^ (text.size() * kFactor);
  for (size_t begin = 0; begin < text.size(); begin += kWord) {
    uint64_t word = 0;
    const std::string_view part = text.substr(begin, kWord);
    for (size_t i = 0; i < part.size(); ++i) word |= uint64_t{static_cast<unsigned char>(part[i])} << (8 * i);
    hash = (hash ^ (part.size() == kWord ? mix(word * kFactor) * kFactor : word)) * kFactor;
  }
  return mix(mix(hash) * kFactor);
}

// Groups of threads, the largest first.
enum class ThreadGroup : uint8_t { kKernel, kCluster, kCta, kWarpgroup, kWarp, kThread };

// A number of the one in the other.
struct ScopeKind {
  std::string_view name;
  ThreadGroup parent, group;
};
constexpr ScopeKind kScopeKinds[] = {
    {"cluster_id", ThreadGroup::kKernel, ThreadGroup::kCluster},
    {"cta_id", ThreadGroup::kKernel, ThreadGroup::kCta},
    {"cta_id_in_cluster", ThreadGroup::kCluster, ThreadGroup::kCta},
    {"warpgroup_id", ThreadGroup::kCta, ThreadGroup::kWarpgroup},
    {"warp_id", ThreadGroup::kCta, ThreadGroup::kWarp},
    {"warp_id_in_wg", ThreadGroup::kWarpgroup, ThreadGroup::kWarp},
    {"lane_id", ThreadGroup::kWarp, ThreadGroup::kThread},
    {"thread_id", ThreadGroup::kCta, ThreadGroup::kThread},
    {"thread_id_in_wg", ThreadGroup::kWarpgroup, ThreadGroup::kThread},
};
constexpr std::string_view kCtaInPair = "cta_id_in_pair";

const ScopeKind* FindScopeKind(ThreadGroup parent, ThreadGroup group) {
  const auto* found = std::ranges::find_if(
      kScopeKinds, [&](const ScopeKind& kind) { return kind.parent == parent && kind.group == group; });
  return found == std::end(kScopeKinds) ? nullptr : found;
}

// bx, by = T.cta_id([4, 2], preferred=[8, 2])
struct ScopeIds {
  std::string_view name;
  std::vector<const tir::Var*> vars = {};
  std::vector<const PrimExpr*> extents = {};  // empty: they follow
  std::vector<const PrimExpr*> preferred = {};
};

class ScopeIdFinder : public tir::StmtExprVisitor {
 public:
  std::vector<ScopeIds> found;

 protected:
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* thread = stmt->attr_key == attr::kScopeId ? As<tir::IterVar>(stmt->node) : nullptr;
    if (thread) Add(*thread, *stmt->value);
    StmtExprVisitor::VisitAttrStmt(stmt);
  }

 private:
  // The value is how many variables of the statement begin here.
  void Add(const tir::IterVar& thread, const PrimExpr& value) {
    const tir::Call* call = CallOf(&value, op::kTirPreferredExtent);
    const int64_t* count = arith::AsInt(call ? call->args[0] : &value);
    if (rest_ == 0) {
      found.push_back({.name = thread.thread_tag});
      rest_ = count ? *count : 1;
    }
    --rest_;
    found.back().vars.push_back(thread.var);
    if (thread.dom) found.back().extents.push_back(thread.dom->extent);
    if (call) found.back().preferred.push_back(call->args[1]);
  }

  int64_t rest_ = 0;
};

class LaunchFinder {
 public:
  LaunchFinder(const std::vector<ScopeIds>& ids, Workspace& workspace)
      : ids_(ids), workspace_(workspace), make_(workspace), analyzer_(make_, arith::Analyzer::SymVars::kAny) {}

  Result<KernelLaunch> Find() {
    IROPT_RETURN_IF_ERROR(Close());
    IROPT_RETURN_IF_ERROR(AddThreads());
    IROPT_RETURN_IF_ERROR(AddValues());
    return std::move(launch_);
  }

 private:
  using Extents = std::vector<const PrimExpr*>;

  Error Fail(std::string message) const { return {ErrorCode::PassFailed, std::move(message)}; }
  const PrimExpr* Int(int64_t value) const { return make_.Int(value, DataType::Int(32)); }
  const PrimExpr* Total(const Extents& extents) const {
    const PrimExpr* total = extents[0];
    for (size_t i = 1; i < extents.size(); ++i) total = make_.Mul(total, extents[i]);
    return total;
  }

  // ---- Extents that follow from others
  Status Close() {
    for (const ScopeIds& ids : ids_) {
      if (!ids.preferred.empty() && ids.name != "cta_id_in_cluster")
        return Fail("only T.cta_id_in_cluster has preferred extents");
      if (ids.name != kCtaInPair && !ids.extents.empty()) IROPT_RETURN_IF_ERROR(Insert(ids.name, ids.extents));
    }
    for (; !queue_.empty(); queue_.pop()) {
      const std::string_view head = queue_.front();
      const std::map<std::string_view, Extents> known = known_;
      for (const auto& [name, extents] : known) {
        IROPT_RETURN_IF_ERROR(Derive(head, name));
        IROPT_RETURN_IF_ERROR(Derive(name, head));
      }
    }
    return {};
  }

  Status Insert(std::string_view name, const Extents& extents) {
    const auto [known, is_new] = known_.try_emplace(name, extents);
    if (is_new) {
      queue_.push(name);
    } else if (!analyzer_.CanProveEqual(Total(known->second), Total(extents))) {
      return Fail(fmt::format("the extents of T.{} contradict each other", name));
    }
    return {};
  }

  static const ScopeKind& KindOf(std::string_view name) {
    return *std::ranges::find(kScopeKinds, name, &ScopeKind::name);
  }

  Status Derive(std::string_view a, std::string_view b) {
    const ScopeKind& x = KindOf(a);
    const ScopeKind& y = KindOf(b);
    const PrimExpr* extent = Total(known_.at(a));
    const PrimExpr* other = Total(known_.at(b));
    const ScopeKind* product = x.group == y.parent ? FindScopeKind(x.parent, y.group) : nullptr;
    if (product) IROPT_RETURN_IF_ERROR(Insert(product->name, {make_.Mul(extent, other)}));
    const ScopeKind* quotient = nullptr;
    if (x.parent == y.parent && y.group < x.group) quotient = FindScopeKind(y.group, x.group);
    if (x.group == y.group && x.parent < y.parent) quotient = FindScopeKind(x.parent, y.parent);
    if (!quotient || arith::IsInt(other, 0)) return {};
    const PrimExpr* rest = make_.FloorMod(extent, other);
    if (analyzer_.CanProveEqual(rest, Int(0))) return Insert(quotient->name, {make_.FloorDiv(extent, other)});
    if (analyzer_.CanProveNotEqual(rest, Int(0)))
      return Fail(fmt::format("the extent of T.{} is not a multiple of that of T.{}", a, b));
    return {};
  }

  // ---- Threads
  void AddThreads(std::string_view prefix, const Extents& extents) {
    for (size_t i = 0; i < extents.size(); ++i) {
      const std::string tag = fmt::format("{}.{}", prefix, "xyz"[i]);
      const std::string_view kept = workspace_.arena().CopyString(tag);
      const tir::Var* var = workspace_.NewPrimVar(kept, DataType::Int(32));
      const auto* dom = workspace_.New<tir::Range>(Int(0), extents[i]);
      launch_.threads.push_back(workspace_.New<tir::IterVar>(dom, var, tir::IterVarType::kThreadIndex, kept));
    }
  }

  const Extents* Known(std::string_view name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? nullptr : &found->second;
  }

  Status AddThreads() {
    const Extents* ctas = Known("cta_id");
    const Extents* in_cluster = Known("cta_id_in_cluster");
    const Extents* threads = Known("thread_id");
    for (const Extents* extents : {ctas, in_cluster, threads}) {
      if (extents && extents->size() > 3) return Fail("a launch has at most three dimensions");
    }
    if (in_cluster && !arith::IsInt(Total(*in_cluster), 1)) {
      AddThreads("clusterCtaIdx", *in_cluster);
      for (const ScopeIds& ids : ids_) {
        if (ids.name == "cta_id_in_cluster") AddThreads("preferredClusterCtaIdx", ids.preferred);
      }
    }
    if (ctas) AddThreads("blockIdx", *ctas);
    if (threads) AddThreads("threadIdx", *threads);
    if (!Thread("threadIdx.x"))
      return Fail("the kernel does not say how many threads it has: expected T.thread_id([128])");
    OrderThreads();
    return {};
  }

  // TVM launches the axes from the inside out as they come out of a hash table by their tags. The order matters to
  // texts only: it is that of libstdc++, with which TVM is built on Linux. A bucket comes before those that were there,
  // and a tag first in its bucket. The table does not grow: fewer tags exist than it has buckets.
  void OrderThreads() {
    constexpr uint64_t kBuckets = 13;
    std::vector<const tir::IterVar*> table;
    for (const tir::IterVar* thread : launch_.threads) {
      const uint64_t bucket = LibstdcxxHash(thread->thread_tag) % kBuckets;
      const auto same = [&](const tir::IterVar* t) { return LibstdcxxHash(t->thread_tag) % kBuckets == bucket; };
      const auto found = std::ranges::find_if(table, same);
      table.insert(found == table.end() ? table.begin() : found, thread);
    }
    std::ranges::reverse(table);
    launch_.threads = std::move(table);
  }

  // ---- Values
  const tir::IterVar* Thread(std::string_view tag) const {
    const auto found = std::ranges::find(launch_.threads, tag, [](const tir::IterVar* t) { return t->thread_tag; });
    return found == launch_.threads.end() ? nullptr : *found;
  }

  // The number of the thread in the block.
  const PrimExpr* Linear(std::string_view prefix) const {
    const PrimExpr* index = nullptr;
    const PrimExpr* step = nullptr;
    for (const char axis : {'x', 'y', 'z'}) {
      const tir::IterVar* thread = Thread(fmt::format("{}.{}", prefix, axis));
      if (!thread) break;
      const PrimExpr* part = step ? make_.Mul(thread->var, step) : thread->var;
      index = index ? make_.Add(index, part) : part;
      step = step ? make_.Mul(step, thread->dom->extent) : thread->dom->extent;
    }
    return index ? index : Int(0);
  }

  Status AddValues() {
    const tir::Var* warp = workspace_.NewPrimVar("warp_id_in_cta", DataType::Int(32));
    const PrimExpr* warp_id = make_.Node(NodeKind::kFloorDiv, Linear("threadIdx"), Int(32));
    const std::array<const PrimExpr*, 5> operands = {make_.Int(0xffffffff, DataType::UInt(32)), warp_id, Int(0),
                                                     Int(32), Int(32)};
    launch_.values.emplace_back(warp,
                                workspace_.New<tir::Call>(warp_id->dtype, GetOp(op::kTirTvmWarpShuffle),
                                                          workspace_.Copy(std::span<const PrimExpr* const>(operands))));
    for (const ScopeIds& ids : ids_) {
      if (ids.name != kCtaInPair && !Known(ids.name))
        return Fail(fmt::format("the extent of T.{} does not follow from others", ids.name));
      for (size_t i = 0; i < ids.vars.size(); ++i) {
        IROPT_ASSIGN_OR_RETURN(const PrimExpr* value, ValueOf(ids.name, i, warp));
        launch_.values.emplace_back(ids.vars[i], make_.Cast(ids.vars[i]->dtype, value));
      }
    }
    return {};
  }

  Result<const PrimExpr*> ValueOf(std::string_view name, size_t dim, const tir::Var* warp) {
    if (name == "cluster_id") return ClusterId(dim);
    if (name == "cta_id") return ThreadValue("blockIdx", dim);
    if (name == "cta_id_in_cluster") return ThreadValue("clusterCtaIdx", dim);
    if (name == "thread_id") return ThreadValue("threadIdx", dim);
    if (dim > 0) return Fail(fmt::format("T.{} has one dimension", name));
    if (name == "warp_id") return warp;
    if (name == "warpgroup_id") return analyzer_.Simplify(make_.FloorDiv(warp, Int(4)));
    if (name == "warp_id_in_wg") return analyzer_.Simplify(make_.FloorMod(warp, Int(4)));
    if (name == kCtaInPair) return analyzer_.Simplify(make_.FloorMod(Linear("clusterCtaIdx"), Int(2)));
    return analyzer_.Simplify(make_.FloorMod(Linear("threadIdx"), Int(name == "lane_id" ? 32 : 128)));
  }

  Result<const PrimExpr*> ThreadValue(std::string_view prefix, size_t dim) const {
    const tir::IterVar* thread = Thread(fmt::format("{}.{}", prefix, "xyz"[dim]));
    if (!thread) return Fail(fmt::format("the kernel is not launched with {}.{}", prefix, "xyz"[dim]));
    return thread->var;
  }

  Result<const PrimExpr*> ClusterId(size_t dim) const {
    if (dim > 2) return Fail("a launch has at most three dimensions");
    const std::string_view reg = workspace_.arena().CopyString(fmt::format("clusterid.{}", "xyz"[dim]));
    const std::array<const PrimExpr*, 3> operands = {workspace_.New<tir::StringImm>("cuda.mov_sreg"), Int(32),
                                                     workspace_.New<tir::StringImm>(reg)};
    return workspace_.New<tir::Call>(DataType::Int(32), GetOp(op::kTirPureDeviceCall),
                                     workspace_.Copy(std::span<const PrimExpr* const>(operands)));
  }

  const std::vector<ScopeIds>& ids_;
  Workspace& workspace_;
  const arith::PrimBuilder make_;
  arith::Analyzer analyzer_;
  std::map<std::string_view, Extents> known_;
  std::queue<std::string_view> queue_;
  KernelLaunch launch_;
};

class ScopeIdRemover : public tir::StmtExprMutator {
 public:
  explicit ScopeIdRemover(Workspace& workspace) : StmtExprMutator(workspace) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    return stmt->attr_key == attr::kScopeId ? VisitStmt(stmt->body) : StmtExprMutator::VisitAttrStmt(stmt);
  }
};

}  // namespace

Result<KernelLaunch> LaunchOf(const tir::Stmt* body, Workspace& workspace) {
  ScopeIdFinder finder;
  finder.VisitStmt(body);
  if (finder.found.empty()) return KernelLaunch();
  return LaunchFinder(finder.found, workspace).Find();
}

const tir::Stmt* WithoutScopeIds(const tir::Stmt* body, Workspace& workspace) {
  return ScopeIdRemover(workspace).VisitStmt(body);
}

}  // namespace iropt
