"""Make the links and pictures of README.md absolute, as the package index needs them.

    python tools/absolute_links.py https://github.com/OWNER/NAME v1.2.3

The release workflow runs it before it builds, in its own checkout. The address is that of the
repository, and the last argument the tag or commit whose files are meant.
"""

import re
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
#: A link or a picture to a file of the repository: no scheme, and no place on the page itself.
RELATIVE = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")


def absolute(text: str, repository: str, revision: str) -> str:
    """Return Markdown whose relative links lead to files of the repository at a revision."""

    def link(match: re.Match[str]) -> str:
        mark, label, path = match.groups()
        return f"{mark}{label}({repository}/{'raw' if mark else 'blob'}/{revision}/{path})"

    return RELATIVE.sub(link, text)


if __name__ == "__main__":
    repository, revision = sys.argv[1:]
    text = README.read_text(encoding="utf-8")
    README.write_text(absolute(text, repository, revision), encoding="utf-8")
