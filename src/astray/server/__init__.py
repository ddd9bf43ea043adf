"""What all servers share: a door with room for so many, threads that take turns, a harmless log."""
