"""Results as dictionaries, tables and pictures."""

import dataclasses
import json
import xml.etree.ElementTree as ElementTree

import konane
import pytest
from konane import Position


def test_dictionaries():
    solution = konane.solve("4x4")
    fields = solution.to_dict()
    assert fields == dataclasses.asdict(solution)
    assert fields["table"] == {"capacity": solution.table.capacity, "used": solution.table.used, "replaced": 0}
    analysis = konane.analyse("4x4")
    assert json.loads(json.dumps(analysis.to_dict()))["moves"][0] == dataclasses.asdict(analysis.moves[0])


def test_tables():
    analysis = konane.analyse("4x4")
    table = ElementTree.fromstring(analysis._repr_html_())
    rows = {row.find("th").text: row.find("td") for row in table}
    assert list(rows) == [key for key, value in analysis.to_dict().items() if value is not None]
    assert rows["winner"].text == analysis.winner and rows["line"].text == " ".join(analysis.line)
    moves = list(rows["moves"].find("table"))
    assert [cell.text for cell in moves[0]][:2] == ["move", "outcome"]
    assert [row[0].text for row in moves[1:]] == [move.move for move in analysis.moves]
    # Text of a user is escaped.
    annotation = konane.Record("3x3", moves="a3", black="<b>&").annotate()
    assert "<b>" not in annotation._repr_html_() and "&lt;b&gt;&amp;" in annotation._repr_html_()
    ElementTree.fromstring(annotation._repr_html_())


def test_thermographs():
    hot = konane.value(Position("4x4", "xo2/2ox/1o1o/o1o1 b")).thermograph()
    value = konane.value("{4|0}")
    graph = value.thermograph()
    assert (graph.mean, graph.temperature) == (value.mean, value.temperature) == ("2", "2")
    # The walls of a switch {4|0} are straight lines from its stops to the mast.
    assert graph.left == [("0", "4"), ("2", "2")] and graph.right == [("0", "0"), ("2", "2")]
    picture = ElementTree.fromstring(graph.svg)
    assert picture.tag.endswith("svg") and graph._repr_html_() == graph.svg
    texts = [each.text for each in picture.iter() if each.tag.endswith("text")]
    assert "temperature" in texts and "mean 2, temperature 2" in texts
    assert isinstance(hot, konane.Thermograph) and hot.mean == "2"
    assert konane.value("3").thermograph().temperature == "-1"
    unknown = konane.value(Position("6x6", moves="a6 a5"), max_nodes=10)
    with pytest.raises(konane.InputError, match="it has no thermograph: node limit"):
        unknown.thermograph()
    cut = dataclasses.replace(value, value="{1|…}")
    with pytest.raises(konane.InputError, match="cut off"):
        cut.thermograph()
