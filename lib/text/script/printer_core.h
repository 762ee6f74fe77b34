// Shared parts of the printers of both levels.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/file.h"
#include "iropt/support/lookup.h"
#include "iropt/text/script/printer.h"

namespace iropt::text {

// The version of the text: the one that was asked for, else that of the text that the module was read from.
inline TextVersion VersionOf(const Module& module, const PrintOptions& options) {
  return options.version ? *options.version : module.text_version().value_or(TextVersion::kV0_18);
}

// The imports in the header of the printed module.
struct PrefixUse {
  bool ir = false;
  bool tir = false;
  bool relax = false;
  bool type_vars = false;  // lines such as n = TypeVar("n"), from 0.27 on
};

// The entries of the metadata section, by kind, numbered in the order in which they are printed. Filled before printing
// starts. Equal constants share an entry: folding makes many of them; as do equal strings among attributes. As in TVM,
// equal strings among operands do not.
class MetadataTable {
 public:
  void Add(const Constant* constant);
  void Add(const Attr* attr);  // an array, or a string of several lines
  void Add(const tir::StringImm* string);

  const std::vector<const Constant*>& constants() const { return constants_; }
  const std::vector<const ObjectAttr*>& arrays() const { return arrays_; }
  const std::vector<const tir::StringImm*>& strings() const { return strings_; }
  const std::vector<const StrAttr*>& attr_strings() const { return attr_strings_; }
  const StringNumbers& string_numbers() const { return string_numbers_; }
  bool empty() const { return constants_.empty() && arrays_.empty() && strings_.empty() && attr_strings_.empty(); }
  bool Has(const Attr* attr) const { return index_.contains(attr); }
  // The number of an entry that was added: of the data of a constant, or of an attribute.
  int64_t IndexOf(const void* entry) const {
    const auto* found = index_.Find(entry);
    return found ? static_cast<int64_t>(*found) : 0;
  }

 private:
  struct HashContent {
    size_t operator()(const NDArray* array) const { return array->Hash(); }
  };
  struct EqualContent {
    bool operator()(const NDArray* a, const NDArray* b) const { return *a == *b; }
  };
  std::vector<const Constant*> constants_;
  std::vector<const ObjectAttr*> arrays_;
  std::vector<const tir::StringImm*> strings_;
  std::vector<const StrAttr*> attr_strings_;
  StringNumbers string_numbers_;
  LookupMap<const NDArray*, size_t, HashContent, EqualContent> by_content_;
  LookupMap<const void*, size_t> index_;
};

struct PrintContext : PrintTarget {
  const PrintOptions& options;
  const MetadataTable& metadata;
  int indent = 0;
  Span place;       // of the statement whose lines are begun; unknown if locations are not printed
  Span line_place;  // that of the current line, until its end

  PrintContext(const Module* m, const PrintOptions& o, OutputStream& stream, PrintNames& n, const MetadataTable& meta,
               int level = 0)
      : PrintTarget{m, stream, n, VersionOf(*m, o), o.pep695, &meta.string_numbers()},
        options(o),
        metadata(meta),
        indent(level) {}
  PrintContext WithOutput(OutputStream& other) const { return {module, options, other, names, metadata, indent}; }

  // Ends the current line, before its line break.
  void EndLine() {
    if (line_place.known()) [[unlikely]]
      PrintPlace();
  }
  void NewLine() {
    EndLine();
    line_place = place;
    static constexpr std::string_view kSpaces =
        "                                                                                ";
    out.Append('\n');
    int n = indent * 4;
    for (; n > static_cast<int>(kSpaces.size()); n -= static_cast<int>(kSpaces.size())) out.Append(kSpaces);
    out.Append(kSpaces.substr(0, static_cast<size_t>(n)));
  }
  // During the lifetime of the result, the lines that are begun are those of the node, or of none.
  [[nodiscard]] auto Placed(const Node* node) {
    struct Scope {
      Scope(PrintContext& c, Span now) : context(c), before(std::exchange(c.place, now)) {}
      Scope(const Scope&) = delete;
      Scope& operator=(const Scope&) = delete;
      ~Scope() { context.place = before; }

      PrintContext& context;
      const Span before;
    };
    return Scope(*this, options.locations && node ? node->span() : Span());
  }

 private:
  void PrintPlace();
};

// The names that no variable of a module gets. That of the metadata section is free if there is none.
inline std::vector<std::string_view> ReservedNames(std::string_view module_name, const MetadataTable& metadata) {
  std::vector<std::string_view> names{"I", "T", "R", "cls", module_name};
  if (!metadata.empty()) names.push_back("metadata");
  return names;
}

// The comments that name the imports, each on a line of its own, and an empty comment after them.
void PrintImports(PrefixUse use, PrintContext& context);

}  // namespace iropt::text
