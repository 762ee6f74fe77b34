// ir-lsp: the language server for TVMScript, over the standard streams.
#pragma once

#include <string>
#include <vector>

namespace iropt {

// Runs the tool on the arguments that follow its name, and returns its exit code.
int RunIrLsp(const std::vector<std::string>& arguments);

}  // namespace iropt
