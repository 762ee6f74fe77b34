#include "analyses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "iropt/analysis/relax/call_graph.h"
#include "iropt/analysis/relax/free_vars.h"
#include "iropt/analysis/relax/normal_form.h"
#include "iropt/analysis/relax/purity.h"
#include "iropt/analysis/relax/use_count.h"
#include "iropt/analysis/tir/block_access.h"
#include "iropt/analysis/tir/buffer_scopes.h"
#include "iropt/analysis/tir/op_pattern.h"
#include "iropt/analysis/tir/statement_count.h"
#include "iropt/analysis/tir/written_params.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/context.h"

namespace iropt {

namespace {

// "'a', 'b'", or "nothing".
template <class Names>
std::string QuotedList(const Names& names) {
  std::vector<std::string> quoted;
  for (const auto& name : names) quoted.push_back(fmt::format("'{}'", name));
  return quoted.empty() ? "nothing" : fmt::format("{}", fmt::join(quoted, ", "));
}

template <class T>
std::vector<std::string_view> NamesOf(const std::vector<const T*>& nodes) {
  std::vector<std::string_view> names;
  for (const T* node : nodes) names.push_back(node->name);
  return names;
}

// What `print(function, name)` returns for each function of the kind, in the order of the module.
template <class F, class Print>
std::string ForEachFunction(const Module& module, Print print) {
  std::string text;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<F>(entry.func)) text += print(*function, entry);
  }
  return text;
}

std::string PrintCallGraph(const Module& module, const PassContext& context) {
  const auto called = [&](const ModuleEntry& entry) { return context.analyses().Get<CalledFunctions>(entry); };
  const CallGraph graph = MakeCallGraph(module, called);
  std::string text;
  for (const size_t index : graph.post_order) {
    const ModuleEntry& entry = module.functions()[index];
    text += fmt::format("'{}' calls {}{}\n", entry.var->name, QuotedList(NamesOf(*called(entry))),
                        graph.recursive[index] ? ", recursively" : "");
  }
  return text;
}

std::string PrintNormalForm(const Module& module, const PassContext& context) {
  return ForEachFunction<Function>(module, [&](const Function&, const ModuleEntry& entry) {
    const auto info = context.analyses().Get<NormalFormInfo>(entry);
    return fmt::format("'{}' is {}in A-normal form{}\n", entry.var->name, info->is_normal ? "" : "not ",
                       info->needs_op_normalization ? ", and has calls that are not normalized" : "");
  });
}

std::string PrintUses(const Module& module, const PassContext&) {
  struct Definitions : WalkHandler {
    void OnDefine(const Var* var) { vars.push_back(var); }
    std::vector<const Var*> vars;
  };
  return ForEachFunction<Function>(module, [](const Function& function, const ModuleEntry& entry) {
    Definitions definitions;
    Walk(&function, definitions);
    const std::vector<uint32_t> counts = UseCounts(function, *entry.storage);
    std::string text = fmt::format("in '{}':\n", entry.var->name);
    for (const Var* var : definitions.vars) {
      const uint32_t uses = counts[var->id];
      fmt::format_to(std::back_inserter(text), "  '{}' has {} use{}\n", var->name(), uses, uses == 1 ? "" : "s");
    }
    return text;
  });
}

std::string PrintPurity(const Module& module, const PassContext&) {
  return ForEachFunction<Function>(module, [&](const Function& function, const ModuleEntry& entry) {
    const Call* call = FindImpureCall(function.body, &module, &function);
    if (call == nullptr) return fmt::format("'{}' has no effects\n", entry.var->name);
    return fmt::format("'{}' has effects, the first of which is that of {}\n", entry.var->name, CalleeName(*call));
  });
}

std::string PrintSymbolicVars(const Module& module, const PassContext&) {
  return ForEachFunction<Function>(module, [](const Function& function, const ModuleEntry& entry) {
    const std::vector<const tir::Var*> free = FreeSymVars(&function);
    return fmt::format("'{}' defines {}{}\n", entry.var->name, QuotedList(NamesOf(BoundSymVars(&function))),
                       free.empty() ? std::string() : ", and uses undefined " + QuotedList(NamesOf(free)));
  });
}

std::string_view PatternName(OpPattern pattern) {
  switch (pattern) {
    case OpPattern::kElemWise: return "kElemWise";
    case OpPattern::kBroadcast: return "kBroadcast";
    case OpPattern::kInjective: return "kInjective";
    case OpPattern::kCommReduce: return "kCommReduce";
    case OpPattern::kOutEWiseFusable: return "kOutEWiseFusable";
    case OpPattern::kTuple: return "kTuple";
    case OpPattern::kOpaque: return "kOpaque";
  }
  IROPT_UNREACHABLE("pattern {}", static_cast<int>(pattern));
}

std::string PrintOpPattern(const Module& module, const PassContext&) {
  return ForEachFunction<PrimFunc>(module, [](const PrimFunc& function, const ModuleEntry& entry) {
    const OpPattern pattern = AnalyzeOpPattern(function);
    return fmt::format("'{}' is {} ({})\n", entry.var->name, PatternName(pattern), static_cast<int>(pattern));
  });
}

std::string PrintWrittenParams(const Module& module, const PassContext&) {
  return ForEachFunction<PrimFunc>(module, [](const PrimFunc& function, const ModuleEntry& entry) {
    const auto chosen = [&](const std::vector<bool>& flags) {
      std::vector<std::string_view> names;
      for (uint32_t i = 0; i < function.params.size(); ++i) {
        const tir::Buffer* buffer = function.param_buffers[i];
        if (flags[i]) names.push_back(buffer != nullptr ? buffer->name : function.params[i]->name);
      }
      return QuotedList(names);
    };
    return fmt::format("'{}' writes {}, and reads {} before it writes it\n", entry.var->name,
                       chosen(WrittenParams(function)), chosen(ParamsReadFirst(function)));
  });
}

std::string PrintStatementCount(const Module& module, const PassContext&) {
  return ForEachFunction<PrimFunc>(module, [](const PrimFunc& function, const ModuleEntry& entry) {
    const std::optional<uint64_t> count = CountStatements(function, {});
    if (!count)
      return fmt::format("'{}' executes a number of statements that depends on its arguments\n", entry.var->name);
    return fmt::format("'{}' executes at most {} statements\n", entry.var->name, *count);
  });
}

// Each once, in the order of their first accesses.
std::vector<const tir::Buffer*> AccessedBuffers(const PrimFunc& function) {
  std::vector<const tir::Buffer*> buffers;
  LookupSet<const tir::Buffer*> seen;
  tir::PostOrderVisit(function.body, [&](const Node* node) {
    const tir::Buffer* buffer = nullptr;
    if (const auto* load = As<tir::BufferLoad>(node)) buffer = load->buffer;
    if (const auto* store = As<tir::BufferStore>(node)) buffer = store->buffer;
    if (buffer != nullptr && seen.insert(buffer)) buffers.push_back(buffer);
  });
  return buffers;
}

std::string PrintBufferScopes(const Module& module, const PassContext&) {
  return ForEachFunction<PrimFunc>(module, [](const PrimFunc& function, const ModuleEntry& entry) {
    const BufferScopes scopes = DetectBufferScopes(function);
    std::string text = fmt::format("in '{}':\n", entry.var->name);
    for (const tir::Buffer* buffer : AccessedBuffers(function)) {
      const tir::Stmt* const* scope = scopes.Find(buffer);
      if (scope == nullptr) continue;
      std::string where = "the whole function";
      if (const auto* loop = *scope ? As<tir::For>(*scope) : nullptr)
        where = fmt::format("loop '{}'", loop->loop_var->name);
      if (const auto* block = *scope ? As<tir::Block>(*scope) : nullptr)
        where = fmt::format("block '{}'", block->name_hint);
      fmt::format_to(std::back_inserter(text), "  '{}' is accessed in {}\n", buffer->name, where);
    }
    return text;
  });
}

// The accesses of the blocks of a function, outer ones first.
class AccessPrinter : public tir::StmtExprVisitor {
 public:
  AccessPrinter(const PrimFunc& function, Workspace& workspace) : workspace_(workspace) {
    for (const tir::Buffer* buffer : function.param_buffers) Know(buffer);
  }

  std::string TakeText() { return std::move(text_); }

 protected:
  void VisitBlock(const tir::Block* block) override {
    const BlockAccesses found = GetBlockAccessRegion(*block, known_, workspace_);
    fmt::format_to(std::back_inserter(text_), "  block '{}' reads {}, writes {}{}\n", block->name_hint,
                   TextOf(found.reads), TextOf(found.writes),
                   found.opaques.empty() ? std::string() : ", passes on " + TextOf(found.opaques));
    for (const tir::Buffer* buffer : block->alloc_buffers) Know(buffer);
    for (const tir::MatchBufferRegion* match : block->match_buffers) Know(match->buffer);
    tir::StmtExprVisitor::VisitBlock(block);
  }

 private:
  void Know(const tir::Buffer* buffer) {
    if (buffer != nullptr) known_[buffer->data] = buffer;
  }

  static std::string TextOf(const std::vector<const tir::BufferRegion*>& regions) {
    std::string text;
    OutputStream out(&text);
    PrintNames names({});
    PrintTarget target{nullptr, out, names};
    PrimPrinter printer(target, ScriptDialect::kTir);
    for (const tir::BufferRegion* region : regions) {
      if (region != regions.front()) out.Append(", ");
      printer.PrintRegion(region);
    }
    static_cast<void>(out.Flush());  // to a string, which cannot fail
    return text.empty() ? "nothing" : text;
  }

  Workspace& workspace_;
  BuffersByPointer known_;
  std::string text_;
};

std::string PrintBlockAccess(const Module& module, const PassContext&) {
  return ForEachFunction<PrimFunc>(module, [&](const PrimFunc& function, const ModuleEntry& entry) {
    Workspace workspace(module, entry.storage);
    AccessPrinter printer(function, workspace);
    printer.VisitStmt(function.body);
    return fmt::format("in '{}':\n{}", entry.var->name, printer.TakeText());
  });
}

}  // namespace

std::vector<PrintedAnalysis> AnalysisRows() {
  return {{.name = "block_access", .print = &PrintBlockAccess},
          {.name = "buffer_scopes", .print = &PrintBufferScopes},
          {.name = "call_graph", .print = &PrintCallGraph},
          {.name = "normal_form", .print = &PrintNormalForm},
          {.name = "op_pattern", .print = &PrintOpPattern},
          {.name = "purity", .print = &PrintPurity},
          {.name = "statement_count", .print = &PrintStatementCount},
          {.name = "symbolic_vars", .print = &PrintSymbolicVars},
          {.name = "uses", .print = &PrintUses},
          {.name = "written_params", .print = &PrintWrittenParams}};
}

}  // namespace iropt
