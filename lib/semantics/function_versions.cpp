#include "function_versions.h"

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/ir/structural.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"

namespace iropt {

void FunctionVersions::Update(const Module& module) {
  versions_.EraseIf([&](const GlobalVar* var, const Version&) { return !module.Find(var); });
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
  LookupSet<const GlobalVar*> known{var};
  uint64_t fingerprint = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const Version* version = versions_.Find(found[i]);
    if (!version) continue;
    fingerprint = HashCombine(HashCombine(fingerprint, HashString(found[i]->name)), version->hash);
    for (const GlobalVar* called : version->called) {
      if (known.insert(called)) found.push_back(called);
    }
  }
  return fingerprint;
}

}  // namespace iropt
