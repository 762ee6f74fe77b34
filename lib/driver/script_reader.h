// Parser of pass options in TVMScript.
#pragma once

#include "iropt/ir/tir/expr.h"
#include "iropt/pass/text_reader.h"

namespace iropt {

class ScriptReader : public TextReader {
 public:
  const Type* ReadType(std::string_view text, std::span<const tir::Var* const> variables, Place place) const override;
  const Attr* ReadAttr(std::string_view text, Place place) const override;
  std::optional<Module> ReadModule(std::string_view text, Place place) const override;
};

}  // namespace iropt
