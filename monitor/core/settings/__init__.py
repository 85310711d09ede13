"""All settings, with defaults and checks. In: the environment, secret files, `monitor.toml`.

Out: one frozen `Settings` object, or `WrongSettings` with a line for each mistake.
"""
