"""Language models: what is asked, what comes back, what it costs, and the one adapter that talks to a server."""
