"""
Figures as pictures: PNG and SVG for chat, mail and the orchestrator, drawn without a browser and without a network.

Belongs here: rendering a specification, and files of it. Does not belong here: which figures there are (`gallery`).
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from pipelines.display import anchor, shown
from pipelines.files import write_whole
from pipelines.report_figures.gallery import figures_of
from pipelines.report_figures.png import packed
from pipelines.report_figures.spec import Spec
from pipelines.report_figures.theme import ThemeName, theme
from pipelines.report_input import DeploymentReport

Format: TypeAlias = Literal["png", "svg"]
FORMATS: tuple[Format, ...] = get_args(Format)
WIDTH = 640
"""Width of a picture [px], as a page would give it."""
_TAG = re.compile(r"<[^>]*>")
_ID = re.compile(r"""( id="|url\(#)(clip|gradient_)(\d+)""")
_LINE = 95
"""Characters of a subtitle that fit into `WIDTH`."""


def picture(spec: Spec, kind: Format, *, of: str = "", look: ThemeName = "light", scale: float = 2.0) -> bytes:
    """
    Render a figure with its title and caption; of: the name that goes before the title.

    scale: PNG pixels per unit. The same specification gives the same bytes. Data is in the specification: nothing is
    fetched, and a URL in it would be refused.
    """
    from vl_convert import vegalite_to_png, vegalite_to_svg  # a JavaScript engine; most commands draw nothing

    text = json.dumps(_on_paper(spec, of), allow_nan=False)
    if kind == "svg":
        return _numbered_anew(vegalite_to_svg(text, config=theme(look), allowed_base_urls=[])).encode()
    return packed(vegalite_to_png(text, config=theme(look), scale=scale, allowed_base_urls=[]))


def write_figures(deployments: Iterable[DeploymentReport], folder: Path, kind: Format) -> list[Path]:
    """
    Write each figure of each deployment into the folder, which is made; return the files.

    Their names are made of a hash of the deployment's name and the figure's, never of what a log says. Raises `OSError`
    where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for deployment in deployments:
        for name, spec in figures_of(deployment).items():
            path = folder / f"{anchor(deployment.name)}-{name}.{kind}"
            write_whole(path, picture(spec, kind, of=deployment.name), 0o600)
            written.append(path)
    return written


def _numbered_anew(svg: str) -> str:
    """Number clip paths and gradients from 0: the renderer goes on counting where the figure before it ended."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"{match[1]}{match[2]}{numbers.setdefault(match[2] + match[3], len(numbers))}"

    return _TAG.sub(lambda tag: _ID.sub(number, tag[0]), svg)


def _on_paper(spec: Spec, of: str) -> Spec:
    """Give a figure what its page would: a width, and title and caption as text in the picture."""
    said = spec["usermeta"]
    title = f"{shown(of, 60)}: {said['title']}" if of else said["title"]
    on_paper = {key: value for key, value in spec.items() if key not in ("width", "usermeta")}
    return on_paper | {"width": WIDTH, "title": {"text": title, "subtitle": textwrap.wrap(said["caption"], _LINE)}}
