// Answers of the server about a document: one function a request of the protocol. The context of the document's
// analysis is current when they are called.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "document.h"
#include "protocol.h"

namespace iropt {
class PassRegistry;
}

namespace iropt::lsp {

// ---- Names (navigation.cpp)
Json Definition(Document& document, uint32_t offset);
Json References(Document& document, uint32_t offset, bool with_definition);
Json Highlights(Document& document, uint32_t offset);
// Null where nothing can be renamed.
Json PrepareRename(Document& document, uint32_t offset);
// Throws RequestError if the name does not fit.
Json Rename(Document& document, uint32_t offset, std::string_view name);

// ---- Calls (call_hierarchy.cpp)
// The function whose name is at the offset, or null; its callers, and the functions that it calls.
Json PrepareCallHierarchy(Document& document, uint32_t offset);
Json IncomingCalls(Document& document, uint32_t offset);
Json OutgoingCalls(Document& document, uint32_t offset);

// ---- Information at a place
Json Hover(Document& document, uint32_t offset, const PassRegistry& registry);
Json SignatureHelp(Document& document, uint32_t offset);
Json InlayHints(Document& document, TextSpan span);
Json Completion(Document& document, uint32_t offset, const PassRegistry& registry);

// ---- The document as a whole
std::vector<Problem> ProblemsOf(Document& document, const PassRegistry& registry);
Json Diagnostics(Document& document, const PassRegistry& registry);
Json CodeActions(Document& document, TextSpan span, const PassRegistry& registry);
// The action with its edit, which takes a while to make.
Json ResolveCodeAction(Document& document, const Json& action);
Json DocumentSymbols(Document& document);
// Functions of the document whose names contain the letters of the query in their order; for a query with a '(', what
// matches it (iropt/driver/query.h).
void AddWorkspaceSymbols(Document& document, std::string_view query, Json& symbols);
// Return whether a query of symbols is a pattern of expressions, and whether it can be read as one.
bool IsPattern(std::string_view query);
bool CanAsk(std::string_view pattern);
// Returns whether the name has the letters of the query in their order.
bool HasSubsequence(std::string_view name, std::string_view query);
Json FoldingRanges(Document& document);
// The edits that change blanks only (layout.cpp).
Json Formatting(Document& document);
// The edits that give the canonical text; none if it can't be read (formatting.cpp).
Json CanonicalText(Document& document);

// ---- Passes (code_lens.cpp)
// The pipeline of the first RUN line that has one, else the default one.
std::string PipelineOf(const Document& document);
Json CodeLenses(Document& document);

// ---- Semantic tokens (semantic_tokens.cpp)
Json SemanticTokensLegend();
Json SemanticTokens(Document& document, TextSpan span);

}  // namespace iropt::lsp
