"""Tests of pages.py: `python3 xtask/test_pages.py`."""

import unittest
from unittest import mock

from page_parts import Record
from pages import Group, earlier_program


class Scaling(unittest.TestCase):
    def test_searches_of_an_earlier_program_are_marked(self):
        def results(signature, nodes):
            group = Group([Record(result=Record(nodes=nodes))])
            return mock.Mock(records=[{"signature": signature}], solve=lambda *_, **__: group)

        self.assertEqual(earlier_program(results(1, 10), results(2, 10)), (set(), ""))
        changed, text = earlier_program(results(1, 10), results(2, 9))
        self.assertIn(("dfpn", "6x6", "thesis"), changed)
        self.assertIn("(signature 1, now [2]", text)
        self.assertIn("| df-pn | 6x6 | thesis | 10 | 9 |", text)


if __name__ == "__main__":
    unittest.main()
