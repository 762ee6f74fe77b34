// tir.Filter: removes the PrimFuncs that are not chosen.
//
//   -passes='tir.Filter<names=["fused_*"]>'
//   def fused_add(...): ...        -->   def fused_add(...): ...
//   def matmul(...): ...
//
// A PrimFunc stays if it meets all of the conditions that the options state: `names`, patterns of which one matches its
// name, where * stands for any characters and ? for one; `attrs`, values of attributes by their names, null for one
// that it does not have; `target_kinds`, of which one is the kind of its target; `calling_conv`. With `invert` the
// other functions stay. Relax functions always stay; it is an error if a function that stays uses one that does not. A
// program in C++ filters by any condition, see FilterPrimFuncs. O(nodes).
//
// Source: TVM 0.18's pass of this name, whose condition is a Python function.
#include "iropt/transform/options/Filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/references.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/check.h"
#include "iropt/transform/tir/prim_func_passes.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/util/target.h"

namespace iropt {

namespace {

// Returns whether the name matches a pattern with * and ?. O(name * pattern).
bool Matches(std::string_view name, std::string_view pattern) {
  size_t n = 0, p = 0;
  size_t retry_name = 0, retry_pattern = std::string_view::npos;  // after the last *
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      retry_pattern = ++p;
      retry_name = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++n, ++p;
    } else if (retry_pattern != std::string_view::npos) {
      p = retry_pattern;
      n = ++retry_name;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool IsEqual(const Attr* attr, const OptionValue& value) {
  if (value.is_null()) return attr == nullptr;
  if (const std::string* text = value.as_string()) {
    const auto* string = As<StrAttr>(attr);
    return string && string->value == *text;
  }
  const auto* number = As<IntAttr>(attr);
  if (!number) return false;
  if (const bool* flag = value.as_bool()) return (number->value != 0) == *flag;
  return value.as_int() && number->value == *value.as_int();
}

struct Conditions {
  std::vector<std::string> names;
  std::vector<std::string> target_kinds;
  std::vector<OptionValue::Entry> attrs;
  std::optional<CallingConv> calling_conv;
  bool invert = false;

  bool Holds(std::string_view name, const PrimFunc& func) const { return MeetsAll(name, func) != invert; }

 private:
  bool MeetsAll(std::string_view name, const PrimFunc& func) const {
    const auto matches = [&](const std::string& pattern) { return Matches(name, pattern); };
    if (!names.empty() && std::ranges::none_of(names, matches)) return false;
    if (!target_kinds.empty()) {
      const DictAttr* target = TargetOf(func);
      const std::string_view kind = target ? TargetString(*target, "kind") : std::string_view();
      if (std::ranges::find(target_kinds, kind) == target_kinds.end()) return false;
    }
    if (calling_conv && CallingConvOf(func) != *calling_conv) return false;
    return std::ranges::all_of(
        attrs, [&](const OptionValue::Entry& entry) { return IsEqual(func.attrs->Find(entry.key), entry.value); });
  }
};

// Returns nothing for any convention.
std::optional<CallingConv> Wanted(pass_options::Filter::CallingConv convention) {
  using Choice = pass_options::Filter::CallingConv;
  switch (convention) {
    case Choice::kAny: return std::nullopt;
    case Choice::kDefault: return CallingConv::kDefault;
    case Choice::kCPackedFunc: return CallingConv::kCPackedFunc;
    case Choice::kDeviceKernelLaunch: return CallingConv::kDeviceKernelLaunch;
  }
  IROPT_UNREACHABLE("calling convention {}", convention);
}

Conditions ReadConditions(const PassOptions& options) {
  const pass_options::Filter given(options);
  Conditions conditions{*given.names, *given.target_kinds, {}, Wanted(*given.calling_conv), *given.invert};
  for (const OptionValue::Entry& entry : options.Entries(given.attrs, "must be a dictionary of attributes")) {
    if (entry.value.as_list() || entry.value.is_dict() || entry.value.as_double())
      options.Refuse(given.attrs, entry.value.span(), "must have numbers, booleans, strings or null as values");
    conditions.attrs.push_back(entry);
  }
  return conditions;
}

// The first use of a function that goes away in a PrimFunc.
class RemovedUse : public tir::StmtExprVisitor {
 public:
  RemovedUse(const Module& module, const std::vector<bool>& keep) : module_(module), keep_(keep) {}

  std::optional<FunctionReference> In(const PrimFunc& func) {
    found_.reset();
    VisitStmt(func.body);
    return found_;
  }

 protected:
  void VisitCall(const tir::Call* call) override {
    const auto* callee = As<GlobalVar>(call->op);
    const int index = callee ? module_.IndexOf(callee) : -1;
    if (index >= 0 && !keep_[static_cast<size_t>(index)] && !found_) found_ = FunctionReference{call, callee};
    StmtExprVisitor::VisitCall(call);
  }

 private:
  const Module& module_;
  const std::vector<bool>& keep_;
  std::optional<FunctionReference> found_;
};

void ReportUses(const Module& module, const std::vector<bool>& keep, DiagnosticEngine& diagnostics) {
  RemovedUse removed(module, keep);
  for (size_t i = 0; i < module.size(); ++i) {
    if (!keep[i]) continue;
    const ModuleEntry& entry = module.functions()[i];
    std::optional<FunctionReference> use;
    if (const auto* prim_func = As<PrimFunc>(entry.func)) {
      use = removed.In(*prim_func);
    } else if (const auto* function = As<Function>(entry.func)) {
      use = FindReference(*function, module, [&](size_t callee) { return !keep[callee]; });
    }
    if (use)
      diagnostics.Error(Location(*use->place), "pass-failed",
                        fmt::format("'{}' uses '{}', which does not stay", entry.var->name, use->callee->name));
  }
}

Result<Module> Filter(Module module, const PrimFuncCondition& condition, DiagnosticEngine& diagnostics) {
  std::vector<bool> keep(module.size(), true);
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry& entry = module.functions()[i];
    const auto* func = As<PrimFunc>(entry.func);
    keep[i] = !func || condition(entry.var->name, *func);
  }
  if (std::ranges::find(keep, false) == keep.end()) return module;
  ReportUses(module, keep, diagnostics);
  module.Filter(keep);
  return module;
}

Pass CreateFilterPass(const PassInfo& info, PrimFuncCondition condition) {
  return CreateModulePass(info, [condition = std::move(condition)](Module module, ModulePassContext& context) {
    return Filter(std::move(module), condition, context.diagnostics);
  });
}

}  // namespace

Pass FilterPrimFuncs(PrimFuncCondition condition) {
  return CreateFilterPass({.name = "tir.Filter"}, std::move(condition));
}

Pass ApplyToPrimFuncs(PrimFuncTransform transform) {
  return CreatePrimFuncPass({.name = "tir.Apply"},
                            [transform = std::move(transform)](const PrimFunc* func, FunctionPassContext& context)
                                -> Result<const PrimFunc*> { return transform(func, context.workspace()); });
}

Pass CreateFilter(const PassOptions& options) {
  return CreateFilterPass(options.info(),
                          [conditions = ReadConditions(options)](std::string_view name, const PrimFunc& func) {
                            return conditions.Holds(name, func);
                          });
}

}  // namespace iropt
