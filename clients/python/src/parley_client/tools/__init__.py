"""Tools and their calls."""
