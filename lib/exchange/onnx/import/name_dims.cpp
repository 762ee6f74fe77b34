#include "exchange/onnx/import/name_dims.h"

#include <fmt/format.h>

#include <vector>

#include "exchange/onnx/import/op_import.h"
#include "iropt/ir/context.h"

namespace iropt::onnx {

const TensorType* NameDims(const Expr* value, std::string_view name, const std::vector<const PrimExpr*>* known) {
  const TensorType* type = OpImport::TensorOf(value);
  if (type == nullptr || type->known || type->ndim <= 0 || type->dtype.is_void()) return nullptr;
  const auto rank = static_cast<size_t>(type->ndim);
  std::vector<const PrimExpr*> dims;
  for (size_t i = 0; i < rank; ++i) {
    const PrimExpr* dim = known && known->size() == rank ? (*known)[i] : nullptr;
    dims.push_back(dim ? dim : IRContext::Current().NewSymVar(fmt::format("{}_dim{}", name, i)));
  }
  return TensorType::Get(dims, type->dtype);
}

}  // namespace iropt::onnx
