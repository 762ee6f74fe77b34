// Binding the parameters of a function to the values of the FFI of TVM 0.22 and newer: an array of structures of a type
// index and 64 bits. Messages name the function with the types of its parameters, and what is wrong by its path.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/infer/print/print_names.h"
#include "iropt/support/lookup.h"
#include "transform/tir/host/host_builder.h"

namespace iropt {

// The place of a value among the arguments: A.shape[0] of argument 0.
struct ArgPath {
  std::string text;
  size_t param = 0;
};

class FfiBinder {
 public:
  // `args` points to the values, of which there are `num_args`.
  FfiBinder(const PrimFunc& func, std::string_view symbol, const tir::Var* args, const tir::Var* num_args,
            const HostBuilder& build, DiagnosticEngine& diagnostics);

  // Binds all parameters, and the variables in the shapes of buffers. `device_id` is that of the tensors.
  void BindParams(int64_t device_type, const tir::Var* device_id);

  bool IsBound(const tir::Var* var) const { return defined_at_.contains(var); }
  bool failed() const { return failed_; }
  // The definitions with the checks that they need, the checks that need all definitions, and the buffers.
  const StmtNest& bindings() const { return bindings_; }
  const StmtNest& checks() const { return checks_; }
  const StmtNest& buffers() const { return buffers_; }

 private:
  using Parts = std::vector<const PrimExpr*>;
  // A dimension or an offset that is not a variable: the message about it may need names that are bound later.
  struct Expectation {
    const PrimExpr* condition;
    ArgPath path;
    const PrimExpr* expected;
  };

  std::string Signature() const;
  void BindParam(size_t i);
  const PrimExpr* Pointer(size_t i, const tir::Var* type_index, bool is_tensor);
  const PrimExpr* Scalar(size_t i, const tir::Var* type_index, DataType dtype);
  const PrimExpr* Content(size_t i, DataType dtype) const;
  void CheckTypeIndex(size_t i, const PrimExpr* condition, std::string_view expected);
  const PrimExpr* AnyOf(const tir::Var* type_index, std::initializer_list<int64_t> values) const;

  void BindTensor(const tir::Buffer& buffer, size_t i, int64_t device_type, const tir::Var* device_id);
  void CheckDType(const tir::Buffer& buffer, const tir::Var* handle, size_t i);
  const tir::Var* Array(const tir::Var* handle, StructField field, const std::string& name);
  const PrimExpr* Element(const tir::Var* array, size_t k) const;
  void CheckCompact(const tir::Buffer& buffer, const tir::Var* strides, size_t i);
  void BindStrides(const tir::Buffer& buffer, const tir::Var* shape, const tir::Var* strides, const ArgPath& path);
  void BindOffset(const tir::Buffer& buffer, const tir::Var* handle, const ArgPath& path);
  void CheckDevice(const tir::Buffer& buffer, const tir::Var* handle, size_t i, int64_t device_type);
  void BindData(const tir::Buffer& buffer, const tir::Var* handle, size_t i);
  // Returns whether the expression is a variable that was bound here.
  bool Bind(const PrimExpr* arg, const PrimExpr* value, const ArgPath& path);
  void CheckExpectations();

  const PrimExpr* Simplified(const PrimExpr* condition, const ArgPath& path);
  const PrimExpr* Text(std::string_view text) const { return build_.String(text); }
  // " when calling:\n  `main(A: Tensor([4], float32))", and what `rest` adds.
  void Assert(StmtNest& nest, const PrimExpr* condition, std::string_view kind, Parts parts,
              std::initializer_list<std::string_view> rest) const;
  const PrimExpr* Message(std::string_view kind, Parts parts, std::initializer_list<std::string_view> rest) const;
  // " on argument #", "0"
  void AddNumber(Parts& parts, size_t param) const;
  // An expression as the messages show it: variables by their paths.
  std::string Render(const PrimExpr* expr);
  std::string TextOf(const PrimExpr* expr) const;
  std::string PointerText(const tir::Var* pointer) const;
  TextVersion version() const { return build_.make().version(); }

  const PrimFunc& func_;
  const std::string symbol_;
  const tir::Var* args_;
  const HostBuilder& build_;
  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  StmtNest bindings_, checks_, buffers_;
  const PrimExpr* when_calling_;
  const PrimExpr* signature_;
  std::vector<const tir::Var*> handles_;  // of the tensors; null for other parameters
  LookupMap<const tir::Var*, std::string> defined_at_;
  std::vector<Expectation> expectations_;
  bool failed_ = false;
};

}  // namespace iropt
