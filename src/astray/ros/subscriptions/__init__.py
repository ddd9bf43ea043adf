"""What a run subscribes to in ROS 2, without a transport."""
