#!/usr/bin/env python3
"""Tests check_changelog.py on small trees made for each case."""
import sys
import unittest

from script_test import ScriptTest

HEAD = "# Changelog\n\nText.\n\n## Unreleased\n\nNews.\n\n### Added\n\n- New.\n\n"


class ChangelogTest(ScriptTest):
    script = "check_changelog.py"
    good = {"include/iropt/support/version.h": '#define IROPT_VERSION "0.10.0"\n',
            "CHANGELOG.md": HEAD + "## 0.9.1 - 2026-02-03\n\n### Changed\n\n### Fixed\n\n## 0.9.0 - 2026-02-03\n"}

    def expect_changelog(self, text, problem):
        self.expect({"CHANGELOG.md": text}, "CHANGELOG.md: " + problem)

    def test_good(self):
        self.expect_good({})

    def test_no_unreleased(self):
        self.expect_changelog("## 0.9.0 - 2026-02-03\n", "the first section is not 'Unreleased'")

    def test_invalid_section(self):
        self.expect_changelog(HEAD + "## 0.9 - 2026-02-03\n", "invalid section '0.9 - 2026-02-03': expected 'X.Y.Z - YYYY-MM-DD'")
        self.expect_changelog(HEAD + "## 0.9.0 - 2026-02-30\n", "invalid section '0.9.0 - 2026-02-30'")

    def test_order(self):
        self.expect_changelog(HEAD + "## 0.1.0 - 2026-02-03\n## 0.2.0 - 2026-02-03\n",
                              "'0.2.0 - 2026-02-03' is not older than '0.1.0 - 2026-02-03' above it")
        self.expect_changelog(HEAD + "## 0.2.0 - 2026-02-03\n## 0.1.0 - 2026-02-04\n",
                              "'0.1.0 - 2026-02-04' is not older than '0.2.0 - 2026-02-03' above it")

    def test_released_version(self):
        self.expect_changelog(HEAD + "## 0.10.0 - 2026-02-03\n",
                              "'0.10.0 - 2026-02-03' is not older than the version of include/iropt/support/version.h")

    def test_release(self):
        self.expect_good({"CHANGELOG.md": "## Unreleased\n\n## 0.10.0 - 2026-02-03\n\n- News.\n\n### Added\n\n- New.\n"})

    def test_summary(self):
        self.expect_changelog("## Unreleased\n\n### Added\n\n- New.\n", "'Unreleased' has no summary")
        self.expect_changelog("## Unreleased\n" + 13 * "\nNews." + "\n\n### Added\n\n- New.\n", "the summary of 'Unreleased' has 13 lines")

    def test_entry_twice(self):
        self.expect_changelog(HEAD + "## 0.9.0 - 2026-02-03\n\nNews.\n\n### Fixed\n\n- New.\n", "an entry is there twice: - New.")
        self.expect_good({"CHANGELOG.md": HEAD + "## 0.9.0 - 2026-02-03\n\nNews.\n\n### Fixed\n\n- New.\n  And more.\n"})

    def test_parts(self):
        self.expect_changelog(HEAD + "### News\n", "'Unreleased' has a part 'News': expected one of Added, Changed")
        self.expect_changelog(HEAD + "### Fixed\n### Changed\n", "'Unreleased' has its parts twice or in another order")
        self.expect_changelog(HEAD + "### Added\n", "'Unreleased' has its parts twice or in another order")


if __name__ == "__main__":
    sys.exit(unittest.main())
