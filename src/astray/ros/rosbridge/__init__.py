"""A run on the rosbridge protocol, JSON over a WebSocket: for roslibpy, roslibjs and web pages.

`RosbridgeBridge` serves a run, `serving` also runs it in the background.
"""

from astray.ros.rosbridge.bridge import RosbridgeBridge, serving
from astray.ros.rosbridge.compression import MessageEncoder

__all__ = ["MessageEncoder", "RosbridgeBridge", "serving"]
