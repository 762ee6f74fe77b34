// The LLVM values of variables and buffers in the current scope.
#pragma once

#include <llvm/IR/Value.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt::codegen {

struct ArrayValue;
struct OtherCopies;

// The LLVM value of a variable or expression. For a pointer, also the allocation that it points into, if known.
struct TypedValue {
  llvm::Value* value = nullptr;
  llvm::Value* origin = nullptr;       // the offset of the pointer in the allocation, in bytes; null: unknown
  llvm::Value* size = nullptr;         // of the allocation, in bytes
  int64_t least_size = 0;              // what the size is at least, where it is not a constant
  List<const PrimExpr*> extents = {};  // which are at least 0; the size is their product with
  int64_t element_bytes = 0;           // these bytes; 0: unknown
  bool is_root = false;                // all pointers into the allocation are derived from this one
  std::shared_ptr<const ArrayValue> array =
      nullptr;  // the tensor descriptor or shape that it points to, if made in this function
  std::shared_ptr<const OtherCopies> copies = nullptr;  // of the memory of a thread
};

// The copies of memory that a store by some threads goes to as well. See thread_memory.h.
struct OtherCopies {
  // Copies at regular distances.
  struct Group {
    llvm::Value* first;
    std::vector<std::pair<llvm::Value*, llvm::Value*>> axes;  // numbers of copies, and their distances in bytes
  };
  const tir::Var* data;  // the pointer variable
  llvm::Value* own;      // the copy of these threads
  std::vector<Group> groups;
};

// The tensor descriptor of a T.tvm_stack_make_array, or the shape of a T.tvm_stack_make_shape.
struct ArrayValue {
  TypedValue data;
  std::vector<llvm::Value*> shape;
  std::vector<llvm::Value*> strides;  // empty: compact
  llvm::Value* elem_offset = nullptr;
  DataType dtype;
};

// The address computation of a buffer: 64-bit integers, in elements.
struct View {
  llvm::Value* offset = nullptr;
  std::vector<llvm::Value*> shape;
  std::vector<llvm::Value*> strides;
  std::vector<llvm::Value*> mins;  // the first index in each dimension; empty: 0
  bool is_inside = false;          // all elements are within the allocation
  bool is_declared = true;         // `shape` is that of the buffer
};

class Scope {
 public:
  void Bind(const tir::Var* var, TypedValue value) { Slot(var) = std::move(value); }
  void Bind(const tir::Var* var, llvm::Value* value) { Slot(var) = {.value = value}; }
  void Unbind(const tir::Var* var) {
    Slot(var);
    vars_.erase(var);
  }
  // Null if the variable has no value.
  const TypedValue* Find(const tir::Var* var) const { return vars_.Find(var); }
  void Declare(const tir::Buffer* buffer, View view) {
    const View* outer = views_.Find(buffer);
    outer_views_.emplace_back(buffer, outer ? std::optional(*outer) : std::nullopt);
    views_[buffer] = std::move(view);
  }
  const View* Find(const tir::Buffer* buffer) const { return views_.Find(buffer); }

  // What was bound and declared since a mark ends with Rewind: what was bound before it is bound again.
  struct Mark {
    size_t vars, views;
  };
  Mark mark() const { return {outer_vars_.size(), outer_views_.size()}; }
  void Rewind(Mark mark) {
    for (; outer_vars_.size() > mark.vars; outer_vars_.pop_back()) Restore(vars_, outer_vars_.back());
    for (; outer_views_.size() > mark.views; outer_views_.pop_back()) Restore(views_, outer_views_.back());
  }

 private:
  TypedValue& Slot(const tir::Var* var) {
    const TypedValue* outer = vars_.Find(var);
    outer_vars_.emplace_back(var, outer ? std::optional(*outer) : std::nullopt);
    return vars_[var];
  }
  template <class Table, class Outer>
  static void Restore(Table& table, Outer& outer) {
    if (outer.second) {
      table[outer.first] = *std::move(outer.second);
    } else {
      table.erase(outer.first);
    }
  }

  LookupMap<const tir::Var*, TypedValue> vars_;
  LookupMap<const tir::Buffer*, View> views_;
  // What each of them was before it was bound or declared, in this order.
  std::vector<std::pair<const tir::Var*, std::optional<TypedValue>>> outer_vars_;
  std::vector<std::pair<const tir::Buffer*, std::optional<View>>> outer_views_;
};

}  // namespace iropt::codegen
