"""Evaluation: rules, counts and the memory of the last round come in; alert transitions and the new memory go out.

`evaluate` runs a round on the store, `backtest` replays rules on counts held in memory.
"""
