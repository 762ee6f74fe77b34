#include "iropt/pass/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "iropt/pass/pass_info.h"
#include "iropt/support/debug_output.h"

namespace iropt {

namespace {

constexpr DebugChannel kDebug("analysis");

}  // namespace

struct AnalysisManager::State {
  struct CachedResult {
    const AnalysisKind* kind;
    std::shared_ptr<const void> result;
  };

  // The results of one function. A new function may have the address of a freed one, but never the same storage.
  struct FunctionResults {
    std::weak_ptr<const FuncStorage> storage;
    std::vector<CachedResult> results;

    bool AreOf(const ModuleEntry& entry) const {
      return !storage.owner_before(entry.storage) && !entry.storage.owner_before(storage);
    }
    // Plugins have their own kind objects for an analysis that they share with the program.
    std::shared_ptr<const void> Find(const AnalysisKind& kind) const {
      const auto at = std::ranges::find(results, kind.name, [](const CachedResult& r) { return r.kind->name; });
      return at == results.end() ? nullptr : at->result;
    }
  };

  std::mutex mutex;
  std::unordered_map<const BaseFunc*, FunctionResults> functions;
  size_t num_computed = 0;

  // Both under the lock.
  std::shared_ptr<const void> Find(const AnalysisKind& kind, const ModuleEntry& entry) const {
    const auto at = functions.find(entry.func);
    return at != functions.end() && at->second.AreOf(entry) ? at->second.Find(kind) : nullptr;
  }
  void Add(const AnalysisKind& kind, const ModuleEntry& entry, std::shared_ptr<const void> result) {
    FunctionResults& results = functions[entry.func];
    if (!results.AreOf(entry)) results = {entry.storage, {}};
    results.results.push_back({&kind, std::move(result)});
  }
};

AnalysisManager::AnalysisManager() : state_(std::make_unique<State>()) {}
AnalysisManager::~AnalysisManager() = default;

std::shared_ptr<const void> AnalysisManager::Get(const AnalysisKind& kind, const ModuleEntry& entry) {
  {
    const std::scoped_lock lock(state_->mutex);
    if (auto found = state_->Find(kind, entry)) return found;
  }
  // Without the lock, so that functions are analysed in parallel. If two threads analyse the same one, the first result
  // counts.
  std::shared_ptr<const void> result = kind.compute(*entry.func, *entry.storage);
  IROPT_DEBUG(kDebug, "computes {} of '{}'", kind.name, entry.var->name);
  const std::scoped_lock lock(state_->mutex);
  ++state_->num_computed;
  if (auto found = state_->Find(kind, entry)) return found;
  state_->Add(kind, entry, result);
  return result;
}

size_t AnalysisManager::num_computed() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->num_computed;
}

AnalysisManager::Preserved AnalysisManager::Preserve(const Module& module, std::span<const AnalysisKind* const> kinds,
                                                     bool compute) {
  Preserved kept;
  if (kinds.empty()) return kept;
  for (const ModuleEntry& entry : module.functions()) {
    for (const AnalysisKind* kind : kinds) {
      if (compute) Get(*kind, entry);
      const std::scoped_lock lock(state_->mutex);
      if (state_->functions.empty()) return kept;
      if (auto found = state_->Find(*kind, entry)) kept.items.push_back({entry.var, kind, std::move(found)});
    }
  }
  return kept;
}

AnalysisManager::Preserved AnalysisManager::PreserveAcrossCloning(const Module& module) {
  Preserved kept;
  const std::scoped_lock lock(state_->mutex);
  if (state_->functions.empty()) return kept;
  for (const ModuleEntry& entry : module.functions()) {
    const auto at = state_->functions.find(entry.func);
    if (at == state_->functions.end() || !at->second.AreOf(entry)) continue;
    for (const State::CachedResult& cached : at->second.results) {
      if (cached.kind->survives_cloning) kept.items.push_back({entry.var, cached.kind, cached.result});
    }
  }
  return kept;
}

void AnalysisManager::TransferPreserved(const Module& module, const Preserved& kept) {
  const std::scoped_lock lock(state_->mutex);
  std::erase_if(state_->functions, [](const auto& item) { return item.second.storage.expired(); });
  for (const Preserved::Item& item : kept.items) {
    const ModuleEntry* entry = module.Find(item.var);
    if (entry == nullptr || state_->Find(*item.kind, *entry) != nullptr) continue;
    state_->Add(*item.kind, *entry, item.result);
    IROPT_DEBUG(kDebug, "keeps {} of '{}', whose pass preserves it", item.kind->name, item.var->name);
  }
}

Status AnalysisManager::Audit(const Module& module, const Preserved& kept, const PassInfo& info) {
  for (const Preserved::Item& item : kept.items) {
    const ModuleEntry* entry = module.Find(item.var);
    if (entry == nullptr) continue;
    const std::shared_ptr<const void> actual = item.kind->compute(*entry->func, *entry->storage);
    if (item.kind->still_holds(item.result.get(), actual.get())) continue;
    return Error{ErrorCode::Rejected,
                 fmt::format("pass '{}' claims to preserve the analysis '{}', but its result for '{}' has changed",
                             info.name, item.kind->name, item.var->name)};
  }
  return {};
}

}  // namespace iropt
