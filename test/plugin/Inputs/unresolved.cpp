// A shared object with an undefined symbol, such as a function of a later version.
extern "C" int function_of_a_later_version();
extern "C" [[gnu::visibility("default")]] int use() { return function_of_a_later_version(); }
