#include "session.h"

#include <utility>

namespace iropt::python {

namespace {

// A store is not freed before the last of its nodes, so stores are small.
constexpr size_t kMaxStoreBytes = size_t{1} << 22;
// Functions of modules number their variables from 0, so that theirs are others than those of stores, as far as nodes
// of both occur together. Numbers index tables, so they are not much greater than necessary.
constexpr uint32_t kFirstStoreVar = 1U << 20;
constexpr uint32_t kVarsBetweenStores = 1U << 16;

std::weak_ptr<Session>& CurrentSession() {
  static std::weak_ptr<Session> current;
  return current;
}

}  // namespace

std::shared_ptr<Session> Session::Current() {
  std::shared_ptr<Session> session = CurrentSession().lock();
  if (session == nullptr) {
    session = std::make_shared<Session>();
    CurrentSession() = session;
  }
  return session;
}

KeepRef Session::keep() {
  KeepRef keep = keep_.lock();
  if (keep == nullptr) {
    keep = std::make_shared<const Keep>(Keep{shared_from_this(), nullptr, nullptr});
    keep_ = keep;
  }
  return keep;
}

KeepRef Session::KeepOf(FuncStorageRef storage) {
  return std::make_shared<const Keep>(Keep{shared_from_this(), std::move(storage), nullptr});
}

const std::shared_ptr<NodeStore>& Session::store() {
  if (store_ == nullptr || store_->workspace.arena().bytes_used() > kMaxStoreBytes) {
    const uint32_t first = store_ == nullptr ? kFirstStoreVar : store_->workspace.num_vars() + kVarsBetweenStores;
    store_ = std::make_shared<NodeStore>();
    store_->workspace.ReserveVars(first);
  }
  return store_;
}

const tir::Var* Session::SymbolOf(const tir::Var* var, const KeepRef& keep) {
  if (var->context_owned()) return var;
  Symbol& found = symbols_[var];
  if (found.symbol == nullptr) {
    found = {context_.NewSymVar(var->name, var->dtype, var->is_size_var()), keep->storage, keep->store};
    stands_for_.emplace(found.symbol, var);
  }
  return found.symbol;
}

void Session::SetCopies(const FuncStorageRef& storage, std::shared_ptr<NodeStore> store, const Copies& copies) {
  std::erase_if(origins_, [this](const auto& entry) {
    if (!entry.second.storage.expired()) return false;
    for (const Node* node : entry.second.copies) {
      const Copy* copy = copies_.Find(node);
      if (copy != nullptr && copy->storage == entry.first) copies_.erase(node);
    }
    return true;
  });
  Origin& origin = origins_.insert_or_assign(storage.get(), Origin{storage, std::move(store), {}}).first->second;
  origin.copies.reserve(copies.size());
  for (const auto& [node, original] : copies) {
    origin.copies.push_back(node);
    copies_.insert_or_assign(node, Copy{original, storage.get()});
  }
}

const Node* Session::Identity(const Node* node) const {
  if (!copies_.empty()) {
    // The memory of a function that is gone may have another node.
    const Copy* copy = copies_.Find(node);
    const auto origin = copy == nullptr ? origins_.end() : origins_.find(copy->storage);
    if (origin != origins_.end() && !origin->second.storage.expired()) node = copy->original;
  }
  if (stands_for_.empty()) return node;
  const auto found = stands_for_.find(node);
  return found == stands_for_.end() ? node : found->second;
}

Build::Build() : Build(Session::Current(), nullptr) {}

Build::Build(std::shared_ptr<Session> session, std::shared_ptr<NodeStore> store)
    : session_(std::move(session)),
      store_(store == nullptr ? session_->store() : std::move(store)),
      scope_(session_->context()) {}

void Build::Use(const KeepRef& keep) {
  if (keep == nullptr) return;
  if (keep->storage != nullptr && store_->retained.insert(keep->storage.get()).second) arena().Retain(keep->storage);
  if (keep->store != nullptr && keep->store != store_ && store_->retained.insert(keep->store.get()).second)
    arena().Retain(keep->store);
}

NodeRef Build::Made(const Node* node) {
  if (keep_ == nullptr) keep_ = store_->keep.lock();
  if (keep_ == nullptr) store_->keep = keep_ = std::make_shared<const Keep>(Keep{session_, nullptr, store_});
  return {node, keep_};
}

}  // namespace iropt::python
