// Binding the parameters of a function, and the variables in the shapes of its buffers, to what its caller passes.
#pragma once

#include <string>

#include "iropt/arith/analyzer.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/infer/print/print_names.h"
#include "iropt/support/lookup.h"
#include "transform/tir/host/host_builder.h"

namespace iropt {

// Each value is bound to a variable the first time, and compared with what is known about it after that.
class ArgBinder {
 public:
  ArgBinder(const HostBuilder& build, DiagnosticEngine& diagnostics)
      : build_(build), diagnostics_(diagnostics), analyzer_(build.make()), bindings_(build), checks_(build) {}

  // `arg` is a variable or an expression of some. `name` describes it in messages.
  // Returns whether it is a variable that was bound here.
  bool Bind(const PrimExpr* arg, const PrimExpr* value, const std::string& name);
  // Everything in a buffer, from the DLTensor that `handle` points to. `device_id` is bound, or compared.
  void BindDLTensor(const tir::Buffer& buffer, int64_t device_type, const tir::Var* device_id, const tir::Var* handle,
                    const std::string& name);

  bool IsBound(const tir::Var* var) const { return bound_.contains(var); }
  // The definitions, with the checks that they need; and the checks that need all definitions.
  StmtNest& bindings() { return bindings_; }
  StmtNest& checks() { return checks_; }
  bool failed() const { return failed_; }

 private:
  void Check(const PrimExpr* condition, const std::string& name);
  void CheckDType(const tir::Buffer& buffer, const tir::Var* handle, const std::string& name);
  const tir::Buffer* LoadArray(const tir::Var* handle, StructField field, size_t size, const std::string& name);
  void BindStrides(const tir::Buffer& buffer, const tir::Buffer* shape, const tir::Buffer* strides,
                   const std::string& name);
  void CheckCompact(const tir::Buffer& buffer, const tir::Buffer* strides, const std::string& name);
  void BindBroadcastStrides(const tir::Buffer& buffer, const tir::Buffer* strides, const std::string& name);
  void BindOffset(const tir::Buffer& buffer, const tir::Var* handle, const std::string& name);
  void BindData(const tir::Buffer& buffer, const tir::Var* handle, const std::string& name);
  const PrimExpr* LoadAs(DataType dtype, const tir::Buffer* array, size_t index) const {
    return build_.make().Cast(dtype, build_.Load(array, static_cast<int64_t>(index)));
  }
  void Fail(const Node& where, std::string message);
  // As TVM prints an expression alone: names are made unique within it.
  std::string TextOf(const PrimExpr* expr);

  const HostBuilder& build_;
  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  StmtNest bindings_;
  StmtNest checks_;
  PrintNames names_{{}};  // empty between expressions: a table of all ids for each would cost more than their text
  LookupSet<const tir::Var*> bound_;
  bool failed_ = false;
};

}  // namespace iropt
