"""Arguments of wrong types and values: the message names the argument, the value and what is expected."""

import math

import konane
import numpy as np
import pytest
from konane import Database, Position, _konane, sprouts

HUGE = "x" * 1000


class Raises:
    """Raises ZeroDivisionError on every conversion."""

    def __float__(self, *_):
        raise ZeroDivisionError

    __index__ = __fspath__ = __repr__ = __iter__ = __array__ = __float__


TYPES = [
    (lambda: konane.solve("3x3", db=3), "db: expected a konane.Database, or the path of a directory"),
    (lambda: konane.solve("3x3", time_limit=["1s"]), "time_limit: expected a number of seconds"),
    (lambda: konane.solve("3x3", interval=[1]), "interval: expected a number of seconds"),
    (lambda: konane.solve("3x3", threads="a"), "threads: expected a whole number, got 'a' (str)"),
    (lambda: konane.solve("3x3", max_nodes=1.5), "max_nodes: expected a whole number, got 1.5 (float)"),
    (lambda: konane.solve("3x3", memory=1.5), "memory: expected a number of bytes, or a text such as"),
    (lambda: konane.solve("3x3", algo=3), "algo: expected a text (str), got 3 (int)"),
    (lambda: konane.solve("3x3", profile=None), "profile: expected a text (str), got None (NoneType)"),
    (lambda: konane.solve("3x3", progress=5), "progress: expected a function of one argument, got 5"),
    (lambda: konane.solve(36), "board: expected a board such as '6x6', or a konane.Position, got 36"),
    (lambda: Position(3), "board: expected a text (str), got 3 (int)"),
    (lambda: Position("3x3", 3), "text: expected a text (str), got 3 (int)"),
    (lambda: Position("3x3", "3/3/3 b", 3), "phase: expected a text (str), got 3 (int)"),
    (lambda: Position("3x3", moves=3), "moves: expected a text such as 'a6 a5', or a list of such"),
    (lambda: Position("3x3", moves=["a3", 3]), "moves: expected a text such as 'a6 a5', or a list"),
    (lambda: Position("3x3").play(3), "move: expected a text (str), got 3 (int)"),
    (lambda: Position.from_code("3x3", "a"), "code: expected a whole number, got 'a' (str)"),
    (lambda: Database.open(3), "directory: expected a path (str or os.PathLike), got 3 (int)"),
    (lambda: Database.open(".", cache=[HUGE]), "cache: expected a number of bytes, or a text"),
    (lambda: konane.prove("3x3", 3), "path: expected a path (str or os.PathLike), got 3 (int)"),
    (lambda: konane.perft("3x3", "a"), "depth: expected a whole number, got 'a' (str)"),
    (lambda: konane.perft("3x3", 2, unique=3), "unique: expected True or False, got 3 (int)"),
    (lambda: konane.build_database("3x3", scope=3), "scope: expected a text (str), got 3 (int)"),
    (lambda: konane.build_database("3x3", max_stones="a"), "max_stones: expected a whole number"),
    (lambda: sprouts.solve(3), "text: expected a text (str), got 3 (int)"),
    (lambda: sprouts.solve("0*3", nimber="a"), "nimber: expected a whole number, got 'a' (str)"),
    (lambda: _konane.BuildPlan("3x3", 3, 1), "out: expected a path"),
    (lambda: _konane.ClusterCoordinator.sprouts("0*2", job_nodes="a", memory=1 << 24), "job_nodes: expected"),
]

VALUES = [
    (lambda: konane.solve("3x3", time_limit=1e300), "text such as '1m30s', got 1e+300"),
    (lambda: konane.solve("3x3", time_limit=-1), "text such as '1m30s', got -1"),
    (lambda: konane.solve("3x3", time_limit=math.nan), "text such as '1m30s', got nan"),
    (lambda: konane.solve("3x3", time_limit=math.inf), "text such as '1m30s', got inf"),
    (lambda: konane.solve("3x3", time_limit=10**400), "time_limit: expected a number of seconds"),
    (lambda: konane.solve("3x3", interval=1e300), "interval: expected a number of seconds"),
    (lambda: konane.solve("3x3", threads=0), "threads: expected a whole number from 1 to 1024, got 0"),
    (lambda: konane.solve("3x3", threads=-(10**5000)), "threads: expected a whole number from 1"),
    (lambda: konane.solve("3x3", max_nodes=-1), "max_nodes: expected a whole number from 1 to 2**64 - 1"),
    (lambda: konane.solve("3x3", memory=HUGE), "memory: 'xxxx"),
    (lambda: konane.solve("3x3", profile=HUGE), "profile: expected 'tuned' or 'thesis', got \"xxx"),
    (lambda: konane.solve("3x3", algo="\ud800"), "algo: expected a text that UTF-8 can encode"),
    (lambda: konane.solve("3x3", time_limit="1 hour"), "time_limit: '1 hour' is not a time: "),
    (lambda: konane.solve("3x3", interval="-1s"), "interval: '-1s' is not a time: "),
    (lambda: konane.solve("6 x 6"), '"6 x 6" is not a board size: write ranks x files without spaces'),
    (lambda: konane.solve("3/3 b"), "'3/3 b' is a position without its board"),
    (lambda: Position("3x3", "3/3/3 b", HUGE), "phase: expected 'auto' or 'jump', got \"xxx"),
    (lambda: Position("3x3", phase="jump"), "phase: 'jump' needs the argument text"),
    (lambda: Position("3x3", moves=["a3"] * 5000), "moves: more than 1024 texts"),
    (lambda: Position.from_code("3x3", 1 << 70), "code: expected a whole number from 0 to 2**64 - 1"),
    (lambda: Database.open(".", cache=0), "cache: expected a whole number from 1"),
    (lambda: konane.build_database("3x3", metric=HUGE), "metric: expected 'outcome' or 'remoteness'"),
    (lambda: sprouts.solve("0*3", nimber=1001), "nimber: expected a whole number from 0 to 1000"),
    (lambda: _konane.run_task("x", ".", threads=-1), "threads: expected a whole number from 1 to 1024"),
]


@pytest.mark.parametrize(("call", "text"), TYPES)
def test_wrong_types(call, text):
    with pytest.raises(TypeError) as caught:
        call()
    assert text in str(caught.value)
    assert len(str(caught.value)) < 200 and "extract" not in str(caught.value)


@pytest.mark.parametrize(("call", "text"), VALUES)
def test_wrong_values(call, text):
    with pytest.raises(konane.InputError) as caught:
        call()
    assert text in str(caught.value)
    assert len(str(caught.value)) < 250


def test_exceptions_of_an_argument_are_passed_on():
    for call in (
        lambda: konane.solve("3x3", time_limit=Raises()),
        lambda: konane.solve("3x3", max_nodes=Raises()),
        lambda: konane.solve("3x3", db=Raises()),
        lambda: konane.perft("3x3", Raises()),
        lambda: Position("3x3", moves=Raises()),
        lambda: Database.open(Raises()),
    ):
        with pytest.raises(ZeroDivisionError):
            call()
    with pytest.raises(TypeError, match="algo: expected a text"):
        konane.solve("3x3", algo=Raises())


def test_extreme_times():
    # A time limit of 0 allows no search, and one beyond the range of the clock never applies.
    assert konane.solve("8x8", time_limit=0, memory="16MiB").reason == "time limit"
    assert konane.solve("3x3", time_limit=1e15).winner == "white"
    assert konane.solve("3x3", time_limit="1m30s").winner == "white"
    assert konane.solve("8x8", time_limit="100ms", memory="16MiB").reason == "time limit"
    assert konane.solve("3x3", interval=0, progress=lambda _: None).winner == "white"
    assert sprouts.solve("0*40", time_limit=0).reason == "time limit"


def codes_of(db, codes):
    return db.probe_many(codes).tolist()


@pytest.fixture
def db(databases):
    return Database.find(databases, "3x3")


def test_accepted_codes(db):
    plain = np.arange(24, dtype=np.uint64)
    expected = db.probe_many(plain)
    assert {-1, 0, 1} >= set(expected.tolist()) and len(set(expected.tolist())) > 1
    for dtype in ("u1", "i1", "<u2", ">u2", "i4", ">i4", "<i8", ">i8", ">u8", "f4", ">f4", "f8", object):
        found = db.probe_many(plain.astype(dtype))
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.int8
    for shape in ((4, 6), (2, 3, 4), (24, 1)):
        for order in "CF":
            found = db.probe_many(np.asarray(plain.reshape(shape), order=order))
            np.testing.assert_array_equal(found, expected.reshape(shape))
    np.testing.assert_array_equal(db.probe_many(plain.reshape(4, 6)[::-2, 1:].T),
                                  expected.reshape(4, 6)[::-2, 1:].T)
    np.testing.assert_array_equal(db.probe_many(plain.tolist()), expected)
    np.testing.assert_array_equal(db.probe_many(list(plain)), expected)
    np.testing.assert_array_equal(db.probe_many(plain.reshape(4, 6).tolist()), expected.reshape(4, 6))
    assert db.probe_many([3.0, 5]).tolist() == expected[[3, 5]].tolist()
    assert db.probe_many(7).shape == () and db.probe_many(7) == expected[7]
    assert db.probe_many([]).shape == (0,)
    assert db.probe_many(np.zeros((0, 3), dtype=np.uint64)).shape == (0, 3)


def test_large_integers_in_lists_keep_all_digits(tmp_path):
    konane.build_database("8x8", tmp_path, max_stones=1, threads=1)
    db = Database.find(tmp_path, "8x8")
    positions = [Position("8x8", "8/8/8/8/8/8/8/o7 b"), Position("8x8", "8/8/8/8/8/8/8/7x b")]
    codes = [1 << 63, (1 << 63) + 1, *[position.code for position in positions], 5]
    expected = db.probe_many(np.array(codes, dtype=np.uint64)).tolist()
    assert codes_of(db, codes) == expected and 0 in expected
    with pytest.raises(konane.InputError, match=r"codes: .*2\*\*53, got 9.*e18 as item 0"):
        db.probe_many(np.array([float(1 << 63)]))


def test_rejected_codes(db):
    for codes, text in [
        ([3, -1], "-1 as item 1"),
        (np.array([3, -1], dtype=">i2"), "-1 as item 1"),
        ([1 << 64], "18446744073709551616 as item 0"),
        ([[1, 2], [2.5, 3]], "2.5 as item 2"),
        (np.array([0.5], dtype=np.float32), "0.5 as item 0"),
        (np.array([math.nan]), "NaN as item 0"),
        (np.array([-1.0]), "-1.0 as item 0"),
    ]:
        with pytest.raises(konane.InputError) as caught:
            db.probe_many(codes)
        assert str(caught.value).startswith("codes: expected") and text in str(caught.value)
    masked = np.ma.masked_array(np.zeros(3, dtype=np.uint64), mask=[0, 1, 0])
    with pytest.raises(TypeError, match=r"masked array .* codes.compressed\(\)"):
        db.probe_many(masked)
    for codes in (None, "12", ["1"], [True], np.array([True]), np.array(["1"]), np.array([1j]), {1},
                  [[1], [2, 3]], iter([1]), np.array([1], dtype="m8[s]"), np.array([1], "f2"), b"12"):
        with pytest.raises(TypeError, match="codes: expected a numpy array of whole numbers"):
            db.probe_many(codes)
    with pytest.raises(ZeroDivisionError):
        db.probe_many([Raises()])
