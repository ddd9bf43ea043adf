"""What a run publishes in ROS 2, without a transport."""
