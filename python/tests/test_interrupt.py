"""Ctrl-C: SIGINT during a call, in a separate process."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")

PROGRAM = """
import sys, threading, time
import konane
from konane import sprouts

call = {call}
begun = time.monotonic()
threading.Timer(0.4, lambda: (print("working", flush=True))).start()
try:
    call()
except KeyboardInterrupt:
    # The first line of standard input is the time of the signal.
    sent = float(sys.stdin.readline())
    print("interrupted", time.monotonic() - sent)
else:
    print("ended")
# Later calls work.
assert konane.solve("4x4", memory="1MiB").winner in ("black", "white")
"""

CALLS = {
    "solve": "lambda: konane.solve('8x8', memory='256MiB')",
    "solve by pns-pdfpn": "lambda: konane.solve('8x8', algo='pns-pdfpn', memory='256MiB')",
    "analyse": "lambda: konane.analyse('8x8', memory='256MiB')",
    "solve_many": "lambda: konane.solve_many(['8x8'] * 3, memory='256MiB')",
    "analyse_many": "lambda: konane.analyse_many(['8x8'] * 3, memory='256MiB')",
    "value_many": "lambda: konane.value_many([konane.Position('8x8', moves='d5 d4')] * 3)",
    "annotate": "lambda: konane.Record('8x8', moves='d5 d4').annotate(time_limit=None)",
    "line": "lambda: konane.line('8x8', memory='256MiB')",
    "prove": "lambda: konane.prove('8x8', sys.argv[1] + '/8x8.proof', memory='256MiB')",
    "perft": "lambda: konane.perft('8x8', 20)",
    "distinct positions": "lambda: konane.perft('8x8', 12, unique=True)",
    "divide": "lambda: konane.divide('8x8', 20)",
    "build_database": "lambda: konane.build_database('5x6', sys.argv[1], threads=1)",
    "sprouts": "lambda: sprouts.solve('0*45', memory='256MiB')",
    "grundy": "lambda: sprouts.grundy('0*30', memory='256MiB')",
}


@pytest.mark.parametrize("name", CALLS)
def test_a_signal_ends_the_call(name, tmp_path):
    program = PROGRAM.format(call=CALLS[name])
    arguments = [sys.executable, "-c", program, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout.readline() == "working\n", process.stderr.read()
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(f"{sent}\n", timeout=30)
    assert process.returncode == 0, errors
    word, seconds = output.split()
    assert word == "interrupted"
    # The target is 0.1 s, but test machines are busy.
    assert float(seconds) < 1.0
    assert not list(tmp_path.glob("*.proof*"))
    assert not list(tmp_path.glob("*/lock"))


def test_a_call_on_another_thread_does_not_block_the_main_thread():
    program = """
import threading, time
import konane

found = []
worker = threading.Thread(target=lambda: found.append(konane.solve("8x8", time_limit=1.0)))
worker.start()
try:
    print("working", flush=True)
    while worker.is_alive():
        time.sleep(0.01)
    print("too late")
except KeyboardInterrupt:
    assert worker.is_alive()
    worker.join()
    print(found[0].reason)
"""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdout=pipe, text=True) as process:
        assert process.stdout.readline() == "working\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    assert output == "time limit\n"
