"""A run on the rosbridge protocol, JSON over a WebSocket: for roslibpy, roslibjs and web pages."""

from astray.ros.rosbridge.background import serving
from astray.ros.rosbridge.bridge import RosbridgeBridge
from astray.ros.rosbridge.compression import Forms

__all__ = ["Forms", "RosbridgeBridge", "serving"]
