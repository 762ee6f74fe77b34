// The language server for TVMScript: the language server protocol, version 3.17, over two descriptors.
#pragma once

#include <string>
#include <vector>

namespace iropt::lsp {

struct ServerOptions {
  int threads = 0;                        // that read functions; 0: as many as there are processors
  std::vector<std::string> plugins = {};  // shared objects with passes and operators
};

// Answers the messages that come from the descriptor `in`, until it is told to exit or the input ends. Gives the exit
// code: 0 if the client asked to shut down before. Must run in the main thread of the process, at most once.
int RunServer(int in, int out, const ServerOptions& options);

}  // namespace iropt::lsp
