// Buffers of which a software pipeline keeps several versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// The buffers with a first dimension of versions, by the original ones.
using VersionedBuffers = LookupMap<const tir::Buffer*, const tir::Buffer*>;

// The numbers of elements of fragments of tensor cores, by their pointers.
using FragmentSizes = LookupMap<const tir::Var*, int64_t>;

// Those that calls under the statement load or fill. O(nodes).
FragmentSizes CollectFragmentSizes(const tir::Stmt* stmt);

// The buffer with `num_versions` times its memory.
const tir::Buffer* AddVersions(const tir::Buffer& buffer, int64_t num_versions, Workspace& workspace);

// Makes a block of a pipelined loop use the version of its iteration.
class VersionSelector : public tir::StmtExprMutator {
 public:
  // With `all_versions`, blocks state that they may access any version.
  VersionSelector(const tir::For& loop, const VersionedBuffers& buffers, const FragmentSizes& fragments,
                  bool all_versions, Workspace& workspace);

 protected:
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override;
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override;
  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override;
  const PrimExpr* VisitCall(const tir::Call* call) override;

 private:
  // The version of the iteration; null if the buffer has one only.
  const PrimExpr* VersionOf(const tir::Buffer* buffer);
  template <class T>
  List<T> Prepend(T first, List<T> rest);
  // Makes the offset among the operands of a call, which counts from the pointer of a buffer, that of the version.
  void MovePointer(std::vector<const PrimExpr*>& args, size_t pointer, size_t offset, bool is_fragment);
  const PrimExpr* SizeOf(const tir::Buffer& buffer) const;

  const tir::For& loop_;
  const VersionedBuffers& buffers_;
  const FragmentSizes& fragments_;
  const bool all_versions_;
  const arith::PrimBuilder make_;
  LookupMap<const tir::Var*, const tir::Buffer*> by_pointer_;  // the original buffers
};

}  // namespace iropt
