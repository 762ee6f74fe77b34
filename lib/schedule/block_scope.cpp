#include "iropt/schedule/block_scope.h"

#include <algorithm>

#include "stmt_tools.h"

namespace iropt::schedule {

namespace {

// The buffers that blocks access, but for those that they allocate.
class NestedAccesses : public StmtWalker {
 public:
  std::vector<const tir::Buffer*> reads, writes;

 protected:
  void VisitBlock(const tir::Block* block) override {
    own_.insert(own_.end(), block->alloc_buffers.begin(), block->alloc_buffers.end());
    for (const tir::BufferRegion* region : block->reads) Add(reads, region->buffer);
    for (const tir::BufferRegion* region : block->writes) Add(writes, region->buffer);
    StmtWalker::VisitBlock(block);
  }

 private:
  void Add(std::vector<const tir::Buffer*>& buffers, const tir::Buffer* buffer) {
    if (std::ranges::find(own_, buffer) == own_.end() && std::ranges::find(buffers, buffer) == buffers.end())
      buffers.push_back(buffer);
  }

  std::vector<const tir::Buffer*> own_;
};

void AddOther(std::vector<Ref*>& found, Ref* other) {
  if (std::ranges::find(found, other) == found.end()) found.push_back(other);
}

}  // namespace

// ---- Dependences

BlockScope::BlockScope(std::vector<Ref*> children) : children_(std::move(children)) {
  for (size_t i = 0; i < children_.size(); ++i) children_[i]->place = static_cast<uint32_t>(i);
  for (Ref* child : children_) Add(child);
}

const std::vector<Ref*>& BlockScope::Find(const Lists& lists, const tir::Buffer* buffer) {
  static const std::vector<Ref*> none;
  const auto* found = lists.Find(buffer);
  return found ? *found : none;
}

BlockScope::Accesses BlockScope::AccessesOf(const tir::Block& block) {
  Accesses accesses{.block = &block, .stated_reads = block.reads, .stated_writes = block.writes};
  if (block.reads.empty() && block.writes.empty()) {
    NestedAccesses nested;
    nested.VisitStmt(block.body);
    accesses.reads = std::move(nested.reads);
    accesses.writes = std::move(nested.writes);
    return accesses;
  }
  for (const tir::BufferRegion* region : block.reads) accesses.reads.push_back(region->buffer);
  for (const tir::BufferRegion* region : block.writes) accesses.writes.push_back(region->buffer);
  return accesses;
}

bool BlockScope::IsCurrent(const Accesses& known, const Ref* child) {
  const tir::Block& block = child->block();
  if (&block == known.block) return true;
  const auto same = [](const List<const tir::BufferRegion*>& a, const List<const tir::BufferRegion*>& b) {
    return a.size() == b.size() && a.begin() == b.begin();
  };
  return !(block.reads.empty() && block.writes.empty()) && same(block.reads, known.stated_reads) &&
         same(block.writes, known.stated_writes);
}

void BlockScope::Add(Ref* child) {
  Accesses accesses = AccessesOf(child->block());
  const auto add = [&](Lists& lists, const std::vector<const tir::Buffer*>& buffers) {
    for (const tir::Buffer* buffer : buffers) {
      std::vector<Ref*>& list = lists[buffer];
      list.insert(std::ranges::upper_bound(list, child->place, {}, &Ref::place), child);
    }
  };
  add(readers_, accesses.reads);
  add(writers_, accesses.writes);
  accesses_.insert_or_assign(child, std::move(accesses));
}

void BlockScope::Remove(Ref* child) {
  const Accesses accesses = accesses_.Take(child);
  const auto remove = [&](Lists& lists, const std::vector<const tir::Buffer*>& buffers) {
    for (const tir::Buffer* buffer : buffers) {
      std::vector<Ref*>* list = lists.Find(buffer);
      if (list) std::erase(*list, child);
      if (list && list->empty()) lists.erase(buffer);
    }
  };
  remove(readers_, accesses.reads);
  remove(writers_, accesses.writes);
}

void BlockScope::Update(Ref* child) {
  const Accesses* known = accesses_.Find(child);
  if (!known || IsCurrent(*known, child)) return;
  Remove(child);
  Add(child);
}

bool BlockScope::Replace(const std::vector<Ref*>& before, const std::vector<Ref*>& after) {
  if (before.empty()) return after.empty();
  const size_t begin = before.front()->place;
  if (begin + before.size() > children_.size() ||
      !std::equal(before.begin(), before.end(), children_.begin() + static_cast<std::ptrdiff_t>(begin)))
    return false;
  // Those that access the same, and follow each other as before, stay in the lists.
  std::vector<bool> stays_before(before.size());
  std::vector<bool> stays_after(after.size());
  size_t next = begin;
  for (size_t i = 0; i < after.size(); ++i) {
    const Accesses* known = accesses_.Find(after[i]);
    if (!known || after[i]->place < next || after[i]->place - begin >= before.size() || !IsCurrent(*known, after[i]))
      continue;
    stays_after[i] = stays_before[after[i]->place - begin] = true;
    next = after[i]->place + 1;
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (!stays_before[i]) Remove(before[i]);
  }
  const auto first = children_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = first + std::ssize(before);
  const auto common = std::ssize(before.size() < after.size() ? before : after);
  std::copy_n(after.begin(), common, first);
  if (after.size() > before.size()) {
    children_.insert(last, after.begin() + common, after.end());
  } else {
    children_.erase(first + common, last);
  }
  const size_t end = before.size() == after.size() ? begin + after.size() : children_.size();
  for (size_t i = begin; i < end; ++i) children_[i]->place = static_cast<uint32_t>(i);
  for (size_t i = 0; i < after.size(); ++i) {
    if (!stays_after[i]) Add(after[i]);
  }
  return true;
}

std::vector<Dependence> BlockScope::DependencesTo(Ref* block) const {
  std::vector<Dependence> found;
  const Accesses* accesses = accesses_.Find(block);
  if (!accesses) return found;
  const auto add = [&](const std::vector<const tir::Buffer*>& buffers, const Lists& lists, DependenceKind kind) {
    for (const tir::Buffer* buffer : buffers) {
      for (Ref* other : Find(lists, buffer)) {
        if (other->place >= block->place) break;
        found.push_back({other, block, kind});
      }
    }
  };
  add(accesses->reads, writers_, DependenceKind::kReadAfterWrite);
  add(accesses->writes, writers_, DependenceKind::kWriteAfterWrite);
  add(accesses->writes, readers_, DependenceKind::kWriteAfterRead);
  return found;
}

std::vector<Dependence> BlockScope::DependencesFrom(Ref* block) const {
  std::vector<Dependence> found;
  const Accesses* accesses = accesses_.Find(block);
  if (!accesses) return found;
  std::vector<Ref*> others;
  const auto add = [&](const std::vector<const tir::Buffer*>& buffers, const Lists& lists) {
    for (const tir::Buffer* buffer : buffers) {
      const std::vector<Ref*>& list = Find(lists, buffer);
      others.insert(others.end(), std::ranges::upper_bound(list, block->place, {}, &Ref::place), list.end());
    }
  };
  add(accesses->writes, readers_);
  add(accesses->writes, writers_);
  add(accesses->reads, writers_);
  std::ranges::sort(others, {}, &Ref::place);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  for (Ref* other : others) {
    for (const Dependence& dependence : DependencesTo(other)) {
      if (dependence.src == block) found.push_back(dependence);
    }
  }
  return found;
}

std::vector<Ref*> BlockScope::ProducersOf(Ref* block) const {
  std::vector<Ref*> found;
  for (const Dependence& dependence : DependencesTo(block)) {
    if (dependence.kind != DependenceKind::kWriteAfterRead) AddOther(found, dependence.src);
  }
  return found;
}

std::vector<Ref*> BlockScope::ConsumersOf(Ref* block) const {
  std::vector<Ref*> found;
  for (const Dependence& dependence : DependencesFrom(block)) {
    if (dependence.kind != DependenceKind::kWriteAfterRead) AddOther(found, dependence.dst);
  }
  return found;
}

}  // namespace iropt::schedule
