#include "driver/session/place_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/text/script/printer.h"

namespace iropt {

namespace {

// Finds the smallest binding at a place: passes keep the places of the nodes that theirs replace.
struct BindingSearch : WalkHandler {
  explicit BindingSearch(SourceSpan place) : place(place) {}

  void OnBinding(const Binding& binding) {
    Consider(binding, Location(*ValueOf(binding)));
    Consider(binding, Location(binding));
  }

  static const Expr* ValueOf(const Binding& binding) {
    const auto* match = As<MatchCast>(&binding);
    return match != nullptr ? match->value : To<VarBinding>(&binding)->value;
  }

  void Consider(const Binding& binding, SourceSpan span) {
    const bool contains = span.known() && span.begin <= place.begin && place.end <= span.end;
    if (!contains || (found != nullptr && size <= span.end - span.begin)) return;
    found = &binding;
    size = span.end - span.begin;
  }

  const SourceSpan place;
  const Binding* found = nullptr;
  uint32_t size = 0;
};

const Binding* FindBinding(const Module& module, SourceSpan place) {
  BindingSearch search(place);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(function, search);
  }
  return search.found;
}

constexpr size_t kLongest = 400;  // constants are printed in full

std::string Shortened(std::string text, size_t size) {
  if (text.size() <= size) return text;
  text.resize(size);
  return text + "...";
}

std::string TextOf(const Binding& binding) {
  return Shortened(fmt::format("{} = {}", binding.var->name(), ExpressionToString(BindingSearch::ValueOf(binding))),
                   kLongest);
}

// Finds the smallest statement at a place, which may be that of one of its expressions.
class StatementSearch : public tir::StmtExprVisitor {
 public:
  explicit StatementSearch(SourceSpan place) : place_(place) {}

  // Searches another function, and returns whether what was found until now is in it.
  bool Search(const PrimFunc* func) {
    const tir::Stmt* const before = found_;
    VisitStmt(func->body);
    return found_ != before;
  }
  const tir::Stmt* found() const { return found_; }

  void VisitStmt(const tir::Stmt* stmt) override {
    const tir::Stmt* const outer = std::exchange(current_, stmt);
    if (!Is<tir::SeqStmt>(stmt)) Consider(Location(*stmt));
    StmtExprVisitor::VisitStmt(stmt);
    current_ = outer;
  }

 protected:
  void VisitExpr(const PrimExpr* expr) override {
    Consider(Location(*expr));
    StmtExprVisitor::VisitExpr(expr);
  }

 private:
  void Consider(SourceSpan span) {
    const bool contains = span.known() && span.begin <= place_.begin && place_.end <= span.end;
    if (!contains || (found_ != nullptr && size_ <= span.end - span.begin)) return;
    found_ = current_;
    size_ = span.end - span.begin;
  }

  const SourceSpan place_;
  const tir::Stmt* current_ = nullptr;
  const tir::Stmt* found_ = nullptr;
  uint32_t size_ = 0;
};

// The statement and the first lines inside it; empty if there is none at the place.
std::string FindStatement(const Module& module, SourceSpan place) {
  constexpr size_t kMostLines = 6;
  StatementSearch search(place);
  const PrimFunc* around = nullptr;
  for (const ModuleEntry& entry : module.functions()) {
    const auto* func = As<PrimFunc>(entry.func);
    if (func != nullptr && search.Search(func)) around = func;
  }
  if (around == nullptr) return {};
  const std::string text = StatementToString(module, around, search.found());
  size_t size = text.find('\n');
  for (size_t lines = 1; lines < kMostLines && size != std::string::npos; ++lines) size = text.find('\n', size + 1);
  return Shortened(text, std::min(size, kLongest));
}

// Empty if nothing is known at the place.
std::string NoteAt(const Module& module, SourceSpan place) {
  if (const Binding* binding = FindBinding(module, place))
    return fmt::format("after the pass, the binding is: {}", TextOf(*binding));
  const std::string text = FindStatement(module, place);
  if (text.empty()) return {};
  const std::string_view separator = text.find('\n') == std::string::npos ? " " : "\n";
  return fmt::format("after the pass, the statement is:{}{}", separator, text);
}

}  // namespace

void ReportWithPlaces(const DiagnosticBuffer& found, const Module& module, DiagnosticEngine& diagnostics) {
  for (Diagnostic diagnostic : found.diagnostics()) {
    std::string note = diagnostic.span.known() ? NoteAt(module, diagnostic.span) : std::string();
    if (!note.empty()) diagnostic.notes.push_back({{}, std::move(note)});
    diagnostics.Report(std::move(diagnostic));
  }
}

}  // namespace iropt
