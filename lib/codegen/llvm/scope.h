// What variables and buffers are while code is generated.
#pragma once

#include <llvm/IR/Value.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt::codegen {

struct ArrayValue;

// The value of a variable or of an expression. Of a pointer also the memory that it points into, as far as it is known.
struct TypedValue {
  llvm::Value* value = nullptr;
  llvm::Value* origin = nullptr;  // bytes from the beginning of the memory to where it points; null: not known
  llvm::Value* size = nullptr;    // of the memory, in bytes
  bool is_root = false;           // no other pointer points into the memory but those made from this one
  std::shared_ptr<const ArrayValue> array =
      nullptr;  // what it points to, where that is a descriptor or a shape made here
};

// A tensor descriptor that T.tvm_stack_make_array made, or only its shape.
struct ArrayValue {
  TypedValue data;
  std::vector<llvm::Value*> shape;
  std::vector<llvm::Value*> strides;  // empty: compact
  llvm::Value* elem_offset = nullptr;
  DataType dtype;
};

// Where the elements of a buffer are: integers of 64 bits, in elements.
struct View {
  llvm::Value* offset = nullptr;
  std::vector<llvm::Value*> shape;
  std::vector<llvm::Value*> strides;
  std::vector<llvm::Value*> mins;  // the first index in each dimension; empty: 0
  bool is_inside = false;          // all elements lie in the memory of the buffer
  bool is_declared = true;         // the shape is that of the buffer
};

class Scope {
 public:
  void Bind(const tir::Var* var, TypedValue value) { vars_[var] = std::move(value); }
  void Bind(const tir::Var* var, llvm::Value* value) { vars_[var] = {.value = value}; }
  void Unbind(const tir::Var* var) { vars_.erase(var); }
  // Null where it has none.
  const TypedValue* Find(const tir::Var* var) const {
    const auto it = vars_.find(var);
    return it == vars_.end() ? nullptr : &it->second;
  }
  void Declare(const tir::Buffer* buffer, View view) { views_[buffer] = std::move(view); }
  const View* Find(const tir::Buffer* buffer) const {
    const auto it = views_.find(buffer);
    return it == views_.end() ? nullptr : &it->second;
  }

 private:
  // Looked up, never iterated.
  std::unordered_map<const tir::Var*, TypedValue> vars_;
  std::unordered_map<const tir::Buffer*, View> views_;
};

}  // namespace iropt::codegen
