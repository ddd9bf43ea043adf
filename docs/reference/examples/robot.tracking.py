import astray

robot = {
    "name": "rover",
    "count": 3,
    "start": {"clearance": 0.4},
    "sensors": [{"kind": "contacts", "rate": 10}],
    "contacts": {"kind": "tracker"},
    "autonomy": {"kind": "wander"},
}
sim = astray.load({"world": {"map": "arena"}, "robots": [robot]})
sim.run(5)
for track in sim.robots["rover"].contacts.of(0):  # what the first robot believes of the others
    print(track["identity"], track["x"], track["y"])
