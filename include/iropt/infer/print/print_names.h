// Unique names for printing a function. TVM's rule: a variable gets its hint with every character that a Python name
// can't have replaced by '_'; if that name is taken, the first of hint_1, hint_2, ... that is free. Names are free
// again when the scope that defined them ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/arena.h"
#include "iropt/support/name_map.h"

namespace iropt {

class PrintNames {
 public:
  // `reserved` names are never used for variables (I, T, R, cls and the module's name).
  explicit PrintNames(std::vector<std::string_view> reserved);

  // Names the node; a node that has a name already keeps it. Amortized O(1).
  std::string_view Define(const Var* var);
  std::string_view Define(const tir::Var* var);
  std::string_view Define(const tir::Buffer* buffer, std::string_view hint);
  // Empty if the node has no name (yet).
  std::string_view Find(const Var* var) const { return var->id < by_id_.size() ? by_id_[var->id] : std::string_view(); }
  std::string_view Find(const tir::Var* var) const;
  std::string_view Find(const tir::Buffer* buffer) const {
    return buffer->id < by_id_.size() ? by_id_[buffer->id] : std::string_view();
  }
  // Returns whether a node with the hint would now be named `name`, which is hint_number with a positive number.
  // Amortized O(1).
  bool Gives(std::string_view hint, uint32_t number, std::string_view name);
  // A name that does not belong to a node (a function's local name).
  std::string_view DefineText(std::string_view hint);
  // Gives the node a name that is printed but not reserved (an expression such as `A.data`).
  void Alias(const Var* var, std::string_view text);
  void Alias(const tir::Var* var, std::string_view text);
  void Alias(const tir::Buffer* buffer, std::string_view text);

  // Releases the names that were defined since: scopes nest.
  size_t Mark() const { return log_.size(); }
  void Release(size_t mark);
  // For a new function: forgets everything but the reserved names.
  void Reset();
  // Makes room for so many more names, which saves growing the tables step by step.
  void Reserve(size_t names);

 private:
  struct Definition {
    uint32_t id;          // of the variable, or kNoId
    bool takes_name;      // not an alias: the youngest entry of taken_ is its name
    const tir::Var* sym;  // context-owned variables are kept by pointer
  };
  static constexpr uint32_t kNoId = UINT32_MAX;

  std::string_view Unique(std::string_view hint);
  std::string_view Record(std::string_view name, uint32_t id, const tir::Var* sym, bool takes_name = true);

  std::vector<std::string_view> by_id_;
  std::unordered_map<const tir::Var*, std::string_view> syms_;
  NameMap<uint32_t> taken_;  // name -> the next suffix to try when it is requested again
  std::vector<Definition> log_;
  std::vector<std::string_view> reserved_;
  Arena arena_;
};

}  // namespace iropt
