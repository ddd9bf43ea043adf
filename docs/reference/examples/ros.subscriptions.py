import astray
from astray.ros.subscriptions import Subscriptions

for name, topic in Subscriptions(astray.load("remote")).topics.items():
    print(name, topic.type)
