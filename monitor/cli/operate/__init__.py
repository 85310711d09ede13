"""Commands for whoever runs `monitor` for others."""
