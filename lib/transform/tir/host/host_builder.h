// The expressions and statements that calls between functions consist of: calls of builtins, fields of the structures
// of the runtime, nests of statements.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/op_id.h"
#include "iropt/op/struct_field.h"

namespace iropt {

// Type codes of values in a TVMValue.
enum class TypeCodeOfValue : int8_t {
  kInt = 0,
  kFloat = 2,
  kOpaqueHandle = 3,
  kNullptr = 4,
  kDLTensor = 7,
  kStr = 11,
  kNDArray = 13,
  kBool = 15,
};

// Type indices of values of the FFI of TVM 0.21 and newer.
namespace ffi_type {
inline constexpr int64_t kNone = 0;
inline constexpr int64_t kInt = 1;
inline constexpr int64_t kBool = 2;
inline constexpr int64_t kFloat = 3;
inline constexpr int64_t kOpaquePointer = 4;
inline constexpr int64_t kDLTensor = 7;
inline constexpr int64_t kRawString = 8;
inline constexpr int64_t kFirstObject = 64;
inline constexpr int64_t kTensor = 70;
}  // namespace ffi_type

// The type under which a value of the dtype is stored in a TVMValue: 64 bits. Void if it cannot be.
DataType ApiType(DataType dtype);

// Elements of less than a byte, several of which are stored together: the caller's shape is another one.
inline bool IsPacked(DataType dtype) {
  return dtype == DataType::Int(4) || dtype == DataType::UInt(4) || dtype == DataType::Int(1);
}

// The type of the indices of the buffer.
inline DataType IndexType(const tir::Buffer& buffer) {
  return buffer.shape.empty() ? DataType::Int(32) : buffer.shape[0]->dtype;
}

class HostBuilder {
 public:
  explicit HostBuilder(Workspace& workspace) : workspace_(workspace), make_(workspace) {}

  Workspace& workspace() const { return workspace_; }
  const arith::PrimBuilder& make() const { return make_; }

  const PrimExpr* Int32(int64_t value) const { return make_.Int(value, DataType::Int(32)); }
  const PrimExpr* Code(TypeCodeOfValue code) const { return Int32(static_cast<int64_t>(code)); }
  const PrimExpr* String(std::string_view text) const {
    return workspace_.New<tir::StringImm>(workspace_.arena().CopyString(text));
  }
  const PrimExpr* NullHandle() const;
  const PrimExpr* Call(DataType dtype, const Expr* op, std::span<const PrimExpr* const> args) const {
    return workspace_.New<tir::Call>(dtype, op, workspace_.Copy(args));
  }
  const PrimExpr* Call(DataType dtype, OpId op, std::initializer_list<const PrimExpr*> args) const {
    return Call(dtype, GetOp(op), std::span(args.begin(), args.size()));
  }
  const PrimExpr* Equal(const PrimExpr* a, const PrimExpr* b) const { return make().Binary(NodeKind::kEQ, a, b); }
  const PrimExpr* EqualInt(const PrimExpr* a, int64_t value) const { return Equal(a, make().Const(value, a->dtype)); }
  const PrimExpr* IsNull(const PrimExpr* pointer) const { return Call(DataType::Bool(), op::kTirIsNullptr, {pointer}); }
  // The field of element `index` of the array of structures that starts at `base`.
  const PrimExpr* GetField(DataType dtype, const PrimExpr* base, int64_t index, StructField field) const {
    return Call(dtype, op::kTirTvmStructGet, {base, Int32(index), Int32(static_cast<int64_t>(field))});
  }
  const tir::Stmt* SetField(const PrimExpr* base, int64_t index, StructField field, const PrimExpr* value) const {
    return Evaluate(
        Call(DataType::Int(32), op::kTirTvmStructSet, {base, Int32(index), Int32(static_cast<int64_t>(field)), value}));
  }
  // With matching of dtypes; folds if the condition is constant.
  const PrimExpr* IfThenElse(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) const;
  const PrimExpr* Load(const tir::Buffer* buffer, int64_t index) const;

  const tir::Stmt* Evaluate(const PrimExpr* value) const { return workspace_.New<tir::Evaluate>(value); }
  const tir::Stmt* Nop() const { return Evaluate(Int32(0)); }
  const tir::Stmt* Return(int64_t value) const {
    return Evaluate(Call(DataType::Int(32), op::kTirRet, {Int32(value)}));
  }
  const tir::Stmt* Store(const tir::Buffer* buffer, int64_t index, const PrimExpr* value) const;
  const tir::Stmt* Seq(std::initializer_list<const tir::Stmt*> stmts) const;
  // A view of memory of the runtime, with elements of the dtype.
  const tir::Buffer* DeclBuffer(std::string_view name, DataType dtype, const PrimExpr* size) const;

 private:
  Workspace& workspace_;
  arith::PrimBuilder make_;
};

// The function with statements around its body. Those of a function with a root block are inside of it: scripts do not
// show it, and have nothing around it.
template <class F>
const PrimFunc* WrapBody(const PrimFunc* func, Workspace& workspace, F&& wrap) {
  auto* copy = workspace.New<PrimFunc>(*func);
  const auto* realize = As<tir::BlockRealize>(func->body);
  if (!realize || !realize->iter_values.empty()) {
    copy->body = wrap(func->body);
    return copy;
  }
  auto* block = workspace.New<tir::Block>(*realize->block);
  block->body = wrap(realize->block->body);
  copy->body = workspace.New<tir::BlockRealize>(realize->iter_values, realize->predicate, block);
  return copy;
}

// Statements that will be around another one. Each Add makes a statement whose body comes later.
class StmtNest {
 public:
  explicit StmtNest(const HostBuilder& build) : build_(build) {}

  template <class T, class... A>
  void Add(A&&... args) {
    auto* stmt = build_.workspace().New<T>(std::forward<A>(args)..., nullptr);
    parts_.push_back({stmt, &stmt->body});
  }
  void Assert(const PrimExpr* condition, std::string_view message) {
    Add<tir::AssertStmt>(condition, build_.String(message));
  }
  // A statement that comes before the rest.
  void Before(const tir::Stmt* stmt) { parts_.push_back({stmt, nullptr}); }
  // The nest around the statement. Only once.
  const tir::Stmt* Around(const tir::Stmt* inner) const;

 private:
  struct Part {
    const tir::Stmt* stmt;
    const tir::Stmt** body;  // null: the statement is complete
  };

  const HostBuilder& build_;
  std::vector<Part> parts_;
};

}  // namespace iropt
