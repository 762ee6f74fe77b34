#include "race_detector.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/tir/visitor.h"

namespace iropt::eval {

namespace {

// More would take much memory; races show early.
constexpr size_t kMostElements = size_t{1} << 20;
constexpr size_t kMostIterations = size_t{1} << 20;

using Loops = std::vector<const tir::Var*>;

// Finds the concurrent loops around all accesses to the memory that blocks allocate. A lowered program allocates it
// inside of these loops.
class HomeFinder : public tir::StmtExprVisitor {
 public:
  explicit HomeFinder(LookupMap<const tir::Var*, Loops>& homes) : homes_(homes) {}

 protected:
  void VisitFor(const tir::For* loop) override {
    const bool is_concurrent = RaceDetector::IsConcurrent(*loop);
    if (is_concurrent) loops_.push_back(loop->loop_var);
    StmtExprVisitor::VisitFor(loop);
    if (is_concurrent) loops_.pop_back();
  }

  void VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) memory_[buffer->data] = buffer->data;
    for (const tir::MatchBufferRegion* match : block->match_buffers) {
      if (const tir::Var* const* data = memory_.Find(match->source->buffer->data)) memory_[match->buffer->data] = *data;
    }
    StmtExprVisitor::VisitBlock(block);
  }

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Access(load->buffer->data);
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    Access(store->buffer->data);
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitVar(const tir::Var* var) override { Access(var); }

 private:
  void Access(const tir::Var* data) {
    const tir::Var* const* memory = memory_.Find(data);
    if (!memory) return;
    const auto [home, is_new] = homes_.try_emplace(*memory, loops_);
    if (!is_new) home.resize(static_cast<size_t>(std::ranges::mismatch(home, loops_).in1 - home.begin()));
    if (*memory != data) homes_[data] = home;
  }

  LookupMap<const tir::Var*, Loops>& homes_;
  LookupMap<const tir::Var*, const tir::Var*> memory_;  // allocated, by the variables that point to it
  Loops loops_;
};

bool IsGlobalMemory(const tir::Var* data) {
  return !data->pointer || data->pointer->scope.empty() || data->pointer->scope == "global";
}

}  // namespace

bool RaceDetector::IsConcurrentAxis(std::string_view thread_tag) {
  return thread_tag.starts_with("blockIdx") || thread_tag.starts_with("threadIdx");
}

bool RaceDetector::IsConcurrent(const tir::For& loop) {
  if (loop.thread_binding) return IsConcurrentAxis(loop.thread_binding->thread_tag);
  return loop.for_kind == tir::ForKind::kParallel || loop.for_kind == tir::ForKind::kVectorized;
}

void RaceDetector::AddFunction(const tir::Stmt* body) {
  if (known_.insert(body)) HomeFinder(homes_).VisitStmt(body);
}

void RaceDetector::EnterLoop(const tir::Var* loop, bool is_thread) {
  loops_.push_back({loop, is_thread, ++instances_, current_});
}

void RaceDetector::NextIteration() {
  if (iterations_.size() >= kMostIterations) return;
  const Loop& loop = loops_.back();
  current_ = static_cast<uint32_t>(iterations_.size());
  iterations_.push_back({loop.outer, iterations_[loop.outer].depth + 1, loop.instance, loop.var, loop.is_thread});
}

void RaceDetector::LeaveLoop() {
  current_ = loops_.back().outer;
  loops_.pop_back();
}

const RaceDetector::Iteration* RaceDetector::ConcurrentWith(uint32_t earlier) const {
  uint32_t a = earlier;
  uint32_t b = current_;
  while (iterations_[a].depth > iterations_[b].depth) a = iterations_[a].outer;
  while (iterations_[b].depth > iterations_[a].depth) b = iterations_[b].outer;
  if (a == b) return nullptr;  // one is inside of the other
  while (iterations_[a].outer != iterations_[b].outer) {
    a = iterations_[a].outer;
    b = iterations_[b].outer;
  }
  return iterations_[a].instance == iterations_[b].instance ? &iterations_[a] : nullptr;
}

bool RaceDetector::IsPrivate(const tir::Var* data, const tir::Var* loop) const {
  const Loops* home = homes_.Find(data);
  return home && std::ranges::find(*home, loop) != home->end();
}

void RaceDetector::Check(uint32_t earlier, const tir::Var* data, std::string_view buffer, bool reduces,
                         std::string_view what) {
  if (earlier == 0 || earlier == current_) return;
  const Iteration* iteration = ConcurrentWith(earlier);
  if (!iteration || IsPrivate(data, iteration->loop)) return;
  // Threads share other memory in ways that synchronization decides, which may be added later.
  if (iteration->is_thread && (reduces || !IsGlobalMemory(data))) return;
  race_ = fmt::format("iterations of the concurrent loop '{}' {} the same element of buffer '{}'",
                      iteration->loop->name, what, buffer);
}

void RaceDetector::Read(uint64_t address, const tir::Var* data, std::string_view buffer, bool reduces) {
  Element* known = elements_.Find(address);
  if (!known && ++num_elements_ > kMostElements) return;
  Element& element = known ? *known : elements_[address];
  Check(element.writer, data, buffer, reduces, "write and read");
  if (element.reader == current_) return;
  element.other_reader = element.reader;
  element.reader = current_;
}

void RaceDetector::Write(uint64_t address, const tir::Var* data, std::string_view buffer, bool changes, bool reduces) {
  Element* known = elements_.Find(address);
  if (!known && ++num_elements_ > kMostElements) return;
  Element& element = known ? *known : elements_[address];
  if (changes) {
    Check(element.writer, data, buffer, reduces, "write different values to");
    Check(element.reader, data, buffer, reduces, "read and write");
    Check(element.other_reader, data, buffer, reduces, "read and write");
  }
  element.writer = current_;
}

}  // namespace iropt::eval
