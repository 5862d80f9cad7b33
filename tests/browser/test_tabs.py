"""The tabs: explanations, searches, openings, databases."""

import json

from selenium.webdriver.common.keys import Keys


def test_an_explanation_of_a_loss(page):
    page.open("game=konane&board=4x4&moves=a4,a3&tab=why")
    page.says("#panel-why", "Black loses: White has an answer to every move.", "White answers", "Black has")
    # Step by step on the board, to the end of the game.
    stones = page.stones()
    page.button("Show step by step").click()
    for step in range(1, 20):
        page.says(".turn", f"Explanation, step {step}")
        if "has lost" in page.text(".verdict"):
            break
        assert page.stones() != stones
        stones = page.stones()
        page.one("body").send_keys(Keys.ARROW_RIGHT)
    page.says(".verdict", "Black has no move and has lost.")
    assert page.one("[data-key=forward]").get_attribute("aria-disabled") == "true"
    assert page.played == ["a4", "a3"]
    assert page.all("#panel-why .node[data-shown] .end")
    page.button("Back to the game").click()
    page.says(".turn", "Black to move")
    page.all("#panel-why .goto")[-1].click()
    page.wait(lambda: len(page.played) == 2 + step)
    page.settled(2 + step)
    assert page.over


DEFENCES = "return [...document.querySelectorAll('#panel-why .node')].map((node) => node.dataset.line.split(' '))"


def test_an_explanation_answers_every_move(page):
    page.open("game=konane&board=4x4&moves=b3&tab=why")
    page.says("#panel-why", "White wins with ", ": one winning move is enough")
    while closed := page.all("#panel-why .node[aria-expanded=false]"):
        closed[0].click()
    lines = page.script(DEFENCES)
    listed = {}
    for *before, move, _ in lines:
        listed.setdefault(tuple(before), set()).add(move)
    for before, moves in listed.items():
        address = f"api/v1/konane/position?board=4x4&moves={','.join(['b3', *before])}"
        answer = page.script("return fetch(arguments[0]).then((answer) => answer.json())", address)
        assert answer["outcome"] == "loss"
        assert moves == {judged["move"] for judged in answer["moves"]}


def test_explanations_of_other_moves(page):
    # Two moves are equal by symmetry: the second is not explained again.
    page.open("game=konane&board=5x5&moves=c3,c4&tab=why")
    page.wait(lambda: page.all("#panel-why .node"), 60)
    page.says("#panel-why", "A mirror image of the position after")
    mirrored = [node for node in page.all("#panel-why .node") if "mirror image" in node.text][0]
    mirrored.click()
    page.says(".verdict", "This is a mirror image of the position after")
    assert page.one("[data-key=forward]").get_attribute("aria-disabled") == "true"
    # A losing move of a position that can be won: the sentence is about the explained move.
    page.open("game=konane&board=4x4&moves=b3&tab=why")
    page.wait(lambda: len(page.all("#why-move option")) == 4)
    won, lost = [[option.text for option in group.find_elements("css selector", "option")] for group in page.all("#why-move optgroup")]
    page.one(f"#why-move option[value={lost[0]}]").click()
    page.says(".explanation", f"White plays {lost[0]}. Black answers")
    winning = f"The winning move is {won[0]}." if len(won) == 1 else f"Winning moves are {', '.join(won)}."
    page.says("#panel-why", f"White loses with {lost[0]}: Black then has an answer to everything. {winning}")
    page.one(f"#why-move option[value={won[0]}]").click()
    page.says("#panel-why", f"White wins with {won[0]}: one winning move is enough")


def test_an_explanation_from_a_proof(page):
    page.open("game=konane&board=4x5&tab=why")
    page.says(".explanation", "Black has one move, and it loses")
    page.says(".explanation", "All ")


def test_a_running_search(page):
    page.open("game=konane&board=8x8&tab=search")
    page.button("Start").click()
    page.says(".result", "The search is running")
    page.wait(lambda: len(page.all(".bars tbody tr")) == 4)
    path = lambda: page.one(".trend.pn").get_attribute("d").count("L")
    points = page.wait(path)
    page.wait(lambda: path() > points)
    page.says(".facts", "To prove a win", "To prove a loss", "Table filled")
    # The search is still shown after a reload.
    page.driver.refresh()
    page.button("Stop")
    page.wait(lambda: path() > points)
    assert page.text(".result") == "The search is running ..."
    # It is also shown at another position, with a note that it belongs to a different one.
    page.open("game=konane&board=6x6&tab=search")
    page.says(".result", "The search is running", "another position")
    page.click(".result a")
    page.wait(lambda: page.text(".result") == "The search is running ...")
    assert "board=8x8" in page.hash
    page.button("Stop").click()
    page.says(".result", "8x8: unknown (interrupted)")
    page.button("Start")


def test_a_search_that_ends(page):
    page.open("game=konane&board=4x6&tab=search")
    page.button("Start").click()
    page.says(".result", "4x6: ", " wins", "positions were evaluated")


def test_one_search_at_a_time(page):
    page.open("game=konane&board=8x8&tab=search")
    page.button("Start").click()
    page.button("Stop")
    # Another browser has no id of this search.
    page.script("localStorage.clear()")
    page.open("game=konane&board=7x7&tab=search")
    page.button("Start").click()
    page.says("#panel-search .error", "search is running", "dfpn on 8x8")
    assert ["429" in message for message in page.console()] == [True]
    page.button("Stop that search").click()
    page.says(".result", "has been stopped")
    assert not page.one("#panel-search .error").is_displayed()
    # Then another search can start.
    page.button("Start").click()
    page.button("Stop").click()
    page.says(".result", "7x7: unknown")


def test_a_trace_file(page, tmp_path):
    trace = tmp_path / "trace.jsonl"
    samples = [
        {
            "seconds": at / 2,
            "nodes": 1000 * at,
            "pn": 10**at,
            "dn": None if at == 4 else 7,
            "table": {"capacity": 100, "used": 5, "replaced": 0},
            "best_move": "c3",
            "moves": [{"move": "a1", "pn": 90, "dn": 2}, {"move": "c3", "pn": 3, "dn": 40}],
        }
        for at in range(1, 5)
    ]
    trace.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    page.open("game=konane&board=5x5&tab=search")
    page.one("#konane-trace").send_keys(str(trace))
    page.says(".result", "4 samples of a search")
    page.says(".facts", "4,000", "10.0 k", "\u221e")
    assert [row.text for row in page.all(".bars tbody th")] == ["c3", "a1"]
    # The bars of a column differ, and so do numbers that are close to each other.
    widths = page.script("return [...document.querySelectorAll('.bar.pn')].map((bar) => parseFloat(bar.style.width))")
    assert widths[0] == 10 and widths[1] > 90
    page.script("arguments[0].value = 0; arguments[0].dispatchEvent(new Event('input'))",
                page.one(".picture input[type=range]"))
    page.says(".facts", "1,000", "0.5 s")
    trace.write_text('{"seconds": 1, "pn": 2}\nnonsense\n{"seconds": 2, "pn": 2}\n')
    page.one("#konane-trace").send_keys(str(trace))
    page.says("#panel-search .error", "Line 2 is not JSON")
    assert not page.one(".picture").is_displayed()


def test_a_trace_of_the_program(page, konane, tmp_path):
    trace = tmp_path / "trace.jsonl"
    answer = konane("solve", "5x6", "--json", "--trace", str(trace))
    page.open("game=konane&board=5x6&tab=search")
    page.one("#konane-trace").send_keys(str(trace))
    page.says(".result", "of a search")
    page.says(".facts", f"{answer['nodes']:,}")
    # The speed is that of the whole search.
    samples = [json.loads(line) for line in trace.read_text().splitlines()]
    speed = page.script("return import('./js/words.js').then(({ amount }) => amount(Math.round(arguments[0])))".replace(
        "arguments[0]", repr(samples[-1]["nodes"] / samples[-1]["seconds"])))
    assert speed in page.text(".facts")


def test_a_trace_without_proof_numbers(page, konane, tmp_path):
    trace = tmp_path / "trace.jsonl"
    answer = konane("solve", "5x6", "--algo", "ab", "--lines", "--json", "--trace", str(trace))
    page.open("game=konane&board=5x6&tab=search")
    page.one("#konane-trace").send_keys(str(trace))
    page.says(".result", "of a search")
    page.says(".facts", f"{answer['nodes']:,}", "Table filled")
    page.says(".plot", "α-β has no proof numbers")
    # White wins.
    page.says(".picture", "Decided so far", *(judged["move"] for judged in answer["moves"]))
    assert len(page.all(".picture .badge.loss")) == len(answer["moves"])
    assert "\u221e" not in page.text(".picture") and not page.all(".bars")


def test_openings(page, konane):
    page.open("game=konane&board=4x4&tab=openings")
    page.wait(lambda: page.all(".opening"))
    # White wins 4x4, so each first removal has a reply with which White wins.
    links = page.all("#panel-openings a")
    openings = [link.get_attribute("href").split("moves=")[1].split("&")[0] for link in links]
    assert len(openings) == len(set(openings)) == 12
    page.says("#panel-openings", "of 12 such openings")
    for card in page.all(".opening"):
        first, second = card.get_attribute("data-key").split(",")
        answer = konane("solve", "4x4", "--moves", f"{first} {second}", "--json")
        assert f"{answer['winner'].capitalize()} wins" in card.text
    page.all(".opening")[0].click()
    page.wait(lambda: len(page.played) == 2)
    assert page.one("#tab-moves").get_attribute("aria-selected") == "true"


def test_databases_and_proofs(page):
    page.open("game=konane&board=4x4&tab=databases")
    page.says("#panel-databases", "Files about 4x4", "All positions: who wins", "131,072", "33,547 (51\u00a0%)", "No proof")
    assert len(page.all("#panel-databases .layers tbody tr")) == 13 + 17
    # Files about other boards are closed.
    others = [one.text for one in page.all("#panel-databases .other")]
    assert others == ["3x4: All positions: who wins, and in how many plies", "4x5: Proof that White wins from the start"]
    # Only the 3x4 database contains remoteness.
    assert len(page.all(".lengths")) == 2
    assert page.all("#panel-databases article .lengths") == page.all("#panel-databases .other .lengths")
    # The files of another board.
    page.script("location.hash = '#game=konane&board=4x5&tab=databases'")
    page.says("#panel-databases", "Files about 4x5", "No database", "konane builddb 4x5", "4x5.proof", "trusted without verification")


def test_a_new_database_appears(page, konane, start_explorer, tmp_path):
    konane("builddb", "3x3", "--out", str(tmp_path), "--json", "--quiet")
    page.address = start_explorer("--db", tmp_path).address
    page.open("game=konane&board=3x4&tab=databases")
    page.says("#panel-databases", "No database")
    page.click("#tab-moves")
    page.says(".legend", "Values found by search")
    page.click("#tab-databases")
    konane("builddb", "3x4", "--metric", "remoteness", "--out", str(tmp_path), "--json", "--quiet")
    page.says("#panel-databases", "All positions: who wins, and in how many plies")
    # Its values are used at once.
    page.click("#tab-moves")
    page.says(".legend", "Values looked up in a database")


CHART = """
return [...document.querySelectorAll(".lengths")].map(figure => ({
  caption: figure.querySelector("figcaption").textContent,
  plies: [...figure.querySelectorAll("title")].map(title => title.textContent),
  columns: [...figure.querySelectorAll("g")].map(group => group.querySelector(".column")).map(one =>
    one && {kind: one.classList[1], height: Number(one.getAttribute("height"))}),
}));
"""


def test_plies_to_the_end(page, konane, start_explorer, tmp_path):
    build = ["--metric", "remoteness", "--out", str(tmp_path), "--json", "--quiet"]
    three, four = [konane("builddb", board, *build)["histogram"] for board in ["3x3", "3x4"]]
    page.address = start_explorer("--db", tmp_path).address
    page.open("game=konane&board=3x3&tab=databases")
    page.wait(lambda: page.all(".lengths"))
    charts = page.script(CHART)
    sides = [("Black to move", three["black"]), ("White to move", three["white"])]
    # On a board with an even side, the counts of both players differ by the positions of the removal phase only.
    sides += [("Black to move", four["black"]), ("White to move", four["white"])]
    assert [chart["caption"] for chart in charts] == [f"Plies to the end, {side}" for side, _ in sides]
    shorter = len(three["white"])
    assert shorter < len(three["black"])
    for chart, (_, counts) in zip(charts, sides):
        histogram = three if any(counts is side for side in three.values()) else four
        length = max(len(side) for side in histogram.values())
        counts = counts + [0] * (length - len(counts))
        words = ["1 ply" if at == 1 else f"{at} plies" for at in range(length)]
        assert chart["plies"] == [f"{at}: {count:,} positions" for at, count in zip(words, counts)]
        assert [column is not None for column in chart["columns"]] == [count > 0 for count in counts]
        there = [(count, at) for at, count in enumerate(counts) if count]
        for count, at in there:
            column = chart["columns"][at]
            assert column["kind"] == ("win" if at % 2 else "loss")
            for other, place in there:
                assert (count > other) == (column["height"] > chart["columns"][place]["height"])
    assert not page.one("#panel-databases details table").is_displayed()
    page.click("#panel-databases summary")
    rows = [row.text for row in page.one("#panel-databases details table").find_elements("css selector", "tbody tr")]
    white = three["white"] + [0] * (len(three["black"]) - shorter)
    assert rows == [f"{at} {one} {two}" for at, (one, two) in enumerate(zip(three["black"], white))]


def test_puzzles(page, konane):
    page.open("game=konane&board=4x4&tab=puzzles")
    page.one("#difficulty option[value=easy]").click()
    page.button("New puzzle").click()
    page.says("#panel-puzzles", "Find the one that wins.")
    assert not page.all(".verdict .badge, .square .badge")
    position = page.hash.split("pos=")[1].split("&")[0].replace("_", " ")
    answer = konane("solve", "4x4", "--position", position, "--lines", "--json")
    won = [judged["move"] for judged in answer["moves"] if judged["outcome"] == "win"]
    lost = [judged["move"] for judged in answer["moves"] if judged["outcome"] == "loss"]
    assert len(won) == 1 and len(lost) >= 2
    play = lambda move: [page.square(name).click() for name in move.split("-")]
    play(lost[0])
    page.says("#panel-puzzles", f"{lost[0]} loses.")
    page.button("Try again").click()
    page.says("#panel-puzzles", "Find the one that wins.")
    play(won[0])
    page.says("#panel-puzzles", f"{won[0]} wins, and no other move does.", "easy")
    page.button("Why?").click()
    page.says("#panel-why", f"wins with {won[0]}: one winning move is enough")
    # The next one is another position.
    page.click("#tab-puzzles")
    page.button("New puzzle").click()
    page.wait(lambda: page.hash.split("pos=")[1].split("&")[0].replace("_", " ") != position)
    page.says("#panel-puzzles", "Find the one that wins.")
    page.button("Show the solution").click()
    page.says("#panel-puzzles", "wins, and no other move does.")
