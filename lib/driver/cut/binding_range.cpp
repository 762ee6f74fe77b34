#include "binding_range.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/analysis/relax/purity.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/identifier.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

std::vector<const Binding*> BindingsOf(const SeqExpr& sequence) {
  std::vector<const Binding*> bindings;
  for (const BindingBlock* block : sequence.blocks) {
    for (const Binding* binding : block->bindings) bindings.push_back(binding);
  }
  return bindings;
}

// The outer sequence comes first.
void CollectSequences(const Expr* e, std::vector<const SeqExpr*>& sequences) {
  WithStack([&] {
    if (const auto* sequence = As<SeqExpr>(e)) {
      sequences.push_back(sequence);
      for (const Binding* binding : BindingsOf(*sequence)) CollectSequences(ValueOf(binding), sequences);
    } else if (const auto* branch = As<If>(e)) {
      CollectSequences(branch->true_branch, sequences);
      CollectSequences(branch->false_branch, sequences);
    } else if (const auto* local = As<Function>(e)) {
      CollectSequences(local->body, sequences);
    }
  });
}

struct Place {
  const SeqExpr* sequence = nullptr;
  size_t index = 0;
};

class RangeFinder {
 public:
  explicit RangeFinder(const Function& function) : function_(function) { CollectSequences(function.body, sequences_); }

  // The binding of a variable, or of the value that has another name in the model it was read from.
  Result<Place> Find(std::string_view name) const {
    Result<Place> found = FindVariable(name);
    const std::string identifier = IdentifierFor(name);
    if (found.ok() || identifier == name) return found;
    Result<Place> renamed = FindVariable(identifier);
    return renamed.ok() ? std::move(renamed) : std::move(found);
  }

  const SeqExpr* body() const { return sequences_.empty() ? nullptr : sequences_.front(); }

 private:
  Result<Place> FindVariable(std::string_view name) const {
    std::optional<Place> found;
    std::vector<std::string_view> names;
    for (const SeqExpr* sequence : sequences_) {
      const std::vector<const Binding*> bindings = BindingsOf(*sequence);
      for (size_t i = 0; i < bindings.size(); ++i) {
        names.push_back(bindings[i]->var->name());
        if (names.back() != name) continue;
        if (found) return Error{ErrorCode::Usage, fmt::format("it has several bindings of '{}'", name)};
        found = Place{sequence, i};
      }
    }
    if (found) return *found;
    for (const Var* param : function_.params) {
      if (param->name() == name)
        return Error{ErrorCode::Usage, fmt::format("'{}' is a parameter: expected the variable of a binding", name)};
    }
    return Error{ErrorCode::Usage, fmt::format("it has no binding of '{}'{}", name, DidYouMean(name, names))};
  }

  const Function& function_;
  std::vector<const SeqExpr*> sequences_;
};

// The variables that code refers to, of a sequence after its bindings up to `last`.
LookupSet<const Var*> UsedAfter(const SeqExpr& sequence, size_t last) {
  LookupSet<const Var*> used;
  const auto add = [&](const Expr* e) {
    for (const Var* var : FreeVars(e)) used.insert(var);
  };
  const std::vector<const Binding*> bindings = BindingsOf(sequence);
  for (size_t i = last + 1; i < bindings.size(); ++i) add(ValueOf(bindings[i]));
  add(sequence.body);
  return used;
}

class PieceBuilder {
 public:
  PieceBuilder(const ModuleEntry& entry, const BindingRange& range, const Module& module)
      : entry_(entry),
        range_(range),
        module_(module),
        workspace_(module),
        inferrer_(&module, workspace_.arena(), nullptr),
        builder_(workspace_, &inferrer_),
        cloner_(workspace_) {
    FindPlaces();
  }

  PieceFunction Build() {
    const std::vector<const BindingBlock*> old_blocks = Select();
    std::vector<const Var*> outputs = Outputs();
    const SeqExpr* old_body =
        workspace_.New<SeqExpr>(workspace_.Copy(old_blocks), outputs.back(), outputs.back()->type);
    std::vector<const Var*> params;
    for (const Var* var : FreeVars(old_body)) params.push_back(AddParam(*var));
    std::vector<const Expr*> results;
    for (const Var* output : outputs) results.push_back(AddOutput(*output));
    std::vector<const BindingBlock*> blocks;
    for (const BindingBlock* block : old_blocks) blocks.push_back(cloner_.Clone(block));
    const SeqExpr* body = builder_.Seq(blocks, TupleOf(results));
    return Finish(std::move(params), body);
  }

 private:
  // The bindings of the range, in blocks of the kind of theirs.
  std::vector<const BindingBlock*> Select() {
    std::vector<const BindingBlock*> blocks;
    size_t index = 0;
    for (const BindingBlock* block : range_.sequence->blocks) {
      std::vector<const Binding*> selected;
      for (const Binding* binding : block->bindings) {
        if (index >= range_.first && index <= range_.last) selected.push_back(binding);
        ++index;
      }
      if (selected.empty()) continue;
      const List<const Binding*> list = workspace_.Copy(selected);
      blocks.push_back(block->is_dataflow() ? workspace_.New<DataflowBlock>(list) : workspace_.New<BindingBlock>(list));
    }
    return blocks;
  }

  std::vector<const Var*> Outputs() const {
    const std::vector<const Binding*> bindings = BindingsOf(*range_.sequence);
    const LookupSet<const Var*> used = UsedAfter(*range_.sequence, range_.last);
    std::vector<const Var*> outputs;
    for (size_t i = range_.first; i <= range_.last; ++i) {
      if (used.contains(bindings[i]->var)) outputs.push_back(bindings[i]->var);
    }
    if (outputs.empty()) outputs.push_back(bindings[range_.last]->var);
    return outputs;
  }

  // A shape that is the value of a variable of the old function is unknown outside of it.
  const Type* OuterType(const Type* type) {
    if (!type->has_shape_var()) return type;
    return EraseToWellDefined(
        type, [](const tir::Var* var) -> const PrimExpr* { return var; },
        [](const Expr*) -> const Expr* { return nullptr; }, workspace_.arena());
  }

  void FindPlaces() {
    std::vector<const SeqExpr*> sequences;
    CollectSequences(To<Function>(entry_.func)->body, sequences);
    for (const SeqExpr* sequence : sequences) {
      for (const Binding* binding : BindingsOf(*sequence))
        places_.insert_or_assign(binding->var, ValueOf(binding)->span());
    }
  }

  const Var* AddParam(const Var& var) {
    Var* param = workspace_.NewVar(var.name(), OuterType(var.type));
    const Span* place = places_.Find(&var);
    param->set_span(place ? *place : var.span());
    cloner_.Map(&var, param);
    return param;
  }

  const Expr* AddOutput(const Var& var) {
    Var* output = workspace_.NewVar(var.name(), OuterType(var.type));
    output->set_span(var.span());
    cloner_.Map(&var, output);
    return output;
  }

  const Expr* TupleOf(const std::vector<const Expr*>& results) {
    if (results.size() == 1) return results.front();
    std::vector<const Type*> types;
    for (const Expr* result : results) types.push_back(result->type);
    return workspace_.New<Tuple>(workspace_.Copy(results), TupleType::Get(workspace_.arena(), types));
  }

  PieceFunction Finish(std::vector<const Var*> params, const SeqExpr* body) {
    const auto& old = *To<Function>(entry_.func);
    const DictAttr* attrs = DictAttr::Empty();
    if (const Attr* forced = old.attrs->Find(attr::kForcePure)) attrs = attrs->With(attr::kForcePure, forced);
    const bool is_pure = old.is_pure || !ContainsImpureCall(body, &module_);
    const Function* function = builder_.MakeFunction(params, body, attrs, is_pure);
    const std::vector<const tir::Var*> sym_vars = FreeSymVars(function);
    if (!sym_vars.empty()) {
      const std::vector<const PrimExpr*> values(sym_vars.begin(), sym_vars.end());
      params.push_back(workspace_.NewVar("sizes", ShapeType::Get(values)));
      function = builder_.MakeFunction(params, body, attrs, is_pure);
    }
    Workspace own(module_);
    PieceFunction piece;
    piece.function = To<Function>(CloneFunction(function, own, {.fresh_sym_vars = true}));
    piece.storage = own.Finish();
    return piece;
  }

  const ModuleEntry& entry_;
  const BindingRange& range_;
  const Module& module_;
  Workspace workspace_;
  OpTypeInferrer inferrer_;
  BlockBuilder builder_;
  Cloner cloner_;
  LookupMap<const Var*, Span> places_;  // of the values that variables are bound to
};

}  // namespace

Result<BindingRange> FindBindingRange(const Function& function, std::string_view range) {
  constexpr std::string_view kTo = "..";
  const RangeFinder finder(function);
  const size_t dots = range.find(kTo);
  const std::string_view first = range.substr(0, dots);
  const std::string_view last = dots == std::string_view::npos ? first : range.substr(dots + kTo.size());
  if ((first.empty() && last.empty()) || last.find(kTo) != std::string_view::npos)
    return Error{ErrorCode::Usage, "expected variables, FIRST..LAST"};
  if (!finder.body()) return Error{ErrorCode::Usage, "it has no bindings"};
  Place begin{finder.body(), 0};
  if (!first.empty()) {
    IROPT_ASSIGN_OR_RETURN(begin, finder.Find(first));
  }
  Place end{begin.sequence, BindingsOf(*begin.sequence).size() - 1};
  if (!last.empty()) {
    IROPT_ASSIGN_OR_RETURN(end, finder.Find(last));
  }
  if (begin.sequence != end.sequence) {
    return Error{ErrorCode::Usage,
                 fmt::format("'{}' and '{}' are not bound in the same sequence: expected bindings of one function body "
                             "or branch",
                             first.empty() ? BindingsOf(*begin.sequence).front()->var->name() : first, last)};
  }
  if (begin.index > end.index)
    return Error{ErrorCode::Usage, fmt::format("'{}' is bound after '{}': expected the first one first", first, last)};
  return BindingRange{begin.sequence, begin.index, end.index};
}

PieceFunction MakePiece(const ModuleEntry& entry, const BindingRange& range, const Module& module) {
  return PieceBuilder(entry, range, module).Build();
}

}  // namespace iropt
