// Remarks about what passes optimize and what they miss, for ir-opt -remarks and for programs.
//
//   if (WantsRemarks()) RemarkPassed("merged-call", Location(*call), "the call is merged with another one");
//
// Without a RemarkScope nobody wants remarks, and the question costs a read of a thread-local variable: texts are made
// only after it.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"

namespace iropt {

struct OptRemark {
  bool passed = false;   // optimized; else missed
  std::string pass;      // that was running
  std::string name;      // of the kind of remark: lower-case words joined by '-'
  SourceSpan span;       // possibly unknown
  std::string function;  // empty if the remark is not about one
  std::string message;
  std::vector<SourceSpan> more_spans = {};  // where else the code comes from
};

// Collects remarks. Thread-safe.
class OptRemarks {
 public:
  void Add(OptRemark remark);
  size_t size() const;
  // Sorts those from index `begin` on by function, then by location, so that their order does not depend on threads.
  void SortFrom(size_t begin);
  // All so far, in their order.
  std::vector<OptRemark> Take();

 private:
  mutable std::mutex mutex_;
  std::vector<OptRemark> remarks_;
};

// During its lifetime, remarks of this thread and of the threads of its parallel loops go to `remarks` as those of the
// pass. Both must outlive it.
class RemarkScope {
 public:
  RemarkScope(OptRemarks& remarks, std::string_view pass);
  RemarkScope(const RemarkScope&) = delete;
  RemarkScope& operator=(const RemarkScope&) = delete;
  ~RemarkScope();

  OptRemarks& remarks() const { return remarks_; }
  std::string_view pass() const { return pass_; }

 private:
  OptRemarks& remarks_;
  std::string_view pass_;
  RemarkScope* outer_;
};

// During its lifetime, remarks of this thread are about the function, whose name must outlive it.
class RemarkFunction {
 public:
  explicit RemarkFunction(std::string_view name);
  RemarkFunction(const RemarkFunction&) = delete;
  RemarkFunction& operator=(const RemarkFunction&) = delete;
  ~RemarkFunction();

  std::string_view name() const { return name_; }

 private:
  std::string_view name_;
  RemarkFunction* outer_;
};

bool WantsRemarks();
// Adds a remark if one is wanted.
void RemarkPassed(std::string_view name, SourceSpan span, std::string message);
// Adds a remark about what is missed if one is wanted, for what is too frequent or too detailed for a diagnostic.
void RemarkMissed(std::string_view name, SourceSpan span, std::string message);
// Reports a diagnostic of severity Remark whose kind is `name`, and adds a remark if one is wanted.
void RemarkMissed(DiagnosticEngine& diagnostics, DiagId name, SourceSpan span, std::string message);

}  // namespace iropt
