"""Signing in and out. In: an access token, or the answer of an OpenID Connect provider.

Out: a session cookie with a role.
"""
