"""A filter that lives elsewhere: its belief arrives by `believe` events, stamped."""

from __future__ import annotations

from astray.plugin import Estimator, Known
from astray.tables import Rows, Table


class RemoteEstimator(Estimator, kind="remote"):
    """A filter outside of the simulator: its belief is posted, and holds until the next."""

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Leave the belief as it was posted."""
