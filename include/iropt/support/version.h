// The version of ir-opt, which CMakeLists.txt reads from here.
#pragma once

#define IROPT_VERSION "0.1.0"
