"""What a page draws from: a live run, a run folder or a recording."""
