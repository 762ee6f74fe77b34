#include "iropt/infer/prim_func_type.h"

#include <algorithm>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/support/inline_vector.h"

namespace iropt {
namespace {

// Variables of the function and the symbolic variables that stand for them in its type.
class DimImporter {
 public:
  // Null if the expression cannot occur in a type.
  const PrimExpr* Import(const PrimExpr* dim) {
    if (tir::Var::ClassOf(dim->kind)) return InType(SymbolOf(static_cast<const tir::Var*>(dim)));
    if (arith::AsInt(dim)) return InType(dim);
    const auto symbol_of = [&](const tir::Var* var) -> const PrimExpr* { return SymbolOf(var); };
    Workspace scratch;
    return InType(tir::Substitute(dim, symbol_of, scratch));
  }

 private:
  static const PrimExpr* InType(const PrimExpr* dim) {
    if (!IRContext::CanIntern(dim)) return nullptr;
    return arith::PrimBuilder().Cast(DataType::Int(64), IRContext::Current().Intern(dim));
  }
  const tir::Var* SymbolOf(const tir::Var* var) {
    if (var->context_owned()) return var;
    for (const auto& [own, symbol] : symbols_) {
      if (own == var) return symbol;
    }
    symbols_.push_back({var, IRContext::Current().NewSymVar(var->name, var->dtype, var->is_size_var())});
    return symbols_.back().second;
  }
  std::vector<std::pair<const tir::Var*, const tir::Var*>> symbols_;
};

const Type* BufferAsTensor(const tir::Buffer* buffer, DimImporter& importer) {
  InlineVector<const PrimExpr*, 8> dims;
  for (const PrimExpr* dim : buffer->shape) {
    dims.push_back(importer.Import(dim));
    if (!dims.back()) return TensorType::Get(static_cast<int>(buffer->shape.size()), buffer->dtype);
  }
  return TensorType::Get(dims, buffer->dtype);
}

}  // namespace

const Type* PrimFuncType(const PrimFunc* func) {
  DimImporter importer;
  std::vector<const Type*> params;
  for (uint32_t i = 0; i < func->params.size(); ++i) {
    const tir::Var* param = func->params[i];
    const tir::Buffer* buffer = func->param_buffers[i];
    if (buffer)
      params.push_back(BufferAsTensor(buffer, importer));
    else if (param->dtype.is_handle())
      params.push_back(ObjectType::Get());
    else
      params.push_back(PrimType::Get(param->dtype));
  }
  const Type* ret = func->ret_type ? func->ret_type : TupleType::Get({});
  return FuncType::Get(params, ret, IsPurePrimFunc(func));
}

bool IsPurePrimFunc(const PrimFunc* func) {
  std::vector<const tir::Var*> written;
  std::vector<const tir::Var*> allocated;
  std::vector<const Node*> pending;
  if (!func->body) return false;
  // Most functions write to a parameter, and the walk need not go on after that.
  std::vector<const tir::Var*> params(func->params.begin(), func->params.end());
  for (const tir::Buffer* buffer : func->param_buffers) {
    if (buffer) params.push_back(buffer->data);
  }
  std::sort(params.begin(), params.end());
  pending.push_back(func->body);
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (const auto* allocate = As<tir::Allocate>(node)) allocated.push_back(allocate->buffer_var);
    if (const auto* store = As<tir::BufferStore>(node)) {
      if (std::binary_search(params.begin(), params.end(), store->buffer->data)) return false;
      written.push_back(store->buffer->data);
    }
    if (const auto* call = As<tir::Call>(node)) {
      const auto* op = As<Op>(call->op);
      const IntrinsicInfo* intrinsic = op && op->info ? op->info->intrinsic : nullptr;
      if (!intrinsic || intrinsic->effect == CallEffect::kUpdateState || intrinsic->effect == CallEffect::kOpaque)
        return false;
    }
    // Operators, buffers and variables have no effects below.
    ForEachChild(node, [&](const Node* child) {
      const bool leaf =
          child->kind == NodeKind::kOp || child->kind == NodeKind::kBuffer || tir::Var::ClassOf(child->kind);
      if (!leaf) pending.push_back(child);
    });
  }
  std::sort(allocated.begin(), allocated.end());
  return std::all_of(written.begin(), written.end(), [&](const tir::Var* data) {
    return std::binary_search(allocated.begin(), allocated.end(), data);
  });
}

}  // namespace iropt
