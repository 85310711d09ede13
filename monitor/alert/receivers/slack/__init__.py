"""Slack: a bot with threads, charts and buttons, or an incoming webhook. `bot.from_settings` chooses."""
