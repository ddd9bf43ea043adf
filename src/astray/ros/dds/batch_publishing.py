"""Moments of a run as messages: the more of them wait, the less each one costs.

Writing the columns of one message takes as long as writing those of fifty, so what several moments
say of one kind is written at once, and then said in the order in which it happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from astray.ros.publishers import Publisher, Sample, concatenate_samples

Said = Sequence[tuple[Publisher, Sample]]
"""Who has something to say at one moment, and what it took for that."""


def serialize_batch(moments: Sequence[Said]) -> Iterator[list[tuple[Publisher, int, bytes]]]:
    """What each moment says: the speaker, the row that it speaks for, and the bytes."""
    taken: dict[int, list[Sample]] = {}
    speakers: dict[int, Publisher] = {}
    for said in moments:
        for speaker, some in said:
            speakers[id(speaker)] = speaker
            taken.setdefault(id(speaker), []).append(some)
    written = {who: _write(speakers[who], some) for who, some in taken.items()}
    for said in moments:
        yield [
            (speaker, int(row), next(written[id(speaker)]))
            for speaker, some in said
            for row in some.rows
        ]


def _write(speaker: Publisher, taken: Sequence[Sample]) -> Iterator[bytes]:
    """The messages of all that one speaker took, one after the other."""
    return iter(speaker.serialize(concatenate_samples(taken)).as_bytes())
