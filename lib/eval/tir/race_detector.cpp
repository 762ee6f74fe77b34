#include "race_detector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "iropt/eval/tir/loop_facts.h"
#include "iropt/eval/tir/thread_memory.h"
#include "iropt/eval/tir/thread_sync.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt::eval {

namespace {

// More would take much memory; races show early.
constexpr size_t kMostElements = size_t{1} << 20;
constexpr size_t kMostIterations = size_t{1} << 20;

bool IsGlobalMemory(const tir::Var* data) {
  return !data->pointer || data->pointer->scope.empty() || data->pointer->scope == "global";
}

// The access that changes the element comes first. `name` gives the thread, block or iteration of an access.
template <class Access, class Name>
ObservedRace RaceOf(const Access& earlier, const Access& now, std::string_view buffer, std::string_view actors,
                    std::string_view actor, Name&& name, std::string_view without) {
  const auto verb = [](const Access& access) { return access.changes ? "changes" : "reads"; };
  const Access& first = earlier.changes ? earlier : now;
  const Access& second = earlier.changes ? now : earlier;
  return {.message = fmt::format("{0} race on '{1}': the {2} with {3} {4} the element that the {2} with {5} {6}{7}",
                                 actors, buffer, actor, name(first), verb(first), name(second), verb(second), without),
          .at = first.at,
          .other = second.at,
          .other_message = fmt::format("the other one {} it here", verb(second))};
}

}  // namespace

// Finds the concurrent loops around all accesses to the memory that blocks allocate. A lowered program allocates it
// inside of these loops.
class HomeFinder : public tir::StmtExprVisitor {
 public:
  using Loops = std::vector<RaceDetector::HomeLoop>;
  explicit HomeFinder(LookupMap<const tir::Var*, Loops>& homes) : homes_(homes) {}

 protected:
  void VisitFor(const tir::For* loop) override {
    const std::string_view tag = loop->thread_binding ? loop->thread_binding->thread_tag : std::string_view();
    const bool is_concurrent = RaceDetector::IsConcurrent(*loop) || IsThreadTag(tag);
    if (is_concurrent) loops_.push_back({loop->loop_var, tag});
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

bool RaceDetector::IsConcurrent(const tir::For& loop) {
  if (loop.thread_binding) return IsBlockAxis(loop.thread_binding->thread_tag);
  return loop.for_kind == tir::ForKind::kParallel || loop.for_kind == tir::ForKind::kVectorized;
}

void RaceDetector::AddFunction(const tir::Stmt* body) {
  if (known_.insert(body)) HomeFinder(homes_).VisitStmt(body);
}

void RaceDetector::EnterLoop(const tir::Var* loop, std::string_view thread_tag) {
  loops_.push_back({loop, ++instances_, now_.iteration, thread_tag});
}

void RaceDetector::NextIteration(int64_t value) {
  if (iterations_.size() >= kMostIterations) return;
  const Loop& loop = loops_.back();
  now_.iteration = static_cast<uint32_t>(iterations_.size());
  iterations_.push_back(
      {loop.outer, iterations_[loop.outer].depth + 1, loop.instance, loop.var, loop.thread_tag, value});
}

void RaceDetector::LeaveLoop() {
  now_.iteration = loops_.back().outer;
  loops_.pop_back();
}

// The threads of a kernel start after those of the one before it.
void RaceDetector::EnterAxis() {
  if (axes_++ == 0) ++now_.barriers;
  NextStep();
}

void RaceDetector::LeaveAxis() {
  --axes_;
  NextStep();
}

// Virtual threads of a thread run one after the other.
uint32_t RaceDetector::NumberOf(const ThreadPositions& positions) {
  std::vector<std::pair<std::string_view, int64_t>> thread;
  for (const auto& [tag, index] : positions) {
    if (tag.starts_with("threadIdx")) thread.emplace_back(tag, index);
  }
  if (thread.empty()) return 0;
  const auto [number, is_new] = numbers_.try_emplace(thread, static_cast<uint32_t>(threads_.size()));
  if (is_new) threads_.push_back(std::move(thread));
  return number->second;
}

void RaceDetector::Barrier() {
  ++now_.barriers;
  has_barriers_ = true;
}

std::pair<const RaceDetector::Iteration*, const RaceDetector::Iteration*> RaceDetector::ConcurrentWith(
    uint32_t earlier) const {
  uint32_t a = earlier;
  uint32_t b = now_.iteration;
  while (iterations_[a].depth > iterations_[b].depth) a = iterations_[a].outer;
  while (iterations_[b].depth > iterations_[a].depth) b = iterations_[b].outer;
  if (a == b) return {};  // one is inside of the other
  while (iterations_[a].outer != iterations_[b].outer) {
    a = iterations_[a].outer;
    b = iterations_[b].outer;
  }
  if (iterations_[a].instance != iterations_[b].instance) return {};
  return {&iterations_[a], &iterations_[b]};
}

// A statement outside of the loops over an axis is executed for all its threads.
std::string_view RaceDetector::DifferenceOf(uint32_t a, uint32_t b) const {
  if (a == b) return {};
  for (const auto& [tag, index] : threads_[a]) {
    const auto other = std::ranges::find(threads_[b], tag, &std::pair<std::string_view, int64_t>::first);
    if (other != threads_[b].end() && other->second != index) return tag;
  }
  return {};
}

std::string RaceDetector::NameOf(uint32_t thread) const {
  std::vector<std::string> positions;
  for (const auto& [tag, index] : threads_[thread]) positions.push_back(fmt::format("{} = {}", tag, index));
  return fmt::format("{}", fmt::join(positions, ", "));
}

void RaceDetector::CheckThreads(const Access& earlier, const Access& now, const Element& element) {
  if (axes_ == 0 || earlier.barriers != now.barriers || element.accumulates) return;
  const bool is_of_block = IsBlockMemory(element.data);
  if (!is_of_block && !IsGlobalMemory(element.data)) return;  // each thread has its own
  const std::string_view axis = DifferenceOf(earlier.thread, now.thread);
  if (axis.empty()) return;
  const auto* home = homes_.Find(element.data);
  if (home && !is_of_block && std::ranges::find(*home, axis, &HomeLoop::tag) != home->end()) return;
  const bool waits = is_of_block && earlier.step != now.step;
  ObservedRace& found = waits ? unsynchronized_ : race_;
  if (!found.empty()) return;
  found = RaceOf(
      earlier, now, element.buffer, "threads of a block", "thread",
      [&](const Access& access) { return NameOf(access.thread); }, ", without a barrier in between");
}

void RaceDetector::Check(const Access& earlier, const Access& now, const Element& element) {
  if (earlier.step == 0 || earlier.SameActor(now)) return;
  const auto [before, current] = earlier.iteration == now.iteration ? std::pair<const Iteration*, const Iteration*>()
                                                                    : ConcurrentWith(earlier.iteration);
  if (!before) return CheckThreads(earlier, now, element);
  const auto* home = homes_.Find(element.data);
  if (home && std::ranges::find(*home, before->loop, &HomeLoop::var) != home->end()) return;
  // Blocks of threads have memory of their own in all scopes but the global one.
  if (!IsGlobalMemory(element.data)) return;
  const std::string_view tag = before->thread_tag;
  const auto name = [&, first = before, second = current](const Access& access) {
    const Iteration& iteration = &access == &earlier ? *first : *second;
    return fmt::format("{} = {}", tag.empty() ? iteration.loop->name : tag, iteration.value);
  };
  race_ = tag.empty() ? RaceOf(earlier, now, element.buffer, "iterations of a loop", "iteration", name, "")
                      : RaceOf(earlier, now, element.buffer, "blocks of threads", "block", name, "");
}

RaceDetector::Accesses* RaceDetector::Find(uint64_t address) {
  Accesses* known = elements_.Find(address);
  if (known) return known;
  return ++num_elements_ > kMostElements ? nullptr : &elements_[address];
}

RaceDetector::Access RaceDetector::NowBy(const Element& element, uint32_t thread, bool changes) const {
  Access now = now_;
  now.thread = thread;
  now.at = element.at;
  now.changes = changes;
  return now;
}

void RaceDetector::Read(const Element& element, uint32_t thread) {
  Accesses* accesses = Find(element.address);
  if (!accesses) return;
  const Access now = NowBy(element, thread, /*changes=*/false);
  Check(accesses->writer, now, element);
  if (!accesses->reader.SameActor(now)) accesses->other_reader = accesses->reader;
  accesses->reader = now;
}

void RaceDetector::Write(const Element& element, uint32_t thread, bool changes) {
  Accesses* accesses = Find(element.address);
  if (!accesses) return;
  const Access now = NowBy(element, thread, /*changes=*/true);
  if (changes) {
    Check(accesses->writer, now, element);
    Check(accesses->reader, now, element);
    Check(accesses->other_reader, now, element);
  }
  accesses->writer = now;
}

}  // namespace iropt::eval

namespace iropt {

namespace {

class ConcurrentLoopFinder : public tir::StmtExprVisitor {
 public:
  bool found() const { return found_ || found_threads_; }
  bool found_threads() const { return found_threads_; }

 protected:
  void VisitFor(const tir::For* loop) override {
    using enum tir::ForKind;
    found_ |= loop->for_kind == kParallel || loop->for_kind == kVectorized;
    found_threads_ |= loop->for_kind == kThreadBinding;
    StmtExprVisitor::VisitFor(loop);
  }
  void VisitAttrStmt(const tir::AttrStmt* attr) override {
    found_threads_ |= tir::LaunchAxisOf(*attr) != nullptr;
    StmtExprVisitor::VisitAttrStmt(attr);
  }

 private:
  bool found_ = false;
  bool found_threads_ = false;
};

}  // namespace

bool HasConcurrentLoops(const PrimFunc& func) {
  ConcurrentLoopFinder finder;
  finder.VisitStmt(func.body);
  return finder.found();
}

bool HasThreads(const PrimFunc& func) {
  ConcurrentLoopFinder finder;
  finder.VisitStmt(func.body);
  return finder.found_threads();
}

}  // namespace iropt
