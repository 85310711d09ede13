"""Slack: notifications come in, messages of a bot or an incoming webhook go out; clicks on buttons come back.

`bot.from_settings` chooses between the bot, which has threads, charts and buttons, and the webhook, which has none.
"""
