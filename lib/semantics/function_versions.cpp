#include "function_versions.h"

#include <unordered_set>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/ir/structural.h"
#include "iropt/support/hash.h"

namespace iropt {

void FunctionVersions::Update(const Module& module) {
  std::erase_if(versions_, [&](const auto& version) { return !module.Find(version.first); });
  for (const ModuleEntry& entry : module.functions()) {
    Version& version = versions_[entry.var];
    if (version.entry.func == entry.func) continue;
    version.entry = entry;
    version.hash = StructuralHash(entry.func);
    version.called = CalledFunctions::Compute(*entry.func, *entry.storage);
  }
}

uint64_t FunctionVersions::Fingerprint(const GlobalVar* var) const {
  std::vector<const GlobalVar*> found{var};
  std::unordered_set<const GlobalVar*> known{var};
  uint64_t fingerprint = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto version = versions_.find(found[i]);
    if (version == versions_.end()) continue;
    fingerprint = HashCombine(HashCombine(fingerprint, HashString(found[i]->name)), version->second.hash);
    for (const GlobalVar* called : version->second.called) {
      if (known.insert(called).second) found.push_back(called);
    }
  }
  return fingerprint;
}

}  // namespace iropt
