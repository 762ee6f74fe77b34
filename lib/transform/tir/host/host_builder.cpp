#include "transform/tir/host/host_builder.h"

#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"

namespace iropt {

DataType ApiType(DataType dtype) {
  if (dtype.is_handle()) return dtype;
  if (!dtype.is_scalar()) return DataType::Void();
  if (dtype.is_integer()) return DataType::Int(64);
  return dtype.code == TypeCode::kFloat ? DataType::Float(64) : DataType::Void();
}

const PrimExpr* HostBuilder::NullHandle() const {
  return Call(DataType::Handle(), op::kTirReinterpret, {make_.Int(0, DataType::UInt(64))});
}

const PrimExpr* HostBuilder::IfThenElse(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) const {
  make_.Match(a, b);
  if (const int64_t* value = arith::AsInt(condition)) return *value != 0 ? a : b;
  return Call(a->dtype, op::kTirIfThenElse, {condition, a, b});
}

const PrimExpr* HostBuilder::Load(const tir::Buffer* buffer, int64_t index) const {
  const PrimExpr* indices[] = {Int32(index)};
  return workspace_.New<tir::BufferLoad>(buffer->dtype, buffer,
                                         workspace_.Copy(std::span<const PrimExpr* const>(indices)));
}

const tir::Stmt* HostBuilder::Store(const tir::Buffer* buffer, int64_t index, const PrimExpr* value) const {
  const PrimExpr* indices[] = {Int32(index)};
  return workspace_.New<tir::BufferStore>(buffer, value, workspace_.Copy(std::span<const PrimExpr* const>(indices)));
}

const tir::Stmt* HostBuilder::Seq(std::initializer_list<const tir::Stmt*> stmts) const {
  return tir::MakeSeq(workspace_, std::span(stmts.begin(), stmts.size()));
}

const tir::Buffer* HostBuilder::DeclBuffer(std::string_view name, DataType dtype, const PrimExpr* size) const {
  tir::BufferSpec spec;
  spec.shape = {size};
  spec.dtype = dtype;
  spec.scope = "";
  return tir::MakeBuffer(workspace_, spec, name);
}

const tir::Stmt* StmtNest::Around(const tir::Stmt* inner) const {
  for (size_t i = parts_.size(); i > 0; --i) {
    const Part& part = parts_[i - 1];
    if (part.body) {
      *part.body = inner;
      inner = part.stmt;
    } else {
      inner = build_.Seq({part.stmt, inner});
    }
  }
  return inner;
}

}  // namespace iropt
