import astray
from astray import tables

layout = astray.columns("range m", astray.Column("seen", "", "?"))
print(tables.table(layout, 3).dtype.names)  # ('range', 'seen')
