// Completion scripts for shells, made from the tables of flags, passes, instruments and configuration options.
#pragma once

#include <string>
#include <string_view>

#include "iropt/pass/registry.h"

namespace iropt {

// `shell` is bash, zsh or fish.
std::string RenderCompletion(std::string_view shell, const PassRegistry& registry);

}  // namespace iropt
