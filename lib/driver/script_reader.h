// The reader and printer of TVMScript that passes use: for options, and for functions in messages.
#pragma once

#include "iropt/diag/source.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/pass/located_text.h"
#include "iropt/pass/marked_text.h"

namespace iropt {

class ScriptReader : public SourceReader, public MarkedTextWriter {
 public:
  // The sources must outlive it.
  explicit ScriptReader(SourceManager& sources) : sources_(sources) {}

  std::optional<uint32_t> AddSource(const std::string& name,
                                    const std::shared_ptr<const FileBuffer>& text) const override;
  const Type* ReadType(std::string_view text, std::span<const tir::Var* const> variables, Place place) const override;
  const Attr* ReadAttr(std::string_view text, Place place) const override;
  std::optional<Module> ReadModule(std::string_view text, Place place) const override;
  std::string WriteMarked(const Module& module, const GlobalVar* var,
                          std::span<const Node* const> marks) const override;

 private:
  SourceManager& sources_;
};

}  // namespace iropt
