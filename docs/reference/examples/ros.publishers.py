import astray
from astray.ros.publishers import PublisherSet

for publisher in PublisherSet(astray.load("office")).publishers:
    print(*{topic.name: topic.type for topic in publisher.topics.values()}.items())
