"""The services of a run in ROS 2, without a transport."""
