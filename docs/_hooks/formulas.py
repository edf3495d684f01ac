"""Formulas as MathML, so that no script has to be loaded.

The extension arithmatex marks `$...$` and `$$...$$`; here the marked TeX becomes MathML, which browsers draw by
themselves.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def on_page_content(html: str, **_: Any) -> str:
    """Replace every marked formula of a page."""
    html = _BLOCK.sub(lambda found: f'<div class="formula">{_mathml(found[1], "block")}</div>', html)
    return _INLINE.sub(lambda found: _mathml(found[1], "inline"), html)


def _mathml(tex: str, display: str) -> str:
    drawn = str(convert(unescape(tex).strip(), display=display))
    return drawn.replace("<mi>log</mi>", '<mi>log</mi><mspace width="0.17em"/>')
