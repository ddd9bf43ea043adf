"""The parts of a robot, a package per family. The families do not import each other."""
