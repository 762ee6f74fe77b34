#include "form_check.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "iropt/support/check.h"

namespace iropt {

namespace {

// Walks a pipeline in the order of running, with the forms that hold at each point whatever the module is.
class FormCheck {
 public:
  FormCheck(const PassRegistry& registry, const PassContext* context, DiagnosticEngine& diagnostics)
      : registry_(registry), context_(context), diagnostics_(diagnostics), broken_by_(IRFormRows().size()) {}

  bool Run(const Pipeline& pipeline) {
    VisitAll(pipeline);
    return ok_;
  }

 private:
  // A pass that does not run, and the level that counts where it stands.
  struct Skipped {
    const PassInfo* info;
    int level;
  };

  void VisitAll(const Pipeline& pipeline) {
    for (const PipelineItem& item : pipeline) Visit(item);
  }

  void Visit(const PipelineItem& item) {
    switch (item.kind) {
      case PipelineItem::Kind::Pass: return VisitPass(item, item.name);
      case PipelineItem::Kind::Sequential:
        if (SequentialRuns(item)) VisitAll(item.children);
        return;
      case PipelineItem::Kind::Fixpoint: return VisitLoop(item);
      case PipelineItem::Kind::Repeat: return item.count > 1 ? VisitLoop(item) : VisitAll(item.children);
      case PipelineItem::Kind::Default: return VisitDefault(item);
    }
    IROPT_UNREACHABLE("pipeline item {}", item.kind);
  }

  // A later round begins with what the round before it left, so only what survives a round can be relied on.
  void VisitLoop(const PipelineItem& item) {
    const bool outer_quiet = std::exchange(quiet_, true);
    IRForms before;
    do {
      before = forms_;
      VisitAll(item.children);
      forms_ = before & forms_;
    } while (forms_ != before);
    quiet_ = outer_quiet;
    VisitAll(item.children);
  }

  void VisitDefault(const PipelineItem& item) {
    const std::optional<int> outer_level = std::exchange(level_, item.count);
    for (const std::string& name : registry_.default_pipeline()) VisitPass(item, name);
    level_ = outer_level;
  }

  // `name` is that of the item, or of a pass that it stands for.
  void VisitPass(const PipelineItem& item, const std::string& name) {
    const PassInfo& info = InfoOf(name);
    if (!Runs(info)) {
      if (!quiet_) skipped_.push_back({&info, LevelHere()});
      return;
    }
    const Result<std::vector<const PassEntry*>> required = registry_.RequiredBy(info);
    if (!required.ok()) return ReportRequirement(item, required.error());
    for (const PassEntry* row : *required) Apply(item, row->info, &info);
    Apply(item, info, nullptr);
  }

  void Apply(const PipelineItem& item, const PassInfo& info, const PassInfo* required_by) {
    for (const IRForm form : (info.needs - forms_).List()) ReportForm(item, info, required_by, form);
    const IRForms after = (forms_ & info.preserves) | info.establishes;
    for (const IRForm form : (forms_ - after).List()) broken_by_[static_cast<size_t>(form)] = &item;
    forms_ = after;
  }

  // Without a context, only default pipelines have a level.
  int LevelHere() const {
    return level_.value_or(context_ == nullptr ? std::numeric_limits<int>::max() : context_->opt_level);
  }

  bool Runs(const PassInfo& info) const {
    return context_ == nullptr ? info.opt_level <= LevelHere() : context_->PassEnabled(info, LevelHere());
  }

  bool SequentialRuns(const PipelineItem& item) const {
    PassInfo info = SequentialInfo();
    if (!item.name.empty()) info.name = item.name;
    info.opt_level = item.opt_level.value_or(info.opt_level);
    return Runs(info);
  }

  const PassInfo& InfoOf(const std::string& name) const {
    const PassEntry* row = registry_.Find(name);
    IROPT_CHECK(row != nullptr, "a pipeline with an unknown pass '{}'", name);
    return row->info;
  }

  void ReportRequirement(const PipelineItem& item, const Error& error) {
    ok_ = false;
    if (!quiet_) diagnostics_.Error(item.span, "unknown-pass", error.message);
  }

  void ReportForm(const PipelineItem& item, const PassInfo& info, const PassInfo* required_by, IRForm form) {
    if (quiet_) return;
    ok_ = false;
    const std::string who = required_by == nullptr ? "" : fmt::format(", which '{}' requires,", required_by->name);
    std::string makers;
    for (const auto& [name, row] : registry_.passes()) {
      if (row.info.establishes.Has(form)) makers += fmt::format("{}'{}'", makers.empty() ? "" : " or ", name);
    }
    std::string message = fmt::format("pass '{}'{} needs the form '{}', which ", info.name, who, IRFormName(form));
    message += makers.empty() ? "no known pass establishes" : fmt::format("{} before it would establish", makers);
    DiagnosticBuilder report = diagnostics_.Error(item.span, "missing-form", std::move(message));
    report.Note(fmt::format("{}: {}", IRFormName(form), IRFormRows()[static_cast<size_t>(form)].meaning));
    if (const PipelineItem* breaker = broken_by_[static_cast<size_t>(form)]) {
      report.Note(breaker->span, "the form is not preserved here");
    }
    for (const Skipped& skipped : skipped_) {
      if (skipped.info->establishes.Has(form)) report.Note(WhySkipped(skipped));
    }
  }

  std::string WhySkipped(const Skipped& skipped) const {
    const PassInfo& info = *skipped.info;
    if (context_ != nullptr && context_->IsDisabled(info.name)) return fmt::format("'{}' is disabled", info.name);
    return fmt::format("'{}' does not run, because its level {} is above {}", info.name, info.opt_level, skipped.level);
  }

  const PassRegistry& registry_;
  const PassContext* context_;
  DiagnosticEngine& diagnostics_;
  IRForms forms_ = FormsOfInput();
  std::vector<const PipelineItem*> broken_by_;  // by form: what ended it last
  std::vector<Skipped> skipped_;                // so far
  std::optional<int> level_;                    // of the default pipeline at hand
  bool quiet_ = false;                          // while it is not yet known what a loop begins with
  bool ok_ = true;
};

}  // namespace

bool CheckForms(const Pipeline& pipeline, const PassRegistry& registry, const PassContext* context,
                DiagnosticEngine& diagnostics) {
  return FormCheck(registry, context, diagnostics).Run(pipeline);
}

}  // namespace iropt
