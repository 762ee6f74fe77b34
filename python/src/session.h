// The session that the objects of Python belong to, and the references that keep nodes alive.
//
// All modules and nodes that exist at a time belong to one session: one context for types, attributes and names, and
// the sources of their spans. A session ends with the last object that refers to it, and the next object begins another
// one, so a program that reads, optimizes and drops modules in a loop does not grow.
//
// Nodes that Python makes live in a store of the session. A store keeps what its nodes refer to alive: stores that were
// there before it, and the functions of modules.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "iropt/data/tensor_files.h"
#include "iropt/diag/source.h"
#include "iropt/ir/context.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::python {

struct Keep;

struct NodeStore {
  Workspace workspace;
  std::weak_ptr<const Keep> keep;            // what keeps its nodes alive, while there are objects of them
  std::unordered_set<const void*> retained;  // the storage and the stores that the arena keeps alive
};

class Session;

// Owners that keep a node alive: its session, and the function or the store that it is in. A node that the context owns
// has neither of the two.
struct Keep {
  std::shared_ptr<Session> session;
  FuncStorageRef storage;
  std::shared_ptr<NodeStore> store;
};
using KeepRef = std::shared_ptr<const Keep>;

// A node with what keeps it alive.
struct NodeRef {
  const Node* node = nullptr;
  KeepRef keep;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  // The session of the objects that exist, or a new one. Under the interpreter lock.
  static std::shared_ptr<Session> Current();

  IRContext& context() { return context_; }
  SourceManager& sources() { return sources_; }
  TensorFiles& tensor_files() { return tensor_files_; }
  // For nodes that the context owns.
  KeepRef keep();
  // For nodes of a function of a module.
  KeepRef KeepOf(FuncStorageRef storage);
  // Types have symbolic variables of the context only: the one that stands for a variable of a function in types. In
  // Python both are the same variable. What `keep` keeps alive stays as long as the session.
  const tir::Var* SymbolOf(const tir::Var* var, const KeepRef& keep);
  // Variables of a function of a module are copies of those of the function that it was made of. In Python both are the
  // same.
  using Copies = std::vector<std::pair<const Node*, const Node*>>;
  void SetCopies(const FuncStorageRef& storage, std::shared_ptr<NodeStore> store, const Copies& copies);
  // The variable that a symbolic variable or a copy stands for, or the node itself.
  const Node* Identity(const Node* node) const;
  // The store for new nodes, which is not too big yet.
  const std::shared_ptr<NodeStore>& store();

 private:
  IRContext context_;
  SourceManager sources_;
  TensorFiles tensor_files_;
  std::shared_ptr<NodeStore> store_;
  std::weak_ptr<const Keep> keep_;
  struct Symbol {
    const tir::Var* symbol;
    FuncStorageRef storage;
    std::shared_ptr<NodeStore> store;
  };
  std::unordered_map<const tir::Var*, Symbol> symbols_;  // of variables of functions
  std::unordered_map<const Node*, const tir::Var*> stands_for_;
  struct Origin {
    std::weak_ptr<const FuncStorage> storage;
    std::shared_ptr<NodeStore> store;  // has the originals
    std::vector<const Node*> copies;
  };
  struct Copy {
    const Node* original = nullptr;
    const void* storage = nullptr;
  };
  std::unordered_map<const void*, Origin> origins_;  // by storage; those that are gone leave with the next new one
  LookupMap<const Node*, Copy> copies_;              // of all origins
};

// While it lives, nodes can be made: in the store of the current session, or in a given one.
class Build {
 public:
  Build();
  Build(std::shared_ptr<Session> session, std::shared_ptr<NodeStore> store);
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  Session& session() { return *session_; }
  const std::shared_ptr<Session>& shared_session() const { return session_; }
  Workspace& workspace() { return store_->workspace; }
  Arena& arena() { return store_->workspace.arena(); }
  const std::shared_ptr<NodeStore>& store() const { return store_; }
  // Nodes made here may refer to a node that `keep` keeps alive.
  void Use(const KeepRef& keep);
  // A node that was made here.
  NodeRef Made(const Node* node);

 private:
  std::shared_ptr<Session> session_;
  std::shared_ptr<NodeStore> store_;
  IRContext::Scope scope_;
  KeepRef keep_;
};

}  // namespace iropt::python
