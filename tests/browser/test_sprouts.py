"""Sprouts: the drawing, lines drawn by hand, games, lands, children, and a search."""

import pytest

from test_looks import assert_accessible, axe  # noqa: F401


@pytest.fixture
def calm(page):
    """The page without animations, so that drawings have their final layout at once."""
    page.look(prefers_reduced_motion="reduce")
    return page


def open_drawing(page, hash, ready=".verdict .badge"):
    """Opens a position and waits until its moves can be played in the drawing."""
    page.open(f"game=sprouts&pos={hash}", ready)
    prepared(page)


def prepared(page):
    page.wait(lambda: page.all(".drawing .spot") and not page.text(".thinking"))


def spots(page):
    """The spots of the drawing: [x, y, number of lives], in the units of the picture."""
    return page.script(
        "return [...document.querySelectorAll('.drawing .spot')].map(spot => { const dot = spot.querySelector('.dot');"
        "return [Number(dot.getAttribute('cx')), Number(dot.getAttribute('cy')), Number(spot.textContent)]; })"
    )


def line(page, points, touch=False, release=True):
    """Draws a line through points in the units of the picture, with the mouse or a finger; the mouse may stay pressed."""
    page.script("document.querySelector('.drawing').scrollIntoView({block: 'center'})")
    # The transformation from the units of the picture to those of the window.
    scale, x, y = page.script(
        "const { a, e, f } = document.querySelector('.drawing').getScreenCTM(); return [a, e, f]"
    )
    detailed = [points[0]]
    for (ax, ay), (bx, by) in zip(points, points[1:]):
        detailed += [(ax + (bx - ax) * k / 8, ay + (by - ay) * k / 8) for k in range(1, 9)]
    places = [{"x": x + px * scale, "y": y + py * scale} for px, py in detailed]
    send = page.driver.execute_cdp_cmd
    if touch:
        for number, place in enumerate(places):
            kind = "touchMove" if number else "touchStart"
            send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [place]})
        send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        return
    button = {"button": "left", "buttons": 1, "clickCount": 1}
    send("Input.dispatchMouseEvent", {"type": "mousePressed", **places[0], **button})
    for place in places[1:]:
        send("Input.dispatchMouseEvent", {"type": "mouseMoved", **place, **button})
    if release:
        send("Input.dispatchMouseEvent", {"type": "mouseReleased", **places[-1], **button})


def position(page):
    return page.hash.split("pos=")[1].split("&")[0]


def test_the_misere_game(calm, konane):
    """The switch changes values and winner; a game is kept in the misère game from move to move."""
    page = calm
    open_drawing(page, "0*3")
    assert "wins" in page.text(".verdict")
    page.script(
        "const rule = document.querySelector('#game-rule');"
        "rule.value = 'misere'; rule.dispatchEvent(new Event('change'))"
    )
    page.wait(lambda: "rule=misere" in page.hash and "loses" in page.text(".verdict") and not page.text(".thinking"))
    for start, outcome in [("0*3", "loses"), ("0*4", "loses"), ("0*5", "wins"), ("0*1", "wins")]:
        open_drawing(page, f"{start}&rule=misere")
        expected = konane("sprouts", "children", start, "--values", "--misere", "--json")
        assert outcome in page.text(".verdict"), start
        page.wait(lambda: not page.text(".thinking"))
        cards = page.all(".child")
        outcomes = ["win" if card.text.startswith("\u2713") else "loss" for card in cards]
        assert outcomes == [child["outcome"] for child in expected["children"]]
        assert "Grundy" not in page.text(".cards") and not page.one(".lands").is_displayed()
    page.all(".child")[0].click()
    page.wait(lambda: position(page) != "0*1" and "rule=misere" in page.hash)
    page.open("game=sprouts&pos=!&rule=misere", ".verdict .badge")
    assert "has won" in page.text(".verdict")


def test_a_position_and_its_moves(calm, konane):
    page = calm
    open_drawing(page, "0*4")
    assert [lives for _, _, lives in spots(page)] == [3, 3, 3, 3]
    expected = konane("sprouts", "children", "0*4", "--values", "--json")
    page.wait(lambda: "unknown" not in page.text(".cards"))
    cards = page.all(".child")
    assert [card.get_attribute("data-key") for card in cards] == [
        child["position"] for child in expected["children"]
    ]
    for card, child in zip(cards, expected["children"]):
        assert card.text.startswith({"win": "\u2713", "loss": "\u2717"}[child["outcome"]])
        assert f"Grundy number {child['grundy']}" in card.text
    assert "win" in cards[0].get_attribute("class")
    # A focused card shows its curve, and a click plays it in the drawing.
    page.script("arguments[0].focus()", cards[0])
    page.wait(lambda: page.all(".preview path"))
    cards[0].click()
    page.wait(lambda: "0*4" not in page.hash)
    page.says(".verdict", "The player to move loses")
    page.says(".trail", "0*4", expected["children"][0]["position"])
    assert sum(lives for _, _, lives in spots(page)) == 11
    page.driver.back()
    page.says(".verdict", "The player to move wins")
    assert len(spots(page)) == 4


def test_every_listed_move_is_played_with_the_keyboard(calm):
    page = calm
    open_drawing(page, "0*3")
    while cards := page.all(".child"):
        lives = sum(lives for _, _, lives in spots(page))
        before = page.hash
        page.script("arguments[0].focus()", cards[-1])
        page.press("\n")
        page.wait(lambda: page.hash != before)
        prepared(page)
        page.wait(lambda: page.all(".verdict .badge"))
        assert sum(lives for _, _, lives in spots(page)) == lives - 1
        focused = "return document.activeElement.classList.contains('child')"
        assert not page.all(".child") or page.script(focused)
    page.says(".verdict", "No move is left")


@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_lines_by_hand(calm, touch):
    page = calm
    page.look(360, 740, prefers_reduced_motion="reduce")
    open_drawing(page, "0*3")
    (ax, ay, _), (bx, by, _), (cx, cy, _) = spots(page)
    line(page, [(ax, ay), (bx, by)], touch)
    page.wait(lambda: position(page) == "0.1a1a")
    prepared(page)
    assert sorted(lives for _, _, lives in spots(page)) == [1, 2, 2, 3]
    # A loop around nothing at the isolated spot.
    cx, cy = next((x, y) for x, y, lives in spots(page) if lives == 3)
    line(page, [(cx, cy), (cx + 25, cy), (cx + 25, cy + 25), (cx, cy + 25), (cx, cy)], touch)
    page.wait(lambda: position(page) == "1a1a.AB|AB")
    page.button("Undo").click()
    page.wait(lambda: position(page) == "0.1a1a")


def test_refused_lines(calm):
    page = calm
    open_drawing(page, "0*2")
    (ax, ay, _), (bx, by, _) = spots(page)
    line(page, [(ax, ay), (ax, ay - 60)])
    page.says(".note", "ends in the open")
    middle = ((ax + bx) / 2, (ay + by) / 2)
    line(page, [(ax, ay), (bx, by - 50), (middle[0], middle[1] + 50), (ax, ay - 50), (bx, by)])
    page.says(".note", "crosses itself")
    line(page, [(ax, ay), (bx, by)])
    page.wait(lambda: position(page) == "1a1a")
    prepared(page)
    (ax, ay), (bx, by) = [(x, y) for x, y, lives in spots(page) if lives == 2]
    x, y = next((x, y) for x, y, lives in spots(page) if lives == 1)
    line(page, [(x, y), (x, y - 60), (x + 60, y - 60), (x + 60, y), (x, y)])
    page.says(".note", "takes two lives")
    # The unit vector from the straight line between the ends to the spot between them.
    px, py = x - (ax + bx) / 2, y - (ay + by) / 2
    if abs(px) + abs(py) < 1:
        px, py = ay - by, bx - ax
    length = (px**2 + py**2) ** 0.5
    away = lambda x, y, far: (x + far * px / length, y + far * py / length)
    middle = ((ax + x) / 2, (ay + y) / 2)
    line(page, [(bx, by), away(*middle, 40)], release=False)
    assert page.all(".ink path") and not page.all(".ink .refused")
    line(page, [away(*middle, 40), away(*middle, -40), (ax, ay)])
    page.says(".note", "crosses a curve")
    line(page, [(bx, by), away(*middle, 40), away(*middle, -40)], release=False)
    assert page.all(".ink .refused")
    line(page, [away(*middle, -40), (ax, ay)])
    line(page, [(ax, ay), away(ax, ay, 40), away(x, y, 3), away(bx, by, 40), (bx, by)])
    page.says(".note", "another spot")
    assert position(page) == "1a1a"


def test_two_clicks_draw_a_curve(calm):
    page = calm
    open_drawing(page, "0*2")
    (ax, ay, _), (bx, by, _) = spots(page)
    line(page, [(ax, ay)])
    line(page, [(bx, by)])
    page.wait(lambda: position(page) == "1a1a")
    prepared(page)
    x, y = next((x, y) for x, y, lives in spots(page) if lives == 1)
    line(page, [(x, y)])
    line(page, [(x, y)])
    page.says(".note", "cannot be joined to itself")


def test_the_new_spot_is_placed_by_hand(calm):
    page = calm
    open_drawing(page, "0*2")
    page.one(".below input:not(:checked)").click()
    (ax, ay, _), (bx, by, _) = spots(page)
    line(page, [(ax, ay), (bx, by)])
    page.says(".note", "place of the new spot")
    assert position(page) == "0*2"
    line(page, [(ax + (bx - ax) / 4, ay + (by - ay) / 4)])
    page.wait(lambda: position(page) == "1a1a")


def test_a_game_against_the_program(calm, konane):
    page = calm
    open_drawing(page, "0*2")
    # The second player wins from two spots, so the program does.
    page.one("#game-spots option[value='2']").click()
    page.one("#game-side option[value='you']").click()
    page.button("New game").click()
    page.says(".turn", "Your move")
    assert not page.all(".badge")
    while "has won" not in page.text(".turn"):
        prepared(page)
        page.says(".turn", "Your move")
        before = page.hash
        page.all(".child")[0].click()
        page.wait(lambda: page.hash != before)
        page.wait(lambda: "Your move" in page.text(".turn") or "has won" in page.text(".turn"))
    page.says(".turn", "The program has won")
    page.button("Undo").click()
    page.says(".turn", "Your move")
    page.one(".below input").click()
    page.wait(lambda: page.all(".verdict .badge"))


def test_the_program_begins(calm):
    page = calm
    open_drawing(page, "0*2")
    page.one("#game-spots option[value='3']").click()
    page.one("#game-side option[value='program']").click()
    page.button("New game").click()
    page.says(".turn", "Your move")
    prepared(page)
    # From three spots the first player wins.
    page.one(".below input").click()
    page.says(".verdict", "The player to move loses")


def test_an_opponent_is_chosen_at_any_time(calm):
    page = calm
    open_drawing(page, "0*2")
    # Without a choice the user plays both sides.
    assert page.one("#game-side").get_property("value") == ""
    page.all(".child")[0].click()
    page.wait(lambda: position(page) != "0*2")
    prepared(page)
    before = page.hash
    page.one("#game-side option[value='program']").click()
    page.wait(lambda: page.hash != before and ("Your move" in page.text(".turn") or "has won" in page.text(".turn")))
    page.one("#game-side option[value='']").click()
    page.wait(lambda: "play=" not in page.hash)


def test_the_abstract_view(page):
    open_drawing(page, "0*2.AB|AB")
    page.button("Abstract view").click()
    page.wait(lambda: page.one(".paper img").get_property("naturalWidth") > 100)
    assert page.one(".paper img").is_displayed() and not page.one(".drawing").is_displayed()
    assert "curve ends" in page.text(".note") and "lives" not in page.text(".note")
    page.button("Drawing").click()
    assert page.one(".drawing").is_displayed() and "lives" in page.text(".note")


def test_a_position_without_drawing(page):
    page.open("game=sprouts&pos=0*61")
    page.says(".note", "no drawing of this position")
    page.wait(lambda: page.one(".paper img").is_displayed())


GAMES = """
const [n, games, seed] = arguments, done = arguments[arguments.length - 1];
(async () => {
  const D = await import("./js/drawing.js"), { Mesh } = await import("./js/route.js");
  const { relax } = await import("./js/relax.js"), { embed } = await import("./js/embed.js");
  const { canonical } = await import("./js/curves.js"), { get } = await import("./js/api.js");
  let [state, moves, wrong] = [seed, 0, []];
  const random = (count) => (state = state * 48271 % 2147483647) % count;
  const known = new Map();
  const listed = async (position) => {
    if (!known.has(position)) known.set(position, (await get("sprouts/position", { position, time: 2000 })));
    return known.get(position);
  };
  for (let game = 0; game < games; game += 1) {
    let drawing = embed(`0*${n}`);
    for (;;) {
      const [regions, ends] = [D.trace(drawing), D.curveEnds(drawing)];
      const all = D.movesOf(regions, ends);
      const texts = [...new Set(all.map((move) => D.textAfter(regions, ends, move)))];
      const names = texts.length ? await canonical(texts) : [];
      const [here] = await canonical([D.textOf(drawing)]);
      const { children } = await listed(here);
      const [own, other] = [new Set(names), new Set(children.map((child) => child.position))];
      // The listed moves are those of a simplified position: where they differ, the Grundy numbers are the same.
      const extra = [];
      for (const name of own) if (!other.has(name)) extra.push((await listed(name)).grundy);
      const numbers = new Set(children.map((child) => child.grundy));
      if (extra.some((grundy) => !numbers.has(grundy))) wrong.push(`${here}: moves to ${extra}`);
      for (const child of children) if (!own.has(child.position) && !extra.includes(child.grundy)) wrong.push(`${here}: no move to ${child.position}`);
      if (!all.length) break;
      const move = all[random(all.length)];
      const curve = new Mesh(drawing).curve(regions, move, ends);
      const after = D.withCurve(drawing, curve, D.middleOf(curve));
      const [wanted, drawn] = await canonical([D.textAfter(regions, ends, move), D.textOf(after)]);
      if (wanted !== drawn) wrong.push(`${here}: ${drawn} in place of ${wanted}`);
      if (D.crosses(after)) wrong.push(`${here}: the new curve crosses one`);
      relax(after, 30);
      if (D.crosses(after) || (await canonical([D.textOf(after)]))[0] !== wanted) wrong.push(`${here}: changed by the layout`);
      drawing = after;
      moves += 1;
    }
  }
  return [moves, wrong];
})().then(done, (error) => done([0, [String(error.stack)]]));
"""


@pytest.mark.parametrize("n,games", [(2, 60), (3, 60), (4, 40), (5, 30), (6, 15)])
def test_random_games_in_the_drawing(page, n, games):
    open_drawing(page, "0*2")
    page.driver.set_script_timeout(600)
    moves, wrong = page.driver.execute_async_script(GAMES, n, games, n)
    assert wrong == [] and moves >= games * 2 * n


EMBED = """
const texts = arguments[0], done = arguments[arguments.length - 1];
(async () => {
  const { embed } = await import("./js/embed.js"), { canonical } = await import("./js/curves.js");
  const { textOf } = await import("./js/drawing.js");
  const found = texts.map((text) => textOf(embed(text)));
  return [await canonical(texts), await canonical(found)];
})().then(done, (error) => done([String(error.stack), null]));
"""


def test_drawings_of_texts(page):
    texts = ["!", "1", "22", "2222", "1a2a", "AB|AC|BC", "2AB|AB", "0*2.AB|AB+0*3", "AB|AB+22+1a1a"]
    texts += ["0*3.AB.CD|0.AB|0.CD", "0*2.1aa1bb2cc", "ABCD|ABE|CDE", "0*17"]
    open_drawing(page, "0*2")
    page.driver.set_script_timeout(120)
    expected, found = page.driver.execute_async_script(EMBED, texts)
    assert expected == found


def test_looks_of_drawings(page, axe):  # noqa: F811
    page.look(360, 740)
    open_drawing(page, "0*2.AB|AB%2B0*3")
    assert page.script("return document.documentElement.scrollWidth") <= 360
    colour = "return getComputedStyle(document.querySelector('.drawing path')).stroke"
    light = page.script(colour)
    page.look(360, 740, prefers_color_scheme="dark")
    assert page.script(colour) != light
    page.one("#game-side option[value='you']").click()
    page.button("New game").click()
    page.says(".turn", "Your move")
    assert_accessible(page, axe)


def test_lands_and_their_exclusive_or(page, konane):
    page.open("game=sprouts&pos=0*2%2B0*3%2B0*4")
    page.says(".sum", "\u2295", "the player to move")
    numbers = [int(cell.text) for cell in page.all(".lands td")]
    grundy = konane("sprouts", "grundy", "0*2+0*3+0*4", "--json")["grundy"]
    total = 0
    for number in numbers:
        total ^= number
    assert total == grundy
    assert f"= {grundy}" in page.text(".sum")


def test_the_text_form_and_its_errors(page):
    page.open("game=sprouts&pos=0*2")
    text = page.one("#sprouts-text")
    text.clear()
    text.send_keys("0*3\n")
    page.wait(lambda: page.hash.endswith("pos=0*3"))
    page.says(".turn", "0*3")
    text = page.one("#sprouts-text")
    text.clear()
    text.send_keys("0.!?\n")
    page.wait(lambda: page.one(".stage .error").is_displayed())
    assert len(page.one(".stage .error").text) > 10
    # The responses to the requests for the position and its drawing.
    assert all("422" in message for message in page.console())


def test_a_search(page):
    page.open("game=sprouts&pos=0*7&tab=search")
    page.button("Start").click()
    page.says(".result", "The player to move loses")


def test_switching_between_games(page):
    page.open("game=konane&board=3x3")
    page.button("Sprouts").click()
    page.says(".turn", "Sprouts")
    page.button("Konane").click()
    page.says(".turn", "to move")


def test_the_analysis_continues_after_the_other_game(page):
    page.open("game=sprouts&pos=0*12")
    page.says(".thinking", "Searching for more values")
    page.button("Konane").click()
    page.says(".turn", "to move")
    page.hold("sprouts/position")
    page.driver.back()
    page.says(".turn", "0*12")
    page.wait(lambda: page.held("sprouts/position"))
