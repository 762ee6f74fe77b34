// Manual pages, in the macros of man(7).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/tool_description.h"

namespace iropt {

// A section of a page: its title and its text in roff, of the functions below.
struct ManSection {
  std::string_view title;
  std::string text;
};

// Lines as they are.
std::string ManVerbatim(std::string_view text);
// A name and its meaning, a phrase that becomes a sentence, and further sentences.
std::string ManEntry(std::string_view name, std::string_view phrase, std::string_view details = {});

// The page of a tool; the sections are between those about its flags and its exit codes.
std::string RenderManPage(const ToolDescription& tool, std::span<const ManSection> sections = {});

}  // namespace iropt
