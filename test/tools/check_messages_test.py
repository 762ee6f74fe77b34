#!/usr/bin/env python3
"""Tests check_messages.py on small trees made for each case."""
import sys
import unittest

from script_test import ScriptTest


class MessagesTest(ScriptTest):
    script = "check_messages.py"
    good = {"lib/eval/a.cpp": 'return Fail(fmt::format("the shape of {} does "\n                        "not fit", x));\n',
            "test/a.ir": "# RUN: not ir-opt %s\n# CHECK: error: the shape of x does not fit\n"}

    def test_good(self):
        self.expect_good({})

    def test_untested(self):
        self.expect({"test/a.ir": ""}, "no test expects the message 'the shape of {} does not fit'")

    def test_comments_are_not_tests(self):
        self.expect({"test/a.ir": "# the shape of x does not fit\n"}, "no test expects")

    def test_cases_are_tests(self):
        self.expect_good({"test/a.ir": "", "test/a.test": "R.f(x) !! the shape of x does not fit\n"})
        self.expect_good({"test/a.ir": "", "test/a_test.cpp": 'CHECK(m == "the shape of x does "\n          "not fit");\n'})

    def test_bare_directives(self):
        self.expect_good({"test/a.ir": "", "test/a.test": "RUN: ir-opt %s\n  CHECK: the shape of x does not fit\n"})

    def test_comments_with_slashes(self):
        self.expect_good({"test/a.ir": "", "test/a.relay": "  // CHECK: the shape of x does not fit\n"})

    def test_lists_of_names(self):
        self.expect_good({"lib/eval/b.cpp": 'Row("data, begin, new_size, axis:axes");\n'})

    def test_pieces_of_other_messages(self):
        """A piece that two messages have tells none of them."""
        two = {"lib/eval/b.cpp": 'Fail("the shape of the result does not fit");\n'}
        self.expect(two, "no test expects the message 'the shape of the result does not fit'")
        self.expect(two | {"test/a.ir": "# CHECK: does not fit\n"}, "no test expects the message 'the shape of {} does not fit'")

    def test_internal_checks(self):
        self.expect_good({"lib/eval/b.cpp": 'IROPT_CHECK(a(b), "a state of another function");\n'})

    def test_internal_errors(self):
        self.expect_good({"lib/eval/b.cpp": 'return Error{ErrorCode::Internal, Format("a state of another function")};\n'})
        self.expect({"lib/eval/b.cpp": 'Error{ErrorCode::Internal, ""}; Error{ErrorCode::Usage, "a state of another function"};\n'},
                    "no test expects the message 'a state of another function'")

    def test_descriptions(self):
        self.expect_good({"lib/eval/b.cpp": 'constexpr Statistic kTensors("a", "b", "tensors in the same storage");\n'
                                            'IROPT_TYPE_RULE(InferAdd, "that of the first operand") {\n'})

    def test_comments_and_names(self):
        self.expect_good({"lib/eval/b.cpp": '// "what is not a message"\nFind("global_symbol", "a name");\n'})

    def test_exceptions(self):
        listed = {"test/a.ir": "", "test/untested_messages.txt": "# Why.\neval: the shape of {} does not fit\n"}
        self.expect_good(listed)
        self.expect(listed | {"test/a.ir": self.good["test/a.ir"]}, "the message 'the shape of {} does not fit' of eval has a test")
        self.expect(listed | {"lib/eval/a.cpp": ""}, "the message 'the shape of {} does not fit' of eval does not exist")


if __name__ == "__main__":
    sys.exit(unittest.main())
