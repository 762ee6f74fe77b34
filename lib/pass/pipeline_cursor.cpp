#include "iropt/pass/pipeline_cursor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "iropt/support/check.h"

namespace iropt {

PipelineCursor::PipelineCursor(Pipeline pipeline, int level) : PassInstrument("pipeline-cursor"), level_(level) {
  root_.kind = PipelineItem::Kind::Sequential;
  root_.children = std::move(pipeline);
}

Status PipelineCursor::EnterPassContext() {
  frames_.clear();
  required_.clear();
  return {};
}

Status PipelineCursor::RunBeforePass(const Module&, const PassInfo& info) {
  if (frames_.empty()) {
    frames_.push_back({.group = &root_});
    return {};
  }
  const bool is_required = std::exchange(required_, {}) == info.name;
  const PipelineItem* item = nullptr;
  if (in_group() && !is_required) {
    Frame& frame = frames_.back();
    IROPT_CHECK(frame.next < frame.group->children.size(), "pass '{}' is not in the pipeline", info.name);
    item = &frame.group->children[frame.next++];
  }
  // A pass that ExpandPipeline left as it is may be composite, too.
  if (info.is_composite() && !(item && item->kind == PipelineItem::Kind::Pass)) {
    frames_.push_back({.group = item});
    return {};
  }
  if (item) {
    current_ = *item;
  } else {
    current_ = {};
    current_.name = info.name;
  }
  frames_.push_back({.pass = current_});
  return {};
}

Status PipelineCursor::RunAfterPass(const Module&, const PassInfo&, PassOutcome) {
  IROPT_CHECK(!frames_.empty(), "a pass ends, but none has begun");
  if (!frames_.back().group) current_ = std::move(frames_.back().pass);
  frames_.pop_back();
  return {};
}

Status PipelineCursor::OnSkippedPass(const PassInfo& info, const PassSkip&) {
  const bool is_required = std::exchange(required_, {}) == info.name;
  if (in_group() && !is_required) ++frames_.back().next;
  return {};
}

Status PipelineCursor::OnRound(const PassInfo&) {
  frames_.back().next = 0;
  ++frames_.back().round;
  return {};
}

Status PipelineCursor::OnRequiredPass(const PassInfo&, const PassInfo& required) {
  required_ = required.name;
  return {};
}

int PipelineCursor::LevelAround(size_t frame) const {
  while (frame-- > 0) {
    const PipelineItem* group = frames_[frame].group;
    if (group != nullptr && group->at_level) return *group->at_level;
  }
  return level_;
}

// Makes the rest of a round a group of its own, unless it runs at the level around it as well.
void PipelineCursor::AppendRestOf(size_t at, Pipeline inner, Pipeline& rest) const {
  const Frame& frame = frames_[at];
  const PipelineItem& group = *frame.group;
  std::copy(group.children.begin() + static_cast<std::ptrdiff_t>(frame.next), group.children.end(),
            std::back_inserter(inner));
  if (group.kind == PipelineItem::Kind::Sequential && group.at_level == LevelAround(at)) {
    std::ranges::move(inner, std::back_inserter(rest));
    return;
  }
  PipelineItem round = group;
  if (group.kind != PipelineItem::Kind::Sequential) {
    round.kind = PipelineItem::Kind::Repeat;
    round.count = 1;
  }
  if (!inner.empty()) {
    round.children = std::move(inner);
    rest.push_back(std::move(round));
  }
  if (group.kind == PipelineItem::Kind::Sequential || frame.round >= group.count) return;
  PipelineItem rounds = group;
  rounds.count -= frame.round;
  rest.push_back(std::move(rounds));
}

Pipeline PipelineCursor::Rest() const {
  Pipeline rest;
  for (size_t i = frames_.size(); i-- > 0;) {
    if (!frames_[i].group) {
      // A position inside of such a pass has no name: the pass runs again.
      if (i + 1 < frames_.size()) rest.push_back(frames_[i].pass);
      continue;
    }
    Pipeline inner = std::exchange(rest, {});
    if (frames_[i].group != &root_) {
      AppendRestOf(i, std::move(inner), rest);
      continue;
    }
    rest = std::move(inner);
    std::copy(root_.children.begin() + static_cast<std::ptrdiff_t>(frames_[i].next), root_.children.end(),
              std::back_inserter(rest));
  }
  return rest;
}

}  // namespace iropt
