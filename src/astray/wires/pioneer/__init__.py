"""The protocol of Pioneer robots, as ARIA programs and MobileSim speak it."""
