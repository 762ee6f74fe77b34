// Printing a module: the contents of the header and the metadata section are collected first, then functions are
// printed in windows, the functions of one window in parallel.
#include "iropt/text/script/printer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "attr_text.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/parallel.h"
#include "metadata.h"
#include "printer_type_vars.h"
#include "text/script/relax/printer.h"
#include "text/script/relax/tir_vars.h"
#include "text/script/tir/printer.h"

namespace iropt {
namespace text {
namespace {

// While functions are printed in parallel, the text of a window of them is held back for the sake of order. A window
// holds at least so many functions, and more as long as their text stays small, because starting threads costs as much
// as some functions.
constexpr size_t kSmallestWindow = 16;
constexpr size_t kWindowBytes = 1 << 20;

struct Item {
  const ModuleEntry* entry;
  RelaxPrologue prologue;
  std::vector<const tir::Var*> type_vars;      // of the signature, from 0.27 on
  std::vector<const tir::StringImm*> strings;  // of a PrimFunc, for the metadata section
  PrefixUse before;                            // prefixes used in the text above the function

  bool DeclaresTypeVars() const { return !type_vars.empty() || prologue.has_nested_type_vars(); }
};

// TVM's order: PrimFuncs, external ones, Relax ones, main; by name within each.
int Rank(const ModuleEntry& entry) {
  if (entry.var->name == "main") return 3;
  return Is<PrimFunc>(entry.func) ? 0 : Is<ExternFunc>(entry.func) ? 1 : 2;
}

// The strings of several lines, which are not literals in the text. They are operands of calls, of which stores, the
// bounds of loops and the regions of blocks, most of a function, have none.
class LongStrings : public tir::StmtExprVisitor {
 public:
  LongStrings(std::vector<const tir::StringImm*>& found, std::vector<const Attr*>& attrs)
      : found_(found), attrs_(attrs) {}
  void VisitPrimFunc(const PrimFunc* func) override {
    VisitAttr(func->attrs);
    tir::StmtExprVisitor::VisitPrimFunc(func);
  }

 protected:
  void VisitBufferStore(const tir::BufferStore*) override {}
  void VisitBlockRealize(const tir::BlockRealize* realize) override { VisitBlock(realize->block); }
  void VisitBlock(const tir::Block* block) override {
    VisitAttr(block->annotations);
    if (block->init) VisitStmt(block->init);
    VisitStmt(block->body);
  }
  void VisitFor(const tir::For* loop) override {
    VisitAttr(loop->annotations);
    VisitStmt(loop->body);
  }
  void VisitAttr(const Attr* attr) override {
    PrefixUse use;
    ScanAttrValue(attr, ScriptDialect::kTir, use, attrs_);
  }
  void VisitCall(const tir::Call* call) override {
    const tir::StringImm* code = SourceCodeOf(call);
    for (const PrimExpr* arg : call->args) {
      if (arg != code) VisitExpr(arg);
    }
  }
  void VisitStringImm(const tir::StringImm* string) override {
    if (string->value.find('\n') != std::string_view::npos) found_.push_back(string);
  }

 private:
  std::vector<const tir::StringImm*>& found_;
  std::vector<const Attr*>& attrs_;
};

class ModulePrinter {
 public:
  ModulePrinter(const Module& module, const PrintOptions& options, OutputStream& out)
      : module_(module),
        options_(options),
        version_(VersionOf(module, options)),
        out_(out),
        bare_(module.name().empty() && module.size() == 1) {}

  void Print() {
    for (const ModuleEntry& entry : module_.functions()) items_.push_back({&entry, {}, {}, {}, {}});
    std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      const int x = Rank(*a.entry), y = Rank(*b.entry);
      return x != y ? x < y : a.entry->var->name < b.entry->var->name;
    });
    ParallelFor(items_.size(), options_.threads, [&](size_t i) { Scan(items_[i]); });
    for (const Item& item : items_) {
      for (const Constant* constant : item.prologue.constants) metadata_.Add(constant);
      for (const Attr* attr : item.prologue.attr_entries) AddAttr(attr);
      for (const tir::StringImm* string : item.strings) metadata_.Add(string);
    }
    if (version_ >= TextVersion::kV0_26) tir_vars_ = FindTirVars(module_);
    PrintHeader(ScanModuleAttrs());
    PrintFunctions();
    if (items_.empty() || Is<ExternFunc>(items_.back().entry->func)) out_.Append('\n');
  }

 private:
  void Scan(Item& item) {
    const auto* function = As<Function>(item.entry->func);
    if (function) item.prologue = ScanPrologue(function, options_, version_);
    const auto* prim = As<PrimFunc>(item.entry->func);
    if (prim && options_.show_meta) LongStrings(item.strings, item.prologue.attr_entries).VisitPrimFunc(prim);
    if (version_ < TextVersion::kV0_27) return;
    if (function) item.type_vars.assign(item.prologue.type_vars().begin(), item.prologue.type_vars().end());
    if (prim) item.type_vars = TypeVarsOf(prim);
  }

  PrefixUse ScanModuleAttrs() {
    PrefixUse use;
    std::vector<const Attr*> entries;
    ScanAttrValue(module_.attrs(), ScriptDialect::kTir, use, entries);
    for (const auto& [kind, infos] : module_.global_infos()) {
      for (const Attr* info : infos) ScanAttrValue(info, ScriptDialect::kTir, use, entries);
    }
    for (const Attr* entry : entries) AddAttr(entry);
    return use;
  }

  // In 0.21, strings of several lines are literals among attributes.
  void AddAttr(const Attr* attr) {
    const bool is_literal = Is<StrAttr>(attr) && (!options_.show_meta || version_ == TextVersion::kV0_21);
    if (!is_literal) metadata_.Add(attr);
  }

  void PrintHeader(PrefixUse use) {
    std::string statements;
    {
      OutputStream text(&statements);
      PrintModuleStatements(text);
    }
    const bool has_type_vars = std::ranges::any_of(items_, &Item::DeclaresTypeVars);
    if (has_type_vars && options_.pep695) out_.Append("from __future__ import annotations\n\n");
    if (options_.show_meta) SaveMetadata(metadata_, options_, version_, out_);
    use.ir = !bare_ && !statements.empty();
    for (Item& item : items_) {
      item.before = use;
      use.type_vars |= item.DeclaresTypeVars();
      use.tir |= Is<PrimFunc>(item.entry->func) || item.prologue.uses_tir;
      use.relax |= !Is<PrimFunc>(item.entry->func);
    }
    use.ir = !bare_;
    PrintNames names({});
    PrintContext context{&module_, options_, out_, names, metadata_};
    PrintImports(use, context);
    if (has_type_vars && !options_.pep695) PrintTypeVars();
    if (bare_) return;
    out_.Append("@I.ir_module\nclass ");
    out_.Append(ClassName(module_));
    out_.Append(':');
    out_.Append(statements);
    if (items_.empty() && statements.empty()) out_.Append("\n    pass");
  }

  // n = TypeVar("n"), once for each name.
  void PrintTypeVars() {
    for (const Item& item : items_) {
      PrintNames names(ReservedNames(ClassName(module_), metadata_));
      for (const std::string_view name : DefineTypeVars(item.type_vars, names)) {
        if (!declared_.emplace(name).second) continue;
        out_.Append(name);
        out_.Append(" = TypeVar(\"");
        out_.Append(name);
        out_.Append("\")\n");
      }
    }
  }

  void PrintModuleStatements(OutputStream& out) {
    PrintNames names({});
    PrintContext context{&module_, options_, out, names, metadata_, 1};
    if (module_.attrs()->size() > 0) {
      out.Append("\n    I.module_attrs(");
      PrintAttr(module_.attrs(), context, ScriptDialect::kTir);
      out.Append(')');
    }
    if (module_.global_infos().empty()) return;
    out.Append("\n    I.module_global_infos({");
    bool first = true;
    for (const auto& [kind, infos] : module_.global_infos()) {
      if (!first) out.Append(", ");
      first = false;
      PrintString(kind, out);
      out.Append(": ");
      PrintAttr(ListAttr::Get(infos), context, ScriptDialect::kTir);
    }
    out.Append("})");
  }

  void PrintFunctions() {
    if (options_.threads <= 1) {
      for (const Item& item : items_) PrintOne(item, out_);
      return;
    }
    std::vector<std::string> texts;
    size_t window = kSmallestWindow;
    for (size_t start = 0; start < items_.size();) {
      const size_t count = std::min(window, items_.size() - start);
      texts.resize(std::max(texts.size(), count));
      ParallelFor(count, options_.threads, [&](size_t i) {
        texts[i].clear();
        OutputStream out(&texts[i]);
        PrintOne(items_[start + i], out);
      });
      size_t bytes = 0;
      for (size_t i = 0; i < count; ++i) {
        out_.Append(texts[i]);
        bytes += texts[i].size();
      }
      start += count;
      if (bytes < kWindowBytes / 2) window *= 2;
      if (bytes > kWindowBytes) window = std::max(window / 2, kSmallestWindow);
    }
  }

  // On a new line. A function ends with the line break of its last statement, so that a blank line follows it.
  void PrintOne(const Item& item, OutputStream& out) {
    std::vector<std::string_view> reserved = ReservedNames(ClassName(module_), metadata_);
    if (const auto* prim = As<PrimFunc>(item.entry->func))
      std::ranges::move(NamesTakenByTypeVars(prim, declared_), std::back_inserter(reserved));
    PrintNames names(std::move(reserved));
    PrintContext context{&module_, options_, out, names, metadata_, bare_ ? 0 : 1};
    if (!bare_) context.NewLine();
    const std::string_view name = item.entry->var->name;
    if (const auto* function = As<Function>(item.entry->func)) {
      RelaxPrinter(context).PrintFunction(function, name, item.prologue, item.before);
    } else if (const auto* prim = As<PrimFunc>(item.entry->func)) {
      const auto scalars = tir_vars_.find(item.entry->var);
      PrintPrimFunc(prim, name, scalars == tir_vars_.end() ? ScalarArgs() : scalars->second, context);
    } else {
      out.Append(name);
      out.Append(" = ");
      RelaxExprPrinter(context).PrintExternFunc(To<ExternFunc>(item.entry->func));
    }
  }

  const Module& module_;
  const PrintOptions& options_;
  const TextVersion version_;
  OutputStream& out_;
  const bool bare_;  // one function without a module around it
  std::vector<Item> items_;
  MetadataTable metadata_;
  ScalarArgsByFunc tir_vars_;
  TypeVarNames declared_;
};

}  // namespace
}  // namespace text

void PrintModule(const Module& module, const PrintOptions& options, OutputStream& out) {
  text::ModulePrinter(module, options, out).Print();
}

std::string ModuleToString(const Module& module, const PrintOptions& options) {
  std::string result;
  {
    OutputStream out(&result);
    PrintModule(module, options, out);
  }
  return result;
}

std::string ExpressionToString(const Expr* expr) {
  std::string result;
  {
    OutputStream out(&result);
    const Module module;
    const PrintOptions options{.inline_constants = INT64_MAX};
    const text::MetadataTable metadata;
    PrintNames names({"I", "T", "R"});
    text::PrintContext context{&module, options, out, names, metadata, 0};
    text::RelaxExprPrinter(context).Print(expr);
  }
  return result;
}

std::string StatementToString(const Module& module, const PrimFunc* func, const tir::Stmt* stmt) {
  std::string unused;
  OutputStream out(&unused);
  const PrintOptions options;
  const text::MetadataTable metadata;
  PrintNames names({"I", "T", "R"});
  text::PrintContext context{&module, options, out, names, metadata, 0};
  return text::TirPrinter(func, context).PrintStatement(stmt);
}

std::string ScalarToString(const PrimExpr* expr) {
  std::string result;
  {
    OutputStream out(&result);
    const Module module;
    PrintNames names({"I", "T", "R"});
    ForEachPrimName(
        expr, [&](const tir::Var* var) { names.Define(var); }, [](const tir::Buffer*) {});
    PrintTarget target{&module, out, names};
    PrintPrimExpr(expr, target, ScriptDialect::kTir);
  }
  return result;
}

}  // namespace iropt
