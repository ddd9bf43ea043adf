"""The releases of ROS 2, and the one thing in which they differ on the bus."""

from __future__ import annotations

import os

from astray.errors import WrongInput, suggest

LONG = ("foxy", "galactic", "humble")
DISTROS = (*LONG, "iron", "jazzy", "kilted", "lyrical", "rolling")


def gid_size(distro: str) -> int:
    """How many bytes the address of an endpoint has; WrongInput if there is no such ROS 2."""
    if distro not in DISTROS:
        known = ", ".join(DISTROS)
        raise WrongInput(f"ros_distro: no {distro!r}{suggest(distro, DISTROS)} ({known})")
    return 24 if distro in LONG else 16


def usual_distro() -> str:
    """The ROS 2 that is set up in this shell, or else the one that most people have."""
    here = os.environ.get("ROS_DISTRO", "")
    return here if here in DISTROS else "jazzy"
