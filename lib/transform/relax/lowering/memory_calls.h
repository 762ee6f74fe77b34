// Calls of the operators that allocate memory.
#pragma once

#include <string_view>

#include "iropt/infer/op_builder.h"

namespace iropt {

class MemoryCalls {
 public:
  explicit MemoryCalls(BlockBuilder& builder) : builder_(builder), calls_(builder) {}

  // A tensor of which later passes decide where it is. The type has a shape and a dtype; the scope lives as long as the
  // type.
  const Call* BuiltinAllocTensor(const TensorType& type, int64_t device, std::string_view scope = "global");
  const Call* AllocStorage(const PrimExpr* bytes, const Expr* device, const Expr* scope, DataType dtype);
  // A tensor at the start of the storage.
  const Call* AllocTensor(const Expr* storage, const Expr* shape, DataType dtype);

 private:
  const Expr* Integer(int64_t value);
  // The text lives at least as long as the call.
  const Expr* Text(std::string_view text) { return builder_.workspace().New<StringImm>(text, ObjectType::Get()); }
  const Expr* DType(DataType dtype) { return builder_.workspace().New<DataTypeImm>(dtype, ObjectType::Get()); }

  BlockBuilder& builder_;
  OpBuilder calls_;
};

}  // namespace iropt
