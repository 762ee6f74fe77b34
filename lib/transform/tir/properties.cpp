#include "transform/tir/properties.h"

#include <algorithm>

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "transform/tir/dtypes/dtype_set.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt::properties {

namespace {

// ---- Functions

bool AppliesToAll(const PrimFunc&) { return true; }
bool AppliesToNewer(const PrimFunc& func) { return !IsFromLegacySchedule(func); }
bool AppliesToOlder(const PrimFunc& func) { return IsFromLegacySchedule(func); }

// ---- Blocks

bool BreaksNoBufferRealize(const Node& node) { return node.kind == NodeKind::kBufferRealize; }

bool BreaksNoInit(const Node& node) {
  const auto* block = As<tir::Block>(&node);
  return block != nullptr && block->init != nullptr;
}

bool BreaksOpaqueBlocks(const Node& node) {
  const auto* block = As<tir::Block>(&node);
  return block != nullptr && !block->iter_vars.empty();
}

bool BreaksNoLocalStage(const Node& node) {
  const auto* block = As<tir::Block>(&node);
  return block != nullptr && block->annotations->Find(attr::kManifestSharedMemoryLocalStage) != nullptr;
}

bool BreaksNoMatchBuffer(const Node& node) {
  const auto* block = As<tir::Block>(&node);
  return block != nullptr && !block->match_buffers.empty();
}

bool BreaksNoBlocks(const Node& node) { return node.kind == NodeKind::kBlockStmt; }

// ---- Loops

bool IsLoopOfKind(const Node& node, tir::ForKind kind) {
  const auto* loop = As<tir::For>(&node);
  return loop != nullptr && loop->for_kind == kind;
}

bool BreaksNoSoftwarePipelines(const Node& node) {
  const auto* loop = As<tir::For>(&node);
  return loop != nullptr && loop->annotations->Find(attr::kSoftwarePipelineStage) != nullptr;
}

bool BreaksNoPragmas(const Node& node) {
  const auto* loop = As<tir::For>(&node);
  return loop != nullptr && std::ranges::any_of(loop->annotations->keys, [](std::string_view key) {
           return key.starts_with(attr::kPragmaPrefix);
         });
}

bool BreaksNoThreadLoops(const Node& node) { return IsLoopOfKind(node, tir::ForKind::kThreadBinding); }
bool BreaksNoVectorizedLoops(const Node& node) { return IsLoopOfKind(node, tir::ForKind::kVectorized); }
bool BreaksNoUnrolledLoops(const Node& node) { return IsLoopOfKind(node, tir::ForKind::kUnrolled); }

bool HasAttr(const Node& node, std::string_view key) {
  const auto* stmt = As<tir::AttrStmt>(&node);
  return stmt != nullptr && stmt->attr_key == key;
}

bool BreaksNoVirtualThreads(const Node& node) {
  return HasAttr(node, attr::kVirtualThread) && As<tir::IterVar>(To<tir::AttrStmt>(&node)->node) != nullptr;
}
bool BreaksNoUnrollPragma(const Node& node) { return HasAttr(node, attr::kPragmaUnrollExplicit); }

// ---- Buffers and expressions

bool IsFlat(const tir::Buffer& buffer, size_t num_indices) { return num_indices == buffer.axis_separators.size() + 1; }

bool BreaksFlatBuffers(const Node& node) {
  // Without indices, a load names the buffer as a whole in an attribute.
  if (const auto* load = As<tir::BufferLoad>(&node))
    return !load->indices.empty() && !IsFlat(*load->buffer, load->indices.size());
  if (const auto* store = As<tir::BufferStore>(&node)) return !IsFlat(*store->buffer, store->indices.size());
  if (const auto* region = As<tir::BufferRegion>(&node)) return !IsFlat(*region->buffer, region->region.size());
  return false;
}

bool BreaksNoBF16Arithmetic(const Node& node) {
  return tir::BinaryExpr::ClassOf(node.kind) && IsBFloat16(static_cast<const tir::BinaryExpr&>(node).a->dtype);
}

bool BreaksNoLikely(const Node& node) {
  const auto* call = As<tir::Call>(&node);
  return call != nullptr && IsOp(call->op, op::kTirLikely);
}

}  // namespace

#define IROPT_PROPERTY(Id, Name, Functions, Contradicting, Summary)                                                    \
  constinit const FunctionProperty k##Id = {Name, Summary, &AppliesTo##Functions, &Breaks##Id,                         \
                                            FunctionProperty::Nodes::k##Contradicting};
#include "properties.def"

}  // namespace iropt::properties
