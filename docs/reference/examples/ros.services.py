import astray
from astray.ros.services import Services

for name, service in Services(astray.load("remote")).table.items():
    print(name, service.type, service.fields)
