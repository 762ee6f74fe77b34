#include "memory_calls.h"

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/memory.h"

namespace iropt {

const Call* MemoryCalls::BuiltinAllocTensor(const TensorType& type, int64_t device, std::string_view scope) {
  return op::BuiltinAllocTensor(calls_, calls_.MakeShape(type.dims), DType(type.dtype), Integer(device), Text(scope));
}

const Call* MemoryCalls::AllocStorage(const PrimExpr* bytes, const Expr* device, const Expr* scope, DataType dtype) {
  const PrimExpr* const dims[] = {bytes};
  return op::MemoryAllocStorage(calls_, calls_.MakeShape(dims), device, scope, DType(dtype));
}

const Call* MemoryCalls::AllocTensor(const Expr* storage, const Expr* shape, DataType dtype) {
  return op::MemoryAllocTensor(calls_, storage, Integer(0), shape, DType(dtype));
}

const Expr* MemoryCalls::Integer(int64_t value) {
  const PrimExpr* number = arith::PrimBuilder().Int(value);
  return builder_.workspace().New<PrimValue>(number, PrimType::Get(number));
}

}  // namespace iropt
