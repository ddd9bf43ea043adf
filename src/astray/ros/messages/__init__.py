"""The message types of ROS 2: declarations, templates, serialisation."""
