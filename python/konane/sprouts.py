"""Sprouts: who wins, Grundy numbers, moves, canonical forms and pictures.

>>> from konane import sprouts
>>> sprouts.solve("0*6").outcome
'loss'

Positions are texts, as the programs SPOTS and GLOP write them: ``"0*12"`` is twelve spots. Lands are
joined by ``+``, the regions of a land by ``|``, the boundaries of a region by ``.``. The vertices of a
boundary stand side by side: a digit is a spot that occurs once, with this number of curve ends; a
letter is a spot that occurs twice.
"""

from ._konane import sprouts_canonical as canonical
from ._konane import sprouts_children as children
from ._konane import sprouts_draw as draw
from ._konane import sprouts_grundy as grundy
from ._konane import sprouts_solve as solve

__all__ = ["canonical", "children", "draw", "grundy", "solve"]
