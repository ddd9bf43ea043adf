from matplotlib.figure import Figure

from astray.plots import draw_map
from astray.world.maps import read_map

figure = Figure()
draw_map(figure.subplots(), read_map("office"))
figure.savefig("office.png")
