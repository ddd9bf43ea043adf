"""MCAP files: records, chunks, the write-ahead log, recovery, reading."""
