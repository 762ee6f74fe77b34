// Deep copies of code, with variables and buffers of its own: to duplicate a function, to move code from one function
// into another, to drop garbage.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "iropt/ir/module.h"

namespace iropt {

struct CloneOptions {
  // The copy gets symbolic variables of its own, which two functions of a module must not share. Only for whole
  // functions, which define every variable that they use.
  bool fresh_sym_vars = false;
  // Symbolic variables that code defines become variables of the copy, as those that scripts declare in PrimFuncs are.
  // Types keep theirs. Only for PrimFuncs.
  bool own_sym_vars = false;
  // Variables that are used but not defined in the code are copied, too, instead of being the same in the copy.
  bool copy_free_vars = false;
  // The name of the copy of a variable or a buffer; null: that of the original.
  std::function<std::string(const Node* original, std::string_view name)> name_of = nullptr;
};

// Copies nodes into a workspace. All calls on one cloner share the mapping of variables, and nodes that are shared by
// several parents are shared in the copy. O(nodes), at any depth.
class Cloner {
 public:
  explicit Cloner(Workspace& workspace, CloneOptions options = {});
  ~Cloner();
  Cloner(const Cloner&) = delete;
  Cloner& operator=(const Cloner&) = delete;

  // Uses of the variable become `to`, which is not copied. For symbolic variables `to` must be interned. To be called
  // before anything that refers to the variable is cloned.
  void Map(const Var* from, const Expr* to);
  void Map(const tir::Var* from, const PrimExpr* to);
  void Map(const tir::Buffer* from, const tir::Buffer* to);

  template <class X>
  const X* Clone(const X* node) {
    return static_cast<const X*>(CloneNode(node));
  }
  // A use of a variable may become any expression.
  const Expr* Clone(const Expr* expr);
  const PrimExpr* Clone(const PrimExpr* expr);

 private:
  class Impl;
  const Node* CloneNode(const Node* node);

  std::unique_ptr<Impl> impl_;
};

// A copy of the function that shares only the nodes that the context owns.
const BaseFunc* CloneFunction(const BaseFunc* func, Workspace& workspace, CloneOptions options = {});

}  // namespace iropt
