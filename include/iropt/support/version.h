// The version of ir-opt, which CMakeLists.txt reads from here: that of the changes under `Unreleased` in CHANGELOG.md.
#pragma once

#define IROPT_VERSION "0.4.0"
