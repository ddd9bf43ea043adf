"""ROS 2 without ROS 2: a run, and the nodes of the documents, on the bus that ROS 2 uses."""
