// The language server for TVMScript: the language server protocol, version 3.17, over two descriptors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace iropt::lsp {

// Limits of each run in the background: of passes, of a function. 0: without a limit.
struct BackgroundLimits {
  static constexpr double kSeconds = 60;
  static constexpr int64_t kMemoryBytes = int64_t{4} << 30;

  double seconds = kSeconds;
  int64_t memory_bytes = kMemoryBytes;  // that it may allocate
};

struct ServerOptions {
  int threads = 0;                        // that read functions; 0: as many as there are processors
  std::vector<std::string> plugins = {};  // shared objects with passes and operators
  BackgroundLimits limits = {};
};

// Answers the messages that come from the descriptor `in`, until it is told to exit, the input ends, or the process of
// the client does. Gives the exit code: 0 if the client asked to shut down before. Must run in the main thread of the
// process, at most once.
int RunServer(int in, int out, const ServerOptions& options);

}  // namespace iropt::lsp
