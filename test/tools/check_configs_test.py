#!/usr/bin/env python3
"""Checks that check_configs.py finds what it looks for, on small trees made for each case."""
import sys
import unittest

from script_test import ScriptTest


class ConfigsTest(ScriptTest):
    script = "check_configs.py"
    good = {"configs.def": 'IROPT_CONFIG("a.flag", Bool, false, "a flag")\nIROPT_CONFIG_RECORD("a.record", {}, "a record")\n',
            "lib/pass/registry.cpp": 'OptionSpec verify{"testing.verify", OptionType::Bool};\nConfigBool("testing.verify");\n',
            "lib/transform/a.cpp": 'context.ConfigBool("a.flag");\ncontext.ConfigInt("a.record.step");\n'}

    def test_good(self):
        self.expect_good({})

    def test_key_that_nothing_reads(self):
        self.expect({"lib/transform/a.cpp": 'ConfigInt("a.record.step");\n'}, "configs.def: nothing reads the configuration option 'a.flag'")

    def test_record_that_nothing_reads(self):
        self.expect({"lib/transform/a.cpp": 'ConfigInt("a.flag");\n'}, "nothing reads the configuration option 'a.record'")

    def test_key_of_the_registry(self):
        self.expect({"lib/pass/registry.cpp": 'OptionSpec verify{"testing.verify", OptionType::Bool};\n'},
                    "registry.cpp: nothing reads the configuration option 'testing.verify'")

    def test_key_of_a_pipeline(self):
        self.expect_good({"configs.def": self.good["configs.def"] + 'IROPT_CONFIG("a.skip", Bool, false, "")\n',
                          "pipelines.def": 'IROPT_SKIP_IF("a.skip", "A")\n'})

    def test_key_of_a_pipeline_that_is_not_declared(self):
        self.expect({"pipelines.def": '\nIROPT_PHASE("a.phase", 0, "A")\n'},
                    "pipelines.def:2: configuration option 'a.phase' is not declared")

    def test_key_that_is_not_declared(self):
        self.expect({"lib/transform/b.cpp": '\ncontext.Config("a.flags");\n'},
                    "lib/transform/b.cpp:2: configuration option 'a.flags' is not declared")


if __name__ == "__main__":
    sys.exit(unittest.main())
