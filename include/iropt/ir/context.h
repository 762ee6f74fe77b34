// The owner of what modules share: interned types, dimensions, attributes, global names and symbolic variables.
//
// Everything interned in a context lives as long as the context or a module that was made while it was current; to work
// on such a module, make its context current again (Module::context). A context may be used from several threads. Nodes
// of two contexts must not be mixed. IRContext::Current() is the context that the static `Get` functions of types and
// attributes use: a thread-local pointer, by default the process-wide context; worker threads of ParallelFor inherit
// it.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "iropt/ir/attr.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/ir/type.h"

namespace iropt {

class IRContext {
 public:
  IRContext();
  ~IRContext();
  // Copies are the same context.
  IRContext(const IRContext&) = default;
  IRContext& operator=(const IRContext&) = default;

  static IRContext& Current();

  // Makes a context current for the life of the scope.
  class Scope {
   public:
    explicit Scope(IRContext& context);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    IRContext* previous_;
  };

  // A new symbolic variable: usable in types and in the shape expressions of any function. Never equal to another one.
  const tir::Var* NewSymVar(std::string_view name, DataType dtype = DataType::Int(64), bool is_size_var = false);
  // The number of symbolic variables: their ids are below this.
  uint32_t num_sym_vars() const;
  // The canonical node of a scalar expression over symbolic variables: structurally equal expressions give the same
  // node. O(nodes), each shared node counted once; O(1) for a node that is already canonical. CanIntern must hold.
  const PrimExpr* Intern(const PrimExpr* expr);
  // Returns whether an expression refers only to nodes that a context owns: no variables of a function and no buffers.
  static bool CanIntern(const PrimExpr* expr);
  const tir::IntImm* Int(int64_t value, DataType dtype = DataType::Int(64));
  std::string_view InternString(std::string_view text);
  // The name of a function if the context has seen it, else null; unlike GlobalVar::Get it never makes one.
  const GlobalVar* FindGlobalVar(std::string_view name);

  // The tables that the static Get functions read; see lib/ir/context.cpp.
  class Impl;
  Impl& impl() { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace iropt
