"""Tests of reproduce.py: `python3 papers/test_reproduce.py`."""

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import reproduce
from reproduce import ROWS, Cell, Problem, Record, Reproduction, Row

# Every table and figure with results in the papers.
NAMES = [
    *(f"thesis-4.{table}" for table in range(1, 6)),
    *(f"thesis-fig4.{figure}" for figure in range(1, 5)),
    *(f"thesis-a{table}" for table in range(1, 8)),
    "thesis-b1",
    "thesis-b2",
    *(f"kaneko-fig{figure}" for figure in (5, 6, 7)),
    "kaneko-table1",
    *(f"mpp-fig{figure}" for figure in (1, 3, 4, 5, 7, 8, 9, 10, 11)),
    *(f"mpp-table{table}" for table in (1, 2, 3)),
]

# A program that answers every command with the number of its runs, and has no `sprouts complexity`.
PROGRAM = """#!/bin/sh
case "$*" in
  bench*) echo '{"signature":42}';;
  -V) echo konane 0.1.0;;
  "sprouts complexity"*) echo "unrecognized subcommand" >&2; exit 2;;
  *--help) echo help;;
  *fails*) echo "no memory" >&2; exit 4;;
  *) echo run >> "$0.runs"; echo "{\\"board\\":\\"1x1\\",\\"unique\\":[$(wc -l < "$0.runs")],\\"symmetry\\":true}";;
esac
"""


class Tables(unittest.TestCase):
    def test_list_names_all_rows(self):
        script = Path(reproduce.__file__)
        done = subprocess.run([sys.executable, script, "--list"], capture_output=True, text=True, check=True)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], NAMES)

    def test_every_published_table_is_read(self):
        tables = {path.name for path in (reproduce.ROOT / "tests/data").glob("*.csv")}
        for name in sorted(tables):
            first = (reproduce.ROOT / "tests/data" / name).read_text().splitlines()[0]
            self.assertTrue(first.startswith("# source: "), name)
            if "of this project" in first:
                tables.remove(name)
        self.assertEqual({name for row in ROWS for name in row.published}, tables)
        for row in ROWS:
            if row.published:
                cells = Reproduction(row, {}).cells
                self.assertTrue(any(cell.published is not None for cell in cells), row.name)

    def test_rows_say_what_they_need(self):
        for row in ROWS:
            self.assertTrue(row.needs or not row.slow, row.name)
            self.assertTrue(row.reason or not row.verdict, row.name)
            self.assertTrue(row.compare or row.verdict == "not reproducible", row.name)
            self.assertIn(row.verdict, ["", *reproduce.VERDICTS], row.name)


class Comparisons(unittest.TestCase):
    def test_verdict_of_a_number(self):
        cases = [
            ("winner", "black", "black", "equal"),
            ("winner", "black", "white", "different"),
            ("states", 100, 101, "different"),
            ("nodes", 100, 109, "equal"),
            ("nodes", 100, 80, "different"),
            ("nodes", 100, 120, "different"),
            ("seconds", 100, 80, "better"),
            ("seconds", 100, 120, "different"),
            ("seconds", 0.00002, 0.0005, "equal"),
            ("speed-up", 4.0, 5.0, "better"),
            ("speed-up", 4.0, 3.0, "different"),
            ("speed-up", 4.0, None, None),
            ("speed-up", None, 3.0, None),
        ]
        for quantity, published, ours, verdict in cases:
            self.assertEqual(Cell("", "", quantity, published, ours).verdict, verdict, (quantity, ours))

    def test_numbers_of_tables(self):
        self.assertEqual([reproduce.number(t) for t in ("2e0", "14.3M", "1k", "1.35", "")], [2, 14_300_000, 1000, 1.35, None])

    def test_commands_expand(self):
        lines = list(reproduce.runs(["2 * a {x,y} 0*{1..2}", "b"]))
        four = ["a x 0*1", "a x 0*2", "a y 0*1", "a y 0*2"]
        self.assertEqual(lines, [(line, run) for run in (1, 2) for line in four] + [("b", 1)])
        sizes = {name: len(reproduce.expand("solve {%s}" % name)) for name in reproduce.SETS}
        self.assertEqual(sizes["all"], 99)
        self.assertGreaterEqual(min(sizes.values()), 10, sizes)

    def test_only_times_are_better(self):
        times = {"seconds", "deviation of the seconds", "speed-up", "efficiency", "throughput", "utilisation, %"}
        better = {name for name in reproduce.GOALS for ours in (1, 9) if Cell("", "", name, 3, ours).verdict == "better"}
        self.assertEqual(better, times)

    def test_other_counts_of_a_published_algorithm_have_a_link_to_the_causes(self):
        records = reproduce.load()
        for row in ROWS:
            one = Reproduction(row, records)
            is_published = any("--profile thesis" in record["command"] for record in one.records)
            if is_published and any(cell.verdict == "different" for cell in one.cells):
                self.assertEqual(one.verdict, "different", row.name)
                self.assertIn("thesis-profile.md#node-counts-of-the-thesis", " ".join(one.remarks), row.name)

    def test_values_that_are_not_compared_are_counted(self):
        table2 = next(row for row in ROWS if row.name == "mpp-table2")
        records = {}
        for spots in range(1, 7):
            result = Record(position=f"0*{spots}", outcome="loss", grundy_numbers=1)
            records[f"konane sprouts solve 0*{spots} --threads 1", 1] = Record(result=result)
        one = Reproduction(table2, records)
        self.assertIn("outcome: 89 values", one.summary("published"))
        self.assertIn("outcome: 6 of 89 values", one.summary("ours"))
        self.assertIn("12 of 178 published values have been compared.", one.remarks)

    def test_every_published_number_has_a_cell(self):
        table3 = next(row for row in ROWS if row.name == "mpp-table3")
        cells = Reproduction(table3, {}).cells
        self.assertIn(("df-pn", 1, "seconds", 17_600), [cell[:4] for cell in cells])
        self.assertEqual(len(cells), 5 * 11 + 3)

    def test_rows_that_are_not_run_have_no_time(self):
        row = Row("r", "", "", [], lambda records: [Cell("", 1, "speed-up", 4, None)], ["konane a"], needs="8 cores")
        record = Record(command="konane a", wall_seconds=1, cpu="c", cores=1, version="0", signature=1)
        one = Reproduction(row, {("konane a", 1): record})
        line = reproduce.table_line(one, [reproduce.machine(record)])
        self.assertEqual(line[-3:], ["**not run**; needs 8 cores", "–", "–"])

    def test_every_file_is_that_of_a_row(self):
        found = {path.name for path in (reproduce.DOCS / "reproduction").iterdir()}
        self.assertEqual(found, {Path(path).name for path in reproduce.page_files()} - {"reproduction.md"})

    def test_worst_number_decides(self):
        compare = lambda records, *_: [Cell("", n, "states", 1, r.result["unique"][0]) for n, r in enumerate(records)]  # noqa: E731
        row = Row("r", "", "", [], compare, ["konane a", "konane b"], needs="time")
        record = lambda unique: Record(result=Record(unique=[unique]), wall_seconds=1)  # noqa: E731
        self.assertEqual(Reproduction(row, {}).verdict, "not run")
        one = Reproduction(row, {("konane a", 1): record(1)})
        self.assertEqual((one.verdict, one.missing), ("equal", 1))
        self.assertIn("The rest (1 of 2 runs) needs time.", one.remarks)
        both = Reproduction(row, {("konane a", 1): record(1), ("konane b", 1): record(2)})
        self.assertEqual(both.verdict, "different")
        self.assertIn("1 of 2 numbers", both.remarks[0])


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "konane"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        patch = mock.patch.object(reproduce, "RESULTS", self.folder / "results.jsonl")
        patch.start()
        self.addCleanup(patch.stop)
        self.messages = io.StringIO()
        silence = contextlib.redirect_stderr(self.messages)
        silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)

    def counts(self, row, again=False, is_quick=False):
        """Runs a row with a new runner, and returns what the program printed last for each run."""
        reproduce.Runner(str(self.program), again).run(row, is_quick)
        return [record.result["unique"][0] for record in reproduce.load().values()]

    def test_runs_with_a_record_are_skipped(self):
        row = Row("r", "", "", [], commands=["2 * konane perft 1x1 1"], slow=["konane perft 1x1 2"])
        self.assertEqual(self.counts(row, is_quick=True), [1, 2])
        self.assertEqual(self.counts(row), [1, 2, 3])
        self.assertEqual(self.counts(row, again=True), [4, 5, 6])
        record = json.loads(reproduce.RESULTS.read_text().splitlines()[0])
        self.assertEqual([record[key] for key in ("signature", "command", "run")], [42, "konane perft 1x1 1", 1])

    def test_rows_share_runs(self):
        row = Row("r", "", "", [], commands=["konane perft 1x1 1"])
        runner = reproduce.Runner(str(self.program), True)
        for _ in range(2):
            runner.run(row, False)
        self.assertEqual([record.result["unique"] for record in runner.records.values()], [[1]])

    def run_main(self, *arguments):
        """Runs the script with one row, which has no figure, below the temporary folder."""
        row = Row("r", "", "", [], None, ["konane perft 1x1 1"], verdict="not reproducible", reason="No counterpart")
        (self.folder / "reproduction").mkdir(exist_ok=True)
        with (
            mock.patch.object(reproduce, "ROWS", [row]),
            mock.patch.object(reproduce, "DOCS", self.folder),
            mock.patch.object(sys, "argv", ["reproduce.py", "r", "--program", str(self.program), *arguments]),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            reproduce.main()

    def test_records_of_no_row_are_kept(self):
        other = Row("other", "", "", [], commands=["konane perft 1x1 9"])
        self.counts(other)
        with mock.patch.dict(sys.modules, matplotlib=mock.Mock()):
            self.run_main()
        self.assertEqual([command for command, _ in reproduce.load()], ["konane perft 1x1 9", "konane perft 1x1 1"])
        self.assertIn("1 not reproducible", (self.folder / "reproduction.md").read_text())

    def test_missing_matplotlib_is_reported_before_the_runs(self):
        with mock.patch.dict(sys.modules, matplotlib=None), self.assertRaises(ImportError):
            self.run_main()
        self.assertEqual(reproduce.load(), {})

    def test_missing_subcommand_is_reported(self):
        row = Row("r", "", "", [], commands=["konane sprouts complexity 0*2"])
        self.assertEqual(self.counts(row), [])
        self.assertIn("no subcommand for `konane sprouts complexity 0*2`", self.messages.getvalue())

    def test_failing_program_leaves_no_record(self):
        row = Row("r", "", "", [], commands=["konane perft fails"])
        with self.assertRaisesRegex(Problem, "no memory\n.*exit code 4"):
            self.counts(row)
        self.assertEqual(reproduce.load(), {})

    def test_generated_commands_receive_results(self):
        def commands():
            first = yield "konane perft 1x1 1"
            second = yield f"konane perft 1x1 {first['unique'][0] + 6}"
            return [first["unique"][0], second["unique"][0]]

        row = Row("r", "", "", [], lambda found: [Cell("", n, "states", None, n) for n in found], commands)
        self.assertEqual(self.counts(row), [1, 2])
        records = reproduce.load()
        self.assertIn(("konane perft 1x1 7", 1), records)
        self.assertEqual([cell.ours for cell in Reproduction(row, records).cells], [1, 2])
        self.assertEqual(Reproduction(row, {}).verdict, "not run")


if __name__ == "__main__":
    unittest.main()
