#include "iropt/pass/remark.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "iropt/diag/joint_spans.h"
#include "iropt/support/inherited.h"

namespace iropt {

namespace {

using CurrentScope = Inherited<RemarkScope>;
using CurrentFunction = Inherited<RemarkFunction>;

void AddRemark(bool passed, std::string_view name, SourceSpan span, std::string message) {
  const RemarkScope* scope = CurrentScope::Current();
  if (scope == nullptr) return;
  const RemarkFunction* function = CurrentFunction::Current();
  std::vector<SourceSpan> places = PartsOf(span);
  const SourceSpan first = places.front();
  places.erase(places.begin());
  scope->remarks().Add({passed, std::string(scope->pass()), std::string(name), first,
                        function == nullptr ? std::string() : std::string(function->name()), std::move(message),
                        std::move(places)});
}

}  // namespace

void OptRemarks::Add(OptRemark remark) {
  const std::scoped_lock lock(mutex_);
  remarks_.push_back(std::move(remark));
}

size_t OptRemarks::size() const {
  const std::scoped_lock lock(mutex_);
  return remarks_.size();
}

void OptRemarks::SortFrom(size_t begin) {
  const std::scoped_lock lock(mutex_);
  std::stable_sort(remarks_.begin() + static_cast<ptrdiff_t>(begin), remarks_.end(),
                   [](const OptRemark& a, const OptRemark& b) {
                     return std::tie(a.function, a.span.begin) < std::tie(b.function, b.span.begin);
                   });
}

std::vector<OptRemark> OptRemarks::Take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(remarks_, {});
}

RemarkScope::RemarkScope(OptRemarks& remarks, std::string_view pass)
    : remarks_(remarks), pass_(pass), outer_(CurrentScope::Exchange(this)) {}

RemarkScope::~RemarkScope() { CurrentScope::Restore(outer_); }

RemarkFunction::RemarkFunction(std::string_view name) : name_(name), outer_(CurrentFunction::Exchange(this)) {}

RemarkFunction::~RemarkFunction() { CurrentFunction::Restore(outer_); }

bool WantsRemarks() { return CurrentScope::Current() != nullptr; }

void RemarkPassed(std::string_view name, SourceSpan span, std::string message) {
  AddRemark(true, name, span, std::move(message));
}

void RemarkMissed(std::string_view name, SourceSpan span, std::string message) {
  AddRemark(false, name, span, std::move(message));
}

void RemarkMissed(DiagnosticEngine& diagnostics, DiagId name, SourceSpan span, std::string message) {
  AddRemark(false, name.name(), span, message);
  diagnostics.Remark(span, name, std::move(message));
}

}  // namespace iropt
