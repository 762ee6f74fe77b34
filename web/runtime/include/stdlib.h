// A function that the C library of WASI lacks; web/runtime/temporary_file.cpp has it.
#pragma once

#include_next <stdlib.h>

extern "C" int mkstemps(char* pattern, int suffix_size);
