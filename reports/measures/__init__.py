"""What the pictures show: tables of a run, aggregated with pandas.

Nothing here draws and nothing judges. Whatever grows with the run is read a part at a time and
counted into a fixed number of buckets, so that ten million operations need the memory of one part;
what was aggregated is said beside each picture. Only the slice around a finding is kept in full.
"""
