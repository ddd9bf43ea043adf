import astray
from astray.plugin import KINDS, field_comments, parameters_of

astray.load("office")  # declares the built-in kinds
lidar = KINDS["sensor"]["lidar"]
for parameter in parameters_of(lidar):
    print(parameter.name, parameter.default, field_comments(lidar).get(parameter.name, ""))
