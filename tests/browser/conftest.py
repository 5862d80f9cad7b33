"""Fixtures for the browser tests: the program, a browser, and a page in it.

Run the tests with pytest. They need the Debian packages chromium and chromium-driver, and selenium. The
accessibility tests also need the copy of axe-core in axe-playwright-python (installed with --no-deps).
The environment variable KONANE is the path of the program; the default is target/debug/konane.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from page import Page

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_addoption(parser):
    parser.addoption(
        "--screenshots", metavar="DIR", help="write the screenshots of the documentation to DIR"
    )


@pytest.fixture(scope="session")
def program():
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    path = pathlib.Path(os.environ.get("KONANE", pathlib.Path(target) / "debug" / "konane"))
    assert path.exists(), f"{path} is missing: cargo build"
    return path


@pytest.fixture(scope="session")
def konane(program):
    """A function that runs the program and returns the JSON object that it prints."""

    def run(*arguments):
        done = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    return run


class Explorer:
    """`konane explore` on a free port."""

    def __init__(self, program, *arguments):
        command = [program, "explore", "--port", "0", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=5)


@pytest.fixture(scope="session")
def files(program, tmp_path_factory):
    """A database of 4x4, one of 3x4 with remoteness, and a proof of 4x5."""
    directory = tmp_path_factory.mktemp("files")
    build = [program, "builddb", "4x4", "--out", directory / "db", "--quiet"]
    subprocess.run(build, check=True, capture_output=True)
    build = [program, "builddb", "3x4", "--metric", "remoteness", "--out", directory / "db", "--quiet"]
    subprocess.run(build, check=True, capture_output=True)
    prove = [program, "solve", "4x5", "--proof", directory / "4x5.proof", "--quiet"]
    subprocess.run(prove, check=True, capture_output=True)
    return directory


@pytest.fixture(scope="session")
def start_explorer(program):
    """A function that starts servers. Those that still run are ended after the session."""
    started = []

    def start(*arguments):
        started.append(Explorer(program, *arguments))
        return started[-1]

    yield start
    for explorer in started:
        if explorer.process.poll() is None:
            explorer.stop()


@pytest.fixture(scope="session")
def explorer(start_explorer, files):
    return start_explorer("--db", files / "db", "--proof", files / "4x5.proof")


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    browser, service = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not service:
        pytest.skip("chromium and chromium-driver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--hide-scrollbars",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(service))
    # Without a screen the window may not have the focus, and elements would receive no focus events.
    driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    yield driver
    driver.quit()


@pytest.fixture
def page(driver, explorer):
    """A page of the default size, in light colours, with empty storage. Console messages that the test has
    not read are errors."""
    page = Page(driver, explorer.address)
    page.reset()
    yield page
    driver.get("about:blank")
    assert page.console() == []
