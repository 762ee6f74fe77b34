#include "transform/tir/tiles/trn_builder.h"

#include <fmt/format.h>

#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {

const PrimExpr* TrnBuilder::String(std::string_view text) const {
  return workspace_.New<tir::StringImm>(workspace_.arena().CopyString(text));
}

const tir::Stmt* TrnBuilder::Loop(const tir::Var* var, int64_t extent, std::string_view dim,
                                  const tir::Stmt* body) const {
  const DictAttr* annotations = DictAttr::Empty();
  if (!dim.empty()) annotations = annotations->With(attr::kNkiDim, StrAttr::Get(dim));
  return workspace_.New<tir::For>(var, Int(0), Int(extent), tir::ForKind::kSerial, body, nullptr, annotations);
}

const tir::Stmt* TrnBuilder::Loops(std::initializer_list<LoopSpec> loops, const tir::Stmt* body) const {
  for (size_t i = loops.size(); i-- > 0;) {
    const LoopSpec& loop = loops.begin()[i];
    body = Loop(loop.var, loop.extent, loop.dim, body);
  }
  return body;
}

const tir::Stmt* TrnBuilder::Instruction(const tir::Stmt* body) const {
  return workspace_.New<tir::AttrStmt>(Int(0), attr::kTensorizedNkiInstruction, Int(1), body);
}

const tir::Stmt* TrnBuilder::Nki(std::string_view name, std::span<const PrimExpr* const> operands,
                                 const PrimExpr* guard) const {
  PrimExprs args = {String(fmt::format("nki.{}", name))};
  args.insert(args.end(), operands.begin(), operands.end());
  const auto* call = workspace_.New<tir::Call>(DataType::Void(), GetOp(op::kTirDeviceCall), workspace_.Copy(args));
  const tir::Stmt* stmt = workspace_.New<tir::Evaluate>(call);
  return guard ? workspace_.New<tir::IfThenElse>(guard, stmt, nullptr) : stmt;
}

const tir::Stmt* TrnBuilder::Seq(std::initializer_list<const tir::Stmt*> stmts) const {
  return tir::MakeSeq(workspace_, std::span(stmts.begin(), stmts.size()));
}

const PrimExpr* TrnBuilder::Load(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices) const {
  return workspace_.New<tir::BufferLoad>(buffer->dtype, buffer, workspace_.Copy(indices));
}

Result<const PrimExpr*> TrnBuilder::Element(TrnIndexer& indexer, size_t region) const {
  IROPT_ASSIGN_OR_RETURN(const PrimExprs indices, indexer.Indices(region));
  return Load(indexer.region(region).buffer, indices);
}

Error TrnBuilder::Fail(std::string_view message) const {
  return {ErrorCode::PassFailed, fmt::format("T.{}.{}: {}", call_.scope, call_.name, message)};
}

Result<size_t> TrnBuilder::AddRegion(TrnIndexer& indexer, size_t operand) const {
  const auto region = operand < call_.operands.size() ? AsTileRegion(call_.operands[operand]) : std::nullopt;
  if (!region) return Fail(fmt::format("operand {} is not a region of a buffer", operand));
  return indexer.Add(*region);
}

Result<std::optional<int64_t>> TrnBuilder::MaxSize(std::optional<int64_t> otherwise) const {
  const PrimExpr* given = call_.Keyword("max_inst_size");
  if (!given) return otherwise;
  const int64_t* value = arith::AsInt(given);
  if (!value || *value <= 0) return Fail("max_inst_size is not a positive integer");
  return std::optional(*value);
}

Result<const tir::Buffer*> TrnBuilder::Workspace(std::string_view name, std::initializer_list<int64_t> extents,
                                                 std::string_view scope) const {
  const tir::Buffer* buffer = call_.Workspace(name);
  if (!buffer) return Fail(fmt::format("the workspace has no buffer '{}'", name));
  const size_t skip = scope == "trn.psum" ? 1 : 0;
  bool fits = buffer->scope() == scope && !buffer->layout && buffer->shape.size() == extents.size() + skip;
  for (size_t i = 0; fits && i < extents.size(); ++i) {
    const int64_t* dim = arith::AsInt(buffer->shape[static_cast<uint32_t>(i + skip)]);
    fits = dim && *dim >= extents.begin()[i];
  }
  if (!fits)
    return Fail(fmt::format(
        "the buffer '{}' of the workspace must be in {}, without a layout, and have at least the extents ({})", name,
        scope, fmt::join(extents, ", ")));
  return buffer;
}

Status CheckTrnMemory(const tir::Buffer& buffer, bool psum, const TrnBuilder& build) {
  const std::string_view scope = buffer.scope();
  const auto shard = ShardOf(buffer);
  if (shard && IsTrainium(*shard) && (scope == "trn.sbuf" || (psum && scope == "trn.psum"))) return {};
  return build.Fail(fmt::format("'{}' must be in {} with a layout of partitions and free dimensions", buffer.name,
                                psum ? "trn.sbuf or trn.psum" : "trn.sbuf"));
}

int64_t PartitionsOf(const tir::Buffer& buffer) {
  const auto shard = ShardOf(buffer);
  return shard ? SizeOn(*shard, "P") : 1;
}

}  // namespace iropt
