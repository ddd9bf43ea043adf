"""How a run goes: groups of robots, the world around them, their lives, and the tick."""
