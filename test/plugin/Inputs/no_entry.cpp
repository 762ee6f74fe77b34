// A shared object that is not a plugin.
extern "C" int answer() { return 42; }
