"""Check the messages of commits: an imperative subject of at most 72 characters, and a body.

    python tools/subjects.py                      # commits since the last tag
    python tools/subjects.py --since origin/main
    python tools/subjects.py --file MESSAGE       # one message, as a hook of Git has it

A subject may begin with a room ("Ledger: refuse ..."). Whether its verb is in the imperative is
judged by its end, "-ed", "-ing" or "-s", and by an article in its place. It names one act, without
", and". Merges are left out.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MOST = 72
#: Verbs in the imperative that end as others do.
IMPERATIVES = {
    *("address", "assess", "bring", "compress", "cross", "discuss", "embed", "express", "feed"),
    *("focus", "guess", "need", "pass", "press", "process", "seed", "speed", "suppress", "string"),
}
#: What only a reader of the commits before understands, and words of a dialect.
VAGUE = re.compile(r"\b(any more|crowds?|in fewer lines|laws?|of today|said|told|whose)\b")


def faults(message: str) -> Iterator[str]:
    """Yield what is wrong with a message."""
    text = "\n".join(line for line in message.splitlines() if not line.startswith("#")).strip()
    subject, _, rest = text.partition("\n")
    if re.match(r"(Merge|Revert|fixup!|squash!) ", subject):
        return
    if len(subject) > MOST:
        yield f"the subject has {len(subject)} characters; at most {MOST}"
    if not subject[:1].isupper():
        yield "the subject begins with no capital letter"
    if subject.endswith("."):
        yield "the subject ends with a full stop"
    if joined := re.search(r", and\b|;", subject):
        yield f"the subject has two acts ({joined[0].strip()!r}); make two commits, or name one"
    if vague := VAGUE.search(subject):
        yield f"{vague[0]!r} says nothing to a reader of this subject alone; name the thing"
    words = re.sub(r"^[\w.`/-]+: ", "", subject).split()
    verb = words[0].lower().rstrip(",:;") if words else ""
    if verb not in IMPERATIVES and re.search(r"(ed|ing|[^s]s)$|^(a|an|the|some)$", verb):
        yield f"{words[0]!r} is no verb in the imperative; write what the commit does"
    body = rest.strip()
    if not body:
        yield "there is no body; say why"
    elif not rest.startswith("\n"):
        yield "no blank line is between subject and body"


def git(*arguments: str) -> str:
    """Return what Git prints."""
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--since", help="a commit, tag or branch; by default the last tag")
    which.add_argument("--file", type=Path, help="of one message")
    given = parser.parse_args()
    if given.file:
        messages = {given.file.name: given.file.read_text(encoding="utf-8")}
    else:
        since = given.since
        if since is None and not (since := git("tag", "--sort=-creatordate").partition("\n")[0]):
            sys.exit("there is no tag; name a commit with --since")
        commits = git("log", "--no-merges", "--format=%h", f"{since}..HEAD").split()
        messages = {commit: git("log", "-1", "--format=%B", commit) for commit in commits}
    found = [(name, fault) for name, message in messages.items() for fault in faults(message)]
    for name, fault in found:
        print(f"{name}: {fault}", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
