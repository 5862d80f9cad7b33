"""Konane: games by mouse and keyboard, links, position setup, the program as opponent, and records."""

import re
import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

START = "xoxo/oxox/xoxo/oxox b"
SHOWN = ".verdict .badge, .move .badge, .square .badge"
# Longer than the delay of the program's moves, in seconds.
PAUSE = 0.5


def probe(konane, files, *arguments):
    answer = konane("probe", "4x4", "--db", str(files / "db"), "--json", *arguments)
    sign = {"win": "\u2713", "loss": "\u2717"}
    return {judged["move"]: sign[judged["outcome"]] for judged in answer["moves"]}


def test_a_whole_game_by_mouse(page, konane, files):
    page.open("game=konane&board=4x4")
    plies = 0
    while not page.over:
        page.wait(lambda: page.all(".movable"))
        assert page.values() == probe(konane, files, "--moves", " ".join(page.played))
        page.click(".movable")
        if plies >= 2:
            page.click(".target")
        plies += 1
        page.settled(plies)
    assert plies >= 3
    assert "No legal moves" in page.text("#panel-moves")
    assert len(page.all(".plies .ply")) == plies + 1
    assert probe(konane, files, "--moves", " ".join(page.played)) == {}


def test_a_whole_game_by_keyboard(page):
    page.open("game=konane&board=4x4")
    page.script("document.querySelector('.square[tabindex=\"0\"]').focus()")
    for ply in range(1, 17):
        target = page.one(".movable").get_attribute("data-square")
        page.walk(target)
        label = page.driver.switch_to.active_element.get_attribute("aria-label")
        assert target in label and " stone, can " in label
        page.press(Keys.ENTER)
        if ply > 2:
            landing = page.one(".target")
            assert "land here from" in landing.get_attribute("aria-label")
            page.walk(landing.get_attribute("data-square"))
            page.press(Keys.ENTER)
        page.settled(ply)
        page.wait(lambda: "played" in page.script("return document.getElementById('live').textContent"))
        if page.over:
            return
    raise AssertionError("a stone is taken in each ply, so the game is over by now")


def test_a_jump_with_several_landings(page):
    page.open("game=konane&board=1x6&pos=xo1o2_b")
    assert set(page.values()) == {"a1-c1", "a1-e1"}
    page.square("a1").click()
    assert len(page.all(".target")) == 2
    page.square("e1").click()
    page.settled(1)
    assert page.played == ["a1-e1"]
    assert page.over


def test_previewing_a_move_draws_it(page):
    page.open("game=konane&board=4x4&moves=a4,a3")
    assert page.all(".arrows .win, .arrows .loss") == []
    page.script("document.querySelector('[data-move]').focus()")
    page.wait(lambda: page.all(".arrows g.loss"))
    # The board is redrawn with the same response.
    page.script("dispatchEvent(new PopStateEvent('popstate'))")
    assert page.all(".arrows g.loss")
    page.press(Keys.TAB)
    page.wait(lambda: not page.all(".arrows g.loss"))


def test_links_and_the_back_button(page):
    page.open("game=konane&board=4x4&moves=a4,a3,c4-a4&at=2")
    assert page.stones()["a3"] is None and page.stones()["c4"] == "black"
    page.button("\u2192").click()
    page.wait(lambda: page.stones()["c4"] is None)
    assert page.stones()["a4"] == "black"
    page.driver.back()
    page.wait(lambda: page.stones()["c4"] == "black")
    page.driver.forward()
    page.wait(lambda: page.stones()["c4"] is None)
    page.button("\u21e4").click()
    page.wait(lambda: None not in page.stones().values())
    assert len(page.played) == 3
    page.wait(lambda: "at=0" in page.hash)


def test_the_graph_of_values(page):
    # White replies with the move that loses the win.
    page.open("game=konane&board=4x4&moves=b3,b4")
    page.wait(lambda: page.all(".plies .slip"))
    assert "gives the win away" in page.one(".plies .slip button").get_attribute("textContent")
    label = page.one(".graph svg").get_attribute("aria-label")
    assert "from move 0 white wins" in label and "from move 2 black wins" in label
    page.one("#values").click()
    page.wait(lambda: not page.all(".graph, .plies .slip"))
    assert len(page.all(".plies .ply")) == 3


def test_the_outcome_class_from_a_database(page, konane, files):
    position = "xoxo/ox1x/xo1o b"
    answer = konane("probe", "3x4", "--position", position, "--db", str(files / "db"), "--json")
    assert answer["class"] in "LRNP"
    page.open(f"game=konane&board=3x4&pos={position.replace(' ', '_')}")
    page.says(".verdict", f"Class {answer['class']}: ")
    page.one("#values").click()
    page.wait(lambda: "Class" not in page.text(".verdict"))


def test_plies_to_the_end_and_best_play(page, konane, files):
    page.open("game=konane&board=3x4")
    start = ["--position", "xoxo/oxox/xoxo b"]
    answer = konane("probe", "3x4", *start, "--db", str(files / "db"), "--json")
    page.says(".verdict", f"in {answer['remoteness']} plies")
    expected = {f"{judged['move']}: {judged['remoteness']}" for judged in answer["moves"]}
    assert any(text.endswith(f": {answer['remoteness']}") for text in expected)
    rows = {row.get_attribute("data-move"): row.text for row in page.all(".move")}
    assert expected == {f"{move}: {re.search('in ([0-9]+) pl', text)[1]}" for move, text in rows.items()}
    page.says(".best-line", "Best play: ")
    page.click(".best-line a")
    page.wait(lambda: len(page.played) == answer["remoteness"])
    page.wait(lambda: [ply.is_displayed() for ply in page.all(".ply")] == [True] * (len(page.played) + 1))
    page.button("\u21e5").click()
    page.wait(lambda: page.over)
    assert f"move {answer['remoteness']} " in page.driver.title


def test_plies_to_the_end_without_a_database(page, konane, start_explorer):
    page.address = start_explorer().address
    page.open("game=konane&board=4x4&moves=a4")
    page.says(".legend", "Values found by search")
    answer = konane("solve", "4x4", "--moves", "a4", "--lines", "--json")
    expected = {judged["move"]: judged["remoteness"] for judged in answer["moves"]}
    rows = {row.get_attribute("data-move"): row.text for row in page.all(".move")}
    assert expected == {move: int(re.search("in ([0-9]+) pl", text)[1]) for move, text in rows.items()}


def test_late_responses_are_dropped(page):
    page.open("game=konane&board=4x4")
    for board in ["8x8", "7x7", "8x7", "3x3"]:
        page.script("location.hash = arguments[0]", f"#game=konane&board={board}")
    page.wait(lambda: len(page.stones()) == 9)
    page.says(".verdict", "loses")
    page.wait(lambda: len(page.values()) == 5)
    assert "3x3" in page.driver.title


def test_undecided_moves_are_not_shown_as_lost(page):
    page.open("game=konane&board=8x8")
    page.wait(page.values)
    assert set(page.values().values()) == {"?"}
    page.says(".verdict", "Not decided yet")
    assert "Losing" not in page.text("#panel-moves")
    page.button("Pause").click()
    page.says(".thinking", "Search paused")


def test_an_invalid_link_shows_an_error(page):
    page.open("game=konane&board=4x4&moves=a4,d1", ready=".error:not([hidden])")
    assert "Move 2" in page.text(".stage .error")
    page.open("game=konane&board=9x9", ready=".error:not([hidden])")
    assert "up to 64 squares" in page.text(".stage .error")
    page.open("game=konane&board=4x4")
    page.script("location.hash = '#game=konane&board=9x9'")
    page.says(".stage .error", "up to 64 squares")
    page.wait(lambda: not page.values())
    # The response 422 to the first link.
    assert len(page.console()) == 1


def test_position_setup(page):
    page.open("game=konane&board=4x4")
    page.button("Set up a position").click()
    assert page.one("#position-text").get_property("value") == START
    for square in ["a4", "b4", "c4"]:
        page.square(square).click()
    text = page.one("#position-text")
    assert text.get_property("value") == "3o/oxox/xoxo/oxox b"
    # Nothing is said about the position of the game.
    assert page.text(".turn") == "Set up a position" and not page.all(".said .badge, .square .badge, .move")
    text.clear()
    text.send_keys("ooxo/oxox/xoxo/oxox b")
    page.says("#setup-error", "a4")
    page.button("Use this position").click()
    assert "pos=" not in page.hash
    text.clear()
    text.send_keys("xo2/4/4/4 b")
    page.wait(lambda: not page.one("#setup-error").is_displayed())
    page.wait(lambda: page.stones()["c4"] is None)
    page.one("input[value=white]").click()
    assert text.get_property("value") == "xo2/4/4/4 w"
    page.one("input[value=black]").click()
    page.wait(lambda: page.one(".setup .primary").get_attribute("aria-disabled") is None)
    page.button("Use this position").click()
    page.wait(lambda: "pos=xo2/4/4/4_b" in page.hash)
    page.says(".verdict", "Black wins")
    assert page.values() == {"a4-c4": "\u2713"}
    # Invalid positions get status 422.
    assert all("422" in message for message in page.console())


def test_playing_against_the_program(page):
    page.open("game=konane&board=4x4&play=black")
    for _ in range(16):
        page.wait(lambda: page.over or "Black" in page.text(".turn") and page.all(".move"))
        if page.over:
            break
        before = len(page.played)
        page.click(".move")
        page.wait(lambda: len(page.played) > before)
    # Black loses on 4x4, and the program keeps the win.
    assert page.text(".turn") == "White has won"
    assert page.all(".turn .dot.white")
    page.says(".said-by-program", "The program has won")
    page.says(".report", "The program won. You never had a won position.", "No move gave a won game away")


def test_values_are_hidden_in_a_game_until_they_are_requested(page):
    page.open("game=konane&board=4x4&play=white&moves=b3")
    assert not page.all(SHOWN) and not page.all(".graph")
    assert page.text(".turn") == "White to move: your turn"
    page.button("Hint").click()
    page.says(".said-by-program", "Hint: ", "It wins")
    hint = page.text(".said-by-program").split()[1].rstrip(".")
    assert page.all(".arrows .plain")
    page.click("#tab-why")
    page.says("#panel-why", "Values are hidden")
    page.click("#values")
    page.wait(lambda: page.all(".verdict .badge.win") and page.all("#panel-why .node"))
    assert "values=on" in page.hash
    page.click("#values")
    page.wait(lambda: not page.all(SHOWN))
    page.square(hint).click()
    page.wait(lambda: len(page.played) > 2)
    page.says(".said-by-program", "The program plays")
    assert "wins" not in page.text(".said-by-program") and "loses" not in page.text(".said-by-program")


def test_the_report_names_the_moves_that_gave_the_game_away(page, konane, tmp_path):
    # White's first reply gives the win away; then Black keeps it.
    page.open("game=konane&board=4x4&moves=b3,b4&tab=moves")
    moves = page.finish()
    game = tmp_path / "game.txt"
    game.write_text("Board: 4x4\n\n" + " ".join(moves) + "\n")
    mistakes = [judged for judged in konane("annotate", str(game), "--json")["moves"] if judged["mark"] == "?"]
    page.button("Judge the game").click()
    page.says(".report", "White had a won position at 1 move and kept it at 0: accuracy 0")
    assert len(page.all(".report .move")) == len(mistakes) == 1
    page.says(".report .move", "1... b4", "White. ", mistakes[0]["better"][0])
    page.click(".report .move")
    page.wait(lambda: "at=1" in page.hash)
    assert page.stones()["b4"] == "white"
    # The same game against the program: the report comes at its end.
    page.open(f"game=konane&board=4x4&play=white&moves={','.join(moves)}")
    page.says(".report", "The program won. You had a won position at 1 move", "You. ")
    page.click(".report .move")
    page.wait(lambda: "values=on" in page.hash and "at=1" in page.hash)
    # One click from the report to the explanation of the mistake.
    page.open(f"game=konane&board=4x4&play=white&moves={','.join(moves)}")
    page.button("Why?").click()
    page.says("#panel-why", "White loses with b4: Black then has an answer to everything.", "White plays b4.")
    assert page.one("#why-move").get_property("value") == "b4" and "at=1" in page.hash


def test_a_mistake_is_named_when_it_is_made(page):
    page.open("game=konane&board=4x4&moves=b3")
    page.wait(lambda: len(page.values()) == 4)
    page.square("b4").click()
    page.says(".slip-note", "b4 gives the win away. Winning: ")
    page.button("Why?").click()
    page.says("#panel-why", "White loses with b4")
    # The game has not changed.
    assert page.played == ["b3", "b4"] and "at=1" in page.hash
    page.open("game=konane&board=4x4&moves=b3,b4")
    page.says(".slip-note", "b4 gives the win away")
    page.one(".slip-note").find_element("css selector", "button:last-child").click()
    page.wait(lambda: page.played == ["b3"])
    page.wait(lambda: not page.text(".slip-note"))


def test_the_program_warns_and_waits(page):
    page.open("game=konane&board=4x4&play=white&moves=b3")
    page.click("#warn")
    page.wait(lambda: "warn=1" in page.hash)
    page.square("b4").click()
    page.says(".slip-note", "b4 gives the win away.")
    # Values stay hidden.
    assert "Winning" not in page.text(".slip-note")
    time.sleep(3 * PAUSE)
    assert page.played == ["b3", "b4"]
    page.one("[aria-label='Take back b4']").click()
    page.wait(lambda: page.played == ["b3"])
    page.square("b4").click()
    page.button("Play on").click()
    page.wait(lambda: len(page.played) == 3)
    page.says(".said-by-program", "The program plays")
    page.one(".against button:last-child").click()
    page.wait(lambda: page.played == ["b3"])
    # Without the switch the program answers at once.
    page.click("#warn")
    page.square("b4").click()
    page.wait(lambda: len(page.played) == 3)


def test_stones_are_dragged(page):
    page.open("game=konane&board=1x6&pos=xo1o2_b")
    drag = lambda to: ActionChains(page.driver).click_and_hold(page.square("a1")).move_to_element(page.square(to)).release().perform()
    # Back to its square, since no move ends there; the stone is not chosen then.
    drag("f1")
    assert page.played == [] and page.stones()["a1"] == "black" and not page.all(".selected, .dragged")
    held = ActionChains(page.driver).click_and_hold(page.square("a1")).move_to_element(page.square("c1"))
    held.perform()
    assert len(page.all(".target")) == 2 and page.all(".dragged")
    # It follows the pointer when the board is drawn again.
    page.script("dispatchEvent(new PopStateEvent('popstate'))")
    stone, square = page.one(".dragged").rect, page.square("c1").rect
    assert abs(stone["x"] + stone["width"] / 2 - square["x"] - square["width"] / 2) < 3
    ActionChains(page.driver).release().perform()
    page.wait(lambda: page.played == ["a1-c1"])
    # The other player's stones stay where they are.
    page.open("game=konane&board=1x6&pos=xo1o2_b")
    ActionChains(page.driver).drag_and_drop(page.square("d1"), page.square("c1")).perform()
    assert page.played == [] and not page.all(".selected")


def test_stones_are_dragged_with_a_finger(page):
    page.look(360, 740)
    page.open("game=konane&board=1x6&pos=xo1o2_b")
    centre = lambda name: page.script(
        "const {x, y, width} = arguments[0].getBoundingClientRect(); return {x: x + width / 2, y: y + width / 2}", page.square(name))
    touch = lambda kind, *points: page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})
    touch("touchStart", centre("a1"))
    for name in "bcde":
        touch("touchMove", centre(f"{name}1"))
    touch("touchEnd")
    page.wait(lambda: page.played == ["a1-e1"])


def test_stones_that_can_move_are_marked_without_values(page):
    shadow = lambda name: page.script("return getComputedStyle(arguments[0]).boxShadow", page.square(name).find_element("css selector", ".stone"))
    page.open("game=konane&board=4x4&moves=a4,a3&values=off")
    movable = [one.get_attribute("data-square") for one in page.all(".movable")]
    assert {move.split("-")[0] for move in page.script("return [...document.querySelectorAll('[data-move]')].map(one => one.dataset.move)")} == set(movable)
    assert all(shadow(name) != shadow("b3") for name in movable)
    page.open("game=konane&board=4x4&moves=a4,a3")
    assert all(shadow(name) == shadow("b3") for name in movable)


def test_other_lines_of_a_game(page, konane, tmp_path):
    page.open("game=konane&board=4x4&moves=a4,a3,c4-a4&at=1")
    page.square("b4").click()
    page.settled(2)
    # The game so far remains, as a variation of the new line.
    assert page.text(".line > .plies").split() == ["start", "1.", "a4", "b4", "1...", "a3", "2.", "c4-a4"]
    assert page.text(".branch").split() == ["1...", "a3", "2.", "c4-a4"]
    page.all(".branch .ply")[1].click()
    page.wait(lambda: page.played == ["a4", "a3", "c4-a4"])
    assert page.text(".branch").split() == ["1...", "b4"]
    assert page.one(".ply[aria-current]").text.startswith("c4-a4")
    # A variation of a variation, in a link and in a record.
    page.open("game=konane&board=4x4&moves=a4,a3,c4-a4&also=a4,b4,a2-a4;a4,b4,c4-a4;a4,a3;d1")
    assert page.text(".branch .branch").split() == ["2.", "c4-a4"]
    assert len(page.all(".branch")) == 3
    download = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", download)
    page.button("Save game").click()
    saved = tmp_path / "konane-4x4.txt"
    page.wait(lambda: saved.exists() and saved.read_text())
    text = "Board: 4x4\n\n1. a4 (1. d1) 1... a3 (1... b4 2. a2-a4 (2. c4-a4)) 2. c4-a4\n"
    assert saved.read_text() == text
    assert [judged["move"] for judged in konane("annotate", str(saved), "--json")["moves"]] == ["a4", "a3", "c4-a4"]
    lines = page.hash
    page.open("game=konane&board=4x4")
    page.one("#record-file").send_keys(str(saved))
    page.wait(lambda: "also=" in page.hash)
    parts = lambda hash: {part for part in hash[1:].replace("also=", "").replace("&", ";").split(";")} - {"a4,a3"}
    assert parts(page.hash) == parts(lines)
    # A new game begins without them.
    page.button("New game").click()
    page.wait(lambda: "also=" not in page.hash)


def test_a_game_is_begun_with_the_side_that_can_win(page):
    # Black wins on 5x5, where the page begins; White wins on 4x4.
    page.open("")
    assert page.text("#board option:checked").startswith("5x5")
    page.wait(lambda: page.all(".square .badge.win"))
    assert not page.all(".square .badge.loss")
    page.button("Play").click()
    page.wait(lambda: "play=black" in page.hash)
    assert "level=3" in page.hash and not page.one("#play").is_displayed()
    page.open("game=konane&board=4x4&moves=a4,a3")
    page.button("Play").click()
    page.wait(lambda: "play=white" in page.hash and len(page.played) == 1)


def test_keys(page):
    page.open("game=konane&board=4x4&moves=a4,a3")
    body = page.one("body")
    body.send_keys(Keys.ARROW_LEFT)
    page.wait(lambda: "at=1" in page.hash)
    # Shift and an arrow lead to the board.
    body.send_keys(Keys.SHIFT + Keys.ARROW_RIGHT)
    assert page.script("return document.activeElement.dataset.square") == "a4"
    # Also when a square has the focus: Shift and the arrows move between squares.
    page.script("document.querySelector('.square[tabindex=\"0\"]').focus()")
    square = page.script("return document.activeElement.dataset.square")
    page.press(Keys.ARROW_LEFT)
    page.wait(lambda: "at=0" in page.hash)
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.wait(lambda: "at=" not in page.hash)
    assert page.script("return document.activeElement.dataset.square") == square
    assert [one.text for one in page.all(".west span")] == ["4", "3", "2", "1"]
    page.press("f")
    page.wait(lambda: "flip=1" in page.hash)
    for edge, names in [(".west", "1234"), (".east", "1234"), (".north", "dcba"), (".south", "dcba")]:
        assert [one.text for one in page.all(f"{edge} span")] == list(names)
    assert page.square("d1").location["y"] < page.square("d4").location["y"]
    page.script("document.querySelector('[data-square=d1]').focus()")
    page.press(Keys.SHIFT + Keys.ARROW_DOWN)
    assert page.script("return document.activeElement.dataset.square") == "d2"
    page.press("?")
    page.wait(lambda: page.one(".help-overlay").is_displayed())
    assert "new game" in page.text(".help-overlay")
    # No shortcuts while the overlay is open.
    page.press("n", Keys.ESCAPE)
    page.wait(lambda: not page.one(".help-overlay").is_displayed())
    assert page.played == ["a4", "a3"]
    # Nor in a text field.
    page.button("Set up a position").click()
    page.one("#position-text").send_keys("fn?", Keys.ARROW_LEFT)
    assert page.played == ["a4", "a3"] and "flip=1" in page.hash
    page.button("Cancel").click()
    page.press("n")
    page.wait(lambda: page.played == [])
    assert all("422" in message for message in page.console())


def test_moves_are_numbered_as_in_records(page):
    page.open("game=konane&board=4x4&moves=a4,a3,c4-a4")
    assert page.text(".plies").split() == ["start", "1.", "a4", "a3", "2.", "c4-a4"]
    page.open("game=konane&board=4x4&pos=1oxo/oxox/xoxo/oxox_w&moves=a3,c4-a4")
    assert page.text(".plies").split() == ["start", "1...", "a3", "2.", "c4-a4"]


def test_the_value_as_a_game(page, konane):
    position = "x1xo/ox2/xo2/ox2 w"
    page.open(f"game=konane&board=4x4&pos={position.replace(' ', '_')}")
    page.says(".game-value", "Value")
    found = konane("value", "4x4", "--position", position, "--json")
    assert page.text(".game-value") == f"Value {found['value']}: mean {found['mean']}, temperature {found['temperature']}."
    # It is hidden with the other values, and there is none before the jumping phase.
    page.one("#values").click()
    page.wait(lambda: not page.all(".game-value"))
    page.open("game=konane&board=4x4&moves=a4")
    page.settled(1)
    assert not page.all(".game-value")


def test_moves_are_ranked(page):
    # The quickest wins come first, and of these the ones that leave fewer replies.
    page.open("game=konane&board=5x5&moves=c3,c4,c1-c3,a4-c4")
    page.wait(lambda: page.all(".rank"))
    rows = [(row.find_element("css selector", ".badge").text,
             [int(number) for number in re.search("in ([0-9]+) pl.*, ([0-9]+) repl", row.text).groups()])
            for row in page.all(".move")]
    won = [numbers for sign, numbers in rows if sign[0] == "\u2713"]
    assert won == sorted(won) and rows[: len(won)] == [row for row in rows if row[0][0] == "\u2713"]
    assert "best" in page.all(".move")[0].text or not won
    # The source is named once, and on a row only where it differs.
    page.says(".legend", "Values found by search")
    assert not page.all(".move .source")
    # The program plays the first move of the list.
    page.open("game=konane&board=3x4")
    first = page.all("[data-move]")[0].get_attribute("data-move")
    assert page.script("return fetch('api/v1/konane/play?board=3x4').then((answer) => answer.json())")["move"] == first


def test_a_move_of_the_program_stays_in_its_game(page):
    page.open("game=konane&board=3x4&play=black&values=on")
    page.hold("konane/play")
    page.click(".move")
    page.wait(lambda: page.held("konane/play"))
    # The same position in a game that has continued.
    page.says(".best-line", "Best play: ")
    page.click(".best-line a")
    page.wait(lambda: len(page.played) > 1)
    game = page.hash
    time.sleep(PAUSE)
    page.release("konane/play")
    time.sleep(0.1)
    assert page.hash == game
    # Another game with a position that has not been analysed.
    page.open("game=konane&board=4x4&play=black")
    page.hold("konane/play")
    page.click(".move")
    page.wait(lambda: page.held("konane/play"))
    page.hold("konane/position")
    page.script("location.hash = '#game=konane&board=8x8&play=black'")
    page.wait(lambda: page.held("konane/position"))
    time.sleep(PAUSE)
    page.release("konane/play")
    page.release("konane/position")
    page.wait(lambda: page.all(".move"))
    assert page.hash == "#game=konane&board=8x8&play=black"


def test_the_program_waits_while_a_position_is_set_up(page):
    page.open("game=konane&board=4x4&play=black")
    page.hold("konane/play")
    page.click(".move")
    page.wait(lambda: page.held("konane/play"))
    page.button("Set up a position").click()
    page.click("#tab-why")
    page.click("#tab-moves")
    time.sleep(PAUSE)
    page.release("konane/play")
    time.sleep(0.1)
    assert (page.held("konane/play"), len(page.played)) == (0, 1)
    page.button("Cancel").click()
    page.wait(lambda: page.held("konane/play"))
    page.release("konane/play")
    page.wait(lambda: len(page.played) == 2)


def test_the_analysis_continues_after_another_game_and_setup(page):
    page.open("game=konane&board=8x8")
    page.says(".thinking", "Searching for 4 values")
    page.button("Set up a position").click()
    assert page.text(".thinking") == ""
    page.hold("konane/position")
    page.button("Cancel").click()
    page.says(".thinking", "Searching for 4 values")
    page.wait(lambda: page.held("konane/position"))
    page.button("Sprouts").click()
    page.says(".turn", "Sprouts")
    page.hold("konane/position")
    page.driver.back()
    page.says(".thinking", "Searching for 4 values")
    page.wait(lambda: page.held("konane/position"))


def test_the_program_moves_first_and_has_levels(page):
    page.open("game=konane&board=4x4&play=white&level=1")
    page.wait(lambda: len(page.played) == 1)
    page.says(".said-by-program", "The program plays")
    assert page.one("#play-level").get_property("value") == "1"


def test_values_can_be_hidden(page):
    page.open("game=konane&board=4x4")
    page.one("#values").click()
    page.wait(lambda: not page.all(SHOWN))
    assert page.text(".verdict") == ""
    assert len(page.all(".move")) == 4
    assert "wins" not in page.square("a4").get_attribute("aria-label")


def test_games_are_saved_and_loaded(page, konane, tmp_path):
    download = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", download)
    page.open("game=konane&board=4x4&moves=a4,a3,c4-a4")
    page.button("Save game").click()
    saved = tmp_path / "konane-4x4.txt"
    page.wait(lambda: saved.exists() and saved.read_text())
    assert saved.read_text() == "Board: 4x4\n\n1. a4 a3 2. c4-a4\n"
    game = tmp_path / "game.txt"
    game.write_text("# a remark\nBoard: 4x5\nBlack: Somebody\n\n1. c2! {good} c3 2. a2-c2? # end\n")
    page.one("#record-file").send_keys(str(game))
    page.wait(lambda: "board=4x5" in page.hash)
    assert page.played == ["c2", "c3", "a2-c2"]
    # Syntax that docs/GAME_FORMAT.md allows and `annotate` reads.
    game.write_text("\ufeff# Played.\n\n board : 3×3\nEvent-Date: 2024\nRound2: x:y\nA_b-3:\n#\n\n"
                    "{An opening: {# in a corner.} 1 a3 {on\nlines}1...a2# remark }\n(1... c2 (1... b3 {)}))2C3A3~$1{end}", "utf-8")
    page.one("#record-file").send_keys(str(game))
    page.wait(lambda: "board=3x3" in page.hash)
    moves = konane("annotate", str(game), "--json")["moves"]
    assert page.played == [judged["move"] for judged in moves]
    page.settled(3)
    game.write_text("Board: 4x5\n\n1. b3 nonsense\n")
    page.one("#record-file").send_keys(str(game))
    page.says(".side", 'Line 3: "nonsense" is not a move')
    for text, problem in [
        ("Board: 3x3\n\n1. b2 {c1\n\n", "Line 3: a comment begins here"),
        ("Board: 3x3\n\n1. b2 }\n", "Line 3: there is no opening brace"),
        ("Board: 9x9\n\n", '"9x9" is not a board'),
        ("1. b2 (c1\n", "Line 1: a variation begins here"),
        ("Board: 3x3\n\n1. b2 (2,3)\n", "Line 3: a row and a column"),
        ("Board: 2x2\n\na1 b1 a2 b2 a1\n", "5 moves. A game on 2x2 has at most 4"),
        (" " * (1 << 20) + "\n", "at most 1 MiB"),
    ]:
        game.write_text(text)
        page.one("#record-file").send_keys(str(game))
        page.says(".side", problem)
    assert len(page.played) == 3 and "board=3x3" in page.hash


def test_the_server_is_unavailable(driver, start_explorer):
    from page import Page

    explorer = start_explorer()
    page = Page(driver, explorer.address)
    page.reset()
    page.open("game=konane&board=3x3")
    assert explorer.stop() == 130
    page.click(".move")
    page.says("#gone", "does not respond")
    driver.get("about:blank")
    assert all("ERR_CONNECTION_REFUSED" in message for message in page.console())
