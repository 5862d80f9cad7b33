"""Appearance of the page: small screens, dark colours, accessibility, and screenshots."""

import importlib.util
import io
import pathlib

import pytest

KONANE = ["moves", "why", "search", "openings", "databases"]
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
axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => done(violations.map(one =>
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
        page.wait(lambda: page.all("#panel-why .reply"))
    assert page.script("return document.documentElement.scrollWidth") <= 360
    assert page.script(SMALL) == []
    assert_accessible(page, axe)


def test_accessibility_of_forms_and_results(page, axe):
    page.open("game=konane&board=5x5&play=black&tab=search")
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
    page.look(1200, 814)
    open_view(page, "game=konane&board=6x6&moves=a6,b6,a4-a6,b4-b6,d5-b5,b6-b4")
    page.wait(lambda: len(page.all(".graph .value.unknown")) == 0)
    page.script("document.querySelector('[data-move]').focus({focusVisible: false})")
    save(page.picture(), pictures / "explorer.png")
    page.look(1200, 700, prefers_color_scheme="dark")
    open_view(page, "game=sprouts&pos=0*2.AB|AB%2B0*3")
    save(page.picture(), pictures / "explorer-sprouts.png")
