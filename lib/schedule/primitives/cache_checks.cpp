// What a copy of a buffer requires of the scope that it is for.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cache.h"
#include "iropt/schedule/state.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

const tir::BufferRegion* FindRegion(List<const tir::BufferRegion*> regions, const tir::Buffer* buffer) {
  const auto found = std::ranges::find(regions, buffer, &tir::BufferRegion::buffer);
  return found == regions.end() ? nullptr : *found;
}

namespace {

// Looks for a buffer that is declared or allocated between the statements of a scope.
class DeclarationFinder : public StmtWalker {
 public:
  explicit DeclarationFinder(const tir::Buffer* buffer) : buffer_(buffer) {}
  bool found = false;

 protected:
  void VisitBlock(const tir::Block*) override {}
  void VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    found = found || decl->buffer == buffer_;
    StmtWalker::VisitDeclBuffer(decl);
  }
  void VisitAllocate(const tir::Allocate* allocate) override {
    found = found || allocate->buffer_var == buffer_->data;
    StmtWalker::VisitAllocate(allocate);
  }

 private:
  const tir::Buffer* buffer_;
};

}  // namespace

Result<Ref*> OnlyWriter(State& state, Ref* scope, const tir::Buffer* buffer) {
  DeclarationFinder declarations(buffer);
  declarations.VisitStmt(BelowDeclarations(scope->block().body));
  if (declarations.found)
    return state.Refuse(fmt::format("the buffer {} is declared by a statement in the scope {{0}}, so that not all of "
                                    "the scope can access it",
                                    buffer->name),
                        {scope->stmt});
  const std::vector<Ref*>& writers = state.ScopeInfo(scope).WritersOf(buffer);
  if (writers.empty()) return nullptr;
  Ref* first = writers.front();
  if (writers.size() == 1 && FindRegion(first->block().writes, buffer)) return first;
  std::vector<const Node*> parts;
  for (const Ref* writer : writers) parts.push_back(writer->stmt);
  return state.Refuse(fmt::format("the buffer {} is written by {} blocks: expected one", buffer->name, writers.size()),
                      std::move(parts));
}

Status CheckReadsOwnValues(State& state, const Ref* scope, const Ref* block, const tir::Buffer* buffer) {
  const List<const tir::Buffer*> allocated = scope->block().alloc_buffers;
  const bool is_new = std::ranges::find(allocated, buffer) != allocated.end();
  if (is_new || block->block().init || !FindRegion(block->block().reads, buffer)) return {};
  return state.Refuse(
      fmt::format("the block {{0}} may read what was in {} before, which the new memory does not have", buffer->name),
      {block->stmt});
}

}  // namespace iropt::schedule
