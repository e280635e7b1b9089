"""Tools, and their calls."""
