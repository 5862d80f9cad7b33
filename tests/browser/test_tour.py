"""The tour of the first visit."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Storage that cannot be used, as in some private windows.
NO_STORAGE = """
Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } });
"""


@pytest.fixture
def visitor(page):
    """The page at a first visit."""
    page.open("")
    page.script("localStorage.clear()")
    return page


def test_the_tour_is_offered_once(visitor):
    visitor.open("game=konane&board=4x4")
    visitor.says(".tour", "Two-minute tour")
    visitor.button("No, thanks").click()
    assert not visitor.one(".tour").is_displayed()
    visitor.open("game=konane&board=4x4")
    assert not visitor.one(".tour").is_displayed()
    # The help offers it at any time.
    visitor.click(".keys")
    visitor.button("Take the tour").click()
    visitor.says(".tour", "The board", "1 of")


def steps(page):
    """Takes the tour, and returns the titles and texts of its steps."""
    found = []
    while True:
        title = page.script("return document.querySelector('.tour h2').firstChild.textContent")
        found.append((title, page.text(".tour p")))
        page.wait(lambda: page.all(".toured"))
        assert "board=5x5" in page.hash
        buttons = [button.text for button in page.all(".tour button")]
        if "Done" in buttons:
            page.button("Done").click()
            break
        page.button("Next").click()
    assert not page.one(".tour").is_displayed() and not page.all(".toured")
    return found


def test_the_tour_is_that_of_the_tutorial(visitor):
    visitor.open("game=konane&board=8x8")
    visitor.button("Two-minute tour").click()
    found = steps(visitor)
    tutorial = (ROOT / "docs/tutorial.md").read_text()
    assert [title for title, _ in found] == re.findall(r"^## \d+\. (.*)$", tutorial, re.M)
    plain = " ".join(tutorial.replace("**", "").split())
    for title, text in found:
        assert text in plain, title


def test_the_tour_without_storage(visitor):
    script = visitor.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NO_STORAGE})
    try:
        visitor.open("game=konane&board=4x4")
        visitor.button("Two-minute tour").click()
        steps(visitor)
    finally:
        visitor.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
