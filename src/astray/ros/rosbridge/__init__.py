"""A run on the rosbridge protocol, JSON over a WebSocket: for roslibpy, roslibjs and web pages."""
