"""The commands `monitor probe …`."""
