"""Attacks with threads, forks and objects that report wrong values: no Python program may crash the process.

Each attack runs in a separate process, so that a crash fails the test. Attacks with threads run for one
second each.
"""

import os
import subprocess
import sys

import pytest

#: Common start of the programs. ``attack`` calls each function repeatedly on its own thread until the
#: time is over. The functions may raise exceptions of the package or of Python, but not ``InternalError``
#: or a panic, which is a ``BaseException``.
PRELUDE = """
import faulthandler, itertools, os, random, sys, threading, time
import numpy as np
import konane
from konane import _konane, sprouts

faulthandler.enable()
folder = sys.argv[1]
failures, finished = [], []


def attack(*functions, seconds=1.0):
    end = time.monotonic() + seconds

    def loop(function):
        calls = 0
        try:
            while time.monotonic() < end:
                try:
                    function()
                except konane.InternalError:
                    raise
                except Exception:
                    pass
                calls += 1
        except BaseException as error:
            failures.append(repr(error))
        finished.append((function.__name__, calls))

    threads = [threading.Thread(target=loop, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert all(calls for _, calls in finished), finished


def in_a_fork(work):
    # A child that does not end within ten seconds is killed and counts as failed.
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "hangs"


konane.build_database("4x4", folder, threads=1)
db = konane.Database.find(folder, "4x4", cache=1)
"""

#: Programs that must end with exit code 0.
ATTACKS = {
    "a large array is resized during a look-up": """
# No element is a code of the board, so nearly all the time is spent on reading the array.
x = np.full(1_000_000, 1 << 40, dtype=np.uint64)

def look_up():
    db.probe_many(x, threads=1)

def resize():
    x.resize(10, refcheck=False)
    time.sleep(0.005)
    x.resize(1_000_000, refcheck=False)
    x.fill(1 << 40)
    time.sleep(0.005)

attack(look_up, look_up, resize)
""",
    "a small array is resized during a look-up": """
x = np.zeros(1000, dtype=np.uint64)

def look_up():
    db.probe_many(x)

def resize():
    x.resize(10, refcheck=False)
    x.resize(1000, refcheck=False)

attack(look_up, look_up, resize)
""",
    "arrays of other layouts are resized during a look-up": """
x = {dtype: np.zeros(5000, dtype=dtype) for dtype in ("u1", "<i8", ">u8", "f8", object)}

def look_up():
    for array in x.values():
        db.probe_many(array, threads=1)

def look_up_a_part():
    for array in list(x.values())[:-1]:
        db.probe_many(array[::-3], threads=1)

def resize():
    for array in list(x.values())[:-1]:
        array.resize(10, refcheck=False)
        time.sleep(0.0005)
        array.resize(5000, refcheck=False)
        time.sleep(0.0005)

attack(look_up, look_up, look_up_a_part, resize)
""",
    "lists change during a look-up": """
codes, moves = [], ["a4"]

class Index:
    def __index__(self):
        codes.clear()
        moves.clear()
        return 5

def fill():
    codes.extend([1, 2, Index(), 3] * 10)
    moves.extend(["a4", "a3"])

def look_up():
    db.probe_many(codes)

def play():
    konane.Position("4x4", moves=moves)

def empty():
    del codes[1:]
    del moves[1:]

attack(fill, look_up, play, empty)
""",
    "all functions at once": """
start = konane.Position("4x4")
codes = np.arange(2000, dtype=np.uint64)

def positions():
    position = start
    while moves := position.moves():
        position = position.play(random.choice(moves))
        konane.Position.from_code("4x4", position.code)
        hash(position), repr(position), position.svg(), position == start

def look_up():
    db.probe(start)
    db.probe_many(codes, threads=2)
    konane.Database.find(folder, "4x4")

def search():
    for algo in ("dfpn", "pns", "pn2", "pns-pdfpn", "ab"):
        konane.solve(start, db=db, algo=algo, memory="2MiB", progress=lambda p: None, interval=0.01)

def count():
    konane.perft(start, 5, threads=2)
    konane.perft(start, 3, unique=True)
    konane.divide(start, 3)

def proofs():
    name = f"{folder}/{threading.get_ident()}.proof"
    konane.prove("3x3", name, memory="1MiB")
    konane.verify_proof(name)

def builds():
    konane.build_database("3x4", folder, threads=1)

def spots():
    sprouts.solve("0*4", memory="16MiB")
    sprouts.grundy("0*3", memory="16MiB")
    sprouts.canonical("0*2.AB|AB"), sprouts.children("0*3"), sprouts.draw("0*3")

attack(positions, look_up, look_up, search, count, proofs, proofs, builds, builds, spots)
""",
    "a coordinator and a worker are closed while they work": """
coordinators, workers = [], []

def renew():
    coordinator = _konane.ClusterCoordinator.konane("4x5", job_nodes=100, shared_work=10, memory="1MiB")
    worker = _konane.ClusterWorker.konane("4x5", shared_work=10, memory="1MiB", threads=1)
    coordinators[:], workers[:] = [coordinator], [worker]
    time.sleep(0.02)
    worker.close()
    coordinator.finish()

def work():
    coordinator, worker = coordinators[0], workers[0]
    reply = coordinator.handle_idle(random.randrange(1 << 64))
    while reply is not None and reply.job is not None:
        reply = coordinator.handle(worker.search(reply.worker, reply.reply))

def disturb():
    coordinator, worker = coordinators[0], workers[0]
    coordinator.cancelled(), coordinator.status(), coordinator.remove_worker(3), coordinator.set_job_nodes(0), coordinator.saves()
    coordinator.handle(random.randbytes(100))
    worker.go_on(), worker.cancel(7), worker.nodes(), worker.capacity()
    worker.entries(random.randbytes(10))

def end():
    time.sleep(0.01)
    random.choice([coordinators[0].finish, workers[0].close, lambda: coordinators[0].end("interrupted")])()

attack(renew, work, work, disturb, disturb, end)
""",
    "a build is closed while it is read": """
directors = []

def renew():
    plan = _konane.BuildPlan("3x4", folder + "/tasks", 1 << 30)
    directors[:] = [plan.open()]
    plan.tasks(), plan.describe()
    directors[0].pending()
    directors[0].close()

def disturb():
    director = directors[0]
    director.pending()
    random.choice([director.close, director.finish])()

attack(renew, disturb, disturb)
""",
    "wrong lengths": """
class Long(list):
    def __len__(self):
        return 1 << 60

class Endless:
    def __len__(self):
        return 1 << 62
    def __getitem__(self, at):
        return "a4"

class Negative:
    def __len__(self):
        return -1
    def __getitem__(self, at):
        raise IndexError

assert konane.Position("4x4", moves=Long(["a4"])) == konane.Position("4x4", moves=["a4"])
assert list(db.probe_many(Long([1]))) == list(db.probe_many([1]))
worker = _konane.ClusterWorker.konane("4x4", shared_work=1, memory="1MiB", threads=1)
for value in (Long([1]), Endless(), Negative(), itertools.repeat("a4"), itertools.repeat(1)):
    for call in (
        lambda: konane.Position("3x3", moves=value),
        lambda: db.probe_many(value) if type(value) is not Long else db.probe_many(["a4"]),
        lambda: worker.entries(value),
        lambda: worker.search(1, value),
        lambda: konane.solve(value),
        lambda: konane.solve("4x4", db=value),
        lambda: konane.solve("4x4", threads=value),
        lambda: sprouts.solve(value),
    ):
        try:
            call()
        except (konane.InputError, TypeError, ValueError, MemoryError) as error:
            assert len(str(error)) < 300, error
        else:
            raise AssertionError(value)
worker.close()
# Larger than the memory.
try:
    db.probe_many(np.broadcast_to(np.zeros(1, dtype=np.uint64), 1 << 45))
except MemoryError:
    pass
else:
    raise AssertionError
""",
    "calls within calls": """
depth = 0

class Index:
    def __index__(self):
        global depth
        depth += 1
        konane.perft("3x3", Index())
        return 1

def progress(_):
    global depth
    depth += 1
    konane.solve("3x3", memory="1MiB", threads=1, progress=progress)

for call in (lambda: konane.perft("3x3", Index()), lambda: progress(None)):
    depth = 0
    try:
        call()
    except RecursionError:
        assert depth > 100
    else:
        raise AssertionError
""",
    "invalid pickles": """
import copyreg, pickle
position = konane.Position("4x4")
assert pickle.loads(pickle.dumps(db)).probe(position) == db.probe(position)
for make in (
    lambda: object.__new__(konane.Position),
    lambda: copyreg.__newobj__(konane.Position),
    lambda: copyreg.__newobj__(konane.Database),
    lambda: copyreg.__newobj__(_konane.ClusterCoordinator),
    lambda: copyreg.__newobj__(_konane.ClusterDelivery),
    lambda: copyreg._reconstructor(konane.Position, object, None),
    lambda: pickle.dumps(_konane.ClusterWorker.sprouts("0*2", memory="16MiB", threads=1)),
    lambda: position.__setstate__({"board": 3}),
    lambda: setattr(position, "board", 3),
    lambda: type("Sub", (konane.Position,), {}),
    lambda: position.__reduce__()[0]("4x4", 3),
    lambda: konane.Database.open.__call__(folder, cache=object()),
):
    try:
        made = make()
    except (TypeError, AttributeError, konane.Error):
        continue
    raise AssertionError(made)
""",
    "the interpreter ends while threads work": """
class Slow:
    # Called while the interpreter ends, so that the threads return from their calls in that time.
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

slow = Slow()
codes = np.arange(1 << 16, dtype=np.uint64)
# The first call imports Python modules, which is not under test.
db.probe_many(codes[:100])
started = threading.Semaphore(0)

def forever(call):
    started.release()
    while True:
        call()

for call in (
    lambda: konane.solve("8x8", memory="16MiB"),
    lambda: konane.perft("4x4", 6),
    lambda: db.probe_many(codes),
    lambda: db.probe_many(codes[:100]),
    lambda: sprouts.canonical("0*5"),
    lambda: _konane.ClusterCoordinator.konane("4x4", job_nodes=5, shared_work=1, memory="1MiB").finish(),
):
    threading.Thread(target=forever, args=(call,), daemon=True).start()
    started.acquire()
""",
    "a fork while threads look up": """
codes = np.arange(1000, dtype=np.uint64)
expected = db.probe_many(codes)
is_over = False

def look_up():
    while not is_over:
        db.probe_many(codes)

threads = [threading.Thread(target=look_up) for _ in range(3)]
for thread in threads:
    thread.start()

def child():
    assert (db.probe_many(codes) == expected).all()
    assert db.probe("4x4") and db.board == "4x4"
    assert konane.solve("4x4", db=db, memory="1MiB").database_hits

ends = [in_a_fork(child) for _ in range(20)]
is_over = True
assert ends == [0] * 20, ends
""",
    "a fork of a coordinator, a worker and a build": """
coordinator = _konane.ClusterCoordinator.konane("4x4", job_nodes=100, shared_work=10, memory="1MiB")
worker = _konane.ClusterWorker.konane("4x4", shared_work=10, memory="1MiB", threads=1)
director = _konane.BuildPlan("3x4", folder + "/tasks", 1 << 30).open()
calls = (
    lambda: coordinator.handle_idle(1), lambda: coordinator.handle(b""), coordinator.cancelled, coordinator.status, coordinator.saves,
    coordinator.finish, lambda: worker.search(1, b""), worker.go_on, worker.nodes, worker.close,
    director.pending, director.finish, director.close,
)

def child():
    global director
    for call in calls:
        try:
            call()
        except konane.InputError as error:
            assert f"process {os.getppid()}" in str(error), error
        else:
            raise AssertionError(call)

def child_that_ends():
    global director, calls
    del director, calls

assert in_a_fork(child) == 0
assert in_a_fork(child_that_ends) == 0
# The directory is still locked.
try:
    _konane.BuildPlan("3x4", folder + "/tasks", 1 << 30).open()
except konane.FileError:
    pass
else:
    raise AssertionError
reply = coordinator.handle_idle(1)
assert coordinator.handle(worker.search(1, reply.reply))
worker.close()
coordinator.finish()
""",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack(name, tmp_path):
    if "fork" in name and not hasattr(os, "fork"):
        pytest.skip("the system has no fork")
    command = [sys.executable, "-W", "ignore", "-c", PRELUDE + ATTACKS[name], str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "panicked" not in done.stderr
