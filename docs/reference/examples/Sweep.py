import astray

slip = "robots.slippery.sensors.wheels.slip_density"
if __name__ == "__main__":  # workers import the program that starts them
    found = astray.sweep(
        "drift", vary={slip: [0.001, 0.01]}, worlds=4, duration=2, out="slip", workers=0
    )
    print(found.table["rms"].mean(), found.summary()["cases"][1]["robots"].keys())
