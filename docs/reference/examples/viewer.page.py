import astray

sim = astray.load("office")
with sim.view(browser=False) as view:  # in Jupyter the page is shown below the cell
    print(view.url)
    sim.run(1, speed=10.0)
