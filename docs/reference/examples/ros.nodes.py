from astray.ros import parse_arguments
from astray.ros.dds import Node
from astray.ros.nodes import ImuPositionApproximator

node = Node(parse_arguments("imu_position_approximator", params=["initial_x:=1.5"]))
program = ImuPositionApproximator(node)
node.spin_once(0.1)  # takes what arrived on imu_data; program.run() does so until it is stopped
print(program.approximator.position)
node.close()
