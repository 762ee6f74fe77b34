#include "snapshot_names.h"

#include <vector>

#include "name_walk.h"

namespace iropt::python {

namespace {

// The variables, buffers and iteration variables of a function, by their first uses.
std::vector<const Node*> NamesOf(const Node* func) {
  std::vector<const Node*> names;
  LookupSet<const Node*> seen;
  const auto note = [&](const Node* node) {
    if (Is<tir::Var>(node) || Is<tir::Buffer>(node) || Is<tir::IterVar>(node)) names.push_back(node);
  };
  NameWalk<decltype(note)>(seen, note).Visit(func);
  return names;
}

}  // namespace

SnapshotNames::SnapshotNames(std::shared_ptr<Session> session, const Module& original)
    : session_(std::move(session)), store_(std::make_shared<NodeStore>()) {
  Build build(session_, store_);
  for (const ModuleEntry& entry : original.functions()) {
    if (!Is<PrimFunc>(entry.func)) continue;
    build.Use(session_->KeepOf(entry.storage));
    for (const Node* name : NamesOf(entry.func)) canonical_.try_emplace(name, session_->Identity(name));
  }
}

void SnapshotNames::Identify(const PrimFunc* func, const ModuleEntry& copy) {
  const std::vector<const Node*> names = NamesOf(func);
  const std::vector<const Node*> copies = NamesOf(copy.func);
  IROPT_CHECK(names.size() == copies.size(), "a copy of {} has other variables", copy.var->name);
  Session::Copies identities;
  for (size_t i = 0; i < names.size(); ++i) {
    if (copies[i] != names[i]) identities.emplace_back(copies[i], Canonical(names[i]));
  }
  session_->SetCopies(copy.storage, store_, identities);
}

const Node* SnapshotNames::Canonical(const Node* name) {
  const Node*& found = canonical_[name];
  // Only its identity counts.
  if (found == nullptr) found = store_->workspace.NewPrimVar("", DataType::Int(32));
  return found;
}

}  // namespace iropt::python
