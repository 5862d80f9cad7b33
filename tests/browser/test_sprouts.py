"""Sprouts: the drawing, lands, children, and a search."""


def test_a_position_and_its_moves(page, konane):
    page.open("game=sprouts&pos=0*4")
    page.wait(lambda: page.one(".paper img").get_property("naturalWidth") > 100)
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
    cards[0].click()
    page.wait(lambda: "0*4" not in page.hash)
    page.says(".verdict", "The player to move loses")
    page.says(".trail", "0*4", expected["children"][0]["position"])
    page.driver.back()
    page.says(".verdict", "The player to move wins")


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
