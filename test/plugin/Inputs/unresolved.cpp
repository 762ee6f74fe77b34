// A shared object that uses what nobody has, such as a function of a later version.
extern "C" int function_of_a_later_version();
extern "C" [[gnu::visibility("default")]] int use() { return function_of_a_later_version(); }
