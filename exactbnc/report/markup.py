"""Text from files, made harmless for a page: in HTML, in attributes, and in JSON inside a script element.

Everything that was read from a file goes through `text` or `embedded_json`. Control characters, which HTML forbids,
and half surrogate pairs, which UTF-8 cannot, become U+FFFD; directions of writing are kept apart by the style sheet.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import Any

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
WORD_ENDS = re.compile(
    r"(?<=[_/:;|])(?=[^\s_./:;|-])|(?<=[A-Za-z0-9][.-])(?=[A-Za-z])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])"
)
"""Where a name without spaces may be broken; the script has the same rule."""
_NEVER_IN_SCRIPTS = {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"}


def text(value: Any) -> str:
    """A value as text of HTML or of a quoted attribute.

    >>> text("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return html.escape(_UNWRITABLE.sub("\ufffd", str(value)), quote=True)


def name_text(value: Any) -> str:
    """A name of a variable or a state: isolated from the text around it, and broken between its words.

    >>> name_text("mean_radius"), name_text("LVEDVolume"), name_text("(-inf, 0.15]")
    ('<bdi>mean_<wbr>radius</bdi>', '<bdi>LVED<wbr>Volume</bdi>', '<bdi>(-inf, 0.15]</bdi>')
    """
    words = re.split(WORD_ENDS, str(value))
    return element("bdi", "<wbr>".join(map(text, words)))


def embedded_json(value: Any) -> str:
    r"""JSON for the inside of a script element: ASCII, and nothing in it can end the element.

    >>> embedded_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    plain = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for mark, escape in _NEVER_IN_SCRIPTS.items():
        plain = plain.replace(mark, escape)
    return plain


def element(tag: str, content: str = "", **attributes: Any) -> str:
    """An element around markup; values of attributes are escaped, None leaves one out, `class_` is class.

    >>> element("td", "1", class_="n", data_key='"')
    '<td class="n" data-key="&quot;">1</td>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{text(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{given}>{content}</{tag}>"


def paragraphs(sentences: Iterable[str], **attributes: Any) -> str:
    """Plain sentences, each a paragraph."""
    return "".join(element("p", text(sentence), **attributes) for sentence in sentences)


def number(value: float | None, digits: int = 4) -> str:
    """A number for people: that many digits after the point, with a true minus sign; a dash for none.

    >>> number(-1234.5, 2), number(None), number(-0.0)
    ('−1,234.50', '–', '0.0000')
    """
    if value is None:
        return "–"
    shown = f"{value:,.{digits}f}"
    is_zero = not any(digit in shown for digit in "123456789")
    return shown.lstrip("-") if is_zero else shown.replace("-", "−")
