"""Appearance of the page: small screens, dark colours, accessibility, and screenshots."""

import importlib.util
import io
import pathlib
import time

import pytest

KONANE = ["moves", "why", "search", "openings", "databases", "puzzles"]
VIEWS = [f"game=konane&board=4x4&moves=a4,a3&tab={tab}" for tab in KONANE]
VIEWS += [f"game=sprouts&pos=0*4&tab={tab}" for tab in ["moves", "search"]]


def open_view(page, view):
    page.open(view)
    for waiting in [".pulse", ".thinking button"]:
        page.wait(lambda: not [one for one in page.all(waiting) if one.is_displayed()])


@pytest.mark.parametrize("board", ["8x8", "1x64", "64x1"])
def test_large_boards_fit_or_scroll(page, board):
    page.look(360, 740)
    page.open(f"game=konane&board={board}")
    assert len(page.all(".square")) == 64
    assert page.script("return document.documentElement.scrollWidth") <= 360
    assert page.one(".square").rect["width"] >= 24


VISIBLE = """
return [".controls", ".verdict", ".slab", ".below", ...arguments].map((part) => {
  const {top, bottom} = document.querySelector(part).getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
});
"""


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080), (360, 740)])
@pytest.mark.parametrize("play", ["", "&play=white&values=on&moves=d5"])
def test_board_controls_and_verdict_are_visible_together(page, size, play):
    page.look(*size)
    page.open(f"game=konane&board=8x8{play}")
    if size[0] > 1000:
        # Also the moves of the game, the buttons, and the list of moves.
        parts = [".line", ".tools", ".move"] if play else [".tools", ".move"]
        assert page.script(VISIBLE, *parts) == [True] * (4 + len(parts))
        # The board takes the height that is left.
        assert page.one(".slab").rect["height"] > size[1] - 330
    assert page.script(VISIBLE) == [True] * 4
    # Also while the tour is offered.
    page.script("localStorage.clear()")
    page.open("game=konane&board=8x8")
    assert page.one(".tour").is_displayed()
    assert page.script(VISIBLE) == [True] * 4


def test_a_long_game_scrolls_within_its_list(page):
    page.look(1280, 800)
    page.open("game=konane&board=8x8")
    # The current move is behind many variations. Their moves need not be legal.
    lines = ";".join(f"a8,x{at}" for at in range(1, 21))
    page.script("location.hash = arguments[0]", f"#game=konane&board=8x8&moves=d5,d4,d7-d5&at=3&also={lines}")
    page.wait(lambda: len(page.all(".branch")) > 15)
    assert page.one(".line > .plies").rect["height"] <= 145
    assert page.script(VISIBLE, ".tools") == [True] * 5
    inside = page.script("const [list, ply] = ['.line > .plies', '.ply[aria-current]'].map((one) => document.querySelector(one)"
                         ".getBoundingClientRect()); return list.top <= ply.top + 1 && ply.bottom <= list.bottom + 1")
    assert inside


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_the_board_stays_where_it_is(page, size):
    page.look(*size)
    place = "return JSON.stringify(document.querySelector('.slab').getBoundingClientRect())"
    page.open("game=konane&board=5x5")
    places = {page.script(place)}
    for view in ["", "&moves=c3", "&moves=c3,c4", "&moves=c3,c4,c1-c3", "&values=off", "&moves=c3,c4&tab=why"]:
        page.script("location.hash = arguments[0]", f"#game=konane&board=5x5{view}")
        places.add(page.script(place))
        page.wait(lambda: "values=off" in page.hash or page.all(".verdict .badge.win, .verdict .badge.loss"))
        places.add(page.script(place))
    page.wait(lambda: page.all("#panel-why .node"))
    page.button("Show step by step").click()
    page.script("scrollTo(0, 0)")
    places.add(page.script(place))
    assert len(places) == 1


# A forwarded port on a slow line: bytes for each second, and milliseconds for each request.
SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
FAST = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
LOADED = """
return performance.getEntriesByType("resource").map(({name, encodedBodySize}) =>
  [name.replace(`${location.origin}/`, ""), encodedBodySize]);
"""


def test_the_first_verdict_over_a_slow_line(page):
    send = page.driver.execute_cdp_cmd
    send("Network.enable", {})
    send("Network.setCacheDisabled", {"cacheDisabled": True})
    send("Network.emulateNetworkConditions", SLOW)
    try:
        begun = time.monotonic()
        page.driver.get(f"{page.address}#game=konane&board=5x5")
        page.wait(lambda: page.all(".verdict .badge"))
        seconds = time.monotonic() - begun
        loaded = dict(page.script(LOADED))
    finally:
        send("Network.emulateNetworkConditions", FAST)
        send("Network.setCacheDisabled", {"cacheDisabled": False})
    # Without compression and preloading it takes 8 s.
    assert seconds < 4
    assert sum(loaded.values()) < 60_000
    assert "js/konane.js" in loaded and not {"js/sprouts.js", "js/why.js", "js/charts.js"} & set(loaded)


def luminance(colour):
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_the_graph(page, scheme):
    page.look(prefers_color_scheme=scheme)
    page.open("game=konane&board=4x4&moves=b3,b4")
    page.wait(lambda: page.all(".graph .value.black") and page.all(".graph .value.white"))
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    ground = luminance(page.script(style, ".graph svg", "background-color"))
    for bar in [".graph .value.black", ".graph .value.white"]:
        pair = sorted([ground, luminance(page.script(style, bar, "fill"))])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 3, bar


def brightness(page):
    colour = page.script("return getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour.strip("rgb()").split(",")) / 3


def test_dark_and_light(page):
    page.open("game=konane&board=4x4")
    assert brightness(page) > 200
    page.look(prefers_color_scheme="dark")
    assert brightness(page) < 60


COUNT = """
window.animations = 0;
const animate = Element.prototype.animate;
Element.prototype.animate = function (...how) {
  window.animations += 1;
  return animate.apply(this, how);
};
"""


def test_reduced_motion_disables_animations(page):
    for motion in ["no-preference", "reduce"]:
        page.look(prefers_reduced_motion=motion)
        page.open("game=konane&board=4x4&moves=a4,a3")
        page.script(COUNT)
        page.click(".move")
        page.settled(3)
        assert (page.script("return animations") == 0) == (motion == "reduce")


@pytest.fixture(scope="session")
def axe():
    """Source of axe-core; None if it is not installed."""
    package = importlib.util.find_spec("axe_playwright_python")
    return package and (pathlib.Path(package.origin).parent / "axe.min.js").read_text()


SMALL = """
return [...document.querySelectorAll("button, select")].filter(one => one.checkVisibility()
  && one.getBoundingClientRect().height < 24).map(one => one.outerHTML);
"""

AXE = """
const done = arguments[arguments.length - 1];
const rules = {"label-content-name-mismatch": {enabled: true}};
axe.run(document, {resultTypes: ["violations"], rules}).then(({violations}) => done(violations.map(one =>
  `${one.id}: ${one.help}: ${one.nodes.map(node => node.target).join(" ")}`)));
"""


def assert_accessible(page, axe):
    """Asserts that axe finds no violations in either colour scheme."""
    if axe is None:
        pytest.skip("axe-playwright-python is not installed")
    page.script(axe)
    for scheme in ["light", "dark"]:
        page.look(prefers_color_scheme=scheme)
        assert page.driver.execute_async_script(AXE) == [], scheme


@pytest.mark.parametrize("view", VIEWS)
def test_views_on_phones_are_accessible(page, axe, view):
    page.look(360, 740)
    open_view(page, view)
    if "why" in view:
        page.click("#panel-why .node")
        page.says(".turn", "Explanation")
    assert page.script("return document.documentElement.scrollWidth") <= 360
    assert page.script(SMALL) == []
    assert_accessible(page, axe)


def test_accessibility_of_the_help_the_tour_and_a_report(page, axe):
    page.look(360, 740)
    page.open("game=konane&board=4x4&moves=b3,b4")
    page.click(".keys")
    assert_accessible(page, axe)
    page.button("Close").click()
    page.button("Judge the game").click()
    page.says(".report", "accuracy")
    page.says(".slip-note", "gives the win away")
    assert_accessible(page, axe)
    page.open("game=konane&board=4x4&play=black&warn=1&moves=b3,b4&also=b3,c3,d3-b3;a4,a3")
    page.wait(lambda: len(page.all(".branch")) == 2)
    assert_accessible(page, axe)
    page.script("localStorage.clear()")
    page.open("game=konane&board=4x4")
    page.button("Two-minute tour").click()
    assert_accessible(page, axe)


def test_accessibility_of_forms_and_results(page, axe):
    page.open("game=konane&board=5x5&play=black&values=on&tab=search")
    page.button("Start").click()
    page.says(".result", "wins")
    page.button("Set up a position").click()
    page.one("#position-text").send_keys("x")
    page.wait(lambda: page.one("#setup-error").is_displayed())
    assert_accessible(page, axe)
    assert all("422" in message for message in page.console())


@pytest.fixture
def pictures(request):
    directory = request.config.getoption("--screenshots")
    if directory is None:
        pytest.skip("pictures are made with --screenshots DIR")
    return pathlib.Path(directory)


def save(picture, path):
    """Writes a picture with 256 colours, since the wood texture makes files large."""
    image = pytest.importorskip("PIL.Image")
    image.open(io.BytesIO(picture)).convert("RGB").quantize(256).save(path, optimize=True)
    assert path.stat().st_size < 150_000


def test_pictures(page, pictures):
    page.look(1100, 740)
    open_view(page, "game=konane&board=6x6&moves=a6,b6,a4-a6,b4-b6,d5-b5,b6-b4")
    page.wait(lambda: len(page.all(".graph .value.unknown")) == 0)
    page.script("document.querySelector('[data-move]').focus({focusVisible: false})")
    save(page.picture(), pictures / "explorer.png")
    page.look(1200, 700, prefers_color_scheme="dark")
    open_view(page, "game=sprouts&pos=0*5")
    for position in ["0*2.AB|0*2.AB", "0*2.A|0.1aAa", None]:
        find = f'[data-key="{position}"]' if position else ".child"
        before = page.hash
        page.click(find)
        page.wait(lambda: page.hash != before and page.all(".verdict .badge") and not page.text(".thinking"))
    page.script("document.querySelectorAll('.child')[4].focus({focusVisible: false})")
    page.wait(lambda: page.all(".preview path"))
    save(page.picture(), pictures / "explorer-sprouts.png")


def test_pictures_of_the_tour(page, pictures, files, start_explorer):
    """The pictures of docs/tutorial.md, in its order."""
    (pictures / "tour").mkdir(exist_ok=True)
    page.address = start_explorer("--db", files / "db").address
    page.reset()

    def picture(name):
        page.wait(lambda: not [one for one in page.all(".pulse") if one.is_displayed()])
        save(page.picture(), pictures / f"tour/{name}.png")

    light, dark = {"prefers_color_scheme": "light"}, {"prefers_color_scheme": "dark"}
    page.look(1100, 700, **light)
    open_view(page, "game=konane&board=5x5")
    picture("01-start")
    open_view(page, "game=konane&board=5x5&moves=c3")
    page.script("document.querySelector('[data-square=c4]').focus({focusVisible: false})")
    picture("02-second-stone")
    open_view(page, "game=konane&board=5x5&moves=c3,c4")
    page.square("c1").click()
    picture("03-jump")
    open_view(page, "game=konane&board=6x6&moves=a6,b6,a4-a6,b4-b6,d5-b5,b6-b4")
    page.wait(lambda: len(page.all(".graph .value.unknown")) == 0)
    page.script("document.querySelector('[data-move]').focus({focusVisible: false})")
    picture("04-who-wins")
    page.look(1100, 700, **dark)
    open_view(page, "game=konane&board=5x5&moves=c3,c4&tab=why")
    page.wait(lambda: page.all("#panel-why .node"))
    picture("05-why")
    page.button("Show step by step").click()
    page.click("[data-key=forward]")
    page.click("[data-key=forward]")
    page.wait(lambda: page.all("#panel-why .node"))
    picture("06-step")
    page.look(1100, 700, **light)
    open_view(page, "game=konane&board=5x5&moves=c3,c4,c1-c3,a4-c4&play=black")
    page.button("Hint").click()
    page.says(".said-by-program", "Hint: ")
    picture("07-hint")
    open_view(page, "game=konane&board=4x4&moves=b3,b4")
    open_view(page, f"game=konane&board=4x4&play=white&moves={','.join(page.finish())}")
    page.says(".report", "accuracy")
    picture("08-report")
    page.look(1000, 760, **dark)
    page.open("game=konane&board=7x7&tab=search")
    page.button("Start").click()
    page.wait(lambda: page.all(".trend.pn") and page.one(".trend.pn").get_attribute("d").count("L") > 30, 60)
    save(page.picture(), pictures / "tour/09-search.png")
    page.button("Stop").click()
    page.look(1100, 700, **light)
    open_view(page, "game=konane&board=4x4&tab=openings")
    picture("10-openings")
    open_view(page, "game=konane&board=3x4&tab=databases")
    picture("11-databases")
    page.look(360, 740, **light)
    open_view(page, "game=konane&board=6x6&moves=a6,b6,a4-a6,b4-b6,d5-b5,b6-b4")
    page.wait(lambda: len(page.all(".graph .value.unknown")) == 0)
    picture("12-phone")
