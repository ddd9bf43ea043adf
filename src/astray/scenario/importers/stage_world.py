"""Stage's world files: `define name parent ( key value … )`, blocks in blocks.

A hash begins a comment; a value is a number, a word, a "text" or a [list]. A block takes over what
its parents in the same file say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)|(?P<text>"[^"\n]*")|(?P<mark>[()\[\]])"""
    r"""|(?P<word>[^\s()\[\]"#]+(?:\[\d+\][^\s()\[\]"#]*)*)|(?P<odd>")"""
)
MAX_DEPTH = 32  # blocks in blocks

Value = tuple[list[str], int]  # words and their line


@dataclass
class Block:
    """One block: what it is called, what it is made of, its keys and the blocks in it."""

    name: str
    parent: str
    line: int
    keys: dict[str, Value] = field(default_factory=dict)
    inside: list[Block] = field(default_factory=list)


@dataclass
class StageReader:
    """A file in tokens, read from the front; and what is wrong with it."""

    tokens: list[tuple[str, str, int]]
    at: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)

    def peek(self, ahead: int = 0) -> str:
        """A token to come; empty at the end."""
        return self.tokens[self.at + ahead][1] if self.at + ahead < len(self.tokens) else ""

    @property
    def line(self) -> int:
        """The line of the next token."""
        return self.tokens[min(self.at, len(self.tokens) - 1)][2] if self.tokens else 1


def read_blocks(text: str) -> tuple[list[Block], StageReader]:
    """The blocks of a file, and its reader, which knows what is wrong."""
    reader = StageReader(_tokens(text))
    return _blocks(reader), reader


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """Kind, text and line of each token but comments."""
    found = []
    for number, written in enumerate(text.splitlines(), 1):
        for match in TOKEN.finditer(written):
            kind = match.lastgroup or ""
            if kind != "comment":
                found.append((kind, match.group().strip('"'), number))
    return found


def _blocks(reader: StageReader) -> list[Block]:
    """The blocks of a file; what stands between them is passed over."""
    found: list[Block] = []
    while reader.at < len(reader.tokens):
        kind, word, line = reader.tokens[reader.at]
        if word == ")" and kind == "mark":
            reader.faults.append((line, "a ) without its ("))
            reader.at += 1
        elif word == "define" and reader.peek(3) == "(":
            found.append(_block(reader, reader.peek(1), reader.peek(2), 4))
        elif reader.peek(1) == "(" and kind != "mark":
            found.append(_block(reader, "", word, 2))
        else:
            if word == "define":
                reader.faults.append((line, "define needs a name, a parent and a block ( … )"))
            reader.at += 1
    return found


def _block(reader: StageReader, name: str, parent: str, skip: int, depth: int = 0) -> Block:
    """One block, read from its name to its closing bracket."""
    block = Block(name, parent, reader.line)
    reader.at += skip
    if depth >= MAX_DEPTH:
        reader.faults.append((block.line, f"more than {MAX_DEPTH} blocks in each other"))
        reader.at = len(reader.tokens)
        return block
    while reader.at < len(reader.tokens):
        kind, word, line = reader.tokens[reader.at]
        if kind == "mark" and word == ")":
            reader.at += 1
            return block
        if kind == "word" and reader.peek(1) == "(":
            block.inside.append(_block(reader, "", word, 2, depth + 1))
        elif kind == "word":
            reader.at += 1
            block.keys[word] = (_value(reader), line)
        else:
            reader.faults.append((line, f"{word!r} where a key was expected"))
            reader.at += 1
    reader.faults.append((block.line, f"the block of {name or parent!r} is never closed"))
    return block


def _value(reader: StageReader) -> list[str]:
    """The words of a value: of a list, or just one."""
    if reader.at >= len(reader.tokens):
        return []
    kind, word, line = reader.tokens[reader.at]
    if kind in ("word", "text"):
        reader.at += 1
        return [word]
    if word != "[":
        return []
    words: list[str] = []
    reader.at += 1
    while reader.at < len(reader.tokens):
        kind, word, _ = reader.tokens[reader.at]
        reader.at += 1
        if kind == "mark":
            if word == "]":
                return words
            break
        words.append(word)
    reader.faults.append((line, "a [ without its ]"))
    return words


def chain(block: Block, known: dict[str, Block]) -> list[Block]:
    """A block and the blocks that it descends from, itself last."""
    line = [block]
    while line[0].parent in known and known[line[0].parent] not in line:
        line.insert(0, known[line[0].parent])
    return line


def whole(block: Block, known: dict[str, Block]) -> Block:
    """A block with what it takes over."""
    made = Block(block.name, block.parent, block.line)
    for each in chain(block, known):
        made.keys.update(each.keys)
        made.inside += each.inside
    return made
