#!/usr/bin/env python3
"""Checks that check_configs.py finds what it looks for, on small trees made for each case."""
import sys
import unittest

from script_test import ScriptTest


class ConfigsTest(ScriptTest):
    script = "check_configs.py"
    good = {"configs.def": 'IROPT_CONFIG("a.flag", Bool, false, "a flag")\nIROPT_CONFIG_RECORD("a.record", "a record")\n',
            "pipelines.def": 'IROPT_SKIP_IF("a.flag", "A")\n',
            "lib/transform/a.cpp": '#include "configs/a.record.h"\n'}

    def test_good(self):
        self.expect_good({})

    def test_key_that_nothing_reads(self):
        self.expect({"pipelines.def": ""}, "configs.def: nothing reads the configuration option 'a.flag'")

    def test_record_that_nothing_reads(self):
        self.expect({"lib/transform/a.cpp": ""}, "configs.def: nothing reads the configuration option 'a.record'")


if __name__ == "__main__":
    sys.exit(unittest.main())
