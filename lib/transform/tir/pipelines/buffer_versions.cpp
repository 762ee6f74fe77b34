#include "transform/tir/pipelines/buffer_versions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"

namespace iropt {

FragmentSizes CollectFragmentSizes(const tir::Stmt* stmt) {
  FragmentSizes sizes;
  tir::PostOrderVisit(stmt, [&](const Node* node) {
    const auto* call = As<tir::Call>(node);
    const auto* op = call ? As<Op>(call->op) : nullptr;
    if (!op || !IsOneOf(*op, op::kTirTvmLoadMatrixSync, op::kTirTvmFillFragment) || call->args.size() < 4) return;
    const auto* pointer = As<tir::Var>(call->args[0]);
    const int64_t* m = arith::AsInt(call->args[1]);
    const int64_t* n = arith::AsInt(call->args[2]);
    const int64_t* k = arith::AsInt(call->args[3]);
    if (!pointer || !pointer->pointer || !m || !n || !k) return;
    const std::string_view scope = pointer->pointer->scope;
    const int64_t size = scope == "wmma.matrix_a" ? *m * *k : scope == "wmma.matrix_b" ? *n * *k : *m * *n;
    if (size > 0) sizes[pointer] = size;
  });
  return sizes;
}

const tir::Buffer* AddVersions(const tir::Buffer& buffer, int64_t num_versions, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  tir::Buffer versioned = buffer;
  std::vector<const PrimExpr*> shape = {make.Int(num_versions, DataType::Int(32))};
  shape.insert(shape.end(), buffer.shape.begin(), buffer.shape.end());
  versioned.shape = workspace.Copy(shape);
  if (!buffer.strides.empty()) {
    std::vector<const PrimExpr*> strides = {make.Mul(buffer.strides[0], buffer.shape[0])};
    strides.insert(strides.end(), buffer.strides.begin(), buffer.strides.end());
    versioned.strides = workspace.Copy(strides);
  }
  std::vector<int64_t> separators;
  for (const int64_t separator : buffer.axis_separators) separators.push_back(separator + 1);
  versioned.axis_separators = workspace.Copy(separators);
  versioned.id = workspace.NextVarId();
  return workspace.New<tir::Buffer>(versioned);
}

VersionSelector::VersionSelector(const tir::For& loop, const VersionedBuffers& buffers, const FragmentSizes& fragments,
                                 bool all_versions, Workspace& workspace)
    : StmtExprMutator(workspace),
      loop_(loop),
      buffers_(buffers),
      fragments_(fragments),
      all_versions_(all_versions),
      make_(workspace) {
  buffers.ForEachInAnyOrder([&](const tir::Buffer* buffer, const tir::Buffer* versioned) {
    Remap(buffer, versioned);
    by_pointer_.try_emplace(buffer->data, buffer);
  });
}

const PrimExpr* VersionSelector::VersionOf(const tir::Buffer* buffer) {
  const auto* found = buffers_.Find(buffer);
  if (!found) return nullptr;
  return make_.FloorMod(make_.Sub(loop_.loop_var, loop_.min), (*found)->shape[0]);
}

template <class T>
List<T> VersionSelector::Prepend(T first, List<T> rest) {
  std::vector<T> all = {first};
  all.insert(all.end(), rest.begin(), rest.end());
  return workspace().Copy(all);
}

const tir::Stmt* VersionSelector::VisitBufferStore(const tir::BufferStore* store) {
  const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
  const PrimExpr* version = VersionOf(store->buffer);
  if (!version) return visited;
  tir::BufferStore copy = *To<tir::BufferStore>(visited);
  copy.indices = Prepend(version, copy.indices);
  return workspace().New<tir::BufferStore>(copy);
}

const PrimExpr* VersionSelector::VisitBufferLoad(const tir::BufferLoad* load) {
  const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
  const PrimExpr* version = VersionOf(load->buffer);
  if (!version) return visited;
  tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
  copy.flags = 0;
  copy.indices = Prepend(version, copy.indices);
  return workspace().New<tir::BufferLoad>(copy);
}

const tir::BufferRegion* VersionSelector::VisitBufferRegion(const tir::BufferRegion* region) {
  const tir::BufferRegion* visited = StmtExprMutator::VisitBufferRegion(region);
  const PrimExpr* version = VersionOf(region->buffer);
  if (!version) return visited;
  tir::BufferRegion copy = *visited;
  const PrimExpr* zero = make_.Int(0, DataType::Int(32));
  const PrimExpr* one = make_.Int(1, DataType::Int(32));
  const tir::Range range = all_versions_ ? tir::Range(zero, copy.buffer->shape[0]) : tir::Range(version, one);
  copy.region = Prepend<const tir::Range*>(workspace().New<tir::Range>(range), copy.region);
  return workspace().New<tir::BufferRegion>(copy);
}

const PrimExpr* VersionSelector::SizeOf(const tir::Buffer& buffer) const {
  const PrimExpr* size = make_.Int(1, DataType::Int(32));
  for (const PrimExpr* dim : buffer.shape) size = make_.Mul(size, dim);
  return size;
}

void VersionSelector::MovePointer(std::vector<const PrimExpr*>& args, size_t pointer, size_t offset, bool is_fragment) {
  if (offset >= args.size()) return;
  const auto* var = As<tir::Var>(args[pointer]);
  const tir::Buffer* const* found = var ? by_pointer_.Find(var) : nullptr;
  if (!found) return;
  const tir::Buffer& buffer = **found;
  const tir::Buffer& versioned = *buffers_.at(&buffer);
  const PrimExpr* size = is_fragment || versioned.strides.empty() ? SizeOf(buffer) : versioned.strides[0];
  // The fragments of tensor cores are counted; other such memory is distributed over the 32 threads of a warp.
  if (const auto* fragment = fragments_.Find(var); is_fragment && fragment)
    size = make_.FloorDiv(size, make_.Int(*fragment, DataType::Int(32)));
  else if (buffer.scope() == "m16n8k8.matrixA" || buffer.scope() == "m16n8k8.matrixB")
    size = make_.FloorDiv(size, make_.Int(32, DataType::Int(32)));
  args[offset] = make_.Add(args[offset], make_.Mul(VersionOf(&buffer), size));
}

const PrimExpr* VersionSelector::VisitCall(const tir::Call* call) {
  const PrimExpr* visited = StmtExprMutator::VisitCall(call);
  const auto* op = As<Op>(call->op);
  if (!op || buffers_.empty()) return visited;
  const auto& args = To<tir::Call>(visited)->args;
  std::vector<const PrimExpr*> moved(args.begin(), args.end());
  if (IsOneOf(*op, op::kTirTvmLoadMatrixSync, op::kTirTvmStoreMatrixSync)) {
    MovePointer(moved, 0, 4, true);
  } else if (IsOneOf(*op, op::kTirTvmMmaSync)) {
    for (size_t i = 0; i < 8; i += 2) MovePointer(moved, i, i + 1, true);
  } else if (IsOneOf(*op, op::kTirTvmAccessPtr)) {
    MovePointer(moved, 1, 2, false);
  } else if (IsOneOf(*op, op::kTirPtxMma)) {
    for (size_t i = 6; i <= 10; i += 2) MovePointer(moved, i, i + 1, false);
  } else if (IsOneOf(*op, op::kTirPtxLdmatrix)) {
    MovePointer(moved, 3, 4, false);
  } else if (IsOneOf(*op, op::kTirMmaStore, op::kTirMmaStoreLegacy)) {
    MovePointer(moved, 3, 4, false);
  } else if (IsOneOf(*op, op::kTirMmaFill, op::kTirMmaFillLegacy)) {
    MovePointer(moved, 1, 2, false);
  }
  if (std::equal(moved.begin(), moved.end(), args.begin())) return visited;
  tir::Call copy = *To<tir::Call>(visited);
  copy.args = workspace().Copy(moved);
  return workspace().New<tir::Call>(copy);
}

}  // namespace iropt
