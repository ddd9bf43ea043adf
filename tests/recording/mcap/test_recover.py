"""Recovery of recordings whose writer was killed, and of other damaged files."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer
from rosbags.highlevel import AnyReader

import astray
from astray.cli import astray as commands
from astray.errors import RecordingError, WrongInput
from astray.recording.mcap.recover import recover_recording
from astray.recording.mcap.write_ahead_log import ChunkContent, FilePosition, WriteAheadLog
from astray.recording.recorder import Recorder, record
from support.recordings import drive, fill_disk, scenario

KILLS = 20
WRITER = """
import sys, time, json
import astray
sim = astray.load(json.loads(sys.argv[2]))
recorder = astray.record(sim, sys.argv[1])
sim.robots["rover"].drive(0.3, 0.2)
print("ready", flush=True)
for line in sys.stdin:
    speed, period = (float(part) for part in line.split())
    begun = time.monotonic()
    while time.monotonic() < begun + 60.0:
        if speed:
            sim.run(period * speed, speed=speed)
        else:
            sim.run(1.0)
        print(sim.steps, time.monotonic(), flush=True)
"""


def messages(path: Path) -> list[tuple[str, int, bytes]]:
    with path.open("rb") as file:
        return [(c.topic, m.log_time, m.data) for _, c, m in make_reader(file).iter_messages()]


def readable(path: Path) -> int:
    with AnyReader([path]) as bag:
        return sum(1 for _ in bag.messages())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "run.mcap"
    sim = astray.load(scenario())
    with record(sim, path):
        drive(sim)
        sim.run(2.0)
    return path


# Killed for real.


def killed(path: Path, after: float, speed: float) -> tuple[list[tuple[int, float]], float]:
    """The steps that a recording program has done, each with the time, until it was killed."""
    run = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), json.dumps(scenario())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert run.stdin is not None
    assert run.stdout is not None
    try:
        assert run.stdout.readline().strip() == "ready"
        run.stdin.write(f"{speed} 0.02\n")
        run.stdin.flush()
        run.stdout.readline()  # it runs
        time.sleep(after)
    finally:
        at = time.monotonic()
        os.kill(run.pid, signal.SIGKILL)
        rest = run.stdout.read()
        run.wait()
    done = [line.split() for line in rest.splitlines() if line.count(" ") == 1]
    return [(int(steps), float(when)) for steps, when in done], at


@pytest.mark.parametrize("number", range(KILLS))
def test_what_was_done_a_second_before_the_kill_is_there(number: int, tmp_path: Path) -> None:
    chance = random.Random(number)
    path = tmp_path / "run.mcap"
    speed = chance.choice([0.0, 1.0, 1.0, 3.0])
    # Without pacing, a run soon has too many messages to compare.
    done, at = killed(path, chance.uniform(0.0, 2.5 if speed else 1.2), speed)
    acknowledged = max([steps for steps, when in done if when <= at - 1.0], default=0)
    report = recover_recording(path)
    found = messages(path)
    assert report.messages == len(found) == readable(path)
    assert max(time for _, time, _ in found) >= acknowledged * 10_000_000
    # And it is the beginning of the very run: nothing is missing before the end.
    sim = astray.load(scenario())
    with record(sim, tmp_path / "again.mcap"):
        sim.robots["rover"].drive(0.3, 0.2)
        sim.run(max(time for _, time, _ in found) * 1e-9)
    repeated = messages(tmp_path / "again.mcap")
    last = max(time for _, time, _ in found)
    assert set(found) <= set(repeated)
    assert {message for message in repeated if message[1] < last} <= set(found)


def test_a_run_that_is_terminated_ends_its_file(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(json.dumps(scenario()), encoding="utf-8")
    run = subprocess.Popen(
        [sys.executable, "-m", "astray", "run", "x.yaml", "--speed", "1", "--record", "run.mcap"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    log = tmp_path / "run.mcap.tail"
    for _ in range(600):
        if log.exists() or run.poll() is not None:
            break
        time.sleep(0.1)
    run.send_signal(signal.SIGTERM)
    _, output = run.communicate(timeout=60)
    assert run.returncode == 1
    assert b"stopped at" in output
    assert not log.exists()
    assert readable(tmp_path / "run.mcap") > 10


def test_a_session_of_pioneers_is_recorded(tmp_path: Path) -> None:
    arguments = ["pioneer", "-r", "p3dx", "-p", "0", "--record", "session.mcap", "--seed", "1"]
    run = subprocess.Popen(
        [sys.executable, "-m", "astray", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    for _ in range(600):
        if (tmp_path / "session.mcap.tail").exists() or run.poll() is not None:
            break
        time.sleep(0.1)
    run.send_signal(signal.SIGTERM)
    _, output = run.communicate(timeout=60)
    assert run.returncode == 0, output
    recording = astray.read_recording(tmp_path / "session.mcap")
    assert recording.seed == 1
    (robot,) = recording.robots.values()
    assert len(robot.truth) > 5


def await_log(recorder: Recorder) -> None:
    """Wait until the open chunk of a recorder is logged: half a second on an idle machine."""
    for _ in range(600):
        if recorder._failure or recorder._logged[1] == recorder._open.samples:
            break
        time.sleep(0.1)


def test_a_log_that_finds_no_descriptor_is_written_when_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[ChunkContent] = []
    write = WriteAheadLog.write

    def refuse(log: WriteAheadLog, chunk: ChunkContent, position: FilePosition) -> None:
        tried.append(chunk)
        if len(tried) <= 2:
            raise OSError(errno.EMFILE, "Too many open files")
        write(log, chunk, position)

    monkeypatch.setattr(WriteAheadLog, "write", refuse)
    sim = astray.load(scenario())
    with record(sim, tmp_path / "run.mcap") as recorder:
        sim.run(0.35)
        await_log(recorder)
        assert len(tried) == 3
        assert WriteAheadLog(tmp_path / "run.mcap").read() is not None
        sim.run(3.0)
    untroubled = astray.load(scenario())
    with record(untroubled, tmp_path / "other.mcap"):
        untroubled.run(3.35)
    assert messages(tmp_path / "run.mcap") == messages(tmp_path / "other.mcap")


def test_a_paused_run_has_all_in_its_write_ahead_log(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    recorder = record(sim, tmp_path / "run.mcap")
    sim.run(0.35)
    await_log(recorder)
    assert WriteAheadLog(tmp_path / "run.mcap").read() is not None
    copy = tmp_path / "copy.mcap"
    copy.write_bytes((tmp_path / "run.mcap").read_bytes())
    (tmp_path / "copy.mcap.tail").write_bytes((tmp_path / "run.mcap.tail").read_bytes())
    recorder.close()
    report = recover_recording(copy)
    assert report.from_log > 100
    assert messages(copy) == messages(tmp_path / "run.mcap")


def test_a_full_disk_leaves_what_recover_can_read(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    recorder = record(sim, tmp_path / "run.mcap")
    fill_disk(recorder, 100_000)
    sim.run(500.0)
    with pytest.raises(astray.AstrayError, match="No space left"):
        recorder.close()
    assert recover_recording(tmp_path / "run.mcap").messages > 1000
    assert readable(tmp_path / "run.mcap") > 1000


# Torn files.


@settings(max_examples=40)
@given(share=st.floats(0.0, 1.0), garbage=st.binary(max_size=40))
def test_any_beginning_of_a_file_can_be_recovered(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, share: float, garbage: bytes
) -> None:
    data = whole.read_bytes()
    cut = 8 + int(share * (len(data) - 8))
    torn = tmp_path_factory.mktemp("torn") / "run.mcap"
    torn.write_bytes(data[:cut] + garbage)
    report = recover_recording(torn)
    if report.was_intact and not report.messages:
        assert torn.read_bytes() == data
        return
    found, true = messages(torn), messages(whole)
    assert len(found) == report.messages
    assert set(found) <= set(true)
    if found:
        assert readable(torn) == len(found)
    kept = torn.with_name("run.mcap.torn")
    assert kept.read_bytes() == data[:cut] + garbage


def test_more_of_a_file_gives_no_fewer_messages(whole: Path, tmp_path: Path) -> None:
    data, torn = whole.read_bytes(), tmp_path / "torn.mcap"
    counts = []
    for share in range(1, 11):
        torn.write_bytes(data[: len(data) * share // 10])
        counts.append(recover_recording(torn, tmp_path / "recovered.mcap").messages)
        (tmp_path / "recovered.mcap").unlink()
    assert counts == sorted(counts)
    assert counts[-1] == len(messages(whole))


def test_one_wrong_byte_is_noticed_and_hides_no_more_than_it_must(
    whole: Path, tmp_path: Path
) -> None:
    with whole.open("rb") as file:
        chunk = make_reader(file).get_summary().chunk_indexes[1]
    data, damaged = bytearray(whole.read_bytes()), tmp_path / "damaged.mcap"
    true, before = messages(whole), chunk.chunk_start_offset + 9 + 28 + 4 + len("zstd") + 8
    for place in (before + chunk.compressed_size // 2, before + chunk.compressed_size - 1):
        wrong = data.copy()
        wrong[place] ^= 1  # in the middle of what is compressed, and its checksum itself
        damaged.write_bytes(wrong)
        with pytest.raises(RecordingError, match=r"damaged.*astray recover"):
            _ = [track.truth for track in astray.read_recording(damaged).robots.values()]
        report = recover_recording(damaged)
        found = messages(damaged)
        assert (len(found), report.damaged_chunks, report.was_intact) == (report.messages, 1, False)
        assert len(set(true) & set(found)) > len(true) - chunk_length(whole)
        assert report.original is not None
        assert report.original.read_bytes() == wrong
        assert astray.read_recording(damaged).robots
        assert recover_recording(damaged).was_intact
    assert found == true
    damaged.write_bytes(wrong)
    assert "1 chunk was damaged" in run(str(damaged)).output


@pytest.mark.parametrize("byte", [0, 1, 3, 7])
def test_a_wrong_byte_in_the_head_of_a_chunk_costs_no_other_chunk(
    byte: int, whole: Path, tmp_path: Path
) -> None:
    with whole.open("rb") as file:
        chunk = make_reader(file).get_summary().chunk_indexes[1]
    data, damaged = bytearray(whole.read_bytes()), tmp_path / "damaged.mcap"
    data[chunk.chunk_start_offset + byte] ^= 0x40 if byte else 6  # its length, or what it is
    damaged.write_bytes(data)
    report = recover_recording(damaged)
    found, true = messages(damaged), messages(whole)
    assert len(found) == report.messages >= len(true) - chunk_length(whole)
    assert set(found) <= set(true)
    assert report.lost_bytes + report.damaged_chunks > 0
    assert recover_recording(damaged).was_intact


def test_a_wrong_byte_in_what_declares_types_costs_no_other_chunk(
    whole: Path, tmp_path: Path
) -> None:
    data, damaged = whole.read_bytes(), tmp_path / "damaged.mcap"
    with whole.open("rb") as file:
        chunk, second = make_reader(file).get_summary().chunk_indexes[:2]
    later = {message for message in messages(whole) if message[1] > second.message_start_time}
    chance = random.Random(1)
    for _ in range(20):
        wrong = bytearray(data)
        wrong[chunk.chunk_start_offset + 60 + chance.randrange(1500)] ^= 1 << chance.randrange(8)
        damaged.write_bytes(wrong)
        assert recover_recording(damaged).damaged_chunks == 1
        assert set(messages(damaged)) >= later
        recording = astray.read_recording(damaged)
        assert all(len(track.truth) for track in recording.robots.values())
        assert all(track.readings for track in recording.robots.values())


def test_a_damaged_definition_of_a_type_is_refused_and_recovered(
    whole: Path, tmp_path: Path
) -> None:
    data, damaged = whole.read_bytes(), tmp_path / "damaged.mcap"
    where = data.rfind(b"float64 x")  # in the summary, which is not compressed
    damaged.write_bytes(data[:where] + b"float64[*" + data[where + 9 :])
    with pytest.raises(RecordingError, match=r"is damaged: the definition of .*astray recover"):
        _ = [track.truth for track in astray.read_recording(damaged).robots.values()]
    assert recover_recording(damaged).was_intact is False
    assert [len(track.truth) for track in astray.read_recording(damaged).robots.values()]


def test_a_damaged_index_hides_nothing(whole: Path, tmp_path: Path) -> None:
    with whole.open("rb") as file:
        chunks = make_reader(file).get_summary().chunk_indexes
    data, damaged = whole.read_bytes(), tmp_path / "damaged.mcap"
    true = {name: track.truth for name, track in astray.read_recording(whole).robots.items()}
    for byte in (0, 6, 8, 14):  # of a time, and of an offset
        wrong = bytearray(data)
        for chunk in chunks:
            for offset in chunk.message_index_offsets.values():
                wrong[offset + 9 + 6 + byte] ^= 0x10
        damaged.write_bytes(wrong)
        for name, track in astray.read_recording(damaged).robots.items():
            assert track.truth.tobytes() == true[name].tobytes()


def test_an_existing_file_is_not_replaced_by_mistake(whole: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.mcap"
    kept.write_text("precious")
    with pytest.raises(WrongInput, match="exists already; choose another file or --overwrite"):
        run(str(whole), "--out", str(kept))
    assert kept.read_text() == "precious"
    assert run(str(whole), "--out", str(kept), "--overwrite").exit_code == 0
    assert messages(kept) == messages(whole)


def chunk_length(path: Path) -> int:
    """How many messages there are in the second chunk."""
    with path.open("rb") as file:
        starts = [i.message_start_time for i in make_reader(file).get_summary().chunk_indexes]
    return sum(starts[1] <= time < starts[2] for _, time, _ in messages(path))


def test_a_recovered_file_keeps_attachments(whole: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(whole.read_bytes()[:-50])
    recover_recording(torn)
    with torn.open("rb") as file:
        names = [a.name for a in make_reader(file).iter_attachments()]
    assert names == ["scenario.yaml", "run.json", "map.geojson"]
    assert messages(torn) == messages(whole)


def test_a_write_ahead_log_of_another_recording_is_ignored(whole: Path, tmp_path: Path) -> None:
    sim = astray.load(scenario(), seed=77)
    recorder = record(sim, tmp_path / "other.mcap")
    sim.run(0.3)
    await_log(recorder)
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(whole.read_bytes()[:-50])
    (tmp_path / "torn.mcap.tail").write_bytes((tmp_path / "other.mcap.tail").read_bytes())
    recorder.close()
    assert recover_recording(torn).from_log == 0
    assert messages(torn) == messages(whole)


@pytest.mark.parametrize("compression", list(CompressionType))
@pytest.mark.parametrize("chunked", [True, False])
def test_files_of_other_writers_are_recovered_too(
    compression: CompressionType, chunked: bool, tmp_path: Path
) -> None:
    path = tmp_path / "foreign.mcap"
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=2000, compression=compression, use_chunking=chunked)
        writer.start(profile="ros1", library="another")
        schema = writer.register_schema("pkg/Thing", "ros1msg", b"int32 x")
        channel = writer.register_channel("/thing", "ros1", schema, {"latching": "0"})
        for k in range(500):
            writer.add_message(channel, k, bytes([k % 256] * 30), k, k)
        writer.add_attachment(5, 3, "note.txt", "text/plain", b"hello")
        writer.finish()
    true = messages(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    report = recover_recording(path)
    found = messages(path)
    assert 50 < report.messages == len(found) < 500
    assert found == true[: len(found)]
    with path.open("rb") as file:
        header = make_reader(file).get_header()
    assert (header.profile, header.library) == ("ros1", "another")


# The command.


def run(*arguments: str) -> Any:
    return CliRunner().invoke(commands, ["recover", *arguments], catch_exceptions=False)


def test_the_command_reports_what_it_kept(whole: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(whole.read_bytes()[:-50])
    output = json.loads(run(str(torn), "--json").output)
    assert output["messages"] == len(messages(whole))
    assert output["seconds"] == pytest.approx(4.0)
    assert output["lost_bytes"] > 0
    assert "nothing to mend" in run(str(torn)).output


def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.mcap").write_bytes(b"not at all")
    (tmp_path / "empty.mcap").write_bytes(b"")
    for name, why in (("x", "not an MCAP"), ("empty", "not an MCAP"), ("none", "No such file")):
        with pytest.raises(RecordingError, match=why):
            recover_recording(tmp_path / f"{name}.mcap")


def test_a_recording_that_is_being_written_is_not_changed(tmp_path: Path) -> None:
    path, copy = tmp_path / "run.mcap", tmp_path / "copy.mcap"
    sim = astray.load(scenario())
    with record(sim, path):
        sim.run(1.5)
        with pytest.raises(RecordingError, match="still being written"):
            recover_recording(path)
        assert recover_recording(path, copy).messages > 0  # what there is may be copied
        sim.run(0.5)
    assert recover_recording(path).was_intact
    assert not path.with_name("run.mcap.torn").exists()
