from astray.pioneer.packets import Framer, SimStat

raw = SimStat(x_mm=1500, y_mm=-200, heading_deg=90).encode()  # the bytes on the wire
(packet,) = Framer().feed(raw)
print(hex(packet.id), SimStat.decode(packet.data).x_mm, "mm")  # 0x62 1500 mm
