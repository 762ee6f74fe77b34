// Attributes of functions whose spelling depends on the version of the text. Modules have that of 0.18.
#pragma once

#include <optional>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/text_version.h"

namespace iropt::text {

// Returns false for a PrimFunc of tirx, whose attribute attr::kSTir is false; others do not have it.
bool IsSTir(const PrimFunc& func);

// The attributes as the version prints them: "tirx.noalias" for "tir.noalias" from 0.24 on, "Primitive": True for 1
// from 0.21 on.
const DictAttr* FuncAttrsOfVersion(const DictAttr* attrs, TextVersion version);

// The key of a dictionary of any version, and the value for it in a text of the version, as modules have them.
std::string_view FuncAttrKey(std::string_view key);
const Attr* FuncAttrOfText(std::string_view key, const Attr* value, std::optional<TextVersion> version);

}  // namespace iropt::text
