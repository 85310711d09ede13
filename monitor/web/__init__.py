"""The dashboard and the JSON API: server-rendered pages over the stored rows, for people and for scripts."""
