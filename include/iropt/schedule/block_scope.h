// The blocks directly inside a block, and the dependences between them.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/schedule/ref.h"
#include "iropt/support/lookup.h"

namespace iropt::schedule {

enum class DependenceKind : uint8_t { kReadAfterWrite, kWriteAfterWrite, kWriteAfterRead };

struct Dependence {
  Ref* src;
  Ref* dst;
  DependenceKind kind;
};

// A child depends on those before it which access the same buffers. What is asked for is found by the buffers of a
// child, so that a question costs the number of blocks which share them.
class BlockScope {
 public:
  // In the order of execution.
  explicit BlockScope(std::vector<Ref*> children);

  const std::vector<Ref*>& children() const { return children_; }
  // The children that write or read the buffer, in the order of execution, once for each region.
  const std::vector<Ref*>& WritersOf(const tir::Buffer* buffer) const { return Find(writers_, buffer); }
  const std::vector<Ref*>& ReadersOf(const tir::Buffer* buffer) const { return Find(readers_, buffer); }
  // Return the dependences of the block on others, and of others on it, in the order of execution of the dependent
  // ones.
  std::vector<Dependence> DependencesTo(Ref* block) const;
  std::vector<Dependence> DependencesFrom(Ref* block) const;
  // In the order of execution, each once.
  std::vector<Ref*> ProducersOf(Ref* block) const;
  std::vector<Ref*> ConsumersOf(Ref* block) const;

  // Neighbouring children are replaced by others; some may stay or change their places. Costs the number of these, and
  // a step for each child after them. False if that is not possible, and nothing has changed.
  bool Replace(const std::vector<Ref*>& before, const std::vector<Ref*>& after);
  // The child may access something else than before.
  void Update(Ref* child);

 private:
  using Lists = LookupMap<const tir::Buffer*, std::vector<Ref*>>;
  // The accesses of a child, once for each region. A block that states nothing has what the blocks in it access, but
  // for buffers of its own.
  struct Accesses {
    const tir::Block* block = nullptr;
    List<const tir::BufferRegion*> stated_reads = {}, stated_writes = {};
    std::vector<const tir::Buffer*> reads = {}, writes = {};
  };

  static const std::vector<Ref*>& Find(const Lists& lists, const tir::Buffer* buffer);
  static Accesses AccessesOf(const tir::Block& block);
  // Returns whether the child still has these accesses.
  static bool IsCurrent(const Accesses& known, const Ref* child);
  void Add(Ref* child);
  void Remove(Ref* child);

  std::vector<Ref*> children_;
  Lists readers_, writers_;
  LookupMap<const Ref*, Accesses> accesses_;
};

}  // namespace iropt::schedule
