"""The bytes of runs, of a recording and of a saved state, pinned: a refactoring changes none.

A change that is meant to alter results changes these digests in a commit of its own that says why.
"""

import hashlib
from pathlib import Path

import pytest

import astray

RUNS = {
    "office": "119d01d5ad413445494662b134ed7994",
    "drift": "196aac6273425a6d12bffac60a541545",
    "remote": "68b89bf8a0036636436d15dd17cc93e5",
    "signals": "843cb7262e9e316eb11c0d749d39302b",
    "motions": "d237e18a3b92c9330064fa3e502df76d",
    "fusion": "336bf2e6a653cf0750c7dcf9b13d84cc",
    "ins": "80e2017118343e1dd9cf735b213b8150",
    "reach": "2e792e512af06f99880a9e6ba9c74adc",
}
RECORDING = "9909e98fd5b287a975adc5d00ec16248"
SAVED_STATE = "874f5b1e6e6263a433211868b59bd34f"


def digest_of(file: Path) -> str:
    return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()


@pytest.mark.parametrize("name", RUNS)
def test_a_bundled_scenario_gives_the_pinned_bytes(name: str) -> None:
    """As `astray run NAME --duration 20 --seed 3 --worlds 2 --json` prints them."""
    sim = astray.load(name, worlds=2, seed=3)
    sim.run(20.0)
    assert sim.digest() == RUNS[name]


def test_every_bundled_scenario_is_pinned() -> None:
    folder = Path(astray.__file__).parent
    assert {file.stem for file in folder.rglob("scenarios/*.yaml")} == set(RUNS)


def test_a_recording_and_a_saved_state_have_the_pinned_bytes(tmp_path: Path) -> None:
    sim = astray.load("office", worlds=2, seed=3)
    with astray.record(sim, tmp_path / "run.mcap"):
        sim.run(3.0)
    sim.save(tmp_path / "run.npz")
    assert digest_of(tmp_path / "run.mcap") == RECORDING
    assert digest_of(tmp_path / "run.npz") == SAVED_STATE
