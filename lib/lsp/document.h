// An open document.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "iropt/lsp/script_analysis.h"
#include "iropt/lsp/text_document.h"

namespace iropt::lsp {

// A script, a program in Python with scripts, or a pipeline file.
enum class DocumentKind : uint8_t { kScript, kPython, kPipeline };

class Document {
 public:
  Document(std::string uri, DocumentKind kind, std::string text, int64_t version, int threads)
      : uri_(std::move(uri)),
        kind_(kind),
        version_(version),
        text_(std::move(text)),
        analysis_(threads, kind == DocumentKind::kPython) {}

  const std::string& uri() const { return uri_; }
  DocumentKind kind() const { return kind_; }
  int64_t version() const { return version_; }
  void set_version(int64_t version) { version_ = version; }
  const TextDocument& text() const { return text_; }

  void Replace(TextSpan span, std::string_view replacement) {
    text_.Replace(span, replacement);
    is_current_ = false;
  }
  void SetText(std::string text) {
    text_ = TextDocument(std::move(text));
    is_current_ = false;
  }

  // Of the text as it is now.
  ScriptAnalysis& analysis() {
    if (!is_current_ && kind_ != DocumentKind::kPipeline) analysis_.Update(text_);
    is_current_ = true;
    return analysis_;
  }

 private:
  std::string uri_;
  DocumentKind kind_;
  int64_t version_;
  TextDocument text_;
  ScriptAnalysis analysis_;
  bool is_current_ = false;
};

}  // namespace iropt::lsp
