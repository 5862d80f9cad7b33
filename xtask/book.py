"""Preprocessor of mdBook: lets the book contain pages from outside of `docs`.

A chapter such as `../python/README.md` becomes the page `python.md` of the book. Links between pages, which are
relative to the repository, become links of the book. Links to files that the book does not have (sources, folders) become
plain text. A link to a missing file is an error.
"""

import json
import re
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def chapters(items):
    """Yields all chapters that have a file, in order."""
    for item in items:
        if isinstance(item, dict) and (chapter := item.get("Chapter")):
            if chapter["path"]:
                yield chapter
            yield from chapters(chapter["sub_items"])


def page(source):
    """Path in the book of a file, which is named relative to the repository."""
    if source.startswith("docs/"):
        source = source.removeprefix("docs/")
    elif source != "README.md":
        source = source.removesuffix("/README.md").removesuffix(".md") + ".md"
    return re.sub(r"(^|/)README\.md$", r"\1index.md", source)


def convert(text, source, pages):
    """Converts the links of a page; `pages` maps files of the repository to paths in the book."""

    def link(match):
        image, label, target = match.groups()
        if re.match(r"[a-z]+:|#", target):  # another site, or this page
            return match[0]
        path, hash_sign, anchor = target.partition("#")
        file = normpath(PurePosixPath(source).parent / path)
        if not (ROOT / file).exists():
            sys.exit(f"{source}: link to '{target}', which does not exist")
        if file == "docs/README.md":
            file = "README.md"
        if (ROOT / file).is_dir() and f"{file}/README.md" in pages:
            file += "/README.md"
        if file not in pages and (not file.startswith("docs/") or (ROOT / file).is_dir()):
            return label
        start = str(PurePosixPath(pages[source]).parent)
        return f"{image}[{label}]({relpath(pages.get(file, page(file)), start)}{hash_sign}{anchor})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    items = book.get("items") or book["sections"]
    sources = {id(chapter): normpath("docs/" + chapter["path"]) for chapter in chapters(items)}
    pages = {source: page(source) for source in sources.values()}
    for chapter in chapters(items):
        source = sources[id(chapter)]
        chapter["content"] = convert(chapter["content"], source, pages)
        chapter["path"] = pages[source]
    json.dump(book, sys.stdout)


main()
