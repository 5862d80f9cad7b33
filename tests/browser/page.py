"""Page object: user actions on the page, and its visible state."""

import base64
import time

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

# Requests that are held cannot be aborted, like a response that has already been sent.
HOLD = """
const [part, ask] = [arguments[0], fetch];
window.held = { ...window.held, [part]: [] };
window.fetch = async (address, options) => {
  if (!address.includes(part)) return ask(address, options);
  const answer = await ask(address, { ...options, signal: undefined });
  const body = await answer.text();
  await new Promise((go) => held[part].push(go));
  return new Response(body, answer);
};
"""


class Page:
    def __init__(self, driver, address):
        self.driver = driver
        self.address = address

    def reset(self):
        """Clears the storage, and stores that the tour has been taken."""
        everything = {"origin": self.address.rstrip("/"), "storageTypes": "all"}
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", everything)
        self.driver.get(self.address)
        self.script("localStorage.setItem('konane.tour', 'done')")
        self.driver.get("about:blank")
        self.console()
        self.look()

    def look(self, width=1280, height=900, **features):
        """Sizes the window; `features` are media features, such as prefers_color_scheme="dark"."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})

    def open(self, hash, ready=".verdict .badge, .move"):
        """Loads a position and waits until its verdict or its moves are shown."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#{hash}")
        if ready:
            self.wait(lambda: self.all(ready))

    def wait(self, condition, seconds=20):
        """Waits until a condition holds, and returns its value."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = condition()
            except StaleElementReferenceException:
                value = None
            if value:
                return value
            assert time.monotonic() < end, f"condition not met: {self.hash} {self.text('.said, .error, .panel')}"
            time.sleep(0.02)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        return self.wait(lambda: self.all(css))[0]

    def text(self, css):
        """The visible text of the elements; empty if there are none."""
        find = "return [...document.querySelectorAll(arguments[0])].map(one => one.innerText).join(' ')"
        return self.script(find, css)

    def says(self, css, *words):
        """Waits until the text of an element contains all of these."""
        self.wait(lambda: all(word in self.text(css) for word in words))

    def click(self, css):
        def click():
            self.all(css)[0].click()
            return True

        self.wait(lambda: self.all(css))
        self.wait(click)

    def button(self, name):
        """The visible button or label with this name."""
        find = (
            "return [...document.querySelectorAll('button, label.button')].find(button =>"
            "button.textContent === arguments[0] && button.checkVisibility())"
        )
        return self.wait(lambda: self.script(find, name))

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    @property
    def hash(self):
        return self.script("return location.hash")

    @property
    def played(self):
        """The moves in the address."""
        parts = dict(part.split("=", 1) for part in self.hash[1:].split("&"))
        return [move for move in parts.get("moves", "").split(",") if move]

    def settled(self, plies):
        """Waits for the position after `plies` moves, with all values."""
        self.wait(lambda: len(self.played) == plies)
        self.wait(lambda: self.all(".verdict .badge") or "has won" in self.text(".turn"))

    @property
    def over(self):
        return "has won" in self.text(".turn")

    def finish(self):
        """Plays the first move of the list until the game is over. Returns the moves of the game."""

        def step():
            if not self.over and (moves := self.all(".move")):
                # A click on a move of the position before is ignored.
                moves[0].click()
            return self.over or len(self.played) > plies

        while not self.over:
            plies = len(self.played)
            self.wait(step)
        return self.played

    def square(self, name):
        return self.one(f'[data-square="{name}"]')

    def stones(self):
        """The stones on the board by square; None for an empty square."""
        return self.script(
            "return Object.fromEntries([...document.querySelectorAll('[data-square]')].map(square =>"
            "[square.dataset.square, square.querySelector('.stone:not(.ghost)')?.classList[1] ?? null]))"
        )

    def values(self):
        """The listed moves with their values: \u2713, \u2717 or ?."""
        return self.script(
            "return Object.fromEntries([...document.querySelectorAll('[data-move]')].map(move =>"
            "[move.dataset.move, move.querySelector('.badge [aria-hidden]').textContent]))"
        )

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def walk(self, name):
        """Moves the focus to a square with Shift and the arrow keys. A square must have the focus."""
        focused = lambda: self.script("return document.activeElement.dataset.square")
        while (here := focused()) != name:
            if here[0] != name[0]:
                arrow = Keys.ARROW_RIGHT if here[0] < name[0] else Keys.ARROW_LEFT
            else:
                arrow = Keys.ARROW_UP if int(here[1:]) < int(name[1:]) else Keys.ARROW_DOWN
            self.press(Keys.SHIFT + arrow)

    def hold(self, part):
        """Holds responses to requests whose address contains `part`, until the page is reloaded."""
        self.script(HOLD, part)

    def held(self, part):
        """Number of responses that have arrived and are held."""
        return self.script("return held[arguments[0]].length", part)

    def release(self, part):
        """Releases the responses that are held now."""
        self.script("held[arguments[0]].splice(0).forEach((go) => go())", part)

    def console(self):
        """Console messages since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def picture(self, whole=False):
        """A screenshot as the bytes of a PNG file."""
        options = {"format": "png", "captureBeyondViewport": whole}
        data = self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"]
        return base64.b64decode(data)
