"""Recordings: their content, that other readers agree, and that their bytes never differ."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

import astray
from astray.cli import astray as commands
from astray.cli.run import run_scenario
from astray.errors import RecordingFailed, WrongInput
from astray.recording.mcap.write_ahead_log import ChunkContent
from astray.recording.mcap.writer import McapWriter
from astray.recording.recorder import record
from astray.ros.messages.types import decode
from astray.ros.publishers.publisher_set import PublisherSet
from support.recordings import drive, fill_disk, scenario


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    sim = astray.load(scenario())
    with record(sim, tmp_path / "run.mcap"):
        drive(sim)
    return tmp_path / "run.mcap"


def test_other_readers_find_every_message(recorded: Path) -> None:
    with recorded.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        counted = Counter(c.topic for _, c, _ in reader.iter_messages())
        named = {
            summary.channels[k].topic: n
            for k, n in summary.statistics.channel_message_counts.items()
        }
    assert counted == named
    with AnyReader([recorded]) as bag:
        again = Counter(c.topic for c, _, raw in bag.messages() if bag.deserialize(raw, c.msgtype))
    assert again == counted
    assert counted["/rover_0/imu/data"] == 201  # 2 s at 100 Hz, the first sample included
    assert counted["/rover_1/scan"] == 21
    assert counted["/rover_0/ground_truth/odom"] == 101
    assert counted["/tf"] == 2 * 101
    assert counted["/map"] == 1


def test_a_reader_without_our_types_decodes_every_message(recorded: Path) -> None:
    """The definitions in the file are enough, those of our own types included."""
    found: Counter[str] = Counter()
    last: Any = None
    with recorded.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, _, message in reader.iter_decoded_messages():
            found[channel.topic] += 1
            if channel.topic == "/rover_0/ground_truth/odom":
                last = message
    assert found["/rover_1/compass"] == 11
    sim = astray.load(scenario())
    drive(sim)
    assert last.pose.pose.position.x == sim.truth["x"][0]
    assert last.child_frame_id == "rover_0/base_link_truth"


def test_a_stream_reader_meets_the_records_in_an_order_that_needs_no_index(recorded: Path) -> None:
    known: set[int] = set()
    times: list[int] = []
    with recorded.open("rb") as file:
        for found in StreamReader(file, validate_crcs=True).records:
            match type(found).__name__:
                case "Channel":
                    known.add(found.id)
                case "Message":
                    assert found.channel_id in known
                    times.append(found.log_time)
    assert times == sorted(times)


def test_messages_of_a_channel_are_numbered_and_published_when_they_are_written(
    recorded: Path,
) -> None:
    numbers: dict[str, list[int]] = {}
    with recorded.open("rb") as file:
        for _, channel, message in make_reader(file).iter_messages():
            assert message.publish_time == message.log_time
            numbers.setdefault(channel.topic, []).append(message.sequence)
    assert all(found == list(range(len(found))) for found in numbers.values())


def test_the_file_equals_the_run_message_for_message(tmp_path: Path) -> None:
    """A second run publishes every message by itself, as a bridge would."""
    sim = astray.load(scenario())
    with record(sim, tmp_path / "run.mcap"):
        drive(sim)
    published: dict[str, list[bytes]] = {}
    sim = astray.load(scenario())
    feed = PublisherSet(sim)

    class Listener:
        def next_due(self, step: int) -> int:
            return feed.next_due(step)

        def observe(self, sim: astray.Sim) -> None:
            for speaker, rows in feed.due_publishers():
                for topic, data in speaker.messages(rows):
                    published.setdefault(topic.name, []).append(data)

    listener = Listener()
    listener.observe(sim)
    sim.observers.append(listener)
    drive(sim)
    read: dict[str, list[bytes]] = {}
    with (tmp_path / "run.mcap").open("rb") as file:
        for _, channel, message in make_reader(file).iter_messages():
            read.setdefault(channel.topic, []).append(message.data)
    assert set(published) <= set(read)
    assert {name: read[name] == data for name, data in published.items()} == dict.fromkeys(
        published, True
    )


def test_events_are_in_the_file_with_the_time_at_which_they_took_effect(recorded: Path) -> None:
    found = []
    with recorded.open("rb") as file:
        for _, _, message in make_reader(file).iter_messages(topics=["/astray/events"]):
            event = json.loads(decode("std_msgs/msg/String", message.data).data)
            found.append((event["kind"], event["step"], message.log_time))
    assert found == [("command", 0, 0), ("believe", 70, 700_000_000)]


def test_the_true_errors_of_sensors_are_recorded(recorded: Path) -> None:
    with AnyReader([recorded]) as bag:
        some = [c for c in bag.connections if c.topic == "/rover_0/ground_truth/wheels"]
        errors = [bag.deserialize(raw, c.msgtype).radius_error for c, _, raw in bag.messages(some)]
    sim = astray.load(scenario())
    true = sim.robots["rover"].pipelines["wheels"].sensor.memory["radius_error"][0]
    assert len(errors) == 21  # 10 Hz
    assert all(np.array_equal(found, true) for found in errors)
    assert np.abs(true[:2]).min() > 0.0


def test_the_attached_scenario_loads_to_the_same_run(recorded: Path) -> None:
    with recorded.open("rb") as file:
        attached = {a.name: a.data.decode() for a in make_reader(file).iter_attachments()}
    assert set(attached) == {"scenario.yaml", "run.json", "map.geojson"}
    about = json.loads(attached["run.json"])
    assert (about["seed"], about["worlds"]) == (4, [0])
    again = astray.load(yaml.safe_load(attached["scenario.yaml"]))
    sim = astray.load(scenario())
    drive(sim)
    drive(again)
    assert again.digest() == sim.digest()


# The same run, the same bytes.


def bytes_of(folder: Path, cut: Any, **more: Any) -> bytes:
    sim = astray.load(scenario())
    path = folder / "some.mcap"
    with record(sim, path, overwrite=True):
        sim.robots["rover"].drive(0.4, 0.3)
        cut(sim, **more)
    return path.read_bytes()


def whole(sim: astray.Sim, **more: Any) -> None:
    sim.run(1.2, **more)


def in_ticks(sim: astray.Sim) -> None:
    for _ in sim.ticks(1.2):
        pass


def in_pieces(sim: astray.Sim) -> None:
    for seconds in (0.07, 0.5, 0.01, 0.33, 0.29):
        sim.run(seconds)


def test_bytes_do_not_depend_on_pacing_cuts_or_logging(tmp_path: Path) -> None:
    first = bytes_of(tmp_path, whole)
    assert bytes_of(tmp_path, whole, speed=4.0) == first
    assert bytes_of(tmp_path, whole, log=0.05) == first
    assert bytes_of(tmp_path, in_ticks) == first
    assert bytes_of(tmp_path, in_pieces) == first


def test_recording_changes_nothing_in_the_run(tmp_path: Path) -> None:
    plain = astray.load(scenario())
    drive(plain)
    sim = astray.load(scenario())
    with record(sim, tmp_path / "run.mcap"):
        drive(sim)
    assert sim.digest() == plain.digest()


def test_another_seed_gives_other_bytes(tmp_path: Path) -> None:
    first = bytes_of(tmp_path, whole)
    sim = astray.load(scenario(), seed=5)
    with record(sim, tmp_path / "other.mcap"):
        sim.robots["rover"].drive(0.4, 0.3)
        sim.run(1.2)
    assert (tmp_path / "other.mcap").read_bytes() != first


# Worlds, resets, maps.


def test_time_in_the_file_continues_after_a_reset(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    with record(sim, tmp_path / "run.mcap"):
        sim.robots["rover"].drive(0.1)
        sim.run(0.5)
        sim.reset()
        sim.robots["rover"].drive(0.2)
        sim.run(0.5)
        sim.reset(worlds=[0])
        sim.run(0.5)
    with (tmp_path / "run.mcap").open("rb") as file:
        found = [
            (m.log_time, decode("nav_msgs/msg/Odometry", m.data).header.stamp)
            for _, _, m in make_reader(file).iter_messages(topics=["/rover_0/ground_truth/odom"])
        ]
    times = [time for time, _ in found]
    assert times == sorted(times)
    assert times[-1] == 1_500_000_000
    events = astray.read_recording(tmp_path / "run.mcap").events
    assert [event.values.get("vx") for event in events] == [0.1, 0.2, None]
    stamps = [stamp.sec + stamp.nanosec * 1e-9 for _, stamp in found]
    assert max(stamps) == pytest.approx(0.5)
    assert (np.diff(stamps) < 0).sum() == 2


def test_every_world_has_topics_of_its_own(tmp_path: Path) -> None:
    sim = astray.load(scenario(count=1), worlds=[3, 11])
    with record(sim, tmp_path / "run.mcap"):
        sim.run(0.1)
    with AnyReader([tmp_path / "run.mcap"]) as bag:
        topics = {c.topic for c in bag.connections}
    assert {"/world_3/rover/scan", "/world_11/rover/scan", "/world_3/map", "/tf"} <= topics


def test_a_map_that_is_replaced_is_published_again(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    with record(sim, tmp_path / "run.mcap"):
        sim.run(0.2)
        sim.clear_map()
        sim.run(0.2)
    with AnyReader([tmp_path / "run.mcap"]) as bag:
        some = [c for c in bag.connections if c.topic == "/map"]
        grids = [bag.deserialize(raw, c.msgtype) for c, _, raw in bag.messages(some)]
    assert [bool(grid.data.any()) for grid in grids] == [True, False]
    assert grids[0].info.resolution == pytest.approx(0.05)


def test_the_map_after_a_reset_is_published_again(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    with record(sim, tmp_path / "run.mcap"):
        sim.run(0.2)
        sim.clear_map()
        sim.run(0.2)
        sim.reset()
        sim.run(0.2)
    with AnyReader([tmp_path / "run.mcap"]) as bag:
        some = [c for c in bag.connections if c.topic == "/map"]
        grids = [bag.deserialize(raw, c.msgtype) for c, _, raw in bag.messages(some)]
    assert [bool(grid.data.any()) for grid in grids] == [True, False, True]


def test_a_grid_has_walls_where_the_map_has_them(recorded: Path) -> None:
    with AnyReader([recorded]) as bag:
        some = [c for c in bag.connections if c.topic == "/map"]
        grid = next(bag.deserialize(raw, c.msgtype) for c, _, raw in bag.messages(some))
    cells = grid.data.reshape(grid.info.height, grid.info.width)
    x0, y0 = grid.info.origin.position.x, grid.info.origin.position.y

    def at(x: float, y: float) -> int:
        return int(cells[int((y - y0) / 0.05), int((x - x0) / 0.05)])

    assert (at(0.02, 0.02), at(4.02, 0.02), at(0.02, -3.98)) == (0, 100, 100)


def test_a_collision_with_a_wall_is_recorded(tmp_path: Path) -> None:
    sim = astray.load(scenario(count=1, start={"x": 3.0}))
    with record(sim, tmp_path / "run.mcap"):
        sim.robots["rover"].drive(1.0)
        sim.run(3.0)
    assert len(sim.collisions) == 1
    with (tmp_path / "run.mcap").open("rb") as file:
        texts = [
            decode("std_msgs/msg/String", m.data).data
            for _, _, m in make_reader(file).iter_messages(topics=["/astray/collisions"])
        ]
    hit = json.loads(texts[0])
    assert (hit["robot"], hit["with"]) == ("rover-0", "wall")
    assert hit["stamp"] == sim.collisions["stamp"][0]


# What is refused, and what goes wrong.


def test_a_file_that_exists_is_kept_unless_asked_otherwise(recorded: Path) -> None:
    before = recorded.read_bytes()
    sim = astray.load(scenario())
    with pytest.raises(WrongInput, match="exists already"):
        record(sim, recorded)
    assert recorded.read_bytes() == before
    record(sim, recorded, overwrite=True).close()
    assert recorded.read_bytes() != before


def test_a_place_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WrongInput, match="cannot be written"):
        record(astray.load(scenario()), tmp_path / "file" / "run.mcap")


def test_a_new_seed_needs_a_new_recording(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    recorder = record(sim, tmp_path / "run.mcap")
    sim.reset(seed=9)
    with pytest.raises(WrongInput, match="new seed"):
        sim.run(0.1)
    recorder.close()


def test_a_full_disk_ends_the_run_in_good_order_and_names_the_file(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    recorder = record(sim, tmp_path / "run.mcap")
    fill_disk(recorder, 5000)
    sim.run(500.0)
    assert sim.pace.stopped
    assert sim.time < 499.0
    with pytest.raises(
        RecordingFailed, match=r"run.mcap: cannot be written: No space left.*recover"
    ):
        recorder.close()
    recorder.close()  # again is fine


def test_a_command_does_not_report_a_recording_that_the_disk_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_chunk, calls = McapWriter.write_chunk, []

    def refuse(writer: McapWriter, chunk: ChunkContent) -> None:
        calls.append(chunk)
        if len(calls) > 1:  # the first is what stays as it is
            raise OSError(28, "No space left on device")
        write_chunk(writer, chunk)

    monkeypatch.setattr(McapWriter, "write_chunk", refuse)
    (tmp_path / "x.yaml").write_text(json.dumps(scenario()), encoding="utf-8")
    with pytest.raises(RecordingFailed, match="No space left"):
        run_scenario(str(tmp_path / "x.yaml"), duration=1.0, record=tmp_path / "run.mcap")
    output = capsys.readouterr().out
    assert "real time" in output
    assert "Recorded" not in output


def test_to_step_on_after_the_disk_is_full_raises(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    recorder = record(sim, tmp_path / "run.mcap")
    fill_disk(recorder, 0)
    with pytest.raises(RecordingFailed, match="No space left"):
        for _ in sim.ticks(500.0):
            pass
    with pytest.raises(RecordingFailed):
        recorder.close()


# The command line.


def test_a_run_from_the_command_line_is_recorded_as_one_from_python(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(json.dumps(scenario()), encoding="utf-8")
    arguments = ["run", str(tmp_path / "x.yaml"), "--duration", "0.5"]
    arguments += ["--record", str(tmp_path / "run.mcap")]
    done = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "Recorded to" in done.output
    sim = astray.load(str(tmp_path / "x.yaml"))
    with record(sim, tmp_path / "again.mcap"):
        sim.run(0.5)
    assert (tmp_path / "again.mcap").read_bytes() == (tmp_path / "run.mcap").read_bytes()
    with pytest.raises(WrongInput, match="exists already"):
        CliRunner().invoke(commands, arguments, catch_exceptions=False)
    again = CliRunner().invoke(commands, [*arguments, "--overwrite"], catch_exceptions=False)
    assert again.exit_code == 0, again.output
