"""Every parser on the page takes time linear in the length of the text."""

import time

import pytest

LENGTH = 1 << 20
# Maximum seconds: far more than a linear parser needs for this length, and far less than a quadratic one.
BOUND = 2.0

# Repeated to form long texts.
REPEATED = [*" ?(){}[\"x10/-\n#:&%_,", "? ", "a1", "(1", "-1", "\r\n", "{ ", "x/"]
# Each random text uses characters from one of these.
ALPHABETS = [" ?({x1/-\n", "abch123-!?~{}#.:[]\", \n", "".join(map(chr, range(32, 0x250)))]

# Parsers, and templates in which @ is replaced by the long text.
PARSERS = {
    "record": (
        "const {readRecord} = await load('record'); return readRecord;",
        ["@", "@!", "Board: @", "Board: 6x6@!", "Board: 6x6\n\nc3@!", "Board: 6x6\n\n{@", "[Event@", '[Event "@x'],
    ),
    "trace": ("const {readTrace} = await load('search'); return readTrace;", ["@", '{"seconds":1,"pn":2}\n@!', '{"@']),
    "hash": (
        "const {parse, format} = await load('state'); return (text) => format(parse(text));",
        ["@", "#@!", "#board=@!", "#pos=@!", "#moves=@!", "#at=@!", "#game=sprouts&pos=@!"],
    ),
    "board": ("const {dimensions} = await load('position'); return dimensions;", ["@", "@!", "6x@!"]),
    "position": (
        "const {readPosition} = await load('position');"
        "return (text) => [{ranks: 6, files: 6}, {ranks: 1, files: 64}].map((size) => readPosition(text, size));",
        ["@", "@!", "@ b", "xo@ b"],
    ),
    "move": ("const {ends} = await load('words'); return ends;", ["@", "@!", "c3-@!"]),
    "board of the form": (
        "const input = document.createElement('input');"
        "document.getElementById('board').value = 'other';"
        "document.getElementById('board').dispatchEvent(new Event('change'));"
        "input.pattern = document.getElementById('board').pattern;"
        "return (text) => { input.value = text; return input.checkValidity(); };",
        ["@", "@!", "6x@!"],
    ),
}

# Times a parser for texts of increasing length, so that a slow parser is detected early.
TIME = """
const [source, repeated, alphabets, frames, bound, length, done] = arguments;
const load = (name) => import(new URL(`js/${name}.js`, document.baseURI));
let seed = 1;
const random = (alphabet) => Array.from({ length }, () => {
  seed = (seed * 48271) % 2147483647;
  return alphabet[seed % alphabet.length];
}).join("");
(async () => {
  const parse = await new Function("load", `return (async () => { ${source} })();`)(load);
  const texts = [...repeated.map((one) => one.repeat(length / one.length)), ...alphabets.map(random)];
  let slowest = [0, ""];
  for (const text of texts) {
    for (const frame of frames) {
      for (let part = length / 64; part <= length && slowest[0] < bound; part *= 8) {
        const whole = frame.replace("@", () => text.slice(0, part));
        const begun = performance.now();
        try {
          parse(whole);
        } catch {
          // Most of these texts are errors.
        }
        const seconds = (performance.now() - begun) / 1000;
        if (seconds > slowest[0]) slowest = [seconds, `${part} of ${JSON.stringify(text.slice(0, 8))} in ${JSON.stringify(frame)}`];
      }
    }
  }
  return slowest;
})().then(done, (error) => done([Infinity, String(error)]));
"""


@pytest.mark.parametrize("name", PARSERS)
def test_parsers_take_linear_time(page, name):
    source, frames = PARSERS[name]
    page.open("game=konane&board=3x3")
    page.driver.set_script_timeout(240)
    seconds, text = page.driver.execute_async_script(TIME, source, REPEATED, ALPHABETS, frames, BOUND, LENGTH)
    assert seconds < BOUND, text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (" " * 100_000, "0 moves on 6x6"),
        ("?" * (1 << 16), "0 moves on 6x6"),
        ("(" * (1 << 16), "closing parenthesis is missing"),
        ("( " * (LENGTH // 2 - 10), "closing parenthesis is missing"),
        ("c3" + "?" * (1 << 16) + "x", "is not a move"),
        ("?" * (LENGTH - 20), "0 moves on 6x6"),
        ("a1 " * (LENGTH // 3 - 10), "at most 36"),
        ("{" * (LENGTH - 20), "closing brace is missing"),
    ],
)
def test_a_long_line_in_a_record_does_not_freeze_the_page(page, tmp_path, line, said):
    page.open("game=konane&board=3x3")
    game = tmp_path / "game.txt"
    game.write_text(f"Board: 6x6\n{line}\n")
    page.one("#record-file").send_keys(str(game))
    begun = time.monotonic()
    page.says(".tools + .hint", said)
    assert time.monotonic() - begun < 2 * BOUND


def test_a_long_trace_does_not_freeze_the_page(page, tmp_path):
    page.open("game=konane&board=3x3&tab=search")
    trace = tmp_path / "trace.jsonl"
    # More lines than a search writes in a day.
    count = 100_000
    trace.write_text("".join(f'{{"seconds":{at},"nodes":{at},"pn":{at + 1},"dn":3}}\n' for at in range(count)))
    page.one("#konane-trace").send_keys(str(trace))
    page.says(".result", f"{count} samples of a search")
    page.says(".facts", f"{count - 1:,}")
    assert page.one(".trend.pn").get_attribute("d").count("L") < 1300


def test_long_links_do_not_freeze_the_page(page):
    for part in ["moves=" + "a1," * 100_000, "moves=" + "a" * 300_000, "pos=" + "x" * 300_000, "board=" + "9" * 300_000]:
        page.open(f"game=konane&board=4x4&{part}", ready=".stage .error:not([hidden])")
    # Links that are too long for the program, or invalid.
    assert all("Failed to load resource" in message for message in page.console())
