// Modules, and the storage that keeps the nodes of their functions alive.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/support/arena.h"
#include "iropt/support/text_version.h"

namespace iropt {

// The arenas that a function's nodes live in, and how many variable ids it uses. Immutable once published; shared by
// all modules that hold the function.
struct FuncStorage {
  std::vector<std::shared_ptr<const Arena>> arenas;
  uint32_t num_vars = 0;  // ids of variables and buffers of the function are below this
  size_t live_bytes = 0;  // size of the nodes right after the last compaction

  size_t bytes() const;
};
using FuncStorageRef = std::shared_ptr<const FuncStorage>;

class Module;

// Allocates the new nodes of one function: an arena and a counter of variable ids on top of the storage that the old
// nodes live in. Not thread-safe; one per function and pass.
class Workspace {
 public:
  // For nodes outside of modules, as in a module of TVM 0.18.
  Workspace() : Workspace(TextVersion::kV0_18) {}
  explicit Workspace(TextVersion version);
  // For a new function of the module.
  explicit Workspace(const Module& module);
  // For rewriting a function of the module: the nodes in `base` may be referred to by new ones.
  Workspace(const Module& module, const FuncStorageRef& base);
  Workspace(Workspace&&) = default;
  Workspace& operator=(Workspace&&) = default;

  Arena& arena() { return *arena_; }
  // The version of TVM whose behaviour the code made here follows: Module::version.
  TextVersion version() const { return version_; }
  uint32_t num_vars() const { return num_vars_; }
  uint32_t NextVarId() { return num_vars_++; }
  // Raises the counter, for nodes taken over from a function with `n` ids of its own.
  void ReserveVars(uint32_t n) { num_vars_ = n > num_vars_ ? n : num_vars_; }

  template <class T, class... A>
  T* New(A&&... args) {
    return arena_->New<T>(std::forward<A>(args)...);
  }
  template <class T>
  List<T> Copy(std::span<const T> items) {
    return List<T>(arena_->Copy(items));
  }
  template <class T>
  List<T> Copy(const std::vector<T>& items) {
    return Copy(std::span<const T>(items));
  }
  Var* NewVar(std::string_view name, const Type* type) { return New<Var>(arena_->CopyString(name), NextVarId(), type); }
  DataflowVar* NewDataflowVar(std::string_view name, const Type* type) {
    return New<DataflowVar>(arena_->CopyString(name), NextVarId(), type);
  }
  tir::Var* NewPrimVar(std::string_view name, DataType dtype, const tir::PointerInfo* pointer = nullptr);
  // Also keeps another function's nodes alive (when its body is inlined here).
  void Adopt(const FuncStorageRef& other);
  // The storage of a function made here. The workspace must not be used afterwards.
  FuncStorageRef Finish();

 private:
  std::shared_ptr<Arena> arena_;
  std::vector<std::shared_ptr<const Arena>> bases_;
  uint32_t num_vars_ = 0;
  size_t live_bytes_ = 0;
  TextVersion version_;
};

struct ModuleEntry {
  const GlobalVar* var = nullptr;
  const BaseFunc* func = nullptr;
  FuncStorageRef storage;
};

class IRContext;

// An ordered set of functions by name, with module attributes and global infos. Copying copies a list of pointers;
// functions are shared until one copy replaces them. Values of a module may be read from several threads.
class Module {
 public:
  using GlobalInfos = std::map<std::string, std::vector<const Attr*>, std::less<>>;

  Module();
  Module(const Module&);
  Module(Module&&) noexcept;
  Module& operator=(const Module&);
  Module& operator=(Module&&) noexcept;
  ~Module();

  // The context that was current when the module, or the one that it was copied from, was made. O(1).
  IRContext context() const;
  const std::vector<ModuleEntry>& functions() const { return functions_; }
  size_t size() const { return functions_.size(); }
  // Null if the module has no such function. O(1).
  const ModuleEntry* Find(const GlobalVar* var) const;
  const ModuleEntry* Find(std::string_view name) const;
  // Index in functions(), or -1.
  int IndexOf(const GlobalVar* var) const;
  // The type of the function under `var`, or null.
  const Type* TypeOf(const GlobalVar* var) const;
  // Replaces the function of that name, or appends it.
  void Set(const GlobalVar* var, const BaseFunc* func, FuncStorageRef storage);
  void SetAt(size_t index, const BaseFunc* func, FuncStorageRef storage);
  // Removes all functions for which keep[i] is false. O(n).
  void Filter(const std::vector<bool>& keep);
  void Remove(const GlobalVar* var);
  // A name that starts with `hint` and that no function has.
  std::string UniqueName(std::string_view hint) const;

  const DictAttr* attrs() const { return attrs_; }
  void set_attrs(const DictAttr* attrs) { attrs_ = attrs; }
  const GlobalInfos& global_infos() const { return global_infos_; }
  GlobalInfos& mutable_global_infos() { return global_infos_; }
  // Name of the class around the functions; empty for a function that was read without one.
  std::string_view name() const { return name_; }
  void set_name(std::string_view name) { name_ = name; }
  // The version of TVM whose text the module was read from, as far as the text shows it.
  std::optional<TextVersion> text_version() const { return text_version_; }
  void set_text_version(TextVersion version) { text_version_ = version; }
  // The version of TVM whose behaviour passes follow where versions differ: text_version, or 0.18 where it is unknown.
  TextVersion version() const { return text_version_.value_or(TextVersion::kV0_18); }

 private:
  void Reindex(size_t from);

  std::shared_ptr<const IRContext> context_;  // outlives what refers to its nodes, so it is the first
  std::vector<ModuleEntry> functions_;
  std::vector<int32_t> index_;  // GlobalVar::id -> position in functions_, -1 if absent
  const DictAttr* attrs_ = DictAttr::Empty();
  GlobalInfos global_infos_;
  std::string name_ = "Module";
  std::optional<TextVersion> text_version_;
};

// Copies the nodes that are reachable from each function into a fresh arena if garbage outweighs them, and numbers the
// variables densely again. Cheap if there is nothing to do. Any pointer into a copied function is invalid afterwards,
// unless its storage is held elsewhere. Source: copying collection, one generation per pass.
void CompactStorage(Module& module, int threads = 1);

}  // namespace iropt
