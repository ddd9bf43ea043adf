"""What a run says and hears, in the messages of ROS 2; recording and wires share it."""
