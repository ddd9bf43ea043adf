"""Monte-Carlo sweeps: a scenario in many cases and worlds, on all cores, that goes on if killed.

`plan` says what is to be run, `work` runs a part of it, `run` gives the parts to workers, `ledger`
keeps what they found, `results` and `plot` tell what it came to.
"""
