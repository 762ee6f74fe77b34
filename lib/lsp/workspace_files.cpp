#include "workspace_files.h"

#include <algorithm>
#include <system_error>

#include "features.h"
#include "iropt/support/file.h"
#include "virtual_documents.h"

namespace iropt::lsp {

namespace {

namespace fs = std::filesystem;

// More and bigger files would keep an editor waiting for longer than a user does.
constexpr size_t kMostFiles = 2000;
constexpr uintmax_t kMostBytes = 1 << 20;

bool IsSkipped(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with('.') || name.starts_with("build") || name == "node_modules";
}

void AddSymbolsOf(const std::string& path, std::string_view query, Json& symbols) {
  const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(path);
  if (!file.ok()) return;
  Document document(UriOf(path), DocumentKind::kScript, std::string((*file)->text()), 0, 1);
  const IRContext::Scope scope(document.analysis().context());
  AddWorkspaceSymbols(document, query, symbols);
}

}  // namespace

void WorkspaceFiles::SetFolders(const Json& params) {
  const auto add = [this](const Json& uri) {
    const std::string path = uri.is_string() ? PathOf(uri.get_ref<const std::string&>()) : std::string();
    if (!path.empty()) folders_.push_back(path);
  };
  const auto folders = params.find("workspaceFolders");
  if (folders != params.end() && folders->is_array()) {
    for (const Json& folder : *folders) add(folder.value("uri", Json()));
  } else {
    add(params.value("rootUri", Json()));
  }
}

std::vector<std::string> WorkspaceFiles::Find() const {
  std::vector<std::string> found;
  std::error_code error;
  for (const std::string& folder : folders_) {
    fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && it != fs::recursive_directory_iterator() && found.size() < kMostFiles; it.increment(error)) {
      std::error_code ignored;
      if (it->is_directory(ignored)) {
        if (IsSkipped(it->path())) it.disable_recursion_pending();
      } else if (it->path().extension() == ".ir" && it->file_size(ignored) <= kMostBytes) {
        found.push_back(it->path().string());
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

const Json& WorkspaceFiles::NamesOf(const std::string& path) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path, error);
  Names& names = names_[path];
  if (names.symbols.is_null() || names.time != time) {
    names = {time, Json::array()};
    AddSymbolsOf(path, "", names.symbols);
  }
  return names.symbols;
}

void WorkspaceFiles::AddSymbols(std::string_view query, const std::function<bool(const std::string& uri)>& is_open,
                                Json& symbols) {
  if (IsPattern(query) && !CanAsk(query)) return;
  for (const std::string& path : Find()) {
    if (is_open(UriOf(path))) continue;
    if (IsPattern(query)) {
      AddSymbolsOf(path, query, symbols);
      continue;
    }
    for (const Json& symbol : NamesOf(path)) {
      if (HasSubsequence(symbol["name"].get_ref<const std::string&>(), query)) symbols.push_back(symbol);
    }
  }
}

}  // namespace iropt::lsp
