// The files of the folders that a client works on, for questions about all of them.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol.h"

namespace iropt::lsp {

class WorkspaceFiles {
 public:
  // From the parameters of the request "initialize".
  void SetFolders(const Json& params);

  // Adds what AddWorkspaceSymbols finds in the files *.ir of the folders, but for those that are open. Names of
  // functions are kept until a file changes; for patterns, the files are read again.
  void AddSymbols(std::string_view query, const std::function<bool(const std::string& uri)>& is_open, Json& symbols);

 private:
  struct Names {
    std::filesystem::file_time_type time;
    Json symbols;  // of all functions
  };

  std::vector<std::string> Find() const;
  const Json& NamesOf(const std::string& path);

  std::vector<std::string> folders_;
  std::map<std::string, Names, std::less<>> names_;  // by path
};

}  // namespace iropt::lsp
